# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn ps`."""
import csv
import io
import re

from command import GIB, MACHINES, MIB, Machines, card, environment, main, parse_json, run, run_in_terminal

KEYS = ["pid", "name", "used_bytes", "shared_used_bytes", "device_index", "device_name",
        "device_uuid", "pci_bus_id", "parent_index", "name_state", "host_resident_bytes", "uid",
        "start_unix_ns", "kinds", "gpu_instance", "compute_instance", "accounting", "backend",
        "age_ns", "notes", "busy_percent", "busy_ns", "container", "peak_used_bytes"]


def process(pid, used, name="x", **keys):
    return {"pid": pid, "used": used, "name": name} | keys


def make_machine(*processes, **keys):
    return {"devices": [card("RTX 5060 Ti", processes=list(processes), **keys)]}


def join_lines(*lines):
    return "".join(line + "\n" for line in lines)


class Table(Machines):
    """The table of the predecessor, in its new form."""

    def test_an_empty_list_prints_the_header(self):
        self.assertEqual(self.run_on(make_machine(), "ps"),
                         (0, "PID  NAME  VRAM  SHARED  RAM  GPU  USER  COMMAND\n", "hmn: 0 GPU processes found.\n"))

    def test_an_unreadable_list_differs_from_an_empty_one(self):
        failures = [{"call": "processes", "status": "backend", "message": "the list is garbled"}]
        header = "PID  NAME  VRAM  SHARED  RAM  GPU  USER  COMMAND\n"
        self.assertEqual(self.run_on(make_machine(failures=failures), "ps"),
                         (1, header, "hmn: GPU 0: the list is garbled\n"))
        for status, code in (("unsupported", 1), ("permission", 1), ("asleep", 0)):
            failures[0]["status"] = status
            result = self.run_on(make_machine(failures=failures), "ps", "--json")
            self.assertEqual(result, (code, "[]\n", "hmn: GPU 0: the list is garbled\n"), status)
        failures[0]["status"] = "backend"
        devices = [card("A", failures=failures), card("B", processes=[process(7, "1GiB")])]
        self.assertEqual(self.run_on({"devices": devices}, "ps").err,
                         "hmn: GPU 0: the list is garbled\n"
                         "hmn: at least 1 GPU process found (at least 1.0 GiB allocated total).\n")
        self.assertEqual(self.run_on({"devices": devices}, "ps").code, 1)

    def test_a_process_has_one_row(self):
        row = process(12345, "8GiB", "python.exe", host_pool=0)
        self.assertEqual(self.run_on(make_machine(row), "ps").out, join_lines(
            "  PID  NAME           VRAM  SHARED  RAM  GPU  USER  COMMAND",
            "12345  python.exe  8.0 GiB   0 MiB    ?    0  ?     ?"))

    def test_missing_and_protected_names_are_question_marks(self):
        row = process(99, "256MiB", None, host_pool=0)
        self.assertEqual(self.run_on(make_machine(row), "ps").out, join_lines(
            "PID  NAME     VRAM  SHARED  RAM  GPU  USER  COMMAND",
            " 99  ?     256 MiB   0 MiB    ?    0  ?     ?"))
        row["name_state"] = "protected"
        self.assertEqual(self.run_on(make_machine(row), "ps").out, join_lines(
            "PID  NAME            VRAM  SHARED  RAM  GPU  USER  COMMAND",
            " 99  ? protected  256 MiB   0 MiB    ?    0  ?     ?"))

    def test_a_device_without_a_name_is_listed_by_its_index(self):
        row = process(99, "256MiB", "python.exe", host_pool=0)
        devices = [card("A"), card("B"), card("C"), {"processes": [row]}]
        text = self.run_on({"devices": devices}, "ps").out
        self.assertIn("python.exe  256 MiB   0 MiB    ?    3  ?     ?\n", text)

    def test_shared_memory_has_a_column(self):
        row = process(99, "16GiB", "python.exe", host_pool="2GiB")
        self.assertIn("  16.0 GiB  2.0 GiB  ", self.run_on(make_machine(row), "ps").out)

    def test_all_values_of_a_process_are_in_its_row(self):
        row = process(12345, "8GiB", "python.exe", host_resident="1.5GiB", host_pool="512MiB")
        self.assertEqual(self.run_on(make_machine(row), "ps").out, join_lines(
            "  PID  NAME           VRAM   SHARED      RAM  GPU  USER  COMMAND",
            "12345  python.exe  8.0 GiB  512 MiB  1.5 GiB    0  ?     ?"))

    def test_unknown_values_are_question_marks(self):
        row = {"pid": 99, "missing": {"status": "unsupported"}}
        self.assertEqual(self.run_on(make_machine(row), "ps").out, join_lines(
            "PID  NAME  VRAM  SHARED  RAM  GPU  USER  COMMAND",
            " 99  ?        ?       ?    ?    0  ?     ?"))

    def test_an_unknown_name_is_shown_with_its_reason(self):
        rows = [process(pid, "1MiB", None, name_state=state)
                for pid, state in ((1, "exited"), (2, "protected"), (3, "kernel"), (4, "unknown"))]
        text = self.run_on(make_machine(*rows), "ps", "--sort", "pid").out
        self.assertEqual([re.split(" {2,}", line.strip())[1] for line in text.splitlines()[1:]],
                         ["? exited", "? protected", "? kernel", "?"])

    def test_control_characters_in_a_name_are_escaped(self):
        text = self.run_on(make_machine(process(1, "1MiB", "a\nb\x1b[2J\u202e")), "ps").out
        self.assertEqual(text.count("\n"), 2)
        self.assertIn("a\\nb\\x1b[2J\\u{202e}", text)

    def test_wide_names_keep_columns_aligned(self):
        text = self.run_on(make_machine(process(1, "1MiB", "模型"), process(2, "2MiB", "ab")), "ps").out
        self.assertIn("  1  模型  1 MiB", text)
        self.assertIn("  2  ab    2 MiB", text)

    def test_a_process_of_another_pid_namespace_is_marked(self):
        result = self.run_on(make_machine(process(1, "1MiB", None)) | {"pid_namespace": "foreign"}, "ps")
        self.assertIn("? other namespace", result.out)
        self.assertNotIn("protected", result.err)


