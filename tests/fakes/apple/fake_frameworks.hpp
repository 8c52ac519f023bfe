// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Apple's frameworks as far as they are used: a small CoreFoundation that counts references, a
// registry, Metal's devices, counters and sensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/frameworks.hpp"

namespace hmn_fake {

struct MacCard {
  std::uint32_t vendor = 0x1002;
  std::uint32_t device = 0x7340;
  std::string model = "AMD Radeon Pro 5300M";
  std::string pcidebug = "3:0:0(4:4)";
};

struct MacGpu {
  std::uint64_t id = 0x100000abc;
  std::string class_name = "AGXAcceleratorG14X";
  bool has_statistics = true;
  std::map<std::string, std::int64_t> statistics;
  std::optional<std::int64_t> vram_megabytes;
  std::optional<MacCard> card;
};

struct MacMetalDevice {
  std::uint64_t id = 0;
  std::uint64_t budget = 0;
};

struct MacState {
  std::string name;
  std::int64_t ticks = 0;
};

struct MacChannel {
  std::string group;
  std::string subgroup;
  std::string name;
  std::string unit;
  std::int64_t value = 0;
  std::vector<MacState> states;
};

struct MacSensor {
  std::string name;
  double celsius = 0;
  bool has_event = true;
};

// One instance at a time.
class Apple {
 public:
  Apple();
  // All references and rights must have been released by then; the test checks it.
  ~Apple();
  Apple(const Apple&) = delete;
  Apple& operator=(const Apple&) = delete;

  static hmn::Result<hmn::metal::Frameworks> load();
  [[nodiscard]] static int count_references();  // references and rights that are held

  std::vector<MacGpu> gpus;
  std::vector<std::uint32_t> clocks;  // of pmgr: pairs of clock and voltage
  std::vector<MacMetalDevice> devices;
  std::optional<MacMetalDevice> default_device;
  std::vector<MacChannel> channels;
  std::vector<MacSensor> thermometers;
  bool has_frameworks = true;
  bool has_metal = true;
  bool has_report = true;
  bool has_sensors = true;
  int find_code = 0;
  int loads = 0;
  int default_device_count = 0;
};

}  // namespace hmn_fake
