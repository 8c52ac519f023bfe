// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

const std::string delay_body = R"("pools":[{"kind":"vram","total":"8GiB","used":"2GiB"}])";

std::string make_delayed_machine(const std::string& delays) {
  return make_machine(delay_body + ",\"delays\":[" + delays + "]");
}

}  // namespace

TEST_CASE("a call takes as long as the file specifies") {
  Simulation simulation(
      make_delayed_machine(R"({"call":"pools","ms":300,"from_reading":6,"readings":1})"));
  const auto read = [&] { SnapshotCopy(simulation, HMN_COLLECT_POOLS); };
  CHECK(measure_fastest_ms(5, read) < 250);
  CHECK(measure_ms(read) >= 300);
  CHECK(measure_fastest_ms(5, read) < 250);
}

TEST_CASE("delays of the driver and of the device add up") {
  Simulation simulation("{\"delays\":[{\"call\":\"pools\",\"ms\":150}],\"devices\":[{" +
                        delay_body + R"(,"delays":[{"call":"any","ms":150}]}]})");
  CHECK(measure_ms([&] { SnapshotCopy(simulation, HMN_COLLECT_POOLS); }) >= 300);
  CHECK(measure_fastest_ms(5, [&] { SnapshotCopy(simulation, HMN_COLLECT_MEMORY); }) < 150);
}

TEST_CASE("a call that passes the deadline leaves the last value, marked stale") {
  // A run whose first reading misses the deadline on a busy machine proves nothing.
  CHECK(becomes_true([] {
    Simulation simulation(
        make_delayed_machine(R"({"call":"pools","hang":"forever","from_reading":3})"),
        {.deadline_ns = HMN_MILLISECONDS(300), .stale_ns = HMN_MILLISECONDS(patient_ms)});
    if (simulation.read_pool() != HMN_OK || simulation.pool.notes != 0) return false;
    CHECK(simulation.read_pool() == HMN_OK);
    CHECK(simulation.pool.notes == HMN_NOTE_STALE);
    CHECK(simulation.pool.used_bytes == 2 * gib);
    return true;
  }));
}

TEST_CASE("a call that hangs times out, later ones return at once, and destroy does not wait") {
  Simulation simulation(make_delayed_machine(R"({"call":"pools","hang":"forever"})"),
                        {.deadline_ns = HMN_MILLISECONDS(500)});
  CHECK(simulation.read_pool() == HMN_E_TIMEOUT);
  CHECK(measure_fastest_ms(5, [&] { CHECK(simulation.read_pool() == HMN_E_TIMEOUT); }) < 400);
  simulation.destroy();  // would never return
}

TEST_CASE("a call that hangs until a file exists returns when it is created") {
  ScratchFolder signal;
  const std::string path = signal.path("go");
  Simulation simulation(make_delayed_machine(R"({"call":"pools","hang_until":")" + path + "\"}"),
                        {.deadline_ns = HMN_MILLISECONDS(200)});
  CHECK(simulation.read_pool() == HMN_E_TIMEOUT);
  signal.write("go", "");
  CHECK(becomes_true([&] { return simulation.read_pool() != HMN_E_TIMEOUT; }));
  CHECK(simulation.error.status == HMN_OK);
  CHECK(simulation.pool.used_bytes == 2 * gib);
}

TEST_CASE("opening uses the deadline for opening") {
  const auto make_slow_opening = [](const std::string& duration) {
    return "{\"delays\":[{\"call\":\"open\"," + duration + "}],\"devices\":[{" + delay_body + "}]}";
  };
  CHECK(becomes_true([&] {
    Simulation patient(make_slow_opening("\"ms\":1000"), {.deadline_ns = HMN_MILLISECONDS(500)});
    hmn_status status = HMN_OK;
    CHECK(measure_ms([&] { status = patient.read_pool(); }) >= 1000);
    return status == HMN_OK && measure_fastest_ms(5, [&] { patient.read_pool(); }) < 500;
  }));
  Simulation hasty(
      make_slow_opening("\"hang\":\"forever\""),
      {.deadline_ns = HMN_MILLISECONDS(100), .open_deadline_ns = HMN_MILLISECONDS(100)});
  CHECK(becomes_true([&] {
    REQUIRE(hasty.read_pool() == HMN_E_TIMEOUT);
    return std::string(hasty.error.message).find("being opened") != std::string::npos;
  }));
}

TEST_CASE("without threads a slow call blocks the caller") {
  Simulation simulation(make_delayed_machine(R"({"call":"pools","ms":200})"),
                        {.flags = HMN_CONTEXT_NO_THREADS, .deadline_ns = HMN_MILLISECONDS(50)});
  CHECK(measure_ms([&] { CHECK(simulation.read_pool() == HMN_OK); }) >= 200);
}

TEST_CASE("a device that hangs does not delay readings of host memory") {
  Simulation simulation("{\"host\":{\"self\":{\"resident\":1}},\"devices\":[{" + delay_body +
                            R"(,"delays":[{"call":"any","hang":"forever"}]}]})",
                        {.deadline_ns = HMN_MILLISECONDS(500)});
  CHECK(simulation.read_pool() == HMN_E_TIMEOUT);
  auto memory = sized<hmn_process_memory>();
  CHECK(measure_fastest_ms(5, [&] {
          CHECK(hmn_process_memory_read_self(simulation.context(), 0, &memory, nullptr) == HMN_OK);
        }) < 400);
}
