// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot_json.hpp"

#include <algorithm>

#include "model/json_writer.hpp"
#include "model/record.hpp"
#include "model/words.hpp"

namespace hmn {
namespace {

void write_set(json::Writer& w, std::uint64_t bits, WordList list) {
  w.open('[');
  for (const NumberedWord& word : list) {
    if ((bits & static_cast<std::uint32_t>(word.number)) != 0) w.word(word.word);
  }
  w.close(']');
}

// Writes the words of a bit mask: bit n is number n of the list.
void write_mask(json::Writer& w, std::uint64_t bits, WordList list) {
  w.open('[');
  for (std::uint32_t n = 0; n < 64; ++n) {
    if ((bits >> n & 1U) != 0) w.word(word_or_unknown(list, n));
  }
  w.close(']');
}

void write_number(json::Writer& w, Unit u, std::uint64_t number) {
  const WordList list = words_for(u);
  if (is_set_of_bits(u)) return write_set(w, number, list);
  if (u == Unit::sources) return write_mask(w, number, list);
  if (list.empty()) return w.number(number);
  w.word(word_or_unknown(list, static_cast<std::int64_t>(number)));
}

void write_value(json::Writer& w, Unit u, const RecordValue& v) {
  if (const bool* const truth = std::get_if<bool>(&v)) return w.truth(*truth);
  if (const double* const real = std::get_if<double>(&v)) return w.number(*real);
  if (const auto* const text = std::get_if<std::string_view>(&v)) return w.text(*text);
  if (const auto* const number = std::get_if<std::uint64_t>(&v)) return write_number(w, u, *number);
  w.null();
}

void write_instance(json::Writer& w, const RecordValue& v) {
  const auto* const i = std::get_if<MigInstance>(&v);
  w.member("gpu_instance", i != nullptr ? std::optional(i->gpu) : std::nullopt);
  w.member("compute_instance", i != nullptr ? std::optional(i->compute) : std::nullopt);
}

void write_members(json::Writer& w, FieldList fields, const void* record) {
  for (const Field& f : fields) {
    if (f.unit == Unit::unlisted) continue;
    if (f.type == FieldType::instance) {
      write_instance(w, f.get(record));
      continue;
    }
    w.key(f.key);
    write_value(w, f.unit, f.get(record));
    if (f.unit != Unit::vendor) continue;
    const auto id = static_cast<std::uint32_t>(number_in(f, record));
    w.member("vendor_id", id != vendor::unknown ? std::optional(id) : std::nullopt);
  }
}

template <class Record>
void write_members(json::Writer& w, const Record& r) {
  write_members(w, fields_of<Record>(), &r);
}

template <class Record>
void write(json::Writer& w, const Record& r) {
  w.open('{');
  write_members(w, r);
  w.close('}');
}

void write(json::Writer& w, const Metric& m) {
  const auto id = static_cast<std::uint32_t>(m.id);
  const MetricWords* const words = words_of_metric(id);
  w.open('{');
  w.word_member("name", words != nullptr ? words->name : "unknown");
  w.member("instance", m.instance);
  w.text_member("instance_name", instance_name(id, m.instance));
  w.text_member("unit", words != nullptr ? words->unit : "");
  write_members(w, m);
  w.close('}');
}

// Writes null if metrics were not requested.
void write_metrics(json::Writer& w, const Snapshot& of, std::uint32_t device_index) {
  w.key("metrics");
  if ((of.collect & subject::metrics) == 0) return w.null();
  w.open('[');
  for (const Metric& m : of_device(of.metrics, device_index)) write(w, m);
  w.close(']');
}

template <class Record>
void write_part(json::Writer& w, std::string_view key, const std::optional<Record>& part) {
  w.key(key);
  if (part) {
    write(w, *part);
  } else {
    w.null();
  }
}

void write(json::Writer& w, const SnapshotDevice& d, const Snapshot& of) {
  w.open('{');
  write_members(w, d.record());
  write_part(w, "telemetry", d.telemetry);
  write_metrics(w, of, d.identity->index);
  write_part(w, "self", d.self);
  w.close('}');
}

FieldList fields_of_subject(std::uint32_t subject_bit) {
  switch (subject_bit) {
    case subject::memory:
      return fields_of<ProcessMemory>();
    case subject::system:
      return fields_of<SystemMemory>();
    case subject::devices:
      return fields_of<Device>();
    case subject::pools:
      return fields_of<Pool>();
    case subject::self:
    case subject::processes:
      return fields_of<Usage>();
    case subject::telemetry:
      return fields_of<Telemetry>();
    case subject::groups:
      return fields_of<Group>();
    default:
      return {};
  }
}

// Writes the names of the affected fields, one for each bit, and of the affected metric.
void write_fields(json::Writer& w, const Diagnostic& d) {
  w.key("fields");
  w.open('[');
  const FieldList fields = fields_of_subject(d.about);
  for (FieldSet left = d.field; left != 0; left &= left - 1) {
    const auto named = std::ranges::find(fields, left & -left, &Field::bit);
    if (named != fields.end()) w.word(named->key);
  }
  w.close(']');
  const FieldSet number = d.about == subject::metrics ? d.field : 0;
  const MetricWords* const metric = words_of_metric(id_of_missing(number));
  w.text_member("metric", metric != nullptr ? metric->name : "");
  w.member("metric_instance", instance_of_missing(number));
  w.text_member("pool",
                d.pool ? word_or_unknown(words::pool_kinds(), static_cast<int>(d.pool->kind)) : "");
  w.member("pool_instance", d.pool ? std::optional(d.pool->instance) : std::nullopt);
}

void write(json::Writer& w, const SnapshotDiagnostic& listed) {
  const Diagnostic& d = listed.value;
  const NativeCode& native = d.why.native;
  w.open('{');
  w.word_member("reason", word_or_unknown(words::reasons(), static_cast<int>(reason_for(d.why))));
  w.word_member("status", status_name(static_cast<std::int32_t>(d.why.code)));
  w.word_member("backend", word_or_unknown(words::sources(), static_cast<int>(d.why.from)));
  w.key("notes");
  write_set(w, d.notes, words::notes());
  w.word_member("subject", word_or_unknown(words::subjects(), d.about));
  write_fields(w, d);
  w.member("device_index", listed.device_index);
  w.member("pid", d.pid);
  w.member("count", listed.count);
  w.word_member("native_domain",
                word_or_unknown(words::native_domains(), static_cast<int>(native.domain)));
  w.member("native_code",
           native.domain != NativeDomain::none ? std::optional(native.code) : std::nullopt);
  w.member("duration_ns", d.duration_ns);
  w.key("message");
  w.text(d.why.message.view());
  w.close('}');
}

template <class T>
void write_list(json::Writer& w, std::string_view key, const std::vector<T>& entries) {
  w.key(key);
  w.open('[');
  for (const T& e : entries) write(w, e);
  w.close(']');
}

}  // namespace

std::size_t write_json(std::span<char> out, const Snapshot& s) {
  json::Writer w(out);
  w.open('{');
  w.member("schema", json_schema_version);
  w.member("unix_time_ns", s.unix_time_ns);
  w.member("monotonic_ns", s.monotonic_ns);
  w.member("duration_ns", s.duration_ns);
  w.key("collect");
  write_set(w, s.collect, words::subjects());
  w.key("notes");
  write_set(w, s.notes, words::notes());
  w.member("unreadable_process_count", s.unreadable_processes);
  write_part(w, "memory", s.memory);
  write_part(w, "system", s.system);
  w.key("devices");
  w.open('[');
  for (const SnapshotDevice& d : s.devices) write(w, d, s);
  w.close(']');
  write_list(w, "pools", s.pools);
  write_list(w, "usages", s.usages);
  write_list(w, "groups", s.groups);
  write_list(w, "diagnostics", s.why->diagnostics);
  w.close('}');
  return w.size();
}

}  // namespace hmn
