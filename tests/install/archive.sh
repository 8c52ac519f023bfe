#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# archive.sh: hmn from the portable archive works in an empty folder, including its exporter's server.
set -eu

command -v apt-get >/dev/null || { echo "skipped: apt-get is missing, which fetches libmicrohttpd"; exit 77; }
archive=$("$SOURCE/scripts/tarball" | tail -n 1)
python3 -B "$SOURCE/tests/install/shipped.py" --compiled --limits "$SOURCE/abi/symbol-versions.txt" "$SOURCE/$archive"
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH/alone"
tar -xzf "$SOURCE/$archive" -C "$SCRATCH"
# Libraries linked into hmn, by the names of Debian's source packages.
for name in cli11 fmtlib gcc-12 libmicrohttpd libxcrypt ncurses yaml-cpp zlib; do
  if ! grep -q "^\* $name" "$SCRATCH"/hypomnesis-*/THIRD-PARTY-NOTICES; then
    echo "THIRD-PARTY-NOTICES does not name $name"
    exit 1
  fi
done
grep -q 'GNU LESSER GENERAL PUBLIC LICENSE' "$SCRATCH"/hypomnesis-*/THIRD-PARTY-NOTICES
cp "$SCRATCH"/hypomnesis-*/bin/hmn "$SCRATCH"/hypomnesis-*/share/hypomnesis/machines/workstation.json "$SCRATCH/alone"
cd "$SCRATCH/alone"

if ldd hmn | grep -v 'linux-vdso\|libc\.so\|libm\.so\|libgcc_s\.so\|ld-linux'; then
  echo "hmn needs more than the C library"
  exit 1
fi
env -i ./hmn --machine workstation.json | grep -q 'RTX 4090'
env -i ./hmn exporter --machine workstation.json --listen 127.0.0.1:0 2>listening &
server=$!
trap 'kill $server' EXIT
until grep -q http listening; do
  kill -0 $server
  sleep 0.1
done
url=$(sed -n 's/.*\(http[^ ]*\).*/\1/p' listening)
python3 -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' "$url" |
  grep -q '^hypomnesis_'
printf 'tls_server_config:\n  cert_file: a\n  key_file: b\n' >tls.yml
if ./hmn exporter --web-config tls.yml 2>why; then exit 1; fi
grep -q 'has no TLS' why
