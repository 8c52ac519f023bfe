// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/device_recording.hpp"

#include <algorithm>

#include "backends/simulated/fields.hpp"

namespace hmn::simulated {
namespace {

void write_failure(json::Writer& writer, Anonymizer& anonymizer, std::string_view call,
                   const Failure& failure) {
  const bool has_word = std::ranges::any_of(status_words, [&](const Word& w) {
    return w.value == static_cast<std::uint32_t>(failure.code);
  });
  writer.open('{');
  if (!call.empty()) writer.member("call", call);
  write_word(writer, "status", status_words,
             static_cast<std::uint32_t>(has_word ? failure.code : Status::backend));
  if (failure.native.domain != NativeDomain::none && failure.native.code >= 0) {
    writer.key("native");
    writer.open('{');
    write_word(writer, "domain", domain_words, static_cast<std::uint32_t>(failure.native.domain));
    writer.member("code", static_cast<std::uint64_t>(failure.native.code));
    writer.close('}');
  }
  writer.member("message", anonymizer.anonymize_free_text(failure.message.view()));
  writer.close('}');
}

void write_instance(json::Writer& writer, const std::optional<MigInstance>& instance) {
  if (!instance) return;
  writer.key("instance");
  writer.open('{');
  writer.member("gpu", instance->gpu);
  writer.member("compute", instance->compute);
  writer.close('}');
}

void write_version(json::Writer& writer, std::string_view key,
                   std::optional<std::uint32_t> major_part,
                   std::optional<std::uint32_t> minor_part) {
  if (!major_part || !minor_part) return;
  writer.key(key);
  writer.open('{');
  writer.member("major", *major_part);
  writer.member("minor", *minor_part);
  writer.close('}');
}

void write_identity(json::Writer& writer, Anonymizer& anonymizer, const Device& device) {
  const auto write_text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) writer.member(name, anonymizer.anonymize_free_text(value));
  };
  write_text("name", device.name.view());
  write_text("uuid", device.uuid.view());
  write_text("pci_bus_id", device.pci_bus_id.view());
  write_text("driver_version", device.driver_version.view());
  if (device.vendor != 0) writer.member("vendor", device.vendor);
  write_if_known(writer, "pci_device", device.pci_device);
  write_if_known(writer, "pci_subsystem", device.pci_subsystem);
  write_if_known(writer, "driver_index", device.driver_index);
  write_if_known(writer, "render_minor", device.render_minor);
  write_if_known(writer, "numa_node", device.numa_node);
  write_version(writer, "cuda_version", device.cuda_version_major, device.cuda_version_minor);
  write_version(writer, "compute_capability", device.compute_capability_major,
                device.compute_capability_minor);
  write_text("architecture", device.architecture.view());
  write_if_known(writer, "os_id", device.os_id);
  write_instance(writer, device.instance);
  if (!device.parent) {
    write_word(writer, "device_class", device_class_words,
               static_cast<std::uint32_t>(device.device_class));
    write_word(writer, "form", device_form_words, static_cast<std::uint32_t>(device.form));
  }
  write_word(writer, "memory_kind", memory_kind_words,
             static_cast<std::uint32_t>(device.memory_kind));
  write_word(writer, "state", state_words, static_cast<std::uint32_t>(device.state));
  write_words(writer, "notes", note_words, device.notes);
}

// Unknown "free" and "used" are written as null: a reader would derive absent ones.
void write_pool(json::Writer& writer, const Pool& pool) {
  writer.open('{');
  write_word(writer, "kind", pool_kind_words, static_cast<std::uint32_t>(pool.kind));
  if (pool.instance != 0) writer.member("instance", pool.instance);
  write_fields(writer, pool_schema(), &pool);
  for (const auto& [key, value] : {std::pair("free", pool.free), std::pair("used", pool.used)}) {
    if (value) continue;
    writer.key(key);
    writer.null();
  }
  write_word(writer, "accounting", accounting_words, static_cast<std::uint32_t>(pool.accounting));
  if (pool.is_main) writer.member("main", true);
  write_words(writer, "notes", note_words, pool.notes);
  writer.close('}');
}

void write_telemetry(json::Writer& writer, const Telemetry& telemetry) {
  writer.key("telemetry");
  writer.open('{');
  write_fields(writer, telemetry_schema(), &telemetry);
  write_words(writer, "notes", note_words, telemetry.notes);
  writer.close('}');
}

void write_metric(json::Writer& writer, const Metric& metric) {
  const MetricInfo* const words = find_metric_info(static_cast<std::uint32_t>(metric.id));
  if (words == nullptr) return;
  writer.open('{');
  writer.word_member("metric", words->name);
  if (metric.instance != 0) writer.member("instance", metric.instance);
  write_if_known(writer, "value", metric.value);
  write_if_known(writer, "count", metric.count);
  write_if_known(writer, "window_ns", metric.window_ns);
  write_words(writer, "notes", note_words, metric.notes);
  writer.close('}');
}

