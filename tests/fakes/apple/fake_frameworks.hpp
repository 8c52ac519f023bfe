// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Apple's frameworks, as far as they are called: a small CoreFoundation that counts references, a
// registry, Metal's devices, counters and sensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/frameworks.hpp"

namespace hmn_fake {

struct mac_card {
  std::uint32_t vendor = 0x1002;
  std::uint32_t device = 0x7340;
  std::string model = "AMD Radeon Pro 5300M";
  std::string pcidebug = "3:0:0(4:4)";
};

struct mac_gpu {
  std::uint64_t id = 0x100000abc;
  std::string of_class = "AGXAcceleratorG14X";
  bool has_statistics = true;
  std::map<std::string, std::int64_t> statistics;
  std::optional<std::int64_t> vram_megabytes;
  std::optional<mac_card> card;
};

struct mac_metal_device {
  std::uint64_t id = 0;
  std::uint64_t budget = 0;
};

struct mac_state {
  std::string name;
  std::int64_t ticks = 0;
};

struct mac_channel {
  std::string group;
  std::string subgroup;
  std::string name;
  std::string unit;
  std::int64_t value = 0;
  std::vector<mac_state> states;
};

struct mac_sensor {
  std::string name;
  double celsius = 0;
  bool has_event = true;
};

// One at a time.
class apple {
 public:
  apple();
  // Every reference and every right must have been given back by then: checked by the test.
  ~apple();
  apple(const apple&) = delete;
  apple& operator=(const apple&) = delete;

  static hmn::result<hmn::metal::frameworks> load();
  [[nodiscard]] static int live();  // references and rights that are held

  std::vector<mac_gpu> gpus;
  std::vector<std::uint32_t> clocks;  // of pmgr: pairs of clock and voltage
  std::vector<mac_metal_device> devices;
  std::optional<mac_metal_device> default_device;
  std::vector<mac_channel> channels;
  std::vector<mac_sensor> thermometers;
  bool has_frameworks = true;
  bool has_metal = true;
  bool has_report = true;
  bool has_sensors = true;
  int find_code = 0;
  int loads = 0;
  int defaults_made = 0;
};

}  // namespace hmn_fake
