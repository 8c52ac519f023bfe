// SPDX-License-Identifier: MIT OR Apache-2.0
#include "kernel.hpp"

#include <cerrno>
#include <cstring>

namespace fake_drm {
namespace {

// From include/uapi/drm/i915_drm.h and xe_drm.h.
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

void append_region(std::string& out, const Region& region, bool is_i915, bool perfmon) {
  const std::size_t start = out.size();
  append(out, region.memory_class);
  append(out, region.instance);
  append(out, std::uint32_t{0x10000});  // the alignment, the smallest page
  append(out, region.size);
  if (is_i915) {
    // The system region never counts what is allocated.
    const bool counts = perfmon && region.memory_class == 1;
    append(out, counts ? region.size - region.used : region.size);
    append(out, region.visible);
    append(out, counts ? region.visible - region.visible_used : region.visible);
  } else {
    append(out, perfmon ? region.used : 0);
    append(out, region.visible);
    append(out, perfmon ? region.visible_used : 0);
  }
  out.resize(start + region_size, '\0');
}

std::string make_region_answer(const Scenario& scenario, const Node& node, bool is_i915,
                               std::size_t regions) {
  std::string out;
  const std::uint64_t fake_count = node.rule("count");
  append(out, static_cast<std::uint32_t>(fake_count != 0 ? fake_count : regions));
  out.resize(is_i915 ? 16 : 8, '\0');
  for (std::size_t i = 0; i < regions; ++i) {
    append_region(out, node.regions[i], is_i915, scenario.perfmon);
  }
  return out;
}

std::string make_answer(const Scenario& scenario, const Node& node, const Session& session,
                        bool is_i915) {
  const bool has_grown = node.rule("grow") == 0 || session.data_passes != 0;
  return make_region_answer(scenario, node, is_i915, node.regions.size() - (has_grown ? 0 : 1));
}

char* pointer(std::uint64_t address) {
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(address));
}

std::int32_t answer_item(const Scenario& scenario, const Node& node, Session& session,
                         const I915Item& item) {
  if (node.rule("item") != 0) return -static_cast<std::int32_t>(node.rule("item"));
  if (item.query_id != i915_memory_regions || item.flags != 0) return -EINVAL;
  session.is_data_pass = item.length != 0;
  if (!session.is_data_pass) {
    const std::uint64_t needed = node.rule("needed");
    return static_cast<std::int32_t>(
        needed != 0 ? needed : make_answer(scenario, node, session, true).size());
  }
  ++session.data_passes;
  const std::string text = make_answer(scenario, node, session, true);
  if (item.length < static_cast<std::int32_t>(text.size())) return -EINVAL;
  static const char zeros[16] = {};
  if (std::memcmp(pointer(item.data_ptr), zeros, sizeof zeros) != 0) return -EINVAL;
  std::memcpy(pointer(item.data_ptr), text.data(), text.size());
  return static_cast<std::int32_t>(node.rule("length") != 0 ? node.rule("length") : text.size());
}

int answer_i915(const Scenario& scenario, const Node& node, Session& session, I915Query& query) {
  if (query.flags != 0) return EINVAL;
  for (std::uint32_t i = 0; i < query.num_items; ++i) {
    char* const item_bytes = pointer(query.items_ptr) + i * sizeof(I915Item);
    I915Item item;
    std::memcpy(&item, item_bytes, sizeof item);
    item.length = answer_item(scenario, node, session, item);
    std::memcpy(item_bytes, &item, sizeof item);
  }
  return 0;
}

int answer_xe(const Scenario& scenario, const Node& node, Session& session, XeQuery& query) {
  if (query.extensions != 0 || query.reserved[0] != 0 || query.reserved[1] != 0) return EINVAL;
  if (query.query != xe_mem_regions) return EINVAL;
  session.is_data_pass = query.size != 0;
  if (!session.is_data_pass) {
    const std::uint64_t needed = node.rule("needed");
    query.size = static_cast<std::uint32_t>(
        needed != 0 ? needed : make_answer(scenario, node, session, false).size());
    return 0;
  }
  ++session.data_passes;
  const std::string text = make_answer(scenario, node, session, false);
  if (query.size != text.size()) return EINVAL;
  std::memcpy(pointer(query.data), text.data(), text.size());
  return 0;
}

}  // namespace

int answer(const Scenario& scenario, const Node& node, Session& session, unsigned long request,
           void* argument) {
  session.is_data_pass = false;
  if (session.interruptions < node.rule("interrupt")) {
    ++session.interruptions;
    return EINTR;
  }
  if (node.rule("ioctl") != 0) return static_cast<int>(node.rule("ioctl"));
  if (node.language == "i915" && request == i915_request) {
    return answer_i915(scenario, node, session, *static_cast<I915Query*>(argument));
  }
  if (node.language == "xe" && request == xe_request) {
    return answer_xe(scenario, node, session, *static_cast<XeQuery*>(argument));
  }
  return EINVAL;  // drm_ioctl
}

}  // namespace fake_drm
