// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A made-up machine with DRM devices. Creating device nodes needs root, so the numbers of
// /dev/null and alike replace those of major 226: sysfs lists the numbers of a card.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/drm/drm_source.hpp"
#include "fake_tree.hpp"

namespace drm_test {

inline constexpr std::uint64_t kib = 1 << 10;
inline constexpr std::uint64_t mib = 1 << 20;

class PlainReading final : public hmn::Reading {
 public:
  explicit PlainReading(std::uint64_t deadline_ms = 20'000);
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return false; }
  void diagnose(const hmn::Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}

  [[nodiscard]] const hmn::Diagnostic* find(hmn::Status code) const;
  // Returns the first diagnostic that contains the words.
  [[nodiscard]] const hmn::Diagnostic* find(std::string_view words) const;

  std::vector<hmn::Diagnostic> diagnostics;

 private:
  std::uint64_t deadline_;
};

// A node's name and the device file whose numbers it has.
struct FakeNode {
  std::string name;
  std::string device_file;
};
inline const FakeNode card0{"card0", "/dev/zero"};
inline const FakeNode render128{"renderD128", "/dev/null"};
inline const FakeNode card1{"card1", "/dev/random"};
inline const FakeNode render129{"renderD129", "/dev/full"};
inline const FakeNode accel0{"accel0", "/dev/urandom"};

class Machine {
 public:
  explicit Machine(bool wakes_devices = false, bool has_dev = true);

  void add_pci(hmn_fake::PciDevice device, const std::vector<FakeNode>& nodes) const;
  // sys/devices/platform/<name>
  void add_platform(const std::string& name, const std::string& driver,
                    const std::vector<FakeNode>& nodes) const;
  void add_node_file(const FakeNode& node) const;
  void remove_node_file(const FakeNode& node) const;
  // A descriptor of a process: number, target and fdinfo text.
  struct Descriptor {
    int number;
    std::string target;
    std::string text;
  };
  void add_process(std::uint32_t pid, const std::vector<Descriptor>& descriptors) const;

  [[nodiscard]] hmn::Settings settings() const;
  [[nodiscard]] hmn::drm::DrmSource& source() { return source_; }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }
  // prepare() and devices() of a new reading.
  std::vector<hmn::Device> devices(PlainReading& reading);
  // The rows of a new reading.
  std::vector<hmn::Usage> rows(hmn::Slot number, PlainReading& reading);

 private:
  void write_numbers(const std::string& folder, const FakeNode& node) const;

  hmn_fake::Tree tree_;
  bool wakes_devices_;
  bool has_dev_;
  hmn::drm::DrmSource source_;
};

hmn_fake::PciDevice radeon(const char* address = "0000:03:00.0");
hmn_fake::PciDevice nouveau(const char* address = "0000:01:00.0");

inline bool mentions(const hmn::Failure& failure, std::string_view words) {
  return failure.message.view().find(words) != std::string::npos;
}

// Another source of a machine with one card that backs off at the end of its first
// reading.
class ImpatientReader {
 public:
  explicit ImpatientReader(const Machine& machine, bool may_wake = false);

  // prepare() and devices() of a new reading.
  void begin();
  // Makes one complete reading of telemetry.
  hmn::Result<void> read();
  [[nodiscard]] hmn::drm::DrmSource& source() { return source_; }
  [[nodiscard]] PlainReading& reading() { return reading_; }
  [[nodiscard]] hmn::State state() const { return devices_[0].state; }

 private:
  hmn::drm::DrmSource source_;
  PlainReading reading_;
  std::vector<hmn::Device> devices_;
};

}  // namespace drm_test
