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
  Source from = Source::none;
  std::uint32_t notes = 0;
};

DevicePair devices_of(const Snapshot& before, const Snapshot& after, std::uint32_t index) {
  return {before.device_by_index(index), after.device_by_index(index)};
}

// Compares identities: two contexts may give an index to different devices.
bool is_same_device(const DevicePair& d) {
  if (d.before == nullptr || d.after == nullptr) return false;
  const auto& a = d.before->identity->uuid;
  const auto& b = d.after->identity->uuid;
  return a.empty() || b.empty() || a == b;
}

template <class T>
DeviceChange change_between(hmn::Scope scope, const T& before, const T& after) {
  DeviceChange c;
  c.scope = scope;
  c.bytes = {*before.used, *after.used};
  c.accounting = after.accounting;
  c.from = after.from;
  c.notes = before.notes | after.notes;
  if (before.from != after.from) c.notes |= note::mixed;
  return c;
}

std::optional<DeviceChange> own_change(const DevicePair& d) {
  if (!d.before->self || !d.after->self) return {};
  const Usage& before = *d.before->self;
  const Usage& after = *d.after->self;
  if (!before.used || !after.used || before.accounting != after.accounting) return {};
  return change_between(Scope::process, before, after);
}

// Compares the meaning of `used`, which includes reserved memory where that is unknown.
bool is_comparable(const Pool& a, const Pool& b) {
  return a.used && b.used && a.kind == b.kind && a.accounting == b.accounting &&
         a.reserved.has_value() == b.reserved.has_value();
}

DeviceChange change_of(const Snapshot& before, const Snapshot& after, std::uint32_t index) {
  const DevicePair d = devices_of(before, after, index);
  if (!is_same_device(d)) return {};
  if (const auto own = own_change(d)) return *own;
  const Pool* a = before.main_pool(index);
  const Pool* b = after.main_pool(index);
  if (a == nullptr || b == nullptr || !is_comparable(*a, *b)) return {};
  return change_between(Scope::device, *a, *b);
}

std::optional<BytePair> memory_of(const Snapshot& before, const Snapshot& after) {
  if (!before.memory || !after.memory) return {};
  if (!before.memory->resident || !after.memory->resident) return {};
  return BytePair{*before.memory->resident, *after.memory->resident};
}

// Returns the difference of a counter that only a reload of the driver resets.
std::optional<double> energy_between(const DevicePair& d) {
  if (!is_same_device(d) || !d.before->telemetry || !d.after->telemetry) return {};
  const std::optional<double> before = d.before->telemetry->energy_joules;
  const std::optional<double> after = d.after->telemetry->energy_joules;
  if (!before || !after || *after < *before) return {};
  return *after - *before;
}

Result<std::int64_t> difference(const BytePair& p) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool grows = p.after >= p.before;
  const std::uint64_t size = grows ? p.after - p.before : p.before - p.after;
  if (size > most) {
    return failed(Status::overflow, "the difference does not fit 64 bits");
  }
  return grows ? static_cast<std::int64_t>(size) : -static_cast<std::int64_t>(size);
}

Result<void> check(const Snapshot& before, const Snapshot& after, std::uint32_t index) {
  if (after.monotonic_ns < before.monotonic_ns) {
    return failed(Status::argument, "`after` was taken before `before`");
  }
  const DevicePair d = devices_of(before, after, index);
  if (d.before == nullptr && d.after == nullptr) {
    return failed(Status::no_device, {"neither snapshot has a device ", index});
  }
  return {};
}

Failure no_memory_known() {
  return failed(Status::empty, "a snapshot does not know the caller's resident set");
}

void append_head(std::string& out, std::string_view label, std::string_view what) {
  out += "  ";
  append_utf8(out, label);
  out += ": ";
  out += what;
  out += ' ';
}

void append_change(std::string& out, const BytePair& p, std::string_view unit) {
  append_rounded(out, mebibytes(p.after) - mebibytes(p.before), 0, Sign::always);
  out += ' ';
  out += unit;
}

void append_both(std::string& out, const BytePair& p, std::string_view unit) {
  append_mebibytes(out, p.before, unit);
  out += " → ";
  append_mebibytes(out, p.after, unit);
  out += " (";
  append_change(out, p, unit);
}

std::string_view qualifier(Scope s) {
  return s == Scope::process ? " [per-process]" : " [device-wide]";
}

void append_device_line(std::string& out, const DeviceChange& c, const Snapshot& after,
                        std::uint32_t index, std::string_view label, std::string_view unit) {
  append_head(out, label, "VRAM");
  append_both(out, c.bytes, unit);
  const Pool* main = after.main_pool(index);
  if (main != nullptr && main->total) {
    out += " / ";
    append_mebibytes(out, *main->total, unit);
  }
  out += ')';
  out += qualifier(c.scope);
  const auto& name = after.device_by_index(index)->identity->name;
  if (!name.empty()) {
    out += " [";
    out += name.view();
    out += ']';
  }
  out += '\n';
}

}  // namespace

Result<Delta> compare(const Snapshot& before, const Snapshot& after, std::uint32_t device_index) {
  if (Result<void> ok = check(before, after, device_index); !ok) return ok.why();
  Delta out;
  out.device_index = device_index;
  out.elapsed_ns = after.monotonic_ns - before.monotonic_ns;
  out.energy_joules = energy_between(devices_of(before, after, device_index));
  if (const std::optional<BytePair> p = memory_of(before, after)) {
    const Result<std::int64_t> bytes = difference(*p);
    if (!bytes) return bytes.why();
    out.memory_bytes = *bytes;
    out.from = after.memory->from;
    out.notes |= before.memory->notes | after.memory->notes;
  }
  const DeviceChange c = change_of(before, after, device_index);
  if (c.scope != Scope::none) {
    const Result<std::int64_t> bytes = difference(c.bytes);
    if (!bytes) return bytes.why();
    out.device_bytes = *bytes;
    out.scope = c.scope;
    out.accounting = c.accounting;
    out.from = c.from;
    out.notes |= c.notes;
  }
  if (!out.memory_bytes && !out.device_bytes && !out.energy_joules) {
    return failed(Status::empty, "the snapshots have nothing in common");
  }
  return out;
}

Result<void> append_delta(std::string& out, const Snapshot& before, const Snapshot& after,
                          std::uint32_t device_index, std::string_view label,
                          std::string_view unit) {
  const std::optional<BytePair> memory = memory_of(before, after);
  if (!memory) return no_memory_known();
  append_head(out, label, "RAM");
  append_change(out, *memory, unit);
  const DeviceChange c = change_of(before, after, device_index);
  if (c.scope != Scope::none) {
    out += "  |  VRAM ";
    append_change(out, c.bytes, unit);
    out += qualifier(c.scope);
  }
  out += '\n';
  return {};
}

Result<void> append_before_after(std::string& out, const Snapshot& before, const Snapshot& after,
                                 std::uint32_t device_index, std::string_view label,
                                 std::string_view unit) {
  const std::optional<BytePair> memory = memory_of(before, after);
  if (!memory) return no_memory_known();
  append_head(out, label, "RAM");
  append_both(out, *memory, unit);
  out += ")\n";
  const DeviceChange c = change_of(before, after, device_index);
  if (c.scope != Scope::none) append_device_line(out, c, after, device_index, label, unit);
  return {};
}

}  // namespace hmn
