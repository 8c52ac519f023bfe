// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A machine with one AMD card on its bus and one of the two commands, a shell script.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fake_tree.hpp"
#include "source/registry.hpp"

namespace amd_test {

class PlainReading final : public hmn::Reading {
 public:
  explicit PlainReading(std::uint64_t deadline_ms = 60'000, bool trace = false);
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return trace_; }
  void diagnose(const hmn::Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}

  // Returns the first diagnostic that contains the words.
  [[nodiscard]] const hmn::Diagnostic* find(std::string_view words) const;

  std::vector<hmn::Diagnostic> diagnostics;

 private:
  std::uint64_t deadline_;
  bool trace_;
};

inline constexpr const char* card_address = "0000:0b:00.0";

class Machine {
 public:
  // `name`: rocm-smi or amd-smi; the script prints the text set by print().
  explicit Machine(const std::string& name, bool wake = false, bool has_card = true);

  // What a question is answered with: "" for rocm-smi, else static, metric, process.
  void print(const std::string& question, std::string_view text) const;
  // Replaces the script's body.
  void script(const std::string& body) const;
  [[nodiscard]] hmn::DeviceSource& source() { return *source_; }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }
  [[nodiscard]] std::string path() const { return tree_.path("tool/" + name_); }
  // The arguments of each start.
  [[nodiscard]] std::vector<std::string> starts() const;

  // prepare() and devices() of a new reading.
  hmn::Result<std::vector<hmn::Device>> devices(PlainReading& reading);

 private:
  hmn_fake::Tree tree_;
  std::string name_;
  std::unique_ptr<hmn::DeviceSource> source_;
};

// One card of rocm-smi, with `members` as they follow its identity.
std::string rocm_card(const std::string& members);

}  // namespace amd_test