class Json(Machines):
    """The JSON of the predecessor, in its new form."""

    def test_an_empty_list_is_an_empty_array(self):
        self.assertEqual(self.run_on(make_machine(), "ps", "--json").out, "[]\n")

    def test_keys_have_a_fixed_order(self):
        rows = self.parse_rows(self.run_on(make_machine(process(1, "1MiB")), "ps", "--json"))
        self.assertEqual(list(rows[0]), KEYS)

    def test_all_known_values_are_in_the_object(self):
        row = process(12345, 8388608, "python.exe", host_pool=0, host_resident=4096, uid=1000,
                      start_unix_ns=1700000000000000000, kinds=["compute", "graphics"],
                      instance={"gpu": 1, "compute": 0}, notes=["lower_bound"])
        device = {"uuid": "GPU-1", "pci_bus_id": "0000:01:00.0"}
        output = self.parse_rows(self.run_on(make_machine(row, **device), "ps", "--json"))[0]
        self.assertIsInstance(output.pop("age_ns"), int)
        self.assertEqual(output, {
            "pid": 12345, "name": "python.exe", "used_bytes": 8388608, "shared_used_bytes": 0,
            "device_index": 0, "device_name": "RTX 5060 Ti", "device_uuid": "GPU-1",
            "pci_bus_id": "0000:01:00.0", "parent_index": None, "name_state": "resolved",
            "host_resident_bytes": 4096, "uid": 1000, "start_unix_ns": 1700000000000000000,
            "kinds": ["compute", "graphics"], "gpu_instance": 1, "compute_instance": 0,
            "accounting": "allocated", "backend": "simulated", "notes": ["lower_bound"],
            "busy_percent": None, "busy_ns": None, "container": None,
            "peak_used_bytes": None})

    def test_the_old_keys_come_first_and_unchanged(self):
        row = process(12345, 8388608, "python.exe", host_pool=0)
        text = self.run_on(make_machine(row), "ps", "--json").out
        self.assertTrue(text.startswith(
            '[{"pid":12345,"name":"python.exe","used_bytes":8388608,"shared_used_bytes":0,'
            '"device_index":0,"device_name":"RTX 5060 Ti",'), text)
        nameless = process(42, 0, None, host_pool=0)
        text = self.run_on({"devices": [{"processes": [nameless]}]}, "ps", "--json").out
        self.assertTrue(text.startswith(
            '[{"pid":42,"name":null,"used_bytes":0,"shared_used_bytes":0,"device_index":0,'
            '"device_name":null,'), text)

    def test_unknown_values_are_null(self):
        row = {"pid": 42, "missing": {"status": "unsupported"}}
        output = self.parse_rows(self.run_on({"devices": [{"processes": [row]}]}, "ps", "--json"))[0]
        keys = {key for key, value in output.items() if value is not None}
        self.assertEqual(keys, {"pid", "device_index", "name_state", "accounting", "backend", "age_ns",
                                "notes"})
        self.assertEqual(output["name_state"], "unknown")

    def test_quotes_in_names_are_escaped(self):
        text = self.run_on(make_machine(process(1, 1, 'weird"name')), "ps", "--json").out
        self.assertIn('"name":"weird\\"name"', text)

    def test_rows_of_the_example_machines_have_all_keys(self):
        for path in sorted(MACHINES.glob("*.json")):
            with self.subTest(path.name):
                rows = parse_json(self.run_on(path, "ps", "--json").out)
                self.assertTrue(all(list(row) == KEYS for row in rows))


class Pools(Machines):
    MACHINE = make_machine(process(7, "3GiB", "python3", resident="2GiB", allocated="3GiB", evicted="1GiB",
                                   host_pool="256MiB", shared="1MiB"), process(8, None, "node"))

    def test_each_pool_of_each_process_has_a_line(self):
        result = self.run_on(self.MACHINE, "ps", "--show-pools")
        self.assertEqual([re.split(" {2,}", line.strip()) for line in result.out.splitlines()], [
            ["PID", "NAME", "POOL", "USED", "ALLOCATED", "RESIDENT", "COMMITTED", "EVICTED", "DEVICE"],
            ["7", "python3", "vram", "3.0 GiB", "3.0 GiB", "2.0 GiB", "-", "1.0 GiB", "GPU 0 [RTX 5060 Ti]"],
            ["7", "python3", "host", "256 MiB", "-", "-", "-", "-", "GPU 0 [RTX 5060 Ti]"],
            ["8", "node", "vram", "?", "?", "?", "?", "?", "GPU 0 [RTX 5060 Ti]"],
            ["8", "node", "host", "?", "-", "-", "-", "-", "GPU 0 [RTX 5060 Ti]"]])
        self.assertIn("2 GPU processes found", result.err)

    def test_json_has_the_pools_of_each_process(self):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--show-pools", "--json"))
        self.assertEqual(list(rows[0]), [*KEYS, "pools"])
        pools = [{key: value for key, value in pool.items() if value is not None} for pool in rows[0]["pools"]]
        self.assertEqual(pools, [
            {"pool": "vram", "used_bytes": 3 * GIB, "allocated_bytes": 3 * GIB, "resident_bytes": 2 * GIB,
             "evicted_bytes": GIB, "shared_bytes": MIB}, {"pool": "host", "used_bytes": 256 * MIB}])
        self.assertEqual([set(pool) for pool in rows[1]["pools"]],
                         [{"pool", *(f"{name}_bytes" for name in ("used", "allocated", "resident", "committed",
                                                                  "evicted", "purgeable", "shared"))}] * 2)

    def test_unified_memory_is_one_pool(self):
        device = {"name": "GB10", "pools": [{"kind": "unified", "total": "100GiB", "used": "3GiB"}],
                  "processes": [process(7, "1GiB")]}
        rows = self.parse_rows(self.run_on({"devices": [device]}, "ps", "--show-pools", "--json", "--unattributed"))
        self.assertEqual([[pool["pool"] for pool in row["pools"]] for row in rows], [["unified"], ["unified"]])

    def test_show_pools_refuses_columns(self):
        self.assertEqual(self.run_on(self.MACHINE, "ps", "--show-pools", "--columns", "pid").code, 2)


