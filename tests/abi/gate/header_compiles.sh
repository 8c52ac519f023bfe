#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# header_compiles.sh INCLUDE_DIR C_COMPILER CXX_COMPILER ...
# The header alone, twice, and after the macros of other people's headers, in every standard; the
# initial value of every struct, from C99 and C++11 on; calls of a deprecated function.
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

structs=$(sed -n 's/^typedef struct \(hmn_[a-z_]*\) {$/\1/p' "$include/hypomnesis.h")
[ -n "$structs" ] || { echo "header: no struct found" >&2; exit 1; }
{
  printf '#include <hypomnesis.h>\nuint32_t used(void);\nuint32_t used(void) {\n  uint32_t sum = 0;\n'
  for struct in $structs; do
    printf '  {\n    %s a = HMN_INIT(%s);\n    static const %s b = HMN_INIT(%s);\n' \
      "$struct" "$struct" "$struct" "$struct"
    printf '    const %s several[2] = {HMN_INIT(%s), HMN_INIT(%s)};\n' "$struct" "$struct" "$struct"
    printf '    sum += a.struct_size + b.struct_size + several[1].struct_size;\n  }\n'
  done
  printf '  return sum;\n}\n'
} >"$scratch/initial.c"
cat >"$scratch/deprecated.c" <<'END'
#include <hypomnesis.h>
#ifdef __cplusplus
extern "C" {
#endif
HMN_DEPRECATED("use hmn_feature") HMN_FN(uint32_t) hmn_old(uint32_t feature) HMN_NX;
#ifdef __cplusplus
}
#endif
uint32_t used(void);
uint32_t used(void) { return hmn_old(1); }
END

compile() { # compiler standard warnings...
  compiler=$1 standard=$2
  shift 2
  case $standard in
    c89 | gnu89 | c++98) files='alone after_macros' ;;
    *) files='alone after_macros initial' ;;
  esac
  for file in $files; do
    for mode in -UHMN_STATIC -DHMN_STATIC; do
      if ! "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Wpadded -Werror \
        -Wmissing-field-initializers "$@" "$mode" -I"$include" -fsyntax-only "$scratch/$file.c"; then
        echo "header: $compiler -std=$standard refuses it ($file, $mode)" >&2
        failed=1
      fi
    done
  done
  set -- "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Werror -I"$include" -fsyntax-only
  if "$@" "$scratch/deprecated.c" 2>/dev/null || ! "$@" '-DHMN_DEPRECATED(instead)=' "$scratch/deprecated.c"; then
    echo "header: $compiler -std=$standard does not warn of a deprecated function, or always" >&2
    failed=1
  fi
}

# The newest standards, under the names that a compiler knows.
newest() { # compiler name...
  compiler=$1
  shift
  for name; do
    if "$compiler" -x "$language" -std="$name" -fsyntax-only /dev/null 2>/dev/null; then echo "$name"; fi
  done
}

while [ $# -ge 2 ]; do
  language=c
  for standard in c89 c99 c11 c17 c2x gnu89 gnu17 $(newest "$1" c2y); do
    compile "$1" "$standard" -Wstrict-prototypes -Wc++-compat
  done
  language=c++
  for standard in c++98 c++11 c++14 c++17 c++20 c++2b $(newest "$2" c++26); do
    compile "$2" "$standard" -Wshadow
  done
  shift 2
done
exit $failed
