# SPDX-License-Identifier: MIT OR Apache-2.0
"""exporter_prometheus.py NVML: Prometheus scrapes `hmn exporter`, and is queried with PromQL."""
import contextlib
import http.server
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.parse
import urllib.request

from command import MACHINES, SOURCE, Machines, card, environment, main, run, skip_all
from exporter_server import Server
from exposition import parse

NVML = sys.argv.pop(1)

# Expressions of the public dashboard of dcgm-exporter (12239), except the one on the tensor pipe.
DCGM_EXPRESSIONS = [
    'DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"}',
    'avg(DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"})',
    'DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"}',
    'sum(DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"})',
    'DCGM_FI_DEV_SM_CLOCK{instance=~"$instance", gpu=~"$gpu"} * 1000000',
    'DCGM_FI_DEV_GPU_UTIL{instance=~"$instance", gpu=~"$gpu"}',
    'DCGM_FI_DEV_FB_USED{instance=~"$instance", gpu=~"$gpu"}']


# A GPU with every value, and the calls that read them.
GPU = {"name": "NVIDIA L40S", "uuid": "GPU-1", "pci": {"address": "00000000:01:00.0"}, "minor": 0,
       "memory": {"total": "45 GiB", "free": "35 GiB", "used": "10 GiB"},
       "memory_v2": {"total": "45 GiB", "reserved": "1 GiB", "free": "34 GiB", "used": "10 GiB"},
       "utilization": {"gpu": 64, "memory": 12}, "encoder": 31, "decoder": 32, "temperature": 45,
       "temperature_thresholds": {"shutdown": 95, "slowdown": 92}, "power_usage_mw": 58980,
       "power_limit_mw": 300000, "enforced_power_limit_mw": 300000, "default_power_limit_mw": 300000,
       "power_limits_mw": {"min": 100000, "max": 350000}, "energy_mj": 123456, "fans": [40], "pstate": 2,
       "clocks_mhz": {"graphics": 2100, "sm": 2100, "memory": 9001, "video": 1800},
       "max_clocks_mhz": {"graphics": 2520, "sm": 2520, "memory": 9001, "video": 1950},
       "pcie": {"gen": 4, "width": 16, "max_gen": 4, "max_width": 16, "tx_kib_s": 9, "rx_kib_s": 8, "replays": 3},
       "clocks_event_reasons": 4, "ecc": {"current": 1, "pending": 1},
       "ecc_errors": {"corrected_volatile": 5, "corrected_aggregate": 6, "uncorrected_volatile": 7,
                      "uncorrected_aggregate": 8},
       "remapped_rows": {"corrected": 1, "uncorrected": 2, "pending": 0, "failed": 0},
       "processes": {"compute": [{"pid": 7, "used": "3 GiB"}]}}
CALLS = ["Memory", "Util", "Temp", "Power", "Clock", "Fan", "Total", "Pcie", "Field", "Enc", "Dec", "Curr", "Perf",
         "MaxClock", "Remapped", "Enforced", "Compute", "Graphics", "Process"]
# Implausible values that cannot be detected: -1 degree, a counter of replays, all reasons to throttle at once, and the
# rows of a list with a wrong count.
UNDETECTED = {"all_bits": {("hw_temperature_celsius", -1)},
              "huge": {("hw_errors_total", 0x77777777), ("hypomnesis_throttle", 1),
                       ("hypomnesis_process_gpu_memory_usage_bytes", 3 << 30), ("hypomnesis_workloads_left_out", 0),
                       ("hypomnesis_lower_bound", 1)}}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Prometheus(contextlib.AbstractContextManager):
    """Prometheus, as packaged by Debian, which scrapes the exporters each second."""

    def __init__(self, folder, jobs, rules=()):
        self.port = free_port()
        scrapes = [{"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}
                   for name, server in jobs.items()]
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": list(map(str, rules)), "scrape_configs": scrapes}))
        self.log = open(folder / "prometheus.log", "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self.port}"], env=environment(HOME=str(folder)),
            stdout=self.log, stderr=self.log)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def fetch_results(self, expression):
        words = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{words}", timeout=20) as answer:
            return json.load(answer)["data"]["result"]

    def query(self, expression):
        """Returns the samples of a vector: labels and number."""
        return [(result["metric"], float(result["value"][1])) for result in self.fetch_results(expression)]

    def query_history(self, series):
        """Returns all samples of the last minute: name and number."""
        return {(result["metric"]["__name__"], float(number)) for result in self.fetch_results(f"{series}[1m]")
                for _, number in result["values"]}

    def wait_for(self, expression, seconds=40):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if samples := self.query(expression):
                    return samples
            time.sleep(0.2)
        raise AssertionError(f"{expression}: no answer")

    def query_number(self, expression):
        [(_, number)] = self.wait_for(expression)
        return number


