#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# suite.sh SUITE PYTHON FOLDER LIBDIR: runs a suite of the Go binding in place, against the library
# installed in FOLDER/stage. Nothing is downloaded.
#   unit       gofmt, go vet and the tests, with the strictest checks of pointers passed to C
#   abi        the tests that compare constants and layouts with bindings/abi.json
#   race       the tests under the race detector
#   behaviour  the cases that every language must pass
#   examples   the programs of examples/go on machine files
#   docs       the code blocks of docs/bindings/go.md
#   module     go get from a file proxy, with and without the tag that opens the library at run time
#   bench      prints the cost of a snapshot; not a test
set -eu

suite=$1 python=$2 folder=$3 libdir=$4
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
modules="bindings/go tests/bindings/go examples/go"

skip() {
  echo "skipped: bindings.go.$suite: $1"
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

for_each_module() {
  for module in $modules; do
    (cd "$root/$module" && "$@")
  done
}

check_format() {
  unformatted=$(for_each_module find . -name '*.go' ! -name generated.go -exec gofmt -l {} +)
  [ -z "$unformatted" ] || { echo "not check_format (gofmt -w): $unformatted"; exit 1; }
}

run_strict() {
  if [ "$minor" -le 20 ]; then GODEBUG=cgocheck=2 "$@"; else GOEXPERIMENT=cgocheck2 "$@"; fi
}

build() {
  (cd "$1" && go build -o "$folder/bin/" "./$2")
}

case $suite in
  unit)
    check_format
    for_each_module go vet ./...
    cd "$root/bindings/go"
    run_strict go test -count=1 ./...
    ;;
  abi)
    cd "$root/bindings/go"
    go test -count=1 -v -run '^TestABI' ./... >"$folder/abi.log" || { cat "$folder/abi.log"; exit 1; }
    # Counts the passed tests, since a test without abi.json is skipped.
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
  module)
    exec "$python" -B "$here/module.py" "$folder/module"
    ;;
  bench)
    build "$here" bench
    cd "$here/../machines"
    exec "$folder/bin/bench" eight_16.json eight_32.json eight.json
    ;;
  *)
    echo "suite.sh: no suite $suite"
    exit 2
    ;;
esac
