// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace drm_test {
namespace {

std::string node_path(const FakeNode& node) {
  return (node.name.starts_with("accel") ? "dev/accel/" : "dev/dri/") + node.name;
}

std::string node_class(const FakeNode& node) {
  return node.name.starts_with("accel") ? "accel" : "drm";
}

}  // namespace

PlainReading::PlainReading(std::uint64_t deadline_ms)
    : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms) {}

const hmn::Diagnostic* PlainReading::find(hmn::Status code) const {
  const auto it = std::find_if(diagnostics.begin(), diagnostics.end(),
                               [&](const auto& d) { return d.failure.code == code; });
  return it == diagnostics.end() ? nullptr : &*it;
}

const hmn::Diagnostic* PlainReading::find(std::string_view words) const {
  const auto it = std::find_if(diagnostics.begin(), diagnostics.end(),
                               [&](const auto& d) { return mentions(d.failure, words); });
  return it == diagnostics.end() ? nullptr : &*it;
}

Machine::Machine(bool wakes_devices, bool has_dev)
    : wakes_devices_(wakes_devices), has_dev_(has_dev), source_(settings()) {
  tree_.directory("sys/class/drm");
  tree_.directory("dev");
}

hmn::Settings Machine::settings() const {
  hmn::Settings settings;
  settings.proc_root = tree_.proc();
  settings.sys_root = tree_.sys();
  if (has_dev_) settings.dev_root = tree_.path("dev");
  settings.wake_devices = wakes_devices_;
  return settings;
}

void Machine::write_numbers(const std::string& folder, const FakeNode& node) const {
  const auto status = hmn::platform::read_status(node.device_file.c_str());
  tree_.write(folder + "/" + node.name + "/dev",
              std::to_string(status.value.special_device_major) + ":" +
                  std::to_string(status.value.special_device_minor) + "\n");
}

void Machine::add_node_file(const FakeNode& node) const {
  tree_.link(node_path(node), node.device_file);
}

void Machine::remove_node_file(const FakeNode& node) const {
  tree_.remove(node_path(node));
}

void Machine::add_pci(hmn_fake::PciDevice device, const std::vector<FakeNode>& nodes) const {
  const std::string path = hmn_fake::pci_folder(device.address);
  device.drm_nodes.clear();
  hmn_fake::add_pci_device(tree_, device);
  for (const FakeNode& node : nodes) {
    const std::string kind = node_class(node);
    write_numbers("sys/" + path + "/" + kind, node);
    tree_.link("sys/class/" + kind + "/" + node.name,
               "../../" + path + "/" + kind + "/" + node.name);
    tree_.link("sys/" + path + "/" + kind + "/" + node.name + "/device",
               "../../../" + device.address);
    add_node_file(node);
  }
}

void Machine::add_platform(const std::string& name, const std::string& driver,
                           const std::vector<FakeNode>& nodes) const {
  const std::string path = "devices/platform/" + name;
  tree_.directory("sys/bus/platform/drivers/" + driver);
  tree_.directory("sys/" + path);
  tree_.link("sys/" + path + "/driver", "../../../bus/platform/drivers/" + driver);
  tree_.link("sys/" + path + "/subsystem", "../../../bus/platform");
  for (const FakeNode& node : nodes) {
    const std::string kind = node_class(node);
    write_numbers("sys/" + path + "/" + kind, node);
    tree_.link("sys/class/" + kind + "/" + node.name,
               "../../" + path + "/" + kind + "/" + node.name);
    tree_.link("sys/" + path + "/" + kind + "/" + node.name + "/device", "../../../" + name);
    add_node_file(node);
  }
}

void Machine::add_process(std::uint32_t pid, const std::vector<Descriptor>& descriptors) const {
  hmn_fake::Process process = hmn_fake::simple_process(pid, "worker", 1000 + pid, 100);
  process.descriptors = {{0, "/dev/tty"}};
  for (const Descriptor& descriptor : descriptors) {
    process.descriptors[descriptor.number] = descriptor.target;
    if (!descriptor.text.empty()) process.fdinfo[descriptor.number] = descriptor.text;
  }
  tree_.remove("proc/" + std::to_string(pid));
  hmn_fake::add_process(tree_, process);
}

std::vector<hmn::Device> Machine::devices(PlainReading& reading) {
  std::vector<hmn::Device> devices;
  if (source_.prepare(reading)) static_cast<void>(source_.devices(devices, reading));
  return devices;
}

std::vector<hmn::Usage> Machine::rows(hmn::Slot number, PlainReading& reading) {
  std::vector<hmn::Usage> rows;
  if (source_.prepare(reading)) static_cast<void>(source_.processes(number, rows, reading));
  return rows;
}

hmn_fake::PciDevice radeon(const char* address) {
  hmn_fake::PciDevice card;
  card.address = address;
  card.vendor = 0x1002;
  card.device = 0x73bf;
  card.device_class = 0x030000;
  card.subsystem_vendor = 0x1da2;
  card.subsystem_device = 0x440e;
  card.driver = "radeon";
  card.power_control = "auto";
  card.runtime_status = "active";
  return card;
}

hmn_fake::PciDevice nouveau(const char* address) {
  hmn_fake::PciDevice card;
  card.address = address;
  card.vendor = 0x10de;
  card.device = 0x1b80;
  card.driver = "nouveau";
  card.runtime_status = "active";
  return card;
}

namespace {

hmn::Settings make_impatient_settings(const Machine& machine, bool may_wake) {
  hmn::Settings settings = machine.settings();
  settings.idle_close_ns = 0;
  settings.wake_devices = may_wake;
  return settings;
}

}  // namespace

ImpatientReader::ImpatientReader(const Machine& machine, bool may_wake)
    : source_(make_impatient_settings(machine, may_wake)) {}

void ImpatientReader::begin() {
  REQUIRE(source_.prepare(reading_));
  devices_.clear();
  REQUIRE(source_.devices(devices_, reading_));
  REQUIRE(devices_.size() == 1);
}

hmn::Result<void> ImpatientReader::read() {
  begin();
  hmn::Telemetry telemetry;
  hmn::Result<void> result = source_.telemetry(0, hmn::telemetry_field::all, telemetry, reading_);
  source_.finish(reading_);
  return result;
}

}  // namespace drm_test
