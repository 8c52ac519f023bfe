# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# A program builds with only a compiler and pkg-config, in C and C++, shared and static.
set -eu

rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
if ! command -v pkg-config >/dev/null; then
  echo "skipped: install.pkgconfig: pkg-config is not installed"
  exit 77
fi
export PKG_CONFIG_PATH="$MOVED/$LIBDIR/pkgconfig"
pkg-config --validate hypomnesis
[ "$(pkg-config --modversion hypomnesis)" = "$VERSION" ]
[ "$(pkg-config --variable=pcfiledir hypomnesis)" = "$MOVED/$LIBDIR/pkgconfig" ]

consumer=$SOURCE/tests/install/consumer/consumer.c
mkdir "$SCRATCH/only-static"
cp "$MOVED/$LIBDIR/libhypomnesis.a" "$SCRATCH/only-static"

build_and_run() {
  for language in c c++; do
    compiler=$CC
    if [ $language = c++ ]; then compiler=$CXX; fi
    # shellcheck disable=SC2086
    "$compiler" -Wall -Werror -x $language "$consumer" -x none -o "$SCRATCH/program" $1
    LD_LIBRARY_PATH="$MOVED/$LIBDIR" "$SCRATCH/program" "$VERSION"
  done
}

needs_library() {
  readelf -d "$SCRATCH/program" | grep -q 'NEEDED.*libhypomnesis'
}

flags=$(pkg-config --cflags --libs hypomnesis)
case $flags in *HMN_STATIC* | *stdc++*) echo "flags of the static library: $flags"; exit 1 ;; esac
build_and_run "$flags"
needs_library

# The linker uses the archive if it finds no shared library; --static adds the archive's dependencies.
flags=$(pkg-config --static --cflags --libs hypomnesis)
case $flags in *HMN_STATIC*) ;; *) echo "HMN_STATIC is missing: $flags"; exit 1 ;; esac
build_and_run "-L$SCRATCH/only-static $flags"
if needs_library; then
  echo "the static program needs libhypomnesis.so"
  exit 1
fi

# Everything static, including the C library.
build_and_run "-static $flags"
