# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# reproducible.sh -D...: a build of the same source in another folder is bit-identical.
set -eu

rm -rf "$SCRATCH"
copy="$SCRATCH/another source"
second="$SCRATCH/another, longer build folder"
mkdir -p "$copy"
for part in CMakeLists.txt cmake include src abi pkgconfig docs tests; do
  cp -R "$SOURCE/$part" "$copy/"
done

# Configured with the tests of the ABI, which add debug information to the library; they are not built.
"$CMAKE" -S "$copy" -B "$second" -G Ninja "$@" -DHMN_BUILD_CLI=OFF \
  -DHMN_BUILD_TESTS=ON -DHMN_TEST_FOLDERS=abi -DHMN_TEST_FAKES=OFF \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" >/dev/null
"$CMAKE" --build "$second" --target hypomnesis hypomnesis_static -j "$(nproc)" >"$SCRATCH/log" ||
  { cat "$SCRATCH/log"; exit 1; }

for file in "libhypomnesis.so.$VERSION" libhypomnesis.a; do
  cmp "$BUILD/$file" "$second/$file"
done
rm -rf "$SCRATCH"
