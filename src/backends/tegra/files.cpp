// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include <cerrno>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/error_number.hpp"
#include "model/scan.hpp"

namespace hmn::tegra {
platform::errno_or<std::int64_t> read_number(std::string_view folder, std::string_view name) {
  auto number = sysfs::read_signed(folder, name);
  if (number.error == sysfs::no_number) number.error = EINVAL;
  return number;
}

bool has_text_from(std::string_view list, std::string_view beginning) noexcept {
  while (!list.empty()) {
    if (scan::take_until(list, '\0').starts_with(beginning)) return true;
  }
  return false;
}

bool may_pass(int error) noexcept {
  return error != 0 && error != ENOENT && error != EINVAL && !is_refused(error);
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
  const bool refused = is_refused(error);
  return fail(
      refused ? status::permission : status::backend,
      {folder, "/", name,
       refused ? ": the system refuses to let this user read it" : ": it gives no number now"},
      error);
}

}  // namespace hmn::tegra