void write_row(json::Writer& writer, const Usage& usage) {
  writer.open('{');
  writer.member("pid", usage.pid);
  RecordSchema schema = usage_schema();
  schema.bits &= ~usage_field::host_resident;  // host data, stored elsewhere in the file
  write_fields(writer, schema, &usage);
  write_word(writer, "accounting", accounting_words, static_cast<std::uint32_t>(usage.accounting));
  write_instance(writer, usage.instance);
  write_if_known(writer, "busy_percent", usage.busy_percent);
  if (usage.window_ns.value_or(0) != 0) writer.member("window_ns", *usage.window_ns);
  write_words(writer, "notes", note_words, usage.notes);
  writer.close('}');
}

}  // namespace

DeviceRecording::ListedDevice* DeviceRecording::find(Slot slot) {
  for (ListedDevice& device : devices_) {
    if (device.identity.slot == slot) return &device;
  }
  return nullptr;
}

void DeviceRecording::record_devices(const std::vector<Device>& devices) {
  const std::lock_guard lock(mutex_);
  was_queried_ = true;
  open_failure_.reset();
  for (const Device& device : devices) {
    if (ListedDevice* const recorded = find(device.slot)) {
      recorded->identity = device;
    } else {
      devices_.emplace_back().identity = device;
    }
  }
}

void DeviceRecording::store_outcome(ListedDevice& device, std::string_view call,
                                    const Result<void>& outcome) {
  std::erase_if(device.failures, [&](const auto& f) { return f.first == call; });
  if (!outcome) device.failures.emplace_back(call, outcome.failure());
}

void DeviceRecording::record(Slot slot, const Result<void>& outcome, const PoolList& value) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const device = find(slot);
  if (device == nullptr) return;
  if (outcome) device->memory = value;
  store_outcome(*device, "pools", outcome);
}

void DeviceRecording::record(Slot slot, const Result<void>& outcome, const Telemetry& value) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const device = find(slot);
  if (device == nullptr) return;
  if (outcome) device->telemetry = value;
  store_outcome(*device, "telemetry", outcome);
}

void DeviceRecording::record(Slot slot, const Result<void>& outcome,
                             const std::vector<Usage>& rows) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const device = find(slot);
  if (device == nullptr) return;
  if (outcome) device->rows = rows;
  store_outcome(*device, "processes", outcome);
}

void DeviceRecording::record(Slot slot, const Result<void>& outcome,
                             const std::vector<Metric>& metrics) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const device = find(slot);
  if (device == nullptr) return;
  if (outcome) device->metrics = metrics;
  store_outcome(*device, "metrics", outcome);
}

void DeviceRecording::set_state(const SourceState& state) {
  const std::lock_guard lock(mutex_);
  version_ = state.version.view();
}

void DeviceRecording::record_open_failure(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  was_queried_ = true;
  open_failure_ = failure;
}

void DeviceRecording::write_device(json::Writer& writer, Anonymizer& anonymizer,
                                   const ListedDevice& device) const {
  writer.newline();
  writer.open('{');
  write_identity(writer, anonymizer, device.identity);
  const auto write_list = [&](std::string_view name, const auto& items, auto write) {
    if (items.empty()) return;
    writer.key(name);
    writer.open('[');
    for (const auto& item : items) write(item);
    writer.close(']');
  };
  write_list("pools", device.memory.all(), [&](const Pool& p) { write_pool(writer, p); });
  if (device.telemetry) write_telemetry(writer, *device.telemetry);
  write_list("metrics", device.metrics, [&](const Metric& m) { write_metric(writer, m); });
  write_list("processes", device.rows, [&](const Usage& u) { write_row(writer, u); });
  write_list("failures", device.failures,
             [&](const auto& f) { write_failure(writer, anonymizer, f.first, f.second); });
  std::vector<const ListedDevice*> parts;
  for (const ListedDevice& other : devices_) {
    if (other.identity.parent == device.identity.slot) parts.push_back(&other);
  }
  write_list("partitions", parts,
             [&](const ListedDevice* p) { write_device(writer, anonymizer, *p); });
  writer.close('}');
}

void DeviceRecording::write(json::Writer& writer, Anonymizer& anonymizer) const {
  const std::lock_guard lock(mutex_);
  if (!was_queried_) return;
  writer.newline();
  if (!version_.empty()) writer.member("version", anonymizer.anonymize_free_text(version_));
  if (open_failure_) {
    writer.key("failures");
    writer.open('[');
    write_failure(writer, anonymizer, "open", *open_failure_);
    writer.close(']');
  }
  writer.key("devices");
  writer.open('[');
  for (const ListedDevice& device : devices_) {
    if (!device.identity.parent) write_device(writer, anonymizer, device);
  }
  writer.close(']');
}

}  // namespace hmn::simulated
