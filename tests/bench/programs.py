# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs as the benchmarks start them: the processor time of each, in rounds of all, so that whatever else the machine
does in a round slows each of them."""
import json
import os
import pathlib
import random
import statistics
import subprocess

QUIET = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", flags, 0)
         for number, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY))]


def environment(**keys):
    """Nothing of the caller's."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"} | {name: str(value) for name, value in keys.items()}


def processor_time(words, keys):
    """Seconds of one run, its children's included; whatever it prints is dropped."""
    child = os.posix_spawn(words[0], words, keys, file_actions=QUIET)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(words)}: exit status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


def in_rounds(programs, rounds):
    """name -> seconds of each round, of name -> (words, environment). The first round fills the caches; the order changes,
    since what runs before leaves its own in them."""
    times = {name: [] for name in programs}
    order = list(programs.items())
    shuffler = random.Random(1)
    for number in range(rounds + 1):
        shuffler.shuffle(order)
        for name, (words, keys) in order:
            time = processor_time(words, keys)
            if number > 0:
                times[name].append(time)
    return times


def ratio(times, against):
    """(median, lower and upper quartile) of the ratios of the rounds."""
    low, middle, high = statistics.quantiles([a / b for a, b in zip(times, against)], n=4)
    return middle, low, high


def install(build, prefix):
    """(hmn, the program that does nothing) as a package has them: in its folders, and each written in one go, since the
    kernel maps more of such a file at a page fault than of one that a linker has written. Both find the library in the
    second folder in which they search."""
    places = {"hmn": "bin/hmn", "tests/bench/hmn_bench_empty": "one/two/three/empty",
              "libhypomnesis.so.0.1": "lib/libhypomnesis.so.0.1"}
    places |= {f"hypomnesis/{each.name}": f"lib/hypomnesis/{each.name}" for each in (build / "hypomnesis").glob("*.so")}
    for made, place in places.items():
        target = prefix / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((build / made).read_bytes())
        target.chmod(0o755)
    return str(prefix / "bin/hmn"), str(prefix / "one/two/three/empty")


def short(number, units):
    """1.16 ms, 16 MiB: with the greatest of (least number, unit) that is not above it."""
    least, unit = max((one for one in units if one[0] <= number), default=units[0])
    return f"{number / least:.3g}{unit}"


def time_text(microseconds):
    return short(microseconds, [(1e-3, " ns"), (1, " µs"), (1e3, " ms"), (1e6, " s")])


def instructions(words, keys, folder):
    """Those of one run and all its threads, counted by callgrind."""
    out = pathlib.Path(folder, "callgrind.out")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *words], env=keys, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return int(next(line.split()[1] for line in out.read_text().splitlines()
                    if line.startswith(("summary:", "totals:"))))


def make_pci_functions(folder, count):
    """A machine with that many functions on its bus and no GPU; keys for the environment."""
    lines = []
    for number in range(count):
        bus, device, function = number >> 8, number >> 3 & 31, number & 7
        at = folder / f"sys/bus/pci/devices/0000:{bus:02x}:{device:02x}.{function}"
        at.mkdir(parents=True)
        for name, text in (("vendor", "0x8086"), ("device", "0x2034"), ("class", "0x088000")):
            (at / name).write_text(f"{text}\n")
        # As drivers/pci/proc.c prints it.
        lines.append(f"{bus:02x}{device << 3 | function:02x}\t80862034\t0" + f"\t{0:16x}" * 14 + "\tskx_uncore\n")
    (folder / "sys/bus/pci/devices").mkdir(parents=True, exist_ok=True)
    (folder / "proc/bus/pci").mkdir(parents=True)
    (folder / "proc/bus/pci/devices").write_text("".join(lines))
    (folder / "proc/self").symlink_to("/proc/self")
    (folder / "proc/meminfo").symlink_to("/proc/meminfo")
    return {"HMN_PROC": folder / "proc", "HMN_SYS": folder / "sys"}


def make_nvidia_gpus(build, folder, count, pids=()):
    """A fake NVML with that many GPUs, used by these processes, else by this one; keys for the environment."""
    users = [{"pid": pid, "used": 536870912} for pid in pids or [os.getpid()]]
    gpus = [{"uuid": f"GPU-11111111-2222-3333-4444-{number:012x}", "name": "NVIDIA L40S",
             "pci": {"address": f"{number >> 8:08x}:{number & 255:02x}:00.0"},
             "memory_v2": {"total": 48318382080, "reserved": 629145600, "free": 37580963840, "used": 10108272640},
             "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980,
             "processes": {"compute": users, "graphics": []}}
            for number in range(count)]
    scenario = folder / f"{count}-gpus.json"
    scenario.write_text(json.dumps({"driver_version": "550.163.01", "devices": gpus}))
    return {"HMN_NVML": build / "fakes/nvml/libnvidia-ml.so.1", "FAKE_NVML_SCENARIO": scenario,
            "HMN_NVIDIA_SMI": folder / "none"}
