# Two commands matter: `make demo` runs the main job, `make test` passes every check. Each makes what it needs.
VENV := .venv
BIN := $(VENV)/bin
CONFORMANCE := .conformance
PYTHON ?= python3
STORES := .venv-stores
JAVASCRIPT := tests/javascript
# What reads runs by their paths, and may read them in a store as well; the other tests beside these look at one module.
READERS := $(addprefix tests/unit/summaries/reading/test_,event_iterator.py follow.py graphs.py growing.py reader.py \
	run.py run_executors.py run_restarts.py run_selection.py) tests/unit/summaries/presenting/test_tables.py \
	$(addprefix tests/unit/summaries/tools/,test_annotating.py test_clip_advice.py test_exporting.py test_verifying.py \
	rewriting/test_copying.py rewriting/test_merging.py rewriting/test_repairing.py) \
	tests/unit/summaries/cli/test_program.py tests/properties/test_reader_runs.py
TOOLS := bench build cluster conformance docs frameworks linters notebook package stores traincheck
ALONE := tests/interop/test_killed.py tests/interop/test_resume.py tests/browser
# Processes keep the bytecode of what they import, whatever the environment says: tests start many hundreds.
unexport PYTHONDONTWRITEBYTECODE
POWER := tests/crash tests/unit/summaries/writing/test_run_file_instructions.py
PARALLEL := --numprocesses 2 --dist loadfile
# Scripts of the pages and of the documentation, and their tests.
SCRIPTS := summaries/auditing/report/page summaries/integrations/tensorboard/page docs/_static $(JAVASCRIPT)
BIOME := $(JAVASCRIPT)/node_modules/.bin/biome
PLUGIN := tests/browser/test_plugin.py tests/browser/test_plugin_labelled.py

# Every environment is made by uv and gets the releases that are named in constraints.txt, whatever has come out since.
# torch comes first, and by pip: in the build that pip is set up for, which may be the small one without CUDA.
UV := .venv-uv/bin/uv
MADE_FROM := pyproject.toml constraints.txt $(UV)
NEW = @if [ -e $(@D)/pyvenv.cfg ] && [ ! -e $(@D)/.made ] && [ ! -e $@ ]; then \
	    echo "$(@D) is not of make's making, and would be replaced: move it away, or choose another by VENV=…" >&2; exit 1; \
	fi; set -x; $(PYTHON) -m venv --clear $(@D) && touch $(@D)/.made
INSTALL = $(UV) pip install --quiet --python $(@D)/bin/python
INTO = $(INSTALL) --constraint constraints.txt --build-constraint constraints.txt
TORCH = $(@D)/bin/python -m pip install --quiet torch==2.13.0
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT := $(PIP_CONSTRAINT)
# The package index may be slow to answer, or fail to at times.
export PIP_DEFAULT_TIMEOUT := 60
export PIP_RETRIES := 10
export UV_HTTP_TIMEOUT := 60
export UV_HTTP_RETRIES := 10

# Libraries of stores, frameworks, Jupyter and Playwright leave sessions, sockets and event loops to the collector, which
# may find one in any later test. That is told, and fails none of the tests that use these; it fails all others.
WITH_OTHERS := -W default::pytest.PytestUnraisableExceptionWarning

.PHONY: demo test gpu crash strange native alone elsewhere docs conformance stores cluster frameworks histories notebook javascript plugin package constraints bench bench-linters bench-quick bench-traincheck papers pictures lint types layers proto format clean

demo: native
	$(BIN)/python examples/sequential_digits.py

# What kills processes, and what draws in a browser, waits half of its time: it comes after the rest, beside other checks.
test: native lint layers
	$(BIN)/python -m pytest $(PARALLEL) $(addprefix --ignore=,$(ALONE) $(POWER))
	$(MAKE) --jobs 2 --output-sync=target alone types elsewhere

# The tests on a strange machine: settings and an order that are drawn at random. The seed is printed; DRAW='--seed 7' draws
# it again, `DRAW='--draws 20'` makes twenty, and `DRAW='--share 8'` is of an eighth of the tests.
strange: native
	$(BIN)/python tests/strange.py $(DRAW) $(addprefix --ignore=,$(ALONE) $(POWER))

# What is left after a loss of power at any system call (needs strace), and a handler of a signal at any instruction.
crash: native
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -s $(POWER)

# The compiled code for this system, if that is not up to date; `python -m summaries.native.building --all` for all.
native: $(VENV)/.ready
	$(BIN)/python -m summaries.native.building

# A store in memory shows what depends on the place; files that grow and memory are looked at on the disk, and in the stores
# of `make stores`; what hostile files decode to does not depend on the place.
elsewhere: $(VENV)/.ready
	$(BIN)/python -m pytest --place memory://mirror \
		$(filter-out %/test_growing.py %/test_copying.py,$(READERS)) tests/properties/test_hostile.py \
		--deselect tests/properties/test_hostile.py::test_compiled_equals_plain \
		--deselect tests/properties/test_hostile.py::test_what_is_kept_of_restarts_is_no_longer_than_the_points

