# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn fit`."""
import json
import os
import re
import struct
import subprocess
import sys

from command import GIB, MACHINES, MIB, SOURCE, Machines, card, main, parse_json, run, run_in_terminal

LLAMA_3_8B = SOURCE / "examples" / "models" / "llama-3-8b.json"
SCHEMA = json.loads((SOURCE / "docs" / "schema" / "fit.schema.json").read_text())
RESERVE = 512 * MIB
# 4 layers of 12 * 256^2 numbers of 32 bits; 1024 words for input and output.
SMALL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 682, "num_hidden_layers": 4,
         "num_attention_heads": 4, "vocab_size": 1024, "torch_dtype": "float32", "max_position_embeddings": 2048}


def pack_text(words):
    return struct.pack("<Q", len(words)) + words.encode()


def make_gguf(keys, tensors):
    """Returns the header and the size of the data. keys: name to text or whole number; tensors: (name, elements) of
    16 bits."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for name, value in keys.items():
        is_text = isinstance(value, str)
        head += pack_text(name) + struct.pack("<I", 8 if is_text else 4)
        head += pack_text(value) if is_text else struct.pack("<I", value)
    offset = 0
    for name, elements in tensors:
        head += pack_text(name) + struct.pack("<IQIQ", 1, elements, 1, offset)
        offset += -(-elements * 2 // 32) * 32
    return head + b"\0" * (-len(head) % 32), offset


def gpu(free, total="24GiB", **keys):
    return card(pools=[{"kind": "vram", "total": total, "free": free}], **keys)


def host(available, **limits):
    return {"system": {"total": "64GiB", "available": available} | limits}


class Fit(Machines):
    def write_config(self, **changes):
        path = self.folder / "config.json"
        path.write_text(json.dumps(SMALL | changes))
        return path

    def run_fit(self, machine, *arguments, code=0):
        result = self.run_on(machine, "fit", "--json", *arguments)
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.out.count("\n"), 1)
        return parse_json(result.out)

    def fit_llama(self, free, available, code, **keys):
        """Llama-3-8B takes 16060522496 + 1073741824 + 424463565 bytes: 15317 + 1024 + 405 MiB."""
        return self.run_fit({"host": host(available), "devices": [gpu(free, **keys)]}, LLAMA_3_8B, code=code)

    def test_implausible_free_memory_holds_no_model(self):
        report = self.run_fit({"host": host("2GiB"), "devices": [card(pools=[
            {"kind": "vram", "total": "24GiB", "free": "48GiB", "used": 0}])]}, LLAMA_3_8B, code=1)
        device, = report["devices"]
        self.assertNotEqual(device["verdict"], "fits")

    def test_a_model_that_fits_is_reported_with_its_demand(self):
        report = self.fit_llama("20GiB", "2GiB", 0)
        self.assertEqual((report["verdict"], report["ram_verdict"]), ("fits", "does_not_fit"))
        self.assertEqual(report["weights_bytes"], 16_060_522_496)
        self.assertEqual(report["kv_cache_bytes"], 2 * 32 * 8 * 128 * 2 * 8192)
        # f32 for 2048 tokens: twice the hidden state of 4096, twice 32 + 8 heads of 128, twice 14336; plus a tenth.
        row = 4 * (2 * 4096 + 2 * 40 * 128 + 2 * 14336)
        self.assertEqual(report["working_bytes"], -(-row * 2048 * 11 // 10))
        self.assertEqual(report["total_bytes"], sum(report[key] for key in (
            "weights_bytes", "kv_cache_bytes", "working_bytes")))
        device, = report["devices"]
        self.assertEqual((device["verdict"], device["text"], device["gpu_layers"]), ("fits", "fits", 32))
        self.assertEqual((device["gpu_bytes"], device["ram_bytes"]), (report["total_bytes"], 0))
        self.assertEqual(device["usable_bytes"], 20 * GIB - RESERVE)

    def test_one_byte_decides_if_a_model_fits(self):
        demand = 16_060_522_496 + (1 << 30) + 424_463_565 + RESERVE
        for spare, code in ((0, 0), (-1, 3)):
            self.fit_llama(demand + spare, "60GiB", code)

    def test_a_model_that_fits_in_part_is_split_by_layers(self):
        report = self.fit_llama("10GiB", "40GiB", 3)
        device, = report["devices"]
        layer = (2 * 4096 ** 2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) * 2 + 2 * 8 * 128 * 2 * 8192
        layers = (10 * GIB - RESERVE - report["working_bytes"]) // layer
        self.assertEqual((report["verdict"], device["gpu_layers"]), ("partly", layers))
        self.assertEqual(device["text"], f"fits with {layers} of 32 layers on the GPU")
        self.assertEqual(device["gpu_bytes"], layers * layer + report["working_bytes"])
        self.assertEqual(device["gpu_bytes"] + device["ram_bytes"], report["total_bytes"] + report["working_bytes"])
        self.assertTrue(any(assumption.startswith("in part: ") for assumption in report["assumptions"]))

    def test_a_model_that_does_not_fit_is_reported(self):
        report = self.fit_llama("10GiB", "4GiB", 4)
        device, = report["devices"]
        self.assertEqual((report["verdict"], device["text"]), ("does_not_fit", "does not fit"))
        self.assertEqual([device[key] for key in ("gpu_layers", "gpu_bytes", "ram_bytes")], [None] * 3)
        device_in_ram = self.fit_llama("600MiB", "40GiB", 3)["devices"][0]
        self.assertEqual((device_in_ram["gpu_layers"], device_in_ram["text"]),
                         (0, "does not fit: in RAM alone it does"))

    def test_host_memory_is_not_counted_twice(self):
        unified = card(memory_kind="unified", pools=[{"kind": "unified"}])
        for available, code in (("17GiB", 0), ("16GiB", 4)):
            report = self.run_fit({"host": host(available), "devices": [unified]}, LLAMA_3_8B, code=code)
            self.assertTrue(report["devices"][0]["shares_ram"])
        # GTT: a device may use 10 of 17 GiB; the rest is in the same memory.
        gtt = card(pools=[{"kind": "host", "total": "10GiB", "free": "10GiB", "main": True}])
        self.run_fit({"host": host("17GiB"), "devices": [gtt]}, LLAMA_3_8B, code=3)
        self.run_fit({"host": host("16GiB"), "devices": [gtt]}, LLAMA_3_8B, code=4)

    def test_vram_set_aside_by_firmware_does_not_count_as_ram(self):
        """Llama-3-8B takes 16745 MiB, each layer 448 MiB."""
        def apu(vram):
            return card(name="APU", memory_kind="unified", form="integrated", pools=[
                {"kind": "vram", "total": vram, "used": 0, "main": True}, {"kind": "host", "total": "1GiB", "used": 0}])
        report = self.run_fit({"host": host("2GiB"), "devices": [apu("18GiB")]}, LLAMA_3_8B)
        self.assertEqual((report["devices"][0]["verdict"], report["devices"][0]["shares_ram"]), ("fits", False))
        report = self.run_fit({"host": host("10GiB"), "devices": [apu("10GiB")]}, LLAMA_3_8B, code=3)
        self.assertEqual((report["devices"][0]["verdict"], report["devices"][0]["gpu_layers"]), ("partly", 20))
        machine = {"host": host("2GiB"), "devices": [apu("10GiB"), gpu("10GiB", vendor="nvidia")]}
        report = self.run_fit(machine, LLAMA_3_8B, "--device", "all")
        self.assertEqual([part["device_index"] for part in report["together"]["parts"]], [0, 1])

    def test_the_memory_of_a_gpu_that_is_a_numa_node_is_not_ram(self):
        """Of 18 GiB available 10 belong to the GPU: 8 are left for RAM, or 3 with a limit of 3."""
        node = gpu("10GiB", memory_kind="coherent", numa_node=1)
        self.run_fit({"host": host("18GiB"), "devices": [node]}, LLAMA_3_8B, code=3)
        self.run_fit({"host": host("16GiB"), "devices": [node]}, LLAMA_3_8B, code=4)
        limited_host = {"host": host("18GiB", limit="3GiB", limit_used=0), "devices": [node]}
        report = self.run_fit(limited_host, LLAMA_3_8B, code=4)
        self.assertEqual(report["devices"][0]["usable_bytes"], 10 * GIB - RESERVE)
        report = self.run_fit({"host": host("18GiB"), "devices": [node, node]}, LLAMA_3_8B, "--device", "all", code=0)
        self.assertEqual(report["ram_usable_bytes"], 18 * GIB)

    def test_devices_that_share_host_ram_share_its_free_memory(self):
        demand = 16_060_522_496 + (1 << 30) + 424_463_565 + 2 * RESERVE
        unified = card(memory_kind="unified", pools=[{"kind": "unified"}])
        shared = card(pools=[{"kind": "host", "total": "64GiB", "used": 0, "main": True}])
        for devices in ([unified, unified], [unified, shared], [shared, shared]):
            for available, code in ((demand, 0), (demand - 1, 4)):
                machine = {"host": host(available), "devices": devices}
                self.run_fit(machine, LLAMA_3_8B, "--device", "all", code=code)
            output = self.run_on(machine, "fit", LLAMA_3_8B, "--device", "all").out
            self.assertRegex(output, r"(?m)^GPUs 0, 1 together +\? +16\.4 GiB  does not fit$")
        # A card in addition to them takes the layers that do not fit in RAM, in any order of devices.
        machine = {"host": host("12GiB"), "devices": [unified, gpu("10GiB"), unified]}
        report = self.run_fit(machine, LLAMA_3_8B, *(f"--device={i}" for i in range(3)))
        ram_bytes = sum(report["together"]["parts"][i]["gpu_bytes"] for i in (0, 2))
        self.assertLessEqual(ram_bytes, 12 * GIB - 2 * RESERVE)

    def test_a_control_group_limit_bounds_ram(self):
        limited_host = host("60GiB", limit="20GiB", limit_used="5GiB")
        report = self.run_fit({"host": limited_host, "devices": []}, LLAMA_3_8B, code=4)
        self.assertEqual(report["ram_usable_bytes"], 15 * GIB)

    def test_a_budget_bounds_a_pool(self):
        pool = {"kind": "vram", "total": "24GiB", "free": "24GiB", "budget": "10GiB"}
        report = self.run_fit({"host": host("2GiB"), "devices": [card(pools=[pool])]}, LLAMA_3_8B, code=4)
        self.assertEqual(report["devices"][0]["usable_bytes"], 10 * GIB - RESERVE)
        self.assertEqual(report["devices"][0]["pools"][0]["budget_bytes"], 10 * GIB)

    def test_without_a_gpu_ram_decides(self):
        for available, code in (("60GiB", 0), ("10GiB", 4)):
            result = self.run_on({"host": host(available), "devices": []}, "fit", LLAMA_3_8B)
            self.assertEqual(result.code, code)
            self.assertIn("hmn: GPU: none found: ", result.err)

    def test_each_device_has_its_own_verdict(self):
        machine = {"host": host("2GiB"), "devices": [gpu("10GiB", name="A"), gpu("20GiB", name="B"),
                                                     gpu("10GiB", name="C", state="asleep")]}
        report = self.run_fit(machine, LLAMA_3_8B)
        self.assertEqual([device["verdict"] for device in report["devices"]], ["does_not_fit", "fits", "unknown"])
        self.assertTrue(report["devices"][2]["text"].startswith("unknown: the device is asleep"))
        for device, code in ((0, 4), (1, 0), (2, 1)):
            alone = self.run_fit(machine, LLAMA_3_8B, "--device", device, code=code)
            self.assertEqual([device["device_index"] for device in alone["devices"]], [device])
        missing = self.run_on(machine, "fit", LLAMA_3_8B, "--device", 7)
        self.assertEqual((missing.code, missing.out), (1, ""))

    def test_layers_are_split_over_several_devices(self):
        def fit_layers(**keys):
            report = self.run_fit(machine, LLAMA_3_8B, *keys["arguments"], code=keys["code"])
            together = report["together"]
            self.assertEqual(report["verdict"], together["verdict"])
            return [(part["device_index"], part["gpu_layers"]) for part in together["parts"]], together, report

        machine = {"host": host("2GiB"), "devices": [gpu("10GiB", name="A"), gpu("10GiB", name="B")]}
        self.run_fit(machine, LLAMA_3_8B, code=4)
        parts, together, report = fit_layers(arguments=("--device", "all"), code=0)
        # Embedding and output are 4.5 layers: 14 + 4.5 and 18.
        self.assertEqual(parts, [(0, 14), (1, 18)])
        self.assertEqual(together["text"], "fits: 14 + 18 layers")
        self.assertEqual((together["gpu_bytes"], together["ram_bytes"]),
                         (report["total_bytes"] + report["working_bytes"], 0))
        self.assertEqual(sum(part["gpu_bytes"] for part in together["parts"]), together["gpu_bytes"])
        # The named devices in that order, each once.
        machine["devices"] = [gpu("6GiB", name="A"), gpu("20GiB", name="B"), gpu("4GiB", name="C")]
        machine["host"] = host("40GiB")
        parts, together, report = fit_layers(arguments=("--device", "2,0", "--device", "2"), code=3)
        # A layer is 448 MiB, the reserve 512, working memory 293.2: 3290.8 MiB of 4 GiB are left, 5338.8 of 6.
        self.assertEqual(parts, [(2, 7), (0, 11)])
        self.assertEqual([device["device_index"] for device in report["devices"]], [2, 0])
        self.assertEqual(together["text"], "fits with 7 + 11 of 32 layers on the GPUs")
        self.assertEqual(together["gpu_bytes"] + together["ram_bytes"],
                         report["total_bytes"] + 2 * report["working_bytes"])
        self.assertIsNone(self.run_fit(machine, LLAMA_3_8B, "--device", "1", "--device", "1")["together"])
        output = self.run_on(machine, "fit", LLAMA_3_8B, "--device", "all").out
        self.assertRegex(output, r"(?m)^GPUs 0, 1, 2 together  30\.0 GiB  28\.5 GiB  fits: \d+ \+ \d+ \+ \d+ layers$")

    def test_unsuitable_devices_are_left_out_of_a_split(self):
        parts = [gpu("9GiB", "10GiB", name="P", uuid=f"MIG-{i}") for i in range(2)]
        devices = [gpu("10GiB", name="A"), gpu("10GiB", name="B"), gpu("1GiB", name="C", state="asleep"),
                   card("U", memory_kind="unified", pools=[{"kind": "unified"}]),
                   gpu("20GiB", name="D", partitions=parts)]
        machine = {"host": host("40GiB"), "devices": [device | {"vendor": "nvidia"} for device in devices]}
        report = self.run_fit(machine, LLAMA_3_8B, "--device", "all")
        self.assertEqual([part["device_index"] for part in report["together"]["parts"]], [0, 1])
        for reason in ("GPU 2 [C] is left out: the device is asleep, and a reading would wake it", "GPU 3 [U] is left out: its memory is the host's RAM",
                       "GPU 4 [D] is left out: the device is divided into partitions, which have its memory",
                       "GPU 5 [P] in GPU 4 is left out: a process can use one part of a divided GPU"):
            self.assertIn(reason, report["assumptions"])
        for index in (2, 4):
            alone = self.run_fit(machine, LLAMA_3_8B, "--device", "0", "--device", index, code=3)
            self.assertIsNone(alone["together"])
        mixed = self.run_fit(machine, LLAMA_3_8B, "--device", "0", "--device", "3")["together"]
        self.assertEqual([part["device_index"] for part in mixed["parts"]], [0, 3])

    def test_a_partitioned_card_is_not_counted_as_a_whole(self):
        report = self.run_fit(MACHINES / "mig-a100.json", LLAMA_3_8B, code=3)
        gpu_report, *partitions = report["devices"]
        self.assertEqual((gpu_report["verdict"], gpu_report["gpu_layers"]), ("unknown", None))
        self.assertIn("divided", gpu_report["text"])
        self.assertEqual([partition["verdict"] for partition in partitions], ["partly"] * 3)

    def test_context_batch_and_kv_type_set_the_kv_cache(self):
        machine = {"host": host("60GiB"), "devices": []}
        row = 2 * 4 * 64 * 4  # numbers: keys and values of 4 heads of 64 in 4 layers
        for arguments, context, batch, block_bytes in (
                ((), 2048, 1, 64), (("--context", "1K"), 1024, 1, 64), (("--batch", "3"), 2048, 3, 64),
                (("--kv-type", "q8_0"), 2048, 1, 34), (("--kv-type", "q4_0"), 2048, 1, 18),
                (("--kv-type", "f32", "--context", "100", "--batch", "2"), 100, 2, 128)):
            report = self.run_fit(machine, self.write_config(), *arguments)
            self.assertEqual((report["context"], report["batch"]), (context, batch))
            self.assertEqual(report["kv_cache_bytes"], row * -(-context // 16) * 16 * batch * block_bytes // 32)

    def test_a_context_longer_than_the_model_allows_is_a_warning(self):
        result = self.run_on({"host": host("60GiB"), "devices": []}, "fit", self.write_config(), "--context", "4k")
        self.assertEqual(result.code, 0)
        self.assertIn("hmn: --context 4096: the model was made for 2048 tokens at most\n", result.err)

    def test_wrong_options_are_reported(self):
        for arguments, message in (((), "MODEL"), (("m", "--context", "0"), '--context "0": expected a whole number'),
                                   (("m", "--context", "many"), '--context "many"'),
                                   (("m", "--batch", "-1"), '--batch "-1"'),
                                   (("m", "--kv-type", "int8"), '--kv-type "int8": expected one of f32, f16'),
                                   (("m", "--device", "all", "--device", "0"), "--device all: expected alone"),
                                   (("m", "n"), '"n": unexpected argument'),
                                   (("m", "--device", "first"), "an index (0)")):
            result = run("fit", *arguments, *(() if arguments else ("--json",)))
            if "first" in arguments:
                result = run("fit", LLAMA_3_8B, *arguments[1:])
            self.assertEqual((result.code, result.out), (2, ""), arguments)
            self.assertIn(message, result.err)

    def test_unusable_model_files_are_reported_by_name(self):
        cut, _ = make_gguf({"general.architecture": "llama"}, [("blk.0.w", 1 << 40)])
        for name, content, message in (("a.gguf", b"GGUF", "ends in its header"),
                                       ("b.gguf", cut, 'tensor "blk.0.w": ends at byte'),
                                       ("c.safetensors", b"\xff" * 8, "a header of 18446744073709551615 bytes"),
                                       ("d.json", b"{", "no JSON at line 1, byte 2"),
                                       ("e.json", b"{}", '"hidden_size"'),
                                       ("f.txt", b"hello", "expected a GGUF file")):
            path = self.folder / name
            path.write_bytes(content)
            result = run("fit", path)
            self.assertEqual((result.code, result.out), (1, ""), name)
            self.assertTrue(result.err.startswith(f'hmn: "{path}": '), result.err)
            self.assertIn(message, result.err)
        self.assertIn("No such file", run("fit", self.folder / "none").err)

    def test_only_the_header_of_a_gguf_file_is_read(self):
        keys = {"general.architecture": "llama", "general.name": "Hole", "llama.block_count": 2,
                "llama.embedding_length": 4096, "llama.attention.head_count": 32, "llama.context_length": 4096}
        head, data = make_gguf(keys, [("token_embd.weight", 1 << 30), ("blk.0.w", 8 << 30), ("blk.1.w", 8 << 30)])
        path = self.folder / "hole.gguf"
        path.write_bytes(head)
        os.truncate(path, len(head) + data)
        report = self.run_fit({"host": host("60GiB"), "devices": [gpu("20GiB")]}, path, "--context", "1", code=3)
        self.assertEqual(report["weights_bytes"], 34 * GIB)
        self.assertEqual(report["kv_cache_bytes"], 2 * 2 * 32 * 128 * 2 * 256)  # the minimum of llama.cpp
        self.assertEqual(report["devices"][0]["gpu_layers"], 1)
        self.assertEqual((report["model"]["name"], report["model"]["parameters"]), ("Hole", 17 << 30))

    def test_weights_without_a_configuration_give_a_lower_bound(self):
        header = b'{"w":{"dtype":"U8","shape":[2147483648],"data_offsets":[0,2147483648]}}'
        path = self.folder / "w.safetensors"
        path.write_bytes(struct.pack("<Q", len(header)) + header)
        os.truncate(path, 8 + len(header) + (2 << 30))
        for free, verdict, code in (("20GiB", "unknown", 1), ("1GiB", "does_not_fit", 4)):
            report = self.run_fit({"host": host("1GiB"), "devices": [gpu(free)]}, path, code=code)
            self.assertEqual((report["verdict"], report["kv_cache_bytes"], report["total_bytes"]),
                             (verdict, None, 2 * GIB))
        output = self.run_on({"host": host("1GiB"), "devices": [gpu("20GiB")]}, "fit", path).out
        self.assertRegex(output, r"(?m)^total +at least 2\.0 GiB$")
        self.assertRegex(output, r"(?m)^KV cache +\?$")

    def test_the_table_lists_needs_memory_and_assumptions(self):
        result = self.run_on({"host": host("40GiB"), "devices": [gpu("10GiB")]}, "fit", LLAMA_3_8B)
        title, needs, placements, assumptions = result.out.split("\n\n")
        self.assertTrue(title.endswith("llama-3-8b.json: configuration, 8.03 billion parameters, 32 layers, bfloat16"))
        self.assertEqual([re.split(r"\s{2,}", line) for line in needs.splitlines()],
                         [["NEEDS"], ["weights", "15.0 GiB"],
                          ["KV cache", "1.0 GiB", "1 sequence of 8192 tokens, f16"],
                          ["working memory", "404 MiB"], ["total", "16.4 GiB"]])
        self.assertEqual([re.split(r"\s{2,}", line) for line in placements.splitlines()],
                         [["MEMORY", "FREE", "USABLE", "VERDICT"],
                          ["GPU 0 [Card]", "10.0 GiB", "9.5 GiB", "fits with 20 of 32 layers on the GPU"],
                          ["RAM", "40.0 GiB", "40.0 GiB", "fits"]])
        self.assertTrue(assumptions.startswith("Assumed:\n- "))

    def test_json_matches_the_schema(self):
        def compare(value, rule, path):
            rule = SCHEMA["$defs"][rule["$ref"].rsplit("/", 1)[1]] if "$ref" in rule else rule
            if isinstance(value, dict):
                self.assertEqual(set(value), set(rule["properties"]), path)
                self.assertEqual(set(value), set(rule["required"]), path)
                for key, inner in value.items():
                    compare(inner, rule["properties"][key], f"{path}.{key}")
            elif isinstance(value, list):
                for element in value:
                    compare(element, rule["items"], path)
        machines = [*sorted(MACHINES.glob("*.json")), self.write_machine(devices=[])]
        for machine in machines:
            result = self.run_on(machine, "fit", LLAMA_3_8B, "--json", "--device", "all")
            report = parse_json(result.out)
            compare(report, SCHEMA, "")
            self.assertEqual(result.code, {"fits": 0, "partly": 3, "does_not_fit": 4, "unknown": 1}[report["verdict"]])
            try:
                import jsonschema
            except ImportError:
                continue
            jsonschema.validate(report, SCHEMA)

    def test_unknown_keys_and_missing_weights_are_named_and_marked(self):
        machine = {"host": host("60GiB"), "devices": []}
        keys = {"general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 256,
                "llama.feed_forward_length": 512, "llama.attention.head_count": 4, "llama.context_length": 4096}
        path = self.folder / "model.gguf"

        def check(extra_keys, precision, layers=2):
            blocks = [(f"blk.{i}.attn_norm.weight", 256) for i in range(layers)]
            head, data = make_gguf(keys | extra_keys, [("token_embd.weight", 256 * 1024), *blocks])
            path.write_bytes(head + bytes(data))
            report = self.run_fit(machine, path)
            self.assertEqual(report["precision"], precision)
            total = re.search(r"(?m)^total +(.*?)[\d.]", self.run_on(machine, "fit", path).out).group(1)
            self.assertEqual(total, {"counted": "", "at_least": "at least ", "about": "about "}[precision])
            return report["assumptions"]

        check({}, "counted")
        self.assertIn('"llama.attention.new_window" is not understood',
                      check({"llama.attention.new_window": 1}, "about"))
        self.assertIn("weights of 1 of the 2 layers are not there and not counted", check({}, "at_least", layers=1))
        (self.folder / "mmproj-model.gguf").write_bytes(bytes(3 * MIB))
        self.assertIn('"mmproj-model.gguf" of 3 MiB is next to it and not counted: images need it',
                      check({}, "at_least"))

    def test_ubatch_sets_the_tokens_processed_at_once(self):
        machine = {"host": host("60GiB"), "devices": []}
        path = self.write_config(sliding_window=100, use_sliding_window=True, max_position_embeddings=8192)
        default = self.run_fit(machine, path)
        self.assertEqual(default["ubatch"], 2048)
        # 99 and 300 tokens in blocks of 16, and one block more; keys and values of 4 heads of 64 in 4 layers.
        report = self.run_fit(machine, path, "--ubatch", "300")
        self.assertEqual((report["ubatch"], report["kv_cache_bytes"]), (300, 416 * 2 * 4 * 64 * 2 * 4))
        self.assertLess(report["working_bytes"], default["working_bytes"])
        result = self.run_on(machine, "fit", path, "--ubatch", "0")
        self.assertEqual((result.code, result.out), (2, ""))

    def test_the_table_in_docs_is_up_to_date(self):
        result = subprocess.run([sys.executable, "-B", SOURCE / "scripts" / "fit-table", "--check"],
                                capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_names_in_a_model_file_cannot_control_the_terminal(self):
        evil = "\x1b]0;title\x07\u202eevil"
        head, data = make_gguf({"general.architecture": evil, "general.name": evil}, [])
        path = self.folder / "evil.gguf"
        path.write_bytes(head)
        output = run_in_terminal("fit", path, "--color", "never").out
        self.assertFalse({"\x1b", "\x07", "\u202e"} & set(output), output)
        keys = {f"{evil}.{name}": 64 for name in ("block_count", "embedding_length", "attention.head_count")}
        head, data = make_gguf({"general.architecture": evil, "general.name": evil} | keys, [("token_embd.weight", 64)])
        path.write_bytes(head + bytes(data))
        output = run_in_terminal("fit", path, "--color", "never", "--machine", self.write_machine(devices=[card()])).out
        self.assertIn("evil", output)
        self.assertFalse({"\x1b", "\x07", "\u202e"} & set(output), output)


if __name__ == "__main__":
    main()
