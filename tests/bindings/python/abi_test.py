# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares constants, structs and functions with bindings/abi.json, which is generated from the header."""
import dataclasses
import enum
import importlib
import re
import unittest

import hypomnesis
from hypomnesis import _proxy as raw
from support import ABI, ROOT, run_suite

RECORDS = {
    "hmn_backend_info": hypomnesis.BackendInfo,
    "hmn_delta": hypomnesis.Delta,
    "hmn_device": hypomnesis.Device,
    "hmn_diagnostic": hypomnesis.Diagnostic,
    "hmn_episode": hypomnesis.Episode,
    "hmn_group": hypomnesis.Group,
    "hmn_metric": hypomnesis.Metric,
    "hmn_peak": hypomnesis.Peak,
    "hmn_pool": hypomnesis.Pool,
    "hmn_process_memory": hypomnesis.ProcessMemory,
    "hmn_sampler_info": hypomnesis.SamplerInfo,
    "hmn_snapshot_info": hypomnesis.SnapshotInfo,
    "hmn_spill_info": hypomnesis.SpillInfo,
    "hmn_system_memory": hypomnesis.SystemMemory,
    "hmn_tag": hypomnesis.Tag,
    "hmn_telemetry": hypomnesis.Telemetry,
    "hmn_tracker_info": hypomnesis.TrackerInfo,
    "hmn_usage": hypomnesis.Usage,
}
# Structs without a class: their fields are arguments or attributes of an exception.
INPUT_STRUCTS = {"hmn_context_options", "hmn_error", "hmn_sampler_options", "hmn_snapshot_options",
                 "hmn_spill_options", "hmn_spill_sample", "hmn_tracker_options", "hmn_packing",
                 "hmn_attention", "hmn_cache", "hmn_metric_key", "hmn_reason_key"}
HIDDEN_FIELDS = ("struct_size", "present", "reserved0")
# Fields that lose more than their unit.
TIMES = {"unix_time_ns": "time", "start_unix_ns": "start_time"}
EXTRA_FIELDS = {"hmn_device": ["pools", "telemetry", "own_usage", "usages", "metrics"],
                "hmn_group": ["name"],
                "hmn_usage": ["process_name", "process_command", "process_container"]}

