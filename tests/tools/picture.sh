#!/bin/sh
# picture.sh ULNA: is the picture of README.md the report page of today (tools/picture --check)? And would the check notice: another word or
# another style of the page, another picture; but not other numbers?
set -eu
ulna=$1
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "picture: $*"; exit 1; }

grep -q '](docs/report.png)' "$root/README.md" || fail "README.md does not show docs/report.png"
"$root/tools/picture" --check "$ulna"

# A copy of the sources of the page, and a tool whose page is changed by a command of sed.
mkdir -p "$folder/tree/tools" "$folder/tree/docs" "$folder/tree/cli/solve"
cp "$root/tools/picture" "$folder/tree/tools"
cp "$root/docs/report.png" "$root/docs/report.sum" "$folder/tree/docs"
cp -r "$root/cli/page.css" "$folder/tree/cli"
cp -r "$root/cli/solve/report" "$folder/tree/cli/solve"
cat >"$folder/ulna" <<END
#!/bin/sh
"$ulna" "\$@" || exit
[ ! -e report.html ] || [ ! -e "$folder/edit" ] || { sed -f "$folder/edit" report.html >changed && mv changed report.html; }
END
chmod +x "$folder/ulna"
check() { "$folder/tree/tools/picture" --check "$folder/ulna" >"$folder/out" 2>&1; }
check || fail "it does not take a copy: $(cat "$folder/out")"
echo 's/<strong>[0-9.]*</<strong>123.45</; s/[0-9.]* µs/99 µs/' >"$folder/edit"
check || fail "other numbers count as another page: $(cat "$folder/out")"
echo 's/Frames to look at/Frames/' >"$folder/edit"
! check || fail "another heading is not noticed"
grep -q 'run make picture' "$folder/out" || fail "it does not say what to do"
rm "$folder/edit"
echo 'h2 { color: red }' >>"$folder/tree/cli/solve/report/report.css"
! check || fail "another style is not noticed"
cp "$root/cli/solve/report/report.css" "$folder/tree/cli/solve/report"
check || fail "the copy is not as before"
echo >>"$folder/tree/docs/report.png"
! check || fail "another picture is not noticed"
rm "$folder/tree/docs/report.png"
! check || fail "a missing picture is not noticed"
echo "picture: every change is noticed"
