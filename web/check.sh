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
size=$(cat dist/index.html dist/assets/* | gzip -9 | wc -c)
echo "first load: $((size / 1000)) KB compressed, at most 100"
[ "$size" -le 100000 ]
npx playwright test --workers=2 --reporter=dot
