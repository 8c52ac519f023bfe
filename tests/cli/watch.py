# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn watch`, on machines that change."""
import json
import signal
import subprocess

import jsonschema

from command import COMMAND, MIB, SOURCE, Machines, environment, main, strict_json

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "watch.schema.json").read_text())
VRAM = {"kind": "vram", "total": "16GiB", "used": "8GiB"}
GTT = {"kind": "host", "total": "32GiB", "used": "128MiB"}
FAST = ("--interval", "50ms", "--duration", "100ms")


def row(pid, size, name="work", **keys):
    return {"pid": pid, "used": size, "host_pool": "1MiB", "name": name} | keys


def card(*rows, **keys):
    return {"name": "Card", "vendor": "amd", "pools": [VRAM, GTT], "processes": list(rows)} | keys


def then(reading, *rows, more=()):
    return {"at_reading": reading, "patch": [
        {"op": "replace", "path": "/devices/0/processes", "value": list(rows)}, *more]}


FULL = [{"op": "replace", "path": "/devices/0/pools/0/used", "value": "15GiB"},
        {"op": "replace", "path": "/devices/0/pools/1/used", "value": "384MiB"}]


class Watch(Machines):
    def lines(self, machine, *arguments, code=0):
        done = self.on(machine, "watch", "--json", *arguments)
        self.assertEqual(done.code, code, done.err)
        found = [strict_json(line) for line in done.out.splitlines()]
        for each in found:
            jsonschema.validate(each, SCHEMA)
        return found[:-1], found[-1], done.err

    def test_samples_lie_on_the_schedule_with_one_at_the_end(self):
        samples, summary, err = self.lines({"devices": [card(row(7, "1GiB"))]}, "--interval", "2s",
                                           "--duration", "100ms")
        self.assertEqual([each["kind"] for each in samples], ["sample", "sample"])
        self.assertEqual(samples[0]["t_ms"], 0)
        self.assertGreaterEqual(samples[1]["t_ms"], 100)
        self.assertEqual(summary["kind"], "summary")
        self.assertEqual(err, "hmn watch: device 0 [Card], interval 2s, watching 1 process (top 5 by VRAM)\n")

    def test_the_chosen_are_of_a_name_and_an_order(self):
        rows = [row(7, "1GiB", "python3", host_resident="1GiB"), row(8, "3GiB", "game"),
                row(9, "2GiB", "python3", host_resident="2GiB")]
        machine = {"devices": [card(*rows)]}

        def chosen(*arguments):
            samples, _, err = self.lines(machine, *FAST, *arguments)
            return [each["pid"] for each in samples if each["t_ms"] == 0], err
        self.assertEqual(chosen("--match", "py*"), ([9, 7], "hmn watch: device 0 [Card], interval 0.05s, watching 2 "
                                                    "processes (top 5 by VRAM with name=py*)\n"))
        self.assertEqual(chosen("--match", "py*", "--top", "1")[0], [9])
        self.assertEqual(chosen("--sort", "pid")[0], [7, 8, 9])
        self.assertEqual(chosen("--sort", "ram")[0], [9, 7, 8])
        self.assertIn("(top 5 by RAM)", chosen("--sort", "ram")[1])
        self.assertIn("following top 5 by name (", chosen("--sort", "name", "--follow-new")[1])
        none = self.on(machine, "watch", "--match", "none")
        self.assertEqual((none.code, none.err), (
            2, "hmn: watch found no GPU processes matching name=none on device 0 to auto-select (top 5); re-run with "
            "an explicit PID once a workload is running\n"))

    def test_a_name_chooses_at_each_sample(self):
        machine = {"devices": [card(row(7, "1GiB", "a"))],
                   "changes": [then(3, row(7, "1GiB", "a"), row(8, "2GiB", "b"), row(9, "2GiB", "c"))]}
        samples, _, err = self.lines(machine, *FAST, "--follow-new", "--match", "[bc]", "--top", "1")
        self.assertEqual({each["pid"] for each in samples}, {8})
        self.assertIn("no GPU processes matching name=[bc] on device 0 yet", err)

    def test_changes_baselines_and_peaks(self):
        machine = {"devices": [card(row(7, "1GiB"))], "changes": [then(3, row(7, "1029MiB"))]}
        samples, summary, _ = self.lines(machine, "7", *FAST)
        self.assertEqual([each["used_delta_bytes"] for each in samples[:2]], [0, 5 * MIB])
        self.assertEqual(summary["per_pid"], [{
            "pid": 7, "name": "work", "baseline_used_bytes": 1024 * MIB, "peak_used_bytes": 1029 * MIB,
            "baseline_shared_bytes": MIB, "peak_shared_bytes": MIB}])

    def test_spill_is_reported_by_the_exit_code(self):
        machine = {"devices": [card(row(7, "1GiB"))], "changes": [then(3, row(7, "1GiB"), more=FULL)]}
        samples, summary, _ = self.lines(machine, *FAST, code=1)
        self.assertEqual([each["spilling"] for each in samples[:2]], [False, True])
        self.assertEqual((summary["spilled"], summary["episode_count"]), (True, 1))
        done = self.on(machine, "watch", *FAST)
        self.assertEqual(done.code, 1)
        self.assertIn("SPILL\n", done.out)
        self.assertIn("hmn watch: peak dedicated 15.0 GiB / 16.0 GiB\n", done.out)

    def test_what_cannot_be_measured_is_said_in_both(self):
        machine = {"devices": [{"vendor": "nvidia", "pools": [VRAM], "processes": [row(7, "1GiB")]}]}
        samples, summary, err = self.lines(machine, *FAST)
        self.assertEqual({each["spilling"] for each in samples}, {None})
        self.assertEqual((summary["measurable"], summary["peak_shared_bytes"]), (False, None))
        self.assertIn("spill not measurable", err)
        self.assertIn("hmn watch: spill not measurable: ", self.on(machine, "watch", *FAST).out)

    def test_a_stale_value_is_no_growth_and_no_peak(self):
        stale = row(7, "3GiB", notes=["stale"])
        machine = {"devices": [card(row(7, "1GiB"), row(8, "512MiB"))], "changes": [
            then(3, stale, row(8, "512MiB", notes=["stale"])), then(4, row(7, "1GiB"), row(8, "512MiB"))]}
        samples, summary, err = self.lines(machine, "--interval", "50ms", "--duration", "200ms")
        of_7 = [(each["used_bytes"], each["used_delta_bytes"], each["state"]) for each in samples if each["pid"] == 7]
        self.assertEqual(of_7[:3], [(1024 * MIB, 0, "uses"), (None, None, "uses"), (1024 * MIB, 0, "uses")])
        self.assertEqual({each["peak_used_bytes"] for each in summary["per_pid"]}, {1024 * MIB, 512 * MIB})
        self.assertRegex(err, r"hmn watch: values at \+\d\.\d+s are not counted: stale: \d+\.\d s old\n")

    def test_a_stale_list_does_not_change_who_is_followed(self):
        rows = [row(pid, f"{size}GiB", name) for pid, size, name in ((7, 1, "z"), (8, 2, "a"), (9, 3, "m"))]
        stale = [each | {"notes": ["stale"]} for each in rows]
        machine = {"devices": [card(*rows)], "changes": [then(3, *stale)]}
        samples, _, err = self.lines(machine, "--follow-new", "--top", "2", *FAST)
        self.assertEqual({each["pid"] for each in samples}, {9, 8})
        self.assertIn("not counted", err)
        self.assertNotIn("set changed", err)

    def test_exited_is_reported_from_idle(self):
        machine = {"devices": [card()], "host": {"processes": [{"pid": 11, "name": "lives"}]}}
        samples, _, _ = self.lines(machine, "11", "99", "11", *FAST)
        self.assertEqual([(each["pid"], each["state"], each["used_bytes"]) for each in samples[:2]],
                         [(11, "idle", None), (99, "exited", None)])

    def test_without_a_way_to_look_it_up_it_is_unknown_whether_a_process_lives(self):
        hidden = [{"call": "process_memory", "status": "no_source", "message": "no proc"}]
        machine = {"devices": [card()], "failures": hidden}
        samples, _, _ = self.lines(machine, "11", "99", *FAST)
        self.assertEqual([each["state"] for each in samples[:2]], [None, None])
        self.assertIn("? ", self.on(machine, "watch", "99", *FAST).out.splitlines()[2])

    def test_a_pid_given_anew_is_reported_by_its_start(self):
        machine = {"devices": [card(row(7, "1GiB", start_unix_ns=1))],
                   "changes": [then(3, row(7, "2GiB", start_unix_ns=2))]}
        samples, summary, err = self.lines(machine, *FAST)
        self.assertEqual([each["used_delta_bytes"] for each in samples[:2]], [0, 0])
        self.assertIn("hmn watch: pid=7 is another process now (work -> work); baseline reset\n", err)
        self.assertEqual(summary["per_pid"][0]["baseline_used_bytes"], 2048 * MIB)

    def test_new_ones_are_followed(self):
        machine = {"devices": [card()], "changes": [then(3, row(8, "1GiB", "b"))]}
        samples, _, err = self.lines(machine, "--follow-new", *FAST)
        self.assertEqual({each["pid"] for each in samples}, {8})
        self.assertIn("waiting for work to appear", err)
        self.assertIn("followed set changed: entered pid=8 (b)\n", err)

    def test_who_came_and_left_is_reported_with_the_last_name(self):
        machine = {"devices": [card(row(1, "3GiB", "gone"))], "changes": [
            then(3, row(1, "3GiB", "gone"), row(2, "1GiB", None)),
            then(4, row(2, "1GiB", None), row(3, "2GiB", "new")),
            then(5, row(2, "1GiB", None), row(3, "2GiB", "new")),
            then(6, row(1, "4GiB", "gone"))]}
        with (self.folder / "remarks").open("w+") as notices, subprocess.Popen(
                [*COMMAND, "watch", "--json", "--follow-new", "--interval", "20ms", "--machine",
                 self.machine(machine)], env=environment(), stdout=subprocess.PIPE, stderr=notices) as running:
            for line in running.stdout:
                if json.loads(line)["used_bytes"] == 4096 * MIB:
                    break
            running.terminate()
            summary = json.loads(running.stdout.read().splitlines()[-1])
            notices.seek(0)
            err = notices.read()
        reported = [line.partition("followed set changed: ")[2] for line in err.splitlines() if "set changed" in line]
        self.assertEqual(reported, ["entered pid=2", "entered pid=3 (new); left pid=1 (gone)",
                                "entered pid=1 (gone); left pid=3 (new), pid=2"])
        # In the order first seen, with the history of before.
        self.assertEqual([(each["pid"], each["baseline_used_bytes"], each["peak_used_bytes"])
                          for each in summary["per_pid"]],
                         [(1, 3072 * MIB, 4096 * MIB), (2, 1024 * MIB, 1024 * MIB), (3, 2048 * MIB, 2048 * MIB)])

    def test_a_sample_that_fails_is_reported_and_the_watch_goes_on(self):
        broken = [{"call": "processes", "status": "backend", "message": "no\x1b answer"}]
        machine = {"devices": [card(row(7, "1GiB"))], "changes": [{"at_reading": 3, "patch": [
            {"op": "add", "path": "/devices/0/failures", "value": broken}]}]}
        samples, summary, err = self.lines(machine, *FAST)
        self.assertEqual([each["t_ms"] for each in samples], [0])
        self.assertRegex(err, r"hmn watch: sample failed at \+\d+\.\d+s \(no\\x1b answer\); skipping interval\n")
        self.assertEqual([each["pid"] for each in summary["per_pid"]], [7])

    def test_whose_processes_are_those_of_a_divided_gpu(self):
        parts = [{"name": "Part", "uuid": f"MIG-{i}", "pools": [VRAM], "processes": [row(7, "1GiB")]} for i in range(2)]
        machine = {"devices": [{"name": "Card", "vendor": "nvidia", "pools": [VRAM], "partitions": parts}]}
        for words in ((), ("--follow-new",)):
            done = self.on(machine, "watch", "--device", "0", *words)
            self.assertEqual((done.code, done.out, done.err), (2, "", (
                "hmn: watch found no GPU processes on device 0: it is divided, its parts have them (--device 1, 2)\n")))
        samples, _, _ = self.lines(machine, "--device", "1", *FAST)
        self.assertEqual({(each["device_index"], each["pid"]) for each in samples}, {(1, 7)})
        lines = map(strict_json, self.on(machine, "watch", "--json", *FAST).out.splitlines())
        self.assertEqual({(each["device_index"], each["pid"]) for each in lines if each["kind"] == "sample"},
                         {(1, 7), (2, 7)})

    def test_every_device_is_followed_with_its_own_top(self):
        machine = {"devices": [card(row(7, "1GiB"), row(8, "2GiB", "b")), card(row(8, "3GiB", "b"), row(9, "1GiB")), card()]}
        done = self.on(machine, "watch", "--json", "--top", "1", *FAST)
        *samples, first, second, third = [strict_json(line) for line in done.out.splitlines()]
        for each in (*samples, first, second, third):
            jsonschema.validate(each, SCHEMA)
        self.assertEqual({(each["device_index"], each["pid"]) for each in samples}, {(0, 8), (1, 8)})
        self.assertEqual([(each["device_index"], [one["pid"] for one in each["per_pid"]]) for each in (first, second, third)],
                         [(0, [8]), (1, [8]), (2, [])])
        self.assertIn("hmn watch: 3 devices, interval 0.05s, watching 2 processes (top 1 by VRAM of each)\n", done.err)
        text = self.on(machine, "watch", "--device", "1,0", *FAST).out
        self.assertRegex(text, r"^ +TIME GPU +PID NAME.*\n +\+0\.00s   1 +8 b .*\n +\+0\.00s   1 +9 work .*\n +\+0\.00s   0 +8 b ")

    def test_a_process_that_is_named_has_a_line_where_it_is(self):
        machine = {"devices": [card(), card()], "host": {"processes": [{"pid": 8, "name": "b"}]},
                   "changes": [{"at_reading": 3, "patch": [{"op": "replace", "path": "/devices/1/processes",
                                                            "value": [row(8, "1GiB", "b")]}]}]}
        done = self.on(machine, "watch", "--json", "8", "--interval", "50ms", "--duration", "150ms")
        samples = [each for each in map(strict_json, done.out.splitlines()) if each["kind"] == "sample"]
        self.assertEqual((samples[0]["device_index"], samples[0]["state"]), (0, "idle"))
        self.assertEqual((samples[-1]["device_index"], samples[-1]["used_bytes"]), (1, 1024 * MIB))
        self.assertEqual(len(samples), len({each["t_ms"] for each in samples}))

    def test_a_device_that_fails_is_named_once_and_the_others_go_on(self):
        broken = [{"call": "processes", "status": "backend", "message": "no answer"}]
        done = self.on({"devices": [card(row(7, "1GiB")), card(failures=broken)]}, "watch", "--json", *FAST)
        self.assertEqual(done.code, 0)
        self.assertEqual(done.err.count("hmn watch: GPU 1: no values at +0.00s (no answer)\n"), 1, done.err)
        self.assertEqual(done.err.count("no answer"), 1)
        self.assertIn('"pid":7', done.out)

    def test_a_pid_that_no_process_has_is_an_error(self):
        machine = {"devices": [card()], "host": {"processes": [{"pid": 11, "name": "lives"}]}}
        self.assertEqual(self.on(machine, "watch", "98", "99", *FAST),
                         (2, "", "hmn: PID 98, 99: no such process\n"))

    def test_nothing_to_follow_and_wrong_usage_are_2(self):
        self.assertEqual(self.on({"devices": [card()]}, "watch").code, 2)
        self.assertEqual(self.on({"devices": [card(row(7, "1GiB"))]}, "watch", "--top", "0"),
                         (2, "", "hmn: --top 0 follows no process\n"))
        self.assertIn("no GPU to watch: none found: ", self.on({"devices": []}, "watch").err)
        for words, message in ((("4294967296",), 'PID "4294967296": expected a whole number from 1 to 4294967295'),
                               (("--top", "4294967296"), "expected a whole number from 0 to 4294967295")):
            self.assertIn(message, self.on({"devices": []}, "watch", *words).err)
        for words in (("--follow-new", "7"), ("--match", "x", "7"), ("--sort", "ram", "7"), ("--top", "2", "7"), ("--sort", "size"), ("x",), ("0",), ("--interval", "0.5x"), ("--top", "-1")):
            self.assertEqual(self.on({"devices": []}, "watch", *words).code, 2, words)

    def test_a_sample_is_out_at_once_and_signals_end_with_the_summary(self):
        machine = self.folder / "steady.json"
        machine.write_text(json.dumps({"devices": [card(row(7, "1GiB"))]}))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            running = subprocess.Popen(
                [*COMMAND, "watch", "--json", "--interval", "1h", "--machine", machine],
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(json.loads(running.stdout.readline())["t_ms"], 0)
            running.send_signal(number)
            out, _ = running.communicate(timeout=60)
            self.assertEqual(running.returncode, 0)
            self.assertEqual([json.loads(line)["kind"] for line in out.splitlines()],
                             ["sample", "summary"])


if __name__ == "__main__":
    main()
