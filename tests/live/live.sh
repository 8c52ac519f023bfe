#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# live.sh PROGRAM here|namespace|without-nvml
set -eu

program=$1
mode=$2

skip() {
  echo "skipped: live.$mode: $1"
  exit 77
}

# The fakes have no such node.
[ -e "${HMN_LIVE_NODE-/dev/nvidiactl}" ] || skip "no NVIDIA GPU is on this machine"
command -v nvidia-smi >/dev/null || skip "nvidia-smi is not on this machine"

case $mode in
  here) exec "$program" here ;;
  namespace)
    unshare --pid --fork --mount-proc true 2>/dev/null || skip "a PID namespace cannot be made here"
    exec unshare --pid --fork --mount-proc "$program" namespace
    ;;
  without-nvml) exec "$program" without-nvml ;;
  *)
    echo "live.sh: unknown mode $mode" >&2
    exit 2
    ;;
esac
