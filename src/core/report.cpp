// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/report.hpp"

#include <limits>

#include "core/format.hpp"
#include "model/text.hpp"

namespace hmn {
namespace {

struct DevicePair {
  const SnapshotDevice* before = nullptr;
  const SnapshotDevice* after = nullptr;
};

struct BytePair {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

// Device in both snapshots, with the values that are comparable.
struct DeviceChange {
  hmn::Scope scope = hmn::Scope::none;
  BytePair bytes;
  hmn::Accounting accounting = hmn::Accounting::none;
  Source source = Source::none;
  std::uint32_t notes = 0;
};

DevicePair find_devices(const Snapshot& before, const Snapshot& after, std::uint32_t index) {
  return {before.find_device(index), after.find_device(index)};
}

// Compares identities: two contexts may assign an index to different devices.
bool is_same_device(const DevicePair& devices) {
  if (devices.before == nullptr || devices.after == nullptr) return false;
  const auto& old_uuid = devices.before->identity->uuid;
  const auto& new_uuid = devices.after->identity->uuid;
  return old_uuid.empty() || new_uuid.empty() || old_uuid == new_uuid;
}

template <class T>
DeviceChange make_change(hmn::Scope scope, const T& before, const T& after) {
  DeviceChange change;
  change.scope = scope;
  change.bytes = {*before.used, *after.used};
  change.accounting = after.accounting;
  change.source = after.source;
  change.notes = before.notes | after.notes;
  if (before.source != after.source) change.notes |= note::mixed;
  return change;
}

std::optional<DeviceChange> compare_own_usage(const DevicePair& devices) {
  if (!devices.before->self || !devices.after->self) return {};
  const Usage& before = *devices.before->self;
  const Usage& after = *devices.after->self;
  if (!before.used || !after.used || before.accounting != after.accounting) return {};
  return make_change(Scope::process, before, after);
}

// Compares the meaning of `used`, which includes reserved memory where that is unknown.
bool is_comparable(const Pool& before, const Pool& after) {
  return before.used && after.used && before.kind == after.kind &&
         before.accounting == after.accounting &&
         before.reserved.has_value() == after.reserved.has_value();
}

DeviceChange compare_device(const Snapshot& before, const Snapshot& after, std::uint32_t index) {
  const DevicePair devices = find_devices(before, after, index);
  if (!is_same_device(devices)) return {};
  if (const auto own = compare_own_usage(devices)) return *own;
  const Pool* old_pool = before.main_pool(index);
  const Pool* new_pool = after.main_pool(index);
  if (old_pool == nullptr || new_pool == nullptr || !is_comparable(*old_pool, *new_pool)) return {};
  return make_change(Scope::device, *old_pool, *new_pool);
}

std::optional<BytePair> find_resident_memory(const Snapshot& before, const Snapshot& after) {
  if (!before.memory || !after.memory) return {};
  if (!before.memory->resident || !after.memory->resident) return {};
  return BytePair{*before.memory->resident, *after.memory->resident};
}

// Returns the difference of the energy counter, which only a reload of the driver resets.
std::optional<double> compute_energy(const DevicePair& devices) {
  if (!is_same_device(devices) || !devices.before->telemetry || !devices.after->telemetry)
    return {};
  const std::optional<double> before = devices.before->telemetry->energy_joules;
  const std::optional<double> after = devices.after->telemetry->energy_joules;
  if (!before || !after || *after < *before) return {};
  return *after - *before;
}

Result<std::int64_t> compute_difference(const BytePair& bytes) {
  constexpr auto max_difference =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool grows = bytes.after >= bytes.before;
  const std::uint64_t size = grows ? bytes.after - bytes.before : bytes.before - bytes.after;
  if (size > max_difference) {
    return make_failure(Status::overflow, "the difference does not fit 64 bits");
  }
  return grows ? static_cast<std::int64_t>(size) : -static_cast<std::int64_t>(size);
}

Result<void> check_snapshots(const Snapshot& before, const Snapshot& after, std::uint32_t index) {
  if (after.monotonic_ns < before.monotonic_ns) {
    return make_failure(Status::argument, "`after` was taken before `before`");
  }
  const DevicePair devices = find_devices(before, after, index);
  if (devices.before == nullptr && devices.after == nullptr) {
    return make_failure(Status::no_device, {"neither snapshot has a device ", index});
  }
  return {};
}

Failure no_resident_memory() {
  return make_failure(Status::empty, "a snapshot does not know the caller's resident set");
}

void append_label(std::string& out, std::string_view label, std::string_view memory_name) {
  out += "  ";
  append_utf8(out, label);
  out += ": ";
  out += memory_name;
  out += ' ';
}

void append_change(std::string& out, const BytePair& bytes, std::string_view unit) {
  append_rounded(out, to_mebibytes(bytes.after) - to_mebibytes(bytes.before), 0, Sign::always);
  out += ' ';
  out += unit;
}

void append_both_values(std::string& out, const BytePair& bytes, std::string_view unit) {
  append_mebibytes(out, bytes.before, unit);
  out += " → ";
  append_mebibytes(out, bytes.after, unit);
  out += " (";
  append_change(out, bytes, unit);
}

std::string_view scope_label(Scope scope) {
  return scope == Scope::process ? " [per-process]" : " [device-wide]";
}

void append_device_line(std::string& out, const DeviceChange& change, const Snapshot& after,
                        std::uint32_t index, std::string_view label, std::string_view unit) {
  append_label(out, label, "VRAM");
  append_both_values(out, change.bytes, unit);
  const Pool* main = after.main_pool(index);
  if (main != nullptr && main->total) {
    out += " / ";
    append_mebibytes(out, *main->total, unit);
  }
  out += ')';
  out += scope_label(change.scope);
  const auto& name = after.find_device(index)->identity->name;
  if (!name.empty()) {
    out += " [";
    out += name.view();
    out += ']';
  }
  out += '\n';
}

}  // namespace

Result<Delta> compare(const Snapshot& before, const Snapshot& after, std::uint32_t device_index) {
  if (Result<void> ok = check_snapshots(before, after, device_index); !ok) return ok.failure();
  Delta delta;
  delta.device_index = device_index;
  delta.elapsed_ns = after.monotonic_ns - before.monotonic_ns;
  delta.energy_joules = compute_energy(find_devices(before, after, device_index));
  if (const std::optional<BytePair> memory = find_resident_memory(before, after)) {
    const Result<std::int64_t> bytes = compute_difference(*memory);
    if (!bytes) return bytes.failure();
    delta.memory_bytes = *bytes;
    delta.source = after.memory->source;
    delta.notes |= before.memory->notes | after.memory->notes;
  }
  const DeviceChange change = compare_device(before, after, device_index);
  if (change.scope != Scope::none) {
    const Result<std::int64_t> bytes = compute_difference(change.bytes);
    if (!bytes) return bytes.failure();
    delta.device_bytes = *bytes;
    delta.scope = change.scope;
    delta.accounting = change.accounting;
    delta.source = change.source;
    delta.notes |= change.notes;
  }
  if (!delta.memory_bytes && !delta.device_bytes && !delta.energy_joules) {
    return make_failure(Status::empty, "the snapshots have nothing in common");
  }
  return delta;
}

Result<void> append_delta(std::string& out, const Snapshot& before, const Snapshot& after,
                          std::uint32_t device_index, std::string_view label,
                          std::string_view unit) {
  const std::optional<BytePair> memory = find_resident_memory(before, after);
  if (!memory) return no_resident_memory();
  append_label(out, label, "RAM");
  append_change(out, *memory, unit);
  const DeviceChange change = compare_device(before, after, device_index);
  if (change.scope != Scope::none) {
    out += "  |  VRAM ";
    append_change(out, change.bytes, unit);
    out += scope_label(change.scope);
  }
  out += '\n';
  return {};
}

Result<void> append_before_after(std::string& out, const Snapshot& before, const Snapshot& after,
                                 std::uint32_t device_index, std::string_view label,
                                 std::string_view unit) {
  const std::optional<BytePair> memory = find_resident_memory(before, after);
  if (!memory) return no_resident_memory();
  append_label(out, label, "RAM");
  append_both_values(out, *memory, unit);
  out += ")\n";
  const DeviceChange change = compare_device(before, after, device_index);
  if (change.scope != Scope::none)
    append_device_line(out, change, after, device_index, label, unit);
  return {};
}

}  // namespace hmn
