// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/sensors.hpp"

#include <algorithm>
#include <array>

namespace hmn::metal {
namespace {

constexpr double coldest = 0;
constexpr double hottest = 150;

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != name.npos;
}

}  // namespace

// M1 has "GPU MTR Temp Sensor1", "pACC MTR Temp Sensor2", "PMU tdie1", "gas gauge battery"; later
// chips "PMU TP1g", "PMU TP3s". Those of the CPU clusters (ACC) are not the GPU's.
place place_of(std::string_view spelled) {
  std::string name(spelled);
  std::transform(name.begin(), name.end(), name.begin(), upper);
  for (const std::string_view other : {"BATTERY", "NAND", "GAS", "PACC", "EACC"}) {
    if (has(name, other)) return place::elsewhere;
  }
  if (has(name, "GPU")) return place::gpu;
  const bool is_chip = has(name, "TG") || has(name, "TPU") || has(name, "TDIE") ||
                       name.ends_with('G') || (name.starts_with("PMU TP") && name.ends_with('S'));
  return is_chip ? place::chip : place::elsewhere;
}

std::optional<double> highest(std::span<const thermometer> all, place where) {
  std::optional<double> most;
  for (const thermometer& t : all) {
    const bool makes_sense = t.celsius > coldest && t.celsius < hottest;
    if (makes_sense && place_of(t.name) == where && !(most >= t.celsius)) most = t.celsius;
  }
  return most;
}

bool sensors::open(const frameworks& f) {
  close();
  if (!f.has_sensors) return false;
  f_ = &f;
  const owned page = make_number(f.core, apple_vendor_page);
  const owned usage = make_number(f.core, temperature_usage);
  const owned page_key = make_text(f.core, "PrimaryUsagePage");
  const owned usage_key = make_text(f.core, "PrimaryUsage");
  const std::array<cf, 2> keys{page_key.get(), usage_key.get()};
  const std::array<cf, 2> values{page.get(), usage.get()};
  const owned matching{f.core, f.core.make_dictionary(nullptr, keys.data(), values.data(), 2,
                                                      f.core.key_calls, f.core.value_calls)};
  client_ = {f.core, f.sensors.make_client(nullptr)};
  if (!client_) return false;
  f.sensors.set_matching(client_.get(), matching.get());
  services_ = {f.core, f.sensors.copy_services(client_.get())};
  return static_cast<bool>(services_);
}

std::vector<thermometer> sensors::read() const {
  std::vector<thermometer> all;
  if (!services_) return all;
  const owned product = make_text(f_->core, "Product");
  const cf_index count = count_of(f_->core, services_.get());
  for (cf_index i = 0; i < count; ++i) {
    const cf service = f_->core.at(services_.get(), i);
    if (service == nullptr) continue;
    const owned name{f_->core, f_->sensors.copy_property(service, product.get())};
    std::string text = text_of(f_->core, name.get());
    if (place_of(text) == place::elsewhere) continue;
    const owned event{f_->core, f_->sensors.copy_event(service, temperature_event, 0, 0)};
    if (!event) continue;
    all.push_back({std::move(text), f_->sensors.value_of(event.get(), temperature_field)});
  }
  return all;
}

void sensors::close() noexcept {
  services_ = {};
  client_ = {};
  f_ = nullptr;
}

}  // namespace hmn::metal
