#!/bin/sh
# Makes a CA and the certificates of the component `tls`, valid for a year, as files of a folder;
# another run renews the certificates under the same CA. Keep ca.key out of the cluster.
#
#   ./deploy/certificates.sh FOLDER [NAMESPACE]             default: agon
set -eu
folder=$1 namespace=${2:-agon}
mkdir -p "$folder"
cd "$folder"
umask 077
new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
[ -e ca.key ] || {
    new_key ca.key
    openssl req -x509 -new -key ca.key -subj "/CN=agon" -days 3650 -out ca.crt
}
certificate() { # name, usage, subject alternative names
    mkdir -p "$1"
    new_key "$1/tls.key"
    openssl req -new -key "$1/tls.key" -subj "/CN=$1" -out "$1/request"
    printf 'basicConstraints=critical,CA:false\nextendedKeyUsage=%s\nsubjectAltName=%s\n' "$2" "$3" > "$1/extensions"
    openssl x509 -req -in "$1/request" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 \
        -extfile "$1/extensions" -out "$1/tls.crt" 2>/dev/null
    rm "$1/request" "$1/extensions"
    cp ca.crt "$1/ca.crt"
}
names() { # service or pod
    echo "DNS:$1,DNS:$1.$namespace"
}
# Pods by name: clients do not accept a wildcard before a single name.
certificate coordinator-tls serverAuth \
    "$(names coordinator),$(names coordinator-0.coordinator),$(names coordinator-1.coordinator),$(names pages),DNS:localhost"
certificate gateway-tls serverAuth "$(names gateway),DNS:localhost"
certificate agon-client-tls clientAuth DNS:agon-client
