// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hypomnesis.hpp>

#include "cli/text/bar.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/memory_line.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;

using hypomnesis::note;

using cell = table::cell;

cell unknown() {
  return {"?", tone::faint};
}

cell text_cell(const std::optional<std::string>& text, const style& as) {
  return text ? cell{escape_for_text(*text, as.ascii_only)} : unknown();
}

cell size_cell(std::optional<std::uint64_t> bytes, std::string_view mark = {}) {
  return bytes ? cell{std::string(mark) + format_bytes(*bytes)} : unknown();
}

// Cells of a bar, by the room that there is.
unsigned bar_cells(const style& as) {
  if (!as.terminal) return 0;
  if (as.width == 0 || as.width >= 100) return 10;
  return as.width >= 72 ? 6 : 0;
}

std::optional<double> share_of_device(const process_row& row) {
  const auto& pool = row.on->memory;
  if (!row.usage.used_bytes || !pool || !pool->total_bytes) return std::nullopt;
  return fraction_of(*row.usage.used_bytes, *pool->total_bytes);
}

}  // namespace

bool has_bars(const style& as) {
  return bar_cells(as) > 0;
}

table::cell show_pid(const process_row& row, const style&) {
  return row.is_unattributed ? cell{"-"} : cell{fmt::to_string(row.usage.pid)};
}

table::cell show_name(const process_row& row, const style& as) {
  if (row.is_unattributed) return {"(unattributed)", tone::faint};
  if (row.usage.process_name) return text_cell(row.usage.process_name, as);
  if (has(row.usage.notes, note::foreign_pid)) return {"? other namespace", tone::faint};
  if (const auto state = name_state_word(row.usage.name_state))
    return {fmt::format("? {}", *state), tone::faint};
  return unknown();
}

table::cell show_vram(const process_row& row, const style&) {
  return size_cell(row.usage.used_bytes, mark_of(row.usage.notes));
}

table::cell show_peak(const process_row& row, const style&) {
  return size_cell(row.usage.peak_used_bytes);
}

table::cell show_bar(const process_row& row, const style& as) {
  const auto share = share_of_device(row);
  if (!share) return {};
  return {draw_bar(*share, bar_cells(as), as.unicode), tone_of_usage(*share)};
}

table::cell show_shared(const process_row& row, const style&) {
  return row.is_unattributed ? cell{} : size_cell(row.usage.host_pool_bytes);
}

table::cell show_ram(const process_row& row, const style&) {
  return row.is_unattributed ? cell{} : size_cell(row.usage.host_resident_bytes);
}

table::cell show_device(const process_row& row, const style& as) {
  return {escape_for_text(label_of(*row.on), as.ascii_only) +
          staleness(row.usage.notes, row.usage.age_ns)};
}

table::cell show_type(const process_row& row, const style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.kinds) return unknown();
  const auto words = usage_kind_words(*row.usage.kinds);
  return {words.empty() ? "none" : fmt::format("{}", fmt::join(words, "+"))};
}

table::cell show_user(const process_row& row, const style& as) {
  return row.is_unattributed ? cell{} : text_cell(row.user, as);
}

table::cell show_load(const process_row& row, const style&) {
  if (row.is_unattributed) return {};
  if (!row.usage.busy_percent) return unknown();
  return {fmt::format("{:.0f} %", *row.usage.busy_percent)};
}

// As the runtimes' own commands show them: 12 digits of an id.
table::cell show_container(const process_row& row, const style& as) {
  constexpr std::size_t id_length = 64, shown = 12;
  if (row.is_unattributed) return {};
  if (!row.usage.process_container) return {"-", tone::faint};
  auto text = *row.usage.process_container;
  const auto start = text.find(':') + 1;
  if (text.size() - start == id_length) text.resize(start + shown);
  return {escape_for_text(text, as.ascii_only)};
}

table::cell show_command(const process_row& row, const style& as) {
  return row.is_unattributed ? cell{} : text_cell(row.usage.process_command, as);
}

table::cell show_namespace_pid(const process_row& row, const style&) {
  if (row.is_unattributed) return {};
  return row.namespace_pid ? cell{fmt::to_string(*row.namespace_pid)} : unknown();
}

}  // namespace hmn::cli
