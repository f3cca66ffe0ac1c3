# `make demo` and `make test` each do all of their own set-up, in .venv; the demo takes no developer's tools.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
unexport PYTHONDONTWRITEBYTECODE  # hundreds of short processes share what is compiled

.PHONY: demo test setup format lint types imports docs kernels tests torture release clean

demo: .venv/library
	rm -rf runs/demo
	$(BIN)/smgrnn distill LunarLander-v3 --max-parameters 44 --out runs/demo
	$(BIN)/smgrnn export runs/demo --to c
	$(BIN)/smgrnn view runs/demo --record runs/demo/growth.gif
	@echo "Look at these next:"
	@echo "  runs/demo/growth.gif    the network as it grows"
	@echo "  runs/demo/growth.html   the same in a browser, where you can stop it and point at nodes"
	@echo "  runs/demo/topology.png  the selected network"
	@echo "  runs/demo/curves.png    return, size and agreement with the expert during training"

test: setup
	$(MAKE) --no-print-directory -j2 lint types imports docs kernels
	$(MAKE) --no-print-directory tests

setup: .venv/installed

.venv/library: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade pip  # Python 3.11 brings one that takes twice as long to choose versions
	$(PIP) -e '.[view]'
	touch $@

.venv/installed: .venv/library
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

tests: setup  # two processes of one thread each, or torch's threads wait for one another
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadgroup

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
