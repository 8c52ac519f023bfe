# SPDX-License-Identifier: MIT OR Apache-2.0
"""`--timeout`, `--trace`, and the notice of a slow driver."""
import time

from command import NOTICE, Machines, card, main, quickest, run, strict_json, table_of


class Timeout(Machines):
    def timed(self, *arguments, **keys):
        began = time.monotonic()
        result = self.on(keys, *arguments, with_notice=True)
        return result, time.monotonic() - began

    def test_a_driver_that_hangs_ends_with_the_timeout(self):
        for arguments in ((), ("--json",), ("ps",)):
            result, seconds = self.timed(*arguments, "--timeout", "300ms", devices=[card()],
                                         delays=[{"call": "open", "hang": "forever"}])
            self.assertEqual(result.code, 1, arguments)
            self.assertGreater(seconds, 0.25)

    def test_a_device_that_hangs_hides_values_and_not_devices(self):
        result = self.on({"devices": [
            card("First"), card("Stuck", delays=[{"call": "pools", "hang": "forever"}]), card("Last")]},
            "--json", "--timeout", "5s")
        self.assertEqual(result.code, 0)
        gpus = strict_json(result.out)
        self.assertEqual([gpu["name"] for gpu in gpus], ["First", "Stuck", "Last"])
        self.assertEqual([gpu["total_bytes"] is None for gpu in gpus], [False, True, False])
        self.assertTrue(result.err.startswith("hmn: "), result.err)
        self.assertEqual(result.err.count("has not returned"), 1, result.err)

    def test_what_answers_is_shown_within_seconds_and_what_hangs_is_named(self):
        hanging = [{"call": call, "hang": "forever"} for call in ("pools", "processes")]
        machine = {"devices": [card("First"), card("Stuck", delays=hanging)]}
        for arguments in ((), ("ps",), ("doctor",)):
            result, seconds = self.timed(*arguments, **machine)
            self.assertLess(seconds, 10, arguments)  # and not a minute
            self.assertRegex(result.err + result.out, "GPU 1: (hung: )?a driver call for this device has not returned")
        self.assertEqual(table_of(self.on(machine).out)[1]["GiB"], "3.0/16.0")
        began = time.monotonic()
        run("run", "--machine", self.machine(machine), "true")
        self.assertLess(time.monotonic() - began, 10)

    def test_the_timeout_of_wait_is_of_all_that_it_does(self):
        for machine in ({"devices": [card()], "delays": [{"call": "open", "hang": "forever"}]},
                        {"devices": [card(delays=[{"call": "pools", "hang": "forever"}])]}):
            for device in ((), ("--device", "0")):
                def ask(machine=machine, device=device):
                    began = time.monotonic()
                    result = self.on(machine, "wait", "--free", "14GiB", "--timeout", "1500ms", *device)
                    self.assertEqual((result.code, result.out), (124, ""), result.err)
                    self.assertGreaterEqual(time.monotonic() - began, 1.5)

                self.assertLess(quickest(ask, 5), 5)

    def test_the_timeout_is_of_all_that_a_command_does(self):
        slow = [{"call": "open", "ms": 1900}, {"call": "devices", "ms": 1900}]
        machine = {"devices": [card(pci_bus_id="0000:01:00.0")], "delays": slow}
        for code, *arguments in ((1,), (1, "ps"), (1, "ps", "--device", "0"), (1, "ps", "--device", "01:00.0"),
                                 (1, "log", "--count", "1", "--device", "0"), (124, "wait", "--free", "1GiB"),
                                 (124, "wait", "--free", "1GiB", "--device", "0"), (1, "metrics", "--device", "0")):
            def ask(code=code, arguments=arguments):
                result, seconds = self.timed(*arguments, "--timeout", "2s", **machine)
                self.assertEqual(result.code, code, (arguments, result.err))
                self.assertGreater(seconds, 1.9, arguments)

            self.assertLess(quickest(ask, 3.3), 3.3, arguments)  # the two delays, or more of them

    def test_a_driver_that_hangs_while_it_lists_ends_a_wait_with_124(self):
        machine = {"devices": [card()], "delays": [{"call": "devices", "hang": "forever"}]}
        for _ in range(4):
            result, _ = self.timed("wait", "--free", "1GiB", "--timeout", "333ms", **machine)
            self.assertEqual((result.code, result.out), (124, ""), result.err)
            self.assertIn("hmn: timed out: the search for GPUs has not ended\n", result.err)
            self.assertNotIn("none found", result.err)

    def test_the_devices_are_listed_once_to_find_one(self):
        machine = {"devices": [card()], "delays": [{"call": "devices", "ms": 2500}]}
        for code, *arguments in ((0, "ps", "--device", "0"), (0, "run", "--device", "0", "true"),
                                 (0, "spill", "--device", "0", "true"), (0, "log", "--count", "1", "--device", "0")):
            begun = time.monotonic()
            result = run(*arguments[:1], "--machine", self.machine(machine), "--timeout", "30s", *arguments[1:])
            self.assertEqual(result.code, code, (arguments, result.err))
            self.assertLess(time.monotonic() - begun, 7.4, arguments)  # three times

    def test_a_slow_driver_is_waited_for_and_the_wait_explained(self):
        result, seconds = self.timed("--json", devices=[card()],
                                     delays=[{"call": "open", "ms": 2500}])
        self.assertGreater(seconds, 2.4)
        self.assertEqual(len(strict_json(result.out)), 1)
        self.assertEqual(result.code, 0)
        self.assertEqual(result.err.count(NOTICE), 1)
        self.assertEqual(result.err, NOTICE + "\n")  # no advice about drivers that the machine file replaces

    def test_memory_is_reported_while_a_driver_hangs(self):
        machine = {"devices": [card()], "delays": [{"call": "open", "hang": "forever"}],
                   "host": {"system": {"total": "16GiB", "available": "4GiB"}}}
        result, _ = self.timed("--timeout", "2s", **machine)
        self.assertRegex(result.err, NOTICE + r".*; RAM: 12\.0 / 16\.0 GiB\n")
        self.assertEqual(table_of(result.out)[0]["GiB"], "12.0/16.0")

    def test_a_quick_driver_is_not_explained(self):
        for arguments in ((), ("ps",), ("snapshot",), ("doctor",)):
            # One of several: this machine may be busy for a second.
            for _ in range(10):
                result, _ = self.timed(*arguments, devices=[card()], delays=[{"call": "open", "ms": 100}])
                if NOTICE not in result.err:
                    break
            self.assertNotIn(NOTICE, result.err)

    def test_the_deadline_counts_for_readings_too(self):
        slow = [{"call": "pools", "ms": 1500}]
        result, _ = self.timed("--json", "--timeout", "30s", devices=[card(delays=slow)])
        self.assertEqual(strict_json(result.out)[0]["total_bytes"], 16 << 30)
        slow = [{"call": "pools", "hang": "forever"}]
        result, _ = self.timed("--json", "--timeout", "5s", devices=[card(delays=slow)])
        self.assertIsNone(strict_json(result.out)[0]["total_bytes"])


class Trace(Machines):
    def test_driver_calls_are_printed(self):
        for arguments in ((), ("ps",), ("snapshot",), ("doctor",)):
            result = self.on({"devices": [card()]}, *arguments, "--trace")
            traced = [line for line in result.err.splitlines() if line.startswith("hmn: trace: ")]
            self.assertTrue(any("open" in line for line in traced), (arguments, result.err))
            self.assertTrue(all(" ms" in line for line in traced), traced)

    def test_and_only_when_asked_for(self):
        self.assertNotIn("trace", self.on({"devices": [card()]}).err)


if __name__ == "__main__":
    main()
