#!/bin/sh
# Makes a token for every name in an identity file that has none yet, as files of deploy/tokens/.
#
#   ./deploy/tokens.sh [IDENTITY.toml]                      default: deploy/identity.toml
#
# Only you may enter the folder. The files themselves are readable, for the user in the containers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/tokens"
chmod 700 "$here/tokens"
sed -n 's|^file = "/run/secrets/agon/\(.*\)"|\1|p' "${1:-$here/identity.toml}" | while read -r name; do
    [ ! -s "$here/tokens/$name" ] || continue
    # On a line of its own, so that its failure ends the script.
    token=$(openssl rand -hex 32)
    printf %s "$token" > "$here/tokens/$name"
    chmod 644 "$here/tokens/$name"
    echo "made deploy/tokens/$name"
done
