# SPDX-License-Identifier: MIT OR Apache-2.0
"""golden.py NVML NVIDIA_SMI [--record]: the output of each command, as text and as JSON, with its exit status, on each
machine of examples/machines and with fake drivers, compared with tests/cli/golden. --record writes these files again:
read the difference before you commit it."""
import difflib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from command import COMMAND, MACHINES, SOURCE, environment, main, remove_notice

NVML, NVIDIA_SMI = sys.argv.pop(1), sys.argv.pop(1)
GOLDEN = pathlib.Path(__file__).with_name("golden")
IS_RECORDING = "--record" in sys.argv and not sys.argv.remove("--record")

COMMANDS = """
--json
ps
ps --json
ps --by user
ps --sort ram --color always
snapshot
metrics
metrics --json
top --once --interval 1s
doctor
doctor --json
fit examples/models/llama-3-8b.json
fit examples/models/llama-3-8b.json --json
fit examples/models/llama-3-8b.json --device all --context 128K
exporter --once
exporter --once --compat dcgm
log --csv --count 1
log --json --count 1
log --count 1
watch --interval 20ms --duration 20ms
watch --interval 20ms --duration 20ms --json
wait --free 1GiB --timeout 60s
wait --free 900GiB --timeout 60s --json
spill --timeout 60s --interval 20ms sleep 0.1
run --timeout 60s --interval 20ms sleep 0.1
record-machine -
"""

