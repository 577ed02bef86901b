#!/usr/bin/env bash
# Checks everything below deploy/ without a cluster or a container engine: renders the manifests,
# holds them against the schemas of Kubernetes, checks compose file and Dockerfile, compares flags
# with the binary's own help when one is built (or named by AGON_BIN), and lastly breaks each
# thing on purpose to see that the checks notice. Exit: 0 all well, 1 a fault, 3 a tool is missing.
#
# Needs kubectl, and Python 3 with venv (packages come from PyPI into target/).
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in kubectl python3; do
    command -v "$tool" >/dev/null || { echo "missing $tool" >&2; exit 3; }
done

out=target/deploy
mkdir -p "$out"
if [ ! -f "$out/venv/ready" ]; then
    rm -rf "$out/venv"
    python3 -m venv "$out/venv" || exit 3
    "$out/venv/bin/pip" install --quiet --disable-pip-version-check \
        kubernetes-validate==1.37.0 PyYAML==6.0.3 dockerfile-parse==2.0.1 || exit 3
    touch "$out/venv/ready"
fi

rendered=()
for folder in deploy/kustomize/base deploy/kustomize/overlays/*/; do
    file="$out/$(basename "$folder").yaml"
    kubectl kustomize "$folder" > "$file" || { echo "FAULT $folder does not render" >&2; exit 1; }
    rendered+=("$file")
done

# The dependency layer of the image: what is left of the project must still be one to cargo.
if command -v cargo >/dev/null && git rev-parse --git-dir >/dev/null 2>&1; then
    rm -rf "$out/skeleton"
    mkdir "$out/skeleton"
    git ls-files --cached --others --exclude-standard | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done | tar -cf - -T - | tar -xf - -C "$out/skeleton"
    (cd "$out/skeleton" && sh deploy/skeleton.sh --empty-this-folder &&
        cargo metadata --no-deps --format-version 1 >/dev/null) ||
        { echo "FAULT the Dockerfile's dependency layer does not build" >&2; exit 1; }
    echo "docker  dependency layer: $(find "$out/skeleton" -type f | wc -l) files left"
else
    echo "docker  dependency layer NOT checked: needs cargo and a git checkout"
fi

if [ -z "${AGON_BIN:-}" ]; then
    for candidate in target/release/agon target/debug/agon; do
        [ -x "$candidate" ] && { AGON_BIN=$candidate; break; }
    done
fi
exec "$out/venv/bin/python" deploy/validate.py --binary "${AGON_BIN:-}" "${rendered[@]}"
