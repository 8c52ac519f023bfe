// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/identity.hpp"
#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

std::string three() {
  return machine_of(gpu(1) + "," + gpu(2) + "," + gpu(3));
}

void wait_for_reopening() {
  usleep(1'050'000);
}

const Diagnostic* field_gap(const std::vector<Diagnostic>& all, std::uint64_t field) {
  for (const Diagnostic& d : all) {
    if (d.field == field) return &d;
  }
  return nullptr;
}

// Its deadline passes after so many calls of the driver.
class CutReading final : public Reading {
 public:
  explicit CutReading(unsigned allowed) : allowed_(allowed) {}
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override {
    return asked_++ < allowed_ ? UINT64_MAX : 0;
  }
  [[nodiscard]] bool wants_trace() const noexcept override { return false; }
  void diagnose(const Diagnostic&) override {}
  void opening() noexcept override {}
  void opened() noexcept override {}
  [[nodiscard]] bool is_in_time() const { return asked_ <= allowed_; }

 private:
  const unsigned allowed_;
  mutable unsigned asked_ = 0;
};

}  // namespace

TEST_CASE("who a GPU is") {
  Machine m(one_gpu());
  hmn_fake::PciDevice card;
  card.address = "0000:01:00.0";
  card.drm_nodes = {"card0", "renderD130"};
  hmn_fake::add_pci_device(m.tree, card);
  const auto found = m.devices();
  REQUIRE(found.size() == 1);
  const Device& d = found[0];
  CHECK(d.number == 0);
  CHECK(d.from == Source::nvml);
  CHECK(d.form == DeviceForm::discrete);
  CHECK(d.state == State::ready);
  CHECK(d.vendor == vendor::nvidia);
  CHECK(d.name.view() == "NVIDIA Fake 1");
  CHECK(d.uuid.view() == uuid_of(1));
  CHECK(d.pci_bus_id.view() == "0000:01:00.0");
  CHECK(d.pci_device == 0x26B9);
  CHECK(d.pci_subsystem == 0x185110DE);
  CHECK(d.render_minor == 130);
  CHECK(d.driver_index == 0);
  CHECK(d.driver_version.view() == "550.163.01");
  CHECK(d.cuda_version_major == 12);
  CHECK(d.cuda_version_minor == 4);
  CHECK(d.compute_capability_major == 8);
  CHECK(d.compute_capability_minor == 9);
  CHECK(d.architecture.view() == "Ada");
  CHECK(!d.parent);
  CHECK(!d.instance);
  CHECK(!d.numa_node);
  CHECK(m.reading.about().empty());
}

TEST_CASE("identities are asked once, and the list costs two calls for each GPU at most") {
  Machine m(three());
  m.devices();
  const auto before = m.driver.calls(nullptr);
  CHECK(m.devices().size() == 3);
  CHECK(m.driver.calls(nullptr) - before <= 1 + 2 * 3);
  CHECK(m.driver.calls("nvmlDeviceGetName") == 3);
}

TEST_CASE("text of the driver is made valid") {
  Machine m(machine_of(R"({"name": "NVIDIA \u00e9\u0001x", "uuid": "GPU-a"})"));
  CHECK(m.devices().at(0).name.view() == "NVIDIA \xC3\xA9\x01x");
}

TEST_CASE("what of an identity is missing is told at each reading") {
  Machine m(one_gpu(R"("results": {"nvmlDeviceGetName": "NO_DATA", "nvmlDeviceGetUUID": 3})"));
  for (int i = 0; i < 2; ++i) {
    const auto found = m.devices();
    REQUIRE(found.size() == 1);
    CHECK(found[0].name.empty());
    CHECK(found[0].uuid.empty());
    CHECK(found[0].pci_bus_id.view() == "0000:01:00.0");
    const auto said = m.reading.about(subject::devices);
    REQUIRE(said.size() == 2);
    REQUIRE(field_gap(said, device_field::name) != nullptr);
    CHECK(field_gap(said, device_field::name)->why.code == Status::empty);
    REQUIRE(field_gap(said, device_field::uuid) != nullptr);
    CHECK(field_gap(said, device_field::uuid)->why.code == Status::unsupported);
    CHECK(said[0].device == 0);
  }
}

