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
bool has_text_with_prefix(std::string_view list, std::string_view prefix) noexcept;

inline constexpr FailureFactory fail{Source::tegra};

// Whether the error is temporary: the file may be readable next time.
bool is_temporary(int error) noexcept;

// Reports a diagnostic of the only GPU.
void diagnose(Reading& reading, const Failure& failure, std::uint32_t subject, FieldSet field);

Failure make_read_failure(int error, std::string_view folder, std::string_view name);

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
  bool is_malformed = false;  // a line has another form
};

NvmapClients parse_nvmap(std::string_view text);

enum class RailLoad { none, gpu_alone, gpu_and_others };

// Pure. Recognizes the channel label of an INA3221 from the boards' device trees.
RailLoad classify_rail(std::string_view label) noexcept;

// The power rail of the GPU, or a shared one if it has none of its own.
struct Rail {
  RailLoad load = RailLoad::none;
  Text<512> folder;  // of the sensor
  std::uint32_t channel = 0;
  Text<32> label;
};

// `is_complete` becomes false if a sensor was unreadable.
Rail find_rail(std::string_view sys_root, bool& is_complete);
// Returns watts, from millivolts and milliamperes.
std::optional<double> read_power(const Rail& rail);

// GPU of an NVIDIA SoC: a platform device of the driver nvgpu.
struct Gpu {
  Text<512> folder;   // contains `load`; empty: none
  Text<512> devfreq;  // contains `cur_freq`; empty: none
};

// Skips a GPU with the nouveau driver, which is a DRM card.
Gpu find_gpu(std::string_view sys_root);

// Reads the name in the device tree: "NVIDIA Jetson AGX Orin Developer Kit". Returns 0 or errno.
int read_board_name(std::string_view proc_root, std::string_view sys_root, Text<256>& out);

// Files that have a GPU's values.
struct SensorFiles {
  const Gpu& gpu;
  const Rail& rail;
  const Text<512>& thermometer;
  bool is_complete;  // all were readable
};

// Finds the thermal zone of the GPU; empty: none.
Text<512> find_thermometer(std::string_view sys_root, bool& is_complete);

Result<void> read_sensors(const SensorFiles& files, FieldSet fields, hmn::Telemetry& out,
                          Reading& reading);
// Adds load, clock and its limit, temperature, and power even of a rail that other parts share.
void add_metrics(const SensorFiles& files, std::vector<Metric>& out, Reading& reading);

}  // namespace hmn::tegra
