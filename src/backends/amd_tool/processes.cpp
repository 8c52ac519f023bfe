// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/processes.hpp"

#include <span>

#include "model/scan.hpp"

namespace hmn::amd_tool {
namespace {

// Removes and returns the text after the last ", ".
std::string_view take_last(std::string_view& line) {
  const std::size_t comma = line.rfind(',');
  if (comma == line.npos) return {};
  const std::string_view last = scan::trim(line.substr(comma + 1));
  line = line.substr(0, comma);
  return last;
}

const json::Value* find_member(const json::Object& object, std::string_view key) {
  if (const json::Value* direct = object.find(key)) return direct;
  const json::Value* group = object.find("memory_usage");
  const auto* members = group != nullptr ? group->get_if<json::Object>() : nullptr;
  return members != nullptr ? members->find(key) : nullptr;
}

std::optional<std::uint64_t> read_bytes(const json::Object& object, std::string_view key,
                                        ProcessRow& row) {
  const json::Value* value = find_member(object, key);
  if (value == nullptr) return std::nullopt;
  const FieldAmount amount = read_field_amount(Form::bytes, *value, {});
  if (amount.is_rounded) row.is_estimated = true;
  return amount.has_value() ? std::optional(amount.whole) : std::nullopt;
}

std::optional<std::uint32_t> read_pid(const json::Object& object) {
  const json::Value* value = object.find("pid");
  if (value == nullptr) return std::nullopt;
  const auto* text = value->get_if<std::string>();
  return parse_pid(text != nullptr ? *text : json::summarize(*value));
}

// Drivers count whole pages, so bytes are a multiple of 1024. amd-smi 26 also prints KiB times 1000
// as bytes.
enum class Counting { bytes, thousands, either };

Counting detect_counting(std::span<const ProcessRow> rows) {
  bool all_in_1024s = true;
  bool all_in_1000s = true;
  const auto check = [&](const std::optional<std::uint64_t>& bytes) {
    if (!bytes) return;
    all_in_1024s = all_in_1024s && *bytes % 1024 == 0;
    all_in_1000s = all_in_1000s && *bytes % 1000 == 0;
  };
  for (const ProcessRow& row : rows) {
    check(row.used);
    check(row.host);
  }
  if (!all_in_1000s) return Counting::bytes;
  return all_in_1024s ? Counting::either : Counting::thousands;
}

void recount(ProcessRow& row, Counting counting) {
  for (auto* const size : {&row.used, &row.host}) {
    if (!*size || **size == 0) continue;
    if (counting == Counting::thousands) {
      *size = scan::checked_multiply(**size / 1000, 1024);
    } else {
      row.is_estimated = true;
    }
  }
}

void drop_values(ProcessRow& row, std::string_view flaw) {
  row.used.reset();
  row.host.reset();
  row.flaw = flaw;
}

// Equal values under several cards are either the process's sum or a coincidence: ambiguous.
void check_repeated(ProcessRow& row, std::span<const ProcessRow> rows) {
  std::size_t other_count = 0;
  std::size_t equal_count = 0;
  for (const ProcessRow& listed : rows) {
    if (listed.pid != row.pid || listed.card == row.card) continue;
    ++other_count;
    equal_count += listed.used == row.used && listed.host == row.host ? 1 : 0;
  }
  if (other_count != 0 && equal_count == other_count && row.used) {
    row.flaw = "it prints the same for each card, which may be the sum of all";
    row.reason = Reason::ambiguous;
  }
}

}  // namespace

std::optional<std::uint32_t> parse_pid(std::string_view text) noexcept {
  const auto pid = scan::parse_number<std::uint32_t>(text);
  return pid && *pid != 0 && *pid <= 0x7FFFFFFF ? pid : std::nullopt;
}

ProcessRow parse_line(std::uint32_t pid, std::string_view line) {
  ProcessRow row;
  row.pid = pid;
  (void)take_last(line);  // occupancy
  (void)take_last(line);  // SDMA
  row.used = scan::parse_number(take_last(line));
  row.card_count = scan::parse_number<std::uint32_t>(take_last(line));
  row.name.assign(line);
  if (row.card_count != 0 && row.used.value_or(0) == 0) drop_values(row, "it prints no value");
  return row;
}

std::optional<ProcessRow> parse_object(const json::Object& object) {
  ProcessRow row;
  const auto pid = read_pid(object);
  if (!pid) return std::nullopt;
  row.pid = *pid;
  row.used = read_bytes(object, "vram_mem", row);
  row.host = read_bytes(object, "gtt_mem", row);
  if (const json::Value* name = object.find("name")) {
    const auto* text = name->get_if<std::string>();
    if (text != nullptr && !is_missing_value(*text)) {
      row.name.assign(std::string_view(*text).substr(text->rfind('/') + 1));
    }
  }
  // All values of a process are 0 if the caller may not inspect it.
  const bool is_all_zero = row.used.value_or(0) == 0 && row.host.value_or(0) == 0 &&
                           read_bytes(object, "cpu_mem", row).value_or(0) == 0;
  if (!row.used || is_all_zero) drop_values(row, "it prints no value; that may need more rights");
  return row;
}

void check_processes(const Dialect& dialect, Answer& answer, std::size_t first_row) {
  const std::span<ProcessRow> rows = std::span(answer.processes).subspan(first_row);
  if (!dialect.may_scale_kib_by_1000) return;
  for (ProcessRow& row : rows) check_repeated(row, rows);
  const Counting counting = detect_counting(rows);
  for (ProcessRow& row : rows) {
    if (!row.flaw.empty()) drop_values(row, row.flaw);
    if (counting != Counting::bytes) recount(row, counting);
  }
}

}  // namespace hmn::amd_tool
