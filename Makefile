# A short front for CMake and the scripts in tools/. `make help` lists what there is.
#   make DEVELOPER=ON ...   in a clean tree: warnings are errors, as in CI. `make check` and `make fuzz` always build so.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
DEVELOPER ?= OFF
PYTHON ?= python3# one that has the solvers from PyPI with which bench-reach compares, if you like

suites = $(patsubst bench/bench_%.c,%,$(wildcard bench/bench_*.c))

.PHONY: help run build test check bench papers fuzz install clean format bootstrap bootstrap-test bootstrap-check bootstrap-bench
.PHONY: check-static check-asan check-tsan check-minimal
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
bootstrap-bench:
	@tools/bootstrap build bench

# Configure once; the build itself notices changes of the CMake files and new sources.
build/build.ninja: | bootstrap
	cmake -DULNA_DEVELOPER=$(DEVELOPER) --preset release
build/%/build.ninja: | bootstrap-check
	cmake --preset $*

build: bootstrap build/build.ninja ## release build of what is installed: the library and build/ulna
	cmake --build build -j $(JOBS) --target ulna ulna_shared ulna_static

run: bootstrap build/build.ninja ## build the tool, then solve the built-in take: joint angles, and a report to open in a browser
	cmake --build build -j $(JOBS) --target ulna
	build/ulna sample --force --quiet build/sample
	build/ulna info --draw build/sample/human.json
	cd build/sample && ../ulna solve --skeleton human.asf --markers walk.c3d --attach walk-markers.csv \
	    -o walk.amc -o walk.bvh -o walk.glb --report report.html
	@echo; echo "Open build/sample/report.html in a browser."
	@echo "A robot: build/ulna reach arm --tip tool --goal \"0.4 0.2 0.5\""

test: bootstrap-test build/build.ninja ## release build and all tests
	cmake --build build -j $(JOBS)
	ctest --preset release -j $(JOBS)

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
	ctest --preset asan -j $(JOBS)
check-tsan: bootstrap-check build/tsan/build.ninja
	cmake --build build/tsan -j $(JOBS) --target tests_threads
	ctest --preset tsan -j $(JOBS)

# Suites never run side by side: they measure time.
bench: bootstrap-bench ## all benchmarks, numbers in build/bench/*.json, one page in build/bench/index.html
	@for suite in $(suites); do $(MAKE) --no-print-directory bench-$$suite || exit 1; done
	@$(PYTHON) tools/bench-page build/bench
# Configured anew each time: the peers may have been installed since. A peer that is missing is an error.
bench-%: bootstrap-bench build/build.ninja
	cmake -DULNA_BENCH=ON -DULNA_PEERS_OF=bench_$* build
	cmake --build build -j $(JOBS) --target bench_$*
	@mkdir -p build/bench
	@case $* in poses|track) JOBS=$(JOBS) tools/build-yardstick build/bench/yardstick ;; esac
	build/bench_$* --json build/bench/$*.json
	@case $* in reach) cmake --build build -j $(JOBS) --target ulna && $(PYTHON) bench/reach_peers.py --json build/bench/reach_peers.json ;; esac

papers: bootstrap build/build.ninja ## figures and tables of the papers, made again: build/papers/index.html
	cmake --build build -j $(JOBS) --target ulna
	build/ulna paper all -o build/papers

fuzz: bootstrap-check build/fuzz/build.ninja ## every fuzz target for FUZZ_SECONDS each
	cmake --build build/fuzz -j $(JOBS)
	tools/fuzz $(FUZZ_SECONDS)

install: build ## install under PREFIX
	cmake --install build --prefix "$(PREFIX)"

format: bootstrap-check ## rewrite the sources in house style
	tools/check-format --fix

clean: ## remove everything built
	rm -rf build
