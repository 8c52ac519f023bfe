// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/summary_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "cli/measure/by_device.hpp"
#include "cli/measure/free_memory.hpp"
#include "cli/measure/gpu_cells.hpp"
#include "cli/text/bar.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/memory_line.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/table.hpp"
#include "cli/text/width.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::device_memory;
using align = table::align;
using cell = table::cell;

// Form of the table. `extras`: 3: all columns, 2: no driver, 1: no reserved memory, 0: no kind of
// memory either.
struct layout {
  unsigned extras;
  unsigned bar;  // cells; 0: none
  std::size_t name;
  shown_users users;
  spacing with = spacing::roomy;
  std::size_t gap = 2;
};

constexpr std::size_t whole_names = 4096;

// Forms from the widest on, each of which gives up what is needed least.
constexpr layout layouts[] = {
    {3, 20, whole_names, shown_users::all},
    {2, 20, whole_names, shown_users::all},
    {1, 20, whole_names, shown_users::all},
    {0, 20, whole_names, shown_users::all},
    {0, 20, 20, shown_users::all},
    {0, 10, 20, shown_users::all},
    {0, 20, 20, shown_users::all, spacing::compact},
    {0, 10, 20, shown_users::all, spacing::compact},
    {0, 10, 14, shown_users::all, spacing::compact},
    {0, 10, 14, shown_users::first, spacing::compact},
    {0, 6, 12, shown_users::first, spacing::compact},
    {0, 6, 9, shown_users::first, spacing::compact, 1},
    {0, 4, 9, shown_users::first, spacing::compact, 1},
    {0, 4, 7, shown_users::sum, spacing::compact, 1},
    {0, 0, 7, shown_users::sum, spacing::compact, 1},
};

cell bar_cell(std::optional<double> used, const layout& in, const style& as) {
  if (!used) return {};
  return {draw_bar(*used, in.bar, as.unicode), tone_of_usage(*used)};
}

std::optional<std::uint64_t> difference(std::optional<std::uint64_t> a,
                                        std::optional<std::uint64_t> b) {
  return a && b ? std::optional(*a - std::min(*a, *b)) : std::nullopt;
}

std::string_view kind_text(device_memory of) {
  if (of == device_memory::unified) return "unified";
  return of == device_memory::coherent ? "coherent" : "";
}

cell reserved_cell(const gpu& of) {
  const auto reserved = of.memory ? of.memory->reserved_bytes : std::nullopt;
  return reserved ? cell{gib_text(*reserved) + " GiB"} : cell{};
}

cell driver_cell(const gpu& of, const style& as) {
  const auto& version = of.device.driver_version;
  return version ? cell{escape_for_text(*version, as.ascii_only)} : cell{};
}

// Row of the table: the parent and the next row decide how a partition is drawn.
struct drawn_gpu {
  const gpu_status* status = nullptr;
  const gpu_status* parent = nullptr;
  bool is_last = false;  // of its parent
};

const gpu_status* find(const std::vector<gpu_status>& all, std::optional<std::uint32_t> index) {
  if (!index) return nullptr;
  return find_device_in(all, *index, [](const gpu_status& each) { return each.of.device.index; });
}

// Puts partitions below their GPU.
std::vector<drawn_gpu> in_order(const std::vector<gpu_status>& all) {
  std::vector<drawn_gpu> rows;
  for (const auto& each : all)
    rows.push_back({&each, find(all, each.of.device.parent_index), true});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return place_of(a.status->of.device) < place_of(b.status->of.device);
  });
  for (std::size_t i = 0; i + 1 < rows.size(); ++i)
    rows[i].is_last = rows[i].parent != rows[i + 1].parent;
  return rows;
}

std::string branch_of(bool is_last, const style& as) {
  if (!as.unicode) return "  ";
  return is_last ? "\u2514 " : "\u251c ";
}

cell name_cell(const drawn_gpu& row, const layout& in, const style& as) {
  auto name = escape_for_text(short_name(row.status->of, row.parent ? &row.parent->of : nullptr),
                              as.ascii_only);
  if (!row.status->of.device.parent_index) return {std::move(name), tone::strong};
  constexpr std::string_view needless = "MIG ";
  if (in.gap == 1 && name.starts_with(needless)) name.erase(0, needless.size());
  return {branch_of(row.is_last, as) + name};
}

