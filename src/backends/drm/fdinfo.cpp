// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include <algorithm>

#include "model/metric.hpp"
#include "model/scan.hpp"

namespace hmn::drm {
namespace {

struct KnownUnit {
  std::string_view name;
  std::uint32_t factor;
};
constexpr KnownUnit units_of_time[] = {{"ns", 1}};
constexpr KnownUnit units_of_memory[] = {
    {"", 1}, {"KiB", 1 << 10}, {"kB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

std::optional<std::uint64_t> with_unit(std::string_view value,
                                       std::span<const KnownUnit> units) noexcept {
  const auto count = scan::decimal(scan::take_word(value));
  const std::string_view name = scan::trim(value);
  for (const KnownUnit& u : units) {
    if (count && name == u.name) return scan::product(*count, u.factor);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_count(std::string_view value) noexcept {
  return scan::decimal(scan::trim(value));
}

template <class T, std::size_t N>
T* entry_of(std::array<T, N>& all, std::size_t& count, std::string_view name,
            bool& is_full) noexcept {
  for (T& e : std::span(all).first(count)) {
    if (e.name == name) return &e;
  }
  if (count == N) {
    is_full = true;
    return nullptr;
  }
  all[count].name = name;
  return &all[count++];
}

// Only the first line of a key counts.
void set(std::optional<std::uint64_t>& to, std::optional<std::uint64_t> value) noexcept {
  if (!to) to = value;
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
  Engine* const e = out.engine_of(key.substr(prefix.size()));
  if (e != nullptr && count && *count != 0) e->capacity = *count;
  return true;
}

bool take_engine(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  if (take_capacity(key, value, out)) return true;
  for (const EngineKey& k : engine_keys) {
    if (!key.starts_with(k.prefix)) continue;
    if (Engine* const e = out.engine_of(key.substr(k.prefix.size()))) {
      set(e->*k.member, k.is_time ? with_unit(value, units_of_time) : parse_count(value));
    }
    return true;
  }
  return false;
}

bool take_region(std::string_view key, std::string_view value, Fdinfo& out) noexcept {
  for (const RegionKey& k : region_keys) {
    if (!key.starts_with(k.prefix)) continue;
    if (Region* const r = out.region_of(key.substr(k.prefix.size()))) {
      const auto amount = parse_amount(value);
      out.is_garbled = out.is_garbled || !amount;
      set(r->*k.member, amount);
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
    set(out.client_id, parse_count(value));
  } else if (key == "drm-client-name") {
    out.client_name = value;
  } else if (key == "pasid") {
    set(out.pasid, parse_count(value));
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
  if (Region* const r = out.region_of(name)) set(r->memory, parse_amount(value));
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
std::string_view whole_lines(std::string_view text) noexcept {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

using Amount = std::optional<std::uint64_t>;

// Sum that one unknown part makes unknown; empty until something is added.
class Total {
 public:
  void add(Amount part) noexcept {
    if (is_known_) value_ = part ? scan::sum(value_.value_or(0), *part) : std::nullopt;
    is_known_ = value_.has_value();
    has_part_ = has_part_ || part;
  }
  [[nodiscard]] Amount value() const noexcept { return value_; }
  // Returns the bit of its field if some parts are known, but not all.
  [[nodiscard]] FieldSet lack(FieldSet bit) const noexcept {
    return has_part_ && !value_ ? bit : 0;
  }

 private:
  bool is_known_ = true;
  bool has_part_ = false;
  Amount value_;
};

// Empty buffers have no backing pages.
Amount backed(const Region& r) noexcept {
  const Amount reported = r.backed();
  return !reported && r.total == 0 ? Amount(0) : reported;
}

Amount best(const Region& r) noexcept {
  const Amount reported = r.backed();
  return reported ? reported : r.total;
}

// Where there are no buffers, none is shared.
Amount shared(const Region& r) noexcept {
  const bool is_empty = r.total ? *r.total == 0 : r.backed() == 0;
  return !r.shared && is_empty ? Amount(0) : r.shared;
}

Amount part_of(Amount part, Amount whole) noexcept {
  return part && whole ? Amount(std::min(*part, *whole)) : std::nullopt;
}

struct Totals {
  Total resident, committed, shared, purgeable, host, host_shared;
};

void add_region(const Region& r, RegionRole role, Totals& to) noexcept {
  const Amount size = best(r);
  if (role == RegionRole::host) {
    to.host.add(size);
    to.host_shared.add(part_of(shared(r), size));
  }
  if (role != RegionRole::device) return;
  to.resident.add(backed(r));
  to.committed.add(r.total);
  // The kernel counts shared buffers without backing store, too: they may be more than is resident.
  to.shared.add(shared(r));
  to.purgeable.add(r.purgeable);
}

void add_amount(Amount& to, Amount more, FieldSet bit, ClientUse& of) noexcept {
  Total sum;
  sum.add(to);
  sum.add(more);
  to = sum.value();
  of.lacks |= sum.lack(bit);
}

bool has_run(const Engine& e) noexcept {
  return e.busy_ns.value_or(0) != 0 || e.cycles.value_or(0) != 0;
}

void add_engines(const Fdinfo& from, KindOfEngine kind, ClientUse& out) noexcept {
  Total busy;
  for (const Engine& e : from.engines()) {
    if (!e.busy_ns && !e.cycles) continue;
    out.kinds = out.kinds.value_or(0) | (has_run(e) ? kind(e.name) : 0);
    if (e.busy_ns) busy.add(*e.busy_ns / e.capacity);
  }
  out.busy_ns = busy.value();
}

struct EngineNames {
  std::uint8_t is;
  std::string_view parts;
};

// The first of these that a name contains decides. Names by driver: i915: render, copy, video,
// video-enhance, compute. xe: rcs, bcs, vcs, vecs, ccs. amdgpu: gfx, compute, dma, dec, enc, enc_1,
// jpeg, vpe. v3d: bin, render, tfu, csd, cache_clean, cpu. panfrost: fragment, vertex-tiler. Others
// call their only engine gpu, or by the driver's name.
constexpr EngineNames usual_names[] = {
    {which::engine::compute, "compute ccs csd npu"},
    {which::engine::video, "video vcs vecs vpe vcn"},
    {which::engine::decode, "dec jpeg"},
    {which::engine::encode, "enc"},
    {which::engine::copy, "copy bcs dma tfu"},
    {which::engine::other, "cache_clean cpu"},
};

}  // namespace

Region* Fdinfo::region_of(std::string_view name) noexcept {
  return entry_of(regions_, region_count_, name, is_partial);
}

Engine* Fdinfo::engine_of(std::string_view name) noexcept {
  return entry_of(engines_, engine_count_, name, is_partial);
}

std::optional<std::uint64_t> parse_amount(std::string_view value) noexcept {
  return with_unit(value, units_of_memory);
}

std::optional<Fdinfo> parse_fdinfo(std::string_view text) noexcept {
  std::optional<Fdinfo> out(std::in_place);
  out->text = whole_lines(text);
  out->is_partial = is_cut(text);
  for (std::string_view rest = out->text; !rest.empty();) take_line(scan::take_line(rest), *out);
  if (out->driver.empty()) out.reset();
  return out;
}

std::optional<std::uint64_t> amount_of(std::string_view text, std::string_view key) noexcept {
  for (std::string_view rest = whole_lines(text); !rest.empty();) {
    const std::string_view line = scan::take_line(rest);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':') {
      return parse_amount(line.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

ClientUse measure(const Fdinfo& from, RoleOfRegion role, KindOfEngine kind) noexcept {
  Totals t;
  for (const Region& r : from.regions()) add_region(r, role(r.name), t);
  ClientUse out;
  out.resident = t.resident.value();
  out.committed = t.committed.value();
  out.shared = t.shared.value();
  out.purgeable = t.purgeable.value();
  out.host_pool = t.host.value();
  out.host_shared = t.host_shared.value();
  out.lacks = t.resident.lack(usage_field::resident) | t.committed.lack(usage_field::committed) |
              t.shared.lack(usage_field::shared) | t.purgeable.lack(usage_field::purgeable) |
              t.host.lack(usage_field::host_pool);
  out.is_partial = from.is_partial;
  if (!from.is_partial) {
    add_engines(from, kind, out);
  } else if (!out.resident) {
    // The resident part may be missing, and committed bytes are no lower bound of it.
    out.committed.reset();
  }
  return out;
}

void add(ClientUse& to, const ClientUse& more) noexcept {
  to.lacks |= more.lacks;
  add_amount(to.resident, more.resident, usage_field::resident, to);
  add_amount(to.committed, more.committed, usage_field::committed, to);
  add_amount(to.shared, more.shared, usage_field::shared, to);
  add_amount(to.purgeable, more.purgeable, usage_field::purgeable, to);
  add_amount(to.evicted, more.evicted, usage_field::evicted, to);
  add_amount(to.host_pool, more.host_pool, usage_field::host_pool, to);
  add_amount(to.busy_ns, more.busy_ns, usage_field::busy_ns, to);
  if (more.kinds) to.kinds = to.kinds.value_or(0) | *more.kinds;
  to.is_partial = to.is_partial || more.is_partial;
}

std::uint32_t usual_engine(std::string_view engine) noexcept {
  for (const EngineNames& n : usual_names) {
    if (scan::contains_any(engine, n.parts)) return n.is;
  }
  return which::engine::graphics;
}

std::uint32_t usual_kind(std::string_view engine) noexcept {
  switch (usual_engine(engine)) {
    case which::engine::graphics:
      return usage_kind::graphics;
    case which::engine::compute:
      return usage_kind::compute;
    case which::engine::copy:
    case which::engine::other:
      return 0;
    default:
      return usage_kind::media;
  }
}

RegionRole usual_role(std::string_view region) noexcept {
  if (scan::contains_any(region, "vram local")) return RegionRole::device;
  return scan::contains_any(region, "memory system gtt gart cpu stolen") ? RegionRole::host
                                                                         : RegionRole::ignored;
}

}  // namespace hmn::drm
