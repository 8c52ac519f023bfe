// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/free_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/diagnostics.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::part;
using hypomnesis::run_state;

std::string why_not_known(const gpu& of, const std::vector<hypomnesis::diagnostic>& diagnostics) {
  for (const auto& each : diagnostics)
    if (!is_trace(each) && each.subject == part::pools && each.device_index == of.device.index)
      return each.message;
  if (of.device.state != run_state::ready)
    if (const auto state = state_word(of.device.state)) return fmt::format("it is {}", *state);
  return "its driver does not tell";
}

std::optional<std::uint64_t> bytes_of(const hypomnesis::pool& pool) {
  return pool.usable_bytes ? pool.usable_bytes : pool.free_bytes;
}

free_memory free_memory_of(gpu of, const std::vector<hypomnesis::diagnostic>& diagnostics) {
  free_memory out;
  if (of.memory) {
    out.total = of.memory->total_bytes;
    out.bytes = bytes_of(*of.memory);
  }
  const bool sleeps = of.device.state == run_state::asleep;
  if (!out.bytes && sleeps && out.total) {
    out.bytes = out.total;
    out.is_estimated = true;
  }
  if (of.device.state == run_state::lost) out.bytes.reset();
  if (!out.bytes) out.why = why_not_known(of, diagnostics);
  out.of = std::move(of);
  return out;
}

}  // namespace

std::vector<free_memory> free_memory_of_all(const session& in,
                                            const hypomnesis::snapshot& snapshot) {
  const auto diagnostics = snapshot.diagnostics();
  const auto gpus = gpus_of(in, snapshot);
  std::vector<free_memory> all;
  for (const auto& each : gpus)
    if (!is_divided(gpus, each.device.index)) all.push_back(free_memory_of(each, diagnostics));
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

}  // namespace hmn::cli
