# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# A parent project that adds the source tree gets the target and nothing else.
set -eu

rm -rf "$SCRATCH"
"$CMAKE" -S "$SOURCE/tests/install/parent" -B "$SCRATCH" -G Ninja \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DHYPOMNESIS="$SOURCE" >/dev/null

DESTDIR=$SCRATCH/destdir "$CMAKE" --install "$SCRATCH" >/dev/null
if [ -e "$SCRATCH/destdir" ]; then
  find "$SCRATCH/destdir" -type f
  echo "the parent's installation has these files"
  exit 1
fi
