#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# layout.sh INCLUDE_DIR CLANG LAYOUT...: frozen layouts hold on nine targets; no sysroot is needed.
# Deprecated functions keep their layout, too. bindings/generate ends a layout without a newline.
set -u
include=$1 clang=$2
shift 2
failed=0
for target in x86_64-linux-gnu i386-linux-gnu aarch64-linux-gnu armv7-linux-gnueabihf \
  riscv64-linux-gnu s390x-linux-gnu x86_64-pc-windows-msvc i686-pc-windows-msvc arm64-apple-macos; do
  for layout in "$@"; do
    "$clang" --target=$target -ffreestanding -nostdlibinc -std=c11 -Wall -Wextra -pedantic -Wpadded \
      -Wno-newline-eof -Werror '-DHMN_DEPRECATED(instead)=' -I"$include" -fsyntax-only "$layout" ||
      { echo "layout: $layout fails on $target" >&2; failed=1; }
  done
done
exit $failed
