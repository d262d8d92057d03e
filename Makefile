# A short front for CMake and the scripts in tools/. `make help` lists what there is.
#   make BUILD=DIR ...      builds in DIR instead of build/, and writes nothing to the source tree; not for `check` and `fuzz`.
#   make DEVELOPER=ON ...   in a clean tree: warnings are errors, as in CI. `make check` and `make fuzz` always build so.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
DEVELOPER ?= OFF
PYTHON ?= python3# one that has the solvers from PyPI with which bench-reach compares, if you like
export BUILD# tools/bootstrap puts there what comes from npm

suites = $(patsubst bench/bench_%.c,%,$(wildcard bench/bench_*.c))

.PHONY: help configured run build test check check-all bench papers picture fuzz install clean format bootstrap bootstrap-test bootstrap-check
.PHONY: check-static check-asan check-tsan check-minimal check-walks check-memory coverage
.DEFAULT_GOAL := build

help: ## this list
	@sed -n 's/^\([a-z<>-]*\):.*## /  make \1\t/p' Makefile | expand -t 24
	@echo "  make bench-<suite>    one benchmark, of: $(suites)"

bootstrap:
	@tools/bootstrap build
bootstrap-test:
	@tools/bootstrap build test
bootstrap-check:
	@tools/bootstrap build test check

# Configure once; the build itself notices changes of the CMake files and new sources. Folders may have spaces, which names of targets may not.
configured: bootstrap
	@[ -f "$(BUILD)/build.ninja" ] || cmake -DULNA_DEVELOPER=$(DEVELOPER) --preset release -B "$(BUILD)"
build/%/build.ninja: | bootstrap-check
	cmake --preset $*

build: configured ## release build of what is installed: the library and build/ulna
	cmake --build "$(BUILD)" -j $(JOBS) --target ulna ulna_shared ulna_static

run: configured ## build the tool, then solve the built-in take: joint angles, and a report to open in a browser
	cmake --build "$(BUILD)" -j $(JOBS) --target ulna
	"$(BUILD)/ulna" sample --force --quiet "$(BUILD)/sample"
	"$(BUILD)/ulna" info --draw "$(BUILD)/sample/human.json"
	@echo
	cd "$(BUILD)/sample" && ../ulna solve --skeleton human.asf --markers walk.c3d --attach walk-markers.csv \
	    -o walk.amc -o walk.bvh -o walk.glb --report report.html
	@echo; echo "All that is marked above is the planted damage. The report, for a browser:"
	@echo "  $(BUILD)/sample/report.html"
	@echo "A robot: $(BUILD)/ulna reach arm --tip tool --goal \"0.4 0.2 0.5\""

test: bootstrap-test configured ## release build and all tests
	cmake --build "$(BUILD)" -j $(JOBS)
	tools/run-tests "$(BUILD)" -j $(JOBS)

check: check-static check-minimal check-asan check-tsan ## format, lint, layers, minimal build, tests under sanitizers

check-static: bootstrap-check build/dev/build.ninja
	tools/check-format
	tools/check-pages || [ $$? = 77 ]
	cmake --build build/dev -j $(JOBS)
	tools/check-layers build/dev
	tools/check-tidy -j $(JOBS) build/dev
check-minimal: bootstrap-check build/minimal/build.ninja
	cmake --build build/minimal -j $(JOBS)
check-asan: bootstrap-check build/asan/build.ninja
	cmake --build build/asan -j $(JOBS)
	tools/run-tests build/asan -j $(JOBS)
check-tsan: bootstrap-check build/tsan/build.ninja
	cmake --build build/tsan -j $(JOBS) --target tests_threads
	tools/run-tests build/tsan -j $(JOBS) -L "^threads$$"

check-all: check check-walks check-memory ## everything that takes too long for CI, before a release
check-walks: ## a newcomer's first hour: the README's commands, then other compilers, languages, folders and rights
	tools/walk
	tools/walk --variants
check-memory: configured ## every command with every one of its allocations failing
	cmake --build "$(BUILD)" -j $(JOBS) --target ulna_with_faults
	tests/tools/memory_faults.py "$(BUILD)/tests/faults/ulna" "$(BUILD)/memory_faults" --all

coverage: bootstrap-test ## line coverage by the tests: without recorded data and with them (tools/coverage)
	tools/coverage "$(BUILD)/coverage"

# Suites never run side by side: they measure time.
bench: ## all benchmarks, numbers in build/bench/*.json, one page in build/bench/index.html
	@for suite in $(suites); do $(MAKE) --no-print-directory bench-$$suite || exit 1; done
	@$(PYTHON) tools/bench-page "$(BUILD)/bench"
# Configured anew each time: the peers may have been installed since. A peer that is missing is an error.
bench-%: configured
	@[ -d "$${ULNA_DATA:-../shared/data}" ] || echo "There are no recordings (docs/test-data.md): what needs them runs on what is built in."
	@tools/bootstrap build bench-$*
	cmake -DULNA_BENCH=ON -DULNA_PEERS_OF=bench_$* "$(BUILD)"
	cmake --build "$(BUILD)" -j $(JOBS) --target bench_$* ulna
	@mkdir -p "$(BUILD)/bench"
	@case $* in poses|track) JOBS=$(JOBS) tools/build-yardstick "$(BUILD)/bench/yardstick" ;; esac
	"$(BUILD)/bench_$*" --json "$(BUILD)/bench/$*.json"
	@case $* in reach) $(PYTHON) bench/reach_peers.py --json "$(BUILD)/bench/reach_peers.json" ;; esac

papers: configured ## figures and tables of the papers, made again: build/papers/index.html
	cmake --build "$(BUILD)" -j $(JOBS) --target ulna
	"$(BUILD)/ulna" paper all -o "$(BUILD)/papers"

fuzz: bootstrap-check build/fuzz/build.ninja ## every fuzz target for FUZZ_SECONDS each
	cmake --build build/fuzz -j $(JOBS)
	tools/fuzz $(FUZZ_SECONDS)

picture: configured ## draw the picture of README.md again, docs/report.png, after a change of the report page
	cmake --build "$(BUILD)" -j $(JOBS) --target ulna
	tools/picture "$(BUILD)/ulna"

install: build ## install under PREFIX
	cmake --install "$(BUILD)" --prefix "$(PREFIX)"

format: bootstrap-check ## rewrite the sources in house style
	tools/check-format --fix

clean: ## remove everything built
	rm -rf "$(BUILD)"
