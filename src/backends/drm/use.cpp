// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/use.hpp"

#include <algorithm>

#include "model/metric.hpp"
#include "model/scan.hpp"

namespace hmn::drm {
namespace {

using amount = std::optional<std::uint64_t>;

// Sum that becomes unknown with one unknown part; empty until something is added.
class total {
 public:
  void add(amount part) noexcept {
    if (is_known_) value_ = part ? scan::sum(value_.value_or(0), *part) : std::nullopt;
    is_known_ = value_.has_value();
    has_part_ = has_part_ || part;
  }
  [[nodiscard]] amount value() const noexcept { return value_; }
  // Returns the bit of its field if some parts are known, but not all.
  [[nodiscard]] std::uint32_t lack(std::uint32_t bit) const noexcept {
    return has_part_ && !value_ ? bit : 0;
  }

 private:
  bool is_known_ = true;
  bool has_part_ = false;
  amount value_;
};

// Empty buffers have no backing pages.
amount backed(const region& r) noexcept {
  const amount reported = r.backed();
  return !reported && r.total == 0 ? amount(0) : reported;
}

amount best(const region& r) noexcept {
  const amount reported = r.backed();
  return reported ? reported : r.total;
}

amount part_of(amount part, amount whole) noexcept {
  return part && whole ? amount(std::min(*part, *whole)) : std::nullopt;
}

struct totals {
  total resident, committed, shared, purgeable, host, host_shared;
};

void add_region(const region& r, region_role role, totals& to) noexcept {
  const amount size = best(r);
  if (role == region_role::host) {
    to.host.add(size);
    to.host_shared.add(part_of(r.shared, size));
  }
  if (role != region_role::device) return;
  to.resident.add(backed(r));
  to.committed.add(r.total);
  // The kernel counts buffers with and without backing store: they may be more than is resident.
  to.shared.add(r.shared);
  to.purgeable.add(r.purgeable);
}

void add_amount(amount& to, amount more, std::uint32_t bit, client_use& of) noexcept {
  total sum;
  sum.add(to);
  sum.add(more);
  to = sum.value();
  of.lacks |= sum.lack(bit);
}

bool has_run(const engine& e) noexcept {
  return e.busy_ns.value_or(0) != 0 || e.cycles.value_or(0) != 0;
}

void add_engines(const fdinfo& from, kind_of_engine kind, client_use& out) noexcept {
  total busy;
  for (const engine& e : from.engines()) {
    if (!e.busy_ns && !e.cycles) continue;
    out.kinds = out.kinds.value_or(0) | (has_run(e) ? kind(e.name) : 0);
    if (e.busy_ns) busy.add(*e.busy_ns / e.capacity);
  }
  out.busy_ns = busy.value();
}

}  // namespace

client_use measure(const fdinfo& from, role_of_region role, kind_of_engine kind) noexcept {
  totals t;
  for (const region& r : from.regions()) add_region(r, role(r.name), t);
  client_use out;
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

void add(client_use& to, const client_use& more) noexcept {
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

namespace {

struct engine_names {
  std::uint8_t is;
  std::string_view parts;
};

// Matches the first of these contained in a name. By driver: i915: render, copy, video,
// video-enhance, compute. xe: rcs, bcs, vcs, vecs, ccs. amdgpu: gfx, compute, dma, dec, enc, enc_1,
// jpeg, vpe. v3d: bin, render, tfu, csd, cache_clean, cpu. panfrost: fragment, vertex-tiler. Others
// name their only engine gpu or after the driver.
constexpr engine_names usual_names[] = {
    {which::engine::compute, "compute ccs csd npu"},
    {which::engine::video, "video vcs vecs vpe vcn"},
    {which::engine::decode, "dec jpeg"},
    {which::engine::encode, "enc"},
    {which::engine::copy, "copy bcs dma tfu"},
    {which::engine::other, "cache_clean cpu"},
};

}  // namespace

std::uint32_t usual_engine(std::string_view engine) noexcept {
  for (const engine_names& n : usual_names) {
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

region_role usual_role(std::string_view region) noexcept {
  if (scan::contains_any(region, "vram local")) return region_role::device;
  return scan::contains_any(region, "memory system gtt gart cpu stolen") ? region_role::host
                                                                         : region_role::ignored;
}

}  // namespace hmn::drm
