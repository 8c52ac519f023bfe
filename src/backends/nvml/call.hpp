// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One call of the driver, and the reading it belongs to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/library.hpp"
#include "backends/nvml/outputs.hpp"
#include "model/failure.hpp"
#include "platform/clock.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// Maps NVML's return codes to statuses; failures have a message with advice.

status status_of(code c) noexcept;

constexpr bool is_of_driver(code c) noexcept {
  return c < late;
}

// Whether there is no such function, in the library or in the driver.
constexpr bool has_no_function(code c) noexcept {
  return c == no_symbol || c == function_not_found;
}

// Whether no further query of the device makes sense in this reading.
bool ends_it(code c) noexcept;

// `what` names the call with the outcome `c`.
failure failure_for(code c, const char* what);

// Builds a failure without an NVML code.
inline constexpr failure_of fail{source::nvml};

inline constexpr std::uint64_t ns_per_us = 1000;

// Saturates.
constexpr std::uint64_t as_ns(std::uint64_t us) noexcept {
  return us <= UINT64_MAX / ns_per_us ? us * ns_per_us : UINT64_MAX;
}

// Reading and subject of a call: the context of its diagnostics.
struct topic {
  reading& r;
  std::uint32_t about = 0;  // a bit of `subject`
  std::optional<slot> device;
  std::optional<std::uint32_t> pid;
  bool is_opening = false;   // which has a deadline of its own
  code refused = success;    // what ended the reading of the device: no call is made any more
  bool is_instance = false;  // the device is a MIG instance

  // Whether diagnostics are read at all; otherwise none need be built.
  [[nodiscard]] bool wants() const noexcept { return r.wants_diagnostics(); }
  void diagnose(const failure& why, std::uint32_t field = 0, std::uint32_t notes = 0) const;
  // Reports what the library itself found.
  void report(status found, std::initializer_list<piece> message, std::uint32_t field = 0,
              reason stated = reason::unknown, std::uint32_t notes = 0) const;
  // Reports a missing value, since `what` returned `c`.
  void missing(code c, const char* what, std::uint32_t field) const;
  // Reports a value that a quick reading leaves out, since `what` takes milliseconds.
  void left_out(const named_symbol& what, std::uint32_t field) const;
  // Returns success if the function can be called.
  [[nodiscard]] code why_not(const named_symbol& f) const noexcept;
  // Records a call of a traced reading.
  void trace(const failure& outcome, std::uint64_t duration_ns) const;
  // Whether the function has no value of this device, only of its whole GPU.
  [[nodiscard]] bool is_of_whole(const named_symbol& f) const noexcept {
    return is_instance && f.answers_for == reach::gpu;
  }
  [[nodiscard]] topic of_device(slot number) const noexcept;
  [[nodiscard]] topic of_process(std::uint32_t number) const noexcept;
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

// Calls the driver, unless it is too late. Outputs of a call that fails are not defined.
template <class... P>
code call(const topic& about, const function<code(P...)>& f, std::type_identity_t<P>... passed) {
  if (const code c = about.why_not(f); c != success) return c;
  (mark(passed), ...);
  const std::uint64_t begin_ns = about.r.wants_trace() ? platform::monotonic_ns() : 0;
  const code c = f(passed...);
  if (begin_ns != 0) {
    const std::uint64_t duration_ns = platform::monotonic_ns() - begin_ns;
    failure outcome = failure_for(c, f.name());
    if (c == success) outcome.message = describe(f.name(), passed...);
    about.trace(outcome, duration_ns);
  }
  return c == success && !(is_written(passed) && ...) ? unusable : c;
}

}  // namespace hmn::nvml