ID = "0123456789abcdef" * 4


class Groups(Machines):
    """`--by`: sums, which are lower bounds if a value is unknown."""

    MACHINE = {"devices": [
        card("A", processes=[process(1, "2GiB", uid=7, container="docker:" + "a" * 64),
                             process(2, "1GiB", uid=8)]),
        card("B", processes=[process(1, "3GiB", uid=7, container="docker:" + "a" * 64)])]}

    def test_memory_is_summed_by_user(self):
        self.assertEqual(self.run_on(self.MACHINE, "ps", "--by", "user").out, join_lines(
            "USER  PROCESSES     VRAM  GPUS",
            "7             1  5.0 GiB  0, 1",
            "8             1  1.0 GiB  0"))

    def test_memory_is_summed_by_container(self):
        self.assertEqual(self.run_on(self.MACHINE, "ps", "--by", "container").out, join_lines(
            "CONTAINER            PROCESSES     VRAM  GPUS",
            "docker:aaaaaaaaaaaa          1  5.0 GiB  0, 1",
            "-                            1  1.0 GiB  0"))
        groups = self.parse_rows(self.run_on(self.MACHINE, "ps", "--by", "container", "--json"))
        self.assertEqual([group["container"] for group in groups], ["docker:" + "a" * 64, None])
        self.assertEqual([group["known"] for group in groups], [True, True])

    def test_memory_is_summed_by_device(self):
        self.assertEqual(self.run_on(self.MACHINE, "ps", "--by", "device").out, join_lines(
            "DEVICE     PROCESSES     VRAM",
            "GPU 0 [A]          2  3.0 GiB",
            "GPU 1 [B]          1  3.0 GiB"))

    def test_sums_are_printed_as_json(self):
        self.assertEqual(self.parse_rows(self.run_on(self.MACHINE, "ps", "--by", "user", "--json")), [
            {"user": "7", "uid": 7, "processes": 1, "used_bytes": 5 * GIB, "lower_bound": False,
             "unknown_size": 0, "device_indexes": [0, 1]},
            {"user": "8", "uid": 8, "processes": 1, "used_bytes": GIB, "lower_bound": False,
             "unknown_size": 0, "device_indexes": [0]}])

    def test_an_unknown_size_makes_the_sum_a_lower_bound(self):
        machine = make_machine(process(1, "2GiB", uid=7), process(2, None, uid=7),
                               process(3, None, uid=8))
        self.assertEqual(self.run_on(machine, "ps", "--by", "user").out.splitlines()[1:],
                         ["7             2  at least 2.0 GiB  0", "8             1                 ?  0"])

    def test_a_process_of_an_unknown_user_makes_other_sums_lower_bounds(self):
        machine = make_machine(process(1, "2GiB", uid=7), process(2, "1GiB"))
        groups = self.parse_rows(self.run_on(machine, "ps", "--by", "user", "--json"))
        self.assertEqual([(group["user"], group["lower_bound"]) for group in groups],
                         [("7", True), (None, False)])

    def test_a_missing_list_makes_sums_lower_bounds(self):
        failures = [{"call": "processes", "status": "backend", "message": "garbled"}]
        machine = {"devices": [card("A", processes=[process(1, "2GiB", uid=7)]), card("B", failures=failures)]}
        result = self.run_on(machine, "ps", "--by", "user")
        self.assertIn("at least 2.0 GiB", result.out)
        self.assertEqual(result.code, 1)
        # The list of device 0 is complete.
        self.assertNotIn("at least", self.run_on(machine, "ps", "--by", "device").out)

    def test_a_process_on_a_gpu_and_its_partition_counts_once(self):
        row = process(1, "2GiB", uid=7)
        machine = {"devices": [card("A", processes=[row], partitions=[card("Part", processes=[row])])]}
        self.assertEqual(self.parse_rows(self.run_on(machine, "ps", "--by", "user", "--json"))[0]["used_bytes"],
                         2 * GIB)

    def test_sums_refuse_options_of_the_list(self):
        for options in (["--columns", "pid"], ["--show-pools"], ["--sort", "ram"], ["--unattributed"]):
            result = self.run_on(self.MACHINE, "ps", "--by", "user", *options)
            self.assertEqual(result.code, 2)
            self.assertEqual(result.err, f"hmn: {options[0]} and --by: only one of them\n")
        self.assertEqual(self.run_on(self.MACHINE, "ps", "--by", "gpu").err,
                         'hmn: --by "gpu": expected user, container, pod, job, unit or device\n')

    def test_pods_jobs_and_units_are_unknown_in_a_machine_file(self):
        for grouping in ("pod", "job", "unit"):
            self.assertEqual(self.run_on(self.MACHINE, "ps", "--by", grouping).out.splitlines()[1].split()[0], "?")
            group = self.parse_rows(self.run_on(self.MACHINE, "ps", "--by", grouping, "--json"))[0]
            self.assertEqual(group | {"used_bytes": 0}, {
                grouping: None, "known": False, "processes": 2, "used_bytes": 0, "lower_bound": False,
                "unknown_size": 0, "device_indexes": [0, 1]})


