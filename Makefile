# demo        run the main job: the standard library, file by file (ARGS="--workers 2 --limit 100")
# test        every test (ARGS="-k story tests/journal")
# check       format, lint, types, import direction, packaging
# bench       measure this machine (ONLY=pool: one part of it; FULL=1: large sizes)
# profile     where coordinator, worker and screen spend their time, to tests/bench/PROFILE.md
# slow        the tests that make test leaves out for their length
# torture     kill everything at random moments, for long
# browser     the screen in a headless Chromium (needs chromium and chromedriver)
# screenshots draw the pictures of the README
# clean       take away what the others made
#
# Each word sets up .venv by itself, once. PYTHON=/path/to/python3 chooses the interpreter.

PYTHON ?=
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint check bench profile slow torture browser screenshots clean FORCE

help:
	@sed -n 's/^# \{0,1\}//p' Makefile

setup: $(STAMP)

# A stamp is worth nothing when its interpreter has gone (upgraded system, moved folder).
ifeq ($(wildcard $(BIN)/python),)
$(STAMP): FORCE
endif

$(STAMP): pyproject.toml constraints.txt .ci/setup
	@sh .ci/setup "$(VENV)" "$(PYTHON)"
	@touch $@

demo: $(STAMP)
	@exec $(BIN)/poolboard demo $(ARGS)

test: $(STAMP)
	@$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check: lint
	@$(BIN)/python -m pytest tests/test_packaging.py tests/test_layers.py tests/test_exports.py tests/test_docs.py

bench: $(STAMP)
	@$(BIN)/python -m tests.bench $(ONLY)

profile: $(STAMP)
	@$(BIN)/python -m tests.bench.profile

slow: $(STAMP)
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m slow $(ARGS)

torture: $(STAMP)
	@$(BIN)/python -m pytest -m torture $(ARGS)

browser: $(STAMP)
	@$(BIN)/python -m pytest -m browser $(ARGS)

screenshots: $(STAMP)
	@$(BIN)/python screenshots/draw.py $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
