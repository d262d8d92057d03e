#!/bin/sh
# readme.sh BUILD_DIR CMAKE: runs the commands of README.md, every indented line, one after the other in a copy of the
# tree, with its program as app.c, as somebody who reads it would. Those that build are replaced by what is built already: `make install` by
# `cmake --install`; other targets of make are only looked up.
set -eu
build=$1
cmake=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home"
mkdir -p "$work/tree" "$HOME"
ln -s "$build" "$work/tree/build"
cp -r "$source/examples" "$work/tree"

sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source/README.md" >"$work/tree/app.c"
sed '/^```/,/^```/d' "$source/README.md" | sed -n 's/^    \([^ ].*\)/\1/p' >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 8 ] || { echo "readme: only $(wc -l <"$work/commands") commands found"; exit 1; }
sed "s|^make install PREFIX=\([^ ]*\)|'$cmake' --install build --prefix \1 >/dev/null|; s|^make |make -n -C '$source' |" \
    "$work/commands" >"$work/script"
cd "$work/tree"
sh -ex "$work/script" >"$work/out" 2>&1 || { cat "$work/out"; echo "readme: FAILED"; exit 1; }
[ -s app.amc ] && [ -s take/walk.amc ] && [ -s take/walk.html ] && [ -s take/found.csv ] && [ -s solved/walk.amc ] || { ls -R take; echo "readme: a file is missing"; exit 1; }
echo "readme: ok"
