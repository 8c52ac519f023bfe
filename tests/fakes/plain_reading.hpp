// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A reading that collects the diagnostics of a source.
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
  void diagnose(const hmn::Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override { ++openings; }
  void end_opening() noexcept override { --openings; }

  // The first diagnostic that has these words.
  [[nodiscard]] const hmn::Diagnostic* find(std::string_view words) const {
    for (const hmn::Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.failure.message.view().find(words) != std::string_view::npos)
        return &diagnostic;
    }
    return nullptr;
  }

  std::vector<hmn::Diagnostic> diagnostics;
  int openings = 0;  // openings in progress

 private:
  std::uint64_t deadline_;
};

}  // namespace hmn_fake
