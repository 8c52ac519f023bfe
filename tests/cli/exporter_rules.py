# SPDX-License-Identifier: MIT OR Apache-2.0
"""contrib/: promtool runs the rules and their tests; the metrics of the dashboard exist, and Prometheus can parse its
expressions."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
CONTRIB = ROOT / "contrib"
RULES = sorted((CONTRIB / "prometheus/rules").glob("*.yml"))
BOARDS = sorted((CONTRIB / "grafana").glob("*.json"))
DEFINED = set(re.findall(r'X\(\w+, "([^"]+)"', (ROOT / "src/cli/exporter/families.def").read_text()))
NAME = re.compile(r"\b((?:hw|hypomnesis|instance:hypomnesis|hypomnesis:)\w*(?::\w+)*)\b(?!=)")
LABELS = {"hw_id", "hw_parent", "hw_type", "hw_state", "hw_name", "hw_gpu_task", "hw_limit_type", "hw_vendor",
          "hypomnesis"}


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)


def recorded_names():
    return {name for path in RULES for name in re.findall(r"record: (\S+)", path.read_text())}


def panel_expressions(board):
    """Yields the expressions of the panels, with Grafana's variables replaced."""
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield re.sub(r"\$\w+", ".*", target["expr"])


def unknown_names(text):
    text = re.sub(r'"[^"]*"', "", text)
    return {name for name in NAME.findall(text)} - DEFINED - recorded_names() - LABELS


class Rules(unittest.TestCase):
    def test_promtool_accepts_the_rules(self):
        self.assertTrue(RULES)
        result = promtool("check", "rules", *RULES)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_unit_tests_of_the_rules_pass(self):
        tests = sorted((CONTRIB / "prometheus/tests").glob("*.yml"))
        result = promtool("test", "rules", *tests)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_each_alert_has_a_test(self):
        cases = (CONTRIB / "prometheus/tests/alerts.yml").read_text()
        for name in re.findall(r"alert: (\w+)", (CONTRIB / "prometheus/rules/hypomnesis-alerts.yml").read_text()):
            self.assertRegex(cases, rf"alertname: {name}\n\s+exp_alerts")
            self.assertRegex(cases, rf"alertname: {name}\}}", "is quiet for a healthy GPU")

    def test_each_metric_in_the_rules_exists(self):
        for path in RULES:
            for expression in re.findall(r"expr: (?:>-\n)?((?:.|\n(?=          ))*)", path.read_text()):
                self.assertEqual(unknown_names(expression), set(), path)
        self.assertEqual(unknown_names("hw_nothing_bytes"), {"hw_nothing_bytes"})


class Pages(unittest.TestCase):
    """Configurations in docs, checked by promtool."""

    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "prometheus.yml"
            path.write_text(text)
            return promtool("check", "config", path)

    def test_promtool_accepts_the_configurations_in_docs(self):
        def blocks(page):
            return [textwrap.dedent(text) for text in re.findall(
                r"(?ms)^ *```yaml\n(.*?)^ *```", (ROOT / "docs" / page).read_text())]
        [local] = blocks("exporter.md")
        job, relabelling = blocks("fleets.md")
        fleet = "scrape_configs:\n" + textwrap.indent(job + textwrap.indent(relabelling, "  "), "  ")
        for text in (local, fleet):
            result = self.check(text)
            self.assertEqual(result.returncode, 0, text + result.stdout + result.stderr)
        self.assertNotEqual(self.check(fleet.replace("regex: hypomnesis_(", "regex: (hypomnesis_(")).returncode, 0)


class Dashboard(unittest.TestCase):
    def test_each_metric_in_the_dashboard_exists(self):
        for path in BOARDS:
            expressions = list(panel_expressions(json.loads(path.read_text())))
            self.assertGreater(len(expressions), 20)
            for expression in expressions:
                self.assertEqual(unknown_names(expression), set(), expression)

    def test_prometheus_parses_each_expression(self):
        rules = [{"record": f"panel:{number}", "expr": expression} for path in BOARDS
                 for number, expression in enumerate(panel_expressions(json.loads(path.read_text())))]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "panels.yml"
            path.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
            result = promtool("check", "rules", path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_panels_do_not_overlap(self):
        for path in BOARDS:
            occupied = set()
            for panel in json.loads(path.read_text())["panels"]:
                position = panel["gridPos"]
                cells = {(x, y) for x in range(position["x"], position["x"] + position["w"])
                         for y in range(position["y"], position["y"] + position["h"])}
                self.assertFalse(occupied & cells, panel["title"])
                occupied |= cells


class Unit(unittest.TestCase):
    """The systemd unit, with a command that exists and without the manual page, which is not installed."""

    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        text = (CONTRIB / "systemd/hypomnesis-exporter.service").read_text()
        text = re.sub("(?m)^Documentation=.*\n", "", text.replace("ExecStart=hmn ", "ExecStart=/bin/true "))
        self.path = pathlib.Path(folder.name) / "hypomnesis-exporter.service"
        self.path.write_text(text)

    def analyze(self, *arguments):
        result = subprocess.run(["systemd-analyze", *arguments, self.path], capture_output=True, text=True)
        return result.returncode, result.stderr

    def test_systemd_accepts_each_setting(self):
        self.assertEqual(self.analyze("verify"), (0, ""))
        self.path.write_text(self.path.read_text().replace("RestartSec=", "RestartSecond="))
        self.assertIn("RestartSecond", self.analyze("verify")[1])

    def test_the_service_has_little_exposure(self):
        self.assertEqual(self.analyze("security", "--offline=true", "--threshold=25"), (0, ""))


class Kubernetes(unittest.TestCase):
    def test_the_kubernetes_folder_is_complete_and_consistent(self):
        folder = CONTRIB / "kubernetes"
        kustomization = (folder / "kustomization.yml").read_text()
        resources = re.search(r"resources: \[(.*)\]", kustomization)[1].split(", ")
        self.assertEqual(set(resources), {path.name for path in folder.glob("*.yml")} - {"kustomization.yml"})
        header = (ROOT / "include/hypomnesis.h").read_text()
        version = ".".join(re.search(rf"#define HMN_VERSION_{part} +(\d+)", header)[1]
                           for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertIn(f"newTag: {version}\n", kustomization)
        self.assertIn(f"-t hypomnesis:{version} ", (CONTRIB / "container/Containerfile").read_text())
        if not shutil.which("kubectl"):
            self.skipTest("kubectl is not installed")
        result = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in ("kind: DaemonSet", "kind: Service", f"image: hypomnesis:{version}", "containerPort: 10077",
                     "runAsNonRoot: true", "readOnlyRootFilesystem: true"):
            self.assertIn(line, result.stdout)


if __name__ == "__main__":
    if not shutil.which("promtool"):
        print("skipped: cli.exporter_rules: promtool is not installed")
        sys.exit(77)
    unittest.main(verbosity=1)
