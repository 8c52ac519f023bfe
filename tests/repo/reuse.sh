# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Each file has a copyright and a licence whose text is here, as REUSE asks.
set -eu

cd "$1"
if ! command -v reuse >/dev/null; then
  echo "skipped: repo.reuse: reuse is not installed"
  exit 77
fi
# Words about licences inside of programs are reported on the error output, and fail nothing.
reuse lint 2>/dev/null
