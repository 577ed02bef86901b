#!/bin/sh
# Empties the project in the current folder down to what its dependencies depend on: manifests,
# lock file, and one stub per target. The Dockerfile builds that first, so that its layer is kept
# while only sources change. Never run it in a folder you work in; it asks for a witness.
set -eu
[ "${1:-}" = "--empty-this-folder" ] || { echo "usage: skeleton.sh --empty-this-folder" >&2; exit 2; }

find . -type f ! -name Cargo.toml ! -name Cargo.lock \
    ! -path './*/src/lib.rs' ! -path './*/src/main.rs' ! -path './*/build.rs' \
    ! -path './*/benches/*.rs' ! -path './*/examples/*.rs' ! -path './*/tests/*.rs' -delete
find . -name '*.rs' -exec sh -c 'for file; do echo "fn main() { }" > "$file"; done' _ {} +
