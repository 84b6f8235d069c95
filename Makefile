# Two commands: `make demo` and `make test` do all their set-up. The environment is .venv; nothing else is touched.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint format docs bench quality paper train peers peers-test fuzz nightly coverage mutants audit release-check clean

demo: .venv/installed
	$(BIN)/consilience demo

# One thread in each of WORKERS processes: the arrays are small, and more threads than cores wait for each other.
WORKERS ?= 2
test: .venv/tested-with
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

lint: .venv/linted-with
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: .venv/linted-with
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, into site/; its examples are run. One thread, because the small networks they train are slower on more.
docs: .venv/documented-with
	OMP_NUM_THREADS=1 NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: .venv/tested-with
	cd benchmarks && ../$(BIN)/python run.py --json ../results/benchmarks.json
	cd benchmarks && ../$(BIN)/python out_of_core.py
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.machine
	cd benchmarks && ../$(BIN)/python cluster.py

# How good the answers are, on panels of every kind and beside other people's methods: docs/guide/quality.md. The first
# time networks are trained, for half an hour. SIDE=held-out is for the end; SIDE=generated needs no data.
DATA ?= data
SHARED ?= ../shared/data
WORK ?= work
SIDE ?= tuning
quality: .venv-peers/made
	OMP_NUM_THREADS=1 $(PEERS_BIN)/python -m benchmarks.quality --data-dir $(DATA) --shared-dir $(SHARED) --work-dir $(WORK) \
		--side $(SIDE)

# The paper's experiments: docs/guide/reproducing.md. EXPERIMENT=clean OPTIONS="--tasks mnist" runs one.
EXPERIMENT ?= list
OPTIONS ?=
paper: .venv/reproduced-with
	$(BIN)/python -m paper $(EXPERIMENT) --data-dir $(DATA) --work-dir $(WORK) --output results/paper $(OPTIONS)

# Train the network of Consensus, and examine it on families that it has not seen: training/README.md.
train: .venv/tested-with
	OMP_NUM_THREADS=1 $(BIN)/python -m training --data-dir $(DATA) --shared-dir $(SHARED) --work-dir $(WORK)

# The environment of benchmarks/quality/peers: other people's methods, and tools that read what is written for them.
peers: .venv-peers/made

# The tests that are skipped where other people's methods and tools are not installed.
peers-test: .venv-peers/made
	OMP_NUM_THREADS=1 $(PEERS_BIN)/python -m pytest tests/quality/test_peers.py tests/equivalence/test_crowd_kit.py \
		tests/paper/unit/test_laplace.py tests/tools tests/equivalence/test_other_arrays.py \
		tests/unit/data/tables/test_members.py

# Damaged files of every format that is read; what fails is kept in tests/trust/corpus.
MINUTES ?= 10
fuzz: .venv/tested-with
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.trust.fuzz --minutes $(MINUTES)

# What takes too long for every change: 43,000 generated cases (20,000 of them panels by every door), kills by the
# hundred, load, damaged files.
nightly: .venv/tested-with fuzz
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uvicorn
	CONSILIENCE_CASES=200 $(BIN)/python -m pytest tests/properties/test_generated.py tests/properties/test_stateful.py
	CONSILIENCE_CASES=80 $(BIN)/python -m pytest --numprocesses $(WORKERS) $(wildcard tests/properties/test_doors*.py)
	$(BIN)/python -m tests.trust.kills --times 100
	$(BIN)/python -m tests.trust.forgeries --times 1
	$(BIN)/python -m benchmarks.load threads stream service --seconds 60

# Which branches the tests take, in processes that they start as well.
coverage: .venv/tested-with
	$(BIN)/python -m pip install --quiet --constraint constraints.txt coverage
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# Which small mistakes in the mathematics the tests would notice: hours for all, minutes for MUTANTS='consilience.maths.em.*'.
# mutmut knows pytest up to 9.0, so both live apart.
MUTANTS ?=
mutants: .venv/tested-with
	$(BIN)/python -m pip install --quiet --target .venv/mutmut mutmut==3.8.0 "pytest<9.1"
	OMP_NUM_THREADS=1 PYTHONPATH=.venv/mutmut $(BIN)/python -m mutmut run $(MUTANTS)
	PYTHONPATH=.venv/mutmut $(BIN)/python -m mutmut results

# Known weaknesses of what the tests run with; asks PyPI.
audit: .venv/bin/python
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip_audit --strict --requirement constraints.txt --no-deps --disable-pip

# The wheel and the source archive: built, checked, installed for every Python there is, with oldest and newest versions.
release-check:
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet build check-wheel-contents twine uv
	.venv-release/bin/python .ci/release_check.py

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

# crowd-kit is a yardstick; --no-deps, since aggregation needs none of the language models it asks for.
YARDSTICK := crowd-kit attrs nltk regex tqdm
.venv/tested-with: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps $(YARDSTICK)
	touch $@

# laplace-torch brings a torchvision that does not fit a torch for CPUs, and uses none of it.
.venv/reproduced-with: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[paper]"
	$(BIN)/python -m pip uninstall --quiet --yes torchvision
	touch $@

.venv/linted-with: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[lint]"
	touch $@

.venv/documented-with: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

# torch comes first, so that no peer chooses its version. Without dependencies: they ask for language models and a board
# for logs, which aggregation does not use.
PEERS_BIN := .venv-peers/bin
.venv-peers/made: pyproject.toml constraints.txt benchmarks/quality/peers-requirements.txt tests/tools/requirements.txt
	$(PYTHON) -m venv .venv-peers
	$(PEERS_BIN)/python -m pip install --quiet --upgrade pip
	$(PEERS_BIN)/python -m pip install --quiet --constraint constraints.txt torch==2.13.0
	$(PEERS_BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]" pooch
	$(PEERS_BIN)/python -m pip install --quiet --constraint constraints.txt laplace-torch \
		--requirement tests/tools/requirements.txt
	$(PEERS_BIN)/python -m pip uninstall --quiet --yes torchvision
	$(PEERS_BIN)/python -m pip install --quiet --no-deps --requirement benchmarks/quality/peers-requirements.txt
	touch $@

clean:
	rm -rf .venv .venv-peers .venv-release build dist mutants site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
