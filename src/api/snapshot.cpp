// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include <bit>

#include "api/guard.hpp"
#include "core/reason.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t default_subjects =
    subject::memory | subject::devices | subject::pools | subject::self;

Failure make_range_failure(std::uint32_t position, std::size_t count) {
  return make_failure(Status::range,
                      {"position: ", position, " is past the end of ", count, " entries"});
}

// Returns nullptr for an unknown text of a process.
const std::string Usage::*find_process_text(std::uint32_t text) noexcept {
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
hmn_status copy_host_record(const hmn_snapshot* handle, std::uint32_t subject,
                            std::optional<Record> Snapshot::*member, T* out,
                            hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& snapshot, T& result) -> Result<void> {
    const std::optional<Record>& record = snapshot.*member;
    if (!record) return explain_empty(snapshot, subject, nullptr);
    copy_to_c(*record, result);
    return {};
  });
}

template <class T, class Record>
hmn_status copy_device_record(const hmn_snapshot* handle, std::uint32_t index,
                              std::uint32_t subject, std::optional<Record> SnapshotDevice::*member,
                              T* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& snapshot, T& result) -> Result<void> {
    const SnapshotDevice* const device = snapshot.find_device(index);
    if (device == nullptr) return Snapshot::make_device_failure(index);
    const std::optional<Record>& record = device->*member;
    if (!record) return explain_empty(snapshot, subject, &*device->identity);
    copy_to_c(*record, result);
    return {};
  });
}

// Copies an entry of `list` with `copy`.
template <class T, class List, class Copy>
hmn_status copy_entry(const hmn_snapshot* handle, List Snapshot::*list, std::uint32_t position,
                      T* out, hmn_error* error, Copy&& copy) noexcept {
  return fill_from(handle, out, error, [&](const Snapshot& snapshot, T& result) -> Result<void> {
    const List& entries = snapshot.*list;
    if (position >= entries.size()) return make_range_failure(position, entries.size());
    copy(entries[position], result);
    return {};
  });
}

template <class T, class Record>
hmn_status copy_entry(const hmn_snapshot* handle, std::vector<Record> Snapshot::*list,
                      std::uint32_t position, T* out, hmn_error* error) noexcept {
  return copy_entry(handle, list, position, out, error,
                    [](const Record& record, T& result) { copy_to_c(record, result); });
}

}  // namespace

Result<void> read_request(const hmn_snapshot_options* input, hmn_flags default_collect,
                          SnapshotRequest& request) {
  hmn_snapshot_options options{};
  if (Result<void> ok = read_input(input, options); !ok) return ok;
  constexpr hmn_flags known_flags = HMN_SNAPSHOT_ONE_DEVICE | HMN_SNAPSHOT_ONE_PROCESS |
                                    HMN_SNAPSHOT_SLOW | HMN_SNAPSHOT_QUICK | HMN_SNAPSHOT_PARTS;
  if (Result<void> ok = check_flags(options.flags, known_flags); !ok) return ok;
  if ((options.collect & ~subject::all) != 0) {
    return make_failure(Status::unknown_flag,
                        {"collect: unknown bits 0x", hex(options.collect & ~subject::all)});
  }
  if (Result<void> ok = check_reserved(options.reserved0); !ok) return ok;
  request.collect = options.collect != 0 ? options.collect : default_collect;
  request.includes_slow = (options.flags & HMN_SNAPSHOT_SLOW) != 0;
  request.is_quick = (options.flags & HMN_SNAPSHOT_QUICK) != 0;
  request.includes_parts = (options.flags & HMN_SNAPSHOT_PARTS) != 0;
  if (request.includes_slow && request.is_quick) {
    return make_failure(Status::argument, "flags: a snapshot is either slow or quick");
  }
  if (options.deadline_ns != 0) {
    std::uint64_t& deadline = request.deadline_ns.emplace();
    if (Result<void> ok = read_duration("deadline_ns", options.deadline_ns, deadline); !ok)
      return ok;
  }
  if ((options.flags & HMN_SNAPSHOT_ONE_DEVICE) != 0) {
    request.device_index = options.device_index;
  } else if (options.device_index != 0) {
    return make_failure(Status::argument, {"device_index: ", options.device_index,
                                           " is set without the flag for one device"});
  }
  if ((options.flags & HMN_SNAPSHOT_ONE_PROCESS) != 0) {
    if (options.pid == 0) return make_failure(Status::range, "pid: 0 is not a process");
    request.pid = options.pid;
  } else if (options.pid != 0) {
    return make_failure(Status::argument,
                        {"pid: ", options.pid, " is set without the flag for one process"});
  }
  return {};
}

