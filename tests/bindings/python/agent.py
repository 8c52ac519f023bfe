# SPDX-License-Identifier: MIT OR Apache-2.0
"""Answers the requests of behaviour.py through the public package."""
import re
import sys

import hypomnesis
from support import ABI

HIDDEN_FIELDS = ("struct_size", "present", "reserved0")
EXACT_TO = 2**53  # a float of seconds
INEXACT = object()
NOTHING = "null"


def quote(value):
    escapes = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return '"' + "".join(escapes.get(letter, letter) for letter in value)


def format_value(value):
    if value is None:
        return NOTHING
    if value is INEXACT:
        return "inexact"
    if isinstance(value, str):
        return quote(value)
    return repr(value) if isinstance(value, float) else str(int(value))


def wrap_value(value):
    return {"value": value}


def list_fields(value):
    """The fields under their names in C, which has whole nanoseconds."""
    if value is None:
        return wrap_value(None)
    struct = "hmn" + re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", type(value).__name__)
    names = [field["name"] for field in ABI["structs"][struct]["fields"] if field["name"] not in HIDDEN_FIELDS]
    return {name: convert_field(name, getattr(value, slot)) for name, slot in zip(names, value.__slots__)}


def convert_field(name, value):
    if value is None or not name.endswith("_ns"):
        return value
    return round(value * 1e9) if value * 1e9 < EXACT_TO else INEXACT


def spill_options(capacity, threshold, growth):
    return {"episode_capacity": int(capacity), "dedicated_threshold_bytes": int(threshold),
            "growth_bytes": int(growth)}