TEST_CASE("what failed once is asked again, and what was known is kept") {
  Machine m(one_gpu("", R"("rules": [{"call": "nvmlDeviceGetName", "result": "UNKNOWN",
                                      "times": 1}])"));
  CHECK(m.devices().at(0).name.empty());
  CHECK(m.devices().at(0).name.view() == "NVIDIA Fake 1");
  CHECK(m.reading.about().empty());
}

TEST_CASE("versions that the driver does not tell are absent with a remark") {
  Machine m(one_gpu("", R"("rules": [{"call": "nvmlSystemGet*", "result": "UNKNOWN"}])"));
  const auto found = m.devices();
  CHECK(found.at(0).driver_version.empty());
  CHECK(!found.at(0).cuda_version_major);
  CHECK(!found.at(0).cuda_version_minor);
  const auto said = m.reading.about(subject::devices);
  CHECK(field_gap(said, device_field::driver_version) != nullptr);
  CHECK(field_gap(said, device_field::cuda_version_major) != nullptr);
}

TEST_CASE("the architecture as NVML numbers it, where it has a name") {
  CHECK(nvml::architecture_name(2) == "Kepler");
  CHECK(nvml::architecture_name(9) == "Hopper");
  CHECK(nvml::architecture_name(10) == "Blackwell");
  for (const unsigned none : {0U, 1U, 11U, 0xFFFFFFFFU})
    CHECK(nvml::architecture_name(none).empty());
  Machine m(machine_of(R"({"compute_capability": [12, 1], "architecture": 4294967295},
                          {"compute_capability": [-1, 0], "architecture": 10}, {})"));
  const auto found = m.devices();
  REQUIRE(found.size() == 3);
  CHECK(found[0].compute_capability_major == 12);
  CHECK(found[0].compute_capability_minor == 1);
  CHECK(found[0].architecture.empty());
  CHECK(!found[1].compute_capability_major);
  CHECK(found[1].architecture.view() == "Blackwell");
  CHECK(!found[2].compute_capability_major);
  CHECK(found[2].architecture.empty());
  const auto said = m.reading.about(subject::devices);
  CHECK(field_gap(said, device_field::compute_capability_major) != nullptr);
  CHECK(field_gap(said, device_field::architecture) != nullptr);
}

TEST_CASE("without libcuda the first generation tells the CUDA version") {
  Machine m(one_gpu("", R"("rules": [{"call": "nvmlSystemGetCudaDriverVersion_v2",
                                      "result": "LIBRARY_NOT_FOUND"}])"));
  CHECK(m.devices().at(0).cuda_version_major == 12);
}

TEST_CASE("no GPU at all is an empty list") {
  Machine m(machine_of(""));
  CHECK(m.devices().empty());
  CHECK(m.reading.about().empty());
  hmn_fake::add_nvidia_information(m.tree, {.address = "0000:01:00.0", .uuid = uuid_of(1)});
  m.restart();
  CHECK(m.devices().empty());
  CHECK(m.reading.about().size() == 1);
}

TEST_CASE("slots belong to cards, wherever the driver lists them") {
  Machine m(three());
  m.devices();
  m.driver.load(machine_of(gpu(3) + "," + gpu(1)));
  const auto fewer = m.devices();
  REQUIRE(fewer.size() == 2);
  CHECK(fewer[0].number == 2);
  CHECK(fewer[0].driver_index == 0);
  CHECK(fewer[1].number == 0);
  CHECK(fewer[1].driver_index == 1);
  Pools none;
  const auto gone = m.memory(1, none);
  REQUIRE_FALSE(gone);
  CHECK(gone.why().code == Status::device_lost);
  m.driver.load(machine_of(gpu(4) + "," + gpu(3) + "," + gpu(2) + "," + gpu(1)));
  const auto more = m.devices();
  REQUIRE(more.size() == 4);
  CHECK(more[0].number == 3);
  CHECK(more[2].number == 1);
  CHECK(m.pool(1).used == 3584 * mib);
}

