# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# header.sh ROOT CXX: hypomnesis.hpp is self-contained, compiles without warnings in any standard and needs no RTTI.
set -eu

root=$1
shift
program='#include <hypomnesis.hpp>
#include <hypomnesis.hpp>
int main() {
  const hypomnesis::context context;
  const hypomnesis::snapshot before = context.take(), after = context.take();
  hypomnesis::compare(before, after, 0);
  hypomnesis::delta_line(before, after, 0, "x");
  hypomnesis::before_after_lines(before, after, 0, "x");
  context.find_device("driver:nvidia:0");
  context.telemetry(0, hypomnesis::telemetry_field::power);
  context.backend(hypomnesis::backend_id::nvml);
  return before.values().devices.empty() || after.json().empty();
}'

compile() {
  "$@" -I"$root/include" -I"$root/bindings/cpp" -fsyntax-only -x c++ - -Wall -Wextra -Wpedantic \
    -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Wundef -Werror
}

if echo '#include <hypomnesis.hpp>
int f(int a) { int b; { int a = 1; b = a; } return b; }' | compile "$1" -std=c++17 2>/dev/null; then
  echo "the compiler does not warn about a shadowed variable"
  exit 1
fi
count=0
for compiler in "$1" clang++-19; do
  command -v "$compiler" >/dev/null || continue
  echo "$compiler without RTTI"
  echo "$program" | compile "$compiler" -std=c++17 -fno-rtti
  for standard in 17 20 23; do
    echo "$compiler, C++$standard"
    echo "$program" | compile "$compiler" -std=c++$standard
    count=$((count + 1))
  done
done
[ "$count" -ge 3 ]