alone: $(VENV)/.ready
	$(BIN)/python -m pytest $(PARALLEL) $(WITH_OTHERS) $(ALONE) $(addprefix --ignore=,$(PLUGIN))

# Our writer beside torch's, tensorboardX's and TF1's, and in programs of other libraries. It writes the page of it, and
# fails if that was another. The libraries take some gigabytes, in an environment of their own.
conformance: export OMP_NUM_THREADS := 1
conformance: $(CONFORMANCE)/.ready
	$(CONFORMANCE)/bin/python -m pytest tests/conformance -W ignore --numprocesses 2 --page docs/compatibility.md

# The readers' tests, and those of stores, against servers of stores; in an environment of its own, which has DuckDB and
# Polars for blocks of the documentation.
stores: $(STORES)/.ready
	$(STORES)/bin/python -m pytest $(WITH_OTHERS) --place s3 $(READERS)
	$(STORES)/bin/python -m pytest $(WITH_OTHERS) tests/stores
	$(STORES)/bin/python -m pytest $(WITH_OTHERS) tests/documentation/test_pages.py -k 'duckdb or polars'

# The audit on a Dask cluster of processes, which are killed at random; in the environment of the stores.
cluster: $(STORES)/.ready
	$(STORES)/bin/python -m pytest tests/cluster -W ignore

# What papers say of optimizers, beside ours: writes docs/papers.md and its figures; minutes.
papers: native
	PYTHONPATH=tests $(BIN)/python -m papers

# The documentation site, as files that need no server: build/docs/index.html. Every warning is an error.
docs: $(VENV)/.ready
	$(BIN)/python -m sphinx --fail-on-warning --fresh-env --quiet docs build/docs
	$(BIN)/python -m pytest tests/documentation/test_site.py --site build/docs

lint: $(VENV)/.ready
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/python proto/generate.py --check

types: $(VENV)/.ready
	$(BIN)/mypy
	$(BIN)/python tests/type_completeness.py
	$(BIN)/python tests/interface.py

layers: $(VENV)/.ready
	$(BIN)/lint-imports

