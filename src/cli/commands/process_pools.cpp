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
};
constexpr amount amounts[] = {
    {"used_bytes", "USED", &usage::used_bytes},
    {"allocated_bytes", "ALLOCATED", &usage::allocated_bytes},
    {"resident_bytes", "RESIDENT", &usage::resident_bytes},
    {"committed_bytes", "COMMITTED", &usage::committed_bytes},
    {"evicted_bytes", "EVICTED", &usage::evicted_bytes},
    {"purgeable_bytes", nullptr, &usage::purgeable_bytes},
    {"shared_bytes", nullptr, &usage::shared_bytes},
};

// Amounts of a process in one pool.
struct pool_part {
  word pool;
  usage of;
};

std::vector<pool_part> parts_of(const process_row& row) {
  const auto& main = row.on->memory;
  std::vector<pool_part> all{{main ? pool_word(main->kind) : word(), row.usage}};
  const bool is_in_ram =
      main && (main->kind == pool_kind::unified || main->kind == pool_kind::host);
  if (row.is_unattributed || (is_in_ram && !row.usage.host_pool_bytes)) return all;
  pool_part host{pool_word(pool_kind::host), {}};
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
    for (const auto& part : parts_of(row)) {
      auto cells = cells_of(row, {"pid", "name"}, as);
      cells.push_back({std::string(part.pool.value_or("?"))});
      for (const auto& each : amounts)
        if (each.title != nullptr)
          cells.push_back(size_cell(part.of.*each.bytes, mark_of(part.of.notes)));
      cells.push_back(cells_of(row, {"device"}, as).front());
      out.add(std::move(cells));
    }
  return out.text(as);
}

void add_pools(const process_row& row, json_object& to) {
  std::vector<json_object> pools;
  for (const auto& part : parts_of(row)) {
    auto& out = pools.emplace_back().add("pool", or_unknown(part.pool));
    for (const auto& each : amounts) out.add(each.key, part.of.*each.bytes);
  }
  to.add("pools", pools);
}

}  // namespace hmn::cli
