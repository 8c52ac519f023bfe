// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A reading that keeps the diagnostics of a source.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/clock.hpp"
#include "source/interface.hpp"

namespace hmn_fake {

class PlainReading final : public hmn::Reading {
 public:
  explicit PlainReading(std::uint64_t deadline_ms = 60'000)
      : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms) {}
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return false; }
  void diagnose(const hmn::Diagnostic& d) override { diagnostics.push_back(d); }
  void opening() noexcept override { ++openings; }
  void opened() noexcept override { --openings; }

  // The first diagnostic that has these words.
  [[nodiscard]] const hmn::Diagnostic* find(std::string_view words) const {
    for (const hmn::Diagnostic& d : diagnostics) {
      if (d.why.message.view().find(words) != std::string_view::npos) return &d;
    }
    return nullptr;
  }

  std::vector<hmn::Diagnostic> diagnostics;
  int openings = 0;  // that have not ended

 private:
  std::uint64_t deadline_;
};

}  // namespace hmn_fake
