# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Installs with DESTDIR and moves the tree away from the prefix that it was made for.
set -eu

rm -rf "$SCRATCH" "$MOVED"
mkdir -p "$SCRATCH" "$(dirname "$MOVED")"
DESTDIR=$SCRATCH "$CMAKE" --install "$BUILD" >"$SCRATCH/log"
mv "$SCRATCH$PREFIX" "$MOVED"
rm "$SCRATCH/log"

strays=$(find "$SCRATCH" -type f)
if [ -n "$strays" ]; then
  echo "installed outside the prefix: $strays"
  exit 1
fi