# The pages' JavaScript: its format, what a linter finds, its types, and the tests of what needs no browser. Only this needs
# Node.js and npm.
javascript: $(VENV)/.ready $(JAVASCRIPT)/node_modules/.ready
	$(BIOME) ci --error-on-warnings --config-path=$(JAVASCRIPT)/lint.json $(SCRIPTS)
	$(JAVASCRIPT)/node_modules/.bin/tsc --project $(JAVASCRIPT)
	node --import ./$(JAVASCRIPT)/loading.js --test --test-reporter=spec $(wildcard $(JAVASCRIPT)/*.test.js)
	$(BIN)/python -m pytest $(WITH_OTHERS) tests/browser/test_accessibility.py

$(JAVASCRIPT)/node_modules/.ready: $(JAVASCRIPT)/package.json $(JAVASCRIPT)/package-lock.json
	cd $(JAVASCRIPT) && npm ci --loglevel=error
	touch $@

# Every view of the page in TensorBoard, in a browser, in the newest TensorBoard; and in the oldest that it is for, what
# depends on it: that it finds the page and shows it, its addresses, theme and frame.
plugin: $(VENV)/.ready .venv-tensorboard/.ready
	$(BIN)/python -m pytest $(WITH_OTHERS) $(PLUGIN)
	.venv-tensorboard/bin/python -m pytest $(WITH_OTHERS) -m each_tensorboard $(PLUGIN)

.venv-tensorboard/.ready: $(MADE_FROM)
	$(NEW)
	$(INTO) --editable '.[dev]'
	$(INSTALL) tensorboard==2.20.0 'setuptools<81'   # it imports pkg_resources
	touch $@

# Training frameworks, each with our callback, in an environment of their own; torch first, in the build that is at hand.
# On networks this small, threads of torch mostly wait for one another: with one, the loops take a fifth of the time. So it is
# in `make conformance`.
frameworks: export OMP_NUM_THREADS := 1
frameworks: .venv-frameworks/.ready
	.venv-frameworks/bin/python -m pytest $(WITH_OTHERS) tests/frameworks tests/histories tests/unit/test_readme.py

# What other loggers write, offline, read back as it was; in an environment of its own, without constraints: their clients
# ask for other releases of what ours needs, too.
histories: .venv-histories/.ready
	.venv-histories/bin/python -m pytest tests/histories -W ignore

.venv-histories/.ready: pyproject.toml $(UV)
	$(NEW)
	$(INSTALL) --group histories --editable '.[export,images]'
	touch $@

# The torch hook on CUDA, where torch sees a device; without one it says so, and nothing is taken for tried.
gpu: .venv-frameworks/.ready
	.venv-frameworks/bin/python -m pytest $(WITH_OTHERS) tests/gpu --capture=no

.venv-frameworks/.ready: $(MADE_FROM)
	$(NEW)
	$(TORCH)
	$(INTO) --group frameworks --editable .
	touch $@

# Runs, series and reports in JupyterLab, in Chromium, and the tutorial's notebook; in an environment of its own.
notebook: .venv-notebook/.ready
	.venv-notebook/bin/python -m pytest $(WITH_OTHERS) tests/browser/test_notebook.py tests/documentation/test_notebook.py

.venv-notebook/.ready: $(MADE_FROM)
	$(NEW)
	$(INTO) --group notebook --editable '.[export,images]'
	touch $@

# Wheel and source distribution are built into dist/ and checked; every command is run in environments of the oldest
# dependencies and the newest, on each Python that is there.
package: native .venv-package/.ready
	PYTHONPATH=tests $(BIN)/python -m package.libraries
	$(BIN)/python -m pytest tests/package/test_systems.py
	PYTHONPATH=tests .venv-package/bin/python -m package $(BIN)/python

# Name the newest releases of all that the environments are made of. Then run everything.
constraints: $(UV)
	printf 'pip\nhatchling\nhatch-fancy-pypi-readme\n' | $(UV) pip compile --quiet --upgrade --universal \
		--all-extras $(addprefix --group ,$(TOOLS)) --no-annotate --custom-compile-command 'make constraints' \
		--output-file constraints.txt pyproject.toml -

.venv-package/.ready: $(MADE_FROM)
	$(NEW)
	$(INTO) --group package
	touch $@

# Every comparison, each library in a process of its own; in an environment with all peers, torch first. The figures go
# to build/bench.json, of which `python -m benchmarks.readme_table` writes README's table.
bench: .venv-bench/.ready
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks --json build/bench.json

# The same at smaller sizes.
bench-quick: .venv-bench/.ready
	PYTHONPATH=tests .venv-bench/bin/python -m benchmarks --quick --json build/bench-quick.json

# The audit beside other linters of training runs, on real trainings with and without a bug: an environment of its own.
# The first time, all are trained: half an hour on one processor.
bench-linters: .venv-linters/.ready
	PYTHONPATH=tests .venv-linters/bin/python -W ignore -m linters build/linters

.venv-linters/.ready: $(MADE_FROM)
	$(NEW)
	$(TORCH)
	$(INTO) --group linters --editable .
	touch $@

# The torch hook beside TrainCheck, on small programs with one mistake each and without: half an hour on one processor.
# What was measured stays in build/traincheck.
bench-traincheck: .venv-traincheck/.ready
	PYTHONPATH=tests .venv-traincheck/bin/python -m invariants build/traincheck

.venv-traincheck/.ready: $(MADE_FROM)
	$(NEW)
	$(TORCH)
	$(INTO) --group traincheck --editable .
	touch $@

.venv-bench/.ready: $(MADE_FROM)
	$(NEW)
	$(TORCH)
	$(INTO) --group bench --editable '.[dev]'
	touch $@


# Take README's pictures and figures anew, from a fresh run of the demo. It needs Chromium.
pictures: $(VENV)/.ready
	PYTHONPATH=tests $(BIN)/python -m browser.pictures

# Write summaries/wire/pb anew from proto/.
proto: $(VENV)/.ready
	$(BIN)/python proto/generate.py

format: $(VENV)/.ready
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	test ! -x $(BIOME) || $(BIOME) check --write --config-path=$(JAVASCRIPT)/lint.json $(SCRIPTS)

# An environment is made again when what it is made from has changed.
$(VENV)/.ready: $(MADE_FROM)
	$(NEW)
	$(INTO) --group build numpy protobuf google-crc32c   # what compiles, and what that imports
	$(BIN)/python -m summaries.native.building
	$(INTO) --editable '.[dev]' --group docs
	touch $@

$(CONFORMANCE)/.ready: $(MADE_FROM)
	$(NEW)
	$(TORCH)
	$(INTO) --editable '.[dev]' --group conformance
	$(INTO) --no-deps timm==1.0.31   # of it only the optimizer LAMB is used
	touch $@

$(STORES)/.ready: $(MADE_FROM)
	$(NEW)
	$(INTO) --group stores --group cluster --editable '.[dev]'
	-npm install --silent --no-package-lock --prefix $(STORES) azurite@3.37.0
	touch $@

$(UV): constraints.txt
	$(PYTHON) -m venv --clear .venv-uv
	.venv-uv/bin/python -m pip install --quiet uv
	touch $@

clean:
	rm -rf docs/rules/GL*.md $(VENV) $(CONFORMANCE) $(STORES) .venv-frameworks .venv-histories .venv-tensorboard .venv-notebook .venv-package .venv-bench .venv-linters .venv-traincheck .venv-uv .protoc $(JAVASCRIPT)/node_modules build dist runs