# Prefix of the header's constants -> enumeration with the same names.
ENUMERATIONS = {
    "HMN_E_": hypomnesis.Status,
    "HMN_BACKEND_": hypomnesis.Backend,
    "HMN_NOTE_": hypomnesis.Note,
    "HMN_DELTA_SCOPE_": hypomnesis.Scope,
    "HMN_ACCOUNT_": hypomnesis.Accounting,
    "HMN_REASON_": hypomnesis.Reason,
    "HMN_NATIVE_": hypomnesis.NativeDomain,
    "HMN_VENDOR_": hypomnesis.Vendor,
    "HMN_FEATURE_": hypomnesis.Feature,
    "HMN_CONTEXT_": hypomnesis.ContextFlag,
    "HMN_PATH_": hypomnesis.Place,
    "HMN_RUN_STATE_": hypomnesis.State,
    "HMN_PROCESS_MEMORY_HAS_": hypomnesis.ProcessMemoryField,
    "HMN_SYSTEM_MEMORY_HAS_": hypomnesis.SystemMemoryField,
    "HMN_DEVICE_CLASS_": hypomnesis.DeviceClass,
    "HMN_DEVICE_FORM_": hypomnesis.DeviceForm,
    "HMN_MEMORY_KIND_": hypomnesis.MemoryKind,
    "HMN_DEVICE_HAS_": hypomnesis.DeviceField,
    "HMN_POOL_": hypomnesis.PoolKind,
    "HMN_POOL_HAS_": hypomnesis.PoolField,
    "HMN_TELEMETRY_HAS_": hypomnesis.TelemetryField,
    "HMN_THROTTLE_": hypomnesis.Throttle,
    "HMN_NUMBER_KIND_": hypomnesis.NumberKind,
    "HMN_METRIC_": hypomnesis.MetricId,
    "HMN_ENGINE_": hypomnesis.Engine,
    "HMN_SENSOR_": hypomnesis.Sensor,
    "HMN_POWER_READING_": hypomnesis.Power,
    "HMN_POWER_LIMIT_": hypomnesis.PowerLimit,
    "HMN_CLOCK_": hypomnesis.Clock,
    "HMN_RAIL_": hypomnesis.Rail,
    "HMN_ERA_": hypomnesis.Era,
    "HMN_REMAPPED_": hypomnesis.Remapped,
    "HMN_USAGE_KIND_": hypomnesis.UsageKind,
    "HMN_USAGE_HAS_": hypomnesis.UsageField,
    "HMN_GROUP_HAS_": hypomnesis.GroupField,
    "HMN_NAME_STATE_": hypomnesis.NameState,
    "HMN_PRESSURE_": hypomnesis.Pressure,
    "HMN_COLLECT_": hypomnesis.Collect,
    "HMN_SNAPSHOT_": hypomnesis.SnapshotFlag,
    "HMN_FORMAT_": hypomnesis.Format,
    "HMN_SAMPLER_": hypomnesis.SamplerFlag,
    "HMN_LINE_": hypomnesis.LineFlag,
    "HMN_SAMPLER_STATE_": hypomnesis.SamplerState,
    "HMN_SPILL_STATE_": hypomnesis.SpillState,
    "HMN_SPILL_BY_": hypomnesis.SpillRule,
    "HMN_DTYPE_": hypomnesis.Dtype,
    "HMN_CACHE_": hypomnesis.CacheKind,
}
ENUMERATION_NAMES = {cls.__name__ for cls in ENUMERATIONS.values()}
# Sizes of structs; bits of `present`, which become None; texts that are fields and flags that are
# arguments in Python.
EXCLUDED_CONSTANTS = re.compile(
    r"HMN_\w+_SIZE_V\d+|HMN_(BACKEND_INFO|DIAGNOSTIC|DELTA|SAMPLER_INFO|PEAK|METRIC|TRACKER_INFO|SPILL_SAMPLE|SPILL_INFO|"
    r"EPISODE)_HAS_\w+|HMN_TEXT_\w+|HMN_ATTENTION_FUSED|HMN_TRACKER_LIMITED")

