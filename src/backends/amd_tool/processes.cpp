// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/processes.hpp"

#include <span>

#include "model/scan.hpp"

namespace hmn::amd_tool {
namespace {

// Removes and returns the text after the last ", ".
std::string_view take_last(std::string_view& line) {
  const std::size_t at = line.rfind(',');
  if (at == line.npos) return {};
  const std::string_view last = scan::trim(line.substr(at + 1));
  line = line.substr(0, at);
  return last;
}

const json::Value* find_in(const json::Object& o, std::string_view key) {
  if (const json::Value* direct = o.find(key)) return direct;
  const json::Value* group = o.find("memory_usage");
  const auto* members = group != nullptr ? group->as<json::Object>() : nullptr;
  return members != nullptr ? members->find(key) : nullptr;
}

std::optional<std::uint64_t> bytes_in(const json::Object& o, std::string_view key,
                                      ProcessRow& row) {
  const json::Value* v = find_in(o, key);
  if (v == nullptr) return std::nullopt;
  const FieldAmount f = read_field_amount(Form::bytes, *v, {});
  if (f.is_rounded) row.is_estimated = true;
  return f.has_value() ? std::optional(f.whole) : std::nullopt;
}

std::optional<std::uint32_t> pid_in(const json::Object& o) {
  const json::Value* v = o.find("pid");
  if (v == nullptr) return std::nullopt;
  const auto* text = v->as<std::string>();
  return pid_of(text != nullptr ? *text : json::show(*v));
}

// Drivers count whole pages, so bytes are a multiple of 1024. amd-smi 26 also prints KiB times 1000
// as bytes.
enum class Counting { bytes, thousands, either };

Counting counting_of(std::span<const ProcessRow> rows) {
  bool all_in_1024s = true;
  bool all_in_1000s = true;
  const auto look = [&](const std::optional<std::uint64_t>& bytes) {
    if (!bytes) return;
    all_in_1024s = all_in_1024s && *bytes % 1024 == 0;
    all_in_1000s = all_in_1000s && *bytes % 1000 == 0;
  };
  for (const ProcessRow& row : rows) {
    look(row.used);
    look(row.host);
  }
  if (!all_in_1000s) return Counting::bytes;
  return all_in_1024s ? Counting::either : Counting::thousands;
}

void recount(ProcessRow& row, Counting how) {
  for (auto* const field_amount : {&row.used, &row.host}) {
    if (!*field_amount || **field_amount == 0) continue;
    if (how == Counting::thousands) {
      *field_amount = scan::product(**field_amount / 1000, 1024);
    } else {
      row.is_estimated = true;
    }
  }
}

void drop(ProcessRow& row, std::string_view flaw) {
  row.used.reset();
  row.host.reset();
  row.flaw = flaw;
}

// Equal values under several cards are either the process's sum or a coincidence: ambiguous.
void check_repeated(ProcessRow& row, std::span<const ProcessRow> rows) {
  std::size_t others = 0;
  std::size_t alike = 0;
  for (const ProcessRow& other : rows) {
    if (other.pid != row.pid || other.card == row.card) continue;
    ++others;
    alike += other.used == row.used && other.host == row.host ? 1 : 0;
  }
  if (others != 0 && alike == others && row.used) {
    row.flaw = "it prints the same for each card, which may be the sum of all";
    row.stated = Reason::ambiguous;
  }
}

}  // namespace

std::optional<std::uint32_t> pid_of(std::string_view text) noexcept {
  const auto pid = scan::number<std::uint32_t>(text);
  return pid && *pid != 0 && *pid <= 0x7FFFFFFF ? pid : std::nullopt;
}

ProcessRow row_of_line(std::uint32_t pid, std::string_view line) {
  ProcessRow row;
  row.pid = pid;
  (void)take_last(line);  // occupancy
  (void)take_last(line);  // SDMA
  row.used = scan::number(take_last(line));
  row.cards = scan::number<std::uint32_t>(take_last(line));
  row.name.assign(line);
  if (row.cards != 0 && row.used.value_or(0) == 0) drop(row, "it prints no value");
  return row;
}

std::optional<ProcessRow> row_of_object(const json::Object& o) {
  ProcessRow row;
  const auto pid = pid_in(o);
  if (!pid) return std::nullopt;
  row.pid = *pid;
  row.used = bytes_in(o, "vram_mem", row);
  row.host = bytes_in(o, "gtt_mem", row);
  if (const json::Value* name = o.find("name")) {
    const auto* text = name->as<std::string>();
    if (text != nullptr && !is_word_for_nothing(*text)) {
      row.name.assign(std::string_view(*text).substr(text->rfind('/') + 1));
    }
  }
  // All values of a process are 0 if the caller may not inspect it.
  const bool is_nothing = row.used.value_or(0) == 0 && row.host.value_or(0) == 0 &&
                          bytes_in(o, "cpu_mem", row).value_or(0) == 0;
  if (!row.used || is_nothing) drop(row, "it prints no value; that may need more rights");
  return row;
}

void check_processes(const Dialect& d, Answer& a, std::size_t from) {
  const std::span<ProcessRow> rows = std::span(a.processes).subspan(from);
  if (!d.may_scale_kib_by_1000) return;
  for (ProcessRow& row : rows) check_repeated(row, rows);
  const Counting how = counting_of(rows);
  for (ProcessRow& row : rows) {
    if (!row.flaw.empty()) drop(row, row.flaw);
    if (how != Counting::bytes) recount(row, how);
  }
}

}  // namespace hmn::amd_tool
