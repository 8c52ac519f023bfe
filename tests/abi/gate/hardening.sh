#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# hardening.sh LIBRARY [static-runtime]: how it was linked, and that nothing of it runs at exit.
set -u
export LC_ALL=C
library=$1
failed=0
fail() {
  echo "hardening: $library $1" >&2
  failed=1
}
dynamic=$(readelf -dW "$library") && segments=$(readelf -lW "$library") || exit 1
imports=$(nm -D --undefined-only "$library") || exit 1

echo "$segments" | grep -q GNU_RELRO || fail "has no RELRO segment"
echo "$segments" | grep GNU_STACK | grep -q 'RW ' || fail "has no GNU_STACK of RW"
echo "$segments" | grep GNU_STACK | grep -q E && fail "has an executable stack"
echo "$segments" | grep LOAD | grep -q 'RWE' && fail "has a segment that is writable and executable"
echo "$dynamic" | grep -qE 'BIND_NOW|\(FLAGS_1\).* NOW' || fail "is bound lazily (no -z now)"
echo "$dynamic" | grep -q NODELETE || fail "can be unloaded (no -z nodelete)"
echo "$dynamic" | grep -qE 'TEXTREL' && fail "has text relocations"
echo "$dynamic" | grep -qE '\(FINI_ARRAYSZ\)' &&
  [ "$(echo "$dynamic" | awk '/\(FINI_ARRAYSZ\)/ {print $3}')" -gt 8 ] &&
  fail "has destructors beside the compiler's own"
# A C++ runtime that is linked in registers its own.
[ "${2:-}" = static-runtime ] && exit $failed
for name in __cxa_atexit atexit __cxa_thread_atexit __cxa_thread_atexit_impl on_exit; do
  echo "$imports" | grep -qE " $name(@|\$)" && fail "imports $name: something of it runs at exit"
done
exit $failed