FUNCTIONS = {
    "hmn_version_number": "version_number",
    "hmn_version_string": "version",
    "hmn_monotonic_ns": "monotonic",
    "hmn_feature": "feature",
    "hmn_backend_available": "backend_available",
    "hmn_status_name": "status_name",
    "hmn_backend_name": "backend_name",
    "hmn_reason_name": "reason_name",
    "hmn_metric_name": "metric_name",
    "hmn_metric_unit": "metric_unit",
    "hmn_metric_kind": "metric_kind",
    "hmn_metric_next": "metrics",
    "hmn_metric_instance_name": "metric_instance_name",
    "hmn_context_create": "Context",
    "hmn_context_set_path": "Context.set_path",
    "hmn_context_backend": "Context.backend",
    "hmn_context_cancel": "Context.cancel",
    "hmn_context_resume": "Context.resume",
    "hmn_context_recording": "Context.recording",
    "hmn_context_destroy": "Context.close",
    "hmn_process_memory_read": "Context.process_memory",
    "hmn_process_memory_read_self": "Context.own_memory",
    "hmn_system_memory_read": "Context.system_memory",
    "hmn_device_scan": "Context.scan",
    "hmn_device_find": "Context.find_device",
    "hmn_device_read": "Context.device",
    "hmn_pool_read": "Context.pool",
    "hmn_telemetry_read": "Context.telemetry",
    "hmn_metric_read": "Context.metric",
    "hmn_usage_read": "Context.usage",
    "hmn_usage_read_self": "Context.own_usage",
    "hmn_snapshot_take": "Context.take",
    "hmn_snapshot_destroy": "Snapshot.close",
    "hmn_snapshot_read": "Snapshot.info",
    "hmn_snapshot_memory": "Snapshot.memory",
    "hmn_snapshot_system": "Snapshot.system",
    "hmn_snapshot_device_at": "Snapshot.devices",
    "hmn_snapshot_find_telemetry": "Device.telemetry",
    "hmn_snapshot_metric_at": "Snapshot.metrics",
    "hmn_snapshot_group_at": "Snapshot.groups",
    "hmn_snapshot_find_self": "Device.own_usage",
    "hmn_snapshot_pool_at": "Snapshot.pools",
    "hmn_snapshot_find_pool": "Snapshot.pool",
    "hmn_snapshot_usage_at": "Snapshot.usages",
    "hmn_snapshot_diagnostic_at": "Snapshot.diagnostics",
    "hmn_snapshot_reason": "Snapshot.reason",
    "hmn_snapshot_text_at": "Usage.process_name",
    "hmn_delta_read": "Snapshot.delta_since",
    "hmn_report_delta": "Snapshot.delta_line",
    "hmn_report_before_after": "Snapshot.before_after_lines",
    "hmn_format_device": "Snapshot.device_line",
    "hmn_format_json": "Snapshot.json",
    "hmn_format_bytes": "format_bytes",
    "hmn_dtype_bits": "dtype_bits",
    "hmn_dtype_name": "dtype_name",
    "hmn_dtype_from_name": "dtype_from_name",
    "hmn_estimate_tensor": "estimate_tensor",
    "hmn_estimate_packed": "estimate_packed",
    "hmn_estimate_attention": "estimate_attention",
    "hmn_estimate_cache": "estimate_cache",
    "hmn_estimate_overhead": "estimate_overhead",
    "hmn_estimate_sum": "estimate_sum",
    "hmn_tracker_create": "Context.tracker",
    "hmn_tracker_destroy": "Tracker.close",
    "hmn_tracker_allocate": "Tracker.allocate",
    "hmn_tracker_allocate_tagged": "Tracker.allocate",
    "hmn_tracker_release": "Tracker.release",
    "hmn_tracker_release_tagged": "Tracker.release",
    "hmn_tracker_tag": "Tracker.tag",
    "hmn_tracker_would_fit": "Tracker.would_fit",
    "hmn_tracker_set_limit": "Tracker.set_limit",
    "hmn_tracker_read": "Tracker.info",
    "hmn_tracker_read_tag": "Tracker.read_tag",
    "hmn_tracker_reset": "Tracker.reset",
    "hmn_spill_create": "Context.spill",
    "hmn_spill_destroy": "Spill.close",
    "hmn_spill_observe": "Spill.observe",
    "hmn_spill_observe_snapshot": "Spill.observe_snapshot",
    "hmn_spill_feed": "Spill.feed",
    "hmn_spill_read": "Spill.info",
    "hmn_spill_episode": "Spill.episode",
    "hmn_sampler_create": "Context.sampler",
    "hmn_sampler_destroy": "Sampler.close",
    "hmn_sampler_start": "Sampler.start",
    "hmn_sampler_stop": "Sampler.stop",
    "hmn_sampler_next": "Sampler.next",
    "hmn_sampler_handle": "Sampler.handle",
    "hmn_sampler_read": "Sampler.info",
    "hmn_sampler_latest_pool": "Sampler.latest_pool",
    "hmn_sampler_latest_telemetry": "Sampler.latest_telemetry",
    "hmn_sampler_peak": "Sampler.peak",
    "hmn_sampler_peak_device": "Sampler.device_peak",
}


def find_prefix(constant):
    """Returns the longest matching prefix: HMN_POOL_HAS_TOTAL does not belong to HMN_POOL_."""
    return max((p for p in ENUMERATIONS if constant.startswith(p)), key=len, default=None)


