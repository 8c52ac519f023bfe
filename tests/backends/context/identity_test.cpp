// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A driver that lies about which devices there are: identities that two of them have or that move,
// partitions that cannot be, and lists that lose devices.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

std::string card(const std::string& uuid, const std::string& address,
                 const std::string& more = {}) {
  return R"({"name": "GPU", "uuid": ")" + uuid + R"(", "pci": {"address": ")" + address +
         R"("}, "memory": {"total": "40 GiB", "free": "30 GiB", "used": "10 GiB"})" + more + "}";
}

std::string cards(const std::vector<std::string>& all, const std::string& more = {}) {
  std::string list;
  for (const std::string& each : all) list += (list.empty() ? "" : ",") + each;
  return R"({"devices": [)" + list + "]" + more + "}";
}

std::string instance(const std::string& uuid, unsigned gi, const char* total,
                     const char* more = "") {
  return R"({"name": "MIG", "uuid": ")" + uuid + R"(", "gi": )" + std::to_string(gi) +
         R"(, "memory": {"total": )" + total + R"(, "free": )" + total + R"(, "used": 0})" + more +
         "}";
}

std::string divided(const std::vector<std::string>& instances, const std::string& mode = "1",
                    const std::string& most = "7") {
  std::string list;
  for (const std::string& each : instances) list += (list.empty() ? "" : ",") + each;
  return card(
      "GPU-a", "0000:01:00.0",
      R"(, "mig": {"mode": )" + mode + R"(, "max": )" + most + R"(, "instances": [)" + list + "]}");
}

const std::string card_a = card("GPU-a", "0000:01:00.0");
const std::string card_b = card("GPU-b", "0000:02:00.0");
const std::string card_c = card("GPU-c", "0000:03:00.0");

struct Seen {
  explicit Seen(const Machine& m) : taken(m.context(), everything) {}

  static constexpr hmn_flags everything = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS;
  TakenSnapshot taken;

  [[nodiscard]] std::vector<std::string> uuids() const {
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < taken.info().device_count; ++i) {
      all.emplace_back(taken.device(i).uuid);
    }
    return all;
  }
  // Of the pools of the device, 0 where it is not known.
  [[nodiscard]] std::uint64_t total_of(std::uint32_t device) const {
    for (const hmn_pool& p : taken.pools()) {
      if (p.device_index == device && (p.present & HMN_POOL_HAS_TOTAL) != 0) return p.total_bytes;
    }
    return 0;
  }
  // Whether a diagnostic of the devices has the words and the reason.
  [[nodiscard]] bool has(const std::string& words, std::uint32_t reason = HMN_REASON_IMPLAUSIBLE,
                         hmn_status status = HMN_E_BACKEND) const {
    const auto all = taken.diagnostics();
    return std::any_of(all.begin(), all.end(), [&](const hmn_diagnostic& d) {
      return d.reason == reason && d.status == status &&
             std::string(d.message).find(words) != std::string::npos;
    });
  }
  [[nodiscard]] bool is_at_least() const {
    return (taken.info().notes & HMN_NOTE_LOWER_BOUND) != 0;
  }
};

using Texts = std::vector<std::string>;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

}  // namespace

