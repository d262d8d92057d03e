#!/bin/sh
# tools/bench-page on numbers of two suites: ratios first, every figure, machine and commit; broken files are refused.
set -eu
tool="$(cd "$(dirname "$0")/../.." && pwd)/tools/bench-page"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
echo '{"data": "the built-in take", "dof": 58, "ulna_us": 3.25, "peer_over_ulna": 59.5, "nested": {"list": [1, 2]}, "name": "<x>"}' >"$folder/track.json"
echo '{"us": 1e-3}' >"$folder/reach.json"
"$tool" "$folder" | grep -q "1 ratios, 6 figures of 2 suites"
for part in "make bench-track, on the built-in take" "track: peer / ulna" "59.5" "nested.list.1" "machine" "compiler" "commit" "make bench-reach"; do
    grep -q "$part" "$folder/index.html" || { echo "bench_page: no '$part' in the page"; exit 1; }
done
echo '{' >"$folder/broken.json"
if "$tool" "$folder" 2>/dev/null; then echo "bench_page: a broken file is accepted"; exit 1; fi
if "$tool" "$folder/none" 2>/dev/null; then echo "bench_page: a missing folder is accepted"; exit 1; fi
