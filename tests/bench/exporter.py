#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""exporter.py HMN [--scrapes N] [--fleet N [--minutes M]]: what `hmn exporter` costs, compared with node_exporter where
it is installed; with --fleet, what N exporters of simulated machines cost that one Prometheus scrapes. The numbers of
docs/exporter.md and docs/fleets.md are its output."""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

MACHINES = pathlib.Path(__file__).resolve().parents[2] / "examples/machines"
INTERVAL_S = 15


class Running(contextlib.AbstractContextManager):
    """A program that serves /metrics."""

    def __init__(self, words, port=None, log=subprocess.DEVNULL):
        self.process = subprocess.Popen(words, stderr=log if port else subprocess.PIPE, stdout=log, text=True)
        self.port = port or int(re.search(r":(\d+)/", self.process.stderr.readline())[1])

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def processor_time(self):
        """Seconds, of all threads; those that ended are missing."""
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    def kib(self, file, key):
        text = pathlib.Path(f"/proc/{self.process.pid}/{file}").read_text()
        return int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M)[1])


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def exporter(hmn, machine):
    return Running([hmn, "exporter", "--listen", "127.0.0.1:0", "--max-age", "1ms", "--machine", MACHINES / machine])


def scrape(connection):
    connection.request("GET", "/metrics")
    return connection.getresponse().read().decode()


def measure(name, program, scrapes):
    connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
    for _ in range(100):
        text = scrape(connection)
    before, inside = program.processor_time(), []
    for _ in range(scrapes):
        text = scrape(connection)
        inside += map(float, re.findall(r"^hypomnesis_snapshot_duration_seconds (\S+)", text, re.M))
        time.sleep(0.005)
    spent = (program.processor_time() - before) / scrapes
    before = program.processor_time()
    time.sleep(10)
    idle = (program.processor_time() - before) / 10
    series = sum(not line.startswith("#") for line in text.splitlines())
    snapshot = f", snapshot inside {statistics.median(inside) * 1e3:.3f} ms" if inside else ""
    print(f"{name}: {series} series, {len(text)} bytes; a scrape {spent * 1e3:.3f} ms of processor time{snapshot}, "
          f"{spent * 1e6 / series:.2f} us a series; idle {idle * 100:.5f} % of a core; "
          f"resident {program.kib('status', 'VmRSS') / 1024:.1f} MiB, of it own "
          f"{program.kib('status', 'RssAnon') / 1024:.1f}, proportional "
          f"{program.kib('smaps_rollup', 'Pss') / 1024:.1f}", flush=True)


def node_exporter():
    port = free_port()
    program = Running(["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}"], port)
    for _ in range(100):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            break
        time.sleep(0.1)
    return program


def ask(port, expression):
    words = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{words}", timeout=60) as answer:
        found = json.load(answer)["data"]["result"]
    return float(found[0]["value"][1]) if found else None


def fleet(hmn, count, minutes):
    with contextlib.ExitStack() as open_, tempfile.TemporaryDirectory() as folder:
        all_ = [open_.enter_context(exporter(hmn, "server-8gpu.json")) for _ in range(count)]
        config = pathlib.Path(folder) / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": f"{INTERVAL_S}s"}, "scrape_configs": [{
                "job_name": "hypomnesis",
                "static_configs": [{"targets": [f"127.0.0.1:{each.port}" for each in all_]}]}]}))
        port = free_port()
        prometheus = open_.enter_context(Running([
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}"], port))
        time.sleep(4 * INTERVAL_S)
        begun = time.monotonic()
        engine, exporters = prometheus.processor_time(), sum(each.processor_time() for each in all_)
        time.sleep(minutes * 60)
        seconds = time.monotonic() - begun
        engine, exporters = prometheus.processor_time() - engine, sum(each.processor_time() for each in all_) - exporters
        series = ask(port, 'count({__name__!=""})')
        memory = prometheus.kib("status", "VmRSS")
        print(f"{count} exporters, {minutes} minutes, each {INTERVAL_S} s: {series:.0f} series, "
              f"{series / count:.0f} a node; {ask(port, 'sum(scrape_samples_scraped)'):.0f} samples a round, "
              f"{ask(port, 'count(up == 0)') or 0:.0f} down\n"
              f"Prometheus: resident {memory / 2**20:.2f} GiB, {memory * 1024 / series:.0f} bytes a series, "
              f"{engine / seconds:.3f} of a core\n"
              f"exporters: {exporters / seconds:.3f} of a core; proportional set size, median "
              f"{statistics.median(each.kib('smaps_rollup', 'Pss') for each in all_) / 1024:.2f} MiB\n"
              f"time of a scrape: median {ask(port, 'quantile(0.5, scrape_duration_seconds)') * 1e3:.0f} ms, "
              f"99th percentile {ask(port, 'quantile(0.99, scrape_duration_seconds)') * 1e3:.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hmn")
    parser.add_argument("--scrapes", type=int, default=1000)
    parser.add_argument("--fleet", type=int)
    parser.add_argument("--minutes", type=float, default=5)
    how = parser.parse_args()
    if how.fleet:
        return fleet(how.hmn, how.fleet, how.minutes)
    for machine in ("workstation.json", "server-8gpu.json"):
        with exporter(how.hmn, machine) as program:
            measure(machine, program, how.scrapes)
    with contextlib.suppress(FileNotFoundError), node_exporter() as program:
        measure("node_exporter", program, how.scrapes)


if __name__ == "__main__":
    main()
