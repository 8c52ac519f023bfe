// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <hypomnesis.hpp>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/exporter/samples.hpp"

namespace hmn::cli {

// hw_id of each GPU of a snapshot: its UUID, else its PCI address, else "gpu" and its index. An id
// that a driver reports for two GPUs identifies neither: both would become one series.
class DeviceIds {
 public:
  explicit DeviceIds(const std::vector<hypomnesis::snapshot_device>& gpus);

  std::string get(std::uint32_t index) const;

 private:
  std::unordered_map<std::uint32_t, std::string> ids_;
};

// What identifies a GPU, and a part of it, in labels.
class DeviceLabels {
 public:
  DeviceLabels(const hypomnesis::device& device, const DeviceIds& ids);

  // hw_id, hw_name: of values under the project's own names.
  const LabelSet& short_labels() const { return short_labels_; }
  // hw_id, hw_type, hw_name, hw_parent (of a partition), hw_vendor.
  const LabelSet& full_labels() const { return full_labels_; }
  // A sensor, a fan or a rail: a component with an id of its own, in the GPU.
  LabelSet component(std::string_view type, std::string_view name) const;

 private:
  std::string id_;
  LabelSet short_labels_;
  LabelSet full_labels_;
};

// Identities from earlier readings: a GPU that hangs or is lost may no longer report its own, and
// must not become another series. An index belongs to one device for the life of a context.
class KnownDevices {
 public:
  // Fills in what is missing.
  void complete(std::vector<hypomnesis::snapshot_device>& devices);

 private:
  std::map<std::uint32_t, hypomnesis::device> identities_;
};

}  // namespace hmn::cli
