// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include "fuzz.hpp"
#include "model/scan.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

namespace {

template <class T>
void check(const CellValue<T>& measurement) {
  promise(measurement.value.has_value() == (measurement.status == Status::ok));
}

}  // namespace

void fuzz(std::string_view input) {
  std::string_view remaining = input;
  const std::string_view unit = scan::take_line(remaining);
  const std::string_view cell = scan::take_line(remaining);
  const auto bytes = parse_bytes(cell, unit);
  check(bytes);
  if (bytes.value) {
    promise(parse_bytes(std::to_string(*bytes.value) + " B", "").value == bytes.value);
    promise(cell.find_first_of("0123456789") != std::string_view::npos);
  }
  const auto number = parse_number(cell, unit, "%");
  check(number);
  if (number.value) promise(*number.value >= 0 && *number.value < 1e308 * 10);
  check(parse_count(cell, unit, "MHz"));
  check(parse_hexadecimal(cell));
  const auto state = parse_p_state(cell);
  check(state);
  if (state.value) promise(parse_p_state("P" + std::to_string(*state.value)).value == state.value);
  if (parse_status(cell) == Status::ok) return;
  promise(!bytes.value && !number.value && !state.value);
  promise(parse_status("[" + std::string(scan::trim(cell)) + "]") != Status::ok);
}
