// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cli/expected.hpp"

namespace hmn::cli {

// The result of a call of the library; nothing where it fails.
template <class Call>
auto attempt(Call call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const hypomnesis::error&) {
    return std::nullopt;
  }
}

struct session_settings {
  std::uint32_t timeout_ms = 0;
  bool trace = false;
  std::string machine;  // path of a machine file; empty: this machine
  bool record = false;
  std::uint32_t deadline_ms = 0;  // of one reading; 0: the timeout
};

constexpr auto everything = hypomnesis::part::memory | hypomnesis::part::system |
                            hypomnesis::part::devices | hypomnesis::part::pools |
                            hypomnesis::part::self | hypomnesis::part::processes |
                            hypomnesis::part::telemetry | hypomnesis::part::metrics;

// The library for one run of the command. What fails throws hypomnesis::error, but where the user
// named something that is wrong.
class session {
 public:
  static expected<session> open(const session_settings& asked);

  const hypomnesis::context& library() const { return library_; }
  // Within what is left of the timeout; library().take: of commands that go on longer.
  hypomnesis::snapshot take(hypomnesis::snapshot_options what) const;
  // The same after the devices have become known, so that one that then hangs takes only its
  // readings with it, not the list. Prints the driver calls of both, where they are traced.
  hypomnesis::snapshot collect(const hypomnesis::snapshot_options& what) const;
  // Nothing where this build has no such source.
  std::optional<hypomnesis::backend_info> backend(hypomnesis::backend_id which) const;
  bool has_ended(std::uint32_t pid) const;
  // Nothing unless a machine file takes the place of this machine.
  std::optional<hypomnesis::backend_info> simulation() const;
  // The same without a reading, which a machine file would count.
  bool is_simulated() const { return is_simulated_; }

 private:
  using clock = std::chrono::steady_clock;
  explicit session(const session_settings& asked);

  hypomnesis::context library_;
  clock::time_point ends_;
  bool is_traced_;
  bool is_simulated_;
};

}  // namespace hmn::cli
