#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# needed.sh LIBRARY [SONAME] [static-runtime]: the libraries that it asks the loader for.
set -u
export LC_ALL=C
allowed='libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1'
allowed="$allowed|ld-linux\.so\.2|ld-linux-armhf\.so\.3|ld64\.so\.1|libgcc_s\.so\.1"
[ "${3:-}" = static-runtime ] || allowed="$allowed|libstdc[+][+]\.so\.6"
dynamic=$(readelf -dW "$1") || exit 1
failed=0
for name in $(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
  if ! echo "$name" | grep -qxE "$allowed"; then
    echo "needed: $1 needs $name, which is not on the list" >&2
    failed=1
  fi
done
soname=$(echo "$dynamic" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$soname" != "${2:-}" ]; then
  echo "needed: the soname is '$soname', not '${2:-}'" >&2
  failed=1
fi
if echo "$dynamic" | grep -E '\((RPATH|RUNPATH)\)'; then
  echo "needed: a search path is compiled into $1" >&2
  failed=1
fi
exit $failed
