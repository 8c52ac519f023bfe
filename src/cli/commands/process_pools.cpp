// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_pools.hpp"

#include "cli/commands/process_columns.hpp"
#include "cli/text/memory_line.hpp"
#include "cli/text/table.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::pool_kind;
using hypomnesis::usage;

struct amount {
  const char* key;
  const char* title;  // NULL: only in JSON
  std::optional<std::uint64_t> usage::*bytes;
  std::uint32_t field = 0;  // HMN_USAGE_HAS_*
};
constexpr amount amounts[] = {
    {"used_bytes", "USED", &usage::used_bytes, HMN_USAGE_HAS_USED},
    {"allocated_bytes", "ALLOCATED", &usage::allocated_bytes, HMN_USAGE_HAS_ALLOCATED},
    {"resident_bytes", "RESIDENT", &usage::resident_bytes, HMN_USAGE_HAS_RESIDENT},
    {"committed_bytes", "COMMITTED", &usage::committed_bytes, HMN_USAGE_HAS_COMMITTED},
    {"evicted_bytes", "EVICTED", &usage::evicted_bytes, HMN_USAGE_HAS_EVICTED},
    {"purgeable_bytes", nullptr, &usage::purgeable_bytes},
    {"shared_bytes", nullptr, &usage::shared_bytes},
};

// Amounts of a process in one pool.
struct pool_part {
  word pool;
  usage of;
  bool is_mapped = false;  // host RAM that is mapped for the device: its use alone can be known
};

table::cell amount_cell(const process_row& row, const pool_part& part, const amount& which) {
  const auto& bytes = part.of.*which.bytes;
  if (!part.is_mapped) return size_or_missing(row, bytes, which.field, mark_of(part.of.notes));
  if (which.field == HMN_USAGE_HAS_USED)
    return size_or_missing(row, bytes, HMN_USAGE_HAS_HOST_POOL, mark_of(part.of.notes));
  return {std::string(sign_of_missing(true)), tone::faint};
}

std::vector<pool_part> pool_parts_of(const process_row& row) {
  const auto& main = row.on->memory;
  std::vector<pool_part> all{{main ? pool_word(main->kind) : word(), row.usage, false}};
  const bool is_in_ram =
      main && (main->kind == pool_kind::unified || main->kind == pool_kind::host);
  if (row.is_unattributed || (is_in_ram && !row.usage.host_pool_bytes)) return all;
  pool_part host{pool_word(pool_kind::host), {}, true};
  host.of.used_bytes = row.usage.host_pool_bytes;
  all.push_back(std::move(host));
  return all;
}

}  // namespace

std::string pool_table(const std::vector<process_row>& rows, const style& as) {
  std::vector<table::column> titles{{"PID", table::align::right}, {"NAME", {}, true}, {"POOL"}};
  for (const auto& each : amounts)
    if (each.title != nullptr) titles.push_back({each.title, table::align::right});
  titles.push_back({"DEVICE", {}, true});
  table out(std::move(titles));
  for (const auto& row : rows)
    for (const auto& part : pool_parts_of(row)) {
      auto cells = cells_of(row, {"pid", "name"}, as);
      cells.push_back({std::string(part.pool.value_or("?"))});
      for (const auto& each : amounts)
        if (each.title != nullptr) cells.push_back(amount_cell(row, part, each));
      cells.push_back(cells_of(row, {"device"}, as).front());
      out.add(std::move(cells));
    }
  return out.text(as);
}

void add_pools(const process_row& row, json_object& to) {
  std::vector<json_object> pools;
  for (const auto& part : pool_parts_of(row)) {
    auto& out = pools.emplace_back().add("pool", or_unknown(part.pool));
    for (const auto& each : amounts) out.add(each.key, part.of.*each.bytes);
  }
  to.add("pools", pools);
}

}  // namespace hmn::cli
