# SPDX-License-Identifier: Apache-2.0
# Targets call scripts/, which install missing Debian packages and then run Meson and Ninja.

BUILD ?= build
SANITIZED ?= build-asan
THREADED ?= build-tsan
COVERED ?= build-cov
FUZZED ?= build-fuzz
OTHERS = build-mut build-clang build-sse2 build-scalar
FUZZ_SECONDS ?= 20
JOBS ?= 2
PREFIX ?= /usr/local
BENCH ?= # options of bench/run.py, such as --only peers --quick

.PHONY: all demo example-report check check-quick check-long fuzz lint coverage mutation bench papers fmt install clean need

all: need
	@scripts/build $(BUILD)

need:
	@scripts/need build

demo: all
	@scripts/demo $(BUILD)

example-report: all
	@scripts/need page
	@scripts/example-report $(BUILD)

check-quick:
	@scripts/need build check
	@scripts/build $(BUILD) -Dtests=true
	@python3 tests/run.py --quick --jobs $(JOBS) --build $(BUILD)

check:
	@scripts/need build check page
	@scripts/need database || echo "without PostgreSQL: its tests are skipped"
	@scripts/need spark || echo "without Java: the tests of Spark are skipped"
	@scripts/build $(BUILD) -Dtests=true
	@scripts/build $(SANITIZED) -Dtests=true -Db_sanitize=address,undefined -Db_lundef=false
	@python3 tests/run.py --jobs $(JOBS) --build $(BUILD) --sanitized $(SANITIZED)

check-long:
	@scripts/need build check page long lint fmt fuzz
	@scripts/need database || echo "without PostgreSQL: its tests are skipped"
	@scripts/need spark || echo "without Java: the tests of Spark are skipped"
	@scripts/build $(BUILD) -Dtests=true
	@scripts/build $(SANITIZED) -Dtests=true -Db_sanitize=address,undefined -Db_lundef=false
	@scripts/build $(THREADED) -Dtests=true -Db_sanitize=thread -Db_lundef=false
	@python3 tests/run.py --long --jobs $(JOBS) --build $(BUILD) --sanitized $(SANITIZED) --threaded $(THREADED)

fuzz:
	@scripts/need build fuzz
	@CC=clang scripts/build $(FUZZED) -Dfuzz=true -Dwerror=false -Db_sanitize=address,undefined -Db_lundef=false
	@scripts/fuzz $(FUZZED) $(FUZZ_SECONDS)

lint:
	@scripts/need build lint fmt
	@scripts/build $(BUILD) -Dtests=true
	@scripts/lint $(BUILD)

coverage:
	@scripts/need build check coverage
	@scripts/coverage $(COVERED)

mutation:
	@scripts/need build check
	@python3 tests/mutation/mutate.py
	@python3 tests/mutation/mutate.py --survivors

bench:
	@scripts/need build check long
	@scripts/build $(BUILD) -Dtests=true
	@python3 bench/run.py --build $(BUILD) $(BENCH)

papers:
	@scripts/need build check
	@scripts/build $(BUILD)
	@python3 papers/run.py

fmt:
	@scripts/need fmt
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: need
	@scripts/build $(BUILD) -Dprefix=$(PREFIX)
	@meson install -C $(BUILD)

clean:
	@rm -rf $(BUILD) $(SANITIZED) $(THREADED) $(COVERED) $(FUZZED) $(OTHERS)