void copy_diagnostic(const SnapshotDiagnostic& entry, hmn_diagnostic& out) {
  const Diagnostic& diagnostic = entry.value;
  out.notes = diagnostic.notes;
  out.backend = static_cast<std::uint32_t>(diagnostic.failure.source);
  out.reason = static_cast<std::uint32_t>(resolve_reason(diagnostic.failure));
  out.status = static_cast<hmn_status>(diagnostic.failure.code);
  out.native_domain = static_cast<std::uint32_t>(diagnostic.failure.native.domain);
  out.native_code = diagnostic.failure.native.code;
  out.subject = diagnostic.subject;
  out.count = entry.count;
  hmn_fields& present = out.present;
  if (diagnostic.subject == subject::metrics) {
    out.metric = missing_metric_id(diagnostic.field);
    if (diagnostic.field != 0) present |= HMN_DIAGNOSTIC_HAS_METRIC;
    set_if_known(present, HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE, out.metric_instance,
                 missing_metric_instance(diagnostic.field));
  } else {
    out.field = diagnostic.field;
    if (diagnostic.field != 0) present |= HMN_DIAGNOSTIC_HAS_FIELD;
  }
  if (diagnostic.pool) {
    present |= HMN_DIAGNOSTIC_HAS_POOL;
    out.pool = static_cast<std::uint32_t>(diagnostic.pool->kind);
    out.pool_instance = diagnostic.pool->instance;
  }
  set_if_known(present, HMN_DIAGNOSTIC_HAS_DEVICE, out.device_index, entry.device_index);
  set_if_known(present, HMN_DIAGNOSTIC_HAS_PID, out.pid, diagnostic.pid);
  set_if_known(present, HMN_DIAGNOSTIC_HAS_DURATION, out.duration_ns, diagnostic.duration_ns);
  copy_text(out.message, diagnostic.failure.message, out.notes);
}

