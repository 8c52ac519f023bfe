// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A machine with a command named macmon, a shell script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/macmon/source.hpp"
#include "fake_tree.hpp"

namespace macmon_test {

class plain_reading final : public hmn::reading {
 public:
  explicit plain_reading(std::uint64_t deadline_ms = 60'000);
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return false; }
  void remark(hmn::diagnostic d) override { remarks.push_back(std::move(d)); }
  void opening() noexcept override {}
  void opened() noexcept override {}

  // The first remark that has these words.
  [[nodiscard]] const hmn::diagnostic* find(std::string_view words) const;

  std::vector<hmn::diagnostic> remarks;

 private:
  std::uint64_t deadline_;
};

class machine {
 public:
  machine() : source_(path(), false) {}

  // What each start prints.
  void print(std::string_view text) const;
  // Replaces the script's body.
  void script(const std::string& body) const;
  [[nodiscard]] hmn::macmon::macmon_source& source() { return source_; }
  [[nodiscard]] std::string path() const { return tree_.path("tool/macmon"); }
  // The arguments of each start.
  [[nodiscard]] std::vector<std::string> starts() const;

  // prepare() and devices() of a new reading.
  hmn::result<std::vector<hmn::device>> devices(plain_reading& r);

 private:
  hmn_fake::tree tree_;
  hmn::macmon::macmon_source source_;
};

}  // namespace macmon_test
