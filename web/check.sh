#!/usr/bin/env bash
# Builds the front end again and compares it with the build that is committed, then tries the pages in a
# browser: against made-up sessions, and against the real binary (AGON, by default the debug build).
#
# Needs Node 20.19 or newer with npm, and Chromium (CHROMIUM, by default /usr/bin/chromium).
set -euo pipefail
cd "$(dirname "$0")/ui"
npm ci --no-audit --no-fund --silent
npm run --silent check
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
npx vite build --logLevel error --outDir "$built" --emptyOutDir
if ! diff -r "$built" dist; then
    echo "error: web/ui/dist is not what its sources build: run \`npm run build\` in web/ui and commit it" >&2
    exit 1
fi
# What the page loads first: its files, and what their modules import at once. Pages that are opened later come
# as files of their own.
first=$(node -e '
    const { readFileSync } = require("node:fs");
    const found = new Set();
    const look = (text, pattern) => {
        for (const [, name] of text.matchAll(pattern)) {
            if (found.has(name)) continue;
            found.add(name);
            if (name.endsWith(".js")) look(readFileSync(`dist/assets/${name}`, "utf8"), /(?:from|import)\s*"\.\/([^"]+)"/g);
        }
    };
    look(readFileSync("dist/index.html", "utf8"), /"\.\/assets\/([^"]+)"/g);
    console.log([...found].map((name) => `dist/assets/${name}`).join("\n"));
')
compressed() { cat "$@" | gzip -9 | wc -c; }
# shellcheck disable=SC2086 # Names of built files have no blanks.
size=$(compressed dist/index.html $first)
echo "first load: $((size / 1000)) KB compressed, at most 100"
[ "$size" -le 100000 ]
for file in dist/assets/*; do
    grep -qxF "$file" <<<"$first" || echo "later: $((($(compressed "$file") + 999) / 1000)) KB, $file"
done
npx playwright test --workers=2 --reporter=dot
