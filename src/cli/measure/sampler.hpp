// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <memory>
#include <optional>

#include "cli/handles.hpp"

namespace hmn::cli {

class sampler {
 public:
  static expected<sampler> start(const context& in, std::uint32_t interval_ms,
                                 const hmn_snapshot_options& what);

  // The next snapshot; nothing once it is stopped, or when the time is over.
  std::optional<snapshot> next(std::uint32_t timeout_ms);
  hmn_sampler_info info() const;
  void stop() { hmn_sampler_stop(handle_.get(), nullptr); }

 private:
  struct destroy {
    void operator()(hmn_sampler* handle) const noexcept { hmn_sampler_destroy(handle); }
  };
  sampler(hmn_sampler* owned, bool is_simulated) : handle_(owned), is_simulated_(is_simulated) {}

  std::unique_ptr<hmn_sampler, destroy> handle_;
  bool is_simulated_;
};

}  // namespace hmn::cli