class Apu(Machines):
    MACHINE = make_machine(process(7, "7GiB", "a", host_pool="5GiB"), process(8, "2GiB", "b", host_pool="512MiB"),
                           memory_kind="unified", pools=[{"kind": "host", "total": "13GiB", "used": "6GiB"},
                                                         {"kind": "vram", "total": "4GiB", "used": "3.5GiB"}])

    def test_each_pool_is_shown_once(self):
        result = self.run_on(self.MACHINE, "ps", "--columns", "pid,vram,shared")
        self.assertEqual(result.out,
                         join_lines("PID     VRAM   SHARED", "  7  2.0 GiB  5.0 GiB", "  8  1.5 GiB  512 MiB"))
        self.assertIn("(3.5 GiB allocated total, 5.5 GiB of host RAM)", result.err)

    def test_each_pool_has_its_own_sum(self):
        groups = self.parse_rows(self.run_on(self.MACHINE, "ps", "--by", "device", "--json"))
        self.assertEqual([(group["used_bytes"], group["shared_used_bytes"]) for group in groups],
                         [(3 * GIB + 512 * MIB, 5 * GIB + 512 * MIB)])
        self.assertIn("SHARED", self.run_on(self.MACHINE, "ps", "--by", "device").out.splitlines()[0])

    def test_the_summary_counts_the_processes_of_the_pool_shown(self):
        line = self.run_on(self.MACHINE).out.splitlines()[-1]
        self.assertIn(" 6.0/13.0 ", line)
        self.assertTrue(line.endswith(" 5.5"), line)


class SumAboveTotal(Machines):
    MACHINE = make_machine(process(7, "12GiB", "a", uid=4000000), process(8, "11GiB", "b", uid=4000000),
                           pools=[{"kind": "vram", "total": "16GiB", "used": "1741MiB"}])

    def test_processes_keep_their_values_and_the_sum_is_unknown(self):
        result = self.run_on(self.MACHINE, "ps", "--json")
        self.assertEqual([row["used_bytes"] for row in self.parse_rows(result)], [12 * GIB, 11 * GIB])
        reason = "processes of GPU 0 add up to 23.0 GiB, more than can be in use (16.0 GiB)"
        self.assertIn(f"2 GPU processes found (total unknown: {reason}).", result.err)
        for grouping in ("user", "device"):
            group = self.parse_rows(self.run_on(self.MACHINE, "ps", "--by", grouping, "--json"))[0]
            self.assertIsNone(group["used_bytes"])
        summary = self.run_on(self.MACHINE)
        self.assertIn(reason, summary.out + summary.err)


class Columns(Machines):
    MACHINE = make_machine(
        process(7, "1GiB", "python3", kinds=["compute", "graphics"], uid=1000, busy_percent=41.6,
                busy_ns=5, window_ns=9, command="python3 a\tb\x1b[2J", container="docker:" + ID),
        {"pid": 8, "missing": {"status": "unsupported"}})
    ALL = ["pid", "name", "vram", "shared", "ram", "gpu", "user", "command", "device", "type", "load", "container",
           "nspid", "peak"]

    def read_table(self, *arguments, machine=None):
        result = self.run_on(machine or self.MACHINE, "ps", *arguments)
        self.assertEqual(result.code, 0, result.err)
        return [re.split(" {2,}", line.strip()) for line in result.out.splitlines()]

    def test_columns_are_printed_in_the_requested_order(self):
        self.assertEqual(self.read_table("--columns", "type,pid,user,load,container,command"), [
            ["TYPE", "PID", "USER", "LOAD", "CONTAINER", "COMMAND"],
            ["compute+graphics", "7", "1000", "42 %", "docker:0123456789ab",
             "python3 a\\tb\\x1b[2J"],
            ["?", "8", "?", "?", "-", "?"]])

    def test_columns_have_aliases(self):
        self.assertEqual(self.read_table("--columns", "used,host")[0], ["VRAM", "SHARED"])

    def test_all_columns_can_be_selected(self):
        self.assertEqual(self.read_table("--columns", ",".join(self.ALL))[0],
                         [name.upper() for name in self.ALL])

    def test_a_wrong_column_is_refused_with_the_list_of_columns(self):
        for columns, message in (("pid,colour", '"colour" is not a column'), ("", '"" is not a column'),
                                 ("pid,", '"" is not a column'), ("PID", '"PID" is not a column'),
                                 ("used,vram", '"vram" is listed twice')):
            result = self.run_on(self.MACHINE, "ps", "--columns", columns)
            self.assertEqual((result.code, result.out), (2, ""), columns)
            self.assertIn(f'--columns "{columns}": {message}', result.err)
            if "no column" in message:
                self.assertIn("; there are " + ", ".join(self.ALL), result.err)

    def test_json_has_only_the_keys_of_the_selected_columns(self):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--json", "--columns", "command,user,load,pid"))
        self.assertEqual([list(row) for row in rows],
                         [["command", "user", "uid", "busy_percent", "busy_ns", "pid"]] * 2)
        self.assertEqual(rows[0], {"command": "python3 a\tb\x1b[2J", "user": "1000", "uid": 1000,
                                   "busy_percent": 41.6, "busy_ns": 5, "pid": 7})
        self.assertEqual(rows[1]["command"], None)

    def test_the_peak_comes_from_the_driver(self):
        machine = make_machine(process(7, "1GiB", "python3", peak_used="3GiB"), process(8, "2GiB", "node"))
        self.assertEqual(self.read_table("--columns", "pid,peak", "--sort", "pid", machine=machine),
                         [["PID", "PEAK"], ["7", "3.0 GiB"], ["8", "?"]])
        rows = self.parse_rows(self.run_on(machine, "ps", "--json", "--columns", "peak", "--sort", "pid"))
        self.assertEqual(rows, [{"peak_used_bytes": 3 << 30}, {"peak_used_bytes": None}])

    def test_json_has_the_full_container_id_by_default(self):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--json"))
        self.assertEqual([row["container"] for row in rows], ["docker:" + ID, None])
        self.assertNotIn("command", rows[0])

    def test_a_long_command_is_truncated_on_a_terminal_only(self):
        machine = make_machine(process(7, "1GiB", "x", command="x " + "模型" * 100))
        self.assertIn("模型" * 100, self.run_on(machine, "ps", "--columns", "pid,command").out)
        output = run_in_terminal("ps", "--columns", "pid,command", "--color", "never", "--machine",
                                 self.write_machine(machine), columns=40).out
        line = next(line for line in output.splitlines() if "模型" in line)
        self.assertTrue(line.endswith("…"), line)
        self.assertLessEqual(sum(2 if character in "模型" else 1 for character in line), 40)

    def test_ps_waits_for_a_load_that_needs_a_second_reading(self):
        row = {"pid": 7, "used": 0, "busy_ns": 5}
        machine = {"devices": [card(processes=[row])],
                   "changes": [{"at_reading": 3, "patch": [
                       {"op": "add", "path": "/devices/0/processes/0/busy_percent", "value": 12}]}]}
        self.assertEqual(self.read_table("--columns", "load", machine=machine)[1], ["12 %"])


