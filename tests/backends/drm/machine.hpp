// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A made-up machine with DRM devices. Making device nodes takes root, so that the numbers of
// /dev/null and alike replace those of major 226: sysfs lists which numbers are a card's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/drm/drm_source.hpp"
#include "fake_tree.hpp"

namespace drm_test {

inline constexpr std::uint64_t kib = 1 << 10;
inline constexpr std::uint64_t mib = 1 << 20;

class plain_reading final : public hmn::reading {
 public:
  explicit plain_reading(std::uint64_t deadline_ms = 20'000);
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return false; }
  void diagnose(const hmn::diagnostic& d) override { diagnostics.push_back(d); }
  void opening() noexcept override {}
  void opened() noexcept override {}

  [[nodiscard]] const hmn::diagnostic* find(hmn::status code) const;
  // The first that speaks of it.
  [[nodiscard]] const hmn::diagnostic* find(std::string_view words) const;

  std::vector<hmn::diagnostic> diagnostics;

 private:
  std::uint64_t deadline_;
};

// A node's name and the file that stands for it; its numbers are that file's.
struct fake_node {
  std::string name;
  std::string stands_for;
};
inline const fake_node card0{"card0", "/dev/zero"};
inline const fake_node render128{"renderD128", "/dev/null"};
inline const fake_node card1{"card1", "/dev/random"};
inline const fake_node render129{"renderD129", "/dev/full"};
inline const fake_node accel0{"accel0", "/dev/urandom"};

class machine {
 public:
  explicit machine(bool wake = false, bool with_dev = true);

  void add_pci(hmn_fake::pci_device d, const std::vector<fake_node>& nodes) const;
  // sys/devices/platform/<name>
  void add_platform(const std::string& name, const std::string& driver,
                    const std::vector<fake_node>& nodes) const;
  void add_node_file(const fake_node& n) const;
  void remove_node_file(const fake_node& n) const;
  // A process with descriptors, by number: the node, and its text.
  struct descriptor {
    int number;
    std::string target;
    std::string text;
  };
  void add_process(std::uint32_t pid, const std::vector<descriptor>& all) const;

  [[nodiscard]] hmn::settings settings() const;
  [[nodiscard]] hmn::drm::drm_source& source() { return source_; }
  [[nodiscard]] const hmn_fake::tree& tree() const { return tree_; }
  // prepare() and devices() of a new reading.
  std::vector<hmn::device> devices(plain_reading& r);
  // The rows of a new reading.
  std::vector<hmn::usage> rows(hmn::slot number, plain_reading& r);

 private:
  void write_numbers(const std::string& folder, const fake_node& n) const;

  hmn_fake::tree tree_;
  bool wake_;
  bool with_dev_;
  hmn::drm::drm_source source_;
};

hmn_fake::pci_device radeon(const char* address = "0000:03:00.0");
hmn_fake::pci_device nouveau(const char* address = "0000:01:00.0");

inline bool mentions(const hmn::failure& why, std::string_view words) {
  return why.message.view().find(words) != std::string::npos;
}

// Another source of a machine with one card, which looks for a rest at the end of its first
// reading.
class impatient {
 public:
  explicit impatient(const machine& m, bool may_wake = false);

  // prepare() and devices() of a new reading.
  void begin();
  // One reading of telemetry with its end.
  hmn::result<void> read();
  [[nodiscard]] hmn::drm::drm_source& source() { return source_; }
  [[nodiscard]] plain_reading& reading() { return reading_; }
  [[nodiscard]] hmn::state state() const { return found_[0].state; }

 private:
  hmn::drm::drm_source source_;
  plain_reading reading_;
  std::vector<hmn::device> found_;
};

}  // namespace drm_test
