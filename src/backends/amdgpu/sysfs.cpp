// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/sysfs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <type_traits>

#include "backends/amdgpu/telemetry.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/scan.hpp"
#include "model/telemetry.hpp"

namespace hmn::amdgpu {

std::optional<double> read_value(std::string_view folder, const ValueFile& value_file,
                                 FunctionRef<void(const Failure&)> refuse) {
  std::array<char, 32> name;
  platform::ErrnoOr<std::string_view> input;
  if (!value_file.kind.empty()) {
    input = find_labelled_input(folder, value_file.kind, value_file.label);
    if (!input)
      refuse(make_unread_failure(input.error, folder,
                                 compose_into(name, {value_file.kind, "*_label"})));
    if (input.value.empty()) return std::nullopt;
  }
  const std::string_view file = compose_into(name, {input.value, value_file.file});
  const auto raw = sysfs::read_signed(folder, file);
  if (raw) return drm::scale_value(value_file.unit, raw.value);
  if (raw.error != ENOENT) refuse(make_unread_failure(raw.error, folder, file));
  return std::nullopt;
}

Failure make_unread_failure(int error, std::string_view folder, std::string_view file) {
  if (error != EPERM) return sysfs::make_file_failure(Source::amdgpu, error, folder, file);
  return fail(Status::asleep,
              {folder, "/", file, " is not readable now: the card was suspended or is in a reset"},
              error);
}

namespace {

std::optional<std::uint32_t> parse_megahertz(std::string_view word) noexcept {
  if (!word.ends_with("Mhz") && !word.ends_with("MHz")) return std::nullopt;
  return scan::parse_number<std::uint32_t>(word.substr(0, word.size() - 3));
}

// Offsets of a format's fields; 0: no such field. `size`: the end of the last one.
struct Layout {
  std::uint8_t format;
  std::uint8_t content;
  std::uint16_t size;
  std::uint8_t throttle;   // u64, independent of the card
  std::uint8_t regulator;  // u16 each, Celsius
  std::uint8_t regulators;
  std::uint8_t media;       // u16
  std::uint8_t media_unit;  // parts of a percent; 0: percent or hundredths, by firmware
  std::uint8_t energy;      // u64, of 2^-16 J
};
// The unit of energy differs by card in formats 1.1 to 1.3. Formats from 1.6 and 3.0 accumulate the
// time of throttling, and do not show whether the card throttles now. 1.9 has no fixed layout.
constexpr Layout layouts[] = {
    {1, 1, 96, 0, 10, 3, 20, 1, 0},    {1, 2, 104, 0, 10, 3, 20, 1, 0},
    {1, 3, 120, 112, 10, 3, 20, 1, 0}, {1, 4, 32, 0, 8, 1, 0, 0, 24},
    {1, 5, 96, 0, 8, 1, 0, 0, 88},     {1, 6, 24, 0, 8, 1, 0, 0, 16},
    {1, 7, 32, 0, 8, 1, 0, 0, 24},     {1, 8, 32, 0, 8, 1, 0, 0, 24},
    {2, 1, 120, 0, 0, 0, 30, 0, 0},    {2, 2, 128, 120, 0, 0, 30, 0, 0},
    {2, 3, 128, 120, 0, 0, 30, 0, 0},  {2, 4, 128, 120, 0, 0, 30, 100, 0},
    {3, 0, 46, 0, 0, 0, 44, 0, 0},
};

// Little endian; nothing if all bits are set.
template <class T>
std::optional<T> read_field(std::string_view bytes, std::size_t offset) noexcept {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value =
        static_cast<T>(std::uint64_t{value} << 8 | static_cast<unsigned char>(bytes[offset + i]));
  }
  return static_cast<T>(~value) == 0 ? std::nullopt : std::optional(value);
}

void fill(std::string_view bytes, const Layout& layout, GpuMetrics& out) noexcept {
  if (layout.throttle != 0) out.throttle = read_field<std::uint64_t>(bytes, layout.throttle);
  for (unsigned i = 0; i < layout.regulators; ++i) {
    const auto hot = read_field<std::uint16_t>(bytes, layout.regulator + 2U * i);
    if (!hot || *hot == 0) continue;  // no sensor
    out.regulator_celsius = std::max<std::uint32_t>(out.regulator_celsius.value_or(0), *hot);
  }
  if (layout.media != 0) {
    const auto busy = read_field<std::uint16_t>(bytes, layout.media);
    out.is_media_ambiguous = busy && layout.media_unit == 0 && *busy != 0;
    const double unit = std::max<unsigned>(layout.media_unit, 1);
    if (busy && !out.is_media_ambiguous) out.media_percent = *busy / unit;
  }
  if (layout.energy == 0) return;
  const auto energy = read_field<std::uint64_t>(bytes, layout.energy);
  if (energy && *energy != 0) out.energy_joules = static_cast<double>(*energy) / 65536;
}

}  // namespace

