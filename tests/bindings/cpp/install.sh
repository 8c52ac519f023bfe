# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# A fresh project finds the installed library and uses it through hypomnesis.hpp.
set -eu

here=$(dirname "$0")
rm -rf "$SCRATCH"
"$CMAKE" --install "$BUILD" --prefix "$SCRATCH/tree" --component Development >/dev/null
"$CMAKE" --install "$BUILD" --prefix "$SCRATCH/tree" --component Runtime >/dev/null
if [ ! -f "$SCRATCH/tree/include/hypomnesis.hpp" ]; then
  echo "the header is not installed next to hypomnesis.h"
  exit 1
fi
"$CMAKE" -S "$here/consumer" -B "$SCRATCH/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$SCRATCH/tree" \
  -DCONSUMER_VERSION="${VERSION%.*}" >/dev/null
"$CMAKE" --build "$SCRATCH/build" >"$SCRATCH/log" || { cat "$SCRATCH/log"; exit 1; }
HMN_SIMULATION=$SOURCE/tests/bindings/machines/small.json "$SCRATCH/build/consumer" >"$SCRATCH/output"
cat "$SCRATCH/output"
[ "$(cat "$SCRATCH/output")" = "$VERSION: Small GPU, 12.5 GiB" ]
