// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What NVML reports and cannot be: absent in direct readings and in snapshots, with a diagnostic.
#include <doctest/doctest.h>

#include <string>

#include "machine.hpp"

namespace {

std::string card(const std::string& members) {
  return R"({"devices": [{"name": "NVIDIA Fake", "uuid": "GPU-a",
             "pci": {"address": "0000:01:00.0"}, )" +
         members + "}]}";
}

// The pool read directly, which is the same in a snapshot that has one diagnostic about `missing`.
hmn_pool read_twice(hmn_flags missing) {
  const machine m;
  auto read = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, &read, &error) == HMN_OK);
  const taken_snapshot p(m.context(), HMN_COLLECT_POOLS);
  REQUIRE(p.pools().size() == 1);
  CHECK(p.pools()[0].present == read.present);
  CHECK(p.pools()[0].total_bytes == read.total_bytes);
  CHECK(p.pools()[0].free_bytes == read.free_bytes);
  int found = 0;
  for (const hmn_diagnostic& d : p.diagnostics()) {
    if (d.subject != HMN_COLLECT_POOLS || d.field != missing) continue;
    ++found;
    CHECK(d.status == HMN_E_BACKEND);
    CHECK(d.backend == HMN_BACKEND_NVML);
    CHECK(d.device_index == 0);
    CHECK(std::string(d.message).find("implausible") != std::string::npos);
  }
  CHECK(found == 1);
  return read;
}

}  // namespace

TEST_CASE("NVML: a total of 2^60 bytes is absent") {
  const fake_nvml driver;
  driver.load(card(R"("memory_v2": {"total": 1152921504606846976, "reserved": 0,
    "free": 1152921504606846975, "used": 1})"));
  const hmn_pool p = read_twice(HMN_POOL_HAS_TOTAL);
  CHECK((p.present & (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE)) == 0);
  CHECK(p.used_bytes == 1);
}

TEST_CASE("NVML: more free than in total is absent") {
  const fake_nvml driver;
  driver.load(
      card(R"("memory_v2": {"total": "8 GiB", "reserved": 0, "free": "12 GiB", "used": 0})"));
  const hmn_pool p = read_twice(HMN_POOL_HAS_FREE);
  CHECK((p.present & HMN_POOL_HAS_FREE) == 0);
  CHECK(p.total_bytes == std::uint64_t{8} << 30);
}
