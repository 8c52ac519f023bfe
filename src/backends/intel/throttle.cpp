// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/intel/throttle.hpp"

#include <cerrno>

#include "backends/drm/attribute.hpp"
#include "model/compose.hpp"
#include "model/short_text.hpp"
#include "platform/file.hpp"

namespace hmn::intel {
namespace {

struct named_reason {
  short_text<12> part;
  std::uint32_t bit;
};
// A name has the first of these in it. ratl: running average thermal limit. vr: the voltage
// regulator, too hot or at its current. fastvmode: the same, briefly. prochot: from outside.
constexpr named_reason reasons[] = {
    {"prochot", throttle::hardware}, {"therm", throttle::thermal}, {"ratl", throttle::thermal},
    {"pl1", throttle::power},        {"pl2", throttle::power},     {"pl4", throttle::power},
    {"tdc", throttle::power},        {"iccmax", throttle::power},  {"psys", throttle::power},
    {"fastvmode", throttle::power},
};

}  // namespace

std::uint32_t throttle_bit(std::string_view reason) noexcept {
  for (const named_reason& r : reasons) {
    if (reason.find(r.part) != std::string_view::npos) return r.bit;
  }
  return throttle::other;
}

platform::errno_or<std::uint32_t> read_throttle(const gt& g) {
  const gt_files& f = *g.files;
  if (f.throttle_prefix.empty()) return {0, ENOENT};
  const std::string folder = compose({g.folder, f.throttle});
  // Most of the time nothing does, and one file says so.
  const auto status = drm::read_number(folder, f.throttle_status);
  if (!status || status.value == 0) return {0, status.error};
  std::uint32_t bits = 0;
  int error = 0;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(f.throttle_prefix) || name == f.throttle_status) return true;
    const auto holds = drm::read_number(folder, name);
    // "reasons" of newer kernels is a list of words.
    if (!holds && holds.error != drm::no_number && holds.error != ENOENT) error = holds.error;
    if (holds && holds.value != 0) bits |= throttle_bit(name.substr(f.throttle_prefix.size()));
    return true;
  });
  if (listed != 0 || error != 0) return {0, listed != 0 ? listed : error};
  return {bits != 0 ? bits : throttle::other, 0};
}

}  // namespace hmn::intel
