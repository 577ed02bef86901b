# Chores of the project; `just` alone lists them. CI runs `just check`'s script.

# List the chores.
default:
    @just --list

# Exactly what CI runs: installs what tests need, lints, builds, tests.
check:
    ./tests/run

# Rewrite the generated gRPC code from proto/agon/v1/*.proto.
proto:
    cargo run -q -p agon-proto --example generate

# The bars of the engine, of ratings, of the gateway and of the whole line; prints their figures.
bench:
    cargo build --release
    cargo bench -p agon-engine
    cargo bench -p agon-agents
    cargo bench -p agon-report
    cargo bench -p agon-agent-gateway
    cargo bench -p agon-tests --bench inputs
    cargo bench -p agon-tests --bench line
    cargo bench -p agon-tests --bench gateway

# Ten minutes of hostile inputs for each parser and door, from a seed; sums that overflow panic.
fuzz:
    cargo bench --profile dev -p agon-tests --bench fuzz -- --seconds 600

# Render and validate containers and manifests without an engine or a cluster.
deploy:
    ./deploy/validate.sh

# Run the manifests' processes on this machine; roll, drain and kill them while sweeps run (some ten minutes).
deploy-run:
    ./deploy/run_manifests.sh --all

# Format everything.
format:
    cargo fmt --all
