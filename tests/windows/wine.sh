#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# wine.sh start|stop PREFIX: a Windows 10 of Wine's, and the server that suites share: without one that
# stays each of them waits for its helpers to end.
set -eu
export WINEPREFIX="$2" WINEDEBUG=-all
export WINEDLLOVERRIDES="winedbg.exe,mscoree,mshtml,winemenubuilder.exe=d"
unset DISPLAY

start() {
  if [ ! -f "$WINEPREFIX/made" ]; then
    rm -rf "$WINEPREFIX"
    mkdir -p "$WINEPREFIX"
    wine wineboot --init </dev/null >/dev/null 2>&1
    wine winecfg -v win10 </dev/null >/dev/null 2>&1
    touch "$WINEPREFIX/made"
  fi
  wineserver --persistent </dev/null >/dev/null 2>&1 || true
  wine wineboot </dev/null >/dev/null 2>&1
}

case $1 in
  start)
    if ! command -v wine >/dev/null; then
      echo "skipped: wine.start: wine is not here"
      exit 77
    fi
    start
    ;;
  stop) wineserver --kill || true ;;
esac
