// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A driver with a wrong list of devices: identities that two of them share or that move,
// impossible partitions, and lists that lose devices.
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
  for (const std::string& device : all) list += (list.empty() ? "" : ",") + device;
  return R"({"devices": [)" + list + "]" + more + "}";
}

std::string instance(const std::string& uuid, unsigned gi, const char* total,
                     const char* more = "") {
  return R"({"name": "MIG", "uuid": ")" + uuid + R"(", "gi": )" + std::to_string(gi) +
         R"(, "memory": {"total": )" + total + R"(, "free": )" + total + R"(, "used": 0})" + more +
         "}";
}

std::string make_divided_card(const std::vector<std::string>& instances,
                              const std::string& mode = "1", const std::string& limit = "7") {
  std::string list;
  for (const std::string& text : instances) list += (list.empty() ? "" : ",") + text;
  return card("GPU-a", "0000:01:00.0",
              R"(, "mig": {"mode": )" + mode + R"(, "max": )" + limit + R"(, "instances": [)" +
                  list + "]}");
}

const std::string card_a = card("GPU-a", "0000:01:00.0");
const std::string card_b = card("GPU-b", "0000:02:00.0");
const std::string card_c = card("GPU-c", "0000:03:00.0");

struct DeviceListing {
  explicit DeviceListing(const Machine& machine) : snapshot(machine.context(), everything) {}

  static constexpr hmn_flags everything = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS;
  Snapshot snapshot;

  [[nodiscard]] std::vector<std::string> uuids() const {
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < snapshot.info().device_count; ++i) {
      all.emplace_back(snapshot.device(i).uuid);
    }
    return all;
  }
  // Total of the device's pool; 0 if it is unknown.
  [[nodiscard]] std::uint64_t get_total(std::uint32_t device) const {
    for (const hmn_pool& pool : snapshot.pools()) {
      if (pool.device_index == device && (pool.present & HMN_POOL_HAS_TOTAL) != 0)
        return pool.total_bytes;
    }
    return 0;
  }
  // Whether a diagnostic of the devices has the words and the reason.
  [[nodiscard]] bool has(const std::string& words, std::uint32_t reason = HMN_REASON_IMPLAUSIBLE,
                         hmn_status status = HMN_E_BACKEND) const {
    const auto all = snapshot.diagnostics();
    return std::any_of(all.begin(), all.end(), [&](const hmn_diagnostic& diagnostic) {
      return diagnostic.reason == reason && diagnostic.status == status &&
             std::string(diagnostic.message).find(words) != std::string::npos;
    });
  }
  [[nodiscard]] bool is_lower_bound() const {
    return (snapshot.info().notes & HMN_NOTE_LOWER_BOUND) != 0;
  }
};

using Texts = std::vector<std::string>;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

}  // namespace

