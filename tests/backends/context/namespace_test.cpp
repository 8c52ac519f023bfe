// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Zero is a claim: the caller "uses 0 bytes" only where the driver's list can be trusted to hold
// it.
#include <doctest/doctest.h>
#include <unistd.h>

#include "machine.hpp"

namespace {

constexpr const char* host_pids_only =
    R"({"devices": [{"name": "GPU", "uuid": "GPU-a", "pci": {"address": "0000:01:00.0"},
    "memory": {"total": "1000 MiB", "free": "600 MiB", "used": "400 MiB"},
    "processes": {"compute": [{"pid": 3999999, "used": 300}], "graphics": [], "mps": []}}]})";

// A proc tree in which this process is seen, in a PID namespace and with descriptors of its own.
void set_self(const Machine& machine, const char* pid_namespace, const char* descriptor) {
  auto self = hmn_fake::simple_process(static_cast<std::uint32_t>(getpid()), "caller", 1000, 100);
  self.descriptors = {{0, "/dev/null"}};
  if (descriptor != nullptr) self.descriptors[7] = descriptor;
  hmn_fake::add_process(machine.tree(), self);
  hmn_fake::set_self(machine.tree(), static_cast<std::uint32_t>(getpid()));
  const std::string link = "proc/" + std::to_string(getpid()) + "/ns/pid";
  machine.tree().link(link, pid_namespace);
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_PROC, machine.tree().proc().c_str(),
                               nullptr) == HMN_OK);
}

}  // namespace

TEST_CASE("a caller that the driver does not list") {
  const FakeNvml nvml;
  nvml.load(host_pids_only);
  const Machine machine;
  auto own = sized<hmn_usage>();
  auto error = sized<hmn_error>();
  SUBCASE("uses 0 bytes in the initial PID namespace") {
    set_self(machine, "pid:[4026531836]", "/dev/nvidia-uvm");
    REQUIRE(hmn_usage_read_self(machine.context(), 0, 0, &own, &error) == HMN_OK);
    CHECK((own.present & HMN_USAGE_HAS_USED) != 0);
    CHECK(own.used_bytes == 0);
  }
  SUBCASE("uses 0 bytes in another namespace if it holds no GPU descriptor") {
    set_self(machine, "pid:[4026532999]", nullptr);
    REQUIRE(hmn_usage_read_self(machine.context(), 0, 0, &own, &error) == HMN_OK);
    CHECK((own.present & HMN_USAGE_HAS_USED) != 0);
    CHECK(own.used_bytes == 0);
  }
  SUBCASE("has unknown use in another namespace if it holds a GPU descriptor") {
    set_self(machine, "pid:[4026532999]", "/dev/nvidia-uvm");
    CHECK(hmn_usage_read_self(machine.context(), 0, 0, &own, &error) == HMN_E_NO_SOURCE);
    CHECK((own.present & HMN_USAGE_HAS_USED) == 0);
    CHECK(std::string(error.message).find("PID namespace") != std::string::npos);
    const Snapshot snapshot(machine.context());
    CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
    auto self = sized<hmn_usage>();
    CHECK(hmn_snapshot_find_self(snapshot.handle(), 0, &self, nullptr) == HMN_E_EMPTY);
  }
}

TEST_CASE("a listed caller reads its own use, and the graphics list is not read") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  auto own = sized<hmn_usage>();
  REQUIRE(hmn_usage_read_self(machine.context(), 0, 0, &own, nullptr) == HMN_OK);
  CHECK(own.used_bytes == 536870912);
  CHECK(own.pid == static_cast<std::uint32_t>(getpid()));
  CHECK(nvml.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
}
