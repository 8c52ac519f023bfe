// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include <bit>

#include "api/guard.hpp"
#include "core/reason.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t collected_by_default =
    subject::memory | subject::devices | subject::pools | subject::self;

Failure past_end(std::uint32_t position, std::size_t count) {
  return failed(Status::range, {"position: ", position, " is past the end of ", count, " entries"});
}

// Returns nullptr for an unknown text of a process.
const std::string Usage::*process_text(std::uint32_t text) noexcept {
  switch (text) {
    case HMN_TEXT_PROCESS_NAME:
      return &Usage::name;
    case HMN_TEXT_PROCESS_COMMAND:
      return &Usage::command;
    case HMN_TEXT_PROCESS_CONTAINER:
      return &Usage::container;
    default:
      return nullptr;
  }
}

// Copies a record of the host.
template <class T, class Record>
hmn_status of_host(const hmn_snapshot* handle, std::uint32_t about,
                   std::optional<Record> Snapshot::*part, T* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& s, T& full) -> Result<void> {
    const std::optional<Record>& r = s.*part;
    if (!r) return why_empty(s, about, nullptr);
    copy_out(*r, full);
    return {};
  });
}

template <class T, class Record>
hmn_status of_device(const hmn_snapshot* handle, std::uint32_t index, std::uint32_t about,
                     std::optional<Record> SnapshotDevice::*part, T* out,
                     hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& s, T& full) -> Result<void> {
    const SnapshotDevice* const d = s.device_by_index(index);
    if (d == nullptr) return Snapshot::no_device(index);
    const std::optional<Record>& r = d->*part;
    if (!r) return why_empty(s, about, &*d->identity);
    copy_out(*r, full);
    return {};
  });
}

// Copies an entry of `list` by `copy`.
template <class T, class List, class Copy>
hmn_status entry(const hmn_snapshot* handle, List Snapshot::*list, std::uint32_t position, T* out,
                 hmn_error* error, Copy&& copy) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& s, T& full) -> Result<void> {
    const List& entries = s.*list;
    if (position >= entries.size()) return past_end(position, entries.size());
    copy(entries[position], full);
    return {};
  });
}

template <class T, class Record>
hmn_status entry(const hmn_snapshot* handle, std::vector<Record> Snapshot::*list,
                 std::uint32_t position, T* out, hmn_error* error) noexcept {
  return entry(handle, list, position, out, error,
               [](const Record& r, T& full) { copy_out(r, full); });
}

}  // namespace

Result<void> read_request(const hmn_snapshot_options* options, hmn_flags default_collect,
                          SnapshotRequest& r) {
  hmn_snapshot_options o{};
  if (Result<void> ok = read_input(options, o); !ok) return ok;
  constexpr hmn_flags known = HMN_SNAPSHOT_ONE_DEVICE | HMN_SNAPSHOT_ONE_PROCESS |
                              HMN_SNAPSHOT_SLOW | HMN_SNAPSHOT_QUICK | HMN_SNAPSHOT_PARTS;
  if (Result<void> ok = check_flags(o.flags, known); !ok) return ok;
  if ((o.collect & ~subject::all) != 0) {
    return failed(Status::unknown_flag,
                  {"collect: unknown bits 0x", hex(o.collect & ~subject::all)});
  }
  if (Result<void> ok = check_reserved(o.reserved0); !ok) return ok;
  r.collect = o.collect != 0 ? o.collect : default_collect;
  r.slow = (o.flags & HMN_SNAPSHOT_SLOW) != 0;
  r.quick = (o.flags & HMN_SNAPSHOT_QUICK) != 0;
  r.parts = (o.flags & HMN_SNAPSHOT_PARTS) != 0;
  if (r.slow && r.quick) {
    return failed(Status::argument, "flags: a snapshot is either slow or quick");
  }
  if (o.deadline_ns != 0) {
    std::uint64_t& deadline = r.deadline_ns.emplace();
    if (Result<void> ok = read_duration("deadline_ns", o.deadline_ns, deadline); !ok) return ok;
  }
  if ((o.flags & HMN_SNAPSHOT_ONE_DEVICE) != 0) {
    r.device_index = o.device_index;
  } else if (o.device_index != 0) {
    return failed(Status::argument,
                  {"device_index: ", o.device_index, " is set without the flag for one device"});
  }
  if ((o.flags & HMN_SNAPSHOT_ONE_PROCESS) != 0) {
    if (o.pid == 0) return failed(Status::range, "pid: 0 is not a process");
    r.pid = o.pid;
  } else if (o.pid != 0) {
    return failed(Status::argument, {"pid: ", o.pid, " is set without the flag for one process"});
  }
  return {};
}