ClockLevels parse_clock_levels(std::string_view text) noexcept {
  ClockLevels out;
  text = text.substr(0, text.find('\0'));
  out.error = text.find_first_not_of(" \t\r\n") == text.npos ? ENOENT : sysfs::no_number;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view level = scan::trim(scan::take_until(line, ':'));
    const auto mhz = parse_megahertz(scan::take_word(line));
    const std::string_view mark = scan::trim(line);
    if (level.empty() || !mhz || (!mark.empty() && mark != "*")) continue;
    out.error = 0;
    if (mark == "*") {
      out.is_ambiguous = out.is_ambiguous || out.current_mhz.value_or(*mhz) != *mhz;
      out.current_mhz = mhz;
    }
    // Levels of an engine that is fused off or not driven are all 0.
    if (out.max_mhz.value_or(0) < *mhz) out.max_mhz = mhz;
  }
  if (out.is_ambiguous || !out.max_mhz) out.current_mhz.reset();
  return out;
}

ClockLevels read_clock_levels(std::string_view folder, std::string_view file) noexcept {
  std::array<char, 4096> bytes;
  const auto text = sysfs::read_text(folder, file, bytes);
  ClockLevels out = parse_clock_levels(text.value);
  if (!text) out.error = text.error;
  return out;
}

Failure make_no_clock_failure(const ClockLevels& levels, std::string_view folder,
                              std::string_view file) {
  if (levels.error != 0) return make_unread_failure(levels.error, folder, file);
  return with_reason(levels.is_ambiguous ? Reason::ambiguous : Reason::unknown,
                     fail(Status::unsupported, {folder, "/", file, " marks ",
                                                levels.is_ambiguous ? "several levels" : "no level",
                                                " as the current one"}));
}

ErrorCounts parse_error_counts(std::string_view text) noexcept {
  ErrorCounts out;
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view key = scan::take_until(line, ':');
    const auto count = scan::parse_decimal(scan::trim(line));
    if (key == "ce" && !out.corrected) out.corrected = count;
    if (key == "ue" && !out.uncorrected) out.uncorrected = count;
  }
  return out;
}

std::uint32_t convert_throttle(std::uint64_t status) noexcept {
  struct Part {
    std::uint64_t bits;
    std::uint32_t reason;
  };
  constexpr std::uint64_t prochot = std::uint64_t{3} << 46;
  constexpr std::uint64_t thermal = (std::uint64_t{0xffff} << 32) & ~prochot;
  constexpr std::uint64_t limits = 0x00ff00ff;  // power, and current
  constexpr Part parts[] = {{limits, throttle::power},
                            {thermal, throttle::thermal},
                            {prochot, throttle::hardware},
                            {~(limits | thermal | prochot), throttle::other}};
  std::uint32_t out = 0;
  for (const Part& part : parts) {
    if ((status & part.bits) != 0) out |= part.reason;
  }
  return out;
}

std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes) noexcept {
  if (bytes.size() < 4) return std::nullopt;
  const auto size = read_field<std::uint16_t>(bytes, 0);
  if (!size || *size > bytes.size()) return std::nullopt;
  GpuMetrics out;
  out.format = static_cast<std::uint8_t>(bytes[2]);
  out.content = static_cast<std::uint8_t>(bytes[3]);
  for (const Layout& layout : layouts) {
    if (layout.format != out.format || layout.content != out.content || *size < layout.size)
      continue;
    fill(bytes, layout, out);
    return out;
  }
  return std::nullopt;
}

platform::ErrnoOr<GpuMetrics> read_gpu_metrics(std::string_view device_folder) noexcept {
  std::array<char, 4096> bytes;
  const auto text = sysfs::read_text(device_folder, "gpu_metrics", bytes);
  if (!text) return {{}, text.error};
  const auto metrics = parse_gpu_metrics(text.value);
  return {metrics.value_or(GpuMetrics{}), metrics ? 0 : sysfs::no_number};
}

Failure make_unread_metrics_failure(int error, std::string_view device_folder) {
  if (error != sysfs::no_number) return make_unread_failure(error, device_folder, "gpu_metrics");
  return with_reason(
      Reason::not_understood,
      fail(Status::unsupported,
           {device_folder, "/gpu_metrics is cut, or in a format that is not known"}));
}

}  // namespace hmn::amdgpu
