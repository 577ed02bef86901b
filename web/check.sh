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
# What index.html names, and what those files import; pages that are imported once they are opened come later.
first="index.html $(grep -oE 'assets/[A-Za-z0-9_.-]+' dist/index.html | sort -u | tr '\n' ' ')"
imported=$(cd dist/assets && grep -ohE '(from|import) ?"\./[^"]+"' $(basename -a $first | grep '^index-.*js$') |
    grep -oE '[A-Za-z0-9_-]+\.js' | sort -u)
for file in $imported; do first="$first assets/$file"; done
size=$(cd dist && cat $first | gzip -9 | wc -c)
echo "first load: $((size / 1000)) KB compressed, at most 100"
for file in $(cd dist && ls assets/*); do
    case " $first " in
        *" $file "*) ;;
        *) echo "later: $file, $(($(gzip -9 < "dist/$file" | wc -c) / 1000)) KB compressed" ;;
    esac
done
[ "$size" -le 100000 ]
npx playwright test --workers=2 --reporter=dot
