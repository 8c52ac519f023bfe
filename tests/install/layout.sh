# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Exactly these files are installed, and none contains the path of the build.
set -eu

rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
build_type=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$BUILD/CMakeCache.txt" | tr '[:upper:]' '[:lower:]')

{
  echo bin/hmn
  if [ -n "$EXPORTER" ]; then echo "$EXPORTER"; fi
  echo include/hypomnesis.h
  echo include/hypomnesis.hpp
  for file in libhypomnesis.a libhypomnesis.so libhypomnesis.so.0.1 "libhypomnesis.so.$VERSION" \
    pkgconfig/hypomnesis.pc \
    cmake/hypomnesis/hypomnesisConfig.cmake cmake/hypomnesis/hypomnesisConfigVersion.cmake \
    cmake/hypomnesis/hypomnesisTargets.cmake \
    "cmake/hypomnesis/hypomnesisTargets-$build_type.cmake" \
    cmake/hypomnesis/hypomnesisStaticTargets.cmake \
    "cmake/hypomnesis/hypomnesisStaticTargets-$build_type.cmake"; do
    echo "$LIBDIR/$file"
  done
  for file in "$SOURCE"/examples/machines/*.json; do echo "share/hypomnesis/machines/$(basename "$file")"; done
  (cd "$SOURCE/contrib" && find . -type f ! -path './container/*' ! -path './rpm/*') | sed 's|^\.|share/hypomnesis|'
  for file in "$SOURCE"/docs/schema/*.json; do echo "share/hypomnesis/schema/$(basename "$file")"; done
  echo share/bash-completion/completions/hmn
  echo share/fish/vendor_completions.d/hmn.fish
  echo share/zsh/site-functions/_hmn
  for page in "$SOURCE"/docs/man/*.[13]; do
    echo "share/man/man${page##*.}/$(basename "$page")"
  done
  # Each function has a page under its name.
  sed -n 's/.*\(hmn_[a-z0-9_]*\)@.*/share\/man\/man3\/\1.3/p' "$SOURCE/abi/exports.txt"
} | sort -u >"$SCRATCH/expected"
(cd "$MOVED" && find . -type f -o -type l) | sed 's|^\./||' | sort >"$SCRATCH/actual"
diff -u "$SCRATCH/expected" "$SCRATCH/actual"

if files=$(grep -rlF -e "$SOURCE" -e "$BUILD" "$MOVED"); then
  echo "these contain the path of the build: $files"
  exit 1
fi

# A path in the text files would pin the prefix.
if files=$(grep -rlIF -e "\"$PREFIX/" -e "=$PREFIX/" "$MOVED"); then
  echo "these contain the prefix: $files"
  exit 1
fi

# The loader treats an empty path as the current directory.
for program in "$BUILD/hmn" "$MOVED/bin/hmn"; do
  path=$(readelf -dW "$program" | sed -n 's/.*(RUNPATH).*\[\(.*\)\]/\1/p')
  case ${path:+:$path:} in
    *::*) echo "$program looks for libraries in the current directory: $path"; exit 1 ;;
  esac
done

# The examples in the help work with the installed files.
machine=$("$MOVED/bin/hmn" --help | sed -n 's/^  hmn --machine \([^ ]*\).*/\1/p')
[ "$machine" = workstation ]
(cd / && "$MOVED/bin/hmn" --machine "$machine" | grep -qF "RTX 4090")
"$MOVED/bin/hmn" -V | grep -qF "$VERSION"

# The schema that a machine file names exists, so that an editor finds it.
for file in "$MOVED"/share/hypomnesis/machines/*.json; do
  schema=$(sed -n 's/.*schema": "\([^"]*\)".*/\1/p' "$file")
  case $schema in
    ?*) test -f "$(dirname "$file")/$schema" ;;
    *) false ;;
  esac || { echo "$file: its schema \"$schema\" is not installed"; exit 1; }
done
