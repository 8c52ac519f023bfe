// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/pdh/query.hpp"
#include "backends/shared/wddm/counters.hpp"

namespace hmn {

std::unique_ptr<wddm::counters> make_pdh();

}  // namespace hmn

namespace hmn::pdh {

// The three counter objects of GPUs, each opened when a reading first needs it.
class pdh_counters final : public wddm::counters {
 public:
  pdh_counters() noexcept;
  explicit pdh_counters(const functions& fn) noexcept : pdh_counters() { fn_ = fn; }

  void begin() noexcept override;
  result<wddm::adapter_memory> memory(wddm::luid adapter) override;
  result<void> processes(wddm::luid adapter, std::vector<wddm::process_memory>& out) override;
  result<void> load(wddm::luid adapter, wddm::loads& out) override;
  void close() noexcept override;
  [[nodiscard]] source_state describe() const override;

 private:
  struct object {
    query of;
    bool is_fresh = false;  // collected in this reading
    std::optional<failure> why;
  };

  result<void> find();
  result<void> collect(object& of);
  result<void> collect_afresh(object& of);

  platform::library library_;
  functions fn_;
  object adapters_;
  object processes_;
  object engines_;
  std::uint64_t engines_ns_ = 0;  // time of their last collection
  std::uint64_t window_ns_ = 0;
  std::uint64_t engines_suspended_ns_ = 0;  // at that time: platform::suspended_ns()
  bool was_suspended_ = false;              // in that window
  std::vector<row> rows_;
  std::optional<failure> why_;
  bool has_served_ = false;
};

}  // namespace hmn::pdh
