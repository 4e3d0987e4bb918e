# make demo    the digits network and a small hidden example
# make test    ruff, mypy, pytest
# make wheel   what would be published, tried in an empty environment
# make docs    the documentation site, in site/; a warning is an error
# make pictures    every picture of the documentation, by the commands on docs/pictures.md
#
# All make .venv when there is none, and install again only when pyproject.toml has changed.
# Another Python: make test PYTHON=python3.13      More extras: make test EXTRAS=test,all

PYTHON      ?= python3
VENV        ?= .venv
EXTRAS      ?= test
PYTEST_ARGS ?=

BIN     := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check
comma   := ,
BASE    := $(VENV)/.installed
TESTING := $(BASE)-$(subst $(comma),-,$(EXTRAS))
SITE    := $(BASE)-for-the-site

.PHONY: demo test wheel docs pictures clean

demo: $(BASE)
	$(BIN)/semialg-fibers describe notebooks/data/digits-64-32-16-10.json
	$(BIN)/semialg-fibers fiber gallery:hidden_2_2_2_1

test: $(TESTING)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest $(PYTEST_ARGS)

wheel: $(BASE)
	$(INSTALL) 'build>=1.2'
	$(BIN)/python tools/try_wheel.py

docs: $(SITE)
	$(BIN)/mkdocs build --strict

pictures: $(SITE)
	$(BIN)/python tools/pictures.py

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis

# pip is the last thing that venv writes, so a half-made environment is made again.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml | $(BIN)/pip
	$(INSTALL) --editable .
	@touch $@

$(SITE): pyproject.toml | $(BIN)/pip
	$(INSTALL) --editable '.[docs]'
	@touch $@ $(BASE)

$(TESTING): pyproject.toml | $(BIN)/pip
	$(INSTALL) --editable '.[$(EXTRAS)]'
	@touch $@ $(BASE)
