// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/room.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/diagnostics.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

std::string why_not_known(const gpu& of, const std::vector<hmn_diagnostic>& diagnostics) {
  for (const auto& each : diagnostics)
    if (!is_trace(each) && each.subject == HMN_COLLECT_POOLS &&
        has(each, HMN_DIAGNOSTIC_HAS_DEVICE) && each.device_index == of.device.index)
      return each.message;
  if (of.device.state != HMN_STATE_READY)
    if (const auto state = state_word(of.device.state)) return fmt::format("it is {}", *state);
  return "its driver does not tell";
}

std::optional<std::uint64_t> bytes_of(const hmn_pool& pool) {
  if (has(pool, HMN_POOL_HAS_USABLE)) return pool.usable_bytes;
  return known(pool, HMN_POOL_HAS_FREE, pool.free_bytes);
}

room room_of(gpu of, const std::vector<hmn_diagnostic>& diagnostics) {
  room out;
  if (of.memory) {
    out.total = known(*of.memory, HMN_POOL_HAS_TOTAL, of.memory->total_bytes);
    out.bytes = bytes_of(*of.memory);
  }
  const bool sleeps = of.device.state == HMN_STATE_ASLEEP;
  if (!out.bytes && sleeps && out.total) {
    out.bytes = out.total;
    out.is_estimated = true;
  }
  if (of.device.state == HMN_STATE_LOST) out.bytes.reset();
  if (!out.bytes) out.why = why_not_known(of, diagnostics);
  out.of = std::move(of);
  return out;
}

bool is_divided(const std::vector<gpu>& all, std::uint32_t index) {
  return std::any_of(all.begin(), all.end(), [index](const gpu& each) {
    return has(each.device, HMN_DEVICE_HAS_PARENT) && each.device.parent_index == index;
  });
}

}  // namespace

std::vector<room> rooms_of(const snapshot& picture) {
  const auto diagnostics = picture.diagnostics();
  const auto gpus = gpus_of(picture);
  std::vector<room> all;
  for (const auto& each : gpus)
    if (!is_divided(gpus, each.device.index)) all.push_back(room_of(each, diagnostics));
  return all;
}

const room* roomiest(const std::vector<room>& all, std::uint64_t wanted) {
  const room* best = nullptr;
  for (const auto& each : all)
    if (each.bytes && *each.bytes >= wanted && (best == nullptr || *each.bytes > *best->bytes))
      best = &each;
  return best;
}

bool is_impossible(const std::vector<room>& all, std::uint64_t wanted) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [wanted](const room& each) {
    return each.total && *each.total < wanted;
  });
}

}  // namespace hmn::cli
