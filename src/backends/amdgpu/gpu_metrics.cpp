// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/gpu_metrics.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "backends/drm/attribute.hpp"
#include "model/telemetry.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {
namespace {

// Offsets of the fields of a format; 0: no such field. `size`: up to the end of the last one.
struct layout {
  std::uint8_t format;
  std::uint8_t content;
  std::uint16_t size;
  std::uint8_t throttle;   // u64, independent of the card
  std::uint8_t regulator;  // u16 each, Celsius
  std::uint8_t regulators;
  std::uint8_t media;   // u16, percent
  std::uint8_t energy;  // u64, of 2^-16 J
};
// Unit of energy differs by card in formats 1.1 to 1.3, the unit of activity in 2.x.
constexpr layout layouts[] = {
    {1, 1, 96, 0, 10, 3, 20, 0},  {1, 2, 104, 0, 10, 3, 20, 0}, {1, 3, 120, 112, 10, 3, 20, 0},
    {1, 4, 32, 0, 8, 1, 0, 24},   {1, 5, 96, 0, 8, 1, 0, 88},   {2, 2, 128, 120, 0, 0, 0, 0},
    {2, 3, 128, 120, 0, 0, 0, 0}, {2, 4, 128, 120, 0, 0, 0, 0},
};

// Reads little endian; returns nothing if all bits are set.
template <class T>
std::optional<T> field_at(std::string_view bytes, std::size_t at) noexcept {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(std::uint64_t{value} << 8 | static_cast<unsigned char>(bytes[at + i]));
  }
  return static_cast<T>(~value) == 0 ? std::nullopt : std::optional(value);
}

void fill(std::string_view bytes, const layout& l, gpu_metrics& out) noexcept {
  if (l.throttle != 0) {
    if (const auto bits = field_at<std::uint64_t>(bytes, l.throttle))
      out.throttle = throttle_of(*bits);
  }
  for (unsigned i = 0; i < l.regulators; ++i) {
    const auto hot = field_at<std::uint16_t>(bytes, l.regulator + 2U * i);
    if (!hot || *hot == 0 || *hot > 250) continue;
    out.regulator_celsius = std::max<std::uint32_t>(out.regulator_celsius.value_or(0), *hot);
  }
  if (l.media != 0) {
    const auto busy = field_at<std::uint16_t>(bytes, l.media);
    if (busy && *busy <= 100) out.media_percent = *busy;
  }
  if (l.energy == 0) return;
  const auto energy = field_at<std::uint64_t>(bytes, l.energy);
  if (energy && *energy != 0) out.energy_joules = static_cast<double>(*energy) / 65536;
}

}  // namespace

std::uint32_t throttle_of(std::uint64_t status) noexcept {
  struct part {
    std::uint64_t bits;
    std::uint32_t is;
  };
  constexpr std::uint64_t prochot = std::uint64_t{3} << 46;
  constexpr std::uint64_t thermal = (std::uint64_t{0xffff} << 32) & ~prochot;
  constexpr std::uint64_t limits = 0x00ff00ff;  // power, and current
  constexpr part parts[] = {{limits, throttle::power},
                            {thermal, throttle::thermal},
                            {prochot, throttle::hardware},
                            {~(limits | thermal | prochot), throttle::other}};
  std::uint32_t out = 0;
  for (const part& p : parts) {
    if ((status & p.bits) != 0) out |= p.is;
  }
  return out;
}

std::optional<gpu_metrics> parse_gpu_metrics(std::string_view bytes) noexcept {
  if (bytes.size() < 4) return std::nullopt;
  const auto size = field_at<std::uint16_t>(bytes, 0);
  if (!size || *size > bytes.size()) return std::nullopt;
  gpu_metrics out;
  out.format = static_cast<std::uint8_t>(bytes[2]);
  out.content = static_cast<std::uint8_t>(bytes[3]);
  for (const layout& l : layouts) {
    if (l.format != out.format || l.content != out.content || *size < l.size) continue;
    fill(bytes, l, out);
    return out;
  }
  return std::nullopt;
}

std::optional<gpu_metrics> read_gpu_metrics(std::string_view device_folder) noexcept {
  std::array<char, 4096> bytes;
  const drm::path_text path{device_folder, "/gpu_metrics"};
  const auto got = platform::read_small(path.c_str(), bytes);
  return parse_gpu_metrics({bytes.data(), got ? got.value : 0});
}

}  // namespace hmn::amdgpu
