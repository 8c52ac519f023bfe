// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/compose.hpp"
#include "model/record.hpp"

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_metric_read(hmn_context* handle, uint32_t device_index, uint32_t metric,
                           uint32_t instance, hmn_flags fields, hmn_metric* out,
                           hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c, hmn_metric& full) -> result<void> {
    if (result<void> ok = check_fields(fields, out); !ok) return ok;
    if (words_of_metric(metric) == nullptr) {
      return failed(status::range, {metric, " is no HMN_METRIC_*"});
    }
    const auto m = c.metric(device_index, static_cast<metric_id>(metric), instance);
    if (!m) return m.why();
    copy_out(*m, full, fields);
    return {};
  });
}

const char* hmn_metric_name(uint32_t metric) noexcept {
  const metric_words* const w = words_of_metric(metric);
  return w != nullptr ? w->name : "unknown";
}

const char* hmn_metric_unit(uint32_t metric) noexcept {
  const metric_words* const w = words_of_metric(metric);
  return w != nullptr ? w->unit : "";
}

const char* hmn_metric_instance_name(uint32_t metric, uint32_t instance) noexcept {
  return instance_name(metric, instance);
}
