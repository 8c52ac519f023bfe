// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One call of the driver, and the reading it belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/backend.hpp"
#include "backends/nvml/abi.hpp"
#include "backends/nvml/library.hpp"
#include "model/failure.hpp"
#include "platform/clock.hpp"

namespace hmn::nvml {

// Maps NVML's return codes to statuses; failures have a message with advice.

status status_of(code c) noexcept;

// `what` names the call that returned `c`.
failure failure_for(code c, std::string_view what);

// Builds a failure without an NVML code.
inline constexpr failure_of fail{source::nvml};

// Reading and subject of a call: the context of its diagnostics.
struct topic {
  reading& r;
  std::uint32_t about = 0;  // a bit of `subject`
  std::optional<slot> device;
  std::optional<std::uint32_t> pid;
  bool is_opening = false;  // which has a deadline of its own

  // Whether diagnostics are read at all; otherwise none need be built.
  [[nodiscard]] bool wants() const noexcept { return r.wants_diagnostics(); }
  void diagnose(failure why, std::uint32_t field = 0, std::uint32_t notes = 0) const;
  // Reports a missing value, since `what` returned `c`.
  void missing(code c, const char* what, std::uint32_t field) const;
  void trace(const char* symbol, code c, std::uint64_t begin_ns) const;
  [[nodiscard]] bool is_late() const noexcept {
    return !is_opening && platform::monotonic_ns() > r.deadline_ns();
  }
};

// Excludes the time in it from the reading: opening a vendor library has a deadline of its own.
class opening_scope {
 public:
  explicit opening_scope(reading& r) noexcept : r_(r) { r_.opening(); }
  opening_scope(const opening_scope&) = delete;
  opening_scope& operator=(const opening_scope&) = delete;
  ~opening_scope() { r_.opened(); }

 private:
  reading& r_;
};

template <class... P, class... A>
code call(const topic& about, const function<code(P...)>& f, A... arguments) {
  if (!f) return function_not_found;
  if (about.is_late()) return late;
  const std::uint64_t begin = about.r.wants_trace() ? platform::monotonic_ns() : 0;
  const code c = f(arguments...);
  if (begin != 0) about.trace(f.name(), c, begin);
  return c;
}

}  // namespace hmn::nvml
