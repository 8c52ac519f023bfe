// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include <array>
#include <cerrno>

#include "model/compose.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::tegra {
namespace {

platform::errno_or<std::string> read(std::string_view folder, std::string_view name) {
  std::array<char, 512> buffer;
  const auto got = platform::read_small(compose({folder, "/", name}).c_str(), buffer);
  return {std::string(buffer.data(), got ? got.value : 0), got.error};
}

}  // namespace

platform::errno_or<std::string> read_line(std::string_view folder, std::string_view name) {
  auto text = read(folder, name);
  const std::string_view whole = text.value;
  const std::size_t end = whole.find_first_of(std::string_view("\r\n\0", 3));
  text.value = std::string(scan::trim(whole.substr(0, end)));
  return text;
}

platform::errno_or<std::int64_t> read_number(std::string_view folder, std::string_view name) {
  const auto line = read_line(folder, name);
  if (!line) return {0, line.error};
  const auto number = scan::number<std::int64_t>(line.value);
  return {number.value_or(0), number ? 0 : EINVAL};
}

std::string link_name(std::string_view folder, std::string_view name) {
  std::array<char, 512> target;
  const auto got = platform::read_link(compose({folder, "/", name}).c_str(), target);
  const std::string_view whole(target.data(), got ? got.value : 0);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

bool has_text_from(std::string_view list, std::string_view beginning) noexcept {
  while (!list.empty()) {
    if (scan::take_until(list, '\0').starts_with(beginning)) return true;
  }
  return false;
}

std::string read_property(std::string_view folder, std::string_view name) {
  return read(folder, name).value;
}

bool may_pass(int error) noexcept {
  return error != 0 && error != ENOENT && error != EACCES && error != EPERM && error != EINVAL;
}

void diagnose(reading& r, const failure& why, std::uint32_t about, std::uint32_t field) {
  if (!r.wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = about;
  d.field = field;
  d.device = 0;
  r.diagnose(d);
}

failure unreadable(int error, std::string_view folder, std::string_view name) {
  const bool refused = error == EACCES || error == EPERM;
  return fail(
      refused ? status::permission : status::backend,
      {folder, "/", name,
       refused ? ": the system refuses to let this user read it" : ": it gives no number now"},
      error);
}

}  // namespace hmn::tegra
