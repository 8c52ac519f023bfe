// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "simulation.hpp"

TEST_CASE("the smallest machine file works") {
  Simulation simulation(
      R"({"devices":[{"name":"GPU","pools":[{"kind":"vram","total":"16GiB","used":"3GiB"}]}]})");
  REQUIRE(simulation.read_pool() == HMN_OK);
  CHECK(simulation.pool.total_bytes == 16 * gib);
  CHECK(simulation.pool.used_bytes == 3 * gib);
  CHECK(simulation.pool.free_bytes == 13 * gib);
  CHECK(simulation.pool.backend == HMN_BACKEND_SIMULATED);
  std::uint32_t count = 0;
  CHECK(hmn_device_scan(simulation.context(), &count, nullptr, nullptr) == HMN_OK);
  CHECK(count == 1);
}

TEST_CASE("an empty machine has no devices") {
  Simulation simulation("{}");
  const SnapshotCopy snapshot(simulation);
  CHECK(snapshot.info.device_count == 0);
  CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("a malformed file fails every reading with the same message") {
  Simulation simulation(R"({"devices":[{"pools":[{"kind":"vrm"}]}]})");
  auto memory = sized<hmn_process_memory>();
  simulation.error = sized<hmn_error>();
  CHECK(hmn_process_memory_read_self(simulation.context(), 0, &memory, &simulation.error) ==
        HMN_E_ARGUMENT);
  const std::string sentence = simulation.error.message;
  CHECK(sentence.find("/devices/0/pools/0/kind: \"vrm\" is not one of vram, ") == 0);
  CHECK(sentence.find("(machine file " + simulation.files().path("machine.json") + ")") !=
        sentence.npos);
  CHECK(simulation.error.backend == HMN_BACKEND_SIMULATED);
  CHECK(simulation.read_pool() == HMN_E_ARGUMENT);
  CHECK(simulation.error.message == sentence);
  CHECK(simulation.error.backend == HMN_BACKEND_SIMULATED);
  auto system = sized<hmn_system_memory>();
  CHECK(hmn_system_memory_read(simulation.context(), 0, &system, &simulation.error) ==
        HMN_E_ARGUMENT);
  const SnapshotCopy snapshot(simulation);
  CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) != 0);
  REQUIRE(!snapshot.diagnostics.empty());
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics)
    CHECK(diagnostic.message == sentence);
}

TEST_CASE("the backend reports its state, version and error") {
  auto info = sized<hmn_backend_info>();
  Simulation good(R"({"version":"591.86"})");
  REQUIRE(hmn_context_backend(good.context(), HMN_BACKEND_SIMULATED, &info, nullptr) == HMN_OK);
  CHECK(info.state == HMN_RUN_STATE_READY);
  CHECK(info.status == HMN_OK);
  CHECK(std::string(info.version) == "591.86");
  Simulation bad("{");
  REQUIRE(hmn_context_backend(bad.context(), HMN_BACKEND_SIMULATED, &info, nullptr) == HMN_OK);
  CHECK(info.state == HMN_RUN_STATE_UNREADABLE);
  CHECK(info.status == HMN_E_ARGUMENT);
  CHECK(std::string(info.message).find("line 1, column 2: expected a key in double quotes") == 0);
}

TEST_CASE("a missing file, a locked file and a folder are different errors") {
  Simulation simulation("{}");
  const auto read_status = [&](const std::string& path) {
    hmn_context* context = nullptr;
    REQUIRE(hmn_context_create(nullptr, &context, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context, HMN_PATH_SIMULATION, path.c_str(), nullptr) == HMN_OK);
    auto memory = sized<hmn_process_memory>();
    simulation.error = sized<hmn_error>();
    const hmn_status status = hmn_process_memory_read_self(context, 0, &memory, &simulation.error);
    hmn_context_destroy(context);
    return status;
  };
  CHECK(read_status(simulation.files().path("nothing")) == HMN_E_NO_SOURCE);
  CHECK(simulation.error.native_domain == HMN_NATIVE_ERRNO);
  CHECK(simulation.error.native_code == ENOENT);
  CHECK(std::string(simulation.error.message).find("there is no machine file: ") == 0);
  const std::string folder = simulation.files().path("folder");
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  CHECK(read_status(folder) == HMN_E_ARGUMENT);
  CHECK(std::string(simulation.error.message).find("there is no machine in the folder " + folder) ==
        0);
  rmdir(folder.c_str());
  CHECK(read_status("/proc/self/mem") == HMN_E_BACKEND);
  CHECK(simulation.error.native_code == EIO);
  const std::string locked = simulation.files().path("machine.json");
  REQUIRE(chmod(locked.c_str(), 0) == 0);
  if (geteuid() != 0) CHECK(read_status(locked) == HMN_E_PERMISSION);
}

TEST_CASE("a file larger than 16 MiB is rejected") {
  Simulation simulation(std::string(16 * mib, ' ') + "{}");
  CHECK(simulation.read_pool() == HMN_E_ARGUMENT);
  CHECK(std::string(simulation.error.message).find("it is larger than 16 MiB") == 0);
  const ContextOptions patient{.deadline_ns = HMN_MILLISECONDS(300'000),
                               .open_deadline_ns = HMN_MILLISECONDS(300'000)};
  Simulation largest("{}" + std::string(16 * mib - 2, ' '), patient);
  CHECK(largest.read_pool() == HMN_E_NO_DEVICE);
  CHECK(std::string(largest.error.message) == "no device 0: no GPU was found");
}

TEST_CASE("the file is read once") {
  Simulation simulation(make_machine(R"("pools":[{"kind":"vram","total":"1GiB"}])"));
  REQUIRE(simulation.read_pool() == HMN_OK);
  const int file =
      open(simulation.files().path("machine.json").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  REQUIRE(file >= 0);
  close(file);
  REQUIRE(simulation.read_pool() == HMN_OK);
  CHECK(simulation.pool.total_bytes == gib);
}
