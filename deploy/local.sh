#!/usr/bin/env bash
# A small team's installation on one machine without containers: Redis, a coordinator with pages, a
# gateway, two workers, the simulated model server, and tokens for the teams red and blue.
#
#   ./deploy/local.sh up          starts what does not run; state of an earlier time is kept
#   ./deploy/local.sh status      what runs, and what `agon doctor` says
#   ./deploy/local.sh team NAME   one more team, with a token
#   ./deploy/local.sh down        stops all of it; nothing is lost
#
# Needs `agon` on the PATH, or AGON with its place, and redis-server. Everything is in the folder
# AGON_LOCAL (agon-local), which only you may enter: state, logs, tokens, the address of Redis with its
# password (redis-url). AGON_CONFIG names a configuration of your own for the gateway; other variables of
# agon are not passed on. Ports: REDIS_PORT 6379, COORDINATOR_PORT 7700, GATEWAY_PORT 7710, MODEL_PORT
# 7780, PAGES_PORT 7790, METRICS_PORT 9700 and the three after it.
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${AGON:-agon}
folder=$(realpath -m "${AGON_LOCAL:-agon-local}")
configuration=${AGON_CONFIG:-$folder/agon.toml}
redis_port=${REDIS_PORT:-6379} coordinator_port=${COORDINATOR_PORT:-7700} gateway_port=${GATEWAY_PORT:-7710}
model_port=${MODEL_PORT:-7780} pages_port=${PAGES_PORT:-7790} metrics_port=${METRICS_PORT:-9700}
coordinator=http://127.0.0.1:$coordinator_port
gateway=http://127.0.0.1:$gateway_port
# The order in which they start; they stop the other way round.
all=(redis sim-llm coordinator gateway worker-1 worker-2)

fail() {
    echo "error: $1" >&2
    exit "${2:-3}"
}
has() { command -v "$1" >/dev/null || fail "$1 is missing: $2"; }
# When a process began: another one may have its number after a restart of the machine.
began() {
    if [ -r "/proc/$1/stat" ]; then sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
    else ps -o lstart= -p "$1" 2>/dev/null
    fi
}
runs() { # name
    local pid time
    read -r pid time 2>/dev/null <"$folder/run/$1" && [ -n "$pid" ] && [ "$(began "$pid")" = "$time" ]
}
start() { # name, what it says once it serves, command...
    local name=$1 sign=$2 log=$folder/log/$1 pid
    shift 2
    if runs "$name"; then return; fi
    [ ! -e "$log" ] || mv "$log" "$log.before"
    : >"$log"
    "$@" >>"$log" 2>&1 </dev/null &
    pid=$!
    echo "$pid $(began "$pid")" >"$folder/run/$name"
    for _ in $(seq 300); do
        ! grep -q "$sign" "$log" || return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$log" >&2
    fail "$name does not start; its log is $log"
}
is_free() { # service, variable, port
    runs "$1" || ! (exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null ||
        echo "error: port $3 for $1 is taken; set $2 to another" >&2
}
token() { # file, arguments...
    local file=$folder/tokens/$1 made
    shift
    [ -s "$file" ] && return
    made=$("$program" token create --expires never "$@" 2>"$folder/log/tokens") ||
        fail "$(tail -n 1 "$folder/log/tokens")" 2
    echo "$made" >"$file"
}
team() { # name
    [[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9_.-]*$ ]] && [ "$1" != admin ] && [ "$1" != services ] ||
        fail "\"$1\" is no name for a team here: letters, digits, dashes; not admin or services" 2
    [ -s "$folder/tokens/$1" ] || "$program" team create "$1" 2>"$folder/log/tokens" ||
        grep -q "exists" "$folder/log/tokens" || fail "$(tail -n 1 "$folder/log/tokens")" 2
    token "$1" --team "$1" --scope submit
}

