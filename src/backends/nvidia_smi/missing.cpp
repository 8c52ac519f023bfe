// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/missing.hpp"

#include "model/compose.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {
namespace {

std::string_view advice_of(status code) {
  switch (code) {
    case status::permission:
      return ": it needs more rights";
    case status::device_lost:
      return ": see 'dmesg' for Xid lines, then reset the GPU or reboot";
    case status::empty:
      return ": the driver has no data";
    default:
      return "";
  }
}

}  // namespace

void add_missing(std::vector<missing>& to, std::uint32_t field, status code, const gpu_cell& cell) {
  if (!cell.is_asked) {
    add_missing(to, field, status::unsupported, "this nvidia-smi has no such column");
    return;
  }
  const text<64> word(cell.text);
  add_missing(to, field, code, {"nvidia-smi says \"", word.view(), "\"", advice_of(code)});
}

}  // namespace hmn::nvidia_smi