namespace {

void copy_info(const Snapshot& snapshot, hmn_snapshot_info& out) {
  out.notes = snapshot.notes;
  out.collect = snapshot.collect;
  out.device_count = static_cast<std::uint32_t>(snapshot.devices.size());
  out.pool_count = static_cast<std::uint32_t>(snapshot.pools.size());
  out.usage_count = static_cast<std::uint32_t>(snapshot.usages.size());
  out.metric_count = static_cast<std::uint32_t>(snapshot.metrics.size());
  out.group_count = static_cast<std::uint32_t>(snapshot.groups.size());
  out.diagnostic_count = static_cast<std::uint32_t>(snapshot.explanations->diagnostics.size());
  out.unreadable_process_count = snapshot.unreadable_processes;
  out.unix_time_ns = snapshot.unix_time_ns;
  out.monotonic_ns = snapshot.monotonic_ns;
  out.device_generation = snapshot.device_generation;
  out.duration_ns = snapshot.duration_ns;
}

bool is_host_subject(std::uint32_t subject) noexcept {
  return (subject & (subject::memory | subject::system)) != 0;
}

// Checks that each member is known, and is 0 where the subject does not use it.
Result<void> check_members(const hmn_reason_key& key) {
  if (!std::has_single_bit(key.subject) || (key.subject & ~subject::all) != 0) {
    return make_failure(Status::range,
                        {"subject: 0x", hex(key.subject), ", expected one known bit"});
  }
  const bool is_pool_subject = key.subject == subject::pools;
  const bool is_metric_subject = key.subject == subject::metrics;
  const struct {
    const char* name;
    std::uint64_t value;
    bool is_used;
  } members[] = {{"device_index", key.device_index, !is_host_subject(key.subject)},
                 {"pid", key.pid, key.subject == subject::processes},
                 {"pool", key.pool, is_pool_subject},
                 {"pool_instance", key.pool_instance, is_pool_subject},
                 {"metric", key.metric, is_metric_subject},
                 {"metric_instance", key.metric_instance, is_metric_subject && key.metric != 0},
                 {"field", key.field, !is_metric_subject}};
  for (const auto& member : members) {
    if (member.value == 0 || member.is_used) continue;
    return make_failure(Status::argument,
                        {member.name, ": ", member.value, ", expected 0 for this subject"});
  }
  if (Result<void> ok = check_pool_kind(key.pool, "pool"); !ok) return ok;
  if (key.metric == 0) return {};
  return check_metric(key.metric, key.metric_instance, "metric", "metric_instance");
}

ReasonKey read_key(const Snapshot& snapshot, const hmn_reason_key& input) {
  ReasonKey key{.subject = input.subject, .field = input.field, .pid = input.pid};
  if (input.metric != 0) {
    key.field = missing_metric(static_cast<MetricId>(input.metric), input.metric_instance);
  }
  if (input.subject == subject::pools) {
    key.pool = PoolKey{static_cast<PoolKind>(input.pool), input.pool_instance};
    const Pool* const main = snapshot.main_pool(input.device_index);
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
  return run_with_context(handle, error, [&](Context& context) -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    SnapshotRequest request;
    if (Result<void> ok = read_request(options, default_subjects, request); !ok) return ok;
    Result<std::unique_ptr<Snapshot>> snapshot = context.take(request);
    if (!snapshot) return snapshot.failure();
    *out = make_handle(std::move(*snapshot));
    return {};
  });
}

void hmn_snapshot_destroy(hmn_snapshot* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_snapshot_read(const hmn_snapshot* handle, hmn_snapshot_info* out,
                             hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [](const Snapshot& snapshot, hmn_snapshot_info& result) -> Result<void> {
                     copy_info(snapshot, result);
                     return {};
                   });
}

hmn_status hmn_snapshot_memory(const hmn_snapshot* handle, hmn_process_memory* out,
                               hmn_error* error) noexcept {
  return copy_host_record(handle, subject::memory, &Snapshot::memory, out, error);
}

hmn_status hmn_snapshot_system(const hmn_snapshot* handle, hmn_system_memory* out,
                               hmn_error* error) noexcept {
  return copy_host_record(handle, subject::system, &Snapshot::system, out, error);
}

hmn_status hmn_snapshot_device_at(const hmn_snapshot* handle, uint32_t position, hmn_device* out,
                                  hmn_error* error) noexcept {
  return copy_entry(
      handle, &Snapshot::devices, position, out, error,
      [](const SnapshotDevice& device, hmn_device& result) { copy_to_c(device.record(), result); });
}

hmn_status hmn_snapshot_find_telemetry(const hmn_snapshot* handle, uint32_t device_index,
                                       hmn_telemetry* out, hmn_error* error) noexcept {
  return copy_device_record(handle, device_index, subject::telemetry, &SnapshotDevice::telemetry,
                            out, error);
}

hmn_status hmn_snapshot_find_self(const hmn_snapshot* handle, uint32_t device_index, hmn_usage* out,
                                  hmn_error* error) noexcept {
  return copy_device_record(handle, device_index, subject::self, &SnapshotDevice::self, out, error);
}

hmn_status hmn_snapshot_find_pool(const hmn_snapshot* handle, uint32_t device_index, uint32_t kind,
                                  uint32_t instance, hmn_pool* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](const Snapshot& snapshot, hmn_pool& result) -> Result<void> {
                     if (Result<void> ok = check_pool_kind(kind); !ok) return ok;
                     const SnapshotDevice* const device = snapshot.find_device(device_index);
                     if (device == nullptr) return Snapshot::make_device_failure(device_index);
                     const Pool* const pool =
                         snapshot.find_pool(device_index, static_cast<PoolKind>(kind), instance);
                     if (pool == nullptr)
                       return explain_empty(snapshot, subject::pools, &*device->identity);
                     copy_to_c(*pool, result);
                     return {};
                   });
}

