.DEFAULT_GOAL := help
PY := .venv/bin/python

help:
	@echo "make up | down | reset | test | check | bench | demo"

.venv/.dev: requirements/dev.lock
	python3 -m venv .venv
	.venv/bin/pip install -q --require-hashes -r requirements/dev.lock
	@touch $@

check: .venv/.dev
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

test: .venv/.dev
	$(PY) -m pytest -q

.PHONY: help check test
