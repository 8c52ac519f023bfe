# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn fit`, compared with what llama.cpp itself allocates: tests/cli/judge/table.json, which scripts/fit-check writes."""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "judge"))

import comparison  # noqa: E402
import models  # noqa: E402
from command import SOURCE, main, unittest  # noqa: E402

PERCENT_OF_WEIGHTS = 0.5
# Models of which llama.cpp may reserve more than the upper end of the working memory, and that share of it.
MORE_WORKING_MEMORY = {"Mamba-Codestral-7B": 0.68, "chameleon": 0.62, "cogvlm": 0.98, "gemma4": 0.98,
                       "gemma4 without shared caches": 0.98}


class Judged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            cls.lines = [(entry, line) for entry in comparison.read_table()
                         for line in comparison.compare(entry, pathlib.Path(name))]

    def select(self, *items):
        return [(entry, line) for entry, line in self.lines if line.item in items]

    def test_caches_and_states_are_exact(self):
        for entry, line in self.select("cache"):
            with self.subTest(f"{entry['name']}, {line.setting}"):
                self.assertEqual(line.ours, line.low)

    def test_the_upper_end_of_the_working_memory_is_enough(self):
        for entry, line in self.select("working"):
            with self.subTest(f"{entry['name']}, {line.setting}", ours=line.ours, judge=line.high):
                share = MORE_WORKING_MEMORY.get(entry["name"], 1)
                self.assertGreaterEqual(line.ours, line.high * share)

    def test_the_lower_end_of_the_working_memory_is_rarely_too_high(self):
        lines = [line for _, line in self.select("least")]
        self.assertLess(sum(line.ours > line.high for line in lines), len(lines) / 50)

    def test_weights_are_right_or_a_line_says_why_not(self):
        for entry, line in self.select("weights", "parameters"):
            with self.subTest(f"{entry['name']}, {line.item}", ours=line.ours, right=line.low, notes=line.notes):
                if line.precision == "counted":
                    self.assertLess(abs(comparison.find_error(line)), PERCENT_OF_WEIGHTS)

    def test_a_setting_that_llama_cpp_refuses_is_refused(self):
        for entry, line in self.select("file"):
            with self.subTest(f"{entry['name']}, {line.setting}"):
                self.assertEqual(line.low is None, line.ours is None, line.notes)

    def test_every_architecture_of_llama_cpp_is_judged_or_refused(self):
        judged = {entry["architecture"] for entry in comparison.read_table()}
        refused = {name for names in models.REFUSED.values() for name in names}
        self.assertFalse(judged & refused)
        text = (SOURCE / "src" / "cli" / "fit" / "architecture.cpp").read_text()
        known = set(" ".join(re.findall(r'"([^"]*)"', " ".join(
            re.findall(r"\.gguf = ((?:\s*\"[^\"]*\")+)", text)))).split())
        self.assertEqual(judged - known, set())
        self.assertEqual(known - judged - refused - set(models.NOT_JUDGED), set())

    def test_an_architecture_that_writes_no_text_is_refused_with_the_reason(self):
        for reason, names in models.REFUSED.items():
            for name in names:
                with tempfile.TemporaryDirectory() as folder, self.subTest(name):
                    path = pathlib.Path(folder) / "model.gguf"
                    keys = {f"{name}.{key}": value for key, value in models.SMALL.items()}
                    comparison.write_gguf(path, {"general.architecture": name} | keys,
                                          [("token_embd.weight", "F16", [2048, 32000])])
                    result = comparison.run_fit(pathlib.Path(folder), path)
                    self.assertNotIn(result.returncode, (0, 3, 4))
                    self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    main()
