#!/usr/bin/env bash
# Checks everything below deploy/ without a cluster or a container engine: renders base, overlays and
# every component on the base, holds them against the schemas of three versions of Kubernetes and of
# the operators beside it, checks compose file, Dockerfile, dashboards, alerts and runbook, compares
# flags with the binary's own help when one is built (or named by AGON_BIN), and lastly breaks each
# thing on purpose to see that the checks notice. Exit: 0 all well, 1 a fault, 3 a tool is missing.
#
# Needs kubectl with Kustomize 5 (Kubernetes 1.27 or newer), and Python 3 with venv (packages come from PyPI into target/).
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in kubectl python3; do
    command -v "$tool" >/dev/null || { echo "missing $tool" >&2; exit 3; }
done
kubectl version --client 2>/dev/null | grep -q 'Kustomize Version: v[5-9]' ||
    { echo "kubectl is too old: it renders with Kustomize 5 from version 1.27 on" >&2; exit 3; }

out=target/deploy
packages=(
    kubernetes-validate==1.37.0 PyYAML==6.0.3 dockerfile-parse==2.0.1 jsonschema==4.26.0 promql-parser==0.12.0
    cloudcoil==0.6.0 cloudcoil-models-keda==2.16.1.0 cloudcoil-models-prometheus-operator==0.80.1.0
    cloudcoil-models-cert-manager==1.17.1.0
)
mkdir -p "$out"
if [ "$(cat "$out/venv/ready" 2>/dev/null)" != "${packages[*]}" ]; then
    rm -rf "$out/venv"
    python3 -m venv "$out/venv" || exit 3
    "$out/venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" || exit 3
    echo "${packages[*]}" > "$out/venv/ready"
fi

rendered=()
render() { # folder, name
    kubectl kustomize "$1" > "$out/$2.yaml" || { echo "FAULT $1 does not render" >&2; exit 1; }
    rendered+=("$out/$2.yaml")
}
render deploy/kustomize/base base
for folder in deploy/kustomize/overlays/*/; do
    render "$folder" "$(basename "$folder")"
done
for folder in deploy/kustomize/components/*/; do
    name=$(basename "$folder")
    mkdir -p "$out/try/$name"
    printf '%s: [../../../../deploy/kustomize/%s]\n' resources base components "components/$name" \
        > "$out/try/$name/kustomization.yaml"
    render "$out/try/$name" "component-$name"
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

# The certificates of the component `tls` are good for the names that are called, and for no other.
certificates=$out/certificates
verify() { # Secret, purpose, name that is called
    openssl verify -CAfile "$certificates/ca.crt" -purpose "$2" ${3:+-verify_hostname "$3"} \
        "$certificates/$1/tls.crt" >/dev/null 2>&1
}
fault() { echo "FAULT $1" >&2; exit 1; }
if command -v openssl >/dev/null; then
    rm -rf "$certificates"
    ./deploy/certificates.sh "$certificates"
    for name in coordinator coordinator-1.coordinator coordinator-0.coordinator.agon localhost; do
        verify coordinator-tls sslserver "$name" || fault "the coordinator's certificate is not for $name"
    done
    for name in gateway gateway.agon localhost; do
        verify gateway-tls sslserver "$name" || fault "the gateway's certificate is not for $name"
    done
    verify agon-client-tls sslclient || fault "agon-client-tls is not a client certificate"
    ! verify gateway-tls sslserver coordinator || fault "the gateway's certificate is good for the coordinator"
    ! verify agon-client-tls sslserver || fault "the client's certificate is good for a server"
    ! verify gateway-tls sslclient || fault "the gateway's certificate is good for a client"
    echo "tls     certificates made and verified"
else
    echo "tls     certificates NOT checked: needs openssl"
fi

if [ -z "${AGON_BIN:-}" ]; then
    for candidate in target/release/agon target/debug/agon; do
        [ -x "$candidate" ] && { AGON_BIN=$candidate; break; }
    done
fi
PYTHONDONTWRITEBYTECODE=1 exec "$out/venv/bin/python" deploy/validate.py --binary "${AGON_BIN:-}" "${rendered[@]}"
