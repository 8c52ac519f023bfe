# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn` and `hmn --json`."""
import os
import subprocess

from command import GIB, MACHINES, MIB, Machines, card, environment, main, run, strict_json

KEYS = ["index", "name", "total_bytes", "free_bytes", "used_bytes", "reserved_bytes",
        "driver_version", "uuid", "pci_bus_id", "cuda_version", "vendor", "kind", "memory_kind",
        "pool", "parent_index", "state", "backend", "age_ns", "notes", "gpu_busy_percent",
        "temperature_celsius", "power_watts", "power_limit_watts"]

HOST = {"system": {"total": 32 * GIB, "available": 20 * GIB}}


class Text(Machines):
    def lines(self, **keys):
        result = self.on(keys)
        self.assertEqual((result.code, result.err), (0, ""))
        return result.out.splitlines()

    def gpu_line(self, **keys):
        return self.lines(devices=[card(**keys)])[1]

    def test_ram_stands_first(self):
        self.assertEqual(self.lines(host=HOST)[0], "RAM: available 20480 MiB / 32768 MiB")

    def test_ram_with_the_limit_of_a_control_group(self):
        host = {"system": {"total": 32 * GIB, "available": 20 * GIB, "limit": 4 * GIB,
                           "limit_used": GIB + MIB - 1}}
        self.assertEqual(self.lines(host=host)[0],
                         "RAM: available 20480 MiB / 32768 MiB, limit 4096 MiB (1024 MiB used)")

    def test_real_ram(self):
        line = run().out.splitlines()[0]
        self.assertRegex(line, r"^RAM: available ~?\d+ MiB / \d+ MiB(, limit .*)?$")
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
        self.assertAlmostEqual(int(line.split(" / ")[1].split()[0]), total, delta=total * 0.02)

    def test_h190_a_whole_line(self):
        pool = {"kind": "vram", "total": "16384MiB", "reserved": "400MiB", "used": "2700MiB"}
        self.assertEqual(
            self.gpu_line(name="NVIDIA Test GPU", pools=[pool], driver_version="610.88"),
            "GPU 0 [NVIDIA Test GPU]: free 13284 MiB / 16384 MiB (400 MiB reserved), driver 610.88")

    def test_sizes_round_down(self):
        pool = {"kind": "vram", "total": GIB, "free": 512 * MIB - 1}
        self.assertIn("free 511 MiB / 1024 MiB", self.gpu_line(pools=[pool]))

    def test_hv44_a_name_that_is_not_known(self):
        self.assertEqual(self.gpu_line(name=None), "GPU 0: free 13312 MiB / 16384 MiB")

    def test_names_are_escaped(self):
        self.assertIn("[a\\nb\\x1b[31m\\u{202e}]", self.gpu_line(name="a\nb\x1b[31m\u202e"))
        self.assertIn("driver 1\\x07", self.gpu_line(driver_version="1\x07"))

    def test_values_that_are_not_known(self):
        pool = {"kind": "vram", "total": "16GiB", "free": None, "used": None}
        self.assertEqual(self.gpu_line(pools=[pool]), "GPU 0 [Card]: total 16384 MiB")
        self.assertEqual(self.gpu_line(pools=[]), "GPU 0 [Card]: memory unknown")

    def test_what_is_used_is_reported_where_what_is_free_is_not_known(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "10MiB", "free": None,
                "notes": ["lower_bound"]}
        self.assertEqual(self.gpu_line(pools=[pool]), "GPU 0 [Card]: used >=10 MiB / 16384 MiB")
        pool["total"] = None
        self.assertEqual(self.gpu_line(pools=[pool]), "GPU 0 [Card]: used >=10 MiB, total unknown")

    def test_h193_a_device_that_sleeps_or_is_lost(self):
        for state in ("asleep", "lost", "unreadable"):
            result = self.on({"devices": [card(state=state), card("Other")]})
            self.assertEqual(result.code, 0)
            self.assertEqual(result.out.splitlines()[1], f"GPU 0 [Card]: {state}, memory unknown")
            self.assertIn("GPU 1 [Other]: free", result.out)
            self.assertEqual(result.err.count("GPU 0: "), 1, result.err)

    def test_h192_gpus_that_cannot_be_read(self):
        failing = [{"call": "pools", "status": "backend", "message": "broken"}]
        machine = {"devices": [card("A", failures=failing), card("B", failures=failing)]}
        notices = "hmn: GPU 0: broken\nhmn: GPU 1: broken\n"
        text = self.on(machine)
        self.assertEqual((text.code, text.err), (0, notices))
        self.assertEqual(text.out.splitlines()[1:],
                         ["GPU 0 [A]: memory unknown", "GPU 1 [B]: memory unknown"])
        json = self.on(machine, "--json")
        self.assertEqual((json.code, json.err), (0, notices))
        self.assertEqual([(gpu["name"], gpu["total_bytes"]) for gpu in self.rows(json)],
                         [("A", None), ("B", None)])

    def test_unified_memory(self):
        pool = {"kind": "unified", "total": "120GiB", "free": "100GiB"}
        self.assertEqual(self.gpu_line(pools=[pool]),
                         "GPU 0 [Card]: unified memory, free 102400 MiB / 122880 MiB")

    def test_coherent_memory(self):
        self.assertIn("coherent memory, free", self.gpu_line(memory_kind="coherent"))

    def test_a_partition_names_its_gpu(self):
        lines = self.lines(devices=[card(partitions=[card("Part")]), card("Other")])
        self.assertIn("GPU 2 [Part] in GPU 0: free 13312 MiB / 16384 MiB", lines)

    def test_a_stale_value_says_so(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB", "notes": ["stale"]}
        self.assertRegex(self.gpu_line(pools=[pool]), r"free 13312 MiB / 16384 MiB, stale: \d+\.\d s old$")

    def test_estimates_and_lower_bounds_are_marked(self):
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB", "notes": ["estimated"]}
        self.assertIn("free ~13312 MiB", self.gpu_line(pools=[pool]))

    def test_h191_no_gpu_is_one_line_with_the_reason(self):
        result = self.on({"devices": []})
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(result.out.splitlines()[1:],
                         ["GPU: none found: the simulated machine has none"])

    def test_a_driver_that_fails_is_not_the_same_as_no_gpu(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch (18)"}]}
        result = self.on(broken)
        self.assertEqual(result.code, 1)
        self.assertIn("GPU: not known: the search for GPUs failed", result.out)
        self.assertEqual(result.err, "hmn: mismatch (18)\n")

    def test_what_a_card_cannot_report_is_no_diagnostic(self):
        missing = [{"call": "pools", "status": "unsupported", "message": "no such figure"}]
        result = self.on({"devices": [card(failures=missing)]})
        self.assertEqual((result.code, result.err), (0, ""))

    def test_what_failed_is_one_diagnostic(self):
        failing = [{"call": "pools", "status": "permission", "message": "root only"}]
        result = self.on({"devices": [card(failures=failing)]})
        self.assertEqual((result.code, result.err), (0, "hmn: GPU 0: root only\n"))
        self.assertIn("GPU 0 [Card]: memory unknown", result.out)


class Json(Machines):
    def gpus(self, **keys):
        return self.rows(self.on(keys, "--json"))

    def test_h191_no_gpu_is_an_empty_array(self):
        result = self.on({"devices": []}, "--json")
        self.assertEqual(result, (0, "[]\n", ""))

    def test_h194_keys_and_their_order(self):
        self.assertEqual(list(self.gpus(devices=[card()])[0]), KEYS)

    def test_every_known_value(self):
        device = card(
            "NVIDIA \"Test\"", uuid="GPU-1", pci_bus_id="0000:01:00.0", vendor="nvidia",
            driver_version="591.86", cuda_version=12040,
            telemetry={"gpu_busy_percent": 41.5, "temperature_celsius": 50, "power_watts": 74.25,
                       "power_limit_watts": 450},
            pools=[{"kind": "vram", "total": 17179869184, "free": 15170138112,
                    "used": 1933185024, "reserved": 76546048}])
        gpu = self.gpus(devices=[device])[0]
        age = gpu.pop("age_ns")
        self.assertIsInstance(age, int)
        self.assertEqual(gpu, {
            "index": 0, "name": "NVIDIA \"Test\"", "total_bytes": 17179869184,
            "free_bytes": 15170138112, "used_bytes": 1933185024, "reserved_bytes": 76546048,
            "driver_version": "591.86", "uuid": "GPU-1", "pci_bus_id": "0000:01:00.0",
            "cuda_version": 12040, "vendor": "nvidia", "kind": "discrete",
            "memory_kind": "dedicated", "pool": "vram", "parent_index": None, "state": "ready",
            "backend": "simulated", "notes": [], "gpu_busy_percent": 41.5,
            "temperature_celsius": 50, "power_watts": 74.25, "power_limit_watts": 450})

    def test_a_load_or_a_sensor_that_fails_is_null_with_its_reason(self):
        failing = [{"call": "telemetry", "fields": ["power_watts", "fan_percent"],
                    "status": "permission", "message": "root only"}]
        values = {"gpu_busy_percent": 5, "power_watts": 20, "fan_percent": 30}
        result = self.on({"devices": [card(telemetry=values, failures=failing)]}, "--json")
        gpu = self.rows(result)[0]
        self.assertEqual((gpu["gpu_busy_percent"], gpu["power_watts"]), (5, None))
        self.assertEqual(result.err, "hmn: GPU 0: root only\n")
        failing[0]["fields"] = ["fan_percent"]  # no value of this list
        self.assertEqual(self.on({"devices": [card(telemetry=values, failures=failing)]}, "--json").err, "")

    def test_sensors_that_hang_do_not_hide_the_memory(self):
        hanging = [{"call": "telemetry", "hang": "forever"}]
        gpu = self.rows(self.on({"devices": [card(delays=hanging)]}, "--json"))[0]
        self.assertEqual((gpu["total_bytes"], gpu["gpu_busy_percent"]), (16 * GIB, None))

    def test_unknown_is_null(self):
        gpu = self.gpus(devices=[{"pools": []}])[0]
        known = {key for key, value in gpu.items() if value is not None}
        self.assertEqual(known, {"index", "vendor", "kind", "memory_kind", "state", "backend", "notes"})
        self.assertEqual((gpu["vendor"], gpu["memory_kind"]), ("unknown", "unknown"))

    def test_no_blank_stands_between_values(self):
        text = self.on({"devices": [card("a b")]}, "--json").out
        self.assertNotIn(" ", text.replace("a b", ""))

    def test_values_are_exact_to_the_last_bit(self):
        most = 281474976710656
        pool = {"kind": "vram", "total": most, "free": most - 1, "used": 1}
        gpu = self.gpus(devices=[card(pools=[pool])])[0]
        self.assertEqual((gpu["total_bytes"], gpu["free_bytes"], gpu["used_bytes"]),
                         (most, most - 1, 1))

    def test_names_survive_as_they_are(self):
        name = "a\"b\\c\n\t\x01\x7f\u0085\u202e 模型 😀/"
        result = self.on({"devices": [card(name)]}, "--json")
        self.assertEqual(self.rows(result)[0]["name"], name)
        self.assertIn(r'"name":"a\"b\\c\n\t\u0001\u007f\u0085\u202e 模型 😀/"', result.out)

    def test_partitions_and_their_gpu(self):
        gpus = self.gpus(devices=[card(partitions=[card("Part")])])
        self.assertEqual([(gpu["kind"], gpu["parent_index"]) for gpu in gpus],
                         [("discrete", None), ("partition", 0)])

    def test_a_device_that_sleeps_stays_in_the_list(self):
        gpu = self.gpus(devices=[card(state="asleep")])[0]
        self.assertEqual((gpu["state"], gpu["total_bytes"]), ("asleep", None))

    def test_a_failing_driver_is_an_empty_array_and_exit_1(self):
        broken = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        self.assertEqual(self.on(broken, "--json"), (1, "[]\n", "hmn: mismatch\n"))

    def test_the_examples(self):
        for path in sorted(MACHINES.glob("*.json")):
            with self.subTest(path.name):
                gpus = strict_json(self.on(path, "--json").out)
                self.assertEqual([gpu["index"] for gpu in gpus], list(range(len(gpus))))
                self.assertTrue(all(list(gpu) == KEYS for gpu in gpus))

    def test_json_and_text_agree(self):
        for path in sorted(MACHINES.glob("*.json")):
            text = self.on(path).out
            for gpu in strict_json(self.on(path, "--json").out):
                self.assertIn(f"GPU {gpu['index']} [{gpu['name']}]", text)
                if gpu["free_bytes"] is not None:
                    self.assertIn(f"free {gpu['free_bytes'] // MIB} MiB / {gpu['total_bytes'] // MIB} MiB",
                                  text)


if __name__ == "__main__":
    main()
