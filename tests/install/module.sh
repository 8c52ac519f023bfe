# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# What is installed finds its module wherever both are moved, works without it, and takes no other
# version's in the same folder.
set -eu

if [ -z "$MODULE" ]; then
  echo "skipped: install.module: simulation is inside this library, or left out"
  exit 77
fi
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
machine=$SOURCE/examples/machines/server-8gpu.json
prefix=$SCRATCH/prefix
cp -R "$MOVED" "$prefix"
cp "$prefix/$LIBDIR/$MODULE" "$prefix/$LIBDIR/hypomnesis/simulation-0.0.9.so"
cd /
"$prefix/bin/hmn" --machine "$machine" >"$SCRATCH/output"
grep -qF H100 "$SCRATCH/output"

rm "$prefix/$LIBDIR/$MODULE"
if LD_LIBRARY_PATH="$MOVED/$LIBDIR/hypomnesis" "$prefix/bin/hmn" --machine "$machine" >"$SCRATCH/output" 2>&1; then
  echo "it is simulated without the module:"
  cat "$SCRATCH/output"
  exit 1
fi
grep -F "missing: $prefix/$LIBDIR/$MODULE" "$SCRATCH/output"
"$prefix/bin/hmn" >"$SCRATCH/output" || [ $? -eq 1 ]
grep -Eq 'RAM' "$SCRATCH/output"
