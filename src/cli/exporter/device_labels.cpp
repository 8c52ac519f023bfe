// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/device_labels.hpp"

#include <fmt/format.h>

#include "cli/measure/by_device.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

std::string parent_id(const hypomnesis::device& of, const std::vector<hypomnesis::device>& all) {
  if (!of.parent_index) return {};
  const auto* const found = find_device_in(all, *of.parent_index, &hypomnesis::device::index);
  return found == nullptr ? std::string() : device_id(*found);
}

}  // namespace

std::string device_id(const hypomnesis::device& of) {
  if (of.uuid) return *of.uuid;
  return of.pci_bus_id ? *of.pci_bus_id : fmt::format("gpu{}", of.index);
}

device_labels::device_labels(const hypomnesis::device& of,
                             const std::vector<hypomnesis::device>& all)
    : id_(device_id(of)) {
  brief_.add("hw_id", id_).add("hw_name", of.name.value_or(""));
  whole_.add("hw_id", id_)
      .add("hw_type", "gpu")
      .add("hw_name", of.name.value_or(""))
      .add("hw_parent", parent_id(of, all))
      .add("hw_vendor", vendor_name(of.vendor).value_or(std::string_view()));
}

label_set device_labels::part(std::string_view type, std::string_view name) const {
  label_set of_part;
  of_part
      .add("hw_id", name.empty() ? fmt::format("{}/{}", id_, type)
                                 : fmt::format("{}/{}/{}", id_, type, name))
      .add("hw_type", type)
      .add("hw_name", name.empty() ? type : name)
      .add("hw_parent", id_);
  return of_part;
}

}  // namespace hmn::cli
