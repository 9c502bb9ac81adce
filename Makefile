# Kaizen needs Python 3.11 or newer, git and make; everything else is installed into .venv.
# Any target may be given PYTHON=python3.12 to choose the interpreter .venv is made of.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; done; \
	echo $$python)
VENV := .venv/bin
RUN_BESIDE_SERVICES := $(VENV)/python -m kaizen.embedded run
PYTEST_ARGS ?=

.PHONY: run test lint bench chaos soak sdk-check requirements screenshots setup lock browser clean help

help:  ## Show what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup:  ## Install into .venv and build the browser bundle
	@$(PYTHON) -I kaizen/bootstrap.py

run: setup  ## Run Kaizen on this machine until Ctrl-C
	@exec $(VENV)/python -m kaizen.supervision

test: setup browser  ## Run all tests beside embedded services
	$(RUN_BESIDE_SERVICES) --not-durable -- $(VENV)/python -m pytest $(PYTEST_ARGS)

lint: setup  ## Run every static check
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/lint-imports
	$(RUN_BESIDE_SERVICES) --not-durable -- sh -ec '$(VENV)/mypy .; \
		$(VENV)/python manage.py check; \
		$(VENV)/python manage.py makemigrations --check --dry-run'

bench: setup  ## Measure speed and memory against a bare relay
	$(RUN_BESIDE_SERVICES) -- $(VENV)/python -m tests.bench

chaos: setup  ## Kill things at every step of a turn and count what is lost
	$(RUN_BESIDE_SERVICES) -- $(VENV)/python -m pytest tests/chaos $(PYTEST_ARGS)

soak: setup  ## Run a bounded long load
	$(RUN_BESIDE_SERVICES) -- $(VENV)/python -m tests.soak

sdk-check: setup  ## Drive the public client, in a .venv of its own, against the running product
	$(VENV)/uv venv --quiet --allow-existing --python $(VENV)/python .kaizen/sdk
	$(VENV)/uv pip install --quiet --python .kaizen/sdk/bin/python kamiwaza-sdk==1.3.0
	$(RUN_BESIDE_SERVICES) --not-durable -- $(VENV)/python -m pytest tests/api/test_sdk.py $(PYTEST_ARGS)

requirements: setup  ## Show which requirement rows the last full test run has shown
	@$(VENV)/python -m tests.requirements

screenshots: setup browser  ## Take the pictures of the README anew
	$(RUN_BESIDE_SERVICES) --not-durable -- $(VENV)/python -m pytest tests/journeys/screenshots.py

browser: setup
	@$(VENV)/python -m tests.browser

lock: setup  ## Resolve pyproject.toml into requirements.txt anew
	$(VENV)/uv pip compile pyproject.toml --group dev --generate-hashes --universal \
		--python-version 3.11 --custom-compile-command "make lock" --quiet -o requirements.txt

clean:  ## Remove what was installed and built; data in .kaizen stays
	rm -rf .venv templates/node_modules templates/static/build
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
