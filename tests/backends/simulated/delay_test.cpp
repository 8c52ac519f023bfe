// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

const std::string delay_body = R"("pools":[{"kind":"vram","total":"8GiB","used":"2GiB"}])";

std::string with_delayed(const std::string& delays) {
  return one_device(delay_body + ",\"delays\":[" + delays + "]");
}

}  // namespace

TEST_CASE("a call takes as long as the file says") {
  Simulation s(with_delayed(R"({"call":"pools","ms":300,"from_reading":6,"readings":1})"));
  const auto read = [&] { TakenSnapshot(s, HMN_COLLECT_POOLS); };
  CHECK(quickest_of(5, read) < 250);
  CHECK(milliseconds_of(read) >= 300);
  CHECK(quickest_of(5, read) < 250);
}

TEST_CASE("delays of the driver and of the device add up") {
  Simulation s("{\"delays\":[{\"call\":\"pools\",\"ms\":150}],\"devices\":[{" + delay_body +
               R"(,"delays":[{"call":"any","ms":150}]}]})");
  CHECK(milliseconds_of([&] { TakenSnapshot(s, HMN_COLLECT_POOLS); }) >= 300);
  CHECK(quickest_of(5, [&] { TakenSnapshot(s, HMN_COLLECT_MEMORY); }) < 150);
}

TEST_CASE("a call that passes the deadline leaves the last value, marked stale") {
  // One whose first value the machine held up for longer than the deadline shows nothing.
  CHECK(comes_true([] {
    Simulation s(with_delayed(R"({"call":"pools","hang":"forever","from_reading":3})"),
                 {.deadline_ns = HMN_MILLISECONDS(300), .stale_ns = HMN_MILLISECONDS(patient_ms)});
    if (s.read_pool() != HMN_OK || s.pool.notes != 0) return false;
    CHECK(s.read_pool() == HMN_OK);
    CHECK(s.pool.notes == HMN_NOTE_STALE);
    CHECK(s.pool.used_bytes == 2 * gib);
    return true;
  }));
}

TEST_CASE("a call that hangs is a timeout, later ones answer at once, and destroy does not wait") {
  Simulation s(with_delayed(R"({"call":"pools","hang":"forever"})"),
               {.deadline_ns = HMN_MILLISECONDS(500)});
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
  CHECK(quickest_of(5, [&] { CHECK(s.read_pool() == HMN_E_TIMEOUT); }) < 400);
  s.destroy();  // would never return
}

TEST_CASE("a call that hangs until a file is there returns then") {
  Scratch signal;
  const std::string path = signal.path("go");
  Simulation s(with_delayed(R"({"call":"pools","hang_until":")" + path + "\"}"),
               {.deadline_ns = HMN_MILLISECONDS(200)});
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
  signal.write("go", "");
  CHECK(comes_true([&] { return s.read_pool() != HMN_E_TIMEOUT; }));
  CHECK(s.error.status == HMN_OK);
  CHECK(s.pool.used_bytes == 2 * gib);
}

TEST_CASE("opening has the deadline for opening") {
  const auto opens = [](const std::string& as) {
    return "{\"delays\":[{\"call\":\"open\"," + as + "}],\"devices\":[{" + delay_body + "}]}";
  };
  CHECK(comes_true([&] {
    Simulation patient(opens("\"ms\":1000"), {.deadline_ns = HMN_MILLISECONDS(500)});
    hmn_status said = HMN_OK;
    CHECK(milliseconds_of([&] { said = patient.read_pool(); }) >= 1000);
    return said == HMN_OK && quickest_of(5, [&] { patient.read_pool(); }) < 500;
  }));
  Simulation hasty(opens("\"hang\":\"forever\""), {.deadline_ns = HMN_MILLISECONDS(100),
                                                   .open_deadline_ns = HMN_MILLISECONDS(100)});
  CHECK(comes_true([&] {
    REQUIRE(hasty.read_pool() == HMN_E_TIMEOUT);
    return std::string(hasty.error.message).find("being opened") != std::string::npos;
  }));
}

TEST_CASE("without threads a slow call holds up the caller") {
  Simulation s(with_delayed(R"({"call":"pools","ms":200})"),
               {.flags = HMN_CONTEXT_NO_THREADS, .deadline_ns = HMN_MILLISECONDS(50)});
  CHECK(milliseconds_of([&] { CHECK(s.read_pool() == HMN_OK); }) >= 200);
}

TEST_CASE("a hanging device does not keep host memory from being read") {
  Simulation s("{\"host\":{\"self\":{\"resident\":1}},\"devices\":[{" + delay_body +
                   R"(,"delays":[{"call":"any","hang":"forever"}]}]})",
               {.deadline_ns = HMN_MILLISECONDS(500)});
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
  auto m = sized<hmn_process_memory>();
  CHECK(quickest_of(5, [&] {
          CHECK(hmn_process_memory_read_self(s.context(), 0, &m, nullptr) == HMN_OK);
        }) < 400);
}
