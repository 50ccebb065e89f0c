# Every target makes what it needs first, on a machine that has Python 3.11, make and this repository.
.DEFAULT_GOAL := help
.PHONY: help demo jars spark check test defects soak dist bench format requirements setup setup-tests
.NOTPARALLEL:

BIN := .venv/bin
MVN := mvn -B --no-transfer-progress -f java/pom.xml
JARS := src/howdah/jars/howdah-workloads.jar src/howdah/jars/howdah-spark.jar src/howdah/jars/howdah-accelerator.jar src/howdah/jars/howdah-filesystem.jar src/howdah/jars/howdah-security.jar src/howdah/jars/howdah-secure-io.jar
ROW ?=
PART ?=
DEFECT ?=
CONTROL ?=

help: ## says what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup ## sorts 1 GB on a three-node Hadoop cluster of this machine and makes a report
	$(BIN)/howdah run terasort --size 1G --nodes 3

jars: $(JARS) ## builds our own jars, which some workloads need

$(JARS) &: $(shell find java -name '*.java' -o -name pom.xml) | setup
	umask 022 && $(MVN) -q package -DskipTests

spark: setup $(JARS) ## installs Spark (PyPI's pyspark, some 450 MB), for `wordcount --engine spark` and `spark-terasort`
	@tools/setup.sh --spark

check: setup ## everything that needs no Hadoop daemons: format, lint, types, layers, unit tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check --quiet
	$(BIN)/python tools/sizes.py
	$(BIN)/python -m tools.prose
	$(BIN)/python tools/registries.py
	$(BIN)/lint-imports --no-logo --cache-dir .build/imports
	$(BIN)/mypy
	@tools/once.sh java $(MVN) -P hadoop-3.5,benchmarks -q validate
	$(BIN)/pytest -q -n 2 -m "not daemons and not slow" --ignore tests/system --ignore tests/faults

test: setup-tests jars spark ## all that every change must pass: check, the data plane, real daemons, a browser
	@$(BIN)/python -m tools.suite

defects: setup ## plants the defects of tests/defects in a copy: their tests must catch them; DEFECT=NAME picks one, CONTROL=yes also runs the tests without
	$(BIN)/python -m tools.defects $(if $(CONTROL),--control) $(DEFECT)

soak: setup-tests jars spark ## one of the parts that are too long for every change: PART=NAME; without it, says which there are
	@$(BIN)/python -m tools.soak $(PART)

dist: setup ## builds a release into dist/: wheel, sdist, plugin jars, checksums; the same commit gives the same bytes
	$(MVN) -P hadoop-3.5,benchmarks -q clean
	$(MAKE) --no-print-directory --always-make jars
	$(BIN)/python tools/dist.py

bench: setup jars spark ## measures Howdah's own benchmarks; ROW=NAME picks one
	$(BIN)/python benchmarks/run.py $(ROW)

format: setup ## formats the sources and repairs what can be repaired
	$(BIN)/ruff check --quiet --fix-only
	$(BIN)/ruff format --quiet
	$(MVN) -P hadoop-3.5,benchmarks -q spotless:apply

requirements: setup ## pins requirements/*.in anew; UPGRADE=--upgrade takes the newest versions
	cd requirements && for name in run dev spark java11; do UV_CUSTOM_COMPILE_COMMAND="make requirements" \
		../$(BIN)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links $(UPGRADE) $$name.in --output-file $$name.txt || exit 1; done

setup:
	@tools/setup.sh

setup-tests:
	@tools/setup.sh --tests
