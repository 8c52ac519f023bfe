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
  const std::string a = card("GPU-a", "0000:01:00.0");
  const std::string b = card("GPU-b", "0000:02:00.0");
  nvml.load(cards(a + "," + b));
  const Machine m;
  { CHECK(TakenSnapshot(m.context()).info().device_count == 2); }
  nvml.load(cards(b));
  {
    const TakenSnapshot p(m.context());
    REQUIRE(p.info().device_count == 2);
    CHECK(p.device(0).state == HMN_RUN_STATE_LOST);
    CHECK(std::string(p.device(0).uuid) == "GPU-a");
    CHECK(p.device(1).state == HMN_RUN_STATE_READY);
  }
  auto pool = sized<hmn_pool>();
  CHECK(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_E_DEVICE_LOST);
  CHECK(hmn_pool_read(m.context(), 1, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  nvml.load(cards(card("GPU-c", "0000:00:05.0") + "," + a + "," + b));
  const TakenSnapshot p(m.context());
  REQUIRE(p.info().device_count == 3);
  CHECK(std::string(p.device(0).uuid) == "GPU-a");
  CHECK(p.device(0).state == HMN_RUN_STATE_READY);
  CHECK(std::string(p.device(2).uuid) == "GPU-c");
  std::uint32_t index = 99;
  CHECK(hmn_device_find(m.context(), "uuid:gpu-B", &index, nullptr) == HMN_OK);
  CHECK(index == 1);
  CHECK(hmn_device_find(m.context(), "pci:2:0.0", &index, nullptr) == HMN_OK);
  CHECK(index == 1);
  CHECK(hmn_device_find(m.context(), "driver:nvidia:0", &index, nullptr) == HMN_OK);
  CHECK(index == 2);
  CHECK(hmn_device_find(m.context(), "uuid:GPU-d", &index, nullptr) == HMN_E_NO_DEVICE);
  CHECK(index == 0);
}

TEST_CASE("an index that was never given is no device") {
  const FakeNvml nvml;
  nvml.load(cards(card("GPU-a", "0000:01:00.0")));
  const Machine m;
  auto device = sized<hmn_device>();
  auto error = sized<hmn_error>();
  CHECK(hmn_device_read(m.context(), 1, 0, &device, &error) == HMN_E_NO_DEVICE);
  CHECK(std::string(error.message).find("device 1") != std::string::npos);
  CHECK(hmn_device_read(m.context(), 0, 0, &device, &error) == HMN_OK);
}

TEST_CASE("one lost card leaves the others readable") {
  const FakeNvml nvml;
  const std::string two = card("GPU-a", "0000:01:00.0") + "," + card("GPU-b", "0000:02:00.0");
  nvml.load(R"({"devices": [)" + two +
            R"(], "rules": [{"call": "nvmlDevice*", "device": 0, "result": "GPU_IS_LOST"}]})");
  const Machine m;
  const TakenSnapshot p(m.context());
  bool b_is_read = false;
  for (const hmn_pool& pool : p.pools()) {
    if (std::string(p.device(pool.device_index).uuid) == "GPU-b")
      b_is_read = pool.used_bytes == 400u << 20;
  }
  CHECK(b_is_read);
  CHECK((p.info().notes & HMN_NOTE_PARTIAL) != 0);
}

TEST_CASE("a driver that is reloaded is opened again, and the indexes hold") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
  { CHECK(TakenSnapshot(m.context()).pools().at(0).used_bytes == one_gpu_used); }
  nvml.load(one_gpu(
      R"(, "rules": [{"call": "nvmlDevice*", "result": "UNINITIALIZED", "until_init": true}])"));
  REQUIRE(comes_true([&] { return TakenSnapshot(m.context()).info().pool_count == 1; }));
  const TakenSnapshot p(m.context());
  CHECK(p.device(0).index == 0);
  CHECK(p.info().device_count == 1);
}