TEST_CASE("without a UUID the address keeps the slot; another UUID there is another card") {
  const char* no_uuid = R"("results": {"nvmlDeviceGetUUID": 3})";
  Machine m(machine_of(gpu(1, no_uuid) + "," + gpu(2, no_uuid)));
  m.devices();
  m.driver.load(machine_of(gpu(2, no_uuid) + "," + gpu(1, no_uuid)));
  const auto turned = m.devices();
  REQUIRE(turned.size() == 2);
  CHECK(turned[0].number == 1);
  CHECK(turned[1].number == 0);
  m.restart();
  m.driver.load(machine_of(R"({"uuid": "GPU-a", "pci": {"address": "0000:01:00.0"}})"));
  CHECK(m.devices().at(0).number == 0);
  m.driver.load(machine_of(R"({"uuid": "GPU-b", "pci": {"address": "0000:01:00.0"}})"));
  CHECK(m.devices().at(0).number == 1);
}

TEST_CASE("two cards of one name are two devices") {
  Machine m(machine_of(R"({"uuid": "GPU-a", "pci": {"address": "0000:01:00.0"}},
                          {"uuid": "GPU-a", "pci": {"address": "0000:02:00.0"}})"));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  CHECK(found[0].number != found[1].number);
}

TEST_CASE("a GPU that moved is not listed twice when its old place is lost") {
  Machine m(machine_of(gpu(1) + "," + gpu(2)));
  m.devices();
  m.driver.load(machine_of(gpu(2) + "," + gpu(3),
                           R"("rules": [{"call": "nvmlDevice*", "device": 1, "result": 15}])"));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  CHECK(found[0].number == 1);
  CHECK(found[0].state == State::ready);
  CHECK(found[1].number != 1);
  CHECK(found[1].state == State::lost);
}

TEST_CASE("a lost GPU is told lost, and its neighbours answer") {
  Machine m(three());
  const auto before = m.devices();
  m.driver.load(machine_of(gpu(1) + "," + gpu(2) + "," + gpu(3),
                           R"("rules": [{"call": "nvmlDevice*", "device": 1, "result": 15}])"));
  const auto after = m.devices();
  REQUIRE(after.size() == 3);
  CHECK(after[0].state == State::ready);
  CHECK(after[1].state == State::lost);
  CHECK(after[1].number == before[1].number);
  CHECK(after[1].uuid == before[1].uuid);
  CHECK(after[2].state == State::ready);
  Pools none;
  const auto lost = m.memory(1, none);
  REQUIRE_FALSE(lost);
  CHECK(lost.why().code == Status::device_lost);
  CHECK(lost.why().native.code == nvml::gpu_is_lost);
  CHECK(m.pool(0).used == 3584 * mib);
  CHECK(m.pool(2).used == 3584 * mib);
}

TEST_CASE("a GPU that a value finds lost is told lost at the next list, until it is back") {
  Machine m(machine_of(gpu(1) + "," + gpu(2),
                       R"("rules": [{"call": "nvmlDeviceGetMemoryInfo_v2", "device": 0,
                                     "result": "GPU_IS_LOST", "from": 2, "times": 2}])"));
  m.devices();
  Pools none;
  CHECK_FALSE(m.memory(0, none));
  CHECK(m.devices().at(0).state == State::lost);
  CHECK(m.devices().at(0).state == State::ready);
  CHECK(m.pool(0).used == 3584 * mib);
}

TEST_CASE("a GPU that stays lost is looked for with a new opening, less and less often") {
  Machine m(one_gpu());
  const MomentOfOpening opening;
  m.devices();
  m.driver.load(one_gpu("", R"("rules": [{"call": "nvmlDevice*", "device": 0, "result": 15,
                                          "until_init": true}])"));
  const bool is_lost = m.devices().at(0).state == State::lost;
  CHECK((is_lost || !opening.is_recent()));
  wait_for_reopening();
  CHECK(m.devices().at(0).state == State::ready);
  CHECK(m.driver.calls("nvmlInitWithFlags") == 2);
}

TEST_CASE("a GPU that must be reset is here and unreadable, until it was reset") {
  constexpr const char* until = R"("rules": [{"call": "nvmlDeviceGetMemoryInfo*", "device": 0,
                                             "result": "RESET_REQUIRED", "times": 6}])";
  Machine m(machine_of(gpu(1) + "," + gpu(2), until));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  CHECK(found[0].state == State::unreadable);
  CHECK(found[0].uuid.view() == uuid_of(1));
  CHECK(found[1].state == State::ready);
  Pools none;
  const auto refused = m.memory(0, none);
  REQUIRE_FALSE(refused);
  CHECK(refused.why().native.code == nvml::reset_required);
  CHECK(refused.why().message.view().find("reset") != std::string::npos);
  for (int i = 0; i < 6 && m.devices().at(0).state != State::ready; ++i) continue;
  CHECK(m.devices().at(0).state == State::ready);
  CHECK(m.pool(0).used == 3584 * mib);
}

