# Two commands for people: `make demo` plays the starter pack, `make test` runs every test. Both set up what is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# what needs no sandbox and is done in under a minute
LIGHT := not sandbox and not docker and not blender and not slow

.PHONY: demo test test-light lint setup docker clean

demo: setup
	$(BIN)/tradeschool run --pack starter --agent oracle --sandbox namespace --concurrency 2 --fail-under 1

test: setup docker
	$(BIN)/pytest -m "$(LIGHT)"
	$(BIN)/pytest -m "not ($(LIGHT))"

test-light: $(READY)
	$(BIN)/pytest -m "$(LIGHT)"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# the package, the Blender interpreter, the tools that grade terminal tasks; quick when all is there
setup: $(READY)
	$(BIN)/tradeschool setup all

# the engine and the image; without them the Docker tests are skipped, loudly
docker: $(READY)
	-$(BIN)/tradeschool setup docker --start

# without ensurepip, which Debian packs apart: the interpreter's own pip fills the environment
$(READY): pyproject.toml
	$(PYTHON) -m venv --clear --without-pip $(VENV)
	$(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python install --quiet pip
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .cache
