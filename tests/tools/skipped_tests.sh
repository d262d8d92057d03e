#!/bin/sh
# Tests without their data are skipped, and said to be; with ULNA_REQUIRE_DATA=1 they fail. tools/run-tests counts them apart.
#   skipped_tests.sh PROGRAM     PROGRAM: a test with a part that needs the folder cmu, and a part that needs no data
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset ULNA_REQUIRE_DATA ULNA_TEST_PART 2>/dev/null || true
export ULNA_DATA="$folder"

fail() { echo "skipped_tests: FAILED: $*" >&2; sed "s/^/  /" "$folder/out" >&2; exit 1; }
# expect CODE [NAME=VALUE]... PROGRAM
expect() {
    code=$1 status=0
    shift
    env "$@" >"$folder/out" 2>&1 || status=$?
    [ $status = "$code" ] || fail "exit code $status, not $code: $*"
}
says() { grep -q "$1" "$folder/out" || fail "this is not said: $1"; }
says_not() { ! grep -q "$1" "$folder/out" || fail "this is said: $1"; }

expect 77 "$1"
says "needs cmu: there is no folder $folder/cmu (docs/test-data.md)"
says 'OK \]'
expect 0 ULNA_TEST_PART=rest "$1"
says_not needs
expect 77 ULNA_TEST_PART=data "$1"
says_not 'OK \]'
expect 1 ULNA_REQUIRE_DATA=1 ULNA_TEST_PART=data "$1"
says 'ULNA_REQUIRE_DATA=1'

cat >"$folder/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(counted NONE)
enable_testing()
add_test(NAME good COMMAND true)
add_test(NAME walk_data COMMAND sh -c "echo 'walk: needs cmu bvh: there is no folder \"x\" (docs/test-data.md)'; echo 'run: needs cmu: there is no folder x (docs/test-data.md)'; exit 77")
add_test(NAME browser COMMAND sh -c "echo 'browser: skipped: there is no <browser>'; exit 77")
set_tests_properties(good walk_data browser PROPERTIES SKIP_RETURN_CODE 77)
if(WITH_BAD)
    add_test(NAME bad COMMAND sh -c "echo 'bad: needs cmu: there is no folder x (docs/test-data.md)'; exit 1")
    add_test(NAME absent COMMAND /nonexistent/program)
endif()
END
cmake -S "$folder" -B "$folder/build" >"$folder/out" 2>&1 || fail cmake
expect 0 "$root/tools/run-tests" "$folder/build"
says '^  walk_data  *needs recorded data: cmu bvh$'
says '^  browser  *there is no <browser>$'
says '^1 passed, 0 failed, 2 skipped$'
tail -n 1 "$folder/out" | grep -q '^1 of those skipped need .*docs/test-data.md' || fail "the last line is another"
cmake -DWITH_BAD=ON "$folder/build" >"$folder/out" 2>&1 || fail cmake
expect 8 "$root/tools/run-tests" "$folder/build"
says '^1 passed, 2 failed, 2 skipped$'
says '^1 of those skipped'
