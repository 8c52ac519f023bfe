// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "simulation.hpp"

namespace {

const std::string body = R"("pools":[{"kind":"vram","total":"8GiB","used":"2GiB"}])";

std::string with_device(const std::string& delays) {
  return one_device(body + ",\"delays\":[" + delays + "]");
}

template <class F>
double milliseconds(F&& body_of) {
  const auto began = std::chrono::steady_clock::now();
  body_of();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

}  // namespace

TEST_CASE("a call takes as long as the file says") {
  simulation s(with_device(R"({"call":"pools","ms":300,"from_reading":2,"readings":1})"));
  CHECK(milliseconds([&] { picture(s, HMN_COLLECT_POOLS); }) < 250);
  CHECK(milliseconds([&] { picture(s, HMN_COLLECT_POOLS); }) >= 300);
  CHECK(milliseconds([&] { picture(s, HMN_COLLECT_POOLS); }) < 250);
}

TEST_CASE("delays of the driver and of the device add up") {
  simulation s("{\"delays\":[{\"call\":\"pools\",\"ms\":150}],\"devices\":[{" + body +
               R"(,"delays":[{"call":"any","ms":150}]}]})");
  CHECK(milliseconds([&] { picture(s, HMN_COLLECT_POOLS); }) >= 300);
  CHECK(milliseconds([&] { picture(s, HMN_COLLECT_MEMORY); }) < 150);
}

TEST_CASE("a call that passes the deadline leaves the last value, marked stale") {
  simulation s(with_device(R"({"call":"pools","ms":3000,"from_reading":3})"), {.deadline_ms = 500});
  REQUIRE(s.read_pool() == HMN_OK);
  CHECK(s.pool.notes == 0);
  hmn_status said = HMN_OK;
  CHECK(milliseconds([&] { said = s.read_pool(); }) < 2500);
  CHECK(said == HMN_OK);
  CHECK(s.pool.notes == HMN_NOTE_STALE);
  CHECK(s.pool.used_bytes == 2 * gib);
}

TEST_CASE("a call that hangs is a timeout, later ones answer at once, and destroy does not wait") {
  simulation s(with_device(R"({"call":"pools","hang":"forever"})"), {.deadline_ms = 500});
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
  hmn_status said = HMN_OK;
  CHECK(milliseconds([&] { said = s.read_pool(); }) < 400);
  CHECK(said == HMN_E_TIMEOUT);
  CHECK(milliseconds([&] { s.destroy(); }) < 400);
}

TEST_CASE("a call that hangs until a file is there returns then") {
  scratch signal;
  const std::string path = signal.path("go");
  simulation s(with_device(R"({"call":"pools","hang_until":")" + path + "\"}"),
               {.deadline_ms = 200});
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
  signal.write("go", "");
  hmn_status said = HMN_E_TIMEOUT;
  for (int tries = 0; tries < 400 && said == HMN_E_TIMEOUT; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    said = s.read_pool();
  }
  CHECK(said == HMN_OK);
  CHECK(s.pool.used_bytes == 2 * gib);
}

TEST_CASE("opening has the deadline for opening") {
  const std::string slow =
      "{\"delays\":[{\"call\":\"open\",\"ms\":1000}],\"devices\":[{" + body + "}]}";
  simulation patient(slow, {.deadline_ms = 500, .open_deadline_ms = 20000});
  CHECK(milliseconds([&] { CHECK(patient.read_pool() == HMN_OK); }) >= 1000);
  CHECK(milliseconds([&] { CHECK(patient.read_pool() == HMN_OK); }) < 500);
  simulation hasty(slow, {.deadline_ms = 100, .open_deadline_ms = 100});
  CHECK(hasty.read_pool() == HMN_E_TIMEOUT);
  CHECK(std::string(hasty.error.message).find("being opened") != std::string::npos);
}

TEST_CASE("without threads a slow call holds up the caller") {
  simulation s(with_device(R"({"call":"pools","ms":200})"),
               {.flags = HMN_CONTEXT_NO_THREADS, .deadline_ms = 50});
  CHECK(milliseconds([&] { CHECK(s.read_pool() == HMN_OK); }) >= 200);
}

TEST_CASE("a hanging device does not keep host memory from being read") {
  simulation s("{\"host\":{\"self\":{\"resident\":1}},\"devices\":[{" + body +
                   R"(,"delays":[{"call":"any","hang":"forever"}]}]})",
               {.deadline_ms = 500});
  CHECK(s.read_pool() == HMN_E_TIMEOUT);
  auto m = sized<hmn_process_memory>();
  CHECK(milliseconds([&] {
          CHECK(hmn_process_memory_read_self(s.context(), 0, &m, nullptr) == HMN_OK);
        }) < 400);
}