const char* title(const layout& in, const char* roomy, const char* compact) {
  return in.with == spacing::roomy ? roomy : compact;
}

std::vector<table::column> columns_of(const layout& in, const style& as) {
  std::vector<table::column> all{{"GPU", align::right},
                                 {"NAME", align::left, in.name != whole_names, in.name, true},
                                 {title(in, "LOAD", "%"), align::right}};
  if (in.bar > 0) all.push_back({""});
  all.push_back({title(in, "MEMORY", "GiB"), align::right});
  if (in.extras >= 1) all.push_back({"", align::left, false, 0, false, true});
  all.push_back({title(in, "TEMP", as.ascii_only ? "C" : "\u00b0C"), align::right});
  all.push_back({title(in, "POWER", "W"), align::right});
  if (in.extras >= 2) all.push_back({"RESERVED", align::right, false, 0, false, true});
  if (in.extras >= 3) all.push_back({"DRIVER", align::left, false, 0, false, true});
  all.push_back(
      {in.gap == 1 ? "USERS" : "USERS, GiB", align::left, in.users != shown_users::all, 10});
  return all;
}

std::vector<cell> gpu_row(const drawn_gpu& row, const layout& in, const style& as) {
  const auto& of = *row.status;
  std::vector<cell> cells{
      {std::to_string(of.of.device.index)}, name_cell(row, in, as), load_cell(of, in.with)};
  if (in.bar > 0) cells.push_back(bar_cell(fraction_used(of.of), in, as));
  cells.push_back(memory_cell(of, in.with));
  if (in.extras >= 1) cells.push_back({std::string(kind_text(of.of.device.memory_kind))});
  cells.push_back(temperature_cell(of, in.with, as));
  cells.push_back(power_cell(of, in.with));
  if (in.extras >= 2) cells.push_back(reserved_cell(of.of));
  if (in.extras >= 3) cells.push_back(driver_cell(of.of, as));
  cells.push_back(users_cell(of, in.users, as));
  return cells;
}

// Row of host memory, which has no other values.
void add_host_row(table& to, const char* label, const std::string& name, const cell& memory,
                  std::optional<double> used, const layout& in, const style& as) {
  std::vector<cell> cells{{label, tone::strong}, {name}, {}};
  if (in.bar > 0) cells.push_back(bar_cell(used, in, as));
  cells.push_back(memory);
  cells.resize(columns_of(in, as).size());
  to.add(std::move(cells));
}

void add_host(table& to, const std::optional<hypomnesis::system_memory>& ram, const layout& in,
              const style& as) {
  if (!ram) return add_host_row(to, "RAM", "", {"?", tone::faint}, std::nullopt, in, as);
  const auto row = [&](const char* label, const std::string& name,
                       std::optional<std::uint64_t> used, std::optional<std::uint64_t> total) {
    add_host_row(to, label, name, {amount_text(mark_of(ram->notes), used, total, in.with)},
                 used && total ? fraction_of(*used, *total) : std::nullopt, in, as);
  };
  row("RAM", "", difference(ram->total_bytes, ram->available_bytes), ram->total_bytes);
  if (ram->limit_bytes)
    row("", branch_of(true, as) + "limit", used_of_limit(*ram), ram->limit_bytes);
}

table table_in(const layout& in, const std::optional<hypomnesis::system_memory>& ram,
               const std::vector<drawn_gpu>& gpus, const style& as) {
  table out(columns_of(in, as));
  out.set_gap(in.gap);
  add_host(out, ram, in, as);
  for (const auto& each : gpus) out.add(gpu_row(each, in, as));
  out.remove_empty();
  return out;
}

}  // namespace

std::string summary_table(const std::optional<hypomnesis::system_memory>& ram,
                          const std::vector<gpu_status>& gpus,
                          const std::vector<std::string>& reasons, const style& as) {
  const auto rows = in_order(gpus);
  std::string text;
  for (const auto& in : layouts) {
    const auto made = table_in(in, ram, rows, as);
    text = made.text(as);
    if (as.width == 0 || made.fits(as.width)) break;
  }
  for (const auto& line : reasons)
    text += wrap(escape_for_text(line, as.ascii_only), as.width, 2) + "\n";
  return text;
}

}  // namespace hmn::cli
