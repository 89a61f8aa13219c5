# One word for each thing to do: `make demo`, `make test`, `make lint`, `make check`. Each sets up what it needs.
# The only needs are make and a Python of 3.11 or newer; PYTHON=python3.13 chooses another one than python3.

PYTHON ?= python3
BUILD := .build
BIN := $(BUILD)/venv-dev/bin
SETUP := $(foreach name,project emulator sam,$(BUILD)/$(name).installed)
TEMPLATES := template.yaml $(wildcard examples/*/*.yaml tests/*/templates/*.yaml tests/*/templates/*/*.yaml)
SCRIPTS := $(wildcard examples/*.py tools/*.py)
PIP_INSTALL := -m pip install -qq --disable-pip-version-check
# A lock file is complete, so there is nothing to resolve, and every file that comes is one that it knows.
LOCKED := --no-deps --require-hashes
# sam wants a region and credentials even for what it does without AWS; nobody's own are to be touched.
NOWHERE := AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none AWS_CONFIG_FILE=/dev/null

export PATH := $(CURDIR)/$(BUILD)/venv-sam/bin:$(PATH)
export STRONGREF_EMULATOR_PYTHON := $(CURDIR)/$(BUILD)/venv-emulator/bin/python
export STRONGREF_SAM := $(CURDIR)/$(BUILD)/venv-sam/bin/sam
export SAM_CLI_TELEMETRY := 0

.PHONY: help setup test unit deep e2e fuzz bench lint guards check demo lock clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo   the story of a strong reference, told by real deployments into a local emulator of AWS'
	@echo 'make test   all tests; make unit and make deep are its halves, make e2e the deployments alone'
	@echo 'make fuzz   long histories of deployments that meet, die and come twice: 100,000 calls, in two minutes'
	@echo 'make bench  calls, time, start-up and growth, beside the CDK; writes docs/performance.md, in 20 minutes'
	@echo 'make lint   style, types and templates'
	@echo 'make guards takes each guard out of the code and sees that a test fails'
	@echo 'make check  lint, test and guards'
	@echo 'make lock   brings requirements/*.txt up to date'
	@echo 'make clean  takes away what the others made'

# Three environments, because the emulator and sam each pin versions that the others do not want. Made side by side.
setup:
	@$(MAKE) -s -j3 $(SETUP)

$(BUILD)/%.installed: requirements/%.txt
	@mkdir -p $(BUILD)
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@echo 'installing $< into $(BUILD)/venv-$*'
	@rm -rf $(BUILD)/venv-$*
	@$(PYTHON) -m venv $(BUILD)/venv-$*
	@$(BUILD)/venv-$*/bin/python $(PIP_INSTALL) $(LOCKED) -r $<
	@touch $@

$(BUILD)/project.installed: $(BUILD)/dev.installed pyproject.toml
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

test: unit deep

# The core's branches are to be covered by what is quick.
unit: setup
	$(BIN)/pytest -m 'not exhaustive and not e2e' -n auto --cov --cov-fail-under=95

# The protocol's largest cases take the processors, the deployments mostly wait: side by side they take little longer
# than either.
deep: setup
	$(BIN)/pytest -m 'exhaustive or e2e' -n 4 --maxschedchunk 1

e2e: setup
	$(BIN)/pytest -m e2e -n 4

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

guards: setup
	$(BIN)/python -m tests.guards

check: lint test guards

demo: setup
	@$(BIN)/python -m examples.demo

# The project's own requirements first: the others must agree with the layer's.
lock: $(BUILD)/project.installed
	$(call compile,layer,layers/core/requirements.txt)
	$(foreach name,dev emulator sam,$(call compile,$(name),requirements/$(name).txt)$(newline))
	@$(MAKE) -s setup
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
