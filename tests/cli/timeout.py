# SPDX-License-Identifier: MIT OR Apache-2.0
"""`--timeout`, `--trace`, and the notice of a slow driver."""
import time

from command import NOTICE, Machines, card, main, parse_json, parse_table, run, shortest_time


class Timeout(Machines):
    def run_timed(self, *arguments, **keys):
        start = time.monotonic()
        result = self.run_on(keys, *arguments, keep_notice=True)
        return result, time.monotonic() - start

    def test_a_hung_driver_ends_at_the_timeout(self):
        for arguments in ((), ("--json",), ("ps",)):
            result, seconds = self.run_timed(*arguments, "--timeout", "300ms", devices=[card()],
                                             delays=[{"call": "open", "hang": "forever"}])
            self.assertEqual(result.code, 1, arguments)
            self.assertGreater(seconds, 0.25)

    def test_a_hung_device_hides_its_values_and_not_the_devices(self):
        result = self.run_on({"devices": [
            card("First"), card("Stuck", delays=[{"call": "pools", "hang": "forever"}]), card("Last")]},
            "--json", "--timeout", "5s")
        self.assertEqual(result.code, 0)
        gpus = parse_json(result.out)
        self.assertEqual([gpu["name"] for gpu in gpus], ["First", "Stuck", "Last"])
        self.assertEqual([gpu["total_bytes"] is None for gpu in gpus], [False, True, False])
        self.assertTrue(result.err.startswith("hmn: "), result.err)
        self.assertEqual(result.err.count("has not returned"), 1, result.err)

    def test_a_hung_device_is_reported_within_seconds(self):
        delays = [{"call": call, "hang": "forever"} for call in ("pools", "processes")]
        machine = {"devices": [card("First"), card("Stuck", delays=delays)]}
        for arguments in ((), ("ps",), ("doctor",)):
            result, seconds = self.run_timed(*arguments, **machine)
            self.assertLess(seconds, 10, arguments)  # far less than the minute of the default timeout
            self.assertRegex(result.err + result.out, "GPU 1: (hung: )?a driver call for this device has not returned")
        self.assertEqual(parse_table(self.run_on(machine).out)[1]["GiB"], "3.0/16.0")
        start = time.monotonic()
        run("run", "--machine", self.write_machine(machine), "true")
        self.assertLess(time.monotonic() - start, 10)

    def test_the_timeout_of_wait_includes_all_its_steps(self):
        for machine in ({"devices": [card()], "delays": [{"call": "open", "hang": "forever"}]},
                        {"devices": [card(delays=[{"call": "pools", "hang": "forever"}])]}):
            for device in ((), ("--device", "0")):
                def run_wait(machine=machine, device=device):
                    start = time.monotonic()
                    result = self.run_on(machine, "wait", "--free", "14GiB", "--timeout", "1500ms", *device)
                    self.assertEqual((result.code, result.out), (124, ""), result.err)
                    self.assertGreaterEqual(time.monotonic() - start, 1.5)

                self.assertLess(shortest_time(run_wait, 5), 5)

    def test_the_timeout_includes_all_steps_of_a_command(self):
        delays = [{"call": "open", "ms": 1900}, {"call": "devices", "ms": 1900}]
        machine = {"devices": [card(pci_bus_id="0000:01:00.0")], "delays": delays}
        for code, *arguments in ((1,), (1, "ps"), (1, "ps", "--device", "0"), (1, "ps", "--device", "01:00.0"),
                                 (1, "log", "--count", "1", "--device", "0"), (124, "wait", "--free", "1GiB"),
                                 (124, "wait", "--free", "1GiB", "--device", "0"), (1, "metrics", "--device", "0")):
            def run_once(code=code, arguments=arguments):
                result, seconds = self.run_timed(*arguments, "--timeout", "2s", **machine)
                self.assertEqual(result.code, code, (arguments, result.err))
                self.assertGreater(seconds, 1.9, arguments)

            self.assertLess(shortest_time(run_once, 3.3), 3.3, arguments)  # less than the two delays

    def test_a_hung_search_for_devices_ends_wait_with_124(self):
        machine = {"devices": [card()], "delays": [{"call": "devices", "hang": "forever"}]}
        for _ in range(4):
            result, _ = self.run_timed("wait", "--free", "1GiB", "--timeout", "333ms", **machine)
            self.assertEqual((result.code, result.out), (124, ""), result.err)
            self.assertIn("hmn: timed out: the search for GPUs has not ended\n", result.err)
            self.assertNotIn("none found", result.err)

    def test_devices_are_listed_once_to_select_one(self):
        machine = {"devices": [card()], "delays": [{"call": "devices", "ms": 2500}]}
        for code, *arguments in ((0, "ps", "--device", "0"), (0, "run", "--device", "0", "true"),
                                 (0, "spill", "--device", "0", "true"), (0, "log", "--count", "1", "--device", "0")):
            start = time.monotonic()
            result = run(*arguments[:1], "--machine", self.write_machine(machine), "--timeout", "30s", *arguments[1:])
            self.assertEqual(result.code, code, (arguments, result.err))
            self.assertLess(time.monotonic() - start, 7.4, arguments)  # less than three listings

    def test_hmn_waits_for_a_slow_driver_and_explains_the_wait(self):
        result, seconds = self.run_timed("--json", devices=[card()],
                                         delays=[{"call": "open", "ms": 2500}])
        self.assertGreater(seconds, 2.4)
        self.assertEqual(len(parse_json(result.out)), 1)
        self.assertEqual(result.code, 0)
        self.assertEqual(result.err.count(NOTICE), 1)
        self.assertEqual(result.err, NOTICE + "\n")  # no advice about drivers that the machine file replaces

    def test_ram_is_reported_while_a_driver_hangs(self):
        machine = {"devices": [card()], "delays": [{"call": "open", "hang": "forever"}],
                   "host": {"system": {"total": "16GiB", "available": "4GiB"}}}
        result, _ = self.run_timed("--timeout", "2s", **machine)
        self.assertRegex(result.err, NOTICE + r".*; RAM: 12\.0 / 16\.0 GiB\n")
        self.assertEqual(parse_table(result.out)[0]["GiB"], "12.0/16.0")

    def test_a_fast_driver_causes_no_notice(self):
        for arguments in ((), ("ps",), ("snapshot",), ("doctor",)):
            # One try suffices: this machine may be busy for a second.
            for _ in range(10):
                result, _ = self.run_timed(*arguments, devices=[card()], delays=[{"call": "open", "ms": 100}])
                if NOTICE not in result.err:
                    break
            self.assertNotIn(NOTICE, result.err)

    def test_the_timeout_applies_to_readings_too(self):
        delays = [{"call": "pools", "ms": 1500}]
        result, _ = self.run_timed("--json", "--timeout", "30s", devices=[card(delays=delays)])
        self.assertEqual(parse_json(result.out)[0]["total_bytes"], 16 << 30)
        delays = [{"call": "pools", "hang": "forever"}]
        result, _ = self.run_timed("--json", "--timeout", "5s", devices=[card(delays=delays)])
        self.assertIsNone(parse_json(result.out)[0]["total_bytes"])


class Trace(Machines):
    def test_trace_prints_driver_calls(self):
        for arguments in ((), ("ps",), ("snapshot",), ("doctor",)):
            result = self.run_on({"devices": [card()]}, *arguments, "--trace")
            lines = [line for line in result.err.splitlines() if line.startswith("hmn: trace: ")]
            self.assertTrue(any("open" in line for line in lines), (arguments, result.err))
            self.assertTrue(all(" ms" in line for line in lines), lines)

    def test_nothing_is_traced_by_default(self):
        self.assertNotIn("trace", self.run_on({"devices": [card()]}).err)


if __name__ == "__main__":
    main()