class Widths(Machines):
    """The default columns: first the command, then the user is omitted if it does not fit."""

    MACHINE = make_machine(process(7, "1GiB", "python3", uid=1000, command="python3 train.py --epochs 3"))

    def read_titles(self, columns):
        output = run_in_terminal("ps", "--color", "never", "--machine", self.write_machine(self.MACHINE),
                                 columns=columns).out
        return next(line for line in output.splitlines() if "PID" in line).split()

    def test_columns_that_do_not_fit_are_omitted(self):
        narrow = ["PID", "NAME", "VRAM", "SHARED", "RAM", "GPU"]
        self.assertEqual(self.read_titles(100), [*narrow, "USER", "COMMAND"])
        self.assertEqual(self.read_titles(54), [*narrow, "USER"])
        self.assertEqual(self.read_titles(44), narrow)

    def test_a_pipe_has_all_columns(self):
        self.assertEqual(self.run_on(self.MACHINE, "ps").out.splitlines()[1].split()[-6:],
                         ["0", "1000", "python3", "train.py", "--epochs", "3"])


class Csv(Machines):
    MACHINE = make_machine(process(7, "1GiB", 'a,"b"', uid=8, kinds=["compute", "graphics"]), process(9, None, None))

    def read_csv(self, *arguments):
        return list(csv.reader(io.StringIO(self.run_on(self.MACHINE, "ps", "--csv", *arguments).out, newline="")))

    def test_csv_has_the_keys_of_the_json(self):
        header, first, second = self.read_csv()
        self.assertEqual(header, KEYS)
        row = dict(zip(header, first))
        self.assertEqual((row["pid"], row["name"], row["used_bytes"], row["kinds"], row["parent_index"]),
                         ("7", 'a,"b"', str(GIB), "compute graphics", ""))
        self.assertEqual(dict(zip(header, second))["used_bytes"], "")

    def test_columns_and_sums_are_printed_as_csv(self):
        self.assertEqual(self.read_csv("--columns", "pid,user"),
                         [["pid", "user", "uid"], ["7", "8", "8"], ["9", "", ""]])
        self.assertEqual(self.read_csv("--by", "device")[0],
                         ["device_index", "device_name", "device_uuid", "pci_bus_id", "parent_index", "processes",
                          "used_bytes", "lower_bound", "unknown_size"])

    def test_an_empty_list_prints_the_header(self):
        self.assertEqual(self.read_csv("--pid", "99999999", "--columns", "pid")[:1], [])
        self.assertEqual(self.read_csv("--user", "77", "--columns", "pid,load"), [["pid", "busy_percent", "busy_ns"]])

    def test_csv_excludes_other_forms(self):
        for option in ("--json", "--show-pools"):
            result = self.run_on(self.MACHINE, "ps", "--csv", option)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn("only one of them", result.err)


