// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/query.hpp"

#include <doctest/doctest.h>

#include "source/interface.hpp"

using namespace hmn;

namespace {

// Its device has no name, so that core has something to say about the list.
class UnnamedSource final : public DeviceSource {
 public:
  UnnamedSource() : DeviceSource(Source::nvml, Calls::may_block) {}

  Result<void> devices(std::vector<Device>& out, Reading& r) override {
    static_cast<void>(r.may_ask(0, 2));
    out.emplace_back().name.assign("Device 10de:2204");
    return {};
  }
};

constexpr std::uint64_t card_unit = std::uint64_t{1} << 30;

struct Card {
  Device identity;
  PoolKind kind = PoolKind::vram;
  std::uint64_t total = 0;
  std::uint64_t used_by_process = 0;
  std::uint64_t in_host = 0;  // a second pool
};

Card part_of(Slot gpu, Slot number, std::optional<std::uint32_t> instance, std::uint64_t size_gib) {
  Card c;
  c.identity.number = number;
  c.identity.is_part = true;
  c.identity.parent = gpu;
  if (instance) c.identity.instance = MigInstance{*instance, 0};
  c.total = size_gib * card_unit;
  return c;
}

// Each card has one pool and one process.
class CardSource final : public DeviceSource {
 public:
  CardSource(Source id, std::vector<Card> all)
      : DeviceSource(id, Calls::may_block), all_(std::move(all)) {
    for (Card& c : all_) c.identity.from = id;
  }

  Result<void> devices(std::vector<Device>& out, Reading&) override {
    for (const Card& c : all_) out.push_back(c.identity);
    return {};
  }
  Result<void> memory(Slot number, Pools& out, Reading&) override {
    Pool p;
    p.kind = all_[number].kind;
    p.is_main = true;
    if (all_[number].total != 0) p.total = all_[number].total;
    p.used = all_[number].used_by_process;
    out.add(p);
    if (all_[number].in_host == 0) return {};
    Pool host;
    host.kind = PoolKind::host;
    host.total = all_[number].in_host;
    out.add(host);
    return {};
  }
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading&) override {
    Usage& row = out.emplace_back();
    row.pid = 1;
    row.used = all_[number].used_by_process;
    return {};
  }

 private:
  std::vector<Card> all_;
};

struct WatchedReading final : Reading {
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return 0; }
  [[nodiscard]] bool wants_trace() const noexcept override { return false; }
  bool may_ask(std::uint32_t, std::size_t) noexcept override { return is_asking = true; }
  void answered() noexcept override { is_asking = false; }
  void diagnose(const Diagnostic& d) override {
    ++diagnosed;
    if (kept != nullptr) kept->push_back(d);
    CHECK_FALSE(is_asking);
  }
  void opening() noexcept override {}
  void opened() noexcept override {}
  [[nodiscard]] std::optional<std::uint64_t> host_total() const override { return of_host; }

  std::optional<std::uint64_t> of_host;
  bool is_asking = false;
  int diagnosed = 0;
  std::vector<Diagnostic>* kept = nullptr;
};

// Lists an NPU with a partition, and a GPU, with a note about each.
class MixedSource final : public DeviceSource {
 public:
  MixedSource() : DeviceSource(Source::drm, Calls::may_block) {}

  Result<void> devices(std::vector<Device>& out, Reading& r) override {
    for (const Slot number : {0U, 1U, 2U}) {
      Device& d = out.emplace_back();
      d.number = number;
      d.name.assign("Device");
      if (number == 0) d.device_class = DeviceClass::npu;
      if (number == 0) d.form = DeviceForm::integrated;
      d.is_part = number == 1;
      if (d.is_part) d.parent = 0;
      Diagnostic note;
      note.about = subject::devices;
      note.device = number;
      r.diagnose(note);
    }
    return {};
  }
};

}  // namespace

TEST_CASE("what core does with a list of devices is not charged to the last one") {
  UnnamedSource from;
  WatchedReading r;
  SourceCache out;
  Plan p;
  p.list = true;
  static_cast<void>(query(from, p, out, r, [](DeviceCache*) {}));
  CHECK(r.diagnosed == 1);
}

TEST_CASE("a device of a class that was not asked for is not listed, nor what was noted about it") {
  MixedSource from;
  WatchedReading r;
  SourceCache out;
  r.kept = &out.diagnostics;
  Plan p;
  p.list = true;
  static_cast<void>(query(from, p, out, r, [](DeviceCache*) {}));
  REQUIRE(out.devices.size() == 1);
  CHECK(out.devices[0].identity.number == 2);
  REQUIRE(out.diagnostics.size() == 1);
  CHECK(out.diagnostics[0].device == 2);
}

