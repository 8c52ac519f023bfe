# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn` and `hmn --json`."""
import os
import signal
import subprocess

from command import (COMMAND, GIB, MACHINES, MIB, Machines, card, environment, main, parse_json, parse_table,
                     remove_notice, run)

KEYS = ["index", "name", "total_bytes", "free_bytes", "used_bytes", "reserved_bytes",
        "driver_version", "uuid", "pci_bus_id", "cuda_version_major", "cuda_version_minor", "vendor", "device_class", "form", "memory_kind",
        "pool", "parent_index", "state", "backend", "age_ns", "notes", "gpu_busy_percent",
        "temperature_celsius", "power_watts", "power_limit_watts"]

HOST = {"system": {"total": 32 * GIB, "available": 20 * GIB}}


class Text(Machines):
    def read_table(self, **keys):
        result = self.run_on(keys)
        self.assertEqual((result.code, result.err), (0, ""))
        return parse_table(result.out)

    def read_gpu(self, **keys):
        return self.read_table(devices=[card(**keys)])[1]

    def test_the_table_has_ram_and_a_line_per_gpu(self):
        pool = {"kind": "vram", "total": "16GiB", "reserved": "512MiB", "used": "4GiB"}
        values = {"gpu_busy_percent": 57, "temperature_celsius": 61, "power_watts": 312.4, "power_limit_watts": 700}
        device = card("NVIDIA Test", vendor="nvidia", pools=[pool], driver_version="610.88", telemetry=values,
                      processes=[{"pid": 7, "used": "3GiB", "name": "x", "uid": 1000},
                                 {"pid": 8, "used": "1GiB", "name": "y", "uid": 0}])
        result = self.run_on({"host": HOST, "devices": [device]})
        self.assertEqual(result, (0, """\
GPU  NAME   %        GiB  KIND  °C        W  RESERVED, GiB  DRIVER  USERS, GiB
RAM  -      -  12.0/32.0  -      -        -              -  -       -
0    Test  57   4.0/16.0  -     61  312/700            0.5  610.88  uid 1000 3.0, uid 0 1.0
""", ""))

    def test_every_machine_has_the_same_columns(self):
        titles = self.run_on({"devices": []}).out.splitlines()[0].split()
        self.assertEqual(titles, "GPU NAME % GiB KIND °C W RESERVED, GiB DRIVER USERS, GiB".split())
        for path in sorted(MACHINES.glob("*.json")):
            result = self.run_on(path, env=environment(COLUMNS="40"))
            self.assertEqual(result.out.splitlines()[0].split(), titles)
            self.assertEqual(len(parse_table(result.out)[0]), 10)

    def test_a_locale_without_utf8_gets_ascii(self):
        machine = {"devices": [card("模型", telemetry={"temperature_celsius": 61})]}
        for locale in ("C", "de_DE.ISO-8859-1"):
            row = parse_table(self.run_on(machine, env=environment(LC_ALL=locale)).out)[1]
            self.assertEqual((row["NAME"], row["C"]), ("\\u{6a21}\\u{578b}", "61"))

    def test_ram_is_the_first_row(self):
        self.assertEqual([(row["GPU"], row["GiB"]) for row in self.read_table(host=HOST)], [("RAM", "12.0/32.0")])

    def test_a_control_group_limit_has_a_row(self):
        host = {"system": {"total": 32 * GIB, "available": 20 * GIB, "limit": 4 * GIB,
                           "limit_used": GIB + MIB - 1}}
        self.assertEqual([(row["GPU"], row["NAME"], row["GiB"]) for row in self.read_table(host=host)],
                         [("RAM", "-", "12.0/32.0"), ("RAM", "limit", "1.0/4.0")])

    def test_the_total_of_ram_is_that_of_this_machine(self):
        total = float(parse_table(run().out)[0]["GiB"].split("/")[1])
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIB
        self.assertAlmostEqual(total, pages, delta=pages * 0.02 + 0.1)

    def test_an_unknown_name_is_a_question_mark(self):
        self.assertEqual(self.read_gpu(name=None)["NAME"], "?")

    def test_names_are_escaped(self):
        self.assertEqual(self.read_gpu(name="a\nb\x1b[31m\u202e")["NAME"], r"a\nb\x1b[31m\u{202e}")
        self.assertEqual(self.read_gpu(driver_version="1\x07")["DRIVER"], r"1\x07")

    def test_unknown_values_are_hyphens(self):
        pool = {"kind": "vram", "total": "16GiB", "free": None, "used": None}
        self.assertEqual(self.read_gpu(pools=[pool])["GiB"], "-/16.0")
        row = self.read_gpu(pools=[])
        self.assertEqual([row[title] for title in ("%", "GiB", "°C", "W", "USERS, GiB")], ["-"] * 5)

    def test_used_memory_is_shown_without_a_total(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "1GiB", "free": None, "notes": ["lower_bound"]}
        self.assertEqual(self.read_gpu(pools=[pool])["GiB"], ">=1.0/16.0")
        pool["total"] = None
        self.assertEqual(self.read_gpu(pools=[pool])["GiB"], ">=1.0/?")

    def test_a_gpu_that_sleeps_or_is_lost_shows_its_state(self):
        for state in ("asleep", "lost", "unreadable"):
            result = self.run_on({"devices": [card(state=state), card("Other")]})
            self.assertEqual(result.code, 0)
            _, first, second = parse_table(result.out)
            self.assertEqual((first["%"], first["GiB"]), (state, "-"))
            self.assertEqual((second["NAME"], second["GiB"]), ("Other", "3.0/16.0"))
            self.assertEqual(result.err.count(f"hmn: GPU 0: {state}: "), 1, result.err)

    def test_failed_readings_are_question_marks_with_the_reason(self):
        failures = [{"call": "pools", "status": "backend", "message": "broken"}]
        machine = {"devices": [card("A", failures=failures), card("B", failures=failures)]}
        text = self.run_on(machine)
        self.assertEqual((text.code, text.err), (0, "hmn: GPU 0, 1: memory: broken\n"))
        self.assertEqual([(row["NAME"], row["GiB"]) for row in parse_table(text.out)[1:]], [("A", "?"), ("B", "?")])
        json = self.run_on(machine, "--json")
        self.assertEqual((json.code, json.err), (0, "hmn: GPU 0: broken\nhmn: GPU 1: broken\n"))
        self.assertEqual([(gpu["name"], gpu["total_bytes"]) for gpu in parse_json(json.out)],
                         [("A", None), ("B", None)])

    def test_the_kind_of_memory_has_a_column(self):
        pool = {"kind": "unified", "total": "120GiB", "free": "100GiB"}
        row = self.read_gpu(pools=[pool])
        self.assertEqual((row["GiB"], row["KIND"]), ("20.0/120.0", "unified"))
        self.assertEqual(self.read_gpu(memory_kind="coherent")["KIND"], "coherent")

    def test_a_partition_is_below_its_gpu(self):
        rows = self.read_table(devices=[card(partitions=[card("Part")]), card("Other")])
        self.assertEqual([(row["GPU"], row["NAME"]) for row in rows[1:]], [("0", "Card"), ("2", "Part"), ("1", "Other")])

    def test_a_stale_value_is_reported_as_stale(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB", "notes": ["stale"]}
        result = self.run_on({"devices": [card(pools=[pool])]})
        self.assertEqual(parse_table(result.out)[1]["GiB"], "3.0/16.0")
        self.assertRegex(result.err, r"^hmn: GPU 0: memory: stale: \d+\.\d s old\n$")

    def test_estimates_and_lower_bounds_are_marked(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB", "notes": ["estimated"]}
        self.assertEqual(self.read_gpu(pools=[pool])["GiB"], "~3.0/16.0")

    def test_a_machine_without_gpus_is_reported_with_the_reason(self):
        result = self.run_on({"devices": []})
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(result.out.splitlines()[2:], ["GPU: none found: the simulated machine has none"])

    def test_a_failing_driver_differs_from_a_machine_without_gpus(self):
        machine = {"failures": [{"call": "open", "status": "backend", "message": "mismatch (18)"}]}
        result = self.run_on(machine)
        self.assertEqual(result.code, 1)
        self.assertIn("GPU: not known: the search for GPUs failed", result.out)
        self.assertEqual(result.err, "hmn: mismatch (18)\n")

    def test_unsupported_values_cause_no_diagnostic(self):
        failures = [{"call": "pools", "status": "unsupported", "message": "no such figure"}]
        result = self.run_on({"devices": [card(failures=failures)]})
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(parse_table(result.out)[1]["GiB"], "-")

    def test_failures_with_one_reason_are_one_diagnostic(self):
        failures = [{"call": call, "status": "permission", "message": "root only"}
                    for call in ("pools", "telemetry", "processes")]
        result = self.run_on({"devices": [card(failures=failures)]})
        self.assertEqual((result.code, result.err),
                         (0, "hmn: GPU 0: load, memory, temperature, power, processes: root only\n"))
        row = parse_table(result.out)[1]
        self.assertEqual([row[title] for title in ("%", "GiB", "°C", "W", "USERS, GiB")], ["?"] * 5)

    def test_repeated_tables_are_separated_by_an_empty_line(self):
        machine = {"devices": [card(failures=[{"call": "pools", "status": "backend", "message": "broken"}])]}
        once, thrice = self.run_on(machine), self.run_on(machine, "--interval", "50ms", "-n", "3")
        self.assertEqual(thrice.out, "\n".join([once.out] * 3))
        self.assertEqual((thrice.code, thrice.err), (0, once.err))  # a reason is printed when it changes
        arrays = self.run_on({"devices": []}, "--json", "-n", "2", "-i", "10ms")
        self.assertEqual(arrays, (0, "[]\n[]\n", ""))

    def test_the_table_repeats_until_ctrl_c_or_a_closed_pipe(self):
        for end_action in (lambda process: process.send_signal(signal.SIGINT), lambda process: process.stdout.close()):
            process = subprocess.Popen([*COMMAND, "-i", "100ms", "--machine", self.write_machine(devices=[card()])],
                                       env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while process.stdout.readline() != b"\n":  # the second table has begun
                pass
            end_action(process)
            errors = process.stderr.read().decode()
            if not process.stdout.closed:
                process.stdout.read()
                process.stdout.close()
            process.stderr.close()
            self.assertEqual((process.wait(60), remove_notice(errors)), (0, ""))


class Json(Machines):
    def read_gpus(self, **keys):
        return self.parse_rows(self.run_on(keys, "--json"))

    def test_no_gpu_is_an_empty_array(self):
        result = self.run_on({"devices": []}, "--json")
        self.assertEqual(result, (0, "[]\n", ""))

    def test_keys_have_a_fixed_order(self):
        self.assertEqual(list(self.read_gpus(devices=[card()])[0]), KEYS)

    def test_all_known_values_are_in_the_object(self):
        device = card(
            "NVIDIA \"Test\"", uuid="GPU-1", pci_bus_id="0000:01:00.0", vendor="nvidia",
            driver_version="591.86", cuda_version={"major": 12, "minor": 4},
            telemetry={"gpu_busy_percent": 41.5, "temperature_celsius": 50, "power_watts": 74.25,
                       "power_limit_watts": 450},
            pools=[{"kind": "vram", "total": 17179869184, "free": 15170138112,
                    "used": 1933185024, "reserved": 76546048}])
        gpu = self.read_gpus(devices=[device])[0]
        age = gpu.pop("age_ns")
        self.assertIsInstance(age, int)
        self.assertEqual(gpu, {
            "index": 0, "name": "NVIDIA \"Test\"", "total_bytes": 17179869184,
            "free_bytes": 15170138112, "used_bytes": 1933185024, "reserved_bytes": 76546048,
            "driver_version": "591.86", "uuid": "GPU-1", "pci_bus_id": "0000:01:00.0",
            "cuda_version_major": 12, "cuda_version_minor": 4, "vendor": "nvidia", "device_class": "gpu", "form": "discrete",
            "memory_kind": "dedicated", "pool": "vram", "parent_index": None, "state": "ready",
            "backend": "simulated", "notes": [], "gpu_busy_percent": 41.5,
            "temperature_celsius": 50, "power_watts": 74.25, "power_limit_watts": 450})

    def test_a_failed_reading_is_null_and_its_reason_is_printed(self):
        failures = [{"call": "telemetry", "fields": ["power_watts", "fan_percent"],
                     "status": "permission", "message": "root only"}]
        values = {"gpu_busy_percent": 5, "power_watts": 20, "fan_percent": 30}
        result = self.run_on({"devices": [card(telemetry=values, failures=failures)]}, "--json")
        gpu = self.parse_rows(result)[0]
        self.assertEqual((gpu["gpu_busy_percent"], gpu["power_watts"]), (5, None))
        self.assertEqual(result.err, "hmn: GPU 0: root only\n")
        failures[0]["fields"] = ["fan_percent"]  # no value of this list
        self.assertEqual(self.run_on({"devices": [card(telemetry=values, failures=failures)]}, "--json").err, "")

    def test_hung_sensors_do_not_hide_the_memory(self):
        delays = [{"call": "telemetry", "hang": "forever"}]
        gpu = self.parse_rows(self.run_on({"devices": [card(delays=delays)]}, "--json"))[0]
        self.assertEqual((gpu["total_bytes"], gpu["gpu_busy_percent"]), (16 * GIB, None))

    def test_unknown_values_are_null(self):
        gpu = self.read_gpus(devices=[{"pools": []}])[0]
        keys = {key for key, value in gpu.items() if value is not None}
        self.assertEqual(keys, {"index", "vendor", "device_class", "form", "memory_kind", "state", "backend",
                                "notes"})
        self.assertEqual((gpu["vendor"], gpu["memory_kind"]), ("unknown", "unknown"))

    def test_no_blanks_separate_values(self):
        text = self.run_on({"devices": [card("a b")]}, "--json").out
        self.assertNotIn(" ", text.replace("a b", ""))

    def test_large_values_are_exact(self):
        total = 281474976710656
        pool = {"kind": "vram", "total": total, "free": total - 1, "used": 1}
        gpu = self.read_gpus(devices=[card(pools=[pool])])[0]
        self.assertEqual((gpu["total_bytes"], gpu["free_bytes"], gpu["used_bytes"]),
                         (total, total - 1, 1))

    def test_names_are_preserved_by_escapes(self):
        name = "a\"b\\c\n\t\x01\x7f\u0085\u202e 模型 😀/"
        result = self.run_on({"devices": [card(name)]}, "--json")
        self.assertEqual(self.parse_rows(result)[0]["name"], name)
        self.assertIn(r'"name":"a\"b\\c\n\t\u0001\u007f\u0085\u202e 模型 😀/"', result.out)

    def test_a_partition_names_its_parent(self):
        gpus = self.read_gpus(devices=[card(partitions=[card("Part")])])
        self.assertEqual([(gpu["form"], gpu["parent_index"]) for gpu in gpus],
                         [("discrete", None), ("discrete", 0)])

    def test_an_npu_is_listed_after_the_gpus(self):
        gpus = self.read_gpus(devices=[card("NPU", device_class="npu"), card("GPU")])
        self.assertEqual([(gpu["name"], gpu["device_class"]) for gpu in gpus],
                         [("GPU", "gpu"), ("NPU", "npu")])

    def test_a_sleeping_device_stays_in_the_list(self):
        gpu = self.read_gpus(devices=[card(state="asleep")])[0]
        self.assertEqual((gpu["state"], gpu["total_bytes"]), ("asleep", None))

    def test_a_failing_driver_gives_an_empty_array_and_exit_1(self):
        machine = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        self.assertEqual(self.run_on(machine, "--json"), (1, "[]\n", "hmn: mismatch\n"))

    def test_rows_of_the_example_machines_have_all_keys(self):
        for path in sorted(MACHINES.glob("*.json")):
            with self.subTest(path.name):
                gpus = parse_json(self.run_on(path, "--json").out)
                self.assertEqual([gpu["index"] for gpu in gpus], list(range(len(gpus))))
                self.assertTrue(all(list(gpu) == KEYS for gpu in gpus))

    def test_json_and_text_agree(self):
        for path in sorted(MACHINES.glob("*.json")):
            rows = {row["GPU"]: row for row in parse_table(self.run_on(path).out)}
            for gpu in parse_json(self.run_on(path, "--json").out):
                row = rows[str(gpu["index"])]
                self.assertTrue(gpu["name"].endswith(row["NAME"]), row)
                for key, title in (("gpu_busy_percent", "%"), ("temperature_celsius", "°C")):
                    if gpu[key] is not None and gpu["state"] == "ready":
                        self.assertEqual(float(row[title]), round(gpu[key]), row)
                if gpu["used_bytes"] is not None and gpu["state"] == "ready":
                    used, total = row["GiB"].split("/")
                    self.assertAlmostEqual(float(used.lstrip("<>=")), gpu["used_bytes"] / GIB, delta=0.1)
                    self.assertAlmostEqual(float(total), gpu["total_bytes"] / GIB, delta=0.06)


if __name__ == "__main__":
    main()
