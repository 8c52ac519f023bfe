// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backends/shared/command_tool/command_source.hpp"
#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/json.hpp"
#include "model/text.hpp"

namespace hmn::amd_tool {

// The values that the tools print. Each tool's versions have them under different keys.
enum class Field : std::uint8_t {
  name,
  unique_id,
  bus,
  pci_device,
  driver,
  vram_total,
  vram_used,
  visible_total,
  visible_used,
  host_total,
  host_used,
  gpu_busy,
  memory_busy,
  media_busy,
  edge,
  hotspot,
  memory_temperature,
  edge_limit,
  hotspot_limit,
  memory_limit,
  edge_shutdown,
  hotspot_shutdown,
  memory_shutdown,
  average_power,
  package_power,
  power_limit,
  min_power_limit,
  max_power_limit,
  energy,
  core_clock,
  memory_clock,
  soc_clock,
  fabric_clock,
  video_clock,
  max_core_clock,
  max_memory_clock,
  core_voltage,
  soc_voltage,
  memory_voltage,
  fan_percent,
  fan_rpm,
  pcie_link,
  throttle,
  count,
};

enum class Form : std::uint8_t {
  text,
  hexadecimal,
  link,      // "1 (16.0GT/s x16)"
  throttle,  // "UNTHROTTLED"
  bytes,     // a number with a unit, like all that follow
  percent,
  celsius,
  watts,
  joules,
  megahertz,
  volts,
  rpm,
};

// One place where a value may be. `path`: keys from the card inwards, lower case, without the unit
// in brackets. Of several rows for a field, the first that has a value counts.
struct Row {
  Field field;
  Form form;
  std::string_view path;
};

// How one of the two tools is called and read. Each question is the words of a command line.
struct Dialect {
  command_tool::ToolDescription tool;
  std::span<const Row> rows;
  std::string_view identity;   // run once; empty: part of `readings`
  std::string_view readings;   // run in each reading
  std::string_view plain;      // replaces `readings` if the tool rejects one of its options
  std::string_view processes;  // empty: part of `readings`
  bool may_scale_kib_by_1000;  // its bytes of a process may be KiB times 1000
};

extern const Dialect rocm_smi;
extern const Dialect amd_smi;

inline constexpr std::string_view folders[] = {"/usr/bin/", "/opt/rocm/bin/"};

// Both tools differ only by name.
constexpr command_tool::ToolDescription describe(Source source, std::string_view name,
                                                 std::string_view absent) {
  return {.fail = {source},
          .name = name,
          .gpu = "an AMD GPU",
          .vendor = vendor::amd,
          .driver = "amdgpu",
          .folders = folders,
          .absent_message = absent,
          .is_matched_by_address = true};
}

// Value of a card's key. Kept small: there are many, and most are empty.
struct FieldAmount {
  Status status = Status::empty;  // ok: has a value; empty: no such key
  std::uint8_t rank = 0;          // row in the dialect
  bool is_rounded = false;
  double number = 0;
  std::uint64_t whole = 0;  // bytes, hexadecimal; link: generation << 8 | width
  std::string_view flaw;    // why the value is invalid
  Reason reason = Reason::unknown;
  hmn::Text<64> key;    // as printed
  hmn::Text<128> text;  // as printed; the value itself for Form::text

  [[nodiscard]] bool has_value() const noexcept { return status == Status::ok; }
};

// Parses a text, a number or {"value", "unit"}. The unit is with the value or in its key; if both
// have one, they must agree. Only RPM may lack a unit. MB are 2^20 bytes.
FieldAmount read_field_amount(Form form, const json::Value& value, std::string_view key_unit);

// Recognizes a missing value: "N/A", "N/A (Secondary die)", "unknown", "".
bool is_missing_value(std::string_view text) noexcept;

}  // namespace hmn::amd_tool
