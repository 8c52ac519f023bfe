#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# binaries.sh ROOT LIBRARY C_COMPILER: the clients that were linked when their version was released are what they were, and
# run with the library. Those of another soname are for another library.
set -u
root=$1 library=$2 compiler=$3
clients=$root/tests/abi/clients/bin
if [ ! -d "$clients" ] && ! grep -q '^[0-9a-f]' "$root/abi/released"; then
  echo "skipped: abi.binaries: no version is released, and no client linked"
  exit 77
fi
if [ ! -d "$clients" ] && [ ! -e "$root/.git" ]; then
  echo "skipped: abi.binaries: source archives are without tests/abi/clients/bin"
  exit 77
fi
failed=0 ran=0
python3 -B "$root/scripts/abi-clients" --check "$compiler" || failed=1
soname=$(readelf -dW "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
for client in "$clients"/*.bin; do
  needed=$(readelf -dW "$client" | sed -n 's/.*(NEEDED).*\[\(libhypomnesis.*\)\]/\1/p')
  [ "$needed" = "$soname" ] || continue
  ran=$((ran + 1))
  if ! LD_BIND_NOW=1 LD_LIBRARY_PATH=$(dirname "$library") "$client" "$root/tests/abi/machines/everything.json"; then
    echo "binaries: $(basename "$client") does not run with $library" >&2
    failed=1
  fi
done
echo "$ran clients ran that need $soname"
exit $failed
