# `make demo` and `make test` each do all of their own set-up, in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
unexport PYTHONDONTWRITEBYTECODE  # hundreds of short processes share what is compiled

.PHONY: demo test setup format lint types imports docs kernels tests torture release clean

demo: setup
	rm -rf runs/demo
	$(BIN)/smgrnn distill CartPole-v1 --max-parameters 6 --out runs/demo
	$(BIN)/smgrnn export runs/demo --to c
	@echo "Watch it grow: $(BIN)/smgrnn view runs/demo"

test: setup
	$(MAKE) --no-print-directory -j2 lint types imports docs kernels
	$(MAKE) --no-print-directory tests

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade pip  # Python 3.11 brings one that takes twice as long to choose versions
	$(PIP) -e '.[dev]'
	touch $@

format: setup
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lint: setup
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

docs: setup  # into build/docs; a warning or a broken link is an error
	$(BIN)/sphinx-build -W --keep-going -E -q -c docs -d build/doctrees . build/docs

kernels: setup  # compiled once, and not by each process of the tests
	$(BIN)/python -c "import smgrnn; smgrnn.distill('CartPole-v1', episodes=1, held_out=1)"
	$(BIN)/python -c "import smgrnn; smgrnn.distill('xor', preset='paper', episodes=1)"

tests: setup
	$(BIN)/pytest -n 2 --dist loadgroup

MINUTES ?= 10
torture: setup  # docs/reliability.md; SEED, ONLY and CASE repeat what it printed
	PYTHONPATH=tests $(BIN)/python -m torture --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) \
	  $(if $(ONLY),--only "$(ONLY)") $(if $(CASE),--case $(CASE))

RELEASE := build/release
release: setup  # sdist and wheel into dist, and the wheel alone tried in empty environments
	rm -rf dist $(RELEASE)
	$(BIN)/python -m hatchling build
	$(BIN)/python tests/release.py --python $(PYTHON) --wheel dist/*.whl --at $(RELEASE)

clean:
	rm -rf .venv dist build
