// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/call.hpp"

namespace hmn::nvml {
namespace {

diagnostic diagnostic_of(const topic& t, failure why) {
  diagnostic d;
  d.why = std::move(why);
  d.about = t.about;
  d.device = t.device;
  d.pid = t.pid;
  return d;
}

}  // namespace

void topic::remark(failure why, std::uint32_t field, std::uint32_t notes) const {
  diagnostic d = diagnostic_of(*this, std::move(why));
  d.field = field;
  d.notes = notes;
  r.remark(std::move(d));
}

void topic::missing(code c, const char* what, std::uint32_t field) const {
  if (wants()) remark(fail(c, what), field);
}

void topic::trace(const char* symbol, code c, std::uint64_t duration_ns) const {
  diagnostic d =
      diagnostic_of(*this, {status_of(c), source::nvml, {native_domain::nvml, c}, symbol});
  d.notes = note::trace;
  d.duration_ns = duration_ns;
  r.remark(std::move(d));
}

}  // namespace hmn::nvml
