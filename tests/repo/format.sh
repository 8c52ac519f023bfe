# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# The C++ code is as .clang-format has it. Other versions of clang-format than 14 differ.
set -eu

cd "$1"
formatter=
for candidate in clang-format-14 clang-format; do
  if command -v $candidate >/dev/null && $candidate --version | grep -q 'version 14\.'; then
    formatter=$candidate
    break
  fi
done
if [ -z "$formatter" ]; then
  echo "skipped: repo.format: clang-format 14 is not installed"
  exit 77
fi
if echo 'int  a ;' | $formatter --dry-run --Werror 2>/dev/null; then
  echo "clang-format sees nothing"
  exit 1
fi
bad=$(find src tests -type f \( -name '*.cpp' -o -name '*.hpp' \) \
  -exec "$formatter" --dry-run --Werror {} + 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error:.*//p' | sort -u)
if [ -n "$bad" ]; then
  echo "not formatted ($formatter -i):"
  echo "$bad"
  exit 1
fi
