#!/bin/sh
# tools/check-layers must accept a good tree and name each kind of violation.
set -eu
check=$(cd "$(dirname "$0")/../../tools" && pwd)/check-layers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# Starts a good tree: every rule used in the allowed direction.
good_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/include/ulna" "$work/tree/src/base" "$work/tree/src/model" "$work/tree/src/solve" \
        "$work/tree/src/formats" "$work/tree/src/mocap" "$work/tree/cli"
    cd "$work/tree"
    echo '#include <stddef.h>' >include/ulna/base.h
    echo '#include "ulna/base.h"' >include/ulna/problem.h
    printf '#include "ulna/base.h"\n#include "ulna/problem.h"\n' >include/ulna/ulna.h
    printf '#include "base/base.h"\n#include "ulna/base.h"\n#include <math.h>\n' >src/model/model.c
    printf '#include "model/model.h"\n#include "ulna/problem.h"\n' >src/solve/driver.c
    printf '#include "model/model.h"\n#include <jansson.h>\n' >src/formats/json.c
    printf '#include "solve/driver.h"\n#include "formats/json.h"\n' >src/mocap/track.c
    printf '#include "report.h"\n#include <ulna/ulna.h>\n#include "ulna/ulna.h"\n' >cli/main.c
}

# expect_bad <what> <file> <line to add> <words of the message>
expect_bad() {
    good_tree
    mkdir -p "$(dirname "$2")"
    printf '%s\n' "$3" >>"$2"
    if "$check" "" "$work/tree" >"$work/out"; then
        echo "not noticed: $1"
        failures=$((failures + 1))
    elif ! grep -q "^$2:[0-9]*: .*$4" "$work/out"; then
        echo "wrong message for: $1"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

good_tree
"$check" "" "$work/tree" >"$work/out" || { echo "a good tree was refused:"; cat "$work/out"; failures=1; }
grep -q "symbols were NOT checked" "$work/out" || { echo "it does not say that no symbols were checked:"; cat "$work/out"; failures=1; }
if "$check" "$work/nowhere" "$work/tree" >"$work/out" 2>&1; then
    echo "a build without objects was accepted:"
    cat "$work/out"
    failures=$((failures + 1))
fi

expect_bad "a lower layer sees a higher one" src/model/model.c '#include "solve/driver.h"' "model must not see solve"
expect_bad "the same through a public header" src/model/model.c '#include "ulna/problem.h"' "model must not see objective"
expect_bad "formats see the solver" src/formats/json.c '  #  include "kinematics/forward.h"' "formats must not see kinematics"
expect_bad "a public header shows a private one" include/ulna/problem.h '#include "model/model.h"' "private"
expect_bad "public headers upside down" include/ulna/base.h '#include "ulna/problem.h"' "base must not see objective"
expect_bad "the tool sees a private header" cli/main.c '#include "model/model.h"' "is private"
expect_bad "a relative include" src/model/model.c '#include "../solve/driver.h"' "relative"
expect_bad "a header without its folder" src/model/model.c '#include "model.h"' "folder/file.h"
expect_bad "the umbrella inside the library" src/model/model.c '#include "ulna/ulna.h"' "umbrella"
expect_bad "an unknown public header" src/model/model.c '#include "ulna/novel.h"' "no layer"
expect_bad "letters by the locale" src/model/model.c '#include <ctype.h>' "follows the locale"
expect_bad "an unknown folder" src/novel/novel.c '#include "base/base.h"' "no layer"

# Symbols: the objects are made here, by the compiler that is there; without one, or without nm, there is nothing to check.
if command -v cc >/dev/null && command -v nm >/dev/null; then
    objects=$work/build/CMakeFiles/ulna_objects.dir
    # compile <file> <text>
    compile() {
        mkdir -p "$work/tree/$(dirname "$1")" "$objects/$(dirname "$1")"
        printf '%s\n' "$2" >"$work/tree/$1"
        cc -c -o "$objects/$1.o" "$work/tree/$1"
    }
    good_tree
    compile src/model/low.c 'int ulna_low(void); int ulna_low(void) { return 1; }'
    compile src/solve/high.c 'int ulna_low(void); int ulna_high(void); int ulna_high(void) { return ulna_low(); }'
    "$check" "$work/build" "$work/tree" >"$work/out" || { echo "good objects were refused:"; cat "$work/out"; failures=$((failures + 1)); }
    compile src/model/up.c 'extern int ulna_high(void); int ulna_up(void); int ulna_up(void) { return ulna_high(); }'
    if "$check" "$work/build" "$work/tree" >"$work/out"; then
        echo "not noticed: a call upward by an extern name"
        failures=$((failures + 1))
    elif ! grep -q "^src/model/up.c: model must not call solve (ulna_high)" "$work/out"; then
        echo "wrong message for: a call upward by an extern name"
        cat "$work/out"
        failures=$((failures + 1))
    fi
    rm "$work/tree/src/model/up.c" # objects of files that are gone do not count
    "$check" "$work/build" "$work/tree" >"$work/out" || { echo "an old object was checked:"; cat "$work/out"; failures=$((failures + 1)); }
fi

[ $failures = 0 ] && echo "check-layers self-test: ok"
exit $failures
