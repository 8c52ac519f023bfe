// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/query.hpp"

#include <doctest/doctest.h>

#include "source/interface.hpp"

using namespace hmn;

namespace {

// Its device has no name, so that core adds a diagnostic about the list.
class UnnamedSource final : public DeviceSource {
 public:
  UnnamedSource() : DeviceSource(Source::nvml, CallBehavior::may_block) {}

  Result<void> devices(std::vector<Device>& devices, Reading& reading) override {
    static_cast<void>(reading.begin_device_call(0, 2));
    devices.emplace_back().name.assign("Device 10de:2204");
    return {};
  }
};

constexpr std::uint64_t card_unit = std::uint64_t{1} << 30;

struct FakeCard {
  Device identity;
  PoolKind kind = PoolKind::vram;
  std::uint64_t total = 0;
  std::uint64_t process_bytes = 0;
  std::uint64_t host_bytes = 0;  // a second pool
};

FakeCard make_card_partition(Slot gpu, Slot number, std::optional<std::uint32_t> instance,
                             std::uint64_t size_gib) {
  FakeCard card;
  card.identity.slot = number;
  card.identity.is_partition = true;
  card.identity.parent = gpu;
  if (instance) card.identity.instance = MigInstance{*instance, 0};
  card.total = size_gib * card_unit;
  return card;
}

// Each card has one pool and one process.
class CardSource final : public DeviceSource {
 public:
  CardSource(Source id, std::vector<FakeCard> cards)
      : DeviceSource(id, CallBehavior::may_block), cards_(std::move(cards)) {
    for (FakeCard& card : cards_) card.identity.source = id;
  }

  Result<void> devices(std::vector<Device>& out, Reading&) override {
    for (const FakeCard& card : cards_) out.push_back(card.identity);
    return {};
  }
  Result<void> memory(Slot number, PoolList& out, Reading&) override {
    Pool pool;
    pool.kind = cards_[number].kind;
    pool.is_main = true;
    if (cards_[number].total != 0) pool.total = cards_[number].total;
    pool.used = cards_[number].process_bytes;
    out.add(pool);
    if (cards_[number].host_bytes == 0) return {};
    Pool host;
    host.kind = PoolKind::host;
    host.total = cards_[number].host_bytes;
    out.add(host);
    return {};
  }
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading&) override {
    Usage& row = out.emplace_back();
    row.pid = 1;
    row.used = cards_[number].process_bytes;
    return {};
  }

 private:
  std::vector<FakeCard> cards_;
};

struct CheckedReading final : Reading {
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return 0; }
  [[nodiscard]] bool wants_trace() const noexcept override { return false; }
  bool begin_device_call(std::uint32_t, std::size_t) noexcept override { return is_in_call = true; }
  void end_device_call() noexcept override { is_in_call = false; }
  void diagnose(const Diagnostic& diagnostic) override {
    ++diagnostic_count;
    if (diagnostics != nullptr) diagnostics->push_back(diagnostic);
    CHECK_FALSE(is_in_call);
  }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}
  [[nodiscard]] std::optional<std::uint64_t> host_total() const override { return host_bytes; }

  std::optional<std::uint64_t> host_bytes;
  bool is_in_call = false;
  int diagnostic_count = 0;
  std::vector<Diagnostic>* diagnostics = nullptr;
};

// Lists an NPU with a partition, and a GPU, with a note about each.
class MixedSource final : public DeviceSource {
 public:
  MixedSource() : DeviceSource(Source::drm, CallBehavior::may_block) {}

  Result<void> devices(std::vector<Device>& out, Reading& reading) override {
    for (const Slot number : {0U, 1U, 2U}) {
      Device& device = out.emplace_back();
      device.slot = number;
      device.name.assign("Device");
      if (number == 0) device.device_class = DeviceClass::npu;
      if (number == 0) device.form = DeviceForm::integrated;
      device.is_partition = number == 1;
      if (device.is_partition) device.parent = 0;
      Diagnostic diagnostic;
      diagnostic.subject = subject::devices;
      diagnostic.device = number;
      reading.diagnose(diagnostic);
    }
    return {};
  }
};

}  // namespace

TEST_CASE("a diagnostic about a device list is not charged to the last device") {
  UnnamedSource source;
  CheckedReading reading;
  SourceCache cache;
  Plan plan;
  plan.list = true;
  static_cast<void>(query(source, plan, cache, reading, [](DeviceCache*) {}));
  CHECK(reading.diagnostic_count == 1);
}

TEST_CASE("a device of an unrequested class is not listed, and neither are its diagnostics") {
  MixedSource source;
  CheckedReading reading;
  SourceCache cache;
  reading.diagnostics = &cache.diagnostics;
  Plan plan;
  plan.list = true;
  static_cast<void>(query(source, plan, cache, reading, [](DeviceCache*) {}));
  REQUIRE(cache.devices.size() == 1);
  CHECK(cache.devices[0].identity.slot == 2);
  REQUIRE(cache.diagnostics.size() == 1);
  CHECK(cache.diagnostics[0].device == 2);
}