class ConstantServer(contextlib.AbstractContextManager):
    """Serves a text of metrics, as kube-state-metrics does."""

    def __init__(self, text):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever).start()

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Dashboard(Machines):
    def test_each_panel_has_data(self):
        id_ = "0123456789abcdef" * 4
        machine = self.write_machine(devices=[card(uuid="GPU-1", processes=[
            {"pid": 7, "used": "1GiB", "evicted": "512MiB", "container": f"containerd:{id_}"}])])
        info = ('kube_pod_container_info{namespace="train",pod="p",container="main",uid="u",'
                f'container_id="containerd://{id_}"}} 1\n')
        board = json.loads((SOURCE / "contrib/grafana/hypomnesis.json").read_text())
        with contextlib.ExitStack() as stack:
            machines = [machine, *sorted(MACHINES.glob("*.json"))]
            jobs = {str(number): stack.enter_context(
                Server(machine, "--per", "process,user,container,pod,job,unit"))
                for number, machine in enumerate(machines)}
            jobs["kube-state-metrics"] = stack.enter_context(ConstantServer(info))
            rules = sorted((SOURCE / "contrib/prometheus/rules").glob("*.yml"))
            prometheus = stack.enter_context(Prometheus(self.folder, jobs, rules))
            for panel in board["panels"]:
                for target in panel.get("targets", []):
                    expression = target["expr"].replace("$instance", ".*").replace("$gpu", ".*")
                    with self.subTest(panel["title"]):
                        prometheus.wait_for(expression)
            [(pod, number)] = prometheus.wait_for("hypomnesis:pod_container_gpu_memory_usage_bytes")
            self.assertEqual((pod["pod"], pod["namespace"], number), ("p", "train", 1 << 30))
            self.assertEqual(
                prometheus.query("instance:hypomnesis_gpus:count unless instance:hypomnesis_gpus:count > 0"), [])
            prometheus.wait_for("instance:hypomnesis_power_watts:sum")
            self.check_federation(prometheus)
            with urllib.request.urlopen(f"http://127.0.0.1:{prometheus.port}/api/v1/rules", timeout=20) as answer:
                for group in json.load(answer)["data"]["groups"]:
                    self.assertEqual([rule for rule in group["rules"] if rule["health"] == "err"], [])


    def check_federation(self, prometheus):
        """Checks the selectors in docs/fleets.md, which federate the sums of each node."""
        page = (SOURCE / "docs/fleets.md").read_text()
        [selectors] = re.findall(r'"match\[\]": \[(.*)\]\}', page)
        words = urllib.parse.urlencode([("match[]", selector) for selector in re.findall("'([^']*)'", selectors)])
        with urllib.request.urlopen(f"http://127.0.0.1:{prometheus.port}/federate?{words}", timeout=20) as answer:
            names = {line.split("{")[0] for line in answer.read().decode().splitlines() if not line.startswith("#")}
        rules = (SOURCE / "contrib/prometheus/rules/hypomnesis-fleet.yml").read_text()
        self.assertEqual(names, set(re.findall(r"record: (\S+)", rules)) & names)
        self.assertLessEqual({"instance:hypomnesis_power_watts:sum", "instance:hypomnesis_gpus:count"}, names)


