# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn fit`."""
import json
import os
import re
import struct
import subprocess
import sys

import gguf_file
from command import GIB, MACHINES, MIB, SOURCE, Machines, card, environment, main, parse_json, run, run_in_terminal

LLAMA_3_8B = SOURCE / "examples" / "models" / "llama-3-8b.json"
SCHEMA = json.loads((SOURCE / "docs" / "schema" / "fit.schema.json").read_text())
RESERVE = 512 * MIB
# 4 layers of 12 * 256^2 numbers of 32 bits; 1024 words for input and output.
SMALL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 682, "num_hidden_layers": 4,
         "num_attention_heads": 4, "vocab_size": 1024, "torch_dtype": "float32", "max_position_embeddings": 2048}


def make_gguf(keys, tensors):
    """Returns the header and the size of the data. tensors: (name, elements) of 16 bits."""
    return gguf_file.make_gguf(keys, [(name, "F16", [elements]) for name, elements in tensors])


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
        head, data = make_gguf(keys, [("token_embd.weight", 1 << 30)] +
                               [(f"blk.{i // 8}.w{i % 8}", 1 << 30) for i in range(16)])
        path = self.folder / "hole.gguf"
        path.write_bytes(head)
        os.truncate(path, len(head) + data)
        report = self.run_fit({"host": host("60GiB"), "devices": [gpu("24GiB")]}, path, "--context", "1", code=3)
        # A layer of 16 GiB, 2 GiB of the embedding, whose copy is the output, and 2 to copy a tensor that is in RAM.
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
        self.assertRegex(output, r"(?m)^Needs at least 2\.0 GiB: .*; cache and working memory are not known$")

    def test_the_text_has_needs_memory_and_options_and_explains_on_request(self):
        machine = {"host": host("40GiB"), "devices": [gpu("10GiB")]}
        result = self.run_on(machine, "fit", LLAMA_3_8B)
        needs, placements, options = result.out.split("\n\n")
        title, total, parts = needs.splitlines()
        self.assertTrue(title.endswith("llama-3-8b.json: configuration, 8.03 billion parameters, 32 layers, bfloat16"))
        self.assertEqual(total, "Needs 16.1 to 16.4 GiB for 8192 tokens")
        self.assertEqual(parts, "Weights 15.0 GiB (counted), f16 cache 1.0 GiB (counted), working memory 183 to 404 MiB")
        self.assertEqual([re.split(r"\s{2,}", line) for line in placements.splitlines()],
                         [["MEMORY", "FREE", "USABLE", "VERDICT"],
                          ["GPU 0 [Card]", "10.0 GiB", "9.5 GiB", "fits with 20 of 32 layers on the GPU"],
                          ["RAM", "40.0 GiB", "40.0 GiB", "fits"]])
        self.assertRegex(options, r"^OPTION +GPU 0 +RAM +LONGEST CONTEXT +vLLM\n")
        self.assertNotIn("Assumed:", result.out)
        explained = self.run_on(machine, "fit", LLAMA_3_8B, "--why")
        self.assertIn("\nAssumed:\n- ", explained.out)
        self.assertEqual(explained.code, result.code)

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
            total = re.search(r"(?m)^Needs (.*?)[\d.]", self.run_on(machine, "fit", path).out).group(1)
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

    def write_gguf(self, name, layers=4, experts=0, attention=MIB, tied=False, **keys):
        """Writes a GGUF file of llama with 1024 words of 256 numbers. A layer has `attention` numbers of 16 bits, and
        three tensors of `experts` numbers; experts have 64 numbers in their state, two are used."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        numbers = {"block_count": layers, "embedding_length": 256, "feed_forward_length": 512, "context_length": 32768,
                   "attention.head_count": 4, "attention.head_count_kv": 2}
        if experts:
            numbers |= {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 64}
        tensors = [("token_embd.weight", 1024 * 256)] + ([] if tied else [("output.weight", 1024 * 256)])
        for i in range(layers):
            tensors.append((f"blk.{i}.attn_q.weight", attention))
            if experts:
                tensors += [(f"blk.{i}.ffn_{part}_exps.weight", experts) for part in ("up", "gate", "down")]
        head, data = make_gguf({"general.architecture": "llama", "general.name": name} |
                               {f"llama.{key}": number for key, number in (numbers | keys).items()}, tensors)
        path.write_bytes(head)
        os.truncate(path, len(head) + data)
        return path

    def test_experts_can_stay_in_ram(self):
        """A layer has 1 GiB of attention and 3 GiB of experts: 16 GiB, of which 10 are on the device at most."""
        path = self.write_gguf("moe.gguf", experts=GIB // 2, attention=GIB // 2)
        machine = {"host": host("40GiB"), "devices": [gpu("13GiB")]}
        report = self.run_fit(machine, path, "--context", "8192", code=3)
        by_text = {option["text"]: option for option in report["options"]}
        option = by_text["experts of 2 layers in RAM"]
        self.assertEqual(option["flags"], "-c 8192 -ngl 99 --n-cpu-moe 2")
        self.assertEqual((option["gpu_layers"], option["expert_layers_in_ram"]), (4, 2))
        cache = 4 * 2 * 2 * 64 * 2 * 8192  # keys and values of 2 heads of 64 numbers in 4 layers
        embedding = 1024 * 256 * 2
        # Beside the working memory: 4 of attention, 6 of experts; in working memory a tensor of 1 GiB is copied.
        rest = option["gpu_bytes"] - 10 * GIB - embedding - cache
        self.assertTrue(GIB < rest < 1.3 * GIB, rest)
        self.assertTrue(6 * GIB + embedding < option["ram_bytes"] < 6.2 * GIB)
        self.assertEqual([option["text"] for option in report["options"]], ["experts of 2 layers in RAM", "2 of 4 layers on the GPU"])
        self.assertEqual(by_text["2 of 4 layers on the GPU"]["flags"], "-c 8192 -ngl 3")  # and the output
        shares = [option["gpu_bytes"] / (option["gpu_bytes"] + option["ram_bytes"]) for option in report["options"]]
        self.assertEqual(shares, sorted(shares, reverse=True))

    def test_the_slots_of_llama_server_share_one_context(self):
        machine = {"host": host("60GiB"), "devices": []}
        path = self.write_gguf("slots.gguf")
        row = 4 * 2 * 2 * 64 * 2
        for arguments, batch, is_shared, tokens in (((), 4, True, 8192), (("--batch", "1"), 1, False, 8192),
                                                    (("--batch", "4"), 4, False, 4 * 8192)):
            report = self.run_fit(machine, path, *arguments)
            self.assertEqual((report["batch"], report["context_is_shared"]), (batch, is_shared))
            self.assertEqual(report["kv_cache_bytes"], row * tokens)
        # llama.cpp gives each sequence its window in a shared cache: 4 * 1024 + 512, else 1024 + 512 for each.
        window = self.write_gguf("window.gguf", **{"attention.sliding_window": 1024})
        path.write_bytes(window.read_bytes().replace(b"llama", b"gemma"))
        keys = {"general.architecture": "gpt-oss"} | {
            f"gpt-oss.{key}": value for key, value in (
                ("block_count", 2), ("embedding_length", 256), ("feed_forward_length", 512), ("context_length", 32768),
                ("attention.head_count", 4), ("attention.head_count_kv", 2), ("attention.sliding_window", 1024))}
        head, data = make_gguf(keys, [("token_embd.weight", 1024 * 256), ("blk.0.w", 64), ("blk.1.w", 64)])
        path.write_bytes(head + bytes(data))
        layer = 2 * 2 * 64 * 2
        self.assertEqual(self.run_fit(machine, path)["kv_cache_bytes"], layer * (8192 + 4 * 1024 + 512))
        self.assertEqual(self.run_fit(machine, path, "--batch", "4")["kv_cache_bytes"], layer * 4 * (8192 + 1024 + 512))

    def test_input_embeddings_stay_in_ram(self):
        machine = {"host": host("60GiB"), "devices": [gpu("20GiB")]}
        embedding = 1024 * 256 * 2
        for tied, on_device in ((False, 0), (True, embedding)):  # a copy of a tied one is the output
            report = self.run_fit(machine, self.write_gguf(f"tied-{tied}.gguf", tied=tied))
            option, = report["options"]
            self.assertEqual(option["flags"], "-c 8192 -ngl 99")
            self.assertEqual(option["gpu_bytes"], report["total_bytes"] - embedding + on_device)
            self.assertGreater(option["ram_bytes"], embedding)

    def test_without_flash_attention_scores_are_stored(self):
        machine = {"host": host("60GiB"), "devices": [gpu("20GiB")]}
        path = self.write_gguf("scores.gguf")
        with_it = self.run_fit(machine, path)
        without = self.run_fit(machine, path, "--no-flash-attention")
        self.assertGreater(without["working_bytes"] - with_it["working_bytes"], 4 * 512 * 8192 * 4 // 2)
        self.assertTrue(without["options"][0]["flags"].endswith(" -fa off"))
        for arguments in (("--kv-type", "q8_0", "--no-flash-attention"), ("--kv-type", "f8")):
            result = self.run_on(machine, "fit", path, *arguments)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn(f'hmn: --kv-type "{arguments[1]}"', result.err)

    def test_the_longest_context_fits_and_a_longer_one_does_not(self):
        path = self.write_gguf("long.gguf", layers=32, attention=64 * MIB)
        for free in ("3GiB", "5GiB", "6GiB"):
            machine = {"host": host("60GiB"), "devices": [gpu(free)]}
            report = self.run_on(machine, "fit", path, "--context", "16K", "--json")
            for option in parse_json(report.out)["options"]:
                longest = option["longest_context"]
                self.assertGreaterEqual(longest, option["context"])
                arguments = ("--kv-type", option["kv_type"], "--context")

                def count_layers(context):
                    return parse_json(self.run_on(machine, "fit", path, *arguments, context, "--json").out)[
                        "devices"][0]["gpu_layers"]
                self.assertGreaterEqual(count_layers(longest), option["gpu_layers"])
                if longest < 32768:
                    self.assertLess(count_layers(longest + 256), option["gpu_layers"])

    def test_several_devices_are_filled_in_the_order_of_llama_cpp(self):
        path = self.write_gguf("split.gguf", layers=16, attention=128 * MIB)
        machine = {"host": host("60GiB"), "devices": [gpu("3GiB", name="A"), gpu("3GiB", name="B")]}
        report = self.run_fit(machine, path, "--device", "all")
        parts = [part["gpu_layers"] for part in report["together"]["parts"]]
        option, = report["options"]
        self.assertEqual(sum(parts), 16)
        self.assertEqual(option["flags"], f"-c 8192 -ngl 99 -ts {parts[0]},{parts[1] + 1}")  # and the output
        self.assertEqual(report["option_devices"], [0, 1])

    def test_flags_of_vllm_for_a_configuration(self):
        report = self.fit_llama("20GiB", "60GiB", 0)
        self.assertEqual((report["runtime"], report["options"][0]["flags"]), ("vLLM", "--max-model-len 8192"))
        report = self.fit_llama("10GiB", "40GiB", 3)
        # 16745 MiB are needed, 9728 are usable: 7 GiB of weights are in RAM.
        self.assertEqual([option["flags"] for option in report["options"]],
                         ["--max-model-len 8192 --cpu-offload-gb 7"])
        self.assertEqual(report["options"][0]["ram_bytes"], 7 * GIB)
        nearly_full = self.fit_llama("17GiB", "60GiB", 0, total="17GiB")["options"][0]["flags"]
        self.assertRegex(nearly_full, r"^--max-model-len 8192 --gpu-memory-utilization (0\.9\d|1\.00)$")

    def test_a_shorter_context_and_a_smaller_cache_are_options(self):
        path = self.write_gguf("dense.gguf", layers=32, attention=64 * MIB)  # 4 GiB; 512 MiB of cache for 32768 tokens
        machine = {"host": host("60GiB"), "devices": [gpu("5GiB")]}
        report = self.run_fit(machine, path, "--context", "32K", code=3)
        self.assertEqual(report["options"][-1]["text"], "30 of 32 layers on the GPU")  # 144 MiB each; a tensor of 128 is copied
        flags = {option["text"]: option["flags"] for option in report["options"]}
        self.assertEqual(flags["all on the GPU, q8_0 cache"], "-c 32768 -ngl 99 -ctk q8_0 -ctv q8_0")
        shorter = next(option for option in report["options"] if option["text"].endswith("shorter context"))
        self.assertLess(shorter["context"], 32768)
        self.assertEqual(self.run_fit(machine, path, "--context", shorter["context"])["verdict"], "fits")
        in_ram = self.run_fit({"host": host("4500MiB"), "devices": []}, path, "--context", "32K", code=4)
        self.assertEqual([option["text"] for option in in_ram["options"]],
                         ["all in RAM, q8_0 cache", "all in RAM, shorter context"])
        self.assertEqual(in_ram["options"][0]["flags"], "-c 32768 --device none -ctk q8_0 -ctv q8_0")

    def test_a_model_without_any_way_to_run_says_so(self):
        path = self.write_gguf("huge.gguf", layers=8, attention=GIB)  # 16 GiB
        machine = {"host": host("8GiB"), "devices": [gpu("5GiB")]}
        result = self.run_on(machine, "fit", path)
        self.assertEqual(result.code, 4)
        self.assertIn("\nNo way to run it in this memory was found", result.out)
        report = self.run_fit({"host": host("8GiB"), "devices": [gpu("2GiB")]}, path, code=4)
        self.assertEqual((report["options"], report["fitting_bits_per_weight"]), ([], None))  # 1.4 bits

    def test_of_the_files_of_a_folder_the_best_is_chosen(self):
        machine = {"host": host("60GiB"), "devices": [gpu("6GiB")]}
        for name, size in (("m-Q8_0.gguf", 256), ("m-Q4_K_M.gguf", 128), ("m-Q2_K.gguf", 64)):
            self.write_gguf(f"repo/{name}", layers=16, attention=size * MIB)
        self.write_gguf("repo/mmproj-m.gguf")
        report = self.run_fit(machine, self.folder / "repo")
        self.assertEqual([(file["file"], file["verdict"]) for file in report["files"]],
                         [("m-Q4_K_M.gguf", "fits"), ("m-Q2_K.gguf", "fits"), ("m-Q8_0.gguf", "partly")])
        self.assertTrue(report["model"]["path"].endswith("repo/m-Q4_K_M.gguf"))
        self.assertEqual(report["bits_per_weight"], 16)
        text = self.run_on(machine, "fit", self.folder / "repo").out
        self.assertRegex(text, r"(?m)^m-Q4_K_M\.gguf +16\.0 +4\.0 GiB  fits, used below$")
        # A broken file is named, and the others are compared.
        (self.folder / "repo" / "z.gguf").write_bytes(b"GGUF")
        result = self.run_on(machine, "fit", self.folder / "repo", "--json")
        self.assertEqual((result.code, len(parse_json(result.out)["files"])), (0, 3))
        self.assertIn("z.gguf", result.err)

    def test_about_how_many_bits_per_weight_would_fit(self):
        path = self.write_gguf("bits.gguf", layers=16, attention=256 * MIB)  # 8 GiB
        machine = {"host": host("60GiB"), "devices": [gpu("5GiB")]}
        report = self.run_fit(machine, path, code=3)
        # 4.5 GiB are usable, 64 MiB of them are cache: 16 bits * 4.44 / 8 without the working memory.
        self.assertTrue(8.7 < report["fitting_bits_per_weight"] < 8.9, report["fitting_bits_per_weight"])
        self.assertIn("bits per weight would fit on GPU 0 (16.0 now)", self.run_on(machine, "fit", path).out)
        self.assertIsNone(self.run_fit({"host": host("60GiB"), "devices": [gpu("20GiB")]}, path)["fitting_bits_per_weight"])

    def test_models_of_other_programs_are_found_by_name(self):
        machine = {"host": host("60GiB"), "devices": []}
        home = self.folder / "home"
        digest = "0" * 63 + "a"
        self.write_gguf(f"home/.ollama/models/blobs/sha256-{digest}")
        manifest = home / ".ollama/models/manifests/registry.ollama.ai/library/llama3/8b"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(json.dumps({"layers": [
            {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "b" * 64},
            {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + digest}]}))
        hub = home / ".cache/huggingface/hub/models--org--big"
        (hub / "refs").mkdir(parents=True)
        (hub / "refs/main").write_text("c0ffee")
        for name in ("Q4_K_M", "Q8_0"):
            self.write_gguf(f"home/.cache/huggingface/hub/models--org--big/snapshots/c0ffee/big-{name}.gguf")
        config = home / ".cache/huggingface/hub/models--org--plain"
        (config / "refs").mkdir(parents=True)
        (config / "refs/main").write_text("beef\n")
        (config / "snapshots/beef").mkdir(parents=True)
        (config / "snapshots/beef/config.json").write_text(json.dumps(SMALL))
        self.write_gguf("home/.lmstudio/models/studio/one/one.gguf")
        self.write_gguf("home/.cache/llama.cpp/ggml_tiny_tiny-q8_0.gguf")
        for name, end in (("llama3:8b", f"blobs/sha256-{digest}"), ("org/big:q8_0", "big-Q8_0.gguf"),
                          ("org/big", "big-Q4_K_M.gguf"), ("org/plain", "snapshots/beef/config.json"),
                          ("studio/one", "one/one.gguf"), ("ggml/tiny", "ggml_tiny_tiny-q8_0.gguf")):
            result = self.run_on(machine, "fit", name, "--json", env=environment(HOME=str(home)))
            self.assertEqual(result.code, 0, (name, result))
            self.assertTrue(parse_json(result.out)["model"]["path"].endswith(end), result.out)
        for name, message in (("llama3:70b", "a .gguf file of it, or the config.json of the original"),
                              ("org/none", "https://huggingface.co/org/none/raw/main/config.json")):
            result = self.run_on(machine, "fit", name, env=environment(HOME=str(home)))
            self.assertEqual((result.code, result.out), (1, ""))
            self.assertIn("one file is enough: ", result.err)
            self.assertIn(message, result.err)

    def test_the_answer_fits_a_terminal_of_24_lines(self):
        path = self.write_gguf("lines.gguf", layers=16, experts=64 * MIB, attention=64 * MIB)
        for machine in sorted(MACHINES.glob("*.json")):
            for arguments in ((), ("--device", "all"), ("--context", "32K", "--batch", "16")):
                result = self.run_on(machine, "fit", path, *arguments)
                self.assertLessEqual(result.out.count("\n"), 24, result.out)

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
