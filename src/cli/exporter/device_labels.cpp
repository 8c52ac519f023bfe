// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/device_labels.hpp"

#include <fmt/format.h>

#include "cli/text/words.hpp"

namespace hmn::cli {

device_labels::device_labels(const hypomnesis::device& of, const device_ids& ids)
    : id_(ids.of(of.index)) {
  brief_.add("hw_id", id_).add("hw_name", of.name.value_or(""));
  whole_.add("hw_id", id_)
      .add("hw_type", "gpu")
      .add("hw_name", of.name.value_or(""))
      .add("hw_parent", of.parent_index ? ids.of(*of.parent_index) : std::string())
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
