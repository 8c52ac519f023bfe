// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

namespace {

std::string card(const char* uuid, const char* address) {
  return std::string(R"({"name": "GPU", "uuid": ")") + uuid + R"(", "pci": {"address": ")" +
         address + R"("}, "memory": {"total": "1000 MiB", "free": "600 MiB", "used": "400 MiB"}})";
}

std::string cards(const std::string& list) {
  return R"({"devices": [)" + list + "]}";
}

}  // namespace

TEST_CASE("an index stays with its card through unplugging and return") {
  const FakeNvml nvml;
  const std::string card_a = card("GPU-a", "0000:01:00.0");
  const std::string card_b = card("GPU-b", "0000:02:00.0");
  nvml.load(cards(card_a + "," + card_b));
  const Machine machine;
  { CHECK(Snapshot(machine.context()).info().device_count == 2); }
  nvml.load(cards(card_b));
  {
    const Snapshot snapshot(machine.context());
    REQUIRE(snapshot.info().device_count == 2);
    CHECK(snapshot.device(0).state == HMN_RUN_STATE_LOST);
    CHECK(std::string(snapshot.device(0).uuid) == "GPU-a");
    CHECK(snapshot.device(1).state == HMN_RUN_STATE_READY);
  }
  auto pool = sized<hmn_pool>();
  CHECK(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) ==
        HMN_E_DEVICE_LOST);
  CHECK(hmn_pool_read(machine.context(), 1, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  nvml.load(cards(card("GPU-c", "0000:00:05.0") + "," + card_a + "," + card_b));
  const Snapshot snapshot(machine.context());
  REQUIRE(snapshot.info().device_count == 3);
  CHECK(std::string(snapshot.device(0).uuid) == "GPU-a");
  CHECK(snapshot.device(0).state == HMN_RUN_STATE_READY);
  CHECK(std::string(snapshot.device(2).uuid) == "GPU-c");
  std::uint32_t index = 99;
  CHECK(hmn_device_find(machine.context(), "uuid:gpu-B", &index, nullptr) == HMN_OK);
  CHECK(index == 1);
  CHECK(hmn_device_find(machine.context(), "pci:2:0.0", &index, nullptr) == HMN_OK);
  CHECK(index == 1);
  CHECK(hmn_device_find(machine.context(), "driver:nvidia:0", &index, nullptr) == HMN_OK);
  CHECK(index == 2);
  CHECK(hmn_device_find(machine.context(), "uuid:GPU-d", &index, nullptr) == HMN_E_NO_DEVICE);
  CHECK(index == 0);
}

TEST_CASE("an index that was never assigned is reported as no_device") {
  const FakeNvml nvml;
  nvml.load(cards(card("GPU-a", "0000:01:00.0")));
  const Machine machine;
  auto device = sized<hmn_device>();
  auto error = sized<hmn_error>();
  CHECK(hmn_device_read(machine.context(), 1, 0, &device, &error) == HMN_E_NO_DEVICE);
  CHECK(std::string(error.message).find("device 1") != std::string::npos);
  CHECK(hmn_device_read(machine.context(), 0, 0, &device, &error) == HMN_OK);
}

TEST_CASE("one lost card leaves the others readable") {
  const FakeNvml nvml;
  const std::string two = card("GPU-a", "0000:01:00.0") + "," + card("GPU-b", "0000:02:00.0");
  nvml.load(R"({"devices": [)" + two +
            R"(], "rules": [{"call": "nvmlDevice*", "device": 0, "result": "GPU_IS_LOST"}]})");
  const Machine machine;
  const Snapshot snapshot(machine.context());
  bool b_is_read = false;
  for (const hmn_pool& pool : snapshot.pools()) {
    if (std::string(snapshot.device(pool.device_index).uuid) == "GPU-b")
      b_is_read = pool.used_bytes == 400u << 20;
  }
  CHECK(b_is_read);
  CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
}

TEST_CASE("a reloaded driver is reopened, and the indexes are kept") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  { CHECK(Snapshot(machine.context()).pools().at(0).used_bytes == one_gpu_used); }
  nvml.load(one_gpu(
      R"(, "rules": [{"call": "nvmlDevice*", "result": "UNINITIALIZED", "until_init": true}])"));
  REQUIRE(becomes_true([&] { return Snapshot(machine.context()).info().pool_count == 1; }));
  const Snapshot snapshot(machine.context());
  CHECK(snapshot.device(0).index == 0);
  CHECK(snapshot.info().device_count == 1);
}
