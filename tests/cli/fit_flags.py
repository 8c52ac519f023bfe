# SPDX-License-Identifier: MIT OR Apache-2.0
"""fit_flags.py PARSER: the flags that `hmn fit` lists, read by llama.cpp's own argument parser.

npm has the parser's library built, and the source of the same release for its headers; both are kept in
build/fit-check. Needs npm, git and g++; skips itself (77) without them or without a network.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "judge"))

from command import Machines, main, parse_json  # noqa: E402
from llama_release import BUILD, LIBRARIES, RELEASE, Unavailable, fetch_release  # noqa: E402

PARSER = BUILD / "flags"
PARSER_SOURCE = sys.argv.pop(1)
MIB, GIB = 1 << 20, 1 << 30


def build_parser():
    try:
        fetch_release()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    headers = [f"-I{RELEASE / folder}" for folder in ("common", "include", "ggml/include", "vendor")]
    libraries = [*LIBRARIES.glob("libllama*.so"), *LIBRARIES.glob("libggml.v*.so"), LIBRARIES / "libggml-base.so"]
    subprocess.run(["g++", "-std=c++17", *headers, PARSER_SOURCE, "-o", PARSER, *libraries,
                    f"-Wl,-rpath,{LIBRARIES}", f"-Wl,-rpath-link,{LIBRARIES}"], check=True)


def parse_flags(flags):
    """What llama.cpp reads, or the text of its error."""
    result = subprocess.run([PARSER, "-m", "model.gguf", *flags.split()], capture_output=True, text=True)
    return json.loads(result.stdout) if result.returncode == 0 else result.stderr


def gpu(free):
    return {"name": "Card", "vendor": "nvidia", "pools": [{"kind": "vram", "total": "64GiB", "free": free}]}


class Flags(Machines):
    def list_options(self, free_sizes, *arguments):
        from fit import Fit  # its files
        path = Fit.write_gguf(self, "model.gguf", layers=24, experts=32 * MIB, attention=64 * MIB)
        machine = {"host": {"system": {"total": "64GiB", "available": "40GiB"}},
                   "devices": [gpu(free) for free in free_sizes]}
        return parse_json(self.run_on(machine, "fit", path, "--json", *arguments).out)["options"]

    def check(self, free_sizes, *arguments, **expected):
        options = self.list_options(free_sizes, *arguments)
        self.assertNotEqual(options, [])
        for option in options:
            parsed = parse_flags(option["flags"])
            self.assertIsInstance(parsed, dict, (option, parsed))
            own_contexts = expected.get("slots", 1)
            self.assertEqual(parsed["context"], option["context"] * own_contexts)
            self.assertEqual(parsed["slots"], expected.get("slots", -1))
            self.assertEqual(parsed["ubatch"], expected.get("ubatch", 512))
            self.assertEqual((parsed["key_type"], parsed["value_type"]), (option["kv_type"],) * 2)
            self.assertEqual(parsed["expert_layers"], option["expert_layers_in_ram"])
            self.assertEqual(parsed["flash_attention"], expected.get("flash_attention", -1))  # -1: automatic
            if option["gpu_layers"] == 24:
                self.assertGreaterEqual(parsed["layers"], 25)  # and the output
            elif option["gpu_layers"] != 0:
                self.assertEqual(parsed["layers"], option["gpu_layers"] + 1)
            else:
                self.assertEqual(parsed["devices"], 1)  # the one for "none"
        return options

    def test_the_parser_refuses_what_it_does_not_know(self):
        self.assertIn("invalid argument: --bogus", parse_flags("-c 4096 --bogus"))

    def test_the_flags_of_each_option_mean_what_it_says(self):
        texts = set()
        for free in ("20GiB", "8400MiB", "6GiB", "3GiB", "1500MiB"):
            texts |= {option["text"] for option in self.check([free], "--context", "32K")}
        for part in ("all on the GPU", "experts of ", " layers on the GPU", "q8_0 cache", "shorter context"):
            self.assertTrue(any(part in text for text in texts), (part, texts))
        self.check([], "--context", "32K")

    def test_the_flags_of_the_requested_settings(self):
        self.check(["20GiB"], "--batch", "3", slots=3)
        self.check(["20GiB"], "--ubatch", "256", ubatch=256)
        self.check(["20GiB"], "--no-flash-attention", flash_attention=0)
        self.check(["20GiB"], "--kv-type", "iq4_nl")

    def test_a_split_gives_each_device_its_layers(self):
        option, = self.check(["6GiB", "4GiB"], "--device", "all")
        parsed = parse_flags(option["flags"])
        self.assertEqual(sum(parsed["split"]), 25)


if __name__ == "__main__":
    build_parser()
    main()
