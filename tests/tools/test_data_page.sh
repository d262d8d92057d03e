#!/bin/sh
# Every recorded file that tests and benchmarks name is on the page that says where they are published (docs/test-data.md).
set -eu
cd "$(dirname "$0")/../.."
# (The folders of test_cli_batch.c are its own.)
asked=$(grep -rhoE --exclude=test_cli_batch.c "(\"|'|%s/|data / \")(bvh|c3d|cmu|hand|hdm05|trc|urdf)/[A-Za-z0-9_./-]+\.[a-z0-9]+" tests bench |
    grep -oE "(bvh|c3d|cmu|hand|hdm05|trc|urdf)/.*" | sort -u)
missing=0
[ "$(echo "$asked" | wc -l)" -ge 100 ] || { echo "test_data_page: FAILED: only few files were found in tests and bench" >&2; exit 1; }
for name in $asked; do
    grep -qF "${name##*/}" docs/test-data.md || { echo "docs/test-data.md does not list $name"; missing=1; }
done
exit $missing
