// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/pdh/query.hpp"
#include "backends/shared/wddm/counters.hpp"

namespace hmn {

std::unique_ptr<wddm::Counters> make_pdh();

}  // namespace hmn

namespace hmn::pdh {

// The three counter objects of GPUs, each opened when a reading first needs it.
class PdhCounters final : public wddm::Counters {
 public:
  PdhCounters() noexcept;
  explicit PdhCounters(const Functions& fn) noexcept : PdhCounters() { fn_ = fn; }

  void begin() noexcept override;
  Result<wddm::AdapterMemory> memory(wddm::Luid adapter) override;
  Result<void> processes(wddm::Luid adapter, std::vector<wddm::ProcessMemory>& out) override;
  Result<void> load(wddm::Luid adapter, wddm::LoadReading& out) override;
  void close() noexcept override;
  [[nodiscard]] SourceState describe() const override;

 private:
  struct CounterObject {
    Query query;
    bool is_fresh = false;  // collected in this reading
    std::optional<Failure> failure;
  };

  Result<void> load_library();
  Result<void> collect(CounterObject& object);
  Result<void> collect_now(CounterObject& object);

  platform::Library library_;
  Functions fn_;
  CounterObject adapters_;
  CounterObject processes_;
  CounterObject engines_;
  std::uint64_t engines_time_ns_ = 0;  // time of their last collection
  std::uint64_t window_ns_ = 0;
  std::uint64_t engines_suspended_ns_ = 0;  // at that time: platform::suspended_ns()
  bool was_suspended_ = false;              // in that window
  std::vector<Row> rows_;
  std::optional<Failure> failure_;
  bool has_served_ = false;
};

}  // namespace hmn::pdh