TEST_CASE("a partition has the class and form of its parent") {
  MixedSource source;
  CheckedReading reading;
  SourceCache cache;
  Plan plan;
  plan.list = true;
  plan.device_classes = device_class_bit(DeviceClass::npu);
  static_cast<void>(query(source, plan, cache, reading, [](DeviceCache*) {}));
  REQUIRE(cache.devices.size() == 2);
  CHECK(cache.devices[1].identity.parent == 0);
  CHECK(cache.devices[1].identity.device_class == DeviceClass::npu);
  CHECK(cache.devices[1].identity.form == DeviceForm::integrated);
}

namespace {

// Reads a device with one process.
SourceCache read_card(const FakeCard& card, CheckedReading& reading) {
  CardSource source(Source::xe, {card});
  SourceCache cache;
  Plan plan;
  plan.list = plan.pools = plan.processes = true;
  static_cast<void>(query(source, plan, cache, reading, [](DeviceCache*) {}));
  return cache;
}

// Returns what the process is taken to use, in units; 0: implausible.
std::uint64_t read_process_usage(const FakeCard& card) {
  CheckedReading reading;
  const SourceCache cache = read_card(card, reading);
  return cache.devices[0].processes.value[0].used.value_or(0) / card_unit;
}

}  // namespace

TEST_CASE("a process cannot use more than the device's memory") {
  for (const auto kind : {PoolKind::vram, PoolKind::unified}) {
    CHECK(read_process_usage({{}, kind, 100 * card_unit, 100 * card_unit}) == 100);
    CHECK(read_process_usage({{}, kind, 100 * card_unit, 200 * card_unit}) == 0);
  }
  CHECK(read_process_usage({{}, PoolKind::host, 100 * card_unit, 200 * card_unit}) == 200);
}

TEST_CASE("a process may use all pools of a device that uses host RAM") {
  FakeCard apu;
  apu.identity.memory_kind = MemoryKind::unified;
  apu.total = 16 * card_unit;
  apu.host_bytes = 15 * card_unit;
  apu.process_bytes = 31 * card_unit;
  CHECK(read_process_usage(apu) == 31);
  apu.process_bytes = 32 * card_unit;
  CHECK(read_process_usage(apu) == 0);
  apu.identity.memory_kind = MemoryKind::dedicated;
  apu.process_bytes = 17 * card_unit;
  CHECK(read_process_usage(apu) == 0);
}

TEST_CASE("unified memory without a total has the host's total as its limit") {
  for (const std::uint64_t used : {100U, 101U}) {
    CheckedReading reading;
    reading.host_bytes = 100 * card_unit;
    const SourceCache cache = read_card({{}, PoolKind::unified, 0, used * card_unit}, reading);
    const Pool& pool = cache.devices[0].pools.value.all()[0];
    CHECK(pool.total == 100 * card_unit);
    CHECK((pool.notes & note::mixed) != 0);
    CHECK(pool.used.has_value() == (used == 100));
    CHECK(cache.devices[0].processes.value[0].used.has_value() == (used == 100));
    CHECK(reading.diagnostic_count == (used == 100 ? 0 : 2));
  }
  CheckedReading no_host;
  CHECK(!read_card({{}, PoolKind::unified, 0, 1}, no_host).devices[0].pools.value.all()[0].total);
}

namespace {

// Returns the size in GiB of the last partition of a card of 100, read twice: the sizes of the
// others are known by then. 0: implausible.
std::uint64_t read_last_size(Source id, std::vector<FakeCard> partitions) {
  FakeCard gpu;
  gpu.total = 100 * card_unit;
  partitions.insert(partitions.begin(), gpu);
  CardSource source(id, std::move(partitions));
  CheckedReading reading;
  SourceCache cache;
  Plan plan;
  plan.list = plan.pools = true;
  for (int i = 0; i < 2; ++i)
    static_cast<void>(query(source, plan, cache, reading, [](DeviceCache*) {}));
  const auto& pools = cache.devices.back().pools;
  return pools.failure ? 0 : pools.value.all()[0].total.value_or(0) / card_unit;
}

}  // namespace

TEST_CASE("GPU instances share the total; partitions of another kind may each have all of it") {
  CHECK(read_last_size(Source::nvml,
                       {make_card_partition(0, 1, 1, 60), make_card_partition(0, 2, 2, 40)}) == 40);
  CHECK(read_last_size(Source::nvml,
                       {make_card_partition(0, 1, 1, 60), make_card_partition(0, 2, 2, 50)}) == 0);
  CHECK(read_last_size(Source::nvml, {make_card_partition(0, 1, 1, 100),
                                      make_card_partition(0, 2, 2, 40)}) == 40);
  CHECK(read_last_size(Source::nvml,
                       {make_card_partition(0, 1, 1, 40), make_card_partition(0, 2, 2, 100)}) == 0);
  CHECK(read_last_size(Source::nvml, {make_card_partition(0, 1, 1, 100),
                                      make_card_partition(0, 2, 2, 100)}) == 0);
  CHECK(read_last_size(Source::nvml, {make_card_partition(0, 1, 1, 60),
                                      make_card_partition(0, 2, {}, 80)}) == 80);
  CHECK(read_last_size(Source::amdgpu, {make_card_partition(0, 1, 1, 100),
                                        make_card_partition(0, 2, 2, 100)}) == 100);
  CHECK(read_last_size(Source::amdgpu, {make_card_partition(0, 1, 1, 100),
                                        make_card_partition(0, 2, 2, 101)}) == 0);
}
