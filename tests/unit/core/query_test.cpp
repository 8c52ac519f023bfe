// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/query.hpp"

#include <doctest/doctest.h>

#include "source/interface.hpp"

using namespace hmn;

namespace {

// Its device has no name, so that core has something to say about the list.
class unnamed_source final : public device_source {
 public:
  unnamed_source() : device_source(source::nvml, calls::may_block) {}

  result<void> devices(std::vector<device>& out, reading& r) override {
    static_cast<void>(r.may_ask(0, 2));
    out.emplace_back().name.assign("Device 10de:2204");
    return {};
  }
};

constexpr std::uint64_t card_unit = std::uint64_t{1} << 30;

struct card {
  device identity;
  pool_kind kind = pool_kind::vram;
  std::uint64_t total = 0;
  std::uint64_t used_by_process = 0;
  std::uint64_t in_host = 0;  // a second pool
};

card part_of(slot gpu, slot number, std::optional<std::uint32_t> instance, std::uint64_t size_gib) {
  card c;
  c.identity.number = number;
  c.identity.is_part = true;
  c.identity.parent = gpu;
  if (instance) c.identity.instance = mig_instance{*instance, 0};
  c.total = size_gib * card_unit;
  return c;
}

// Each card has one pool and one process.
class card_source final : public device_source {
 public:
  card_source(source id, std::vector<card> all)
      : device_source(id, calls::may_block), all_(std::move(all)) {
    for (card& c : all_) c.identity.from = id;
  }

  result<void> devices(std::vector<device>& out, reading&) override {
    for (const card& c : all_) out.push_back(c.identity);
    return {};
  }
  result<void> memory(slot number, pools& out, reading&) override {
    pool p;
    p.kind = all_[number].kind;
    p.is_main = true;
    if (all_[number].total != 0) p.total = all_[number].total;
    p.used = all_[number].used_by_process;
    out.add(p);
    if (all_[number].in_host == 0) return {};
    pool host;
    host.kind = pool_kind::host;
    host.total = all_[number].in_host;
    out.add(host);
    return {};
  }
  result<void> processes(slot number, std::vector<usage>& out, reading&) override {
    usage& row = out.emplace_back();
    row.pid = 1;
    row.used = all_[number].used_by_process;
    return {};
  }

 private:
  std::vector<card> all_;
};

struct watched_reading final : reading {
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return 0; }
  [[nodiscard]] bool wants_trace() const noexcept override { return false; }
  bool may_ask(std::uint32_t, std::size_t) noexcept override { return is_asking = true; }
  void answered() noexcept override { is_asking = false; }
  void diagnose(const diagnostic& d) override {
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
  std::vector<diagnostic>* kept = nullptr;
};

// Lists an NPU with a partition, and a GPU, with a note about each.
class mixed_source final : public device_source {
 public:
  mixed_source() : device_source(source::drm, calls::may_block) {}

  result<void> devices(std::vector<device>& out, reading& r) override {
    for (const slot number : {0U, 1U, 2U}) {
      device& d = out.emplace_back();
      d.number = number;
      d.name.assign("Device");
      if (number == 0) d.device_class = device_class::npu;
      if (number == 0) d.form = device_form::integrated;
      d.is_part = number == 1;
      if (d.is_part) d.parent = 0;
      diagnostic note;
      note.about = subject::devices;
      note.device = number;
      r.diagnose(note);
    }
    return {};
  }
};

}  // namespace

TEST_CASE("what core does with a list of devices is not charged to the last one") {
  unnamed_source from;
  watched_reading r;
  source_cache out;
  plan p;
  p.list = true;
  static_cast<void>(query(from, p, out, r, [](device_cache*) {}));
  CHECK(r.diagnosed == 1);
}

TEST_CASE("a device of a class that was not asked for is not listed, nor what was noted about it") {
  mixed_source from;
  watched_reading r;
  source_cache out;
  r.kept = &out.diagnostics;
  plan p;
  p.list = true;
  static_cast<void>(query(from, p, out, r, [](device_cache*) {}));
  REQUIRE(out.devices.size() == 1);
  CHECK(out.devices[0].identity.number == 2);
  REQUIRE(out.diagnostics.size() == 1);
  CHECK(out.diagnostics[0].device == 2);
}

TEST_CASE("a partition has the class and the form of its parent") {
  mixed_source from;
  watched_reading r;
  source_cache out;
  plan p;
  p.list = true;
  p.device_classes = bit_of(device_class::npu);
  static_cast<void>(query(from, p, out, r, [](device_cache*) {}));
  REQUIRE(out.devices.size() == 2);
  CHECK(out.devices[1].identity.parent == 0);
  CHECK(out.devices[1].identity.device_class == device_class::npu);
  CHECK(out.devices[1].identity.form == device_form::integrated);
}