void copy_diagnostic(const SnapshotDiagnostic& from, hmn_diagnostic& out) {
  const Diagnostic& d = from.value;
  out.notes = d.notes;
  out.backend = static_cast<std::uint32_t>(d.why.from);
  out.reason = static_cast<std::uint32_t>(reason_for(d.why));
  out.status = static_cast<hmn_status>(d.why.code);
  out.native_domain = static_cast<std::uint32_t>(d.why.native.domain);
  out.native_code = d.why.native.code;
  out.subject = d.about;
  out.count = from.count;
  hmn_fields& has = out.present;
  if (d.about == subject::metrics) {
    out.metric = id_of_missing(d.field);
    if (d.field != 0) has |= HMN_DIAGNOSTIC_HAS_METRIC;
    give(has, HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE, out.metric_instance,
         instance_of_missing(d.field));
  } else {
    out.field = d.field;
    if (d.field != 0) has |= HMN_DIAGNOSTIC_HAS_FIELD;
  }
  if (d.pool) {
    has |= HMN_DIAGNOSTIC_HAS_POOL;
    out.pool = static_cast<std::uint32_t>(d.pool->kind);
    out.pool_instance = d.pool->instance;
  }
  give(has, HMN_DIAGNOSTIC_HAS_DEVICE, out.device_index, from.device_index);
  give(has, HMN_DIAGNOSTIC_HAS_PID, out.pid, d.pid);
  give(has, HMN_DIAGNOSTIC_HAS_DURATION, out.duration_ns, d.duration_ns);
  copy_text(out.message, d.why.message, out.notes);
}

namespace {

void copy_info(const Snapshot& s, hmn_snapshot_info& out) {
  out.notes = s.notes;
  out.collect = s.collect;
  out.device_count = static_cast<std::uint32_t>(s.devices.size());
  out.pool_count = static_cast<std::uint32_t>(s.pools.size());
  out.usage_count = static_cast<std::uint32_t>(s.usages.size());
  out.metric_count = static_cast<std::uint32_t>(s.metrics.size());
  out.group_count = static_cast<std::uint32_t>(s.groups.size());
  out.diagnostic_count = static_cast<std::uint32_t>(s.why->diagnostics.size());
  out.unreadable_process_count = s.unreadable_processes;
  out.unix_time_ns = s.unix_time_ns;
  out.monotonic_ns = s.monotonic_ns;
  out.device_generation = s.device_generation;
  out.duration_ns = s.duration_ns;
}

bool is_of_host(std::uint32_t about) noexcept {
  return (about & (subject::memory | subject::system)) != 0;
}

// Whether each member is known, and 0 where the subject does not use it.
Result<void> check_members(const hmn_reason_key& k) {
  if (!std::has_single_bit(k.subject) || (k.subject & ~subject::all) != 0) {
    return failed(Status::range, {"subject: 0x", hex(k.subject), ", expected one known bit"});
  }
  const bool is_pools = k.subject == subject::pools;
  const bool is_metrics = k.subject == subject::metrics;
  const struct {
    const char* name;
    std::uint64_t value;
    bool is_used;
  } members[] = {{"device_index", k.device_index, !is_of_host(k.subject)},
                 {"pid", k.pid, k.subject == subject::processes},
                 {"pool", k.pool, is_pools},
                 {"pool_instance", k.pool_instance, is_pools},
                 {"metric", k.metric, is_metrics},
                 {"metric_instance", k.metric_instance, is_metrics && k.metric != 0},
                 {"field", k.field, !is_metrics}};
  for (const auto& m : members) {
    if (m.value == 0 || m.is_used) continue;
    return failed(Status::argument, {m.name, ": ", m.value, ", expected 0 for this subject"});
  }
  if (Result<void> ok = check_pool_kind(k.pool, "pool"); !ok) return ok;
  if (k.metric == 0) return {};
  return check_metric(k.metric, k.metric_instance, "metric", "metric_instance");
}

ReasonKey read_key(const Snapshot& s, const hmn_reason_key& k) {
  ReasonKey key{.about = k.subject, .field = k.field, .pid = k.pid};
  if (k.metric != 0) {
    key.field = missing_metric(static_cast<MetricId>(k.metric), k.metric_instance);
  }
  if (k.subject == subject::pools) {
    key.pool = PoolKey{static_cast<PoolKind>(k.pool), k.pool_instance};
    const Pool* const main = s.main_pool(k.device_index);
    if (key.pool->kind == PoolKind::main && main != nullptr) key.pool->kind = main->kind;
  }
  return key;
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_snapshot_take(hmn_context* handle, const hmn_snapshot_options* options,
                             hmn_snapshot** out, hmn_error* error) noexcept {
  clear_out(out);
  return with_context(handle, error, [&](Context& c) -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    SnapshotRequest request;
    if (Result<void> ok = read_request(options, collected_by_default, request); !ok) return ok;
    Result<std::unique_ptr<Snapshot>> taken = c.take(request);
    if (!taken) return taken.why();
    *out = handle_of(std::move(*taken));
    return {};
  });
}

void hmn_snapshot_destroy(hmn_snapshot* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_snapshot_read(const hmn_snapshot* handle, hmn_snapshot_info* out,
                             hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [](const Snapshot& s, hmn_snapshot_info& full) -> Result<void> {
                     copy_info(s, full);
                     return {};
                   });
}

hmn_status hmn_snapshot_memory(const hmn_snapshot* handle, hmn_process_memory* out,
                               hmn_error* error) noexcept {
  return of_host(handle, subject::memory, &Snapshot::memory, out, error);
}

hmn_status hmn_snapshot_system(const hmn_snapshot* handle, hmn_system_memory* out,
                               hmn_error* error) noexcept {
  return of_host(handle, subject::system, &Snapshot::system, out, error);
}

hmn_status hmn_snapshot_device_at(const hmn_snapshot* handle, uint32_t position, hmn_device* out,
                                  hmn_error* error) noexcept {
  return entry(handle, &Snapshot::devices, position, out, error,
               [](const SnapshotDevice& d, hmn_device& full) { copy_out(d.record(), full); });
}

hmn_status hmn_snapshot_find_telemetry(const hmn_snapshot* handle, uint32_t device_index,
                                       hmn_telemetry* out, hmn_error* error) noexcept {
  return of_device(handle, device_index, subject::telemetry, &SnapshotDevice::telemetry, out,
                   error);
}

hmn_status hmn_snapshot_find_self(const hmn_snapshot* handle, uint32_t device_index, hmn_usage* out,
                                  hmn_error* error) noexcept {
  return of_device(handle, device_index, subject::self, &SnapshotDevice::self, out, error);
}

hmn_status hmn_snapshot_find_pool(const hmn_snapshot* handle, uint32_t device_index, uint32_t kind,
                                  uint32_t instance, hmn_pool* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& s, hmn_pool& full) -> Result<void> {
    if (Result<void> ok = check_pool_kind(kind); !ok) return ok;
    const SnapshotDevice* const d = s.device_by_index(device_index);
    if (d == nullptr) return Snapshot::no_device(device_index);
    const Pool* const found = s.find_pool(device_index, static_cast<PoolKind>(kind), instance);
    if (found == nullptr) return why_empty(s, subject::pools, &*d->identity);
    copy_out(*found, full);
    return {};
  });
}

