# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Each file has a copyright and a licence whose text is in the repository, as REUSE requires.
set -eu

cd "$1"
if ! command -v reuse >/dev/null; then
  echo "skipped: repo.reuse: reuse is not installed"
  exit 77
fi
# Words about licences in programs are reported on stderr and are not errors.
reuse lint 2>/dev/null
