# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn fit`."""
import json
import os
import re
import struct
import subprocess
import sys

from command import GIB, MACHINES, MIB, SOURCE, Machines, card, main, run, run_in_terminal, strict_json

LLAMA_3_8B = SOURCE / "examples" / "models" / "llama-3-8b.json"
SCHEMA = json.loads((SOURCE / "docs" / "schema" / "fit.schema.json").read_text())
RESERVE = 512 * MIB
# 4 layers of 12 * 256^2 in 32 bits; 1024 words, in and out.
SMALL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 682, "num_hidden_layers": 4,
         "num_attention_heads": 4, "vocab_size": 1024, "torch_dtype": "float32", "max_position_embeddings": 2048}


def text(words):
    return struct.pack("<Q", len(words)) + words.encode()


def gguf(keys, tensors):
    """keys: name to a text or a whole number; tensors: (name, elements), in 16 bits."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for name, value in keys.items():
        is_text = isinstance(value, str)
        head += text(name) + struct.pack("<I", 8 if is_text else 4)
        head += text(value) if is_text else struct.pack("<I", value)
    offset = 0
    for name, elements in tensors:
        head += text(name) + struct.pack("<IQIQ", 1, elements, 1, offset)
        offset += -(-elements * 2 // 32) * 32
    return head + b"\0" * (-len(head) % 32), offset


def gpu(free, total="24GiB", **keys):
    return card(pools=[{"kind": "vram", "total": total, "free": free}], **keys)


def host(available, **limits):
    return {"system": {"total": "64GiB", "available": available} | limits}


class Fit(Machines):
    def config(self, **changes):
        path = self.folder / "config.json"
        path.write_text(json.dumps(SMALL | changes))
        return path

    def answer(self, machine, *arguments, code=0):
        result = self.on(machine, "fit", "--json", *arguments)
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.out.count("\n"), 1)
        return strict_json(result.out)

    def on_llama(self, free, available, code, **keys):
        """Llama-3-8B takes 16060522496 + 1073741824 + 424463565 bytes: 15317 + 1024 + 405 MiB."""
        return self.answer({"host": host(available), "devices": [gpu(free, **keys)]}, LLAMA_3_8B, code=code)

    def test_free_memory_that_cannot_be_holds_no_model(self):
        found = self.answer({"host": host("2GiB"), "devices": [card(pools=[
            {"kind": "vram", "total": "24GiB", "free": "48GiB", "used": 0}])]}, LLAMA_3_8B, code=1)
        device, = found["devices"]
        self.assertNotEqual(device["verdict"], "fits")

    def test_it_fits(self):
        found = self.on_llama("20GiB", "2GiB", 0)
        self.assertEqual((found["verdict"], found["ram_verdict"]), ("fits", "does_not_fit"))
        self.assertEqual(found["weights_bytes"], 16_060_522_496)
        self.assertEqual(found["kv_cache_bytes"], 2 * 32 * 8 * 128 * 2 * 8192)
        # f32 of 2048 tokens: twice 4096 of hidden state, 32 + 8 heads of 128 twice, and 14336 twice; a tenth more.
        row = 4 * (2 * 4096 + 2 * 40 * 128 + 2 * 14336)
        self.assertEqual(found["working_bytes"], -(-row * 2048 * 11 // 10))
        self.assertEqual(found["total_bytes"], sum(found[key] for key in (
            "weights_bytes", "kv_cache_bytes", "working_bytes")))
        device, = found["devices"]
        self.assertEqual((device["verdict"], device["text"], device["gpu_layers"]), ("fits", "fits", 32))
        self.assertEqual((device["gpu_bytes"], device["ram_bytes"]), (found["total_bytes"], 0))
        self.assertEqual(device["usable_bytes"], 20 * GIB - RESERVE)

    def test_the_last_byte_counts(self):
        needed = 16_060_522_496 + (1 << 30) + 424_463_565 + RESERVE
        for spare, code in ((0, 0), (-1, 3)):
            self.on_llama(needed + spare, "60GiB", code)

    def test_it_fits_in_part(self):
        found = self.on_llama("10GiB", "40GiB", 3)
        device, = found["devices"]
        layer = (2 * 4096 ** 2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) * 2 + 2 * 8 * 128 * 2 * 8192
        layers = (10 * GIB - RESERVE - found["working_bytes"]) // layer
        self.assertEqual((found["verdict"], device["gpu_layers"]), ("partly", layers))
        self.assertEqual(device["text"], f"fits with {layers} of 32 layers on the GPU")
        self.assertEqual(device["gpu_bytes"], layers * layer + found["working_bytes"])
        self.assertEqual(device["gpu_bytes"] + device["ram_bytes"], found["total_bytes"] + found["working_bytes"])
        self.assertTrue(any(each.startswith("in part: ") for each in found["assumptions"]))

    def test_it_does_not_fit(self):
        found = self.on_llama("10GiB", "4GiB", 4)
        device, = found["devices"]
        self.assertEqual((found["verdict"], device["text"]), ("does_not_fit", "does not fit"))
        self.assertEqual([device[key] for key in ("gpu_layers", "gpu_bytes", "ram_bytes")], [None] * 3)
        in_ram = self.on_llama("600MiB", "40GiB", 3)["devices"][0]
        self.assertEqual((in_ram["gpu_layers"], in_ram["text"]), (0, "does not fit: in RAM alone it does"))

    def test_memory_of_the_host_is_not_counted_twice(self):
        unified = card(memory_kind="unified", pools=[{"kind": "unified"}])
        for available, code in (("17GiB", 0), ("16GiB", 4)):
            found = self.answer({"host": host(available), "devices": [unified]}, LLAMA_3_8B, code=code)
            self.assertTrue(found["devices"][0]["shares_ram"])
        # GTT: a device may have 10 of 17 GiB, the rest is next to it, in the same memory.
        part = card(pools=[{"kind": "host", "total": "10GiB", "free": "10GiB", "main": True}])
        self.answer({"host": host("17GiB"), "devices": [part]}, LLAMA_3_8B, code=3)
        self.answer({"host": host("16GiB"), "devices": [part]}, LLAMA_3_8B, code=4)

    def test_memory_that_firmware_set_aside_does_not_compete_with_ram(self):
        """Llama-3-8B takes 16745 MiB, a layer of it 448 MiB."""
        def apu(vram):
            return card(name="APU", memory_kind="unified", form="integrated", pools=[
                {"kind": "vram", "total": vram, "used": 0, "main": True}, {"kind": "host", "total": "1GiB", "used": 0}])
        found = self.answer({"host": host("2GiB"), "devices": [apu("18GiB")]}, LLAMA_3_8B)
        self.assertEqual((found["devices"][0]["verdict"], found["devices"][0]["shares_ram"]), ("fits", False))
        found = self.answer({"host": host("10GiB"), "devices": [apu("10GiB")]}, LLAMA_3_8B, code=3)
        self.assertEqual((found["devices"][0]["verdict"], found["devices"][0]["gpu_layers"]), ("partly", 20))
        both = {"host": host("2GiB"), "devices": [apu("10GiB"), gpu("10GiB", vendor="nvidia")]}
        found = self.answer(both, LLAMA_3_8B, "--device", "all")
        self.assertEqual([each["device_index"] for each in found["together"]["parts"]], [0, 1])

    def test_a_gpu_that_is_a_node_of_the_host_is_not_ram_beside_itself(self):
        """Of 18 GiB available 10 are the GPU's: 8 are left for what is not on it, or 3 of a limit of 3."""
        node = gpu("10GiB", memory_kind="coherent", numa_node=1)
        self.answer({"host": host("18GiB"), "devices": [node]}, LLAMA_3_8B, code=3)
        self.answer({"host": host("16GiB"), "devices": [node]}, LLAMA_3_8B, code=4)
        limited = {"host": host("18GiB", limit="3GiB", limit_used=0), "devices": [node]}
        found = self.answer(limited, LLAMA_3_8B, code=4)
        self.assertEqual(found["devices"][0]["usable_bytes"], 10 * GIB - RESERVE)
        found = self.answer({"host": host("18GiB"), "devices": [node, node]}, LLAMA_3_8B, "--device", "all", code=0)
        self.assertEqual(found["ram_usable_bytes"], 18 * GIB)

    def test_devices_in_the_hosts_ram_have_it_once(self):
        needed = 16_060_522_496 + (1 << 30) + 424_463_565 + 2 * RESERVE
        unified = card(memory_kind="unified", pools=[{"kind": "unified"}])
        shared = card(pools=[{"kind": "host", "total": "64GiB", "used": 0, "main": True}])
        for devices in ([unified, unified], [unified, shared], [shared, shared]):
            for available, code in ((needed, 0), (needed - 1, 4)):
                machine = {"host": host(available), "devices": devices}
                self.answer(machine, LLAMA_3_8B, "--device", "all", code=code)
            shown = self.on(machine, "fit", LLAMA_3_8B, "--device", "all").out
            self.assertRegex(shown, r"(?m)^GPUs 0, 1 together +\? +16\.4 GiB  does not fit$")
        # A card beside them takes what RAM has no room for, wherever RAM is reached from.
        machine = {"host": host("12GiB"), "devices": [unified, gpu("10GiB"), unified]}
        found = self.answer(machine, LLAMA_3_8B, *(f"--device={i}" for i in range(3)))
        in_ram = sum(found["together"]["parts"][i]["gpu_bytes"] for i in (0, 2))
        self.assertLessEqual(in_ram, 12 * GIB - 2 * RESERVE)

    def test_the_control_groups_limit_is_what_there_is_of_ram(self):
        limited = host("60GiB", limit="20GiB", limit_used="5GiB")
        found = self.answer({"host": limited, "devices": []}, LLAMA_3_8B, code=4)
        self.assertEqual(found["ram_usable_bytes"], 15 * GIB)

    def test_a_budget_bounds_a_pool(self):
        pool = {"kind": "vram", "total": "24GiB", "free": "24GiB", "budget": "10GiB"}
        found = self.answer({"host": host("2GiB"), "devices": [card(pools=[pool])]}, LLAMA_3_8B, code=4)
        self.assertEqual(found["devices"][0]["usable_bytes"], 10 * GIB - RESERVE)
        self.assertEqual(found["devices"][0]["pools"][0]["budget_bytes"], 10 * GIB)

    def test_without_a_gpu_ram_decides(self):
        for available, code in (("60GiB", 0), ("10GiB", 4)):
            result = self.on({"host": host(available), "devices": []}, "fit", LLAMA_3_8B)
            self.assertEqual(result.code, code)
            self.assertIn("hmn: GPU: none found: ", result.err)

    def test_several_devices_each_by_itself(self):
        machine = {"host": host("2GiB"), "devices": [gpu("10GiB", name="A"), gpu("20GiB", name="B"),
                                                     gpu("10GiB", name="C", state="asleep")]}
        found = self.answer(machine, LLAMA_3_8B)
        self.assertEqual([each["verdict"] for each in found["devices"]], ["does_not_fit", "fits", "unknown"])
        self.assertTrue(found["devices"][2]["text"].startswith("unknown: the device is asleep"))
        for device, code in ((0, 4), (1, 0), (2, 1)):
            alone = self.answer(machine, LLAMA_3_8B, "--device", device, code=code)
            self.assertEqual([each["device_index"] for each in alone["devices"]], [device])
        missing = self.on(machine, "fit", LLAMA_3_8B, "--device", 7)
        self.assertEqual((missing.code, missing.out), (1, ""))

    def test_several_devices_together(self):
        def layers(**keys):
            found = self.answer(machine, LLAMA_3_8B, *keys["arguments"], code=keys["code"])
            together = found["together"]
            self.assertEqual(found["verdict"], together["verdict"])
            return [(each["device_index"], each["gpu_layers"]) for each in together["parts"]], together, found

        machine = {"host": host("2GiB"), "devices": [gpu("10GiB", name="A"), gpu("10GiB", name="B")]}
        self.answer(machine, LLAMA_3_8B, code=4)
        parts, together, found = layers(arguments=("--device", "all"), code=0)
        # Embedding and output are 4.5 layers: 14 + 4.5 and 18.
        self.assertEqual(parts, [(0, 14), (1, 18)])
        self.assertEqual(together["text"], "fits: 14 + 18 layers")
        self.assertEqual((together["gpu_bytes"], together["ram_bytes"]),
                         (found["total_bytes"] + found["working_bytes"], 0))
        self.assertEqual(sum(each["gpu_bytes"] for each in together["parts"]), together["gpu_bytes"])
        # Those that are named, in that order, each once.
        machine["devices"] = [gpu("6GiB", name="A"), gpu("20GiB", name="B"), gpu("4GiB", name="C")]
        machine["host"] = host("40GiB")
        parts, together, found = layers(arguments=("--device", "2,0", "--device", "2"), code=3)
        # A layer is 448 MiB, 512 are the reserve, 293.2 at work: 3290.8 of 4 GiB, 5338.8 of 6.
        self.assertEqual(parts, [(2, 7), (0, 11)])
        self.assertEqual([each["device_index"] for each in found["devices"]], [2, 0])
        self.assertEqual(together["text"], "fits with 7 + 11 of 32 layers on the GPUs")
        self.assertEqual(together["gpu_bytes"] + together["ram_bytes"],
                         found["total_bytes"] + 2 * found["working_bytes"])
        self.assertIsNone(self.answer(machine, LLAMA_3_8B, "--device", "1", "--device", "1")["together"])
        shown = self.on(machine, "fit", LLAMA_3_8B, "--device", "all").out
        self.assertRegex(shown, r"(?m)^GPUs 0, 1, 2 together  30\.0 GiB  28\.5 GiB  fits: \d+ \+ \d+ \+ \d+ layers$")

    def test_who_can_be_no_part_of_several(self):
        parts = [gpu("9GiB", "10GiB", name="P", uuid=f"MIG-{i}") for i in range(2)]
        devices = [gpu("10GiB", name="A"), gpu("10GiB", name="B"), gpu("1GiB", name="C", state="asleep"),
                   card("U", memory_kind="unified", pools=[{"kind": "unified"}]),
                   gpu("20GiB", name="D", partitions=parts)]
        machine = {"host": host("40GiB"), "devices": [each | {"vendor": "nvidia"} for each in devices]}
        found = self.answer(machine, LLAMA_3_8B, "--device", "all")
        self.assertEqual([each["device_index"] for each in found["together"]["parts"]], [0, 1])
        for reason in ("GPU 2 [C] is left out: the device is asleep, and a reading would wake it", "GPU 3 [U] is left out: its memory is the host's RAM",
                       "GPU 4 [D] is left out: the device is divided into partitions, which have its memory",
                       "GPU 5 [P] in GPU 4 is left out: a process can use one part of a divided GPU"):
            self.assertIn(reason, found["assumptions"])
        for index in (2, 4):
            alone = self.answer(machine, LLAMA_3_8B, "--device", "0", "--device", index, code=3)
            self.assertIsNone(alone["together"])
        mixed = self.answer(machine, LLAMA_3_8B, "--device", "0", "--device", "3")["together"]
        self.assertEqual([each["device_index"] for each in mixed["parts"]], [0, 3])

    def test_a_card_in_parts_is_not_counted_whole(self):
        found = self.answer(MACHINES / "mig-a100.json", LLAMA_3_8B, code=3)
        whole, *parts = found["devices"]
        self.assertEqual((whole["verdict"], whole["gpu_layers"]), ("unknown", None))
        self.assertIn("divided", whole["text"])
        self.assertEqual([each["verdict"] for each in parts], ["partly"] * 3)

    def test_context_batch_and_type(self):
        machine = {"host": host("60GiB"), "devices": []}
        row = 2 * 4 * 64 * 4  # keys and values of 4 heads of 64 in 4 layers, in numbers
        for arguments, context, batch, bytes_of_32 in (
                ((), 2048, 1, 64), (("--context", "1K"), 1024, 1, 64), (("--batch", "3"), 2048, 3, 64),
                (("--kv-type", "q8_0"), 2048, 1, 34), (("--kv-type", "q4_0"), 2048, 1, 18),
                (("--kv-type", "f32", "--context", "100", "--batch", "2"), 100, 2, 128)):
            found = self.answer(machine, self.config(), *arguments)
            self.assertEqual((found["context"], found["batch"]), (context, batch))
            self.assertEqual(found["kv_cache_bytes"], row * -(-context // 16) * 16 * batch * bytes_of_32 // 32)

    def test_a_longer_context_is_a_warning(self):
        result = self.on({"host": host("60GiB"), "devices": []}, "fit", self.config(), "--context", "4k")
        self.assertEqual(result.code, 0)
        self.assertIn("hmn: --context 4096: the model was made for 2048 tokens at most\n", result.err)

    def test_wrong_values_are_reported(self):
        for arguments, part in (((), "MODEL"), (("m", "--context", "0"), '--context "0": expected a whole number'),
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
            self.assertIn(part, result.err)

    def test_files_that_are_no_model_fail_by_name(self):
        cut, _ = gguf({"general.architecture": "llama"}, [("blk.0.w", 1 << 40)])
        for name, content, part in (("a.gguf", b"GGUF", "ends in its header"),
                                    ("b.gguf", cut, 'tensor "blk.0.w": ends at byte'),
                                    ("c.safetensors", b"\xff" * 8, "a header of 18446744073709551615 bytes"),
                                    ("d.json", b"{", "no JSON at line 1, byte 2"), ("e.json", b"{}", '"hidden_size"'),
                                    ("f.txt", b"hello", "expected a GGUF file")):
            path = self.folder / name
            path.write_bytes(content)
            result = run("fit", path)
            self.assertEqual((result.code, result.out), (1, ""), name)
            self.assertTrue(result.err.startswith(f'hmn: "{path}": '), result.err)
            self.assertIn(part, result.err)
        self.assertIn("No such file", run("fit", self.folder / "none").err)

    def test_a_gguf_file_of_more_than_a_disk_is_read_at_its_head(self):
        keys = {"general.architecture": "llama", "general.name": "Hole", "llama.block_count": 2,
                "llama.embedding_length": 4096, "llama.attention.head_count": 32, "llama.context_length": 4096}
        head, data = gguf(keys, [("token_embd.weight", 1 << 30), ("blk.0.w", 8 << 30), ("blk.1.w", 8 << 30)])
        path = self.folder / "hole.gguf"
        path.write_bytes(head)
        os.truncate(path, len(head) + data)
        found = self.answer({"host": host("60GiB"), "devices": [gpu("20GiB")]}, path, "--context", "1", code=3)
        self.assertEqual(found["weights_bytes"], 34 * GIB)
        self.assertEqual(found["kv_cache_bytes"], 2 * 2 * 32 * 128 * 2 * 256)  # llama.cpp's least
        self.assertEqual(found["devices"][0]["gpu_layers"], 1)
        self.assertEqual((found["model"]["name"], found["model"]["parameters"]), ("Hole", 17 << 30))

    def test_weights_without_a_configuration_are_no_whole_answer(self):
        header = b'{"w":{"dtype":"U8","shape":[2147483648],"data_offsets":[0,2147483648]}}'
        path = self.folder / "w.safetensors"
        path.write_bytes(struct.pack("<Q", len(header)) + header)
        os.truncate(path, 8 + len(header) + (2 << 30))
        for free, verdict, code in (("20GiB", "unknown", 1), ("1GiB", "does_not_fit", 4)):
            found = self.answer({"host": host("1GiB"), "devices": [gpu(free)]}, path, code=code)
            self.assertEqual((found["verdict"], found["kv_cache_bytes"], found["total_bytes"]),
                             (verdict, None, 2 * GIB))
        shown = self.on({"host": host("1GiB"), "devices": [gpu("20GiB")]}, "fit", path).out
        self.assertRegex(shown, r"(?m)^total +at least 2\.0 GiB$")
        self.assertRegex(shown, r"(?m)^KV cache +\?$")

    def test_the_table(self):
        result = self.on({"host": host("40GiB"), "devices": [gpu("10GiB")]}, "fit", LLAMA_3_8B)
        first, needs, placements, assumed = result.out.split("\n\n")
        self.assertTrue(first.endswith("llama-3-8b.json: configuration, 8.03 billion parameters, 32 layers, bfloat16"))
        self.assertEqual([re.split(r"\s{2,}", line) for line in needs.splitlines()],
                         [["NEEDS"], ["weights", "15.0 GiB"],
                          ["KV cache", "1.0 GiB", "1 sequence of 8192 tokens, f16"],
                          ["working memory", "404 MiB"], ["total", "16.4 GiB"]])
        self.assertEqual([re.split(r"\s{2,}", line) for line in placements.splitlines()],
                         [["MEMORY", "FREE", "USABLE", "VERDICT"],
                          ["GPU 0 [Card]", "10.0 GiB", "9.5 GiB", "fits with 20 of 32 layers on the GPU"],
                          ["RAM", "40.0 GiB", "40.0 GiB", "fits"]])
        self.assertTrue(assumed.startswith("Assumed:\n- "))

    def test_json_is_what_the_schema_says(self):
        def compare(value, rule, where):
            rule = SCHEMA["$defs"][rule["$ref"].rsplit("/", 1)[1]] if "$ref" in rule else rule
            if isinstance(value, dict):
                self.assertEqual(set(value), set(rule["properties"]), where)
                self.assertEqual(set(value), set(rule["required"]), where)
                for key, inner in value.items():
                    compare(inner, rule["properties"][key], f"{where}.{key}")
            elif isinstance(value, list):
                for each in value:
                    compare(each, rule["items"], where)
        machines = [*sorted(MACHINES.glob("*.json")), self.machine(devices=[])]
        for machine in machines:
            result = self.on(machine, "fit", LLAMA_3_8B, "--json", "--device", "all")
            whole = strict_json(result.out)
            compare(whole, SCHEMA, "")
            self.assertEqual(result.code, {"fits": 0, "partly": 3, "does_not_fit": 4, "unknown": 1}[whole["verdict"]])
            try:
                import jsonschema
            except ImportError:
                continue
            jsonschema.validate(whole, SCHEMA)

    def test_what_is_not_counted_or_understood_is_named_and_marked(self):
        machine = {"host": host("60GiB"), "devices": []}
        keys = {"general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 256,
                "llama.feed_forward_length": 512, "llama.attention.head_count": 4, "llama.context_length": 4096}
        path = self.folder / "model.gguf"

        def answer(more, precision, layers=2):
            blocks = [(f"blk.{i}.attn_norm.weight", 256) for i in range(layers)]
            head, data = gguf(keys | more, [("token_embd.weight", 256 * 1024), *blocks])
            path.write_bytes(head + bytes(data))
            found = self.answer(machine, path)
            self.assertEqual(found["precision"], precision)
            total = re.search(r"(?m)^total +(.*?)[\d.]", self.on(machine, "fit", path).out).group(1)
            self.assertEqual(total, {"counted": "", "at_least": "at least ", "about": "about "}[precision])
            return found["assumptions"]

        answer({}, "counted")
        self.assertIn('"llama.attention.new_window" is not understood', answer({"llama.attention.new_window": 1}, "about"))
        self.assertIn("weights of 1 of the 2 layers are not there and not counted", answer({}, "at_least", layers=1))
        (self.folder / "mmproj-model.gguf").write_bytes(bytes(3 * MIB))
        self.assertIn('"mmproj-model.gguf" of 3 MiB is next to it and not counted: images need it', answer({}, "at_least"))

    def test_tokens_at_once(self):
        machine = {"host": host("60GiB"), "devices": []}
        path = self.config(sliding_window=100, use_sliding_window=True, max_position_embeddings=8192)
        usual = self.answer(machine, path)
        self.assertEqual(usual["ubatch"], 2048)
        # 99 and 300 tokens in blocks of 16, and one block more; keys and values of 4 heads of 64 in 4 layers.
        found = self.answer(machine, path, "--ubatch", "300")
        self.assertEqual((found["ubatch"], found["kv_cache_bytes"]), (300, 416 * 2 * 4 * 64 * 2 * 4))
        self.assertLess(found["working_bytes"], usual["working_bytes"])
        wrong = self.on(machine, "fit", path, "--ubatch", "0")
        self.assertEqual((wrong.code, wrong.out), (2, ""))

    def test_the_pages_table_is_what_is_counted(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "scripts" / "fit-table", "--check"], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_names_cannot_command_the_terminal(self):
        evil = "\x1b]0;title\x07\u202eevil"
        head, data = gguf({"general.architecture": evil, "general.name": evil}, [])
        path = self.folder / "evil.gguf"
        path.write_bytes(head)
        shown = run_in_terminal("fit", path, "--color", "never").out
        self.assertFalse({"\x1b", "\x07", "\u202e"} & set(shown), shown)
        keys = {f"{evil}.{name}": 64 for name in ("block_count", "embedding_length", "attention.head_count")}
        head, data = gguf({"general.architecture": evil, "general.name": evil} | keys, [("token_embd.weight", 64)])
        path.write_bytes(head + bytes(data))
        shown = run_in_terminal("fit", path, "--color", "never", "--machine", self.machine(devices=[card()])).out
        self.assertIn("evil", shown)
        self.assertFalse({"\x1b", "\x07", "\u202e"} & set(shown), shown)


if __name__ == "__main__":
    main()
