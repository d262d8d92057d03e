#!/bin/sh
# gltf_validate.sh BUILD_DIR PROGRAM: PROGRAM --write FOLDER makes glTF files; the Khronos validator must find neither errors
# nor warnings in them, and must find them in a file that is spoilt. Skips (77) where the validator cannot be had, but fails if
# ULNA_REQUIRE_DATA=1.
set -eu
build=$1
program=$2
root=$(cd "$(dirname "$0")/../.." && pwd)

tool=$root/build/npm
[ -f "$tool/node_modules/gltf-validator/index.js" ] || tool=$build/npm
if ! "$root/tools/get-gltf-validator" "$tool"; then
    [ "${ULNA_REQUIRE_DATA:-0}" != 1 ] || { echo "FAILED: ULNA_REQUIRE_DATA=1, and no validator" >&2; exit 1; }
    echo "skipped: no glTF validator"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/good" "$work/bad"
"$program" --write "$work/good" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
sed 's/"componentType":5126,"count":/"componentType":5126,"count":9/' "$work/good/human.gltf" >"$work/bad/count.gltf"

NODE_PATH=$tool/node_modules node - "$work/good" "$work/bad" <<'SCRIPT'
const fs = require('fs'), path = require('path'), validator = require('gltf-validator');

async function judge(folder, name) {
    const bytes = new Uint8Array(fs.readFileSync(path.join(folder, name)));
    const issues = (await validator.validateBytes(bytes, { uri: name })).issues;
    return { count: issues.numErrors + issues.numWarnings, messages: issues.messages };
}

(async () => {
    const [good, bad] = process.argv.slice(2);
    let failures = 0, files = 0;
    for (const name of fs.readdirSync(good).sort()) {
        const { count, messages } = await judge(good, name);
        files++;
        if (count === 0)
            continue;
        failures++;
        console.log(`${name}: ${count} errors and warnings`);
        for (const m of messages.slice(0, 5))
            console.log(`  ${m.code} ${m.pointer || ''}: ${m.message}`);
    }
    for (const name of fs.readdirSync(bad))
        if ((await judge(bad, name)).count === 0) {
            failures++;
            console.log(`${name}: the validator finds nothing wrong with a spoilt file`);
        }
    console.log(`${files} files, ${failures} failures`);
    process.exit(failures || files < 20 ? 1 : 0);
})().catch(problem => { console.log(String(problem)); process.exit(1); });
SCRIPT