# Values that differ from run to run.
MASKS = [(re.compile(pattern), text) for pattern, text in (
    (r'("(?:\w*_)?(?:age|duration|elapsed|waited|monotonic|unix|unix_time|time|t|interval|gap)_(?:ns|ms)":) ?\d+', r"\1N"),
    (r'("(?:monotonic|unix|age|elapsed)\w*":) ?\d+', r"\1N"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?", "TIME"),
    (r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b", "TIME"),
    (r"(?m)^(hypomnesis_(?:snapshot|reading|source|process)\w*_seconds(?:\{[^}]*\})?) \S+$", r"\1 N"),
    (r"(?m)^(TIME(?:,[^,\n]*){13}),\d+,", r"\1,N,"),  # age_ns of hmn log --csv
    (r'hostname="[^"]*"', 'hostname="HOST"'),
    (r"(?<=\? )(\d+d\d\dh|\d+:\d\d:\d\d)\b", "AGE"),  # the age of a process, which grows
    (r"[\u2801-\u28ff]", "\u28ff"),  # the dots of curves
    (r"\d+(?:\.\d+)?(?: ?)(?:s|ms|us|µs)\b", "SECONDS"),
    (r"\d+ (?:of \d+ )?(samples|times|observations)", r"N \1"))]

SCENARIO = {
    "driver_version": "550.163.01",
    "devices": [
        {"name": "NVIDIA L40S", "uuid": "GPU-11111111-2222-3333-4444-555555555555", "pci": {"address": "00000000:01:00.0"},
         "memory": {"total": "45 GiB", "free": "35 GiB", "used": "10 GiB"},
         "memory_v2": {"total": "45 GiB", "reserved": "512 MiB", "free": "35 GiB", "used": "9728 MiB"},
         "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980,
         "processes": {"compute": [{"pid": 999999, "used": "512 MiB"}]}},
        {"name": "NVIDIA L4", "uuid": "GPU-22222222-2222-3333-4444-555555555555", "pci": {"address": "00000000:02:00.0"},
         "memory": {"total": "24 GiB", "free": "24 GiB", "used": 0}}]}
SMI = {"gpus": [{"fields": {
    "name": "NVIDIA T4", "uuid": "GPU-33333333-2222-3333-4444-555555555555", "pci.bus_id": "00000000:03:00.0",
    "driver_version": "550.163.01", "memory.total": 15360, "memory.used": 1024, "memory.free": 14336,
    "utilization.gpu": 7, "temperature.gpu": 40, "power.draw": 20.5}}]}
MEMINFO = {"MemTotal": 64 << 20, "MemFree": 8 << 20, "MemAvailable": 40 << 20, "SwapTotal": 4 << 20, "SwapFree": 4 << 20}


def mask_text(text):
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


def format_json(value, margin=""):
    """Formats JSON with a line for each object or list without another inside."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(item, (dict, list)) and item for item in inner):
        return json.dumps(value, ensure_ascii=False)
    indent = margin + " "
    if isinstance(value, dict):
        lines = [f"{indent}{json.dumps(key)}: {format_json(item, indent)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    return "[\n" + ",\n".join(indent + format_json(item, indent) for item in value) + f"\n{margin}]"


def run_command(words, env):
    process = subprocess.Popen([*COMMAND, *words], cwd=SOURCE, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=120)
    output = re.sub(rf'("pid":){process.pid}\b', r"\1-1", out.decode())
    if output.startswith(("{", "[")) and "\n" not in output.strip():
        output = format_json(json.loads(output)) + "\n"
    errors = remove_notice(err.decode())
    text = mask_text(output)
    if errors:
        text += f"--- standard error\n{mask_text(errors)}"
    return text + f"--- exit {process.returncode}\n"


class Golden(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # Without the suffix a name that ends like "3s" would be masked.
        folder = tempfile.TemporaryDirectory(prefix="hmn-golden-", suffix="_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_commands(self, arguments, variables):
        env = environment(COLUMNS="100", LINES="30", TZ="UTC", **variables)
        text = ""
        for line in ["", *COMMANDS.strip().splitlines()]:
            words = line.split()
            if words and words[0] in ("record-machine", "doctor") and not arguments:
                continue  # they also report this machine
            if arguments and words[-2:] not in (["sleep", "0.1"],):
                words = [*words, *arguments]
            elif arguments:
                words = [*words[:-2], *arguments, *words[-2:]]
            output = run_command(words, env).replace(str(self.folder), "/machine").replace(NVML, "/machine/nvml")
            if words[:1] == ["run"]:  # the use of a real command
                output = re.sub(r"\d+(?:\.\d+)?", "N", output)
            text += f"$ hmn {' '.join(words)}\n{output}\n"
        return text

    def compare(self, name, arguments, **variables):
        path = GOLDEN / f"{name}.txt"
        text = self.run_commands(arguments, variables)
        if IS_RECORDING:
            path.write_text(text)
            return
        expected = path.read_text()
        if text != expected:  # a busy machine may read once more, after a GPU was lost
            text = self.run_commands(arguments, variables)
        if text != expected:
            self.fail(f"{name} differs from {path.name}:\n" + "".join(difflib.unified_diff(
                expected.splitlines(True), text.splitlines(True), "expected", "actual", n=4)))

    def test_machines(self):
        for path in sorted(MACHINES.glob("*.json")):
            with self.subTest(path.stem):
                self.compare(path.stem, ["--machine", str(path.relative_to(SOURCE))])

    def make_roots(self, **files):
        """Writes files of drivers and a tree of the host; returns the files' paths and hmn's environment."""
        proc = self.folder / "proc"
        (proc / "self").mkdir(parents=True)
        (proc / "self/statm").write_text("4096 2816 1024 1 0 512 0\n")
        (proc / "meminfo").write_text("".join(f"{key}: {value} kB\n" for key, value in MEMINFO.items()))
        empty = self.folder / "empty"
        empty.mkdir()
        paths = {}
        for name, content in files.items():
            paths[name] = self.folder / f"{name}.json"
            paths[name].write_text(json.dumps(content))
        missing = str(self.folder / "none")
        return paths, {"HMN_ROCM_SMI": missing, "HMN_AMD_SMI": missing, "HMN_PROC": str(proc), "HMN_SYS": str(empty),
                       "HMN_DEV": str(empty), "HMN_CGROUP": str(empty)}

    def test_nvml(self):
        paths, roots = self.make_roots(scenario=SCENARIO)
        self.compare("nvml", [], HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(paths["scenario"]),
                     HMN_NVIDIA_SMI=str(self.folder / "none"), **roots)

    def test_nvidia_smi(self):
        _, roots = self.make_roots()
        program = self.folder / "nvidia-smi"
        shutil.copy(NVIDIA_SMI, program)
        (self.folder / "nvidia-smi.json").write_text(json.dumps(SMI))
        self.compare("nvidia-smi", [], HMN_NVML=str(self.folder / "none"), HMN_NVIDIA_SMI=str(program), **roots)


if __name__ == "__main__":
    main()