class Engine(Machines):
    def snapshot(self, machine):
        return json.loads(run("snapshot", "--machine", machine).out)

    def test_prometheus_has_the_values_of_the_snapshot(self):
        machines = [MACHINES / name for name in ("server-8gpu.json", "apu.json", "mig-a100.json", "workstation.json")]
        with contextlib.ExitStack() as stack:
            jobs = {machine.stem: stack.enter_context(Server(machine, "--compat", "dcgm")) for machine in machines}
            prometheus = stack.enter_context(Prometheus(self.folder, jobs))
            for machine in machines:
                self.compare(prometheus, machine, self.snapshot(machine))
            for expression in DCGM_EXPRESSIONS:
                expression = expression.replace("$instance", f"127.0.0.1:{jobs['server-8gpu'].port}").replace("$gpu", "0|1")
                self.assertTrue(prometheus.query(expression), expression)
            energy = prometheus.query('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{job="workstation"}')
            self.assertEqual([number for _, number in energy], [8413077500])

    def compare(self, prometheus, machine, snapshot):
        job = f'job="{machine.stem}"'
        prometheus.wait_for(f"hypomnesis_devices{{{job}}}")
        identities = {device["index"]: device["uuid"] or device["pci_bus_id"] for device in snapshot["devices"]}
        mains = {identities[pool["device_index"]]: pool for pool in snapshot["pools"] if pool["is_main"]}
        readings = {identities[device["index"]]: device["telemetry"] or {} for device in snapshot["devices"]}
        for rows, name, labels, key, label, divisor in (
                (mains, "hw_gpu_memory_usage_bytes", "", "used_bytes", "hw_id", 1),
                (mains, "hw_gpu_memory_limit_bytes", "", "total_bytes", "hw_id", 1),
                (readings, "hw_power_watts", "", "power_watts", "hw_id", 1),
                (readings, "hw_energy_joules_total", "", "energy_joules", "hw_id", 1),
                (readings, "hw_gpu_utilization_ratio", ',hw_gpu_task="general"', "gpu_busy_percent", "hw_id", 100),
                (readings, "hw_temperature_celsius", ',hw_name="core"', "temperature_celsius", "hw_parent", 1)):
            numbers = {labels_[label]: number for labels_, number in prometheus.query(f"{name}{{{job}{labels}}}")}
            expected = {identity: row[key] / divisor for identity, row in rows.items() if row.get(key) is not None}
            self.assertEqual(numbers, expected, (machine.stem, name))

    def test_a_change_of_the_machine_reaches_prometheus(self):
        changes = [{"at_reading": 8, "patch": [
            {"op": "replace", "path": "/devices/0/telemetry/power_watts", "value": 58.98},
            {"op": "replace", "path": "/devices/0/telemetry/gpu_busy_percent", "value": 12.3}]}]
        machine = self.write_machine(devices=[card(uuid="GPU-1", telemetry={"power_watts": 20, "gpu_busy_percent": 1})],
                                     changes=changes)
        with Server(machine, "--max-age", "1ms") as server, Prometheus(self.folder, {"x": server}) as prometheus:
            prometheus.wait_for("hw_power_watts == 20")
            prometheus.wait_for("hw_power_watts == 58.98")
            self.assertEqual(prometheus.query_number('hw_gpu_utilization_ratio{hw_gpu_task="general"}'), 0.123)

    def test_this_machine_has_the_values_of_its_snapshot(self):
        snapshot = json.loads(run("snapshot").out)
        with Server(None) as server, Prometheus(self.folder, {"x": server}) as prometheus:
            self.assertEqual(prometheus.query_number("hypomnesis_host_memory_size_bytes"),
                             snapshot["system"]["total_bytes"])
            self.assertEqual(prometheus.query_number("hypomnesis_devices"), len(snapshot["devices"]))
            sizes = {pool["total_bytes"] for pool in snapshot["pools"] if pool["is_main"] and pool["total_bytes"]}
            self.assertEqual({number for _, number in prometheus.query("hw_gpu_memory_limit_bytes")}, sizes)

    def test_node_exporter_serves_the_text_file(self):
        if not shutil.which("prometheus-node-exporter"):
            self.skipTest("prometheus-node-exporter is not installed")
        machine, port = MACHINES / "workstation.json", free_port()
        path = self.folder / "textfile" / "hypomnesis.prom"
        path.parent.mkdir()
        self.assertEqual(run("exporter", "--textfile", path, "--machine", machine).code, 0)
        words = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                 f"--collector.textfile.directory={path.parent}", f"--web.listen-address=127.0.0.1:{port}"]
        with open(self.folder / "node_exporter.log", "w") as log, subprocess.Popen(words, stderr=log) as process:
            try:
                with Prometheus(self.folder, {"x": types.SimpleNamespace(port=port)}) as prometheus:
                    self.assertEqual(prometheus.query_number("node_textfile_scrape_error"), 0)
                    self.assertEqual(prometheus.query_number("hw_gpu_memory_usage_bytes"), 14586740736)
                    families = parse(path.read_text())
                    for name in families:
                        self.assertEqual(len(prometheus.query(name)), len(families[name].samples), name)
            finally:
                process.terminate()

    def test_counters_survive_a_driver_reload(self):
        energies = [100, 400, 50, 150]
        changes = [{"at_reading": 5 * (n + 1), "patch": [
            {"op": "replace", "path": "/devices/0/telemetry/energy_joules", "value": energy}]}
            for n, energy in enumerate(energies[1:])]
        machine = self.write_machine(devices=[card(uuid="GPU-1", telemetry={"energy_joules": energies[0]})],
                                     changes=changes)
        with Server(machine, "--max-age", "1ms") as server, Prometheus(self.folder, {"x": server}) as prometheus:
            prometheus.wait_for("hw_energy_joules_total == 150")
            self.assertEqual(prometheus.query_number("resets(hw_energy_joules_total[1m])"), 1)
            # 300 before the reload, and 150 after it; the engine extrapolates to the ends.
            self.assertGreater(prometheus.query_number("increase(hw_energy_joules_total[1m])"), 440)
            self.assertLess(prometheus.query_number("increase(hw_energy_joules_total[1m])"), 900)
            self.assertEqual(prometheus.query("hw_energy_joules_total")[0][0]["hw_id"], "GPU-1")

    def test_a_lost_or_removed_device_leaves_no_stale_values(self):
        lost = {"op": "add", "path": "/devices/1/state", "value": "lost"}
        back = [{"op": "add", "path": "/devices/1/state", "value": "ready"},
                {"op": "replace", "path": "/devices/1/telemetry/energy_joules", "value": 5}]
        changes = [{"at_reading": 5, "patch": [lost]}, {"at_reading": 10, "patch": back},
                   {"at_reading": 15, "patch": [{"op": "remove", "path": "/devices/1"}]}]
        devices = [card(uuid=f"GPU-{n}", telemetry={"energy_joules": 1000, "power_watts": 50}) for n in (1, 2)]
        machine = self.write_machine(devices=devices, changes=changes)
        second = '{hw_id="GPU-2"}'
        with Server(machine, "--max-age", "1ms") as server, Prometheus(self.folder, {"x": server}) as prometheus:
            prometheus.wait_for(f"hw_energy_joules_total{second} == 1000")
            prometheus.wait_for('hypomnesis_device_state{hw_id="GPU-2",state="lost"} == 1')
            for name in ("hw_power_watts", "hw_gpu_memory_usage_bytes", "hw_energy_joules_total"):
                self.assertEqual(len(prometheus.query(name)), 1, name)
            prometheus.wait_for(f"hw_energy_joules_total{second} == 5")
            self.assertEqual(prometheus.query_number(f"resets(hw_energy_joules_total{second}[1m])"), 1)
            prometheus.wait_for(f"absent(hw_power_watts{second})")  # removed
            self.assertEqual(len(prometheus.query("hw_power_watts")), 1)
            self.assertEqual(prometheus.query_number('hw_status{hw_id="GPU-2",hw_state="failed"}'), 1)
            self.assertEqual(prometheus.query_history("hw_energy_joules_total"),
                             {("hw_energy_joules_total", 1000), ("hw_energy_joules_total", 5)})

    def make_environment(self, name, **scenario):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"driver_version": "550.1"} | scenario))
        return environment(HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(path), HMN_NVIDIA_SMI=str(self.folder / "none"))

    def test_implausible_driver_values_never_reach_prometheus(self):
        lies = ("untouched", "all_bits", "huge")
        with contextlib.ExitStack() as stack:
            jobs = {"none": stack.enter_context(Server(
                None, "--max-age", "1ms", "--per", "process", env=self.make_environment("none", devices=[GPU])))}
            for lie in lies:
                rules = [{"call": f"nvmlDeviceGet{call}*", "lie": lie, "from": 6} for call in CALLS]
                env = self.make_environment(lie, devices=[GPU], rules=rules)
                jobs[lie] = stack.enter_context(Server(None, "--max-age", "1ms", "--per", "process", env=env))
            prometheus = stack.enter_context(Prometheus(self.folder, jobs))
            for lie in lies:
                prometheus.wait_for(f'last_over_time(hw_gpu_memory_usage_bytes{{job="{lie}"}}[1m]) == 10 * 2^30')
                prometheus.wait_for(f"absent({self.select_series(lie, UNDETECTED.get(lie, set()))})")
            believable = prometheus.query_history(self.select_series("none"))
            self.assertGreater(len(believable), 30)
            for lie in lies:
                undetected = UNDETECTED.get(lie, set())
                self.assertEqual(prometheus.query_history(self.select_series(lie)) - believable - undetected, set(),
                                 lie)

    def select_series(self, job, exceptions=()):
        """Returns a selector for the values of the GPU itself, not for the states of its readings."""
        excluded = "|".join(["hypomnesis_(device_.*|reading_.*)", "hw_status", *(name for name, _ in exceptions)])
        return f'{{job="{job}",hw_id=~"GPU-1.*",__name__!~"{excluded}"}}'

    def test_a_hung_gpu_is_reported_and_the_others_are_still_scraped(self):
        devices = [{"name": "L4", "uuid": f"GPU-{n}", "pci": {"address": f"00000000:0{n}:00.0"},
                    "memory": {"total": "24 GiB", "free": "20 GiB", "used": "4 GiB"}} for n in (1, 2)]
        rule = {"call": "nvmlDeviceGetMemoryInfo*", "device": 1, "hang": True, "from": 6}
        path = self.folder / "scenario.json"
        path.write_text(json.dumps({"driver_version": "550.1", "devices": devices, "rules": [rule]}))
        env = environment(HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(path), HMN_NVIDIA_SMI=str(self.folder / "none"))
        with Server(None, "--max-age", "1ms", env=env) as server, Prometheus(self.folder, {"x": server}) as prometheus:
            prometheus.wait_for('hw_status{hw_id="GPU-2", hw_state="failed"} == 1')
            self.assertEqual(prometheus.query_number('hw_status{hw_id="GPU-1", hw_state="ok"}'), 1)
            time.sleep(3)
            self.assertEqual(prometheus.query_number("min_over_time(up[3s])"), 1)
            self.assertEqual(prometheus.query_number('hw_gpu_memory_usage_bytes{hw_id="GPU-1"}'), 4 << 30)
            self.assertEqual(len(prometheus.query('count by (hw_id) (last_over_time(hw_status[1m]))')), 2)


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_prometheus", "the server is not built")
    if not shutil.which("prometheus"):
        skip_all("cli.exporter_prometheus", "prometheus is not installed")
    main()
