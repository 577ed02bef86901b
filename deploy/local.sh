#!/usr/bin/env bash
# A small team's installation on one machine without containers: Redis, a coordinator with pages, a
# gateway, two workers, the simulated model server, and tokens for the teams red and blue.
#
#   ./deploy/local.sh up        starts what does not run; state of an earlier time is kept
#   ./deploy/local.sh status    what runs, and what `agon doctor` says
#   ./deploy/local.sh down      stops all of it; nothing is lost
#
# Needs `agon` on the PATH, or AGON with its place, and redis-server. Everything is in the folder
# AGON_LOCAL (agon-local): state, logs, tokens. AGON_CONFIG names a configuration of your own for the
# gateway. Ports: REDIS_PORT 6379, COORDINATOR_PORT 7700, GATEWAY_PORT 7710, MODEL_PORT 7780,
# PAGES_PORT 7790, METRICS_PORT 9700 and the three after it.
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${AGON_LOCAL:-agon-local}
redis_port=${REDIS_PORT:-6379} coordinator_port=${COORDINATOR_PORT:-7700} gateway_port=${GATEWAY_PORT:-7710}
model_port=${MODEL_PORT:-7780} pages_port=${PAGES_PORT:-7790} metrics_port=${METRICS_PORT:-9700}
redis=redis://127.0.0.1:$redis_port
coordinator=http://127.0.0.1:$coordinator_port
gateway=http://127.0.0.1:$gateway_port
# The order in which they start; they stop the other way round.
all=(redis sim-llm coordinator gateway worker-1 worker-2)

fail() {
    echo "error: $1" >&2
    exit "${2:-3}"
}
has() { command -v "$1" >/dev/null || fail "$1 is missing: $2"; }
# Without what the caller has in the environment for another installation.
program=${AGON:-agon}
agon=(env -u AGON_REDIS -u AGON_COORDINATOR -u AGON_GATEWAY -u AGON_CONFIG -u AGON_TOKEN -u AGON_TOKEN_FILE
    -u AGON_IDENTITY -u AGON_METRICS "$program")
runs() { # name
    local pid
    # After a restart of the machine another process may have its number.
    pid=$(cat "$folder/run/$1" 2>/dev/null) && ps -o args= -p "$pid" 2>/dev/null | grep -q "127.0.0.1:"
}
start() { # name, what it says once it serves, command...
    local name=$1 sign=$2
    shift 2
    if runs "$name"; then return; fi
    "$@" >"$folder/log/$name" 2>&1 </dev/null &
    echo $! >"$folder/run/$name"
    for _ in $(seq 300); do
        grep -q "$sign" "$folder/log/$name" && return
        runs "$name" || break
        sleep 0.1
    done
    tail -n 5 "$folder/log/$name" >&2
    fail "$name does not start; its log is $folder/log/$name"
}
token() { # file, arguments...
    local file=$folder/tokens/$1
    shift
    [ -s "$file" ] || "${agon[@]}" token create --redis "$redis" "$@" >"$file" 2>>"$folder/log/tokens"
}

up() {
    has redis-server "install Redis 7 or newer (on Debian: apt-get install redis-server)"
    mkdir -p "$folder"/{log,run,tokens,redis}
    start redis "Ready to accept connections" redis-server --port "$redis_port" --bind 127.0.0.1 \
        --dir "$folder/redis" --appendonly yes --appendfsync everysec --maxmemory-policy noeviction
    for team in red blue; do
        [ -s "$folder/tokens/$team" ] ||
            "${agon[@]}" team create "$team" --redis "$redis" 2>>"$folder/log/tokens" || true
        token "$team" --team "$team" --scope submit
    done
    token services --scope worker,coordinator --expires never
    token admin --scope admin
    sed "s|http://sim-llm:7780|http://127.0.0.1:$model_port|" "$here/agon.toml" >"$folder/agon.toml"
    start sim-llm listening "${agon[@]}" sim-llm --listen "127.0.0.1:$model_port" --latency 50ms
    start coordinator listening "${agon[@]}" coordinator --redis "$redis" --listen "127.0.0.1:$coordinator_port" \
        --gateway "$gateway" --token-file "$folder/tokens/services" --web-listen "127.0.0.1:$pages_port" \
        --metrics "127.0.0.1:$metrics_port"
    start gateway listening "${agon[@]}" gateway --redis "$redis" --listen "127.0.0.1:$gateway_port" \
        --config "${AGON_CONFIG:-$folder/agon.toml}" --metrics "127.0.0.1:$((metrics_port + 1))"
    for place in 1 2; do
        start "worker-$place" "connected to the coordinator" "${agon[@]}" worker --coordinator "$coordinator" \
            --gateway "$gateway" --token-file "$folder/tokens/services" \
            --metrics "127.0.0.1:$((metrics_port + 1 + place))"
    done
    cat <<END
An installation runs; its folder is $folder. As team red:

  export AGON_TOKEN_FILE=$folder/tokens/red AGON_COORDINATOR=$coordinator
  $program run gamma-bench/leaderboard --model sim
  $program experiments list

Pages: http://127.0.0.1:$pages_port, with the token in $folder/tokens/red or $folder/tokens/blue.
Metrics and health: http://127.0.0.1:$metrics_port/metrics, /healthz and /readyz (gateway and workers at the ports after it).
END
}

status() {
    for name in "${all[@]}"; do
        if runs "$name"; then echo "runs     $name (process $(cat "$folder/run/$name"))"
        else echo "stopped  $name"
        fi
    done
    [ -s "$folder/tokens/admin" ] || fail "nothing was started in $folder: ./deploy/local.sh up" 2
    "${agon[@]}" doctor --redis "$redis" --coordinator "$coordinator" --gateway "$gateway" \
        --config "${AGON_CONFIG:-$folder/agon.toml}" --token-file "$folder/tokens/admin"
}

down() {
    local place name
    for ((place = ${#all[@]} - 1; place >= 0; place--)); do
        name=${all[place]}
        if runs "$name"; then
            kill "$(cat "$folder/run/$name")"
            # A gateway waits for calls that are paid for.
            while runs "$name"; do sleep 0.1; done
            echo "stopped $name"
        fi
        rm -f "$folder/run/$name"
    done
}

has "$program" "put it on the PATH, or set AGON to where it is (cargo build --release makes target/release/agon)"
case ${1:-} in
up) up ;;
status) status ;;
down) down ;;
*) fail "usage: ./deploy/local.sh up | status | down" 2 ;;
esac
