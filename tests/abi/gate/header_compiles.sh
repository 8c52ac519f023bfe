#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# header_compiles.sh INCLUDE_DIR C_COMPILER CXX_COMPILER ...
# The header alone, twice, and after the macros of other people's headers, in every standard.
set -u
include=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

printf '#include <hypomnesis.h>\n#include <hypomnesis.h>\nint main(void) { return HMN_OK; }\n' \
  >"$scratch/alone.c"
# windows.h, sys/sysmacros.h and wingdi.h define these.
cat >"$scratch/after_macros.c" <<'END'
#define near
#define far
#define small char
#define interface struct
#define IN
#define OUT
#define CONST const
#define ERROR 0
#define DELETE 1
#define ABSOLUTE 1
#define RELATIVE 2
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define major(device) ((device) >> 8)
#define minor(device) ((device) & 255)
#define status status_macro_would_break
#undef status
END
cat "$scratch/alone.c" >>"$scratch/after_macros.c"

compile() { # compiler standard warnings...
  compiler=$1 standard=$2
  shift 2
  for file in alone after_macros; do
    for mode in -UHMN_STATIC -DHMN_STATIC; do
      if ! "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Wpadded -Werror \
        "$@" "$mode" -I"$include" -fsyntax-only "$scratch/$file.c"; then
        echo "header: $compiler -std=$standard refuses it ($file, $mode)" >&2
        failed=1
      fi
    done
  done
}

while [ $# -ge 2 ]; do
  language=c
  for standard in c89 c99 c11 c17 c2x gnu89 gnu17; do
    compile "$1" $standard -Wstrict-prototypes -Wc++-compat
  done
  language=c++
  for standard in c++98 c++11 c++14 c++17 c++20 c++2b; do
    compile "$2" $standard -Wshadow
  done
  shift 2
done
exit $failed
