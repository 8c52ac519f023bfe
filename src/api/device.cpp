// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"
#include "model/pool.hpp"
#include "model/record.hpp"

namespace hmn::api {

Result<void> check_pool_kind(std::uint32_t kind, const char* name) {
  if (kind <= HMN_POOL_STOLEN) return {};
  return failed(Status::range, {name, ": ", kind, " is not a pool kind"});
}

Result<void> check_metric(std::uint32_t id, std::uint32_t instance, const char* id_name,
                          const char* instance_name) {
  const MetricWords* const words = words_of_metric(id);
  if (words == nullptr) return failed(Status::range, {id_name, ": ", id, " is not a known metric"});
  if (instance == 0 || words->has_instances) return {};
  return failed(Status::argument, {instance_name, ": ", instance, ", but ", words->name,
                                   " has no instances: expected 0"});
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_device_scan(hmn_context* handle, uint32_t* count, uint64_t* generation,
                           hmn_error* error) noexcept {
  clear_out(count);
  clear_out(generation);
  return with_context(handle, error, [&](Context& c) -> Result<void> {
    const Result<DeviceScan> found = c.scan();
    if (!found) return found.why();
    if (count != nullptr) *count = found->count;
    if (generation != nullptr) *generation = found->generation;
    return {};
  });
}

hmn_status hmn_device_find(hmn_context* handle, const char* key, uint32_t* out,
                           hmn_error* error) noexcept {
  clear_out(out);
  return with_context(handle, error, [&](Context& c) -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    if (key == nullptr) return null_argument("key is NULL");
    const Result<std::uint32_t> index = c.find(key);
    if (!index) return index.why();
    *out = *index;
    return {};
  });
}

hmn_status hmn_device_read(hmn_context* handle, uint32_t device_index, hmn_fields fields,
                           hmn_device* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_device& full) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    const Result<Device> d = c.identity(device_index);
    if (!d) return d.why();
    copy_out(*d, full, fields);
    return {};
  });
}

hmn_status hmn_telemetry_read(hmn_context* handle, uint32_t device_index, hmn_fields fields,
                              hmn_telemetry* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_telemetry& full) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    const Result<Telemetry> t = c.telemetry(device_index, fields);
    if (!t) return t.why();
    copy_out(*t, full, fields);
    return {};
  });
}

hmn_status hmn_metric_read(hmn_context* handle, uint32_t device_index, const hmn_metric_key* key,
                           hmn_fields fields, hmn_metric* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_metric& full) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    if (key == nullptr) return null_argument("key is NULL");
    hmn_metric_key k{};
    if (Result<void> ok = read_input(key, k); !ok) return ok;
    if (Result<void> ok = check_reserved(k.reserved0); !ok) return ok;
    if (Result<void> ok = check_metric(k.id, k.instance, "id", "instance"); !ok) return ok;
    const auto m = c.metric(device_index, static_cast<MetricId>(k.id), k.instance);
    if (!m) return m.why();
    copy_out(*m, full, fields);
    return {};
  });
}

uint32_t hmn_metric_next(uint32_t metric) noexcept {
  const MetricWords* const next = next_metric(metric);
  return static_cast<std::uint32_t>(next != nullptr ? next->id : MetricId::unknown);
}

uint32_t hmn_metric_kind(uint32_t metric) noexcept {
  const MetricWords* const w = words_of_metric(metric);
  return static_cast<std::uint32_t>(w != nullptr ? w->kind : NumberKind::unknown);
}

const char* hmn_metric_name(uint32_t metric) noexcept {
  const MetricWords* const w = words_of_metric(metric);
  return w != nullptr ? w->name : "unknown";
}

const char* hmn_metric_unit(uint32_t metric) noexcept {
  const MetricWords* const w = words_of_metric(metric);
  return w != nullptr ? w->unit : "";
}

const char* hmn_metric_instance_name(uint32_t metric, uint32_t instance) noexcept {
  return instance_name(metric, instance);
}

hmn_status hmn_usage_read(hmn_context* handle, uint32_t device_index, uint32_t pid,
                          hmn_fields fields, hmn_usage* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_usage& full) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    if (pid == 0) return failed(Status::range, "pid: 0 is not a process");
    const Result<Usage> u = c.process(device_index, pid, fields);
    if (!u) return u.why();
    copy_out(*u, full, fields);
    return {};
  });
}

hmn_status hmn_usage_read_self(hmn_context* handle, uint32_t device_index, hmn_fields fields,
                               hmn_usage* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_usage& full) -> Result<void> {
    if (Result<void> ok = check_fields(fields, out); !ok) return ok;
    const Result<Usage> u = c.own_usage(device_index);
    if (!u) return u.why();
    copy_out(*u, full, fields);
    return {};
  });
}

hmn_status hmn_pool_read(hmn_context* handle, uint32_t device_index, uint32_t kind,
                         uint32_t instance, hmn_fields fields, hmn_pool* out,
                         hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_pool& full) -> Result<void> {
    if (Result<void> ok = check_pool_kind(kind); !ok) return ok;
    if (Result<void> ok = check_fields(fields, out, pool_field::readable); !ok) return ok;
    const hmn_fields wanted = fields != 0 ? fields : pool_field::readable;
    const Result<Pool> p = c.pool(device_index, {static_cast<PoolKind>(kind), instance}, wanted);
    if (!p) return p.why();
    copy_out(*p, full, fields);
    return {};
  });
}
