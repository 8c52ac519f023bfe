# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# consumer.sh C|CXX shared|static: a fresh CMake project finds, links and runs the library.
set -eu

rm -rf "$SCRATCH"
"$CMAKE" -S "$SOURCE/tests/install/consumer" -B "$SCRATCH" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_PREFIX_PATH="$MOVED" -DCONSUMER_LANGUAGE="$1" -DCONSUMER_KIND="$2" \
  -DCONSUMER_VERSION="${VERSION%.*}" >/dev/null
"$CMAKE" --build "$SCRATCH" >"$SCRATCH/log" || { cat "$SCRATCH/log"; exit 1; }
"$SCRATCH/consumer" "$VERSION"

linked=$(readelf -d "$SCRATCH/consumer" | grep -c 'NEEDED.*libhypomnesis' || true)
case $2 in
  shared) [ "$linked" = 1 ] ;;
  static) [ "$linked" = 0 ] ;;
esac
