// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <string>
#include <string_view>

#include "cli/exporter/device_ids.hpp"
#include "cli/exporter/sample.hpp"

namespace hmn::cli {

// What identifies a GPU, and a part of it, in labels.
class device_labels {
 public:
  device_labels(const hypomnesis::device& of, const device_ids& ids);

  // hw_id, hw_name: of values under the project's own names.
  const label_set& brief() const { return brief_; }
  // hw_id, hw_type, hw_name, hw_parent (of a partition), hw_vendor.
  const label_set& whole() const { return whole_; }
  // A sensor, a fan or a rail: a component with an id of its own, in the GPU.
  label_set part(std::string_view type, std::string_view name) const;

 private:
  std::string id_;
  label_set brief_;
  label_set whole_;
};

}  // namespace hmn::cli
