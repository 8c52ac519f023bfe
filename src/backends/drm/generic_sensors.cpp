// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/generic_sensors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/drm/attribute.hpp"
#include "backends/drm/fail.hpp"
#include "backends/drm/hwmon.hpp"
#include "backends/drm/pcie.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

using field = std::uint32_t;

// The files of one card, and what could not be read of them.
class sensors {
 public:
  sensors(visit& v, field wanted) : v_(v), wanted_(wanted), left_(wanted) {}

  [[nodiscard]] bool wants(field f) const noexcept { return (wanted_ & f) != 0; }

  // From the first of the files that gives a number.
  void take(std::string_view folder, std::initializer_list<std::string_view> files, field f,
            double unit, std::optional<double>& out) {
    if (!wants(f) || folder.empty()) return;
    for (const std::string_view file : files) {
      const auto value = read_signed(folder, file);
      if (value) return found(f, out, static_cast<double>(value.value) * unit);
      if (value.error != ENOENT) refuse(f, unreadable(source::drm, value.error, folder, file));
    }
  }
  template <class T>
  void found(field f, std::optional<T>& out, T value) {
    out = value;
    left_ &= ~f;
  }
  void refuse(field f, failure why) {
    f &= left_;
    if (f == 0) return;
    left_ &= ~f;
    refused_ |= f;
    if (refused_ == wanted_) last_ = why;
    v_.remark(std::move(why), subject::telemetry, f);
  }
  // The rest is not told at all.
  result<void> finish() {
    if (refused_ == wanted_) return std::move(last_);
    if (left_ == 0) return {};
    failure why{status::unsupported, source::drm, {}, {}};
    why.message = compose({"the driver ", v_.of().driver_name.view(), " does not tell it"});
    if ((left_ | refused_) == wanted_) return why;
    v_.remark(std::move(why), subject::telemetry, left_);
    return {};
  }

 private:
  visit& v_;
  field wanted_;
  field left_;
  field refused_ = 0;
  failure last_;
};

std::optional<std::uint32_t> whole(std::optional<double> value) noexcept {
  if (!value || *value < 0 || *value > 1e9) return std::nullopt;
  return static_cast<std::uint32_t>(*value + 0.5);
}

void read_hwmon(std::string_view folder, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  if (folder.empty()) return;
  s.take(folder, {"temp1_input"}, temperature, 1e-3, out.temperature_celsius);
  s.take(folder, {"power1_average", "power1_input"}, power, 1e-6, out.power_watts);
  s.take(folder, {"power1_cap", "power1_max"}, power_limit, 1e-6, out.power_limit_watts);
  s.take(folder, {"energy1_input"}, energy, 1e-6, out.energy_joules);
  std::optional<double> rpm, duty;
  s.take(folder, {"fan1_input"}, fan_rpm, 1, rpm);
  s.take(folder, {"pwm1"}, fan_percent, 100.0 / 255, duty);
  out.fan_rpm = whole(rpm);
  out.fan_percent = whole(duty);
}

// <device>/devfreq/<name>
std::string devfreq_of(std::string_view device_folder) {
  const std::string folder = compose({device_folder, "/devfreq"});
  std::string found;
  (void)platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    found = compose({folder, "/", name});
    return false;
  });
  return found;
}

void read_clock(std::string_view device_folder, sensors& s, hmn::telemetry& out) {
  std::optional<double> mhz;
  if (!s.wants(telemetry_field::core_clock)) return;
  s.take(devfreq_of(device_folder), {"cur_freq"}, telemetry_field::core_clock, 1e-6, mhz);
  out.core_clock_mhz = whole(mhz);
}

void read_link(const card& c, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  if (c.pci_bus_id.empty() || c.bus.view() != "pci") return;
  const auto generation =
      s.wants(pcie_generation) ? read_generation(c.folder.view()) : std::nullopt;
  const auto width = s.wants(pcie_width) ? read_width(c.folder.view()) : std::nullopt;
  if (generation) s.found(pcie_generation, out.pcie_generation, *generation);
  if (width) s.found(pcie_width, out.pcie_width, *width);
}

// panfrost and panthor count only when root asks for it.
bool is_profiling_off(std::string_view device_folder) {
  const auto profiling = read_number(device_folder, "profiling");
  return profiling && profiling.value == 0;
}

void read_load(visit& v, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  if (!s.wants(gpu_busy | window)) return;
  if (is_profiling_off(v.of().folder.view())) {
    return s.refuse(
        gpu_busy | window,
        fail(status::unsupported, compose({"engines are not counted: ", v.of().folder.view(),
                                           "/profiling is 0; root may switch it on"})));
  }
  const result<card_load> load = v.load();
  if (!load) return s.refuse(gpu_busy | window, load.why());
  double most = 0;
  for (const engine_load& e : load->engines) most = std::max(most, e.percent);
  if (load->is_partial) out.notes |= note::lower_bound;
  if (s.wants(gpu_busy)) s.found(gpu_busy, out.gpu_busy_percent, std::min(most, 100.0));
  if (s.wants(window)) s.found(window, out.window_ns, load->window_ns);
}

}  // namespace

result<void> read_sensors(visit& v, std::uint32_t fields, hmn::telemetry& out) {
  sensors s(v, fields);
  out.from = source::drm;
  out.sources = std::uint64_t{1} << static_cast<unsigned>(source::drm);
  read_hwmon(find_hwmon(v.of().folder.view(), {}), s, out);
  read_clock(v.of().folder.view(), s, out);
  read_link(v.of(), s, out);
  read_load(v, s, out);
  return s.finish();
}

}  // namespace hmn::drm
