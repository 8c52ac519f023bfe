// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/rows.hpp"
#include "fuzz.hpp"
#include "model/pci_address.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

void fuzz(std::string_view input) {
  const auto complete = parse_apps(input, false);
  promise(parse_apps(input, true).rows.size() <= complete.rows.size());
  promise(complete.is_table || complete.rows.empty());
  for (const AppRow& row : complete.rows) {
    promise((row.pid != 0) == (row.list_status == Status::ok));
    promise(row.name.empty() == (row.name_state != NameState::resolved));
    promise(is_utf8(row.name) && is_utf8(row.gpu_uuid));
    promise(row.name.find('/') == std::string::npos);
    promise(row.name.find('\n') == std::string::npos);
    promise(normalize_pci_address(row.gpu_bus_id.view()) == row.gpu_bus_id);
    promise(row.used.value.has_value() == (row.used.status == Status::ok));
  }
}
