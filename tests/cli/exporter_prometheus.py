# SPDX-License-Identifier: MIT OR Apache-2.0
"""exporter_prometheus.py NVML: Prometheus itself scrapes `hmn exporter`, and is asked with PromQL."""
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from command import MACHINES, Machines, card, environment, main, run, skip_all
from exporter_server import Server

NVML = sys.argv.pop(1)

# Expressions of the public dashboard of dcgm-exporter (12239), but for that on the tensor pipe.
DCGM_EXPRESSIONS = [
    'DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"}',
    'avg(DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"})',
    'DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"}',
    'sum(DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"})',
    'DCGM_FI_DEV_SM_CLOCK{instance=~"$instance", gpu=~"$gpu"} * 1000000',
    'DCGM_FI_DEV_GPU_UTIL{instance=~"$instance", gpu=~"$gpu"}',
    'DCGM_FI_DEV_FB_USED{instance=~"$instance", gpu=~"$gpu"}']


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Prometheus(contextlib.AbstractContextManager):
    """Debian's Prometheus, which scrapes the exporters each second."""

    def __init__(self, folder, jobs):
        self.port = free_port()
        scrapes = [{"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}
                   for name, server in jobs.items()]
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": scrapes}))
        self.log = open(folder / "prometheus.log", "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self.port}"], env=environment(HOME=str(folder)),
            stdout=self.log, stderr=self.log)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def ask(self, expression):
        """The samples of a vector: labels and number."""
        words = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{words}", timeout=20) as answer:
            return [(each["metric"], float(each["value"][1])) for each in json.load(answer)["data"]["result"]]

    def wait_for(self, expression, seconds=40):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with contextlib.suppress(OSError):
                if found := self.ask(expression):
                    return found
            time.sleep(0.2)
        raise AssertionError(f"{expression}: no answer")

    def number(self, expression):
        [(_, number)] = self.wait_for(expression)
        return number


class Engine(Machines):
    def snapshot(self, machine):
        return json.loads(run("snapshot", "--machine", machine).out)

    def test_answers_are_those_of_the_snapshot(self):
        machines = [MACHINES / name for name in ("server-8gpu.json", "apu.json", "mig-a100.json", "workstation.json")]
        with contextlib.ExitStack() as open_:
            jobs = {machine.stem: open_.enter_context(Server(machine, "--compat", "dcgm")) for machine in machines}
            prometheus = open_.enter_context(Prometheus(self.folder, jobs))
            for machine in machines:
                self.compare(prometheus, machine, self.snapshot(machine))
            for expression in DCGM_EXPRESSIONS:
                expression = expression.replace("$instance", f"127.0.0.1:{jobs['server-8gpu'].port}").replace("$gpu", "0|1")
                self.assertTrue(prometheus.ask(expression), expression)

    def compare(self, prometheus, machine, snapshot):
        job = f'{{job="{machine.stem}"}}'
        prometheus.wait_for(f"hypomnesis_devices{job}")
        identities = {device["index"]: device["uuid"] or device["pci_bus_id"] for device in snapshot["devices"]}
        mains = {identities[pool["device_index"]]: pool for pool in snapshot["pools"] if pool["is_main"]}
        for name, key in (("hw_gpu_memory_usage_bytes", "used_bytes"), ("hw_gpu_memory_limit_bytes", "total_bytes")):
            found = {labels["hw_id"]: number for labels, number in prometheus.ask(name + job)}
            self.assertEqual(found, {of: pool[key] for of, pool in mains.items() if pool[key] is not None})
        found = {labels["hw_id"]: number for labels, number in prometheus.ask("hw_power_watts" + job)}
        self.assertEqual(found, {identities[device["index"]]: device["telemetry"]["power_watts"]
                                 for device in snapshot["devices"]
                                 if device["telemetry"] and device["telemetry"]["power_watts"] is not None})

    def test_counters_survive_a_reload_of_the_driver(self):
        energies = [100, 400, 50, 150]
        changes = [{"after_ms": 3000 * (n + 1), "patch": [
            {"op": "replace", "path": "/devices/0/telemetry/energy_joules", "value": energy}]}
            for n, energy in enumerate(energies[1:])]
        machine = self.machine(devices=[card(uuid="GPU-1", telemetry={"energy_joules": energies[0]})], changes=changes)
        with Server(machine, "--max-age", "1ms") as server, Prometheus(self.folder, {"x": server}) as prometheus:
            prometheus.wait_for("hw_energy_joules_total == 150")
            self.assertEqual(prometheus.number("resets(hw_energy_joules_total[1m])"), 1)
            # 300 before the reload, and 150 after it; the engine extrapolates to the ends.
            self.assertGreater(prometheus.number("increase(hw_energy_joules_total[1m])"), 440)
            self.assertLess(prometheus.number("increase(hw_energy_joules_total[1m])"), 900)
            self.assertEqual(prometheus.ask("hw_energy_joules_total")[0][0]["hw_id"], "GPU-1")

    def test_a_driver_that_hangs_is_seen_and_does_not_blind(self):
        devices = [{"name": "L4", "uuid": f"GPU-{n}", "pci": {"address": f"00000000:0{n}:00.0"},
                    "memory": {"total": "24 GiB", "free": "20 GiB", "used": "4 GiB"}} for n in (1, 2)]
        hung = {"call": "nvmlDeviceGetMemoryInfo*", "device": 1, "hang": True, "from": 6}
        path = self.folder / "scenario.json"
        path.write_text(json.dumps({"driver_version": "550.1", "devices": devices, "rules": [hung]}))
        env = environment(HMN_NVML=NVML, FAKE_NVML_SCENARIO=str(path), HMN_NVIDIA_SMI=str(self.folder / "none"))
        with Server(None, "--max-age", "1ms", env=env) as server, Prometheus(self.folder, {"x": server}) as prometheus:
            prometheus.wait_for('hw_status{hw_id="GPU-2", hw_state="failed"} == 1')
            self.assertEqual(prometheus.number('hw_status{hw_id="GPU-1", hw_state="ok"}'), 1)
            time.sleep(3)
            self.assertEqual(prometheus.number("min_over_time(up[3s])"), 1)
            self.assertEqual(prometheus.number('hw_gpu_memory_usage_bytes{hw_id="GPU-1"}'), 4 << 30)
            self.assertEqual(len(prometheus.ask('count by (hw_id) (last_over_time(hw_status[1m]))')), 2)


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_prometheus", "the server is not built")
    if not shutil.which("prometheus"):
        skip_all("cli.exporter_prometheus", "prometheus is not installed")
    main()
