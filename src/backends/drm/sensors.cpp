// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/sensors.hpp"

#include <cerrno>

#include "backends/drm/attribute.hpp"

namespace hmn::drm {

void sensors::take(std::string_view folder, std::initializer_list<std::string_view> files, field f,
                   const scale& as, std::optional<double>& out) {
  if (!wants(f) || folder.empty()) return;
  for (const std::string_view file : files) {
    const auto read = read_signed(folder, file);
    if (const auto value = as.of(read.value); read && value) return found(f, out, *value);
    refuse_file(f, read ? no_number : read.error, folder, file);
  }
}

void sensors::refuse_file(field f, int error, std::string_view folder, std::string_view file) {
  if (error != ENOENT) refuse(f, unreadable(from_, error, folder, file));
}

void sensors::refuse(field f, failure why) {
  f &= left_;
  if (f == 0) return;
  left_ &= ~f;
  refused_ |= f;
  if (refused_ == wanted_) last_ = why;
  v_.remark(std::move(why), subject::telemetry, f);
}

result<void> sensors::finish() {
  if (refused_ == wanted_) return std::move(last_);
  if (left_ == 0) return {};
  failure why{status::unsupported, from_, {}, {}};
  why.message = {"the driver ", v_.of().driver_name.view(), " does not tell it"};
  if (blamed_) why = std::move(*blamed_);
  if ((left_ | refused_) == wanted_) return why;
  v_.remark(std::move(why), subject::telemetry, left_);
  return {};
}

std::optional<std::uint32_t> whole(std::optional<double> value) noexcept {
  if (!value || *value < 0 || *value > 1e9) return std::nullopt;
  return static_cast<std::uint32_t>(*value + 0.5);
}

}  // namespace hmn::drm