class Abi(unittest.TestCase):
    def test_raw_constants_match_the_header(self):
        for name, value in ABI["constants"].items():
            self.assertEqual(getattr(raw, name.removeprefix("HMN_")), value, name)

    def test_each_constant_is_a_member_of_its_enumeration(self):
        members = {(cls, name): int(value) for cls in ENUMERATIONS.values()
                   for name, value in cls.__members__.items()}
        self.assertEqual(members.pop((hypomnesis.Status, "OK")), 0)
        for name, value in ABI["constants"].items():
            if EXCLUDED_CONSTANTS.fullmatch(name) or name == "HMN_OK":
                continue
            prefix = find_prefix(name)
            self.assertIsNotNone(prefix, f"no enumeration has {name}")
            member = (ENUMERATIONS[prefix], name.removeprefix(prefix))
            self.assertEqual(members.pop(member, None), value, name)
        self.assertEqual(members, {}, "not in the header")

    def test_every_public_enumeration_is_compared_with_the_header(self):
        public = {value for value in vars(hypomnesis).values()
                  if isinstance(value, enum.EnumMeta)}
        self.assertEqual(public, {*ENUMERATIONS.values(), hypomnesis.SamplerFlag})

    def test_struct_sizes_match_the_header(self):
        for name, struct in ABI["structs"].items():
            self.assertEqual(raw.size_of(name), struct["size"], name)
        self.assertEqual(raw.size_of("hmn_nothing"), 0)

    def test_each_record_class_has_the_fields_of_its_struct_in_order(self):
        self.assertEqual(set(RECORDS) | INPUT_STRUCTS, set(ABI["structs"]))
        for name, cls in RECORDS.items():
            expected = [TIMES.get(field["name"], field["name"].removesuffix("_ns"))
                        for field in ABI["structs"][name]["fields"] if field["name"] not in HIDDEN_FIELDS]
            actual = [field.name for field in dataclasses.fields(cls)]
            self.assertEqual(actual, expected + EXTRA_FIELDS.get(name, []), name)

    def test_only_fields_that_can_be_absent_are_optional(self):
        plain = {"double": "float"}
        for name, cls in RECORDS.items():
            fields = [field for field in ABI["structs"][name]["fields"] if field["name"] not in HIDDEN_FIELDS]
            for field, own in zip(fields, dataclasses.fields(cls)):
                kind = "str" if field["count"] else plain.get(field["type"], "int")
                kind = "float" if field["name"].endswith("_ns") else kind
                kind = "bool" if field["name"] == "is_main" else kind
                actual = own.type.removesuffix(" | None")
                if actual in ENUMERATION_NAMES or actual == "PciNumber":
                    actual = "int"
                self.assertEqual(actual, kind, f"{name}.{field['name']}")
                self.assertEqual(own.type.endswith(" | None"), bool(field["present"]), f"{name}.{field['name']}")

    def test_flags_and_numbers_of_enumerations_have_their_class(self):
        for name, cls in RECORDS.items():
            types = {field.name: field.type for field in dataclasses.fields(cls)}
            for field in ABI["structs"][name]["fields"]:
                if field["type"] in ("hmn_flags", "hmn_status"):
                    self.assertIn(types[field["name"]].removesuffix(" | None"), ENUMERATION_NAMES, field["name"])
        types = {field.name: field.type for field in dataclasses.fields(hypomnesis.Device)}
        self.assertEqual([types[name] for name in ("vendor", "form", "state", "pci_device")],
                         ["Vendor", "DeviceForm", "State", "PciNumber | None"])

    def test_each_c_function_has_a_python_counterpart(self):
        self.assertEqual(set(FUNCTIONS), set(ABI["functions"]))
        wrapper = (ROOT / "bindings/python/generated/raw_wrap.c").read_text()
        for function, path in FUNCTIONS.items():
            self.assertRegex(wrapper, rf"\b{function}\(", function)
            target = hypomnesis
            for name in path.split("."):
                self.assertTrue(hasattr(target, name), path)
                target = getattr(target, name)

    def test_the_version_matches_the_header(self):
        self.assertEqual(hypomnesis.version(), ABI["version"])
        self.assertEqual(hypomnesis.__version__, ABI["version"])
        project = (ROOT / "bindings/python/pyproject.toml").read_text()
        self.assertEqual(re.search(r'^version = "(.*)"', project, re.M)[1], ABI["version"])
        major, minor, patch = map(int, ABI["version"].split("."))
        self.assertEqual(hypomnesis.version_number(), major * 1000000 + minor * 1000 + patch)
        soname = importlib.import_module("hypomnesis._native").SONAME
        self.assertEqual(soname, f"libhypomnesis.so.{major}" if major else f"libhypomnesis.so.0.{minor}")


if __name__ == "__main__":
    run_suite()
