// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/free_memory.hpp"

#include <algorithm>

namespace hmn::cli {
namespace {

using hypomnesis::part;
using hypomnesis::pool_field;
using hypomnesis::run_state;

free_memory free_memory_of(gpu of, const hypomnesis::snapshot& snapshot) {
  free_memory out;
  if (of.memory) {
    out.total = of.memory->total_bytes;
    out.bytes = of.memory->usable_bytes;
  }
  out.is_estimated = out.bytes && of.device.state == run_state::asleep;
  if (!out.bytes) out.why = why_not_usable(of, snapshot);
  out.of = std::move(of);
  return out;
}

}  // namespace

std::string why_not_usable(const gpu& of, const hypomnesis::snapshot& snapshot) {
  return snapshot.reason(of.device.index, part::pools, number(pool_field::usable))->message;
}

std::vector<free_memory> free_memory_of_all(const session& in,
                                            const hypomnesis::snapshot& snapshot) {
  std::vector<free_memory> all;
  for (const auto& each : gpus_of(in, snapshot))
    if (!is_divided(each.device)) all.push_back(free_memory_of(each, snapshot));
  return all;
}

const free_memory* largest_free(const std::vector<free_memory>& all, std::uint64_t wanted) {
  const free_memory* best = nullptr;
  for (const auto& each : all)
    if (each.bytes && *each.bytes >= wanted && (best == nullptr || *each.bytes > *best->bytes))
      best = &each;
  return best;
}

bool is_impossible(const std::vector<free_memory>& all, std::uint64_t wanted) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [wanted](const free_memory& each) {
    return each.total && *each.total < wanted;
  });
}

bool is_limited(const hypomnesis::system_memory& ram) {
  return ram.limit_bytes && ram.usable_bytes && ram.available_bytes &&
         *ram.usable_bytes < *ram.available_bytes && *ram.usable_bytes <= *ram.limit_bytes;
}

std::optional<std::uint64_t> used_of_limit(const hypomnesis::system_memory& ram) {
  // Where the machine has less left, what the limit leaves is not known.
  if (!is_limited(ram) || !ram.limit_used_bytes) return ram.limit_used_bytes;
  return std::min(*ram.limit_used_bytes, *ram.limit_bytes - *ram.usable_bytes);
}

}  // namespace hmn::cli
