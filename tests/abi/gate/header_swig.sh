#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# header_swig.sh INCLUDE_DIR SWIG: SWIG reads the header without a word.
set -u
include=$1 swig=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
for language in python lua csharp go; do
  mkdir "$scratch/$language"
  cat >"$scratch/$language/hmn.i" <<'END'
%module hmn
%{
#include <hypomnesis.h>
%}
%include <stdint.i>
%include <hypomnesis.h>
END
  options=
  [ $language = go ] && options='-intgosize 64 -cgo'
  # shellcheck disable=SC2086
  "$swig" -$language $options -Wall -Werror -I"$include" -outdir "$scratch/$language" \
    -o "$scratch/$language/wrap.c" "$scratch/$language/hmn.i" || failed=1
done
exit $failed
