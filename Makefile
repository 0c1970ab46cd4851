# The only commands to learn. Nothing but python3 and make is needed to begin.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv/bin
# Holds Ctrl-C back until Python has a handler for it, where this machine's `env` can.
HOLD := $(shell env --block-signal=INT true 2>/dev/null && echo env --block-signal=INT)
MANAGE := $(HOLD) $(VENV)/python manage.py

help:
	@echo "make up      start everything (installs it first); Ctrl-C stops it"
	@echo "make down    stop a stack that runs elsewhere or was left behind"
	@echo "make reset   empty data/"
	@echo "make demo    the demo traffic alone; RATE=5000 adds as much load to a running stack"
	@echo "make test    the whole test suite, beside a running stack"
	@echo "make check   style, types, import contracts, retired names, templates, vendored files"
	@echo "make bench   brokerd beside Apache Kafka, and the console's pages"

base:
	@exec $(HOLD) $(PYTHON) tools/bootstrap.py base

dev:
	@exec $(HOLD) $(PYTHON) tools/bootstrap.py dev

# `exec`: one process less between Ctrl-C and the supervisor.
up: base
	@exec $(MANAGE) up

down: base
	@$(MANAGE) down

reset: base
	@$(MANAGE) reset

demo: base
	@exec $(MANAGE) demo $(if $(RATE),--rate='$(RATE)')

test: dev
	@sh tools/test_programs.sh
	@$(VENV)/python tools/run_tests.py $(ARGS)

check: dev
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(VENV)/lint-imports
	$(VENV)/lint-imports --config tools/runtime_imports.toml
	$(VENV)/python tools/retired_words.py
	$(VENV)/python tools/template_lines.py
	$(VENV)/python tools/vendor_assets.py --check
	$(VENV)/python tools/used_css.py --check

bench: base
	@$(VENV)/python -m bench.run $(ARGS)

.PHONY: help base dev up down reset demo test check bench