TEST_CASE("a partition has the class and the form of its parent") {
  MixedSource from;
  WatchedReading r;
  SourceCache out;
  Plan p;
  p.list = true;
  p.device_classes = bit_of(DeviceClass::npu);
  static_cast<void>(query(from, p, out, r, [](DeviceCache*) {}));
  REQUIRE(out.devices.size() == 2);
  CHECK(out.devices[1].identity.parent == 0);
  CHECK(out.devices[1].identity.device_class == DeviceClass::npu);
  CHECK(out.devices[1].identity.form == DeviceForm::integrated);
}

namespace {

// Reads a device with one process.
SourceCache reading_of(const Card& c, WatchedReading& r) {
  CardSource from(Source::xe, {c});
  SourceCache out;
  Plan p;
  p.list = p.pools = p.processes = true;
  static_cast<void>(query(from, p, out, r, [](DeviceCache*) {}));
  return out;
}

// Returns what the process is taken to use, in units; 0: implausible.
std::uint64_t used_by_process(const Card& c) {
  WatchedReading r;
  const SourceCache out = reading_of(c, r);
  return out.devices[0].processes.value[0].used.value_or(0) / card_unit;
}

}  // namespace

TEST_CASE("no process uses more than the device's memory") {
  for (const auto kind : {PoolKind::vram, PoolKind::unified}) {
    CHECK(used_by_process({{}, kind, 100 * card_unit, 100 * card_unit}) == 100);
    CHECK(used_by_process({{}, kind, 100 * card_unit, 200 * card_unit}) == 0);
  }
  CHECK(used_by_process({{}, PoolKind::host, 100 * card_unit, 200 * card_unit}) == 200);
}

TEST_CASE("a process may use all pools of a device that is in the host's RAM") {
  Card apu;
  apu.identity.memory_kind = MemoryKind::unified;
  apu.total = 16 * card_unit;
  apu.in_host = 15 * card_unit;
  apu.used_by_process = 31 * card_unit;
  CHECK(used_by_process(apu) == 31);
  apu.used_by_process = 32 * card_unit;
  CHECK(used_by_process(apu) == 0);
  apu.identity.memory_kind = MemoryKind::dedicated;
  apu.used_by_process = 17 * card_unit;
  CHECK(used_by_process(apu) == 0);
}

TEST_CASE("unified memory without a total of its own has the host's, and no more") {
  for (const std::uint64_t used : {100U, 101U}) {
    WatchedReading r;
    r.of_host = 100 * card_unit;
    const SourceCache out = reading_of({{}, PoolKind::unified, 0, used * card_unit}, r);
    const Pool& p = out.devices[0].pools.value.all()[0];
    CHECK(p.total == 100 * card_unit);
    CHECK((p.notes & note::mixed) != 0);
    CHECK(p.used.has_value() == (used == 100));
    CHECK(out.devices[0].processes.value[0].used.has_value() == (used == 100));
    CHECK(r.diagnosed == (used == 100 ? 0 : 2));
  }
  WatchedReading no_host;
  CHECK(!reading_of({{}, PoolKind::unified, 0, 1}, no_host).devices[0].pools.value.all()[0].total);
}

namespace {

// Returns the size in GiB of the last partition of a card of 100, read twice: the sizes of the
// others are known by then. 0: implausible.
std::uint64_t last_size(Source id, std::vector<Card> partitions) {
  Card gpu;
  gpu.total = 100 * card_unit;
  partitions.insert(partitions.begin(), gpu);
  CardSource from(id, std::move(partitions));
  WatchedReading r;
  SourceCache out;
  Plan p;
  p.list = p.pools = true;
  for (int i = 0; i < 2; ++i) static_cast<void>(query(from, p, out, r, [](DeviceCache*) {}));
  const auto& pools = out.devices.back().pools;
  return pools.why ? 0 : pools.value.all()[0].total.value_or(0) / card_unit;
}

}  // namespace

TEST_CASE(
    "an instance of a GPU has what the others leave; a partition of another kind may have all") {
  CHECK(last_size(Source::nvml, {part_of(0, 1, 1, 60), part_of(0, 2, 2, 40)}) == 40);
  CHECK(last_size(Source::nvml, {part_of(0, 1, 1, 60), part_of(0, 2, 2, 50)}) == 0);
  CHECK(last_size(Source::nvml, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 40)}) == 40);
  CHECK(last_size(Source::nvml, {part_of(0, 1, 1, 40), part_of(0, 2, 2, 100)}) == 0);
  CHECK(last_size(Source::nvml, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 100)}) == 0);
  CHECK(last_size(Source::nvml, {part_of(0, 1, 1, 60), part_of(0, 2, {}, 80)}) == 80);
  CHECK(last_size(Source::amdgpu, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 100)}) == 100);
  CHECK(last_size(Source::amdgpu, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 101)}) == 0);
}
