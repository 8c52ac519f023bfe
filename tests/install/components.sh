# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Runtime is enough to run programs, Exporter adds a server to hmn, Development adds the files to build programs;
# together they contain everything.
set -eu

rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"

list_files() {
  (cd "$SCRATCH/$1" && find . -type f -o -type l) | sort
}

for component in Runtime Exporter Development; do
  "$CMAKE" --install "$BUILD" --prefix "$SCRATCH/$component" --component $component >/dev/null
  list_files $component >"$SCRATCH/$component.txt"
done
"$CMAKE" --install "$BUILD" --prefix "$SCRATCH/all" >/dev/null

"$SCRATCH/Runtime/bin/hmn" -V >/dev/null
"$SCRATCH/Runtime/bin/hmn" --machine "$SOURCE/examples/machines/server-8gpu.json" | grep -qF H100
if grep -E '\.(h|hpp|a|pc|cmake|so|3)$' "$SCRATCH/Runtime.txt"; then
  echo "these belong in Development"
  exit 1
fi
if grep -E '/bin/|\.so\.' "$SCRATCH/Development.txt"; then
  echo "these belong in Runtime"
  exit 1
fi
if grep -vE '/share/hypomnesis/|/hypomnesis/hmn-exporter$' "$SCRATCH/Exporter.txt"; then
  echo "these do not belong in Exporter"
  exit 1
fi
# hmn executes the installed server and finds machines by name, also after both were moved.
if [ -n "$EXPORTER" ]; then
  "$SCRATCH/all/bin/hmn" exporter --listen 127.0.0.1:0 --machine workstation 2>"$SCRATCH/served" &
  for _ in $(seq 100); do
    if grep -q listening "$SCRATCH/served"; then break; fi
    sleep 0.1
  done
  kill $!
  grep -q listening "$SCRATCH/served" || { cat "$SCRATCH/served"; exit 1; }
fi
# Without its server hmn exporter still prints the metrics.
"$SCRATCH/Runtime/bin/hmn" exporter --once >/dev/null 2>&1 || [ $? -eq 1 ]
list_files all >"$SCRATCH/all.txt"
sort "$SCRATCH/Runtime.txt" "$SCRATCH/Exporter.txt" "$SCRATCH/Development.txt" | diff -u - "$SCRATCH/all.txt"
