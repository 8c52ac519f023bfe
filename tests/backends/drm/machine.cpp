// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace drm_test {
namespace {

std::string node_path(const FakeNode& n) {
  return (n.name.starts_with("accel") ? "dev/accel/" : "dev/dri/") + n.name;
}

std::string class_of(const FakeNode& n) {
  return n.name.starts_with("accel") ? "accel" : "drm";
}

}  // namespace

PlainReading::PlainReading(std::uint64_t deadline_ms)
    : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms) {}

const hmn::Diagnostic* PlainReading::find(hmn::Status code) const {
  const auto at = std::find_if(diagnostics.begin(), diagnostics.end(),
                               [&](const auto& d) { return d.why.code == code; });
  return at == diagnostics.end() ? nullptr : &*at;
}

const hmn::Diagnostic* PlainReading::find(std::string_view words) const {
  const auto at = std::find_if(diagnostics.begin(), diagnostics.end(),
                               [&](const auto& d) { return mentions(d.why, words); });
  return at == diagnostics.end() ? nullptr : &*at;
}

Machine::Machine(bool wake, bool with_dev) : wake_(wake), with_dev_(with_dev), source_(settings()) {
  tree_.directory("sys/class/drm");
  tree_.directory("dev");
}

hmn::Settings Machine::settings() const {
  hmn::Settings s;
  s.proc_root = tree_.proc();
  s.sys_root = tree_.sys();
  if (with_dev_) s.dev_root = tree_.path("dev");
  s.wake_devices = wake_;
  return s;
}

void Machine::write_numbers(const std::string& folder, const FakeNode& n) const {
  const auto found = hmn::platform::status_of(n.stands_for.c_str());
  tree_.write(folder + "/" + n.name + "/dev",
              std::to_string(found.value.special_device_major) + ":" +
                  std::to_string(found.value.special_device_minor) + "\n");
}

void Machine::add_node_file(const FakeNode& n) const {
  tree_.link(node_path(n), n.stands_for);
}

void Machine::remove_node_file(const FakeNode& n) const {
  tree_.remove(node_path(n));
}

void Machine::add_pci(hmn_fake::PciDevice d, const std::vector<FakeNode>& nodes) const {
  const std::string path = hmn_fake::pci_folder(d.address);
  d.drm_nodes.clear();
  hmn_fake::add_pci_device(tree_, d);
  for (const FakeNode& n : nodes) {
    const std::string kind = class_of(n);
    write_numbers("sys/" + path + "/" + kind, n);
    tree_.link("sys/class/" + kind + "/" + n.name, "../../" + path + "/" + kind + "/" + n.name);
    tree_.link("sys/" + path + "/" + kind + "/" + n.name + "/device", "../../../" + d.address);
    add_node_file(n);
  }
}

void Machine::add_platform(const std::string& name, const std::string& driver,
                           const std::vector<FakeNode>& nodes) const {
  const std::string path = "devices/platform/" + name;
  tree_.directory("sys/bus/platform/drivers/" + driver);
  tree_.directory("sys/" + path);
  tree_.link("sys/" + path + "/driver", "../../../bus/platform/drivers/" + driver);
  tree_.link("sys/" + path + "/subsystem", "../../../bus/platform");
  for (const FakeNode& n : nodes) {
    const std::string kind = class_of(n);
    write_numbers("sys/" + path + "/" + kind, n);
    tree_.link("sys/class/" + kind + "/" + n.name, "../../" + path + "/" + kind + "/" + n.name);
    tree_.link("sys/" + path + "/" + kind + "/" + n.name + "/device", "../../../" + name);
    add_node_file(n);
  }
}

void Machine::add_process(std::uint32_t pid, const std::vector<Descriptor>& all) const {
  hmn_fake::Process p = hmn_fake::simple_process(pid, "worker", 1000 + pid, 100);
  p.descriptors = {{0, "/dev/tty"}};
  for (const Descriptor& d : all) {
    p.descriptors[d.number] = d.target;
    if (!d.text.empty()) p.fdinfo[d.number] = d.text;
  }
  tree_.remove("proc/" + std::to_string(pid));
  hmn_fake::add_process(tree_, p);
}

std::vector<hmn::Device> Machine::devices(PlainReading& r) {
  std::vector<hmn::Device> found;
  if (source_.prepare(r)) static_cast<void>(source_.devices(found, r));
  return found;
}

std::vector<hmn::Usage> Machine::rows(hmn::Slot number, PlainReading& r) {
  std::vector<hmn::Usage> found;
  if (source_.prepare(r)) static_cast<void>(source_.processes(number, found, r));
  return found;
}

hmn_fake::PciDevice radeon(const char* address) {
  hmn_fake::PciDevice d;
  d.address = address;
  d.vendor = 0x1002;
  d.device = 0x73bf;
  d.device_class = 0x030000;
  d.subsystem_vendor = 0x1da2;
  d.subsystem_device = 0x440e;
  d.driver = "radeon";
  d.power_control = "auto";
  d.runtime_status = "active";
  return d;
}

hmn_fake::PciDevice nouveau(const char* address) {
  hmn_fake::PciDevice d;
  d.address = address;
  d.vendor = 0x10de;
  d.device = 0x1b80;
  d.driver = "nouveau";
  d.runtime_status = "active";
  return d;
}

namespace {

hmn::Settings without_patience(const Machine& m, bool may_wake) {
  hmn::Settings s = m.settings();
  s.idle_close_ns = 0;
  s.wake_devices = may_wake;
  return s;
}

}  // namespace

Impatient::Impatient(const Machine& m, bool may_wake) : source_(without_patience(m, may_wake)) {}

void Impatient::begin() {
  REQUIRE(source_.prepare(reading_));
  found_.clear();
  REQUIRE(source_.devices(found_, reading_));
  REQUIRE(found_.size() == 1);
}

hmn::Result<void> Impatient::read() {
  begin();
  hmn::Telemetry t;
  hmn::Result<void> done = source_.telemetry(0, hmn::telemetry_field::all, t, reading_);
  source_.finish(reading_);
  return done;
}

}  // namespace drm_test