TEST_CASE("an identifier shared by two devices is dropped from both") {
  const FakeNvml nvml;
  SUBCASE("UUID, in any case") {
    nvml.load(cards({card_a, card("GPU-A", "0000:02:00.0"), card_c}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"", "", "GPU-c"});
    CHECK(std::string(listing.snapshot.device(1).pci_bus_id) == "0000:02:00.0");
    CHECK(listing.has("UUID"));
    CHECK_FALSE(listing.is_lower_bound());
    std::uint32_t index = 9;
    CHECK(hmn_device_find(machine.context(), "uuid:GPU-a", &index, nullptr) == HMN_E_NO_DEVICE);
    CHECK(hmn_device_find(machine.context(), "pci:0000:02:00.0", &index, nullptr) == HMN_OK);
    CHECK(index == 1);
  }
  SUBCASE("PCI address") {
    nvml.load(cards({card_a, card("GPU-b", "0000:01:00.0")}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"GPU-a", "GPU-b"});
    CHECK(std::string(listing.snapshot.device(0).pci_bus_id).empty());
    CHECK(std::string(listing.snapshot.device(1).pci_bus_id).empty());
    CHECK(listing.has("PCI address"));
  }
  SUBCASE("invalid PCI address") {
    nvml.load(cards({card("GPU-a", "0000:00:00.0"), card_b}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(std::string(listing.snapshot.device(0).pci_bus_id).empty());
    CHECK(std::string(listing.snapshot.device(1).pci_bus_id) == "0000:02:00.0");
    CHECK(listing.has("pci_bus_id 0000:00:00.0"));
  }
  SUBCASE("instance numbers, and the GPU's UUID") {
    nvml.load(cards(
        {make_divided_card({instance("MIG-1", 1, "1073741824"), instance("MIG-2", 1, "1073741824"),
                            instance("GPU-a", 3, "1073741824")})}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"", "MIG-1", "MIG-2", ""});
    for (const std::uint32_t i : {1U, 2U}) {
      CHECK((listing.snapshot.device(i).present & HMN_DEVICE_HAS_INSTANCE) == 0);
    }
    CHECK(listing.has("MIG instance"));
    CHECK(listing.has("UUID"));
  }
}

TEST_CASE("a device listed twice is one device, and the count becomes a lower bound") {
  const FakeNvml nvml;
  SUBCASE("GPU") {
    nvml.load(cards({card_a, card_a, card_c}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"GPU-a", "GPU-c"});
    CHECK(listing.has("more than once"));
    CHECK(listing.is_lower_bound());
  }
  SUBCASE("instance") {
    nvml.load(cards({make_divided_card(
        {instance("MIG-1", 1, "1073741824"), instance("MIG-1", 2, "1073741824")})}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"GPU-a", "MIG-1"});
    CHECK(listing.has("lists MIG-1 more than once"));
    CHECK(listing.is_lower_bound());
  }
}

TEST_CASE("a list shorter than the driver's count is a lower bound") {
  const FakeNvml nvml;
  for (const char* lie : {R"(, "device_count": 4)", R"(, "device_count": 4294967295)"}) {
    nvml.load(cards({card_a, card_b, card_c}, lie));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"GPU-a", "GPU-b", "GPU-c"});
    CHECK(listing.has("but NVML has only 3"));
    CHECK(listing.is_lower_bound());
    CHECK((listing.snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
  }
  nvml.load(cards({card_a, card_b, card_c}));
  const Machine machine;
  CHECK_FALSE(DeviceListing(machine).is_lower_bound());
}

TEST_CASE("a device missing from a list is still listed, and the count is a lower bound") {
  const FakeNvml nvml;
  nvml.load(cards({card_a, card_b, card_c}));
  const Machine machine({.stale_ns = HMN_NS_IMMEDIATE});
  CHECK_FALSE(DeviceListing(machine).is_lower_bound());
  const auto check = [&](std::uint32_t state) {
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"GPU-a", "GPU-b", "GPU-c"});
    CHECK(listing.snapshot.device(2).state == state);
    CHECK(listing.is_lower_bound());
    CHECK((listing.snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
    return listing.has("", HMN_REASON_LOST, HMN_E_DEVICE_LOST);
  };
  SUBCASE("a shorter list, until the device returns") {
    nvml.load(cards({card_a, card_b}));
    for (int i = 0; i < 2; ++i) CHECK(check(HMN_RUN_STATE_LOST));
    CHECK(DeviceListing(machine).get_total(2) == 0);
    nvml.load(cards({card_a, card_b, card_c}));
    CHECK_FALSE(DeviceListing(machine).is_lower_bound());
  }
  SUBCASE("a handle that fails") {
    nvml.load(cards({card_a, card_b, card_c}, R"(, "rules": [{"call":
        "nvmlDeviceGetHandleByIndex*", "device": 2, "result": "INVALID_ARGUMENT"}])"));
    CHECK_FALSE(check(HMN_RUN_STATE_UNREADABLE));
  }
}

TEST_CASE("a moved identity is reported once, and nothing is missing") {
  const FakeNvml nvml;
  nvml.load(cards({card_a, card_b}));
  const Machine machine;
  CHECK(DeviceListing(machine).uuids() == Texts{"GPU-a", "GPU-b"});
  const auto moves = [&](const std::string& words) {
    const DeviceListing listing(machine);
    const bool is_complete = (listing.snapshot.info().notes & HMN_NOTE_PARTIAL) == 0;
    return is_complete && listing.has(words, HMN_REASON_AMBIGUOUS, HMN_OK);
  };
  SUBCASE("to another address") {
    nvml.load(cards({card_a, card("GPU-b", "0000:07:00.0")}));
    CHECK(moves("PCI address was 0000:02:00.0 and is 0000:07:00.0"));
    CHECK(std::string(DeviceListing(machine).snapshot.device(1).pci_bus_id) == "0000:07:00.0");
    CHECK_FALSE(moves("PCI address was"));
  }
  SUBCASE("to another index of the driver") {
    nvml.load(cards({card_b, card_a}));
    CHECK(moves("index with the driver was 0 and is 1"));
    CHECK(DeviceListing(machine).uuids() == Texts{"GPU-a", "GPU-b"});
  }
  SUBCASE("another device has its address") {
    nvml.load(cards({card_a, card("GPU-x", "0000:02:00.0")}));
    const DeviceListing listing(machine);
    CHECK(listing.uuids() == Texts{"GPU-a", "GPU-b", "GPU-x"});
    CHECK(listing.snapshot.device(1).state == HMN_RUN_STATE_LOST);
    CHECK(listing.has("at its PCI address 0000:02:00.0 was GPU-b and is GPU-x",
                      HMN_REASON_AMBIGUOUS, HMN_OK));
  }
}

TEST_CASE("partitions with impossible sizes have no total") {
  const FakeNvml nvml;
  SUBCASE("one larger than its GPU, which does not affect the others") {
    nvml.load(cards({make_divided_card(
        {instance("MIG-1", 1, "10737418240"), instance("MIG-2", 2, "53687091200")})}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.get_total(1) == 10 * gib);
    CHECK(listing.get_total(2) == 0);
    CHECK(listing.has("total_bytes 53687091200"));
  }
  SUBCASE("a sum larger than the GPU") {
    nvml.load(cards({make_divided_card({instance("MIG-1", 1, "21474836480"),
                                        instance("MIG-2", 2, "21474836480"),
                                        instance("MIG-3", 3, "1073741824")})}));
    const Machine machine;
    const DeviceListing listing(machine);
    for (const std::uint32_t i : {1U, 2U, 3U}) CHECK(listing.get_total(i) == 0);
    CHECK(listing.get_total(0) == 40 * gib);
  }
  SUBCASE("compute instances that share a GPU instance have its total") {
    nvml.load(cards({make_divided_card({instance("MIG-1", 1, "32212254720"),
                                        instance("MIG-2", 1, "32212254720", R"(, "ci": 1)"),
                                        instance("MIG-3", 2, "10737418240")})}));
    const Machine machine;
    const DeviceListing listing(machine);
    CHECK(listing.get_total(1) == 30 * gib);
    CHECK(listing.get_total(2) == 30 * gib);
    CHECK(listing.get_total(3) == 10 * gib);
    CHECK_FALSE(listing.is_lower_bound());
  }
}

TEST_CASE("an impossible MIG mode or instance limit makes the list a lower bound") {
  const FakeNvml nvml;
  const Texts instances{instance("MIG-1", 1, "1073741824")};
  for (const char* mode : {"2", "55", "4294967295"}) {
    nvml.load(cards({make_divided_card(instances, mode)}));
    const Machine machine;
    // It is queried again, even within the time for which a GPU counts as not divided.
    for (int i = 0; i < 2; ++i) {
      const DeviceListing listing(machine);
      CHECK(listing.uuids() == Texts{"GPU-a"});
      CHECK(listing.has("neither on nor off"));
      CHECK(listing.is_lower_bound());
    }
  }
  nvml.load(cards({make_divided_card(instances, "1", "1000000000")}));
  const Machine machine;
  const DeviceListing listing(machine);
  CHECK(listing.uuids() == Texts{"GPU-a", "MIG-1"});
  CHECK(listing.has("allows 1000000000 instances"));
  CHECK(listing.is_lower_bound());
}

TEST_CASE("an impossible total is dropped, and does not limit the use of processes") {
  const FakeNvml nvml;
  for (const char* total : {"1", "7", "100", "4096"}) {
    nvml.load(
        cards({R"({"name": "GPU", "uuid": "GPU-a", "memory": {"total": )" + std::string(total) +
               R"(, "free": 1, "used": 0}, "processes": {"compute":
                        [{"pid": 4000001, "used": "1 GiB"}]}})"}));
    const Machine machine;
    const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
    for (const hmn_pool& pool : snapshot.pools()) CHECK((pool.present & HMN_POOL_HAS_TOTAL) == 0);
    const auto all = snapshot.diagnostics();
    CHECK(std::any_of(all.begin(), all.end(), [&](const hmn_diagnostic& diagnostic) {
      return diagnostic.reason == HMN_REASON_IMPLAUSIBLE && diagnostic.subject == HMN_COLLECT_POOLS;
    }));
    REQUIRE(snapshot.usages().size() == 1);
    CHECK(snapshot.usages()[0].used_bytes == gib);
  }
}

TEST_CASE("impossible samples, flags and field types are dropped with a reason") {
  const FakeNvml nvml;
  const std::string future = "4102444800000000";  // in the year 2100
  nvml.load(cards({card("GPU-a", "0000:01:00.0",
                        R"(, "processes": {"compute": [
      {"pid": 4000001, "used": "1 GiB"}, {"pid": 4000002, "used": "1 GiB"}]},
      "process_utilization": [{"pid": 4000001, "sm": 33, "time_us": )" +
                            future + R"(}, {"pid": 4000002, "sm": 44}],
      "remapped_rows": {"corrected": 3, "uncorrected": 0, "pending": 55, "failed": 1},
      "fields": {"82": {"type": "double", "value": 1}})")}));
  const Machine machine;
  const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES | HMN_COLLECT_METRICS);
  const auto rows = snapshot.usages();
  REQUIRE(rows.size() == 2);
  CHECK((rows[0].present & HMN_USAGE_HAS_BUSY_PERCENT) == 0);
  CHECK(rows[1].busy_percent == 44);
  std::vector<std::uint32_t> remapped;
  for (std::uint32_t i = 0; i < snapshot.info().metric_count; ++i) {
    auto metric = sized<hmn_metric>();
    REQUIRE(hmn_snapshot_metric_at(snapshot.handle(), i, &metric, nullptr) == HMN_OK);
    if (metric.id == HMN_METRIC_ROWS_REMAPPED) remapped.push_back(metric.instance);
    CHECK(metric.id != HMN_METRIC_TEMPERATURE);
  }
  CHECK(remapped == std::vector<std::uint32_t>{1, 2, 4});
  const auto all = snapshot.diagnostics();
  const auto has = [&](std::uint32_t subject, const std::string& words) {
    return std::any_of(all.begin(), all.end(), [&](const hmn_diagnostic& diagnostic) {
      return diagnostic.subject == subject && diagnostic.reason == HMN_REASON_IMPLAUSIBLE &&
             std::string(diagnostic.message).find(words) != std::string::npos;
    });
  };
  CHECK(has(HMN_COLLECT_PROCESSES, "in the future"));
  CHECK(has(HMN_COLLECT_METRICS, "rows_remapped 55"));
  CHECK(has(HMN_COLLECT_METRICS, "nvmlDeviceGetFieldValues"));
}
