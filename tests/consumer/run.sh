#!/bin/sh
# run.sh BUILD_DIR CMAKE CC: installs into a temporary prefix and builds the consumer in every way we promise:
# pkg-config shared, pkg-config static, C++, find_package. Also looks at what the shared library exports.
set -eu
build=$1
cmake=$2
cc=$3
cxx=${CXX:-c++}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

step "install"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" 2>&1 || { cat "$work/install.log"; fail install; }
# Moved after installation: nothing may depend on where it was built or first put.
mv "$work/first" "$work/prefix"
pc=$(find "$work/prefix" -name ulna.pc)
[ -n "$pc" ] || fail "no ulna.pc installed"
libraries=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH
cd "$work"

step "completion for shells"
if [ -x prefix/bin/ulna ]; then
    for file in bash-completion/completions/ulna zsh/site-functions/_ulna fish/vendor_completions.d/ulna.fish; do
        grep -q solve "prefix/share/$file" || fail "$file is not installed, or empty"
    done
fi

step "the pages that help names, and those to which these link"
if [ -x prefix/bin/ulna ]; then
    doc=$(prefix/bin/ulna help | sed -n '/^Pages such as/{n;s/^ *//p;}')
    [ "$doc" = "$(cd prefix/share/doc/ulna && pwd -P)" ] || fail "help says that the pages are in '$doc'"
    { prefix/bin/ulna help; prefix/bin/ulna help --json; prefix/bin/ulna methods; cat prefix/share/man/man1/ulna.1; } |
        sed 's/\\-/-/g' | grep -o 'docs/[a-z-]*\.md' | sort -u >pages
    [ "$(wc -l <pages)" -gt 5 ] || fail "help names too few pages"
    (cd "$doc" && grep -oH '](\(\.\./examples/\)*[a-zA-Z0-9_-]*\.[a-z]*' docs/*.md) | sed 's/^[^:]*:](/docs\//' | sort -u >>pages
    while read -r page; do
        [ -s "$doc/$page" ] || fail "$page is not installed"
    done <pages
fi

step "only ulna_* is exported"
nm -D --defined-only "$libraries/libulna.so" | awk '$2 != "A" { print $3 }' >exports
grep -q '^ulna_version$' exports || fail "ulna_version is not exported"
if grep -v '^ulna_' exports; then fail "the shared library exports the names above"; fi

step "every installed header stands alone, in C and C++"
for header in "$work"/prefix/include/ulna/*.h; do
    name=ulna/$(basename "$header")
    printf '#include <%s>\nextern int alone;\n' "$name" >alone.c
    "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags ulna) alone.c || fail "$name in C"
    "$cxx" -x c++ -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags ulna) alone.c || fail "$name in C++"
done

step "pkg-config, shared"
"$cc" -std=c17 "$here/consumer.c" -o shared $(pkg-config --cflags --libs ulna)
./shared

step "pkg-config, static"
"$cc" -std=c17 "$here/consumer.c" -o static \
    $(pkg-config --static --cflags --libs ulna | sed 's/-lulna/-l:libulna.a/')
./static
if readelf -d static | grep -q libulna; then fail "the static consumer still needs libulna.so"; fi

step "C++"
"$cxx" -x c++ "$here/consumer.c" -x none -o cplusplus $(pkg-config --cflags --libs ulna)
./cplusplus

step "find_package"
"$cmake" -S "$here" -B cmake -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" >cmake.log 2>&1 ||
    { cat cmake.log; fail "find_package"; }
"$cmake" --build cmake >>cmake.log 2>&1 || { cat cmake.log; fail "building against find_package"; }
cmake/consumer_shared
cmake/consumer_static
[ "$(cmake/consumer_static)" = "$(./shared)" ] || fail "the ways disagree"

if [ -x "$work/prefix/bin/ulna" ]; then
    step "the installed tool"
    "$work/prefix/bin/ulna" --version
fi
echo "== ok"
