#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# suite.sh NOUN PYTHON FOLDER LIBDIR: runs a suite of the Go binding in place, against the library that is
# installed in FOLDER/stage. Nothing is fetched.
#   unit       gofmt, go vet and the tests, with the strictest checks of what is passed to C
#   abi        the tests that hold constants and layouts against bindings/abi.json
#   race       the tests under the race detector
#   behaviour  the table of cases that every language answers
#   examples   the programs of examples/go on machine files
#   docs       the code blocks of docs/bindings/go.md
#   bench      prints what a snapshot costs; no suite
set -eu

noun=$1 python=$2 folder=$3 libdir=$4
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
modules="bindings/go tests/bindings/go examples/go"

skip() {
  echo "skipped: bindings.go.$noun: $1"
  exit 77
}

command -v go >/dev/null || skip "go is not installed"
command -v pkg-config >/dev/null || skip "pkg-config is not installed"
minor=$(go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
[ "${minor:-0}" -ge 19 ] || skip "go is older than 1.19"

mkdir -p "$folder/bin"
export GOENV=off GOWORK=off GO111MODULE=on GOTOOLCHAIN=local CGO_ENABLED=1
export GOPROXY=off GOSUMDB=off GOFLAGS=-mod=readonly
export GOCACHE="$folder/cache" GOPATH="$folder/path" GOBIN="$folder/bin"
export PKG_CONFIG_PATH="$folder/stage/$libdir/pkgconfig"
export LD_LIBRARY_PATH="$folder/stage/$libdir"
unset HMN_SIMULATION

in_each_module() {
  for module in $modules; do
    (cd "$root/$module" && "$@")
  done
}

formatted() {
  bad=$(in_each_module find . -name '*.go' ! -name generated.go -exec gofmt -l {} +)
  [ -z "$bad" ] || { echo "not formatted (gofmt -w): $bad"; exit 1; }
}

strict() {
  if [ "$minor" -le 20 ]; then GODEBUG=cgocheck=2 "$@"; else GOEXPERIMENT=cgocheck2 "$@"; fi
}

build() {
  (cd "$1" && go build -o "$folder/bin/" "./$2")
}

case $noun in
  unit)
    formatted
    in_each_module go vet ./...
    cd "$root/bindings/go"
    strict go test -count=1 ./...
    ;;
  abi)
    cd "$root/bindings/go"
    go test -count=1 -v -run '^TestABI' ./... >"$folder/abi.log" || { cat "$folder/abi.log"; exit 1; }
    # A test that finds no abi.json would be skipped, which is none here.
    passed=$(grep -c '^--- PASS: TestABI' "$folder/abi.log")
    [ "$passed" -eq 5 ] || { cat "$folder/abi.log"; exit 1; }
    ;;
  race)
    cd "$root/bindings/go"
    go test -count=1 -race ./...
    ;;
  behaviour)
    build "$here" agent
    exec "$python" -B "$here/../behaviour.py" "$folder/bin/agent"
    ;;
  examples)
    for program in memory free_memory before_after fit watch; do build "$root/examples/go" $program; done
    exec "$python" -B "$here/examples.py" "$folder/bin"
    ;;
  docs)
    exec "$python" -B "$here/docs.py" "$folder/docs"
    ;;
  bench)
    build "$here" bench
    cd "$here/../machines"
    exec "$folder/bin/bench" eight_16.json eight_32.json eight.json
    ;;
  *)
    echo "suite.sh: no suite $noun"
    exit 2
    ;;
esac
