# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# The README's program, its compiler command and its examples of hmn work as they stand; the program on each machine of
# examples/machines, too.
set -eu

rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
if ! command -v pkg-config >/dev/null; then
  echo "skipped: install.readme: pkg-config is not installed"
  exit 77
fi
cd "$SCRATCH"
awk '/^```/ { take = ($0 == "```c"); next } take' "$SOURCE/README.md" >program.c
command=$(grep '^cc program\.c ' "$SOURCE/README.md")

export PKG_CONFIG_PATH="$MOVED/$LIBDIR/pkgconfig"
eval "$command"
LD_LIBRARY_PATH="$MOVED/$LIBDIR" ./a.out >output
cat output
grep -Eq '^this process: [1-9][0-9]{5,} bytes of RAM$' output
LD_LIBRARY_PATH="$MOVED/$LIBDIR" python3 -B "$SOURCE/tests/bindings/on_machines.py" first_c ./a.out

# What follows a `$ scripts/run` line is what hmn shows on a terminal of 100 columns.
awk '/^```/ { take = ($0 == "```console"); next } take' "$SOURCE/README.md" >expected
grep -q '^\$ scripts/run ' expected
cd "$SOURCE"
HMN_COMMAND=$MOVED/bin/hmn HMN_SOURCE=$SOURCE PYTHONPATH=$SOURCE/tests/cli \
  python3 -B - "$SCRATCH/expected" >"$SCRATCH/shown" <<'END'
import sys
import command
for line in open(sys.argv[1]):
    if line.startswith("$ scripts/run "):
        shown = command.run_in_terminal(*line.split()[2:], NO_COLOR="1")
        print(line + shown.out, end="")
END
diff -u "$SCRATCH/expected" "$SCRATCH/shown"