class Unattributed(Machines):
    MACHINE = make_machine(process(7, "1GiB", "a"), process(8, "512MiB", "b"))

    def test_the_last_row_is_the_used_memory_without_a_process(self):
        text = self.run_on(self.MACHINE, "ps", "--unattributed", "--columns", "pid,name,vram,ram").out
        width = len("(unattributed)")
        self.assertEqual(text, join_lines(f"PID  {'NAME':{width}}     VRAM  RAM",
                                          f"  7  {'a':{width}}  1.0 GiB    ?",
                                          f"  8  {'b':{width}}  512 MiB    ?",
                                          "  -  (unattributed)  1.5 GiB"))

    def test_json_has_a_row_without_a_pid(self):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--unattributed", "--json"))
        self.assertEqual([row["pid"] for row in rows], [7, 8, None])
        self.assertEqual(rows[2]["used_bytes"], 3 * GIB - GIB - 512 * MIB)
        self.assertEqual((rows[2]["name"], rows[2]["name_state"]), (None, "unattributed"))
        self.assertEqual(list(rows[2]), KEYS)

    def test_unattributed_memory_is_counted_per_pool(self):
        apu = make_machine(process(7, "7GiB", "a", host_pool="5GiB", accounting="allocated"), memory_kind="unified",
                           pools=[{"kind": "host", "total": "13GiB", "used": "6GiB"},
                                  {"kind": "vram", "total": "4GiB", "used": "3GiB"}])
        rows = self.parse_rows(self.run_on(apu, "ps", "--unattributed", "--json"))
        self.assertEqual([(row["used_bytes"], row["shared_used_bytes"]) for row in rows],
                         [(2 * GIB, 5 * GIB), (None, GIB)])

    def test_unattributed_is_off_by_default_and_refuses_filters(self):
        self.assertNotIn("(unattributed)", self.run_on(self.MACHINE, "ps").out)
        for choice in (("--pid", "7"), ("--match", "a"), ("--user", "7")):
            result = self.run_on(self.MACHINE, "ps", "--unattributed", *choice)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn(f"--unattributed and {choice[0]}: only one of them", result.err)

    def test_the_unattributed_row_is_not_counted_as_a_process(self):
        err = self.run_on(self.MACHINE, "ps", "--unattributed").err
        self.assertEqual(err, "hmn: 2 GPU processes found (1.5 GiB allocated total).\n")

    def test_an_unknown_amount_is_reported_with_its_reason(self):
        machine = make_machine(process(7, "1GiB", "a", shared="1MiB"),
                               process(8, "1GiB", "b", shared="1MiB"))
        result = self.run_on(machine, "ps", "--unattributed", "--columns", "name,vram")
        self.assertIn("(unattributed)        ?\n", result.out)
        self.assertIn(f"hmn: GPU 0: unattributed memory: processes share memory: {GIB} to {GIB + MIB} bytes ", result.err)
        self.assertNotIn("processes share memory", self.run_on(machine, "ps").err)

    def list_reasons(self, **keys):
        machine = {"devices": [card("Card", processes=[process(7, "1GiB", "a")], **keys)]}
        result = self.run_on(machine, "ps", "--unattributed")
        return [line for line in result.err.splitlines() if "unattributed memory" in line]

    def test_each_reason_for_an_unknown_amount_is_reported(self):
        start = "hmn: GPU 0: unattributed memory: "
        pool = {"kind": "vram", "total": "4GiB", "used": "2GiB"}
        self.assertEqual(self.list_reasons(pools=[pool]), [])
        self.assertEqual(self.list_reasons(pools=[pool | {"notes": ["lower_bound"]}]),
                         [start + "used memory is known only as a lower bound or an estimate"])
        self.assertEqual(self.list_reasons(pools=[pool], memory_kind="unified"),
                         [start + "the memory of processes is reported for all pools together"])
        self.assertEqual(self.list_reasons(pools=[pool | {"used": "1MiB"}]),
                         [start + "the memory of processes is counted differently from that of the device"])
        self.assertEqual(self.list_reasons(pools=[{"kind": "vram", "total": "4GiB"}]), [])
        failures = [{"call": "processes", "status": "backend", "message": "garbled"}]
        self.assertEqual(self.list_reasons(pools=[pool], failures=failures), [])

    def test_each_device_without_partitions_has_an_unattributed_row(self):
        machine = {"devices": [card("Whole", partitions=[card("Part", processes=[process(1, "1GiB")])]),
                               card("Other", processes=[])]}
        rows = self.parse_rows(self.run_on(machine, "ps", "--unattributed", "--json"))
        self.assertEqual([(row["device_index"], row["used_bytes"]) for row in rows if row["pid"] is None],
                         [(1, 3 * GIB), (2, 2 * GIB)])
        rows = self.parse_rows(self.run_on(machine, "ps", "--unattributed", "--json", "--device", "1"))
        self.assertEqual([row["device_index"] for row in rows], [1])


class Order(Machines):
    MACHINE = make_machine(
        process(1, "4GiB", "c", host_pool="6GiB", host_resident="1GiB"),
        process(2, "8GiB", "b", host_pool="0B", host_resident="3GiB"),
        process(3, "1GiB", "a", host_pool="7GiB", host_resident="2GiB"),
        {"pid": 4, "name": "d", "missing": {"status": "unsupported"}})

    def list_pids(self, *arguments):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--json", *arguments))
        return [row["pid"] for row in rows]

    def test_each_sort_key_orders_the_list(self):
        for key, expected in (("vram", [2, 1, 3, 4]), ("shared", [3, 1, 2, 4]),
                              ("total", [1, 3, 2, 4]), ("ram", [2, 3, 1, 4]),
                              ("pid", [1, 2, 3, 4]), ("name", [3, 2, 1, 4])):
            self.assertEqual(self.list_pids("--sort", key), expected, key)

    def test_load_and_user_are_sort_keys(self):
        machine = make_machine(process(1, 1, uid=8, busy_percent=5), process(2, 2),
                               process(3, 3, uid=7, busy_percent=9))
        for key, expected in (("load", [3, 1, 2]), ("user", [3, 1, 2])):
            rows = self.parse_rows(self.run_on(machine, "ps", "--json", "--sort", key))
            self.assertEqual([row["pid"] for row in rows], expected, key)

    def test_vram_is_the_default_key_and_has_old_names(self):
        for arguments in ((), ("--sort", "dedicated"), ("--sort", "committed")):
            self.assertEqual(self.list_pids(*arguments), [2, 1, 3, 4])

    def test_ties_are_sorted_by_name_and_pid(self):
        machine = make_machine(process(20, 7, "b.exe"), process(10, 7, "a.exe"),
                               process(30, 7, None), process(9, 7, "b.exe"))
        rows = self.parse_rows(self.run_on(machine, "ps", "--json"))
        self.assertEqual([row["pid"] for row in rows], [30, 10, 9, 20])