hmn_status hmn_snapshot_pool_at(const hmn_snapshot* handle, uint32_t position, hmn_pool* out,
                                hmn_error* error) noexcept {
  return copy_entry(handle, &Snapshot::pools, position, out, error);
}

hmn_status hmn_snapshot_usage_at(const hmn_snapshot* handle, uint32_t position, hmn_usage* out,
                                 hmn_error* error) noexcept {
  return copy_entry(handle, &Snapshot::usages, position, out, error);
}

hmn_status hmn_snapshot_metric_at(const hmn_snapshot* handle, uint32_t position, hmn_metric* out,
                                  hmn_error* error) noexcept {
  return copy_entry(handle, &Snapshot::metrics, position, out, error);
}

hmn_status hmn_snapshot_group_at(const hmn_snapshot* handle, uint32_t position, hmn_group* out,
                                 hmn_error* error) noexcept {
  return copy_entry(handle, &Snapshot::groups, position, out, error);
}

hmn_status hmn_snapshot_diagnostic_at(const hmn_snapshot* handle, uint32_t position,
                                      hmn_diagnostic* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](const Snapshot& snapshot, hmn_diagnostic& result) -> Result<void> {
                     const auto& diagnostics = snapshot.explanations->diagnostics;
                     if (position >= diagnostics.size())
                       return make_range_failure(position, diagnostics.size());
                     copy_diagnostic(diagnostics[position], result);
                     return {};
                   });
}

hmn_status hmn_snapshot_reason(const hmn_snapshot* handle, const hmn_reason_key* key,
                               hmn_diagnostic* out, hmn_error* error) noexcept {
  return fill_from(
      handle, out, error, [&](const Snapshot& snapshot, hmn_diagnostic& result) -> Result<void> {
        if (key == nullptr) return make_null_failure("key is NULL");
        hmn_reason_key full_key{};
        if (Result<void> ok = read_input(key, full_key); !ok) return ok;
        if (Result<void> ok = check_members(full_key); !ok) return ok;
        if (((snapshot.collect | snapshot.postponed) & full_key.subject) == 0)
          return explain_empty(snapshot, full_key.subject, nullptr);
        if (is_host_subject(full_key.subject)) {
          copy_diagnostic(explain_absence(snapshot, read_key(snapshot, full_key), nullptr), result);
          return {};
        }
        const SnapshotDevice* const device = snapshot.find_device(full_key.device_index);
        if (device == nullptr) return Snapshot::make_device_failure(full_key.device_index);
        copy_diagnostic(explain_absence(snapshot, read_key(snapshot, full_key), &*device->identity),
                        result);
        return {};
      });
}

hmn_status hmn_snapshot_text_at(const hmn_snapshot* handle, uint32_t text, uint32_t position,
                                char* buffer, uint32_t capacity, uint32_t* needed,
                                hmn_error* error) noexcept {
  return write_text({buffer, capacity, needed}, error, [&](std::string& value) -> Result<void> {
    if (handle == nullptr) return make_null_failure("snapshot is NULL");
    const Snapshot& snapshot = object(handle);
    const std::string Usage::*const member = find_process_text(text);
    const bool is_group = text == HMN_TEXT_GROUP_NAME;
    if (member == nullptr && !is_group)
      return make_failure(Status::range, {"text: ", text, " is not a known text"});
    const std::size_t count = is_group ? snapshot.groups.size() : snapshot.usages.size();
    if (position >= count) return make_range_failure(position, count);
    value = is_group ? snapshot.groups[position].name : snapshot.usages[position].*member;
    if (value.empty() && !is_group) return make_failure(Status::empty, "the text is not known");
    return {};
  });
}
