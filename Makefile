# make demo   install into .venv and read handwritten page numbers
# make test   install with the test tools and run the tests
# make test-quick  those that take little time, for the loop while working
# make coverage  all tests, and how much of the source they run: a floor, not a goal
# make test-torch  the tests of layers for PyTorch, which make test leaves out
# make lint   check style, format and the types of what is public
# make docs   build the documentation into site/, and check its links
# make clean  remove everything that was made
#
# Needs Python 3.11 or newer with venv and pip. Choose one: make demo PYTHON=python3.12

VENV := .venv
# processes that run tests, each whole files of them
JOBS ?= 2
BIN := $(VENV)/bin

# where layers for PyTorch are tested, with these versions: builds for a CPU
TORCH_VENV := .venv-torch
TORCH := torch==2.13.0 triton==3.9.0

# The first Python here that starts and is new enough.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)

# Tests on public data look for them next to the checkout, unless told otherwise.
ifndef MAXMARGIN_DATA
ifneq ($(wildcard ../shared/data),)
export MAXMARGIN_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: demo test test-torch test-quick coverage lint docs clean

demo: $(VENV)/plot.stamp
	$(BIN)/python -m maxmargin.demo

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

test-quick: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not slow" $(ARGS)

# In an environment of its own: PyTorch is large, and nothing else needs it.
test-torch: $(TORCH_VENV)/torch.stamp
	$(TORCH_VENV)/bin/python -m pytest tests/torch_layers tests/test_docs.py \
	-k "torch or neural" $(ARGS)

# Not Ctrl-C at random moments: inside of coverage's own locks it would wait for ever.
coverage: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --cov -k "not random_moments" $(ARGS)

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $$($(BIN)/python tests/public_modules.py)

# What the examples of the gallery print and draw is kept in .docs_cache.
docs: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/site/check_links.py site

clean:
	rm -rf $(VENV) $(TORCH_VENV) demo_output bench_output dist site .docs_cache
	rm -rf .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python $(TORCH_VENV)/bin/python:
	@test -n "$(PYTHON)" || { \
	echo "No Python 3.11 or newer was found: install one, or name it: make PYTHON=..."; \
	exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "$(PYTHON) does not run or is older than 3.11: name another: make PYTHON=..."; \
	exit 1; }
	@echo "Creating $(@:/bin/python=) ..."
	@"$(PYTHON)" -m venv $(@:/bin/python=) || { rm -rf $(@:/bin/python=); \
	echo "$(PYTHON) could not create $(@:/bin/python=): does it have its venv module?"; \
	exit 1; }

# plot.stamp and test.stamp: the package is installed with these extras.
$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	@echo "Installing maxmargin[$*] into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

$(TORCH_VENV)/torch.stamp: pyproject.toml | $(TORCH_VENV)/bin/python
	@echo "Installing maxmargin and $(TORCH) into $(TORCH_VENV) ..."
	@$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	$(TORCH) 'pytest>=8' 'hypothesis>=6.100' -e '.[plot]'
	@touch $@