TEST_CASE("an identifier that two devices have is that of neither") {
  const FakeNvml nvml;
  SUBCASE("UUID, in any case") {
    nvml.load(cards({card_a, card("GPU-A", "0000:02:00.0"), card_c}));
    const Machine m;
    const Seen now(m);
    CHECK(now.uuids() == Texts{"", "", "GPU-c"});
    CHECK(std::string(now.taken.device(1).pci_bus_id) == "0000:02:00.0");
    CHECK(now.has("UUID"));
    CHECK_FALSE(now.is_at_least());
    std::uint32_t index = 9;
    CHECK(hmn_device_find(m.context(), "uuid:GPU-a", &index, nullptr) == HMN_E_NO_DEVICE);
    CHECK(hmn_device_find(m.context(), "pci:0000:02:00.0", &index, nullptr) == HMN_OK);
    CHECK(index == 1);
  }
  SUBCASE("PCI address") {
    nvml.load(cards({card_a, card("GPU-b", "0000:01:00.0")}));
    const Machine m;
    const Seen now(m);
    CHECK(now.uuids() == Texts{"GPU-a", "GPU-b"});
    CHECK(std::string(now.taken.device(0).pci_bus_id).empty());
    CHECK(std::string(now.taken.device(1).pci_bus_id).empty());
    CHECK(now.has("PCI address"));
  }
  SUBCASE("an address that is none") {
    nvml.load(cards({card("GPU-a", "0000:00:00.0"), card_b}));
    const Machine m;
    const Seen now(m);
    CHECK(std::string(now.taken.device(0).pci_bus_id).empty());
    CHECK(std::string(now.taken.device(1).pci_bus_id) == "0000:02:00.0");
    CHECK(now.has("pci_bus_id 0000:00:00.0"));
  }
  SUBCASE("instance of a GPU, and the GPU's UUID") {
    nvml.load(
        cards({divided({instance("MIG-1", 1, "1073741824"), instance("MIG-2", 1, "1073741824"),
                        instance("GPU-a", 3, "1073741824")})}));
    const Machine m;
    const Seen now(m);
    CHECK(now.uuids() == Texts{"", "MIG-1", "MIG-2", ""});
    for (const std::uint32_t i : {1U, 2U}) {
      CHECK((now.taken.device(i).present & HMN_DEVICE_HAS_INSTANCE) == 0);
    }
    CHECK(now.has("MIG instance"));
    CHECK(now.has("UUID"));
  }
}

TEST_CASE("a device that is listed twice is one device, and the list may lack one") {
  const FakeNvml nvml;
  SUBCASE("GPU") {
    nvml.load(cards({card_a, card_a, card_c}));
    const Machine m;
    const Seen now(m);
    CHECK(now.uuids() == Texts{"GPU-a", "GPU-c"});
    CHECK(now.has("more than once"));
    CHECK(now.is_at_least());
  }
  SUBCASE("instance") {
    nvml.load(
        cards({divided({instance("MIG-1", 1, "1073741824"), instance("MIG-1", 2, "1073741824")})}));
    const Machine m;
    const Seen now(m);
    CHECK(now.uuids() == Texts{"GPU-a", "MIG-1"});
    CHECK(now.has("lists MIG-1 more than once"));
    CHECK(now.is_at_least());
  }
}

TEST_CASE("a list that has fewer devices than are counted is a minimum") {
  const FakeNvml nvml;
  for (const char* lie : {R"(, "device_count": 4)", R"(, "device_count": 4294967295)"}) {
    nvml.load(cards({card_a, card_b, card_c}, lie));
    const Machine m;
    const Seen now(m);
    CHECK(now.uuids() == Texts{"GPU-a", "GPU-b", "GPU-c"});
    CHECK(now.has("but NVML has only 3"));
    CHECK(now.is_at_least());
    CHECK((now.taken.info().notes & HMN_NOTE_PARTIAL) != 0);
  }
  nvml.load(cards({card_a, card_b, card_c}));
  const Machine m;
  CHECK_FALSE(Seen(m).is_at_least());
}

TEST_CASE("a device that a list has lost is still listed, and counts are a minimum") {
  const FakeNvml nvml;
  nvml.load(cards({card_a, card_b, card_c}));
  const Machine m({.stale_ns = HMN_NS_IMMEDIATE});
  CHECK_FALSE(Seen(m).is_at_least());
  const auto check = [&](std::uint32_t state) {
    const Seen now(m);
    CHECK(now.uuids() == Texts{"GPU-a", "GPU-b", "GPU-c"});
    CHECK(now.taken.device(2).state == state);
    CHECK(now.is_at_least());
    CHECK((now.taken.info().notes & HMN_NOTE_PARTIAL) != 0);
    return now.has("", HMN_REASON_LOST, HMN_E_DEVICE_LOST);
  };
  SUBCASE("where it is shorter, at each reading until it is back") {
    nvml.load(cards({card_a, card_b}));
    for (int i = 0; i < 2; ++i) CHECK(check(HMN_RUN_STATE_LOST));
    CHECK(Seen(m).total_of(2) == 0);
    nvml.load(cards({card_a, card_b, card_c}));
    CHECK_FALSE(Seen(m).is_at_least());
  }
  SUBCASE("where its handle fails") {
    nvml.load(cards({card_a, card_b, card_c}, R"(, "rules": [{"call":
        "nvmlDeviceGetHandleByIndex*", "device": 2, "result": "INVALID_ARGUMENT"}])"));
    CHECK_FALSE(check(HMN_RUN_STATE_UNREADABLE));
  }
}

