# cudal1: a PostgreSQL extension. `make ready` installs it with all that it needs, `make demo` shows it.

EXTENSION = cudal1
EXTVERSION = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" cudal1.control)
MODULE_big = cudal1
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c supervise/*.c bgworker/*.c)))
DATA_built = cudal1--$(EXTVERSION).sql
PG_CPPFLAGS = -I$(srcdir) -I$(srcdir)/src -DCUDAL1_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -std=gnu11 -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
EXTRA_CLEAN = cudal1--*.sql

PG_CONFIG ?= pg_config
override with_llvm = no
# before `make deps` there may be no pg_config, or one without server headers
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifeq ($(PGXS),)
.DEFAULT_GOAL := all
all install uninstall clean:
	@echo "$(PG_CONFIG) names no PostgreSQL with server headers: run 'make ready' as root, or set PG_CONFIG" >&2; exit 1
else
include $(PGXS)

SQL_PARTS = $(sort $(wildcard sql/*.sql))

cudal1--$(EXTVERSION).sql: $(SQL_PARTS)
	{ printf '%s\n' '\echo Use "CREATE EXTENSION cudal1" to load this file. \quit'; cat $^; } >$@

# RUNNER=no builds and installs the extension alone
ifneq ($(RUNNER),no)
all: runner
install: install-runner
uninstall: uninstall-runner
clean: clean-runner
endif

# Debian's man looks into the server's own folder for none but the server's pages
RUNNER_MAKE = $(MAKE) -C runner MANDIR='$(or $(filter-out /usr/share/postgresql/%,$(mandir)),/usr/local/share/man)' BINDIR='$(bindir)' LIBDIR='$(pkglibdir)/cudal1' VERSION='$(EXTVERSION)'

.PHONY: runner install-runner uninstall-runner clean-runner
runner:
	+$(RUNNER_MAKE)
# after runner: both would build the same files at once
install-runner: runner
	+$(RUNNER_MAKE) install DESTDIR='$(DESTDIR)'
	@[ '$(DESTDIR)' ] || case ":$$PATH:" in *:'$(bindir)':*) ;; *) \
		echo "The programs are in $(bindir), where the shell does not look. Either of these lets it find them:"; \
		echo "    export PATH=\"$(bindir):\$$PATH\""; \
		echo "    ln -s $(bindir)/cudal1* /usr/local/bin/";; esac
uninstall-runner:
	+$(RUNNER_MAKE) uninstall DESTDIR='$(DESTDIR)'
clean-runner:
	+$(RUNNER_MAKE) clean
endif

include make/project.mk