namespace {

// Reads a device with one process.
source_cache reading_of(const card& c, watched_reading& r) {
  card_source from(source::xe, {c});
  source_cache out;
  plan p;
  p.list = p.pools = p.processes = true;
  static_cast<void>(query(from, p, out, r, [](device_cache*) {}));
  return out;
}

// Returns what the process is taken to use, in units; 0: implausible.
std::uint64_t used_by_process(const card& c) {
  watched_reading r;
  const source_cache out = reading_of(c, r);
  return out.devices[0].processes.value[0].used.value_or(0) / card_unit;
}

}  // namespace

TEST_CASE("no process uses more than the device's memory") {
  for (const auto kind : {pool_kind::vram, pool_kind::unified}) {
    CHECK(used_by_process({{}, kind, 100 * card_unit, 100 * card_unit}) == 100);
    CHECK(used_by_process({{}, kind, 100 * card_unit, 200 * card_unit}) == 0);
  }
  CHECK(used_by_process({{}, pool_kind::host, 100 * card_unit, 200 * card_unit}) == 200);
}

TEST_CASE("a process may use all pools of a device that is in the host's RAM") {
  card apu;
  apu.identity.memory_kind = memory_kind::unified;
  apu.total = 16 * card_unit;
  apu.in_host = 15 * card_unit;
  apu.used_by_process = 31 * card_unit;
  CHECK(used_by_process(apu) == 31);
  apu.used_by_process = 32 * card_unit;
  CHECK(used_by_process(apu) == 0);
  apu.identity.memory_kind = memory_kind::dedicated;
  apu.used_by_process = 17 * card_unit;
  CHECK(used_by_process(apu) == 0);
}

TEST_CASE("unified memory without a total of its own has the host's, and no more") {
  for (const std::uint64_t used : {100U, 101U}) {
    watched_reading r;
    r.of_host = 100 * card_unit;
    const source_cache out = reading_of({{}, pool_kind::unified, 0, used * card_unit}, r);
    const pool& p = out.devices[0].pools.value.all()[0];
    CHECK(p.total == 100 * card_unit);
    CHECK((p.notes & note::mixed) != 0);
    CHECK(p.used.has_value() == (used == 100));
    CHECK(out.devices[0].processes.value[0].used.has_value() == (used == 100));
    CHECK(r.diagnosed == (used == 100 ? 0 : 2));
  }
  watched_reading no_host;
  CHECK(!reading_of({{}, pool_kind::unified, 0, 1}, no_host).devices[0].pools.value.all()[0].total);
}

namespace {

// Returns the size in GiB of the last partition of a card of 100, read twice: the sizes of the
// others are known by then. 0: implausible.
std::uint64_t last_size(source id, std::vector<card> partitions) {
  card gpu;
  gpu.total = 100 * card_unit;
  partitions.insert(partitions.begin(), gpu);
  card_source from(id, std::move(partitions));
  watched_reading r;
  source_cache out;
  plan p;
  p.list = p.pools = true;
  for (int i = 0; i < 2; ++i) static_cast<void>(query(from, p, out, r, [](device_cache*) {}));
  const auto& pools = out.devices.back().pools;
  return pools.why ? 0 : pools.value.all()[0].total.value_or(0) / card_unit;
}

}  // namespace

TEST_CASE(
    "an instance of a GPU has what the others leave; a partition of another kind may have all") {
  CHECK(last_size(source::nvml, {part_of(0, 1, 1, 60), part_of(0, 2, 2, 40)}) == 40);
  CHECK(last_size(source::nvml, {part_of(0, 1, 1, 60), part_of(0, 2, 2, 50)}) == 0);
  CHECK(last_size(source::nvml, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 40)}) == 40);
  CHECK(last_size(source::nvml, {part_of(0, 1, 1, 40), part_of(0, 2, 2, 100)}) == 0);
  CHECK(last_size(source::nvml, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 100)}) == 0);
  CHECK(last_size(source::nvml, {part_of(0, 1, 1, 60), part_of(0, 2, {}, 80)}) == 80);
  CHECK(last_size(source::amdgpu, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 100)}) == 100);
  CHECK(last_size(source::amdgpu, {part_of(0, 1, 1, 100), part_of(0, 2, 2, 101)}) == 0);
}