hmn_status hmn_snapshot_pool_at(const hmn_snapshot* handle, uint32_t position, hmn_pool* out,
                                hmn_error* error) noexcept {
  return entry(handle, &Snapshot::pools, position, out, error);
}

hmn_status hmn_snapshot_usage_at(const hmn_snapshot* handle, uint32_t position, hmn_usage* out,
                                 hmn_error* error) noexcept {
  return entry(handle, &Snapshot::usages, position, out, error);
}

hmn_status hmn_snapshot_metric_at(const hmn_snapshot* handle, uint32_t position, hmn_metric* out,
                                  hmn_error* error) noexcept {
  return entry(handle, &Snapshot::metrics, position, out, error);
}

hmn_status hmn_snapshot_group_at(const hmn_snapshot* handle, uint32_t position, hmn_group* out,
                                 hmn_error* error) noexcept {
  return entry(handle, &Snapshot::groups, position, out, error);
}

hmn_status hmn_snapshot_diagnostic_at(const hmn_snapshot* handle, uint32_t position,
                                      hmn_diagnostic* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](const Snapshot& s, hmn_diagnostic& full) -> Result<void> {
                     const auto& all = s.why->diagnostics;
                     if (position >= all.size()) return past_end(position, all.size());
                     copy_diagnostic(all[position], full);
                     return {};
                   });
}

hmn_status hmn_snapshot_reason(const hmn_snapshot* handle, const hmn_reason_key* key,
                               hmn_diagnostic* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](const Snapshot& s, hmn_diagnostic& full) -> Result<void> {
                     if (key == nullptr) return null_argument("key is NULL");
                     hmn_reason_key k{};
                     if (Result<void> ok = read_input(key, k); !ok) return ok;
                     if (Result<void> ok = check_members(k); !ok) return ok;
                     if (((s.collect | s.postponed) & k.subject) == 0)
                       return why_empty(s, k.subject, nullptr);
                     if (is_of_host(k.subject)) {
                       copy_diagnostic(reason_for(s, read_key(s, k), nullptr), full);
                       return {};
                     }
                     const SnapshotDevice* const d = s.device_by_index(k.device_index);
                     if (d == nullptr) return Snapshot::no_device(k.device_index);
                     copy_diagnostic(reason_for(s, read_key(s, k), &*d->identity), full);
                     return {};
                   });
}

hmn_status hmn_snapshot_text_at(const hmn_snapshot* handle, uint32_t text, uint32_t position,
                                char* buffer, uint32_t capacity, uint32_t* needed,
                                hmn_error* error) noexcept {
  return write_text({buffer, capacity, needed}, error, [&](std::string& found) -> Result<void> {
    if (handle == nullptr) return null_argument("snapshot is NULL");
    const Snapshot& s = object(handle);
    const std::string Usage::*const part = process_text(text);
    const bool is_group = text == HMN_TEXT_GROUP_NAME;
    if (part == nullptr && !is_group)
      return failed(Status::range, {"text: ", text, " is not a known text"});
    const std::size_t count = is_group ? s.groups.size() : s.usages.size();
    if (position >= count) return past_end(position, count);
    found = is_group ? s.groups[position].name : s.usages[position].*part;
    if (found.empty() && !is_group) return failed(Status::empty, "the text is not known");
    return {};
  });
}