class Agent:
    def __init__(self):
        self.context = hypomnesis.Context()
        self.snapshots = {}
        self.samplers = {}
        self.tracker = None
        self.detector = None

    def open(self, flags, deadline_ms, max_age_ms, machine):
        self.context.close()
        paths = {} if machine == "-" else {hypomnesis.Place.SIMULATION: machine}
        self.context = hypomnesis.Context(int(flags), deadline=int(deadline_ms) / 1000,
                                          max_age=int(max_age_ms) / 1000, paths=paths)

    def close(self):
        self.context.close()

    def scan(self):
        return wrap_value(self.context.scan().count)

    def scan_generation(self):
        return wrap_value(self.context.scan().generation)

    def find_device(self, key):
        return wrap_value(self.context.find_device(key))

    def device(self, index):
        return list_fields(self.context.device(int(index)))

    def pool(self, index, kind):
        return list_fields(self.context.pool(int(index), int(kind)))

    def telemetry(self, index, fields):
        return list_fields(self.context.telemetry(int(index), int(fields)))

    def metric(self, index, number, instance):
        return list_fields(self.context.metric(int(index), int(number), int(instance)))

    def usage(self, index, pid):
        return list_fields(self.context.usage(int(index), int(pid)))

    def own_usage(self, index):
        return list_fields(self.context.own_usage(int(index)))

    def process_memory(self, pid, fields):
        return list_fields(self.context.process_memory(int(pid), int(fields)))

    def own_memory(self, fields):
        return list_fields(self.context.own_memory(int(fields)))

    def system_memory(self):
        return list_fields(self.context.system_memory())

    def backend(self, number):
        return list_fields(self.context.backend(int(number)))

    def set_path(self, place, value):
        self.context.set_path(int(place), None if value == "-" else value)

    def take(self, name, flags, collect, device_index, pid):
        snapshot = self.context.take(int(flags), int(collect), int(device_index), int(pid))
        self.snapshots[name] = snapshot

    def drop(self, name):
        self.snapshots[name].close()

    def info(self, name):
        return list_fields(self.snapshots[name].info)

    def memory(self, name):
        return list_fields(self.snapshots[name].memory)

    def system(self, name):
        return list_fields(self.snapshots[name].system)

    def snapshot_device(self, name, i):
        return list_fields(self.snapshots[name].devices[int(i)])

    def snapshot_telemetry(self, name, i):
        return list_fields(self.snapshots[name].devices[int(i)].telemetry)

    def self(self, name, i):
        return list_fields(self.snapshots[name].devices[int(i)].own_usage)

    def snapshot_pool(self, name, i):
        return list_fields(self.snapshots[name].pools[int(i)])

    def snapshot_usage(self, name, i):
        return list_fields(self.snapshots[name].usages[int(i)])

    def process_name(self, name, i):
        return wrap_value(self.snapshots[name].usages[int(i)].process_name)

    def process_command(self, name, i):
        return wrap_value(self.snapshots[name].usages[int(i)].process_command)

    def process_container(self, name, i):
        return wrap_value(self.snapshots[name].usages[int(i)].process_container)

    def snapshot_group(self, name, i):
        return list_fields(self.snapshots[name].groups[int(i)])

    def group_name(self, name, i):
        return wrap_value(self.snapshots[name].groups[int(i)].name)

    def snapshot_metric(self, name, i):
        return list_fields(self.snapshots[name].metrics[int(i)])

    def diagnostic(self, name, i):
        return list_fields(self.snapshots[name].diagnostics[int(i)])

    def json(self, name):
        return wrap_value(self.snapshots[name].json())

    def device_line(self, name, i, format):
        return wrap_value(self.snapshots[name].device_line(int(i), int(format)))

    def reason(self, name, index, subject, field, metric, instance, pool, pid):
        return list_fields(self.snapshots[name].reason(int(index), int(subject), int(field), int(metric),
                                                       metric_instance=int(instance), pool=int(pool), pid=int(pid)))

    def delta(self, before, after, index):
        return list_fields(self.snapshots[after].delta_since(self.snapshots[before], int(index)))

    def delta_line(self, before, after, index, label):
        return wrap_value(self.snapshots[after].delta_line(self.snapshots[before], int(index), label))

    def before_after(self, before, after, index, label):
        return wrap_value(self.snapshots[after].before_after_lines(self.snapshots[before], int(index),
                                                                   label))

    def sample_idle(self, name, collect):
        self.samplers[name] = self.context.sampler(int(collect), interval=3600)

    def sample(self, name, collect):
        self.sample_idle(name, collect)
        self.samplers[name].start()

    def sample_next(self, name, snapshot, timeout_ms):
        try:
            taken = self.samplers[name].next(int(timeout_ms) / 1000)
        except hypomnesis.DeadlineError:
            return wrap_value("timeout")
        if taken is not None:
            self.snapshots[snapshot] = taken
        return wrap_value("end" if taken is None else "sample")

    def sample_stop(self, name):
        self.samplers[name].stop()

    def sample_drop(self, name):
        self.samplers[name].close()

    def sample_info(self, name):
        return list_fields(self.samplers[name].info())

    def sample_pool(self, name, index):
        return list_fields(self.samplers[name].latest_pool(int(index)))

    def sample_telemetry(self, name, index):
        return list_fields(self.samplers[name].latest_telemetry(int(index)))

    def sample_peak(self, name, index, pid):
        return list_fields(self.samplers[name].peak(int(index), int(pid)))

    def sample_device_peak(self, name, index):
        return list_fields(self.samplers[name].device_peak(int(index)))

    def estimate_tensor(self, rows, columns, dtype):
        element_type = hypomnesis.dtype_from_name(dtype)
        return wrap_value(hypomnesis.estimate_tensor([int(rows), int(columns)], element_type))

    def estimate_cache(self, kind, layers, kv_heads, row_dim, sequence):
        return wrap_value(hypomnesis.estimate_cache(
            int(kind), hypomnesis.Dtype.F16, layers=int(layers), kv_heads=int(kv_heads),
            row_dim=int(row_dim), sequence=int(sequence)))

    def estimate_packed(self, rows, columns, dtype, group_size, group_bits):
        return wrap_value(hypomnesis.estimate_packed(
            [int(rows), int(columns)], hypomnesis.dtype_from_name(dtype), group_size=int(group_size),
            group_bits=int(group_bits)))

    def estimate_attention(self, heads, kv_heads, sequence, head_dim, fused):
        return wrap_value(hypomnesis.estimate_attention(
            hypomnesis.Dtype.F16, heads=int(heads), kv_heads=int(kv_heads), sequence=int(sequence),
            head_dim=int(head_dim), fused=fused != "0"))

    def estimate_overhead(self, count, per_thousand):
        return wrap_value(hypomnesis.estimate_overhead(int(count), int(per_thousand)))

    def estimate_sum(self, first, second):
        return wrap_value(hypomnesis.estimate_sum([int(first), int(second)]))

    def dtype_bits(self, name):
        return wrap_value(hypomnesis.dtype_bits(hypomnesis.dtype_from_name(name)))

    def track_limit(self, limit_bytes):
        self.tracker.set_limit(None if limit_bytes == "-" else int(limit_bytes))

    def track_reset(self):
        self.tracker.reset()

    def track(self, limit_bytes):
        self.tracker = self.context.tracker(0, int(limit_bytes))

    def track_tag(self, name):
        return wrap_value(self.tracker.tag(name))

    def track_allocate(self, count, tag):
        self.tracker.allocate(int(count), int(tag))

    def track_release(self, count, tag):
        self.tracker.release(int(count), int(tag))

    def track_fits(self, count):
        return wrap_value(self.tracker.would_fit(int(count)))

    def track_info(self):
        return list_fields(self.tracker.info())

    def track_read_tag(self, tag):
        return list_fields(self.tracker.read_tag(int(tag)))

    def spill(self, index, *options):
        self.detector = self.context.spill(int(index), **spill_options(*options))

    def spill_fed(self, *options):
        self.detector = hypomnesis.Spill(**spill_options(*options))

    def spill_observe(self, label):
        self.detector.observe(label)

    def spill_snapshot(self, name, label):
        self.detector.observe_snapshot(self.snapshots[name], label)

    def spill_feed(self, time, dedicated, shared, limit, evicted, label):
        self.detector.feed(int(dedicated), int(shared), monotonic=int(time) / 1e9, label=label,
                           limit_bytes=None if limit == "-" else int(limit),
                           evicted_bytes=None if evicted == "-" else int(evicted))

    def spill_info(self):
        return list_fields(self.detector.info())

    def spill_episode(self, number):
        return list_fields(self.detector.episode(int(number)))

    def format_bytes(self, count):
        return wrap_value(hypomnesis.format_bytes(int(count)))

    def status_name(self, number):
        return wrap_value(hypomnesis.status_name(int(number)))

    def metric_name(self, number):
        return wrap_value(hypomnesis.metric_name(int(number)))

    def metric_unit(self, number):
        return wrap_value(hypomnesis.metric_unit(int(number)))

    def metric_instance_name(self, number, instance):
        return wrap_value(hypomnesis.metric_instance_name(int(number), int(instance)))

    def reason_name(self, number):
        return wrap_value(hypomnesis.reason_name(int(number)))

    def backend_name(self, number):
        return wrap_value(hypomnesis.backend_name(int(number)))

    def backend_available(self, number):
        return wrap_value(hypomnesis.backend_available(int(number)))

    def feature(self, number):
        return wrap_value(hypomnesis.feature(int(number)))

    def version(self):
        return wrap_value(hypomnesis.version())


def answer_request(agent, words):
    try:
        return getattr(agent, words[0])(*words[1:]) or {}
    except hypomnesis.ClosedError:
        return {"error": "closed"}
    except hypomnesis.Error as error:
        return {"error": error.status_name, "message": error.message}
    except IndexError:
        return {"error": "HMN_E_RANGE", "message": "past the end"}


def main():
    agent = Agent()
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    for line in sys.stdin:
        words = line.rstrip("\n").split("\t")
        if words == ["quit"]:
            return
        for key, value in answer_request(agent, words).items():
            is_raw = key == "error"
            print(key, value if is_raw else format_value(value), sep="\t")
        print(flush=True)


if __name__ == "__main__":
    main()
