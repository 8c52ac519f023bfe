// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"
#include "model/compose.hpp"
#include "model/metric_names.hpp"

namespace hmn::api {

hmn_metric to_c(std::uint32_t device_index, const dated<metric>& dated) {
  const metric& m = dated.value;
  hmn_metric out{};
  out.notes = m.notes;
  out.backend = static_cast<std::uint32_t>(m.from);
  out.device_index = device_index;
  out.id = static_cast<std::uint32_t>(m.id);
  out.instance = m.instance;
  hmn_flags& has = out.present;
  give(has, HMN_METRIC_HAS_PID, out.pid, m.pid);
  give(has, HMN_METRIC_HAS_VALUE, out.value, m.value);
  give(has, HMN_METRIC_HAS_COUNT, out.count, m.count);
  give(has, HMN_METRIC_HAS_WINDOW, out.window_ns, m.window_ns);
  out.age_ns = dated.age_ns;
  return out;
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_metric_read(hmn_context* handle, uint32_t device_index, uint32_t metric,
                           uint32_t instance, hmn_metric* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_metric> {
    if (words_of(metric) == nullptr) {
      return failure{status::range, source::none, {}, {metric, " is no HMN_METRIC_*"}};
    }
    const auto m = c.metric(device_index, static_cast<metric_id>(metric), instance);
    if (!m) return m.why();
    return to_c(device_index, *m);
  });
}

const char* hmn_metric_name(uint32_t metric) noexcept {
  const metric_words* const w = words_of(metric);
  return w != nullptr ? w->name.c_str() : "unknown";
}

const char* hmn_metric_unit(uint32_t metric) noexcept {
  const metric_words* const w = words_of(metric);
  return w != nullptr ? w->unit.c_str() : "";
}

const char* hmn_metric_instance_name(uint32_t metric, uint32_t instance) noexcept {
  return instance_name(metric, instance);
}