TEST_CASE("an identity that moves is reported once, and nothing is missing") {
  const FakeNvml nvml;
  nvml.load(cards({card_a, card_b}));
  const Machine m;
  CHECK(Seen(m).uuids() == Texts{"GPU-a", "GPU-b"});
  const auto moves = [&](const std::string& words) {
    const Seen now(m);
    const bool is_whole = (now.taken.info().notes & HMN_NOTE_PARTIAL) == 0;
    return is_whole && now.has(words, HMN_REASON_AMBIGUOUS, HMN_OK);
  };
  SUBCASE("to another address") {
    nvml.load(cards({card_a, card("GPU-b", "0000:07:00.0")}));
    CHECK(moves("PCI address was 0000:02:00.0 and is 0000:07:00.0"));
    CHECK(std::string(Seen(m).taken.device(1).pci_bus_id) == "0000:07:00.0");
    CHECK_FALSE(moves("PCI address was"));
  }
  SUBCASE("to another index of the driver") {
    nvml.load(cards({card_b, card_a}));
    CHECK(moves("index with the driver was 0 and is 1"));
    CHECK(Seen(m).uuids() == Texts{"GPU-a", "GPU-b"});
  }
  SUBCASE("or gives its place to another") {
    nvml.load(cards({card_a, card("GPU-x", "0000:02:00.0")}));
    const Seen now(m);
    CHECK(now.uuids() == Texts{"GPU-a", "GPU-b", "GPU-x"});
    CHECK(now.taken.device(1).state == HMN_RUN_STATE_LOST);
    CHECK(now.has("at its PCI address 0000:02:00.0 was GPU-b and is GPU-x", HMN_REASON_AMBIGUOUS,
                  HMN_OK));
  }
}

TEST_CASE("partitions that cannot be have no memory") {
  const FakeNvml nvml;
  SUBCASE("one larger than its GPU costs no other") {
    nvml.load(cards(
        {divided({instance("MIG-1", 1, "10737418240"), instance("MIG-2", 2, "53687091200")})}));
    const Machine m;
    const Seen now(m);
    CHECK(now.total_of(1) == 10 * gib);
    CHECK(now.total_of(2) == 0);
    CHECK(now.has("total_bytes 53687091200"));
  }
  SUBCASE("together more than it has") {
    nvml.load(
        cards({divided({instance("MIG-1", 1, "21474836480"), instance("MIG-2", 2, "21474836480"),
                        instance("MIG-3", 3, "1073741824")})}));
    const Machine m;
    const Seen now(m);
    for (const std::uint32_t i : {1U, 2U, 3U}) CHECK(now.total_of(i) == 0);
    CHECK(now.total_of(0) == 40 * gib);
  }
  SUBCASE("but compute instances share what their GPU instance has") {
    nvml.load(cards({divided({instance("MIG-1", 1, "32212254720"),
                              instance("MIG-2", 1, "32212254720", R"(, "ci": 1)"),
                              instance("MIG-3", 2, "10737418240")})}));
    const Machine m;
    const Seen now(m);
    CHECK(now.total_of(1) == 30 * gib);
    CHECK(now.total_of(2) == 30 * gib);
    CHECK(now.total_of(3) == 10 * gib);
    CHECK_FALSE(now.is_at_least());
  }
}

