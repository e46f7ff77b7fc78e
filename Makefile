# Every target does its own set-up: uv comes from PATH or through .ci/uv, packages from uv.lock, into .venv.
UV  := .ci/uv
RUN := $(UV) run --locked --all-packages

SOURCES    := $(wildcard packages/*/src plugins/*/src testing/*/src)
TESTS      := $(wildcard packages/*/tests plugins/*/tests testing/*/tests)
ATTACKS    := $(filter-out testing/attack/_%,$(wildcard testing/attack/*.py))
BENCHMARKS := $(filter-out testing/benchmarks/_%,$(wildcard testing/benchmarks/*.py))

.PHONY: help setup demo test lint format bench attack wheels mutation docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: .venv/.synced ## install everything that uv.lock names into .venv, and fetch the jars of Spark

.venv/.synced: uv.lock pyproject.toml $(wildcard packages/*/pyproject.toml plugins/*/pyproject.toml testing/*/pyproject.toml)
	$(UV) sync --locked --all-packages --compile-bytecode
	$(RUN) python -m compileall -q $(SOURCES)
	$(RUN) python -m floe_spark.fetch
	@touch $@

demo: setup ## compile, run and publish the example product, then break its promises and its guardrails
	@$(RUN) python docs/examples/demo.py

test: setup ## run every test
	$(RUN) pytest -n 2 --dist loadgroup

lint: setup ## ruff, mypy strict, import-linter
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy $(SOURCES) testing/*.py testing/attack testing/benchmarks docs .ci/*.py
	@set -e; for tests in $(TESTS); do echo "mypy $$tests"; $(RUN) mypy $$tests; done # one by one: each has its own conftest
	$(RUN) lint-imports

format: setup ## rewrite the code in the house format
	$(RUN) ruff check --fix
	$(RUN) ruff format

bench: setup ## run every benchmark in testing/benchmarks
	@set -e; for file in $(BENCHMARKS); do \
	  echo "== $$file"; module=$${file%.py}; $(RUN) python -m "$$(echo $$module | tr / .)"; \
	done

attack: setup ## hours of contested claims in minutes: every program in testing/attack
	@set -e; for file in $(ATTACKS); do \
	  echo "== $$file"; module=$${file%.py}; $(RUN) python -m "$$(echo $$module | tr / .)"; \
	done

wheels: setup ## prove that each wheel installs and passes its own tests alone
	$(RUN) python .ci/wheels.py

mutation: setup ## mutate order and merge, and count what the tests kill
	$(RUN) python testing/mutation.py

docs: setup ## regenerate the generated pages
	FLOE_UPDATE=1 $(RUN) pytest docs packages

clean: ## remove everything that the other targets made
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
