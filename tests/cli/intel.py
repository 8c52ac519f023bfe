# SPDX-License-Identifier: MIT OR Apache-2.0
"""intel.py FAKE_DRM: hmn on machines with Intel cards whose nodes answer as the kernel does."""
import json
import os
import pathlib
import sys
import unittest

from command import GIB, MIB, Machines, environment, main, run

FAKE_DRM = sys.argv.pop(1)

# Only root can make device nodes: sysfs lists the numbers of these as those of a card.
NODES = {"card0": "/dev/zero", "renderD128": "/dev/null",
         "card1": "/dev/random", "renderD129": "/dev/full"}
I915, XE = "0000:03:00.0", "0000:04:00.0"
COMMANDS = ((), ("--json",), ("ps",), ("ps", "--json"), ("snapshot",), ("doctor",))


def client(driver, address, region, resident):
    return (f"drm-driver:\t{driver}\ndrm-client-id:\t1\ndrm-pdev:\t{address}\n"
            f"drm-total-{region}:\t{resident}\ndrm-resident-{region}:\t{resident}\n")


class Intel(Machines):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.scenario = self.folder / "scenario"
        (self.folder / "dev" / "dri").mkdir(parents=True)
        (self.folder / "proc").mkdir()
        (self.folder / "sys/class/drm").mkdir(parents=True)

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link(self, path, target):
        source = self.folder / path
        source.parent.mkdir(parents=True, exist_ok=True)
        source.symlink_to(target)

    def add_card(self, driver, address, nodes, state="active", **files):
        device = f"devices/pci{address[:7]}/{address}"
        self.write(f"sys/bus/pci/drivers/{driver}/bind", "")
        self.link(f"sys/{device}/driver", f"../../../bus/pci/drivers/{driver}")
        self.link(f"sys/{device}/subsystem", "../../../bus/pci")
        self.link(f"sys/bus/pci/devices/{address}", f"../../../{device}")
        for name, text in {"vendor": "0x8086", "device": "0x56a5", "class": "0x030000",
                           "power/control": "auto", "power/runtime_status": state, **files}.items():
            self.write(f"sys/{device}/{name}", text + "\n")
        for name in nodes:
            numbers = os.stat(NODES[name]).st_rdev
            self.write(f"sys/{device}/drm/{name}/dev", f"{os.major(numbers)}:{os.minor(numbers)}\n")
            self.link(f"sys/{device}/drm/{name}/device", f"../../../{address}")
            self.link(f"sys/class/drm/{name}", f"../../{device}/drm/{name}")
            self.link(f"dev/dri/{name}", NODES[name])

    def add_two_cards(self, state="active"):
        self.add_card("i915", I915, ("card0", "renderD128"), state)
        self.add_card("xe", XE, ("card1", "renderD129"), state)

    def add_process(self, pid, node, text):
        self.write(f"proc/{pid}/stat", f"{pid} (worker) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n")
        self.write(f"proc/{pid}/comm", "worker\n")
        self.link(f"proc/{pid}/fd/3", NODES[node])
        self.write(f"proc/{pid}/fdinfo/3", text)

    def update_process(self, pid, text):
        self.write(f"proc/{pid}/fdinfo/3", text)

    def write_scenario(self, perfmon):
        self.scenario.write_text(
            ("perfmon\n" if perfmon else "") +
            f"node renderD128 i915\nregion renderD128 0 0 {32 * GIB} 0 {32 * GIB} 0\n"
            f"region renderD128 1 0 {4 * GIB} {300 * MIB} {256 * MIB} {5 * MIB}\n"
            f"node renderD129 xe\nregion renderD129 0 0 {16 * GIB} {7 * MIB} 0 0\n"
            f"region renderD129 1 1 {8 * GIB} {400 * MIB} {8 * GIB} {400 * MIB}\n"
            f"region renderD129 1 2 {8 * GIB} {100 * MIB} {8 * GIB} {100 * MIB}\n")

    def run_hmn(self, *arguments, **keys):
        """Returns the result, and the log of device nodes."""
        self.log.unlink(missing_ok=True)
        missing = str(self.folder / "none")
        names = {"HMN_SYS": "sys", "HMN_DEV": "dev", "HMN_PROC": "proc"}
        roots = {name: str(self.folder / folder) for name, folder in names.items()}
        result = run(*arguments, env=environment(
            LD_PRELOAD=FAKE_DRM, FAKE_DRM_SCENARIO=str(self.scenario), FAKE_DRM_LOG=str(self.log),
            HMN_NVML=missing, HMN_NVIDIA_SMI=missing, **roots, **keys))
        return result, self.log.read_text().splitlines() if self.log.exists() else []

    def pools(self, document, device):
        return {pool["kind"]: pool for pool in document["pools"] if pool["device_index"] == device}

    def test_used_memory_is_exact_with_cap_perfmon(self):
        self.add_two_cards()
        self.write_scenario(perfmon=True)
        result, log = self.run_hmn("--json")
        gpus = self.parse_rows(result)
        self.assertEqual([(gpu["backend"], gpu["total_bytes"], gpu["used_bytes"]) for gpu in gpus],
                         [("i915", 4 * GIB, 300 * MIB), ("xe", 16 * GIB, 500 * MIB)])
        self.check_closed(log)
        self.assertEqual(log.count("open renderD128"), 1)
        self.assertEqual(log.count("open renderD129"), 1)

    def test_used_memory_is_unknown_without_cap_perfmon(self):
        self.add_two_cards()
        self.write_scenario(perfmon=False)
        result, _ = self.run_hmn("--json")
        self.assertEqual([(gpu["total_bytes"], gpu["used_bytes"]) for gpu in self.parse_rows(result)],
                         [(4 * GIB, None), (16 * GIB, None)])
        self.assertIn("CAP_PERFMON", self.run_hmn("snapshot")[0].out)

    def test_doctor_explains_the_effect_of_missing_cap_perfmon(self):
        self.add_two_cards()
        self.write_scenario(perfmon=False)
        self.add_process(10, "renderD128", client("i915", I915, "local0", "12 MiB"))
        self.write("proc/self/status", "CapEff:\t0000000000000000\n")
        lines = [line.strip() for line in self.run_hmn("doctor")[0].out.splitlines()]
        notes = [line for line in lines if "CAP_PERFMON" in line]
        for words in ("a lower bound", "hold at least"):
            self.assertTrue([line for line in notes if words in line], words)
        self.assertEqual({line.split()[0] for line in notes}, {"note"})

    def test_clients_give_a_lower_bound_without_cap_perfmon(self):
        self.add_two_cards()
        self.write_scenario(perfmon=False)
        self.add_process(10, "renderD128", client("i915", I915, "local0", "12 MiB"))
        self.add_process(11, "renderD129", client("xe", XE, "vram0", "20 MiB"))
        result, log = self.run_hmn("--json")
        self.assertEqual([gpu["used_bytes"] for gpu in self.parse_rows(result)], [12 * MIB, 20 * MIB])
        self.check_closed(log)
        self.assertRegex(self.run_hmn()[0].out, "(?m)^0 .* >0/4.0 ")
        rows = self.parse_rows(self.run_hmn("ps", "--json", "--sort", "pid")[0])
        self.assertEqual([(row["pid"], row["used_bytes"], row["backend"]) for row in rows],
                         [(10, 12 * MIB, "i915"), (11, 20 * MIB, "xe")])

    def test_an_integrated_device_has_no_dedicated_memory(self):
        self.add_card("i915", "0000:00:02.0", ("card0", "renderD128"))
        self.scenario.write_text("perfmon\nnode renderD128 i915\n"
                                 f"region renderD128 0 0 {32 * GIB} 0 {32 * GIB} 0\n")
        self.add_process(10, "renderD128", client("i915", "0000:00:02.0", "system0", "6 MiB"))
        result, log = self.run_hmn("--json")
        gpu, = self.parse_rows(result)
        self.assertEqual(gpu["used_bytes"], 6 * MIB)
        self.assertNotEqual(gpu["total_bytes"], 32 * GIB)
        self.check_closed(log)

    def test_no_node_of_a_sleeping_card_is_opened(self):
        self.add_two_cards(state="suspended")
        self.write_scenario(perfmon=True)
        self.add_process(10, "renderD128", client("i915", I915, "local0", "12 MiB"))
        for arguments in COMMANDS:
            result, log = self.run_hmn(*arguments)
            self.assertEqual(log, [], arguments)
            # The tree lacks files that doctor requires.
            self.assertEqual(result.code, 1 if arguments == ("doctor",) else 0, (arguments, result.err))
            self.assertNotIn("FAIL  GPU", result.out)

    def test_nodes_are_closed_after_use(self):
        self.add_two_cards()
        self.write_scenario(perfmon=True)
        for arguments in COMMANDS:
            self.check_closed(self.run_hmn(*arguments)[1])

    def run_spill(self, pid, text):
        """Runs `hmn spill` on a command that writes `text` to the fdinfo of a process; returns report and stderr."""
        (self.folder / "after").write_text(text)
        copy = ("cp", str(self.folder / "after"), str(self.folder / f"proc/{pid}/fdinfo/3"))
        report = self.folder / "report.json"
        result, _ = self.run_hmn("spill", "--timeout", "60s", "--interval", "30s", "--output", str(report), "--", *copy)
        self.assertEqual(result.code, 0, result.err)
        return json.loads(report.read_text()), result.err

    def test_i915_memory_evicted_from_the_card_is_a_spill(self):
        self.add_card("i915", I915, ("card0", "renderD128"))
        self.write_scenario(perfmon=False)

        def memory(total, resident, system):
            return (client("i915", I915, "system0", f"{system} KiB") +
                    f"drm-total-local0:\t{total} KiB\ndrm-resident-local0:\t{resident} KiB\n")

        # 85 % of 4 GiB is 3565158 KiB and some bytes. 1024 KiB are in host memory; first 0, then 262144 are evicted.
        self.add_process(10, "renderD128", memory(3670016, 3670016, 1024))
        report, errors = self.run_spill(10, memory(3932160, 3670016, 1024))
        self.assertEqual((report["measurable"], report["spilled"]), (True, True), errors)
        self.assertEqual((report["baseline_shared_bytes"], report["peak_shared_bytes"]), (MIB, 257 * MIB))
        self.assertEqual((report["peak_dedicated_bytes"], report["dedicated_limit_bytes"]), (3584 * MIB, 4 * GIB))
        self.assertEqual(report["episodes"][0]["rules"], ["shared"])
        self.assertIsNone(report["peak_evicted_bytes"])
        self.update_process(10, memory(3670016, 3670016, 1024))
        self.assertEqual(self.run_spill(10, memory(3932159, 3670016, 1024))[0]["spilled"], False)
        self.update_process(10, memory(3670016, 3670016, 1024))
        self.assertEqual(self.run_spill(10, memory(3670016, 3670016, 263168))[0]["spilled"], True)

    def test_a_client_shared_by_two_processes_counts_once(self):
        self.add_card("xe", XE, ("card1", "renderD129"))
        self.write_scenario(perfmon=False)

        def memory(system):
            return client("xe", XE, "vram0", f"{15 << 20} KiB") + \
                f"drm-total-system:\t{system} KiB\ndrm-resident-system:\t{system} KiB\n"

        for pid in (11, 12):
            self.add_process(pid, "renderD129", memory(1024))
        self.assertIn("2 GPU processes found (at least 15.0 GiB resident total", self.run_hmn("ps")[0].err)
        report, errors = self.run_spill(11, memory(257 << 10))
        self.assertEqual((report["baseline_shared_bytes"], report["peak_shared_bytes"]), (MIB, 257 * MIB), errors)

    def test_host_memory_used_by_xe_is_a_spill(self):
        self.add_card("xe", XE, ("card1", "renderD129"))
        self.write_scenario(perfmon=False)

        def memory(vram, system):
            return client("xe", XE, "vram0", f"{vram} KiB") + \
                f"drm-total-system:\t{system} KiB\ndrm-resident-system:\t{system} KiB\n" \
                f"drm-total-gtt:\t0\ndrm-resident-gtt:\t0\n"

        self.add_process(11, "renderD129", memory(15 << 20, 1024))
        report, errors = self.run_spill(11, memory(15 << 20, 257 << 10))
        self.assertEqual((report["measurable"], report["spilled"]), (True, True), errors)
        self.assertEqual((report["baseline_shared_bytes"], report["peak_shared_bytes"]), (MIB, 257 * MIB))
        self.assertEqual((report["peak_dedicated_bytes"], report["dedicated_limit_bytes"]), (15 * GIB, 16 * GIB))
        self.update_process(11, memory(13 << 20, 1024))
        self.assertEqual(self.run_spill(11, memory(13 << 20, 257 << 10))[0]["spilled"], False)

    def test_an_integrated_device_cannot_spill(self):
        self.add_card("i915", "0000:00:02.0", ("card0", "renderD128"))
        self.scenario.write_text("perfmon\nnode renderD128 i915\n"
                                 f"region renderD128 0 0 {32 * GIB} 0 {32 * GIB} 0\n")
        self.add_process(10, "renderD128", client("i915", "0000:00:02.0", "system0", "6 MiB"))
        report, errors = self.run_spill(10, client("i915", "0000:00:02.0", "system0", "9 GiB"))
        self.assertEqual((report["measurable"], report["spilled"]), (False, None))
        self.assertIn("host's RAM", errors)

    def test_spill_does_not_wake_a_sleeping_card(self):
        self.add_two_cards(state="suspended")
        self.write_scenario(perfmon=True)
        result, log = self.run_hmn("spill", "--", "true")
        self.assertEqual((result.code, log), (0, []))
        self.assertIn("spill not measurable: ", result.err)
        self.assertIn("would wake it", result.err)

    def check_closed(self, log):
        """Checks that each node is closed before the next is opened, and none is open at the end."""
        open_node = None
        for action, node in (line.split() for line in log):
            if action == "open":
                self.assertIsNone(open_node, log)
                open_node = node
            else:
                self.assertEqual(open_node, node, log)
                open_node = None if action == "close" else node
        self.assertIsNone(open_node, log)

    def test_a_node_without_access_is_reported_as_the_reason(self):
        self.add_card("xe", XE, ("card1", "renderD129"))
        self.scenario.write_text("node renderD129 xe open=13\n")
        result, log = self.run_hmn("snapshot")
        self.assertIn("group of the node", result.out)
        self.check_closed(log)


if __name__ == "__main__":
    main()
