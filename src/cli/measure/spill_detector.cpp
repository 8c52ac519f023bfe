// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/spill_detector.hpp"

namespace hmn::cli {

expected<spill_detector> spill_detector::of(const context& in, std::uint32_t device) {
  hmn_spill* made = nullptr;
  auto why = sized<hmn_error>();
  if (hmn_spill_create(in.native(), device, nullptr, &made, &why) != HMN_OK)
    return failed(why.message);
  return spill_detector(made);
}

void spill_detector::observe(const std::string& label) {
  hmn_spill_observe(handle_.get(), label.c_str(), nullptr);
}

void spill_detector::observe(hmn_snapshot* picture, const std::string& label) {
  hmn_spill_observe_snapshot(handle_.get(), picture, label.c_str(), nullptr);
}

hmn_spill_info spill_detector::info() const {
  auto out = sized<hmn_spill_info>();
  hmn_spill_read(handle_.get(), &out);
  return out;
}

std::vector<hmn_episode> spill_detector::episodes() const {
  std::vector<hmn_episode> all;
  const auto of = info();
  for (auto number = of.first_episode; number < of.episode_count; ++number) {
    auto one = sized<hmn_episode>();
    if (hmn_spill_episode(handle_.get(), number, &one) == HMN_OK) all.push_back(one);
  }
  return all;
}

}  // namespace hmn::cli
