# Two commands are all one needs: `make study` and `make test`. Both set up what they use in .venv.
PYTHON ?= python3
BIN := .venv/bin
# Whatever the shell says, byte code is kept: tests start some hundred processes, which would compile all of it again.
export PYTHONDONTWRITEBYTECODE =

# `make test-all` plays every variant of every agent in every game, and runs long tests; CI plays each variant in one.
# `make quick` runs the tests nearest to what has changed since `main`, for a minute.
.PHONY: setup study test test-all coverage quick check bench wheel clean

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	@echo "Installing into .venv, about two minutes ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

study: setup
	$(BIN)/python studies/cmaes_rows.py $(ARGS)

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

test-all: setup
	$(BIN)/python -m pytest -n auto --dist worksteal -m '' --all-variants $(ARGS)

# `make test`, and which share of the lines of each folder it runs; `coverage report -m` then says which lines it does not.
coverage: setup
	$(BIN)/python -m pytest -n auto --dist worksteal -p tests.covered $(ARGS)

quick: setup
	$(BIN)/python tests/quick.py

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src/turnier benchmarks
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks $(ARGS)

# dist/*.whl, with the machine code of a newcomer's first games.
wheel: setup
	$(BIN)/python make_wheel.py

clean:
	rm -rf .venv build dist benchmarks/build src/*.egg-info
