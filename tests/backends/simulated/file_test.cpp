// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "simulation.hpp"

TEST_CASE("the smallest machine file works") {
  Simulation s(
      R"({"devices":[{"name":"GPU","pools":[{"kind":"vram","total":"16GiB","used":"3GiB"}]}]})");
  REQUIRE(s.read_pool() == HMN_OK);
  CHECK(s.pool.total_bytes == 16 * gib);
  CHECK(s.pool.used_bytes == 3 * gib);
  CHECK(s.pool.free_bytes == 13 * gib);
  CHECK(s.pool.backend == HMN_BACKEND_SIMULATED);
  std::uint32_t count = 0;
  CHECK(hmn_device_scan(s.context(), &count, nullptr, nullptr) == HMN_OK);
  CHECK(count == 1);
}

TEST_CASE("an empty machine has no devices") {
  Simulation s("{}");
  const TakenSnapshot p(s);
  CHECK(p.info.device_count == 0);
  CHECK((p.info.notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("a malformed file fails every reading with its sentence") {
  Simulation s(R"({"devices":[{"pools":[{"kind":"vrm"}]}]})");
  auto memory = sized<hmn_process_memory>();
  s.error = sized<hmn_error>();
  CHECK(hmn_process_memory_read_self(s.context(), 0, &memory, &s.error) == HMN_E_ARGUMENT);
  const std::string sentence = s.error.message;
  CHECK(sentence.find("/devices/0/pools/0/kind: \"vrm\" is not one of vram, ") == 0);
  CHECK(sentence.find("(machine file " + s.files().path("machine.json") + ")") != sentence.npos);
  CHECK(s.error.backend == HMN_BACKEND_SIMULATED);
  CHECK(s.read_pool() == HMN_E_ARGUMENT);
  CHECK(s.error.message == sentence);
  CHECK(s.error.backend == HMN_BACKEND_SIMULATED);
  auto system = sized<hmn_system_memory>();
  CHECK(hmn_system_memory_read(s.context(), 0, &system, &s.error) == HMN_E_ARGUMENT);
  const TakenSnapshot p(s);
  CHECK((p.info.notes & HMN_NOTE_PARTIAL) != 0);
  REQUIRE(!p.diagnostics.empty());
  for (const hmn_diagnostic& d : p.diagnostics) CHECK(d.message == sentence);
}

TEST_CASE("the backend says how it fares") {
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

TEST_CASE("no file, no permission and no plain file are told apart") {
  Simulation s("{}");
  const auto status_at = [&](const std::string& path) {
    hmn_context* c = nullptr;
    REQUIRE(hmn_context_create(nullptr, &c, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(c, HMN_PATH_SIMULATION, path.c_str(), nullptr) == HMN_OK);
    auto m = sized<hmn_process_memory>();
    s.error = sized<hmn_error>();
    const hmn_status said = hmn_process_memory_read_self(c, 0, &m, &s.error);
    hmn_context_destroy(c);
    return said;
  };
  CHECK(status_at(s.files().path("nothing")) == HMN_E_NO_SOURCE);
  CHECK(s.error.native_domain == HMN_NATIVE_ERRNO);
  CHECK(s.error.native_code == ENOENT);
  CHECK(std::string(s.error.message).find("there is no machine file: ") == 0);
  const std::string folder = s.files().path("folder");
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  CHECK(status_at(folder) == HMN_E_ARGUMENT);
  CHECK(std::string(s.error.message).find("there is no machine in the folder " + folder) == 0);
  rmdir(folder.c_str());
  CHECK(status_at("/proc/self/mem") == HMN_E_BACKEND);
  CHECK(s.error.native_code == EIO);
  const std::string locked = s.files().path("machine.json");
  REQUIRE(chmod(locked.c_str(), 0) == 0);
  if (geteuid() != 0) CHECK(status_at(locked) == HMN_E_PERMISSION);
}

TEST_CASE("a file past 16 MiB is refused") {
  Simulation s(std::string(16 * mib, ' ') + "{}");
  CHECK(s.read_pool() == HMN_E_ARGUMENT);
  CHECK(std::string(s.error.message).find("it is larger than 16 MiB") == 0);
  const Options patient{.deadline_ns = HMN_MILLISECONDS(300'000),
                        .open_deadline_ns = HMN_MILLISECONDS(300'000)};
  Simulation whole("{}" + std::string(16 * mib - 2, ' '), patient);
  CHECK(whole.read_pool() == HMN_E_NO_DEVICE);
  CHECK(std::string(whole.error.message) == "no device 0: no GPU was found");
}

TEST_CASE("the file is read once") {
  Simulation s(one_device(R"("pools":[{"kind":"vram","total":"1GiB"}])"));
  REQUIRE(s.read_pool() == HMN_OK);
  const int file = open(s.files().path("machine.json").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  REQUIRE(file >= 0);
  close(file);
  REQUIRE(s.read_pool() == HMN_OK);
  CHECK(s.pool.total_bytes == gib);
}
