// SPDX-License-Identifier: MIT OR Apache-2.0
#include "kernel.hpp"

#include <cerrno>
#include <cstring>

namespace fake_drm {
namespace {

// By include/uapi/drm/i915_drm.h and xe_drm.h, field by field.
constexpr unsigned long i915_request = 0xC0106479;
constexpr unsigned long xe_request = 0xC0286440;
constexpr std::uint64_t i915_memory_regions = 4;
constexpr std::uint32_t xe_mem_regions = 1;

struct I915Query {
  std::uint32_t num_items, flags;
  std::uint64_t items_ptr;
};
struct I915Item {
  std::uint64_t query_id;
  std::int32_t length;
  std::uint32_t flags;
  std::uint64_t data_ptr;
};
struct XeQuery {
  std::uint64_t extensions;
  std::uint32_t query, size;
  std::uint64_t data, reserved[2];
};
constexpr std::size_t region_size = 88;

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_region(std::string& out, const Region& r, bool is_i915, bool perfmon) {
  const std::size_t start = out.size();
  append(out, r.memory_class);
  append(out, r.instance);
  append(out, std::uint32_t{0x10000});  // the alignment, the smallest page
  append(out, r.size);
  if (is_i915) {
    // The system region never counts what is allocated.
    const bool counts = perfmon && r.memory_class == 1;
    append(out, counts ? r.size - r.used : r.size);
    append(out, r.visible);
    append(out, counts ? r.visible - r.visible_used : r.visible);
  } else {
    append(out, perfmon ? r.used : 0);
    append(out, r.visible);
    append(out, perfmon ? r.visible_used : 0);
  }
  out.resize(start + region_size, '\0');
}

std::string whole(const Scenario& all, const Node& n, bool is_i915, std::size_t regions) {
  std::string out;
  const std::uint64_t lie = n.rule("count");
  append(out, static_cast<std::uint32_t>(lie != 0 ? lie : regions));
  out.resize(is_i915 ? 16 : 8, '\0');
  for (std::size_t i = 0; i < regions; ++i) {
    append_region(out, n.regions[i], is_i915, all.perfmon);
  }
  return out;
}

std::string text_of(const Scenario& all, const Node& n, const Session& s, bool is_i915) {
  const bool has_grown = n.rule("grow") == 0 || s.data_passes != 0;
  return whole(all, n, is_i915, n.regions.size() - (has_grown ? 0 : 1));
}

char* pointer(std::uint64_t address) {
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(address));
}

std::int32_t answer_item(const Scenario& all, const Node& n, Session& s, const I915Item& item) {
  if (n.rule("item") != 0) return -static_cast<std::int32_t>(n.rule("item"));
  if (item.query_id != i915_memory_regions || item.flags != 0) return -EINVAL;
  s.is_data_pass = item.length != 0;
  if (!s.is_data_pass) {
    const std::uint64_t needed = n.rule("needed");
    return static_cast<std::int32_t>(needed != 0 ? needed : text_of(all, n, s, true).size());
  }
  ++s.data_passes;
  const std::string text = text_of(all, n, s, true);
  if (item.length < static_cast<std::int32_t>(text.size())) return -EINVAL;
  static const char zeros[16] = {};
  if (std::memcmp(pointer(item.data_ptr), zeros, sizeof zeros) != 0) return -EINVAL;
  std::memcpy(pointer(item.data_ptr), text.data(), text.size());
  return static_cast<std::int32_t>(n.rule("length") != 0 ? n.rule("length") : text.size());
}

int answer_i915(const Scenario& all, const Node& n, Session& s, I915Query& q) {
  if (q.flags != 0) return EINVAL;
  for (std::uint32_t i = 0; i < q.num_items; ++i) {
    char* const at = pointer(q.items_ptr) + i * sizeof(I915Item);
    I915Item item;
    std::memcpy(&item, at, sizeof item);
    item.length = answer_item(all, n, s, item);
    std::memcpy(at, &item, sizeof item);
  }
  return 0;
}

int answer_xe(const Scenario& all, const Node& n, Session& s, XeQuery& q) {
  if (q.extensions != 0 || q.reserved[0] != 0 || q.reserved[1] != 0) return EINVAL;
  if (q.query != xe_mem_regions) return EINVAL;
  s.is_data_pass = q.size != 0;
  if (!s.is_data_pass) {
    const std::uint64_t needed = n.rule("needed");
    q.size = static_cast<std::uint32_t>(needed != 0 ? needed : text_of(all, n, s, false).size());
    return 0;
  }
  ++s.data_passes;
  const std::string text = text_of(all, n, s, false);
  if (q.size != text.size()) return EINVAL;
  std::memcpy(pointer(q.data), text.data(), text.size());
  return 0;
}

}  // namespace

int answer(const Scenario& all, const Node& n, Session& s, unsigned long request, void* argument) {
  s.is_data_pass = false;
  if (s.interruptions < n.rule("interrupt")) {
    ++s.interruptions;
    return EINTR;
  }
  if (n.rule("ioctl") != 0) return static_cast<int>(n.rule("ioctl"));
  if (n.language == "i915" && request == i915_request) {
    return answer_i915(all, n, s, *static_cast<I915Query*>(argument));
  }
  if (n.language == "xe" && request == xe_request) {
    return answer_xe(all, n, s, *static_cast<XeQuery*>(argument));
  }
  return EINVAL;  // drm_ioctl
}

}  // namespace fake_drm
