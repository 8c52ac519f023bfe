// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files of sysfs and of the device tree that describe a Tegra's GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "platform/file.hpp"
#include "source/interface.hpp"

namespace hmn::tegra {

// As sysfs::read_signed; EINVAL if the line is no whole number.
platform::ErrnoOr<std::int64_t> read_number(std::string_view folder, std::string_view name);

// Whether one text of a NUL-separated list has this prefix.
bool has_text_from(std::string_view list, std::string_view beginning) noexcept;

inline constexpr FailureOf fail{Source::tegra};

// Whether the error is temporary and proves nothing: the file may be readable next time.
bool may_pass(int error) noexcept;

// Reports a diagnostic of the only GPU.
void diagnose(Reading& r, const Failure& why, std::uint32_t about, FieldSet field);

Failure unreadable(int error, std::string_view folder, std::string_view name);

struct NvmapClient {
  std::uint32_t pid = 0;
  std::uint64_t bytes = 0;
};

// Pure. Clients in <debugfs>/nvmap/iovmm/clients, as printed by L4T's driver:
//   CLIENT  PROCESS  PID  SIZE
//   user    Xorg     1234  12345K
//   total                 123456K
struct NvmapClients {
  std::vector<NvmapClient> all;
  std::optional<std::uint64_t> total;
  bool is_odd = false;  // a line has another form
};

NvmapClients parse_nvmap(std::string_view text);

enum class Feeds { nothing_of_it, gpu_alone, gpu_and_others };

// Pure. Recognizes the channel label of an INA3221 from the boards' device trees.
Feeds rail_of(std::string_view label) noexcept;

// The power rail of the GPU, or a shared one if it has none of its own.
struct Rail {
  Feeds what = Feeds::nothing_of_it;
  Text<512> folder;  // of the sensor
  std::uint32_t channel = 0;
  Text<32> label;
};

// `is_sure` becomes false if a sensor was unreadable.
Rail find_rail(std::string_view sys_root, bool& is_sure);
// Returns watts, from millivolts and milliamperes.
std::optional<double> read_power(const Rail& r);

// GPU of an NVIDIA SoC: a platform device of the driver nvgpu.
struct Gpu {
  Text<512> folder;   // contains `load`; empty: none
  Text<512> devfreq;  // contains `cur_freq`; empty: none
};

// Skips a GPU with the nouveau driver, which is a DRM card.
Gpu find_gpu(std::string_view sys_root);

// Reads the name in the device tree: "NVIDIA Jetson AGX Orin Developer Kit". Returns 0 or errno.
int read_board_name(std::string_view proc_root, std::string_view sys_root, Text<256>& out);

// Where a GPU's values are.
struct Places {
  const Gpu& of;
  const Rail& power;
  const Text<512>& thermometer;
  bool is_sure;  // all were readable
};

// Finds the thermal zone of the GPU; empty: none.
Text<512> find_thermometer(std::string_view sys_root, bool& is_sure);

Result<void> read_sensors(const Places& at, FieldSet fields, hmn::Telemetry& out, Reading& r);
// Adds the maximum clock, and the power of a rail that other parts share.
void add_metrics(const Places& at, std::vector<Metric>& out, Reading& r);

}  // namespace hmn::tegra
