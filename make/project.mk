# What a person calls: deps, demo, test, lint. PYTORCH=no goes without PyTorch, PG_CONFIG=... serves another PostgreSQL.

export PG_CONFIG PYTORCH PYTHON

# a change of a header rebuilds what may include it
$(OBJS): $(wildcard src/*.h supervise/*.h bgworker/*.h)

.PHONY: deps ready built demo docs train-demo test lint sanitize dist deb check-deb
deps:
	@tools/deps

# built and installed, quietly unless it fails; a second make, since PGXS may have come with deps.
# PyTorch comes while the rest is built: unpacking hundreds of packages occupies one core alone.
ready:
	@tools/deps building
	@$(MAKE) --no-print-directory -j2 deps built
	@tools/quietly "installing" $(MAKE) --no-print-directory install
built:
	@tools/quietly "building" $(MAKE) --no-print-directory -j"$$(nproc)" all

demo: ready
	@demo/run

# the documents as a site with search, by MkDocs
docs:
	@tools/docs build/site && echo build/site/index.html

# the three stages of examples/train, in a Python environment of their own
train-demo: export TRAINERS = yes
train-demo: ready
	@python=$$(tools/trainers) && exec $$python -B examples/train/demo

test lint sanitize: export TESTS = yes
# single tests look for more, and skip themselves without
test: export EXTRAS ?= yes
test: ready
	@test/run

lint: deps
	@test/run lint

# the runner under sanitizers, and the fuzzers
sanitize: deps
	@tools/sanitize

# the archive that PGXN distributes: what is committed, and nothing else
dist:
	git archive --format=zip --prefix=cudal1-$(EXTVERSION)/ -o cudal1-$(EXTVERSION).zip HEAD

# Debian packages of the tree as it is, in build/deb; what a build needs and is missing is named
deb:
	@tools/packages build . build/deb

# installs, upgrades and removes them in bare Debian roots, which takes minutes
check-deb:
	@test/packages
