// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backends/nvidia_smi/source.hpp"
#include "fake_tree.hpp"

namespace smi_test {

using nlohmann::json;

inline constexpr std::uint64_t mib = 1 << 20;

class PlainReading final : public hmn::Reading {
 public:
  explicit PlainReading(std::uint64_t deadline_ms = 20'000, bool trace = false);
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return trace_; }
  void diagnose(const hmn::Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}

  // The diagnostics of one status.
  [[nodiscard]] int count(hmn::Status code) const;
  [[nodiscard]] const hmn::Diagnostic* find(hmn::Status code) const;

  std::vector<hmn::Diagnostic> diagnostics;

 private:
  std::uint64_t deadline_;
  bool trace_;
};

// The fake tool in a folder of its own, and a source that runs it.
class Machine {
 public:
  explicit Machine(const json& scenario, bool wake = false);

  void change(const json& scenario) const;
  [[nodiscard]] hmn::nvidia_smi::SmiSource& source() { return source_; }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }
  [[nodiscard]] std::string path() const { return tree_.path("tool/nvidia-smi"); }
  // One object for each start of the tool.
  [[nodiscard]] std::vector<json> starts() const;

  // prepare() and devices() of a new reading.
  hmn::Result<std::vector<hmn::Device>> devices(PlainReading& reading);

 private:
  hmn::Settings make_settings(bool wake) const;

  hmn_fake::Tree tree_;
  hmn::nvidia_smi::SmiSource source_;
};

// A GPU of the fake tool with plausible cells; `more` replaces or adds cells.
json gpu(int number, const json& more = json::object(), const std::vector<json>& apps = {});
json scenario(const std::vector<json>& gpus);
// The same, with the raw answer to the query for processes.
json make_app_scenario(const std::vector<json>& gpus, const std::string& answer);
json app(std::uint32_t pid, const json& used, const std::string& name);

inline bool mentions(const hmn::Failure& failure, std::string_view words) {
  return failure.message.view().find(words) != std::string::npos;
}

}  // namespace smi_test
