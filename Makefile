# Needs Python 3.11 or newer, make and a package registry; nothing else.
PYTHON ?= python3
BIN := .venv/bin
TEST_HOME := $(CURDIR)/.home
WITH_FRAMEWORKS := STEPTIME_HOME=$(TEST_HOME) STEPTIME_TEST_ZOO_PYTHON=$(TEST_HOME)/zoo/bin/python
export PYTHONDONTWRITEBYTECODE := # compiled code is kept: the tests start hundreds of processes

SCRIPTS := "src/steptime/guide/web/**/*.{js,d.ts}"
NODE := node_modules/.bin

.PHONY: setup run test test-fast test-frameworks check format bench slurm-up slurm-down clean

setup: .venv/steptime.stamp .venv/hook.stamp  ## the tool, as .venv/bin/steptime; ruff before every commit

.venv/steptime.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("steptime needs Python 3.11 or newer; try make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.venv/hook.stamp: .githooks/install | .venv/steptime.stamp
	@.githooks/install
	@touch $@

# What formats and checks the page's scripts. Nothing at run time needs npm, so check and format go on where it is missing.
node_modules/steptime.stamp: package-lock.json
	@npm ci --loglevel error --fetch-retries 1 > /dev/null
	@touch $@

WITH_NODE = $(MAKE) --silent node_modules/steptime.stamp 2> /dev/null || \
	{ echo "scripts are left out: no npm, or npm ci fails here"; exit 0; }

run: setup  ## benchmark this machine: mnist_cnn, alexnet_conv, resnet50; training and inference; PyTorch
	@$(BIN)/steptime setup pytorch
	@$(BIN)/steptime run

test: setup $(TEST_HOME)/zoo.stamp  ## everything, the real frameworks included (PARALLEL=1: two long tests at once)
	@tests/system-packages
	@STEPTIME_HOME=$(TEST_HOME) $(BIN)/steptime setup pytorch tensorflow jax
	@$(BIN)/pytest -n 2 -m "not real"
ifdef PARALLEL
	@$(WITH_FRAMEWORKS) $(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder -m "real and not alone"
	@$(WITH_FRAMEWORKS) $(BIN)/pytest -m alone
else
	@$(WITH_FRAMEWORKS) $(BIN)/pytest -m real
endif

test-frameworks: setup  ## every framework, which takes some 10 GB and most of an hour
	@STEPTIME_HOME=$(TEST_HOME) $(BIN)/steptime setup all
	@STEPTIME_HOME=$(TEST_HOME) $(BIN)/pytest tests/core/backends/test_parity.py -n 2 --dist loadgroup --parity-families all --junitxml=$(TEST_HOME)/parity.xml -o junit_family=xunit1
	@$(BIN)/python -m steptime.checks.parity_table $(TEST_HOME)/parity.xml
	@STEPTIME_HOME=$(TEST_HOME) $(BIN)/pytest tests/core/backends --ignore tests/core/backends/test_parity.py

$(TEST_HOME)/zoo.stamp: tests/core/models/requirements.txt
	@$(PYTHON) -m venv $(TEST_HOME)/zoo
	@$(TEST_HOME)/zoo/bin/pip install --quiet --quiet --disable-pip-version-check --requirement $<
	@touch $@

test-fast: setup  ## what needs no framework and no long wait, in under a minute
	@$(BIN)/pytest -n 2 -m "not real and not slow"

check: setup  ## ruff, mypy, layers; prettier and TypeScript for the page's scripts, where there is an npm
	@$(BIN)/ruff check --quiet src tests benchmarks
	@$(BIN)/ruff format --quiet --check src tests benchmarks
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/pytest tests/test_layers.py
	@$(WITH_NODE); $(NODE)/prettier --check --log-level warn $(SCRIPTS) && \
	$(BIN)/python -m tests.guide.web.declarations .types && $(NODE)/tsc

format: setup
	@$(BIN)/ruff check --quiet --fix src tests benchmarks
	@$(BIN)/ruff format --quiet src tests benchmarks
	@$(WITH_NODE); $(NODE)/prettier --write --log-level warn $(SCRIPTS)

bench: setup  ## steptime's own cost, as ratios
	@$(BIN)/steptime setup pytorch
	@$(BIN)/python benchmarks/bench.py

slurm-up: setup  ## a real Slurm of six nodes to play with; as root (ACCOUNTING=1: with sacct)
	@tests/system-packages
	@$(BIN)/python -m tests.slurm.cluster up .slurm $(if $(ACCOUNTING),--accounting)

slurm-down: setup
	@$(BIN)/python -m tests.slurm.cluster down .slurm

clean:
	rm -rf .venv .home node_modules .types dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
