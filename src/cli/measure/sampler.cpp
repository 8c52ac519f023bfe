// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/sampler.hpp"

namespace hmn::cli {

expected<sampler> sampler::start(const context& in, std::uint32_t interval_ms,
                                 const hmn_snapshot_options& what) {
  auto options = sized<hmn_sampler_options>();
  options.interval_ms = interval_ms;
  auto why = sized<hmn_error>();
  hmn_sampler* handle = nullptr;
  if (hmn_sampler_create(in.native(), &options, &what, &handle, &why) != HMN_OK)
    return failed(why.message);
  sampler made(handle, in.is_simulated());
  if (hmn_sampler_start(handle, &why) != HMN_OK) return failed(why.message);
  return made;
}

std::optional<snapshot> sampler::next(std::uint32_t timeout_ms) {
  hmn_snapshot* pulled = nullptr;
  if (hmn_sampler_next(handle_.get(), timeout_ms, &pulled, nullptr) != HMN_OK) return std::nullopt;
  return snapshot(pulled, is_simulated_);
}

hmn_sampler_info sampler::info() const {
  auto out = sized<hmn_sampler_info>();
  hmn_sampler_read(handle_.get(), &out);
  return out;
}

}  // namespace hmn::cli
