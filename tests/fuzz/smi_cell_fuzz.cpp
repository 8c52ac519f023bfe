// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include "fuzz.hpp"
#include "model/scan.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

namespace {

template <class T>
void check(const Measured<T>& m) {
  promise(m.value.has_value() == (m.why == Status::ok));
}

}  // namespace

void fuzz(std::string_view input) {
  std::string_view rest = input;
  const std::string_view unit = scan::take_line(rest);
  const std::string_view cell = scan::take_line(rest);
  const auto bytes = bytes_of(cell, unit);
  check(bytes);
  if (bytes.value) {
    promise(bytes_of(std::to_string(*bytes.value) + " B", "").value == bytes.value);
    promise(cell.find_first_of("0123456789") != std::string_view::npos);
  }
  const auto number = number_of(cell, unit, "%");
  check(number);
  if (number.value) promise(*number.value >= 0 && *number.value < 1e308 * 10);
  check(count_of(cell, unit, "MHz"));
  check(hexadecimal_of(cell));
  const auto p = p_state_of(cell);
  check(p);
  if (p.value) promise(p_state_of("P" + std::to_string(*p.value)).value == p.value);
  if (status_of_cell(cell) == Status::ok) return;
  promise(!bytes.value && !number.value && !p.value);
  promise(status_of_cell("[" + std::string(scan::trim(cell)) + "]") != Status::ok);
}
