# One word for each task: `make help` lists them. Each one installs what it needs.
# The only requirements are make and Python 3.11 or newer; PYTHON=python3.13 selects another Python than python3.

PYTHON ?= python3
BUILD := .build
BIN := $(BUILD)/venv-dev/bin
SETUP := $(foreach name,project emulator sam,$(BUILD)/$(name).installed)
TEMPLATES := template.yaml $(wildcard examples/*/*.yaml tests/*/templates/*.yaml tests/*/templates/*/*.yaml)
# What runs in Lambda: the layer, by folder.
QUICK := $(addprefix tests/,contract protocol aws lookup macro runtime test_architecture.py test_guards.py test_handlers.py)
SCRIPTS := $(wildcard examples/*.py tools/*.py)
PIP_INSTALL := -m pip install -qq --disable-pip-version-check
# A lock file is complete: there is nothing to resolve, and every download is checked against its hash.
LOCKED := --no-deps --require-hashes
# sam requires a region and credentials even for tasks without AWS; never use the developer's own.
NOWHERE := AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none AWS_CONFIG_FILE=/dev/null

export PATH := $(CURDIR)/$(BUILD)/venv-sam/bin:$(PATH)
export STRONGREF_EMULATOR_PYTHON := $(CURDIR)/$(BUILD)/venv-emulator/bin/python
export STRONGREF_SAM := $(CURDIR)/$(BUILD)/venv-sam/bin/sam
export SAM_CLI_TELEMETRY := 0

.PHONY: help setup quick test unit e2e deep largest fuzz bench lint guards docs peers check demo emulator emulator-stop texts pictures release lock clean
.DELETE_ON_ERROR:

# Times are of a fast, idle machine with two cores; others took three times as long.
# The first command also needs about 90 seconds to install its tools.
help:
	@echo 'make demo    deploys the story of a strong reference into a local emulator of AWS   20 s'
	@echo 'make emulator  starts a local emulator of AWS and says how to use it; make emulator-stop    5 s'
	@echo 'make quick   tests of the Lambda layer, without node, sam and the emulator          40 s'
	@echo 'make test    all tests but the deep ones: make unit, then make e2e                   8 min'
	@echo 'make unit    tests without deployments, and their coverage                           5 min'
	@echo 'make e2e     deployments with sam into the local emulator                            3 min'
	@echo 'make deep    the longest tests: every order of calls, the largest deployments        9 min'
	@echo 'make largest the largest explorations where reads lag, with several GB of memory     15 min'
	@echo 'make fuzz    long histories of deployments that overlap, crash and repeat            5 min'
	@echo 'make lint    style, types and templates                                              2 min'
	@echo 'make guards  removes each safety check from the code and checks that a test fails    8 min'
	@echo 'make docs    builds the site, checks its links and its texts, and opens it           2 min'
	@echo 'make peers FOLDER=…  reads and transforms the files of any checkouts, and reports what is wrong'
	@echo 'make check   lint, docs, test and guards                                            16 min'
	@echo 'make bench   calls, time, startup and growth; writes docs/performance.md            20 min'
	@echo 'make texts   writes error texts and commands into the documentation                  10 s'
	@echo 'make pictures  writes the pictures of the documentation; needs Chromium              10 s'
	@echo 'make release  the wheel, the sdist, and a folder to install from; see CONTRIBUTING.md  15 s'
	@echo 'make lock    updates requirements/*.txt                                              2 min'
	@echo 'make clean   deletes everything that the others created'

# Three environments, because the emulator and sam each pin versions that conflict with the others. Installed in parallel.
setup:
	@$(MAKE) -s -j3 $(SETUP)

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

$(BUILD)/project.installed: $(BUILD)/dev.installed pyproject.toml
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Pure code and fakes only, so the project's own environment is enough.
quick: $(BUILD)/project.installed
	$(BIN)/pytest -m 'not (slow or deep or e2e or largest or site)' -n auto $(QUICK)

# Every test is in exactly one of test and deep.
test: unit e2e

# The quick tests must cover the branches of the core. To measure that, the slow ones would take three times as long.
unit: setup
	$(BIN)/pytest -m 'not (slow or deep or e2e or largest or site)' -n auto --cov --cov-fail-under=95
	$(BIN)/pytest -m 'slow and not (deep or e2e or largest or site)' -n auto --maxschedchunk 1

# Deployments mostly wait, so more of them run side by side than there are cores.
e2e: setup
	$(BIN)/pytest -m 'e2e and not deep' -n 4

deep: setup
	$(BIN)/pytest -m deep -n 4 --maxschedchunk 1

largest: setup
	$(BIN)/pytest -m largest

fuzz: setup
	STRONGREF_FUZZ_STEPS=100000 STRONGREF_FUZZ_SEED=$$(date +%s) $(BIN)/pytest tests/protocol/test_fuzz.py -k long_histories -s

bench: setup
	$(BIN)/python -m benchmarks

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy layers/core/strongref $(wildcard src/*) handlers tests benchmarks $(SCRIPTS)
	$(BIN)/cfn-lint $(TEMPLATES)
	$(NOWHERE) sam validate --lint

docs: $(BUILD)/prose.installed $(BUILD)/project.installed
	@$(BIN)/python -m tools.docs
	$(BIN)/pytest -m site tests/site

# Not a part of the tests, since the files are other people's: any folder of checkouts.
peers: setup
	$(BIN)/python tools/peers.py $(FOLDER)

guards: setup
	$(BIN)/python -m tests.guards

check: lint docs test guards

demo: setup
	@$(BIN)/python -m examples.demo

# It runs in the background until make emulator-stop, or make clean.
emulator: setup
	@$(BIN)/python -m examples.emulator start $(BUILD)

emulator-stop:
	@if test -e $(BUILD)/emulator.lock; then $(BIN)/python -m examples.emulator stop $(BUILD); else echo 'No emulator is running.'; fi

texts: setup
	$(BIN)/python -m tests.support.error_texts
	$(BIN)/python -m tools.cli_page
	$(BIN)/python -m tools.version

pictures: setup
	$(BIN)/python -m tools.pictures

# TAG=v0.2.0 checks that this is what is built; URL=… says where people find the sources.
release: $(BUILD)/project.installed $(BUILD)/sam.installed
	@$(BIN)/python -m tools.release --out $(or $(OUT),$(BUILD)/release) $(if $(TAG),--tag $(TAG)) $(if $(URL),--url $(URL))

# The project's own requirements first: the others must agree with those of the layer.
lock: $(BUILD)/project.installed
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

clean:
	rm -rf $(BUILD) .aws-sam .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
