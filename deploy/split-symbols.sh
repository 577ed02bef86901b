#!/bin/sh
# Puts a binary without its symbols, and the symbols in a file beside it, into a folder. Debuggers
# find the file by the link in the binary when both lie in one folder.
#
#   sh deploy/split-symbols.sh target/dist/agon OUT
set -eu
binary=$1 out=$2 name=$(basename "$1")
mkdir -p "$out"
objcopy --only-keep-debug "$binary" "$out/$name.debug"
objcopy --strip-all "$binary" "$out/$name"
(cd "$out" && objcopy --add-gnu-debuglink="$name.debug" "$name")