TEST_CASE("a mode and a number of instances that cannot be leave the list a minimum") {
  const FakeNvml nvml;
  const Texts one{instance("MIG-1", 1, "1073741824")};
  for (const char* mode : {"2", "55", "4294967295"}) {
    nvml.load(cards({divided(one, mode)}));
    const Machine m;
    // It is asked for again, also within the time for which a GPU counts as not divided.
    for (int i = 0; i < 2; ++i) {
      const Seen now(m);
      CHECK(now.uuids() == Texts{"GPU-a"});
      CHECK(now.has("neither on nor off"));
      CHECK(now.is_at_least());
    }
  }
  nvml.load(cards({divided(one, "1", "1000000000")}));
  const Machine m;
  const Seen now(m);
  CHECK(now.uuids() == Texts{"GPU-a", "MIG-1"});
  CHECK(now.has("allows 1000000000 instances"));
  CHECK(now.is_at_least());
}

TEST_CASE("totals that no memory has, and of processes what is not below them") {
  const FakeNvml nvml;
  for (const char* total : {"1", "7", "100", "4096"}) {
    nvml.load(
        cards({R"({"name": "GPU", "uuid": "GPU-a", "memory": {"total": )" + std::string(total) +
               R"(, "free": 1, "used": 0}, "processes": {"compute":
                        [{"pid": 4000001, "used": "1 GiB"}]}})"}));
    const Machine m;
    const TakenSnapshot now(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
    for (const hmn_pool& p : now.pools()) CHECK((p.present & HMN_POOL_HAS_TOTAL) == 0);
    const auto all = now.diagnostics();
    CHECK(std::any_of(all.begin(), all.end(), [&](const hmn_diagnostic& d) {
      return d.reason == HMN_REASON_IMPLAUSIBLE && d.subject == HMN_COLLECT_POOLS;
    }));
    REQUIRE(now.usages().size() == 1);
    CHECK(now.usages()[0].used_bytes == gib);
  }
}

TEST_CASE("samples, accounts and flags that cannot be") {
  const FakeNvml nvml;
  const std::string future = "4102444800000000";  // in the year 2100
  nvml.load(cards({card("GPU-a", "0000:01:00.0",
                        R"(, "processes": {"compute": [
      {"pid": 4000001, "used": "1 GiB"}, {"pid": 4000002, "used": "1 GiB"}]},
      "process_utilization": [{"pid": 4000001, "sm": 33, "time_us": )" +
                            future + R"(}, {"pid": 4000002, "sm": 44}],
      "remapped_rows": {"corrected": 3, "uncorrected": 0, "pending": 55, "failed": 1},
      "fields": {"82": {"type": "double", "value": 1}})")}));
  const Machine m;
  const TakenSnapshot now(m.context(), HMN_COLLECT_PROCESSES | HMN_COLLECT_METRICS);
  const auto rows = now.usages();
  REQUIRE(rows.size() == 2);
  CHECK((rows[0].present & HMN_USAGE_HAS_BUSY_PERCENT) == 0);
  CHECK(rows[1].busy_percent == 44);
  std::vector<std::uint32_t> remapped;
  for (std::uint32_t i = 0; i < now.info().metric_count; ++i) {
    auto one = sized<hmn_metric>();
    REQUIRE(hmn_snapshot_metric_at(now.handle(), i, &one, nullptr) == HMN_OK);
    if (one.id == HMN_METRIC_ROWS_REMAPPED) remapped.push_back(one.instance);
    CHECK(one.id != HMN_METRIC_TEMPERATURE);
  }
  CHECK(remapped == std::vector<std::uint32_t>{1, 2, 4});
  const auto all = now.diagnostics();
  const auto has = [&](std::uint32_t subject, const std::string& words) {
    return std::any_of(all.begin(), all.end(), [&](const hmn_diagnostic& d) {
      return d.subject == subject && d.reason == HMN_REASON_IMPLAUSIBLE &&
             std::string(d.message).find(words) != std::string::npos;
    });
  };
  CHECK(has(HMN_COLLECT_PROCESSES, "in the future"));
  CHECK(has(HMN_COLLECT_METRICS, "rows_remapped 55"));
  CHECK(has(HMN_COLLECT_METRICS, "nvmlDeviceGetFieldValues"));
}
