#!/bin/sh
# report_page.sh ULNA FOLDER: are the pages of `ulna solve --report`, `ulna paper` and `ulna batch` alive in a browser?
#
# Makes the pages of the built-in take in FOLDER and opens each in Chromium, without a window: wide and light, where NAME_page.mjs
# uses it as a reader does; then narrow and dark, for a picture, FOLDER/report.png, papers.png and batch.png. The console must be
# silent. Exit 77 if there is no Chromium, but 1 if ULNA_REQUIRE_DATA=1.
set -eu
ulna=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)

for name in chromium chromium-browser google-chrome; do
    command -v $name >/dev/null 2>&1 && browser=$name && break
done
if [ -z "${browser:-}" ]; then
    [ "${ULNA_REQUIRE_DATA:-0}" != 1 ] || { echo "report_page: FAILED: ULNA_REQUIRE_DATA=1, and there is no chromium" >&2; exit 1; }
    echo "report_page: skipped: there is no chromium: run tools/bootstrap test"
    exit 77
fi

mkdir -p "$folder"
cd "$folder"
rm -rf profile papers takes batch report.png papers.png batch.png
"$ulna" sample --quiet --force --only walk .
"$ulna" solve --quiet -s human.asf -m walk.c3d -a walk-markers.csv --compare-with walk-true.amc --report report.html
"$ulna" paper --quick --quiet fig5 table4 a10 condition stills player convex3 -o papers
mkdir takes
cp walk.c3d takes/a_long_name_of_a_take_from_the_second_session_of_anna_01.c3d
head -c 300 walk.c3d >takes/broken.c3d
"$ulna" batch takes --quiet -s human.asf -a walk-markers.csv -o batch 2>/dev/null || [ $? = 1 ]

# open_page FILE ARGUMENTS...: what Chromium prints goes to page.out, its log to page.log.
open_page() {
    file=$1
    shift
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
        --user-data-dir="$PWD/profile" --enable-logging=stderr --virtual-time-budget=2000 "$@" "file://$PWD/$file" \
        >page.out 2>page.log || { tail -5 page.log; echo "report_page: $browser failed" >&2; exit 1; }
    if grep CONSOLE page.log; then
        echo "report_page: the console is not silent" >&2
        exit 1
    fi
}

# try_page PAGE NAME: the page with a record of its errors at the beginning, and NAME_page.mjs at the end; then its picture.
try_page() {
    {
        sed '/<head>/q' "$1"
        echo '<script>window.failures = []; addEventListener("error", e => window.failures.push(e.message));</script>'
        sed '1,/<head>/d; /^<\/body>/,$d' "$1"
        echo '<script type="module">'
        cat "$here/$2_page.mjs"
        echo '</script></body></html>'
    } >probe.html
    open_page probe.html --window-size=1200,2400 --dump-dom
    sed -n '/report-page: /,/report-page: end/p' page.out | sed 's/<[^>]*>//g' >found.txt
    if ! grep -q '^report-page: 0 problems' found.txt; then
        cat found.txt
        echo "report_page: $1: FAILED" >&2
        exit 1
    fi
    open_page "$1" --window-size=420,1600 --blink-settings=preferredColorScheme=0 --screenshot="$PWD/$2.png"
    [ "$(wc -c <"$2.png")" -gt 20000 ] || { echo "report_page: the picture of $1 is empty" >&2; exit 1; }
}
try_page report.html report
try_page papers/index.html papers
try_page batch/index.html batch
rm -rf profile
echo "report_page: ok"
