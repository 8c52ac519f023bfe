#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# suite.sh PYTHON CC LIBRARY FOLDER: Go's agent, built for Windows by the cross compiler CC against what is
# installed in FOLDER/stage, answers the cases of tests/bindings under Wine, where the package's own tests
# pass, but for those of stress. LIBRARY is the DLL. Nothing is fetched.
set -eu

python=$1 cc=$2 library=$3 folder=$4
root=$(cd "$(dirname "$0")/../../.." && pwd)

skip() {
  echo "skipped: windows.go: $1"
  exit 77
}

command -v go >/dev/null || skip "go is not installed"
command -v pkg-config >/dev/null || skip "pkg-config is not installed"
minor=$(go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
[ "${minor:-0}" -ge 19 ] || skip "go is older than 1.19"

export GOENV=off GOWORK=off GO111MODULE=on GOTOOLCHAIN=local GOPROXY=off GOSUMDB=off GOFLAGS=-mod=readonly
export GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC="$cc"
export GOCACHE="$folder/cache" GOPATH="$folder/path"
export PKG_CONFIG_PATH="$folder/stage/lib/pkgconfig"

mkdir -p "$folder/bin"
(cd "$root/tests/bindings/go" && go build -o "$folder/bin/agent.exe" ./agent)
cp "$library" "$folder/bin"
cd "$root/bindings/go"
go vet ./...
go test -c -o "$folder/bin/package.exe" .
wine "$folder/bin/package.exe" -test.run '^(Test([^S]|S[^t])|Example)' -test.v >"$folder/package.log" ||
  { cat "$folder/package.log"; exit 1; }
passed=$(grep -c '^--- PASS: ' "$folder/package.log")
[ "$passed" -gt 0 ] || { cat "$folder/package.log"; exit 1; }
exec "$python" -B "$root/tests/bindings/behaviour.py" --wine wine "$folder/bin/agent.exe"
