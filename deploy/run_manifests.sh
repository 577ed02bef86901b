#!/usr/bin/env bash
# Runs what the manifests say as processes of this machine, and kills each workload of the overlay `small` while a
# sweep runs; with --all it also rolls and drains them, and does the same with standby coordinators and TLS. See
# run_manifests.py. Exit: 0 nothing lost and no call made again needlessly, 1 a fault, 3 a tool is missing.
#
# Needs what validate.sh needs and has made, redis-server, setpriv (util-linux), openssl, and the binary, which
# AGON_BIN may name. By root, processes run as the users of the manifests.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in kubectl redis-server redis-cli setpriv openssl; do
    command -v "$tool" >/dev/null || { echo "missing $tool" >&2; exit 3; }
done
python=target/deploy/venv/bin/python
[ -x "$python" ] || { echo "run deploy/validate.sh first: it makes target/deploy/venv" >&2; exit 3; }
if [ -z "${AGON_BIN:-}" ]; then
    for candidate in target/release/agon target/debug/agon; do
        [ -x "$candidate" ] && { AGON_BIN=$candidate; break; }
    done
fi
[ -n "${AGON_BIN:-}" ] || { echo "no binary: build it, or name it in AGON_BIN" >&2; exit 3; }
PYTHONDONTWRITEBYTECODE=1 exec "$python" deploy/run_manifests.py --binary "$AGON_BIN" "$@"
