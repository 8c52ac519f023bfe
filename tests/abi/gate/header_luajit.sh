#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# header_luajit.sh INCLUDE_DIR C_COMPILER LUAJIT LIBRARY
# The header goes through ffi.cdef as the preprocessor leaves it, and the library answers through it.
set -eu
include=$1 compiler=$2 luajit=$3 library=$4
if ! command -v "$luajit" >/dev/null; then
  echo "skipped: abi.header_luajit: luajit is not here"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#define HMN_API\n#define HMN_DEPRECATED(instead)\n#include <hypomnesis.h>\n' |
  "$compiler" -E -P -I"$include" - | sed '1,/typedef struct hmn_context/{/typedef struct hmn_context/!d}' \
  >"$scratch/hypomnesis.i"
cat >"$scratch/test.lua" <<'END'
local ffi = require("ffi")
local declarations = io.open(arg[1]):read("*a")
ffi.cdef(declarations)
local hmn = ffi.load(arg[2])
assert(ffi.sizeof("hmn_device") == 624)
assert(ffi.offsetof("hmn_usage", "used_bytes") == 64)
assert(ffi.C.HMN_E_RANGE == -4)
assert(ffi.string(hmn.hmn_status_name(-4)) == "HMN_E_RANGE")
END
"$luajit" "$scratch/test.lua" "$scratch/hypomnesis.i" "$library"
