// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <hypomnesis.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../patience.hpp"
#include "../sized.hpp"
#include "fake_tree.hpp"

// Controls of the fake NVML (tests/fakes/nvml/fake_nvml.h), looked up in the loaded library.
class FakeNvml {
 public:
  explicit FakeNvml(const char* path = HMN_FAKE_NVML);
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  void load(const std::string& scenario) const;
  [[nodiscard]] unsigned long long calls(const char* symbol) const;
  [[nodiscard]] int initialized() const;
  [[nodiscard]] int hanging() const;
  [[nodiscard]] int inside() const;
  void release() const;
  void reset() const;
  // Releases hung calls until no worker of a destroyed context can call any more.
  void settle() const;

 private:
  void* library_;
};

struct Options {
  hmn_flags flags = 0;
  std::uint64_t deadline_ns = HMN_MILLISECONDS(patient_ms);
  std::uint64_t open_deadline_ns = HMN_MILLISECONDS(patient_ms);
  std::uint64_t stale_ns = 0;
  std::uint64_t max_age_ns = 0;
  std::uint64_t idle_close_ns = 0;
  std::uint64_t backends_off = 0;
};

// A context on a fake tree, with the fake NVML and nothing else of the real machine's GPUs.
class Machine {
 public:
  explicit Machine(const Options& options = {}, bool with_nvml = true);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  [[nodiscard]] hmn_context* context() const { return context_; }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }
  void destroy();

 private:
  hmn_fake::Tree tree_;
  hmn_context* context_ = nullptr;
};

// A snapshot, with accessors for the tests.
class Snapshot {
 public:
  explicit Snapshot(hmn_context* context, hmn_flags collect = 0, std::uint32_t deadline_ms = 0);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() { hmn_snapshot_destroy(snapshot_); }

  [[nodiscard]] hmn_snapshot_info info() const;
  [[nodiscard]] hmn_device device(std::uint32_t i) const;
  [[nodiscard]] std::vector<hmn_pool> pools() const;
  [[nodiscard]] std::vector<hmn_usage> usages() const;
  [[nodiscard]] std::vector<hmn_diagnostic> diagnostics() const;
  [[nodiscard]] const hmn_snapshot* handle() const { return snapshot_; }

 private:
  hmn_snapshot* snapshot_ = nullptr;
};

std::uint64_t now_ns();

// A scenario of one GPU; `rules` and `device` are further members of the scenario and of the GPU.
std::string one_gpu(const std::string& rules = {}, const std::string& device = {});
inline constexpr std::uint64_t one_gpu_used = 10'108'272'640;
