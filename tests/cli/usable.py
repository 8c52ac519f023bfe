# SPDX-License-Identifier: MIT OR Apache-2.0
"""usable.py WOULD_FIT: `hmn wait`, `hmn fit` and hmn_tracker_would_fit() agree on the memory that can be allocated."""
import subprocess
import sys

from command import GIB, MACHINES, MIB, SOURCE, card, environment, main, parse_json, parse_table, run
from kernel_card import CARD, CONTAINER, USER, CardInGroups

WOULD_FIT = sys.argv.pop()
MODEL = SOURCE / "examples" / "models" / "llama-3-8b.json"
RESERVE = 512 * MIB  # left to the runtime by `hmn fit`


def pool(kind="vram", total="16GiB", **keys):
    return card(pools=[{"kind": kind, "total": total} | keys])


def host(available="60GiB", **limits):
    return {"system": {"total": "64GiB", "available": available} | limits}


def apu(vram, gtt, **keys):
    """Returns an integrated GPU; the larger pool is its main one."""
    sizes = (("vram", vram), ("host", gtt))
    return card(memory_kind="unified", form="integrated", pools=[
        {"kind": kind, "total": size, "used": 0, "main": size == max(vram, gtt)} for kind, size in sizes]) | keys


class Usable(CardInGroups):
    def run_wait(self, path, index, size, limit="200ms"):
        return self.run_on(path, "wait", "--free", f"{size}B", "--device", index, "--interval", "1ms", "--timeout",
                           limit, "--json")

    def check(self, machine, *expected):
        """Compares the usable memory of each device with the expected size; None: unknown."""
        path = machine if not isinstance(machine, dict) else self.write_machine(machine)
        process = subprocess.run([WOULD_FIT, path], env=environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(process.stdout.split(), ["-" if size is None else str(size) for size in expected])
        fits = parse_json(self.run_on(path, "fit", "--json", MODEL).out)["devices"]
        self.assertEqual([size["usable_bytes"] for size in fits],
                         [size and max(size - RESERVE, 0) for size in expected])
        for index, size in enumerate(expected):
            main_pools = [pool["usable_bytes"] for pool in fits[index]["pools"] if pool["is_main"]]
            self.assertEqual(main_pools or [None], [size])
            if size is None:
                result = self.run_wait(path, index, 1)
                self.assertNotEqual(result.code, 0)
                self.assertEqual((result.out, fits[index]["verdict"]), ("", "unknown"))
                continue
            result = self.run_wait(path, index, size, "60s")
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual((parse_json(result.out)["index"], parse_json(result.out)["free_bytes"]), (index, size))
            self.assertNotEqual(self.run_wait(path, index, size + 1).code, 0)

    def test_unified_memory_is_the_available_host_memory(self):
        self.check(MACHINES / "unified-gb10.json", 313 * GIB // 4)
        limited = pool("unified", "64GiB", used="1GiB")
        self.check({"host": host(limit="8GiB", limit_used="6GiB"), "devices": [limited]}, 2 * GIB)

    def test_memory_set_aside_by_firmware_is_not_host_memory(self):
        limited = host("8GiB", limit="20GiB", limit_used="18GiB")
        self.check({"host": host("8GiB"), "devices": [apu(64 * GIB, 31 * GIB), apu(GIB, 31 * GIB)]},
                   64 * GIB, 8 * GIB)
        self.check({"host": limited, "devices": [apu(64 * GIB, 31 * GIB), apu(GIB, 31 * GIB)]}, 64 * GIB, 2 * GIB)

    def limit_memory(self, group, limit, used, **stat):
        for name, text in (("max", limit), ("current", used), ("stat", "\n".join(f"{k} {v}" for k, v in stat.items()))):
            self.write(f"cgroup/{group}/memory.{name}", f"{text}\n")

    def test_reclaimable_cache_counts_as_free_within_a_limit(self):
        (self.folder / CARD / "driver").unlink()
        self.link(f"{CARD}/driver", "../../../bus/pci/drivers/amdgpu")
        for name, text in (("name", "amdgpu"), ("in1_label", "vddnb")):
            self.write(f"{CARD}/hwmon/hwmon4/{name}", f"{text}\n")
        for name, size in (("vram_total", GIB), ("vram_used", 0), ("gtt_total", 6 * GIB), ("gtt_used", 0)):
            self.write(f"{CARD}/mem_info_{name}", f"{size}\n")
        self.check(self.record("--force")[0], 4 * GIB)  # the available host memory
        outer = f"user.slice/{USER}.scope"
        self.limit_memory(f"{outer}/docker-{CONTAINER}.scope", 3 * GIB, 5 * GIB // 2)
        self.check(self.record("--force")[0], GIB // 2)
        self.limit_memory(f"{outer}/docker-{CONTAINER}.scope", 3 * GIB, 5 * GIB // 2, file=9 * GIB // 4, shmem=GIB // 8,
                          inactive_file=GIB, active_file=GIB, file_mapped=GIB // 4, file_dirty=GIB // 8,
                          file_writeback=GIB // 8)
        self.check(self.record("--force")[0], 2 * GIB)
        self.assertEqual([row["GiB"] for row in parse_table(run(env=environment(**self.env)).out)[:2]],
                         ["4.0/8.0", "1.0/3.0"])
        self.assertIn('"limit_used_bytes":2684354560', run("snapshot", env=environment(**self.env)).out)
        # An outer group has a higher limit, but less memory left.
        self.limit_memory(outer, 8 * GIB, 15 * GIB // 2, inactive_file=GIB)
        self.check(self.record("--force")[0], 3 * GIB // 2)

    def test_a_partitioned_gpu_offers_only_its_partitions(self):
        self.check(MACHINES / "mig-a100.json", None, (19968 - 18442) * MIB, (9856 - 4606) * MIB, (4864 - 13) * MIB)

    def test_a_budget_limits_usable_memory(self):
        self.check({"devices": [pool(used="3GiB", budget="2GiB"), pool(used="3GiB", budget="14GiB"),
                                pool(used="3GiB", usable="5GiB")]}, 2 * GIB, 13 * GIB, 5 * GIB)

    def test_a_control_group_limits_a_card(self):
        (self.folder / CARD / "driver").unlink()
        self.link(f"{CARD}/driver", "../../../bus/pci/drivers/amdgpu")
        for name, size in (("total", 16 * GIB), ("used", 3 * GIB)):
            self.write(f"{CARD}/mem_info_vram_{name}", f"{size}\n")
        self.check(self.make_recording(), (64 - 3) * MIB)  # of the 13 GiB that are free

    def test_a_failing_gpu_has_no_usable_memory(self):
        failures = [{"call": "any", "status": "backend", "message": "GPU requires reset"}]
        self.check({"devices": [pool(used="3GiB") | {"state": "lost"}, pool(used="3GiB") | {"state": "unreadable"},
                                pool(used="3GiB") | {"failures": failures}, pool(used="3GiB")]},
                   None, None, None, 13 * GIB)

    def test_a_hung_gpu_has_no_usable_memory(self):
        self.check({"devices": [pool(used="3GiB") | {"delays": [{"call": "pools", "hang": "forever"}]}]}, None)

    def test_unknown_free_memory_is_not_guessed(self):
        self.check({"devices": [pool(), card(pools=[])]}, None, None)


if __name__ == "__main__":
    main()
