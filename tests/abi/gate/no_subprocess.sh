#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# no_subprocess.sh LIBRARY: it imports nothing that starts a program or waits for one.
set -u
export LC_ALL=C
imports=$(nm -D --undefined-only "$1") || exit 1
if echo "$imports" | grep -E ' (v?fork|_?_?clone[0-9]*|exec[a-z]+|fexecve|posix_spawn[a-z_]*|wait[a-z0-9]*|pidfd_[a-z_]+)(@|$)'; then
  echo "no subprocess: $1 imports the above" >&2
  exit 1
fi