class Selection(Machines):
    MACHINE = {"devices": [
        card("A", uuid="GPU-aaaa", pci_bus_id="0000:01:00.0",
             processes=[process(1, "1MiB", "python3"), process(2, "2MiB", "Xorg", uid=7, command="Xorg Train.py")]),
        card("B", uuid="GPU-bbbb", pci_bus_id="0000:af:00.0",
             processes=[process(1, "4MiB", "python3")])],
        "host": {"processes": [{"pid": 77, "resident": "1MiB"}]}}

    def select(self, *arguments):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--json", *arguments))
        return sorted((row["pid"], row["device_index"]) for row in rows)

    def test_without_filters_all_processes_are_listed(self):
        self.assertEqual(self.select(), [(1, 0), (1, 1), (2, 0)])

    def test_pid_selects_one_process(self):
        self.assertEqual(self.select("--pid", 1), [(1, 0), (1, 1)])

    def test_a_device_is_selected_by_index_uuid_or_pci_address(self):
        for name in ("1", "GPU-bbbb", "0000:af:00.0", "0000:AF:00.0", "00000000:AF:00.0", "af:00.0",
                     "uuid:GPU-bbbb", "pci:0000:af:00.0"):
            self.assertEqual(self.select("--device", name), [(1, 1)], name)

    def test_match_compares_names_and_commands_with_a_pattern(self):
        self.assertEqual(self.select("--match", "py*"), [(1, 0), (1, 1)])
        self.assertEqual(self.select("--match", "?org"), [(2, 0)])
        self.assertEqual(self.select("--match", "[W-Z]*"), [(2, 0)])
        self.assertEqual(self.select("--match", "PY*"), [(1, 0), (1, 1)])
        self.assertEqual(self.select("--match", "*train.py*"), [(2, 0)])
        self.assertEqual(self.select("--match", "py"), [])

    def test_several_devices_can_be_selected(self):
        self.assertEqual(self.select("--device", 0, "--device", "GPU-bbbb"), [(1, 0), (1, 1), (2, 0)])
        self.assertEqual(self.select("-d", 1, "-d", 1), [(1, 1)])
        self.assertEqual(self.select("-d", "0,1"), [(1, 0), (1, 1), (2, 0)])
        self.assertIn("matching device=0,1 ", self.run_on(self.MACHINE, "ps", "-d0", "-d1").err)

    def test_user_selects_by_number(self):
        self.assertEqual(self.select("--user", "7"), [(2, 0)])
        self.assertEqual(self.run_on(self.MACHINE, "ps", "-u", "8", "--json"),
                         (0, "[]\n", "hmn: 0 GPU processes found matching user=8.\n"))

    def test_user_selects_by_name(self):
        users = {"devices": [card(processes=[{"pid": 1, "used": MIB, "uid": 0}, {"pid": 2, "used": MIB, "uid": 7}])]}
        for command in (("ps", "--json"), ("top", "--once")):
            result = self.run_on(users, *command, "-u", "root")
            self.assertEqual(result.code, 0, result.err)
            if command[0] == "ps":
                self.assertEqual([row["pid"] for row in parse_json(result.out)], [1])
            missing = self.run_on(users, *command, "-u", "alice")
            self.assertEqual((missing.code, missing.out), (1, ""))
            self.assertIn('--user "alice": no such user: a simulated machine has root and numbers', missing.err)
            missing = run(*command, "-u", "no-such-user")
            self.assertEqual((missing.code, missing.out), (1, ""))
            self.assertEqual(missing.err, 'hmn: --user "no-such-user": no such user\n')
            self.assertEqual(run(*command, "-u", "root").code, 0)

    def test_several_filters_select_processes_that_match_all_of_them(self):
        self.assertEqual(self.select("--pid", 1, "--device", 0, "--match", "*3"), [(1, 0)])

    def test_an_unknown_device_fails(self):
        for name in ("2", "99", "GPU-cccc", "0000:02:00.0"):
            result = self.run_on(self.MACHINE, "ps", "--device", name)
            self.assertEqual((result.code, result.out), (1, ""), name)
            self.assertIn(f'--device "{name}": ', result.err)

    def test_a_malformed_device_is_wrong_usage(self):
        for name in ("gpu", "", "1.5"):
            result = self.run_on(self.MACHINE, "ps", "--device", name)
            self.assertEqual((result.code, result.out), (2, ""), name)

    def test_a_pid_without_gpu_memory_gives_an_empty_list(self):
        result = self.run_on(self.MACHINE, "ps", "--json", "--pid", 77)
        self.assertEqual((result.code, result.out), (0, "[]\n"))
        self.assertEqual(result.err, "hmn: 0 GPU processes found matching pid=77.\n")

    def test_a_pid_that_does_not_exist_fails(self):
        result = self.run_on(self.MACHINE, "ps", "--pid", 78)
        self.assertEqual(result, (1, "", "hmn: --pid 78: no such process\n"))

    def test_a_listed_pid_that_is_missing_from_the_host_is_shown(self):
        self.assertEqual(self.select("--pid", 2), [(2, 0)])


