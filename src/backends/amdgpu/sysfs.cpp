// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/sysfs.hpp"

#include <array>
#include <cerrno>

#include "backends/amdgpu/telemetry.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/scan.hpp"

namespace hmn::amdgpu {

std::optional<double> read_value(std::string_view folder, const value_file& f,
                                 function_ref<void(const failure&)> refuse) {
  std::array<char, 32> name;
  platform::errno_or<std::string_view> input;
  if (!f.kind.empty()) {
    input = input_of(folder, f.kind, f.label);
    if (!input) refuse(unread(input.error, folder, compose_in(name, {f.kind, "*_label"})));
    if (input.value.empty()) return std::nullopt;
  }
  const std::string_view file = compose_in(name, {input.value, f.file});
  const auto raw = sysfs::read_signed(folder, file);
  if (raw) return drm::in_unit(f.in, raw.value);
  if (raw.error != ENOENT) refuse(unread(raw.error, folder, file));
  return std::nullopt;
}

failure unread(int error, std::string_view folder, std::string_view file) {
  if (error != EPERM) return sysfs::unreadable(source::amdgpu, error, folder, file);
  return fail(status::asleep,
              {folder, "/", file, " is not readable now: the card was suspended or is in a reset"},
              error);
}

namespace {

// Parses "900Mhz".
std::optional<std::uint32_t> megahertz_of(std::string_view word) noexcept {
  if (!word.ends_with("Mhz") && !word.ends_with("MHz")) return std::nullopt;
  return scan::number<std::uint32_t>(word.substr(0, word.size() - 3));
}

}  // namespace

clock_levels parse_clock_levels(std::string_view text) noexcept {
  clock_levels out;
  text = text.substr(0, text.find('\0'));
  out.error = text.find_first_not_of(" \t\r\n") == text.npos ? ENOENT : sysfs::no_number;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view level = scan::trim(scan::take_until(line, ':'));
    const auto mhz = megahertz_of(scan::take_word(line));
    const std::string_view mark = scan::trim(line);
    if (level.empty() || !mhz || (!mark.empty() && mark != "*")) continue;
    out.error = 0;
    if (mark == "*") {
      out.is_ambiguous = out.is_ambiguous || out.current_mhz.value_or(*mhz) != *mhz;
      out.current_mhz = mhz;
    }
    // Levels of an engine that is fused off or not driven are all 0.
    if (out.highest_mhz.value_or(0) < *mhz) out.highest_mhz = mhz;
  }
  if (out.is_ambiguous || !out.highest_mhz) out.current_mhz.reset();
  return out;
}

clock_levels read_clock_levels(std::string_view folder, std::string_view file) noexcept {
  std::array<char, 4096> bytes;
  const auto text = sysfs::read_text(folder, file, bytes);
  clock_levels out = parse_clock_levels(text.value);
  if (!text) out.error = text.error;
  return out;
}

failure why_no_clock(const clock_levels& l, std::string_view folder, std::string_view file) {
  if (l.error != 0) return unread(l.error, folder, file);
  return with_reason(l.is_ambiguous ? reason::ambiguous : reason::unknown,
                     fail(status::unsupported,
                          {folder, "/", file, " marks ",
                           l.is_ambiguous ? "several levels" : "no level", " as the current one"}));
}

error_counts parse_error_counts(std::string_view text) noexcept {
  error_counts out;
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view key = scan::take_until(line, ':');
    const auto count = scan::decimal(scan::trim(line));
    if (key == "ce" && !out.corrected) out.corrected = count;
    if (key == "ue" && !out.uncorrected) out.uncorrected = count;
  }
  return out;
}

}  // namespace hmn::amdgpu
