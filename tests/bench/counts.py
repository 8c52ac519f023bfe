# SPDX-License-Identifier: MIT OR Apache-2.0
"""counts.py [--record] BENCH_COUNTS HMN EMPTY TOOLCHAIN: the instructions of each reading over fixture trees, and of
`hmn --json` where there is no GPU without those of EMPTY, a program that is linked to the same libraries and does nothing.
Callgrind counts them: how fast the machine is and what else it does has no part in it.

They are compared with tests/bench/counts.json, which has a record for each toolchain. A difference above 2 % fails on a
toolchain that has a record, either way: a rise is slower code, and after a fall the old record would let it rise again.
On another toolchain the counts are only shown. --record writes them into the file."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).with_name("counts.json")
MOST = 0.02
# The C library's functions are chosen for the processor; these are in every one of its kind.
ORDINARY = ("glibc.cpu.hwcaps=" + ",".join(f"-{each}" for each in (
    "AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "BMI1", "BMI2", "ERMS", "FSRM", "LZCNT", "MOVBE", "POPCNT", "RTM",
    "SSE4_1", "SSE4_2", "SSSE3", "XSAVE", "XSAVEC", "AVX_Fast_Unaligned_Load", "Fast_Unaligned_Copy"))
    + ":glibc.cpu.x86_data_cache_size=32768:glibc.cpu.x86_shared_cache_size=1048576"
    + ":glibc.cpu.x86_non_temporal_threshold=786432")


def callgrind(folder, options, words, **changes):
    """Standard output; what is counted is in files in the folder."""
    keys = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp", "GLIBC_TUNABLES": ORDINARY} | changes
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *options, *words],
                          env=keys, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"counts.py: {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def counted(path):
    return int(re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)[1])


def readings(program):
    """The fewest instructions of each, in some rounds: now and then something is due that has its own time."""
    counts = {}
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        said = callgrind(folder, ["--separate-threads=yes", "--dump-before=hmn_bench_counted"], [program])
        for number, line in enumerate(said.splitlines(), 1):
            what, _, times = line.partition("\t")
            if times:
                count = counted(pathlib.Path(folder, f"out.{number}-01")) / int(times)
                counts[what] = round(min(count, counts.get(what, count)))
    return counts


def whole(words):
    """Of all threads, which wait for each other once more in some runs."""
    counts = []
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.mkdir(f"{folder}/sys")
        for _ in range(3):
            callgrind(folder, [], words, HMN_SYS=f"{folder}/sys", HMN_NVML=f"{folder}/none")
            counts.append(counted(pathlib.Path(folder, "out")))
    return min(counts)


def is_within(record, counts):
    good = True
    for what, count in counts.items():
        before = record.get(what)
        change = "" if before is None else f"{100 * (count / before - 1):+.1f} %"
        print(f"{what}: {count} instructions, recorded {before}, {change}")
        good &= before is not None and abs(count / before - 1) <= MOST
    return good and not record.keys() - counts.keys()


def main():
    words = [word for word in sys.argv[1:] if word != "--record"]
    if shutil.which("valgrind") is None:
        print("skipped: bench.counts: there is no valgrind")
        return 77
    program, hmn, empty, toolchain = words
    key = f"{toolchain}, {' '.join(platform.libc_ver())}, {platform.machine()}"
    counts = readings(program) | {"hmn --json": whole([hmn, "--json"]) - whole([empty])}
    records = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if "--record" in sys.argv:
        records[key] = counts
        RECORD.write_text(json.dumps(records, indent=2, sort_keys=True) + "\n")
    good = is_within(records.get(key, {}), counts)
    if key not in records:
        print(f"no record of {key}: scripts/bench BUILD_DIR --record makes one")
        return 0
    if not good:
        print(f"more than {MOST:.0%} beside the record of {key}: where that is wanted, "
              "scripts/bench BUILD_DIR --record")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