class Partitions(Machines):
    MACHINE = {"devices": [card("Whole", partitions=[
        card("Part 1", processes=[process(1, "1GiB", "a")]),
        card("Part 2", processes=[process(1, "2GiB", "a"), process(2, "4GiB", "b")])]),
        card("Other", processes=[process(9, "1GiB", "z")])]}

    def test_a_process_is_listed_in_each_of_its_partitions(self):
        result = self.run_on(self.MACHINE, "ps", "--json", "--sort", "pid")
        self.assertEqual([(row["pid"], row["device_index"], row["parent_index"])
                          for row in self.parse_rows(result)],
                         [(1, 2, 0), (1, 3, 0), (2, 3, 0), (9, 1, None)])
        self.assertEqual(result.err, "hmn: 3 GPU processes found (8.0 GiB allocated total).\n")

    def test_selecting_a_gpu_lists_its_partitions(self):
        result = self.run_on(self.MACHINE, "ps", "--json", "--sort", "pid", "--device", "0")
        self.assertEqual([(row["pid"], row["device_index"]) for row in self.parse_rows(result)],
                         [(1, 2), (1, 3), (2, 3)])
        self.assertIn("2 GPU processes found matching device=0 (7.0 GiB allocated total)", result.err)

    def test_selecting_a_partition_lists_it_alone(self):
        rows = self.parse_rows(self.run_on(self.MACHINE, "ps", "--json", "--device", "2"))
        self.assertEqual([(row["pid"], row["device_index"]) for row in rows], [(1, 2)])

    def test_a_process_on_a_gpu_and_its_partition_counts_once(self):
        machine = {"devices": [card("Whole", processes=[process(1, "1GiB", "a")], partitions=[
            card("Part", processes=[process(1, "1GiB", "a")])])]}
        self.assertIn(" 1 GPU process found (1.0 GiB allocated total)", self.run_on(machine, "ps").err)


class Sentence(Machines):
    """The predecessor's count of processes, in its new form."""

    def read_sentence(self, machine, *arguments):
        err = self.run_on(machine, "ps", *arguments).err
        self.assertTrue(err.startswith("hmn: ") and err.count("\n") == 1, err)
        return err[len("hmn: "):-1]

    def test_the_number_of_processes_and_their_total_are_reported(self):
        self.assertEqual(self.read_sentence(make_machine(process(1, 0))),
                         "1 GPU process found (0 MiB allocated total).")
        self.assertEqual(self.read_sentence(make_machine(*(process(n, "4GiB") for n in (1, 2, 3)))),
                         "3 GPU processes found (12.0 GiB allocated total).")
        self.assertEqual(self.read_sentence(make_machine(process(1, "256MiB"), process(2, "256MiB"))),
                         "2 GPU processes found (512 MiB allocated total).")

    def test_processes_on_several_gpus_are_counted_once(self):
        five = [process(n, "1GiB", uid=7) for n in (1, 2, 3, 4)]
        five.append(process(5, None, None, uid=8, name_state="protected"))
        machine = {"devices": [card("A", processes=five), card("B", processes=five)]}
        self.assertEqual(self.read_sentence(machine), "5 GPU processes found (at least 8.0 GiB allocated total; "
                         "1 of unknown size; 1 protected, run as root for names).")
        self.assertEqual(self.read_sentence(machine, "--pid", 3),
                         "1 GPU process found matching pid=3 (2.0 GiB allocated total).")
        groups = self.parse_rows(self.run_on(machine, "ps", "--by", "user", "--json"))
        self.assertEqual([(group["user"], group["processes"], group["unknown_size"]) for group in groups],
                         [("7", 4, 0), ("8", 1, 1)])
        self.assertIn("2 GPUs  5 processes", self.run_on(machine, "top", "--once").out)

    def test_processes_of_another_namespace_are_counted_by_pid(self):
        machine = {"pid_namespace": "foreign", "devices": [
            card(name, processes=[process(n, "1GiB", None) for n in (1, 2)]) for name in ("A", "B")]}
        self.assertEqual(self.read_sentence(machine), "2 GPU processes found (4.0 GiB allocated total).")

    def test_the_count_names_the_filters(self):
        self.assertEqual(self.read_sentence(make_machine(process(99, 0)), "--pid", 99, "--device", 0),
                         "1 GPU process found matching pid=99 device=0 (0 MiB allocated total).")

    def test_the_total_names_its_accounting(self):
        self.assertEqual(self.read_sentence(make_machine(process(1, GIB, accounting="resident"))),
                         "1 GPU process found (1.0 GiB resident total).")

    def test_protected_names_are_counted(self):
        rows = [process(n, 0) for n in range(1, 29)]
        rows += [process(n, 0, None, name_state="protected") for n in range(29, 33)]
        self.assertEqual(self.read_sentence(make_machine(*rows)),
                         "32 GPU processes found (0 MiB allocated total; "
                         "4 protected, run as root for names).")

    def test_a_missing_value_is_reported(self):
        row = {"pid": 5, "name": "x", "missing": {"status": "backend", "message": "used > total"}}
        result = self.run_on(make_machine(process(1, MIB), row), "ps")
        self.assertEqual(result.err.splitlines(), [
            "hmn: GPU 0: pid 5: used > total",
            "hmn: 2 GPU processes found (at least 1 MiB allocated total; 1 of unknown size)."])

    def test_a_machine_without_gpus_is_reported_with_the_reason(self):
        result = self.run_on({"devices": []}, "ps")
        self.assertEqual((result.code, result.err.splitlines()), (0, [
            "hmn: GPU: none found: the simulated machine has none", "hmn: 0 GPU processes found."]))

    def test_an_unreadable_machine_file_in_the_environment_is_a_failure(self):
        result = run("ps", env=environment(HMN_SIMULATION="/nonexistent.json"))
        self.assertEqual(result, (1, "", 'hmn: HMN_SIMULATION "/nonexistent.json": No such file or directory\n'))

    def test_a_failing_driver_exits_with_1(self):
        machine = {"failures": [{"call": "open", "status": "backend", "message": "mismatch"}]}
        result = self.run_on(machine, "ps", "--json")
        self.assertEqual((result.code, result.out), (1, "[]\n"))
        self.assertEqual(result.err, "hmn: mismatch\n")


if __name__ == "__main__":
    main()
