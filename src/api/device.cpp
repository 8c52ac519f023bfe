// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/pool.hpp"
#include "model/record.hpp"

namespace hmn::api {

Result<void> check_pool_kind(std::uint32_t kind, const char* name) {
  if (kind <= HMN_POOL_STOLEN) return {};
  return make_failure(Status::range, {name, ": ", kind, " is not a pool kind"});
}

Result<void> check_metric(std::uint32_t id, std::uint32_t instance, const char* id_name,
                          const char* instance_name) {
  const MetricInfo* const info = find_metric_info(id);
  if (info == nullptr)
    return make_failure(Status::range, {id_name, ": ", id, " is not a known metric"});
  if (instance == 0 || info->has_instances) return {};
  return make_failure(Status::argument, {instance_name, ": ", instance, ", but ", info->name,
                                         " has no instances: expected 0"});
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_device_scan(hmn_context* handle, uint32_t* count, uint64_t* generation,
                           hmn_error* error) noexcept {
  clear_out(count);
  clear_out(generation);
  return run_with_context(handle, error, [&](Context& context) -> Result<void> {
    const Result<DeviceScan> scan = context.scan();
    if (!scan) return scan.failure();
    if (count != nullptr) *count = scan->count;
    if (generation != nullptr) *generation = scan->generation;
    return {};
  });
}

hmn_status hmn_device_find(hmn_context* handle, const char* key, uint32_t* out,
                           hmn_error* error) noexcept {
  clear_out(out);
  return run_with_context(handle, error, [&](Context& context) -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    if (key == nullptr) return make_null_failure("key is NULL");
    const Result<std::uint32_t> index = context.find(key);
    if (!index) return index.failure();
    *out = *index;
    return {};
  });
}

hmn_status hmn_device_read(hmn_context* handle, uint32_t device_index, hmn_fields fields,
                           hmn_device* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& context, hmn_device& result) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    const Result<Device> device = context.identity(device_index);
    if (!device) return device.failure();
    copy_to_c(*device, result, fields);
    return {};
  });
}

hmn_status hmn_telemetry_read(hmn_context* handle, uint32_t device_index, hmn_fields fields,
                              hmn_telemetry* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error,
                   [&](Context& context, hmn_telemetry& result) -> Result<void> {
                     if (Result<void> ok = check_fields(fields, out); !ok) return ok;
                     const Result<Telemetry> telemetry = context.telemetry(device_index, fields);
                     if (!telemetry) return telemetry.failure();
                     copy_to_c(*telemetry, result, fields);
                     return {};
                   });
}

hmn_status hmn_metric_read(hmn_context* handle, uint32_t device_index, const hmn_metric_key* key,
                           hmn_fields fields, hmn_metric* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& context, hmn_metric& result) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    if (key == nullptr) return make_null_failure("key is NULL");
    hmn_metric_key full_key{};
    if (Result<void> ok = read_input(key, full_key); !ok) return ok;
    if (Result<void> ok = check_reserved(full_key.reserved0); !ok) return ok;
    if (Result<void> ok = check_metric(full_key.id, full_key.instance, "id", "instance"); !ok)
      return ok;
    const auto metric =
        context.metric(device_index, static_cast<MetricId>(full_key.id), full_key.instance);
    if (!metric) return metric.failure();
    copy_to_c(*metric, result, fields);
    return {};
  });
}

uint32_t hmn_metric_next(uint32_t metric) noexcept {
  const MetricInfo* const next = next_metric(metric);
  return static_cast<std::uint32_t>(next != nullptr ? next->id : MetricId::unknown);
}

uint32_t hmn_metric_kind(uint32_t metric) noexcept {
  const MetricInfo* const info = find_metric_info(metric);
  return static_cast<std::uint32_t>(info != nullptr ? info->kind : NumberKind::unknown);
}

const char* hmn_metric_name(uint32_t metric) noexcept {
  const MetricInfo* const info = find_metric_info(metric);
  return info != nullptr ? info->name : "unknown";
}

const char* hmn_metric_unit(uint32_t metric) noexcept {
  const MetricInfo* const info = find_metric_info(metric);
  return info != nullptr ? info->unit : "";
}

const char* hmn_metric_instance_name(uint32_t metric, uint32_t instance) noexcept {
  return instance_name(metric, instance);
}

hmn_status hmn_usage_read(hmn_context* handle, uint32_t device_index, uint32_t pid,
                          hmn_fields fields, hmn_usage* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& context, hmn_usage& result) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    if (pid == 0) return make_failure(Status::range, "pid: 0 is not a process");
    const Result<Usage> usage = context.process(device_index, pid, fields);
    if (!usage) return usage.failure();
    copy_to_c(*usage, result, fields);
    return {};
  });
}

hmn_status hmn_usage_read_self(hmn_context* handle, uint32_t device_index, hmn_fields fields,
                               hmn_usage* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& context, hmn_usage& result) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    const Result<Usage> usage = context.own_usage(device_index);
    if (!usage) return usage.failure();
    copy_to_c(*usage, result, fields);
    return {};
  });
}

hmn_status hmn_pool_read(hmn_context* handle, uint32_t device_index, uint32_t kind,
                         uint32_t instance, hmn_fields fields, hmn_pool* out,
                         hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& context, hmn_pool& result) -> Result<void> {
    if (Result<void> ok = check_pool_kind(kind); !ok) return ok;
    if (Result<void> ok = check_fields(fields, out, pool_field::readable); !ok) return ok;
    const hmn_fields selected_fields = fields != 0 ? fields : pool_field::readable;
    const Result<Pool> pool =
        context.pool(device_index, {static_cast<PoolKind>(kind), instance}, selected_fields);
    if (!pool) return pool.failure();
    copy_to_c(*pool, result, fields);
    return {};
  });
}
