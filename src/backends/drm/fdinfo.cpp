// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include <algorithm>

#include "model/metric.hpp"
#include "model/scan.hpp"

namespace hmn::drm {
namespace {

struct UnitFactor {
  std::string_view name;
  std::uint32_t factor;
};
constexpr UnitFactor units_of_time[] = {{"ns", 1}};
constexpr UnitFactor units_of_memory[] = {
    {"", 1}, {"KiB", 1 << 10}, {"kB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

std::optional<std::uint64_t> parse_quantity(std::string_view value,
                                            std::span<const UnitFactor> units) noexcept {
  const auto count = scan::parse_decimal(scan::take_word(value));
  const std::string_view name = scan::trim(value);
  for (const UnitFactor& unit : units) {
    if (count && name == unit.name) return scan::checked_multiply(*count, unit.factor);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_count(std::string_view value) noexcept {
  return scan::parse_decimal(scan::trim(value));
}

template <class T, std::size_t N>
T* find_or_add(std::array<T, N>& entries, std::size_t& count, std::string_view name,
               bool& is_full) noexcept {
  for (T& entry : std::span(entries).first(count)) {
    if (entry.name == name) return &entry;
  }
  if (count == N) {
    is_full = true;
    return nullptr;
  }
  entries[count].name = name;
  return &entries[count++];
}

// Only the first line of a key counts.
void set_once(std::optional<std::uint64_t>& target, std::optional<std::uint64_t> value) noexcept {
  if (!target) target = value;
}

struct RegionKey {
  std::string_view prefix;
  std::optional<std::uint64_t> Region::*member;
};
constexpr RegionKey region_keys[] = {
    {"drm-total-", &Region::total},         {"drm-shared-", &Region::shared},
    {"drm-resident-", &Region::resident},   {"drm-memory-", &Region::memory},
    {"drm-purgeable-", &Region::purgeable},
};

struct EngineKey {
  std::string_view prefix;
  std::optional<std::uint64_t> Engine::*member;
  bool is_time;
};
// Matched before the regions' keys: "drm-total-cycles-" is no memory.
constexpr EngineKey engine_keys[] = {
    {"drm-engine-", &Engine::busy_ns, true},
    {"drm-cycles-", &Engine::cycles, false},
    {"drm-total-cycles-", &Engine::total_cycles, false},
};

bool take_capacity(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  constexpr std::string_view prefix = "drm-engine-capacity-";
  if (!key.starts_with(prefix)) return false;
  const auto count = parse_count(value);
  Engine* const engine = out.find_or_add_engine(key.substr(prefix.size()));
  if (engine != nullptr && count && *count != 0) engine->capacity = *count;
  return true;
}

bool take_engine(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  if (take_capacity(key, value, out)) return true;
  for (const EngineKey& entry : engine_keys) {
    if (!key.starts_with(entry.prefix)) continue;
    if (Engine* const engine = out.find_or_add_engine(key.substr(entry.prefix.size()))) {
      set_once(engine->*entry.member,
               entry.is_time ? parse_quantity(value, units_of_time) : parse_count(value));
    }
    return true;
  }
  return false;
}

bool take_region(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  for (const RegionKey& entry : region_keys) {
    if (!key.starts_with(entry.prefix)) continue;
    if (Region* const region = out.find_or_add_region(key.substr(entry.prefix.size()))) {
      const auto amount = parse_amount(value);
      out.is_garbled = out.is_garbled || !amount;
      set_once(region->*entry.member, amount);
    }
    return true;
  }
  return false;
}

bool take_identity(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  if (key == "drm-driver") {
    out.driver = value;
  } else if (key == "drm-pdev") {
    out.pci_address = value;
  } else if (key == "drm-client-id") {
    set_once(out.client_id, parse_count(value));
  } else if (key == "drm-client-name") {
    out.client_name = value;
  } else if (key == "pasid") {
    set_once(out.pasid, parse_count(value));
  } else {
    return false;
  }
  return true;
}

// Parses text of amdgpu in Linux 5.14 to 5.18: "pdev:", "vram mem:\t12 kB", "gfx0:\t1.23%".
void take_old_key(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  constexpr std::string_view suffix = " mem";
  if (key == "pdev" && out.pci_address.empty()) out.pci_address = value;
  if (!key.ends_with(suffix)) return;
  const std::string_view name = key.substr(0, key.size() - suffix.size());
  if (name != "vram" && name != "gtt" && name != "cpu") return;
  if (Region* const region = out.find_or_add_region(name))
    set_once(region->memory, parse_amount(value));
  if (out.driver.empty() && !out.pci_address.empty()) out.driver = "amdgpu";
}

void take_line(std::string_view line, Fdinfo& out) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = line.substr(0, colon);
  const std::string_view value = scan::trim(line.substr(colon + 1));
  if (take_identity(key, value, out)) return;
  if (!key.starts_with("drm-")) return take_old_key(key, value, out);
  if (!take_engine(key, value, out)) take_region(key, value, out);
}

// Drops an unterminated last line.
std::string_view drop_partial_line(std::string_view text) noexcept {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

using Amount = std::optional<std::uint64_t>;

// Sum that one unknown part makes unknown; empty until something is added.
class Total {
 public:
  void add(Amount part) noexcept {
    if (is_known_) value_ = part ? scan::checked_add(value_.value_or(0), *part) : std::nullopt;
    is_known_ = value_.has_value();
    has_part_ = has_part_ || part;
  }
  [[nodiscard]] Amount value() const noexcept { return value_; }
  // Returns the bit of its field if some parts are known, but not all.
  [[nodiscard]] FieldSet incomplete_bit(FieldSet bit) const noexcept {
    return has_part_ && !value_ ? bit : 0;
  }

 private:
  bool is_known_ = true;
  bool has_part_ = false;
  Amount value_;
};

// Empty buffers have no backing pages.
Amount backed_amount(const Region& region) noexcept {
  const Amount backed = region.backed();
  return !backed && region.total == 0 ? Amount(0) : backed;
}

Amount region_size(const Region& region) noexcept {
  const Amount backed = region.backed();
  return backed ? backed : region.total;
}

// Where there are no buffers, none is shared.
Amount shared_amount(const Region& region) noexcept {
  const bool is_empty = region.total ? *region.total == 0 : region.backed() == 0;
  return !region.shared && is_empty ? Amount(0) : region.shared;
}

Amount clamp_amount(Amount part, Amount whole) noexcept {
  return part && whole ? Amount(std::min(*part, *whole)) : std::nullopt;
}

struct Totals {
  Total resident, committed, shared, purgeable, host, host_shared;
};

void add_region(const Region& region, RegionRole role, Totals& totals) noexcept {
  const Amount size = region_size(region);
  if (role == RegionRole::host) {
    totals.host.add(size);
    totals.host_shared.add(clamp_amount(shared_amount(region), size));
  }
  if (role != RegionRole::device) return;
  totals.resident.add(backed_amount(region));
  totals.committed.add(region.total);
  // The kernel counts shared buffers without backing store, too: they may be more than is resident.
  totals.shared.add(shared_amount(region));
  totals.purgeable.add(region.purgeable);
}

void add_amount(Amount& target, Amount added, FieldSet bit, ClientUse& use) noexcept {
  Total sum;
  sum.add(target);
  sum.add(added);
  target = sum.value();
  use.incomplete_fields |= sum.incomplete_bit(bit);
}

bool has_run(const Engine& engine) noexcept {
  return engine.busy_ns.value_or(0) != 0 || engine.cycles.value_or(0) != 0;
}

void add_engines(const Fdinfo& info, EngineClassifier classify_engine, ClientUse& out) noexcept {
  Total busy;
  for (const Engine& engine : info.engines()) {
    if (!engine.busy_ns && !engine.cycles) continue;
    out.kinds = out.kinds.value_or(0) | (has_run(engine) ? classify_engine(engine.name) : 0);
    if (engine.busy_ns) busy.add(*engine.busy_ns / engine.capacity);
  }
  out.busy_ns = busy.value();
}

struct EngineNames {
  std::uint8_t engine_class;
  std::string_view words;
};

// The first of these that a name contains decides. Names by driver: i915: render, copy, video,
// video-enhance, compute. xe: rcs, bcs, vcs, vecs, ccs. amdgpu: gfx, compute, dma, dec, enc, enc_1,
// jpeg, vpe. v3d: bin, render, tfu, csd, cache_clean, cpu. panfrost: fragment, vertex-tiler. Others
// call their only engine gpu, or by the driver's name.
constexpr EngineNames common_engine_names[] = {
    {metric_instance::engine::compute, "compute ccs csd npu"},
    {metric_instance::engine::video, "video vcs vecs vpe vcn"},
    {metric_instance::engine::decode, "dec jpeg"},
    {metric_instance::engine::encode, "enc"},
    {metric_instance::engine::copy, "copy bcs dma tfu"},
    {metric_instance::engine::other, "cache_clean cpu"},
};

}  // namespace

Region* Fdinfo::find_or_add_region(std::string_view name) noexcept {
  return find_or_add(regions_, region_count_, name, is_partial);
}

Engine* Fdinfo::find_or_add_engine(std::string_view name) noexcept {
  return find_or_add(engines_, engine_count_, name, is_partial);
}

std::optional<std::uint64_t> parse_amount(std::string_view value) noexcept {
  return parse_quantity(value, units_of_memory);
}

std::optional<Fdinfo> parse_fdinfo(std::string_view text) noexcept {
  std::optional<Fdinfo> out(std::in_place);
  out->text = drop_partial_line(text);
  out->is_partial = is_cut(text);
  for (std::string_view rest = out->text; !rest.empty();) take_line(scan::take_line(rest), *out);
  if (out->driver.empty()) out.reset();
  return out;
}

std::optional<std::uint64_t> find_amount(std::string_view text, std::string_view key) noexcept {
  for (std::string_view rest = drop_partial_line(text); !rest.empty();) {
    const std::string_view line = scan::take_line(rest);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':') {
      return parse_amount(line.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

ClientUse measure(const Fdinfo& info, RegionClassifier classify_region,
                  EngineClassifier classify_engine) noexcept {
  Totals totals;
  for (const Region& region : info.regions())
    add_region(region, classify_region(region.name), totals);
  ClientUse out;
  out.resident = totals.resident.value();
  out.committed = totals.committed.value();
  out.shared = totals.shared.value();
  out.purgeable = totals.purgeable.value();
  out.host_pool = totals.host.value();
  out.host_shared = totals.host_shared.value();
  out.incomplete_fields = totals.resident.incomplete_bit(usage_field::resident) |
                          totals.committed.incomplete_bit(usage_field::committed) |
                          totals.shared.incomplete_bit(usage_field::shared) |
                          totals.purgeable.incomplete_bit(usage_field::purgeable) |
                          totals.host.incomplete_bit(usage_field::host_pool);
  out.is_partial = info.is_partial;
  if (!info.is_partial) {
    add_engines(info, classify_engine, out);
  } else if (!out.resident) {
    // The resident part may be missing, and committed bytes are no lower bound of it.
    out.committed.reset();
  }
  return out;
}

void add(ClientUse& sum, const ClientUse& use) noexcept {
  sum.incomplete_fields |= use.incomplete_fields;
  add_amount(sum.resident, use.resident, usage_field::resident, sum);
  add_amount(sum.committed, use.committed, usage_field::committed, sum);
  add_amount(sum.shared, use.shared, usage_field::shared, sum);
  add_amount(sum.purgeable, use.purgeable, usage_field::purgeable, sum);
  add_amount(sum.evicted, use.evicted, usage_field::evicted, sum);
  add_amount(sum.host_pool, use.host_pool, usage_field::host_pool, sum);
  add_amount(sum.busy_ns, use.busy_ns, usage_field::busy_ns, sum);
  if (use.kinds) sum.kinds = sum.kinds.value_or(0) | *use.kinds;
  sum.is_partial = sum.is_partial || use.is_partial;
}

std::uint32_t find_engine_class(std::string_view engine) noexcept {
  for (const EngineNames& names : common_engine_names) {
    if (scan::contains_any(engine, names.words)) return names.engine_class;
  }
  return metric_instance::engine::graphics;
}

std::uint32_t classify_engine_by_name(std::string_view engine) noexcept {
  switch (find_engine_class(engine)) {
    case metric_instance::engine::graphics:
      return usage_kind::graphics;
    case metric_instance::engine::compute:
      return usage_kind::compute;
    case metric_instance::engine::copy:
    case metric_instance::engine::other:
      return 0;
    default:
      return usage_kind::media;
  }
}

RegionRole classify_region_by_name(std::string_view region) noexcept {
  if (scan::contains_any(region, "vram local")) return RegionRole::device;
  return scan::contains_any(region, "memory system gtt gart cpu stolen") ? RegionRole::host
                                                                         : RegionRole::ignored;
}

}  // namespace hmn::drm
