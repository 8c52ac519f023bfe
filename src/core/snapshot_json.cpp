// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot_json.hpp"

#include <algorithm>

#include "model/json_writer.hpp"
#include "model/record.hpp"
#include "model/words.hpp"

namespace hmn {
namespace {

void write_set(json::Writer& writer, std::uint64_t bits, WordList list) {
  writer.open('[');
  for (const NumberedWord& word : list) {
    if ((bits & static_cast<std::uint32_t>(word.number)) != 0) writer.word(word.word);
  }
  writer.close(']');
}

// Writes the words of a bit mask: bit n is number n of the list.
void write_mask(json::Writer& writer, std::uint64_t bits, WordList list) {
  writer.open('[');
  for (std::uint32_t n = 0; n < 64; ++n) {
    if ((bits >> n & 1U) != 0) writer.word(word_or_unknown(list, n));
  }
  writer.close(']');
}

void write_number(json::Writer& writer, Unit unit, std::uint64_t number) {
  const WordList list = unit_words(unit);
  if (is_bitmask(unit)) return write_set(writer, number, list);
  if (unit == Unit::sources) return write_mask(writer, number, list);
  if (list.empty()) return writer.number(number);
  writer.word(word_or_unknown(list, static_cast<std::int64_t>(number)));
}

void write_value(json::Writer& writer, Unit unit, const RecordValue& value) {
  if (const bool* const truth = std::get_if<bool>(&value)) return writer.boolean(*truth);
  if (const double* const real = std::get_if<double>(&value)) return writer.number(*real);
  if (const auto* const text = std::get_if<std::string_view>(&value)) return writer.text(*text);
  if (const auto* const number = std::get_if<std::uint64_t>(&value))
    return write_number(writer, unit, *number);
  writer.null();
}

void write_instance(json::Writer& writer, const RecordValue& value) {
  const auto* const instance = std::get_if<MigInstance>(&value);
  writer.member("gpu_instance", instance != nullptr ? std::optional(instance->gpu) : std::nullopt);
  writer.member("compute_instance",
                instance != nullptr ? std::optional(instance->compute) : std::nullopt);
}

void write_members(json::Writer& writer, FieldList fields, const void* record) {
  for (const Field& field : fields) {
    if (field.unit == Unit::unlisted) continue;
    if (field.type == FieldType::instance) {
      write_instance(writer, field.get(record));
      continue;
    }
    writer.key(field.key);
    write_value(writer, field.unit, field.get(record));
    if (field.unit != Unit::vendor) continue;
    const auto id = static_cast<std::uint32_t>(get_number(field, record));
    writer.member("vendor_id", id != vendor::unknown ? std::optional(id) : std::nullopt);
  }
}

template <class Record>
void write_members(json::Writer& writer, const Record& record) {
  write_members(writer, record_fields<Record>(), &record);
}

template <class Record>
void write(json::Writer& writer, const Record& record) {
  writer.open('{');
  write_members(writer, record);
  writer.close('}');
}

void write(json::Writer& writer, const Metric& metric) {
  const auto id = static_cast<std::uint32_t>(metric.id);
  const MetricInfo* const words = find_metric_info(id);
  writer.open('{');
  writer.word_member("name", words != nullptr ? words->name : "unknown");
  writer.member("instance", metric.instance);
  writer.text_member("instance_name", instance_name(id, metric.instance));
  writer.text_member("unit", words != nullptr ? words->unit : "");
  write_members(writer, metric);
  writer.close('}');
}

// Writes null if metrics were not requested.
void write_metrics(json::Writer& writer, const Snapshot& snapshot, std::uint32_t device_index) {
  writer.key("metrics");
  if ((snapshot.collect & subject::metrics) == 0) return writer.null();
  writer.open('[');
  for (const Metric& metric : select_device(snapshot.metrics, device_index)) write(writer, metric);
  writer.close(']');
}

template <class Record>
void write_part(json::Writer& writer, std::string_view key, const std::optional<Record>& part) {
  writer.key(key);
  if (part) {
    write(writer, *part);
  } else {
    writer.null();
  }
}

void write(json::Writer& writer, const SnapshotDevice& device, const Snapshot& snapshot) {
  writer.open('{');
  write_members(writer, device.record());
  write_part(writer, "telemetry", device.telemetry);
  write_metrics(writer, snapshot, device.identity->index);
  write_part(writer, "self", device.self);
  writer.close('}');
}

FieldList list_subject_fields(std::uint32_t subject_bit) {
  switch (subject_bit) {
    case subject::memory:
      return record_fields<ProcessMemory>();
    case subject::system:
      return record_fields<SystemMemory>();
    case subject::devices:
      return record_fields<Device>();
    case subject::pools:
      return record_fields<Pool>();
    case subject::self:
    case subject::processes:
      return record_fields<Usage>();
    case subject::telemetry:
      return record_fields<Telemetry>();
    case subject::groups:
      return record_fields<Group>();
    default:
      return {};
  }
}

// Writes the names of the affected fields, one for each bit, and of the affected metric.
void write_fields(json::Writer& writer, const Diagnostic& diagnostic) {
  writer.key("fields");
  writer.open('[');
  const FieldList fields = list_subject_fields(diagnostic.subject);
  for (FieldSet left = diagnostic.field; left != 0; left &= left - 1) {
    const auto it = std::ranges::find(fields, left & -left, &Field::bit);
    if (it != fields.end()) writer.word(it->key);
  }
  writer.close(']');
  const FieldSet number = diagnostic.subject == subject::metrics ? diagnostic.field : 0;
  const MetricInfo* const metric = find_metric_info(missing_metric_id(number));
  writer.text_member("metric", metric != nullptr ? metric->name : "");
  writer.member("metric_instance", missing_metric_instance(number));
  writer.text_member(
      "pool", diagnostic.pool
                  ? word_or_unknown(words::pool_kinds(), static_cast<int>(diagnostic.pool->kind))
                  : "");
  writer.member("pool_instance",
                diagnostic.pool ? std::optional(diagnostic.pool->instance) : std::nullopt);
}

void write(json::Writer& writer, const SnapshotDiagnostic& entry) {
  const Diagnostic& diagnostic = entry.value;
  const NativeCode& native = diagnostic.failure.native;
  writer.open('{');
  writer.word_member(
      "reason",
      word_or_unknown(words::reasons(), static_cast<int>(resolve_reason(diagnostic.failure))));
  writer.word_member("status", status_name(static_cast<std::int32_t>(diagnostic.failure.code)));
  writer.word_member(
      "backend", word_or_unknown(words::sources(), static_cast<int>(diagnostic.failure.source)));
  writer.key("notes");
  write_set(writer, diagnostic.notes, words::notes());
  writer.word_member("subject", word_or_unknown(words::subjects(), diagnostic.subject));
  write_fields(writer, diagnostic);
  writer.member("device_index", entry.device_index);
  writer.member("pid", diagnostic.pid);
  writer.member("count", entry.count);
  writer.word_member("native_domain",
                     word_or_unknown(words::native_domains(), static_cast<int>(native.domain)));
  writer.member("native_code",
                native.domain != NativeDomain::none ? std::optional(native.code) : std::nullopt);
  writer.member("duration_ns", diagnostic.duration_ns);
  writer.key("message");
  writer.text(diagnostic.failure.message.view());
  writer.close('}');
}

template <class T>
void write_list(json::Writer& writer, std::string_view key, const std::vector<T>& entries) {
  writer.key(key);
  writer.open('[');
  for (const T& entry : entries) write(writer, entry);
  writer.close(']');
}

}  // namespace

std::size_t write_json(std::span<char> out, const Snapshot& snapshot) {
  json::Writer writer(out);
  writer.open('{');
  writer.member("schema", json_schema_version);
  writer.member("unix_time_ns", snapshot.unix_time_ns);
  writer.member("monotonic_ns", snapshot.monotonic_ns);
  writer.member("duration_ns", snapshot.duration_ns);
  writer.key("collect");
  write_set(writer, snapshot.collect, words::subjects());
  writer.key("notes");
  write_set(writer, snapshot.notes, words::notes());
  writer.member("unreadable_process_count", snapshot.unreadable_processes);
  write_part(writer, "memory", snapshot.memory);
  write_part(writer, "system", snapshot.system);
  writer.key("devices");
  writer.open('[');
  for (const SnapshotDevice& device : snapshot.devices) write(writer, device, snapshot);
  writer.close(']');
  write_list(writer, "pools", snapshot.pools);
  write_list(writer, "usages", snapshot.usages);
  write_list(writer, "groups", snapshot.groups);
  write_list(writer, "diagnostics", snapshot.explanations->diagnostics);
  writer.close('}');
  return writer.size();
}

}  // namespace hmn
