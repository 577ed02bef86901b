#!/usr/bin/env bash
# Checks the Python package with the binary at BINARY: style, types, tests, the wheel in a fresh
# environment, the notebook there. Usage: check.sh BINARY [FOLDER], where FOLDER (by default
# target/python-sdk of the repository) keeps the environment with the tools between calls.
set -euo pipefail

binary=$(realpath "${1:?usage: check.sh BINARY [FOLDER]}")
project=$(dirname "$(realpath "$0")")
folder=$(realpath -m "${2:-$project/../../target/python-sdk}")
[ -x "$binary" ] || { echo "check.sh: $binary is not an executable file" >&2; exit 2; }

mkdir -p "$folder"
tools=$folder/tools
[ -x "$tools/bin/python" ] || "${PYTHON:-python3}" -m venv "$tools"
# The versions are those that were tried, where this Python has them.
tried=(--constraint "$project/constraints.txt")
"$tools/bin/python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || tried=()
install() { "$1/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check "${tried[@]}" "${@:2}"; }
install "$tools" --editable "$project[test,textarena,openspiel]"
if ! install "$tools" --editable "$project[references]"; then
    echo "left out: comparisons with programs that this Python has no packages of"
    [ "${CI:-}" != true ] || exit 3
fi
export PATH=$tools/bin:$PATH AGON_BINARY=$binary
export MYPY_CACHE_DIR=$folder/mypy
unset AGON_DATA AGON_CONFIG AGON_TOKEN AGON_TOKEN_FILE

cd "$project"
echo "style and types"
ruff check --no-cache .
ruff format --no-cache --check .
mypy

echo "tests"
pytest -n 2 -p no:cacheprovider --basetemp "$folder/tests" | tee "$folder/pytest.log"

echo "wheel and notebook"
rm -rf "$folder/wheel" "$folder/fresh" "$folder/notebook"
AGON_BINARY_FOR_WHEEL=$binary python -m build --wheel --no-isolation -o "$folder/wheel" . >"$folder/build.log" \
    || { cat "$folder/build.log"; exit 1; }
python -m venv "$folder/fresh"
wheel=$(echo "$folder"/wheel/*.whl)
install "$folder/fresh" "$wheel[notebook]" nbclient
mkdir "$folder/notebook"
cp notebooks/first_steps.ipynb "$folder/notebook"
# The kernel finds the binary in the wheel and nowhere else.
(cd "$folder/notebook" && env -u AGON_BINARY PATH="$folder/fresh/bin:/usr/bin:/bin" \
    "$folder/fresh/bin/jupyter" execute --timeout=120 first_steps.ipynb)

tail -n 1 "$folder/pytest.log"
