// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/device_reader.hpp"

#include <algorithm>
#include <climits>

#include "model/scale.hpp"

namespace hmn::nvml {

bool device_reader::take(code c, const named_symbol& from, std::uint32_t field) {
  if (c == success) return true;
  const bool ends_now = ends_it(c) && t_.refused == success;
  if (ends_now) t_.refused = c;
  if (first_code_ == success || ends_now) {
    first_code_ = c;
    first_from_ = from.name();
  }
  t_.missing(c, t_.refused != success ? first_from_ : from.name(), fields_ & field);
  return false;
}

void device_reader::refuse(status s, const char* from, const char* why, std::uint32_t field) {
  if (first_code_ == success) {
    first_code_ = s == status::unsupported ? not_offered : unusable;
    first_from_ = from;
  }
  t_.report(s, {from, ": ", why}, fields_ & field,
            s == status::backend ? reason::implausible : reason::unknown);
}

void device_reader::refuse_value(const named_symbol& from, std::uint32_t field) {
  refuse(status::backend, from.name(), "a value that cannot be", field);
}

std::optional<unsigned> device_reader::number(std::uint32_t field, const number_call& from) {
  unsigned reported = 0;
  if (!get(field, from, &reported)) return std::nullopt;
  return reported;
}

std::optional<unsigned> device_reader::indexed(std::uint32_t field, const indexed_call& from,
                                               unsigned index) {
  unsigned reported = 0;
  if (!get(field, from, index, &reported)) return std::nullopt;
  return reported;
}

std::optional<std::uint64_t> device_reader::wide_number(std::uint32_t field,
                                                        const wide_call& from) {
  unsigned long long reported = 0;
  if (!get(field, from, &reported)) return std::nullopt;
  if (reported != value_not_available) return reported;
  refuse_value(from, field);
  return std::nullopt;
}

bool device_reader::get_field(std::uint32_t field, field_value& of) {
  return get(field, s_.fn.fields, 1, &of) && take_field_value(of, field);
}

bool device_reader::take_field_value(const field_value& of, std::uint32_t field) {
  if (!take(outcome_of(of), s_.fn.fields, field)) return false;
  const bool is_integer = of.type >= field_unsigned_int && of.type <= field_signed_int;
  if (is_integer && of.bits != value_not_available) return true;
  refuse_value(s_.fn.fields, field);
  return false;
}

// Uses the newer call, else the older one.
std::optional<int> device_reader::celsius(std::uint32_t field) {
  if (!wants(field)) return std::nullopt;
  temperature_v1 newer{temperature_version, temperature_gpu, 0};
  const code c = call(t_, s_.fn.temperature_v, of_.h, &newer);
  if (c == success || ends_it(c)) {
    if (!take(c, s_.fn.temperature_v, field)) return std::nullopt;
    return newer.celsius;
  }
  const auto older = indexed(field, s_.fn.temperature, temperature_gpu);
  if (!older) return std::nullopt;
  return static_cast<int>(std::min<unsigned>(*older, INT_MAX));
}

std::optional<double> device_reader::joules(std::uint32_t field) {
  if (t_.r.is_quick()) {
    if (wants(field)) t_.left_out(s_.fn.energy, field);
    return std::nullopt;
  }
  const auto millijoules = wide_number(field, s_.fn.energy);
  if (!millijoules) return std::nullopt;
  return from_milli.of(static_cast<double>(*millijoules));
}

}  // namespace hmn::nvml