TEST_CASE("a GPU that this user may not open is listed as unreadable") {
  Machine m(machine_of(gpu(1) + "," + gpu(2),
                       R"("rules": [{"call": "nvmlDeviceGetHandleByIndex*", "device": 1,
                                     "result": "NO_PERMISSION"}])"));
  SUBCASE("with what the kernel driver tells of it") {
    hmn_fake::add_nvidia_information(m.tree, {.address = "0000:01:00.0", .uuid = uuid_of(1)});
    hmn_fake::add_nvidia_information(
        m.tree, {.address = "0000:02:00.0", .model = "NVIDIA Other", .uuid = uuid_of(2)});
    const auto found = m.devices();
    REQUIRE(found.size() == 2);
    CHECK(found[1].uuid.view() == uuid_of(2));
    CHECK(found[1].name.view() == "NVIDIA Other");
    CHECK(found[1].pci_bus_id.view() == "0000:02:00.0");
  }
  SUBCASE("or by its index alone") {
    CHECK(m.devices().at(1).uuid.empty());
    SUBCASE("and it is the same device when it may be opened") {
      m.driver.load(machine_of(gpu(1) + "," + gpu(2)));
      const auto opened = m.devices();
      REQUIRE(opened.size() == 2);
      CHECK(opened[1].number == 1);
      CHECK(opened[1].uuid.view() == uuid_of(2));
      return;
    }
  }
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  CHECK(found[1].state == State::unreadable);
  CHECK(found[1].driver_index == 1);
  CHECK(found[1].vendor == vendor::nvidia);
  const auto said = m.reading.about(subject::devices);
  REQUIRE(said.size() == 1);
  CHECK(said[0].why.code == Status::permission);
  CHECK(said[0].device == found[1].number);
  Pools none;
  const auto refused = m.memory(found[1].number, none);
  REQUIRE_FALSE(refused);
  CHECK(refused.why().code == Status::permission);
}

TEST_CASE("a device that was never listed is none") {
  Machine m(one_gpu());
  Pools none;
  const auto done = m.memory(1, none);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::no_device);
}

TEST_CASE("a reading of a known device needs no list first") {
  Machine m(one_gpu());
  CHECK(m.pool(0).total == 16 * gib);
  CHECK(m.driver.calls("nvmlDeviceGetName") == 1);
}

TEST_CASE(
    "a list that the deadline cut off, after whichever call, is gone on with by the next one") {
  bool whole = false;
  for (unsigned allowed = 0; !whole; ++allowed) {
    CAPTURE(allowed);
    Machine m(machine_of(gpu(1) + "," + gpu(2) + "," + gpu(3)));
    require_ok(m.prepare());
    CutReading cut(allowed);
    std::vector<Device> found;
    const auto done = m.source().devices(found, cut);
    whole = done && cut.is_in_time();
    if (!done) {
      CHECK(done.why().code == Status::timeout);
      CHECK(found.empty());
      Pools none;
      const auto late = m.source().memory(0, none, cut);
      REQUIRE_FALSE(late);
      CHECK(late.why().code == Status::timeout);
    }
    found.clear();
    require_ok(m.list(found));
    REQUIRE(found.size() == 3);
    for (const Device& d : found) CHECK(d.uuid.view() == uuid_of(d.number + 1));
    CHECK(m.driver.calls("nvmlDeviceGetName") <= 4);
    CHECK(m.pool(0).used == 3584 * mib);
    REQUIRE(allowed < 1000);
  }
}

TEST_CASE("one GPU that times out in the driver costs itself alone") {
  Machine m(machine_of(gpu(1) + "," + gpu(2),
                       R"("rules": [{"call": "nvmlDeviceGetHandleByIndex*", "device": 0,
                                     "result": "TIMEOUT"}])"));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  CHECK(found[0].state == State::unreadable);
  CHECK(found[1].state == State::ready);
}
