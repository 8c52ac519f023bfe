# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# The README's program and its compiler command work unchanged, also on each machine of examples/machines.
set -eu

rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
if ! command -v pkg-config >/dev/null; then
  echo "skipped: install.readme: pkg-config is not installed"
  exit 77
fi
cd "$SCRATCH"
awk '/^```/ { take = ($0 == "```c"); next } take' "$SOURCE/README.md" >program.c
command=$(grep '^cc program\.c ' "$SOURCE/README.md")

export PKG_CONFIG_PATH="$MOVED/$LIBDIR/pkgconfig"
eval "$command"
LD_LIBRARY_PATH="$MOVED/$LIBDIR" ./a.out
LD_LIBRARY_PATH="$MOVED/$LIBDIR" python3 -B "$SOURCE/tests/bindings/on_machines.py" free_c ./a.out