up() {
    has redis-server "install Redis 7 or newer (on Debian: apt-get install redis-server)"
    mkdir -p "$folder"/{log,run,tokens,redis}
    local taken place
    taken=$(
        {
            is_free redis REDIS_PORT "$redis_port"
            is_free sim-llm MODEL_PORT "$model_port"
            is_free coordinator COORDINATOR_PORT "$coordinator_port"
            is_free coordinator PAGES_PORT "$pages_port"
            is_free gateway GATEWAY_PORT "$gateway_port"
            is_free coordinator METRICS_PORT "$metrics_port"
            is_free gateway METRICS_PORT $((metrics_port + 1))
            is_free worker-1 METRICS_PORT $((metrics_port + 2))
            is_free worker-2 METRICS_PORT $((metrics_port + 3))
        } 2>&1
    )
    [ -z "$taken" ] || { echo "$taken" >&2; exit 3; }
    # Without a password everybody on this machine could make tokens.
    [ -s "$folder/password" ] || head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$folder/password"
    export AGON_REDIS="redis://:$(cat "$folder/password")@127.0.0.1:$redis_port"
    echo "$AGON_REDIS" >"$folder/redis-url"
    {
        echo "requirepass $(cat "$folder/password")"
        printf 'port %s\nbind 127.0.0.1\nappendonly yes\nappendfsync everysec\nmaxmemory-policy noeviction\n' \
            "$redis_port"
    } >"$folder/redis.conf"
    start redis "Ready to accept connections" redis-server "$folder/redis.conf" --dir "$folder/redis"
    team red
    team blue
    token services --scope worker,coordinator
    token admin --scope admin
    sed "s|http://sim-llm:7780|http://127.0.0.1:$model_port|" "$here/agon.toml" >"$folder/agon.toml"
    start sim-llm listening "$program" sim-llm --listen "127.0.0.1:$model_port" --latency 50ms
    start coordinator listening "$program" coordinator --listen "127.0.0.1:$coordinator_port" \
        --gateway "$gateway" --token-file "$folder/tokens/services" --web-listen "127.0.0.1:$pages_port" \
        --metrics "127.0.0.1:$metrics_port"
    start gateway listening "$program" gateway --listen "127.0.0.1:$gateway_port" \
        --config "$configuration" --metrics "127.0.0.1:$((metrics_port + 1))"
    for place in 1 2; do
        start "worker-$place" "connected to the coordinator" "$program" worker --coordinator "$coordinator" \
            --gateway "$gateway" --token-file "$folder/tokens/services" \
            --metrics "127.0.0.1:$((metrics_port + 1 + place))"
    done
    local shown
    shown=$(printf %q "$folder")
    cat <<END
An installation runs; its folder is $folder. As team red:

  export AGON_TOKEN_FILE=$shown/tokens/red AGON_COORDINATOR=$coordinator
  $program run gamma-bench/leaderboard --model sim
  $program experiments list
  $program experiments list --token-file $shown/tokens/blue      # what blue sees of it: nothing

Pages: http://127.0.0.1:$pages_port, with the token in $shown/tokens/red or $shown/tokens/blue.
Metrics and health: http://127.0.0.1:$metrics_port/metrics, /healthz and /readyz (gateway and workers at the ports after it).
END
}

status() {
    local name
    for name in "${all[@]}"; do
        if runs "$name"; then echo "runs     $name (process $(cut -d ' ' -f 1 "$folder/run/$name"))"
        else echo "stopped  $name"
        fi
    done
    "$program" doctor --coordinator "$coordinator" --gateway "$gateway" --config "$configuration" \
        --token-file "$folder/tokens/admin"
}

down() {
    local place name pid
    for ((place = ${#all[@]} - 1; place >= 0; place--)); do
        name=${all[place]}
        if runs "$name"; then
            read -r pid _ <"$folder/run/$name"
            kill "$pid"
            # A gateway waits for calls that are paid for.
            while runs "$name"; do sleep 0.1; done
            echo "stopped $name"
        fi
        rm -f "$folder/run/$name"
    done
}

for variable in "${!AGON_@}"; do unset "$variable"; done
export AGON_LOG=info
if [ -s "$folder/redis-url" ]; then export AGON_REDIS="$(cat "$folder/redis-url")"; fi
has "$program" "put it on the PATH, or set AGON to where it is (cargo build --release makes target/release/agon)"
case ${1:-} in
up) up ;;
status)
    [ -s "$folder/tokens/admin" ] || fail "nothing was started in $folder: ./deploy/local.sh up" 2
    status
    ;;
team)
    [ -n "${2:-}" ] || fail "usage: ./deploy/local.sh team NAME" 2
    runs redis || fail "nothing runs in $folder: ./deploy/local.sh up" 2
    team "$2"
    echo "export AGON_TOKEN_FILE=$(printf %q "$folder/tokens/$2")"
    ;;
down) down ;;
*) fail "usage: ./deploy/local.sh up | status | team NAME | down" 2 ;;
esac
