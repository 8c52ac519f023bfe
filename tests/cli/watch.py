# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn watch`, on machines that change."""
import json
import signal
import subprocess

import jsonschema

from command import COMMAND, MIB, SOURCE, Machines, environment, main, parse_json

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "watch.schema.json").read_text())
VRAM = {"kind": "vram", "total": "16GiB", "used": "8GiB"}
GTT = {"kind": "host", "total": "32GiB", "used": "128MiB"}
FAST = ("--interval", "50ms", "--duration", "100ms")


def row(pid, size, name="work", **keys):
    return {"pid": pid, "used": size, "host_pool": "1MiB", "name": name} | keys


def card(*rows, **keys):
    return {"name": "Card", "vendor": "amd", "pools": [VRAM, GTT], "processes": list(rows)} | keys


def change_processes(reading, *rows, patches=()):
    return {"at_reading": reading, "patch": [
        {"op": "replace", "path": "/devices/0/processes", "value": list(rows)}, *patches]}


FULL = [{"op": "replace", "path": "/devices/0/pools/0/used", "value": "15GiB"},
        {"op": "replace", "path": "/devices/0/pools/1/used", "value": "384MiB"}]


class Watch(Machines):
    def run_watch(self, machine, *arguments, code=0):
        result = self.run_on(machine, "watch", "--json", *arguments)
        self.assertEqual(result.code, code, result.err)
        records = [parse_json(line) for line in result.out.splitlines()]
        for record in records:
            jsonschema.validate(record, SCHEMA)
        return records[:-1], records[-1], result.err

    def test_samples_keep_the_interval_with_one_at_the_end(self):
        samples, summary, err = self.run_watch({"devices": [card(row(7, "1GiB"))]}, "--interval", "2s",
                                               "--duration", "100ms")
        self.assertEqual([sample["kind"] for sample in samples], ["sample", "sample"])
        self.assertEqual(samples[0]["t_ms"], 0)
        self.assertGreaterEqual(samples[1]["t_ms"], 100)
        self.assertEqual(summary["kind"], "summary")
        self.assertEqual(err, "hmn watch: device 0 [Card], interval 2s, watching 1 process (top 5 by VRAM)\n")

    def test_processes_are_selected_by_name_and_order(self):
        rows = [row(7, "1GiB", "python3", host_resident="1GiB"), row(8, "3GiB", "game"),
                row(9, "2GiB", "python3", host_resident="2GiB")]
        machine = {"devices": [card(*rows)]}

        def select(*arguments):
            samples, _, err = self.run_watch(machine, *FAST, *arguments)
            return [sample["pid"] for sample in samples if sample["t_ms"] == 0], err
        self.assertEqual(select("--match", "py*"), ([9, 7], "hmn watch: device 0 [Card], interval 0.05s, watching 2 "
                                                    "processes (top 5 by VRAM with name=py*)\n"))
        self.assertEqual(select("--match", "py*", "--top", "1")[0], [9])
        self.assertEqual(select("--sort", "pid")[0], [7, 8, 9])
        self.assertEqual(select("--sort", "ram")[0], [9, 7, 8])
        self.assertIn("(top 5 by RAM)", select("--sort", "ram")[1])
        self.assertIn("following top 5 by name (", select("--sort", "name", "--follow-new")[1])
        result = self.run_on(machine, "watch", "--match", "none")
        self.assertEqual((result.code, result.err), (
            2, "hmn: watch found no GPU processes matching name=none on device 0 to auto-select (top 5); re-run with "
            "an explicit PID once a workload is running\n"))

    def test_follow_new_selects_by_name_at_each_sample(self):
        machine = {"devices": [card(row(7, "1GiB", "a"))],
                   "changes": [change_processes(3, row(7, "1GiB", "a"), row(8, "2GiB", "b"), row(9, "2GiB", "c"))]}
        samples, _, err = self.run_watch(machine, *FAST, "--follow-new", "--match", "[bc]", "--top", "1")
        self.assertEqual({sample["pid"] for sample in samples}, {8})
        self.assertIn("no GPU processes matching name=[bc] on device 0 yet", err)

    def test_changes_and_peaks_are_relative_to_the_first_sample(self):
        machine = {"devices": [card(row(7, "1GiB"))], "changes": [change_processes(3, row(7, "1029MiB"))]}
        samples, summary, _ = self.run_watch(machine, "7", *FAST)
        self.assertEqual([sample["used_delta_bytes"] for sample in samples[:2]], [0, 5 * MIB])
        self.assertEqual(summary["per_pid"], [{
            "pid": 7, "name": "work", "baseline_used_bytes": 1024 * MIB, "peak_used_bytes": 1029 * MIB,
            "baseline_shared_bytes": MIB, "peak_shared_bytes": MIB}])

    def test_a_spill_sets_the_exit_code(self):
        machine = {"devices": [card(row(7, "1GiB"))], "changes": [change_processes(3, row(7, "1GiB"), patches=FULL)]}
        samples, summary, _ = self.run_watch(machine, *FAST, code=1)
        self.assertEqual([sample["spilling"] for sample in samples[:2]], [False, True])
        self.assertEqual((summary["spilled"], summary["episode_count"]), (True, 1))
        result = self.run_on(machine, "watch", *FAST)
        self.assertEqual(result.code, 1)
        self.assertIn("SPILL\n", result.out)
        self.assertIn("hmn watch: peak dedicated 15.0 GiB / 16.0 GiB\n", result.out)

    def test_an_unmeasurable_spill_is_reported_in_text_and_json(self):
        machine = {"devices": [{"vendor": "nvidia", "pools": [VRAM], "processes": [row(7, "1GiB")]}]}
        samples, summary, err = self.run_watch(machine, *FAST)
        self.assertEqual({sample["spilling"] for sample in samples}, {None})
        self.assertEqual((summary["measurable"], summary["peak_shared_bytes"]), (False, None))
        self.assertIn("spill not measurable", err)
        self.assertIn("hmn watch: spill not measurable: ", self.run_on(machine, "watch", *FAST).out)

    def test_a_stale_value_counts_neither_as_growth_nor_as_a_peak(self):
        stale = row(7, "3GiB", notes=["stale"])
        machine = {"devices": [card(row(7, "1GiB"), row(8, "512MiB"))], "changes": [
            change_processes(3, stale, row(8, "512MiB", notes=["stale"])),
            change_processes(4, row(7, "1GiB"), row(8, "512MiB"))]}
        samples, summary, err = self.run_watch(machine, "--interval", "50ms", "--duration", "200ms")
        values = [(sample["used_bytes"], sample["used_delta_bytes"], sample["state"]) for sample in samples
                  if sample["pid"] == 7]
        self.assertEqual(values[:3], [(1024 * MIB, 0, "uses"), (None, None, "uses"), (1024 * MIB, 0, "uses")])
        self.assertEqual({process["peak_used_bytes"] for process in summary["per_pid"]}, {1024 * MIB, 512 * MIB})
        self.assertRegex(err, r"hmn watch: values at \+\d\.\d+s are not counted: stale: \d+\.\d s old\n")

    def test_a_stale_list_does_not_change_the_followed_processes(self):
        rows = [row(pid, f"{size}GiB", name) for pid, size, name in ((7, 1, "z"), (8, 2, "a"), (9, 3, "m"))]
        stale = [process | {"notes": ["stale"]} for process in rows]
        machine = {"devices": [card(*rows)], "changes": [change_processes(3, *stale)]}
        samples, _, err = self.run_watch(machine, "--follow-new", "--top", "2", *FAST)
        self.assertEqual({sample["pid"] for sample in samples}, {9, 8})
        self.assertIn("not counted", err)
        self.assertNotIn("set changed", err)

    def test_exited_differs_from_idle(self):
        machine = {"devices": [card()], "host": {"processes": [{"pid": 11, "name": "lives"}]}}
        samples, _, _ = self.run_watch(machine, "11", "99", "11", *FAST)
        self.assertEqual([(sample["pid"], sample["state"], sample["used_bytes"]) for sample in samples[:2]],
                         [(11, "idle", None), (99, "exited", None)])

    def test_without_a_process_list_the_state_is_unknown(self):
        failures = [{"call": "process_memory", "status": "no_source", "message": "no proc"}]
        machine = {"devices": [card()], "failures": failures}
        samples, _, _ = self.run_watch(machine, "11", "99", *FAST)
        self.assertEqual([sample["state"] for sample in samples[:2]], [None, None])
        self.assertIn("? ", self.run_on(machine, "watch", "99", *FAST).out.splitlines()[2])

    def test_a_reused_pid_is_detected_by_its_start_time(self):
        machine = {"devices": [card(row(7, "1GiB", start_unix_ns=1))],
                   "changes": [change_processes(3, row(7, "2GiB", start_unix_ns=2))]}
        samples, summary, err = self.run_watch(machine, *FAST)
        self.assertEqual([sample["used_delta_bytes"] for sample in samples[:2]], [0, 0])
        self.assertIn("hmn watch: pid=7 is another process now (work -> work); baseline reset\n", err)
        self.assertEqual(summary["per_pid"][0]["baseline_used_bytes"], 2048 * MIB)

    def test_follow_new_follows_new_processes(self):
        machine = {"devices": [card()], "changes": [change_processes(3, row(8, "1GiB", "b"))]}
        samples, _, err = self.run_watch(machine, "--follow-new", *FAST)
        self.assertEqual({sample["pid"] for sample in samples}, {8})
        self.assertIn("waiting for work to appear", err)
        self.assertIn("followed set changed: entered pid=8 (b)\n", err)

    def test_processes_that_come_and_go_are_reported_by_name(self):
        machine = {"devices": [card(row(1, "3GiB", "gone"))], "changes": [
            change_processes(3, row(1, "3GiB", "gone"), row(2, "1GiB", None)),
            change_processes(4, row(2, "1GiB", None), row(3, "2GiB", "new")),
            change_processes(5, row(2, "1GiB", None), row(3, "2GiB", "new")),
            change_processes(6, row(1, "4GiB", "gone"))]}
        with (self.folder / "remarks").open("w+") as notices, subprocess.Popen(
                [*COMMAND, "watch", "--json", "--follow-new", "--interval", "20ms", "--machine",
                 self.write_machine(machine)], env=environment(), stdout=subprocess.PIPE, stderr=notices) as process:
            for line in process.stdout:
                if json.loads(line)["used_bytes"] == 4096 * MIB:
                    break
            process.terminate()
            summary = json.loads(process.stdout.read().splitlines()[-1])
            notices.seek(0)
            err = notices.read()
        set_changes = [line.partition("followed set changed: ")[2] for line in err.splitlines()
                       if "set changed" in line]
        self.assertEqual(set_changes, ["entered pid=2", "entered pid=3 (new); left pid=1 (gone)",
                                "entered pid=1 (gone); left pid=3 (new), pid=2"])
        # In the order of appearance, with their history.
        self.assertEqual([(process["pid"], process["baseline_used_bytes"], process["peak_used_bytes"])
                          for process in summary["per_pid"]],
                         [(1, 3072 * MIB, 4096 * MIB), (2, 1024 * MIB, 1024 * MIB), (3, 2048 * MIB, 2048 * MIB)])

    def test_a_failed_sample_is_reported_and_the_watch_continues(self):
        failures = [{"call": "processes", "status": "backend", "message": "no\x1b answer"}]
        machine = {"devices": [card(row(7, "1GiB"))], "changes": [{"at_reading": 3, "patch": [
            {"op": "add", "path": "/devices/0/failures", "value": failures}]}]}
        samples, summary, err = self.run_watch(machine, *FAST)
        self.assertEqual([sample["t_ms"] for sample in samples], [0])
        self.assertRegex(err, r"hmn watch: sample failed at \+\d+\.\d+s \(no\\x1b answer\); skipping interval\n")
        self.assertEqual([process["pid"] for process in summary["per_pid"]], [7])

    def test_processes_of_a_partitioned_gpu_are_on_its_partitions(self):
        partitions = [{"name": "Part", "uuid": f"MIG-{i}", "pools": [VRAM], "processes": [row(7, "1GiB")]}
                      for i in range(2)]
        machine = {"devices": [{"name": "Card", "vendor": "nvidia", "pools": [VRAM], "partitions": partitions}]}
        for words in ((), ("--follow-new",)):
            result = self.run_on(machine, "watch", "--device", "0", *words)
            self.assertEqual((result.code, result.out, result.err), (2, "", (
                "hmn: watch found no GPU processes on device 0: it is divided, its parts have them (--device 1, 2)\n")))
        samples, _, _ = self.run_watch(machine, "--device", "1", *FAST)
        self.assertEqual({(sample["device_index"], sample["pid"]) for sample in samples}, {(1, 7)})
        lines = map(parse_json, self.run_on(machine, "watch", "--json", *FAST).out.splitlines())
        self.assertEqual({(record["device_index"], record["pid"]) for record in lines if record["kind"] == "sample"},
                         {(1, 7), (2, 7)})

    def test_each_device_has_its_own_top_processes(self):
        machine = {"devices": [card(row(7, "1GiB"), row(8, "2GiB", "b")), card(row(8, "3GiB", "b"), row(9, "1GiB")), card()]}
        result = self.run_on(machine, "watch", "--json", "--top", "1", *FAST)
        *samples, first, second, third = [parse_json(line) for line in result.out.splitlines()]
        for record in (*samples, first, second, third):
            jsonschema.validate(record, SCHEMA)
        self.assertEqual({(sample["device_index"], sample["pid"]) for sample in samples}, {(0, 8), (1, 8)})
        self.assertEqual([(summary["device_index"], [process["pid"] for process in summary["per_pid"]])
                          for summary in (first, second, third)],
                         [(0, [8]), (1, [8]), (2, [])])
        self.assertIn("hmn watch: 3 devices, interval 0.05s, watching 2 processes (top 1 by VRAM of each)\n",
                      result.err)
        text = self.run_on(machine, "watch", "--device", "1,0", *FAST).out
        self.assertRegex(text, r"^ +TIME GPU +PID NAME.*\n +\+0\.00s   1 +8 b .*\n +\+0\.00s   1 +9 work .*\n +\+0\.00s   0 +8 b ")

    def test_a_given_pid_is_followed_to_its_device(self):
        machine = {"devices": [card(), card()], "host": {"processes": [{"pid": 8, "name": "b"}]},
                   "changes": [{"at_reading": 3, "patch": [{"op": "replace", "path": "/devices/1/processes",
                                                            "value": [row(8, "1GiB", "b")]}]}]}
        result = self.run_on(machine, "watch", "--json", "8", "--interval", "50ms", "--duration", "150ms")
        samples = [record for record in map(parse_json, result.out.splitlines()) if record["kind"] == "sample"]
        self.assertEqual((samples[0]["device_index"], samples[0]["state"]), (0, "idle"))
        self.assertEqual((samples[-1]["device_index"], samples[-1]["used_bytes"]), (1, 1024 * MIB))
        self.assertEqual(len(samples), len({sample["t_ms"] for sample in samples}))

    def test_a_failing_device_is_reported_once_and_the_others_continue(self):
        failures = [{"call": "processes", "status": "backend", "message": "no answer"}]
        result = self.run_on({"devices": [card(row(7, "1GiB")), card(failures=failures)]}, "watch", "--json", *FAST)
        self.assertEqual(result.code, 0)
        self.assertEqual(result.err.count("hmn watch: GPU 1: no values at +0.00s (no answer)\n"), 1, result.err)
        self.assertEqual(result.err.count("no answer"), 1)
        self.assertIn('"pid":7', result.out)

    def test_a_pid_without_a_process_is_an_error(self):
        machine = {"devices": [card()], "host": {"processes": [{"pid": 11, "name": "lives"}]}}
        self.assertEqual(self.run_on(machine, "watch", "98", "99", *FAST),
                         (2, "", "hmn: PID 98, 99: no such process\n"))

    def test_nothing_to_follow_and_wrong_usage_exit_with_2(self):
        self.assertEqual(self.run_on({"devices": [card()]}, "watch").code, 2)
        self.assertEqual(self.run_on({"devices": [card(row(7, "1GiB"))]}, "watch", "--top", "0"),
                         (2, "", "hmn: --top 0 follows no process\n"))
        self.assertIn("no GPU to watch: none found: ", self.run_on({"devices": []}, "watch").err)
        for words, message in ((("4294967296",), 'PID "4294967296": expected a whole number from 1 to 4294967295'),
                               (("--top", "4294967296"), "expected a whole number from 0 to 4294967295")):
            self.assertIn(message, self.run_on({"devices": []}, "watch", *words).err)
        for words in (("--follow-new", "7"), ("--match", "x", "7"), ("--sort", "ram", "7"), ("--top", "2", "7"), ("--sort", "size"), ("x",), ("0",), ("--interval", "0.5x"), ("--top", "-1")):
            self.assertEqual(self.run_on({"devices": []}, "watch", *words).code, 2, words)

    def test_samples_are_written_at_once_and_signals_print_the_summary(self):
        machine = self.folder / "steady.json"
        machine.write_text(json.dumps({"devices": [card(row(7, "1GiB"))]}))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen(
                [*COMMAND, "watch", "--json", "--interval", "1h", "--machine", machine],
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(json.loads(process.stdout.readline())["t_ms"], 0)
            process.send_signal(number)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assertEqual([json.loads(line)["kind"] for line in out.splitlines()],
                             ["sample", "summary"])


if __name__ == "__main__":
    main()
