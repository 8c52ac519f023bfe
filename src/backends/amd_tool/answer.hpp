// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A tool's output as cards and processes: a pure function from text to values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/amd_tool/amount.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "model/text.hpp"

namespace hmn::amd_tool {

using command_tool::ToolMessage;

// Returns null if the line is not a known sentence.
const ToolMessage* find_message(std::string_view line) noexcept;

struct Card {
  std::uint32_t index = 0;
  std::uint32_t document = 0;  // the last document that has the card
  std::array<FieldAmount, static_cast<std::size_t>(Field::count)> amounts;

  [[nodiscard]] const FieldAmount& operator[](Field f) const {
    return amounts[static_cast<std::size_t>(f)];
  }
  [[nodiscard]] bool is_reported() const noexcept {
    for (const FieldAmount& amount : amounts) {
      if (amount.has_value()) return true;
    }
    return false;
  }
};

struct ProcessRow {
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> card;        // none: not reported by the tool
  std::optional<std::uint32_t> card_count;  // number of cards in use
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> host;
  std::string_view flaw;  // why `used` is absent
  Reason reason = Reason::unknown;
  bool is_estimated = false;
  Text<64> name;  // empty: unknown
};

// State of a list of processes: why it is incomplete; Status::ok: it is complete.
struct ProcessListStatus {
  std::optional<std::uint32_t> card;  // none: it is the list of all cards
  Status status = Status::ok;
  Text<96> flaw;
};

inline constexpr std::size_t max_cards = 256;
inline constexpr std::size_t max_processes = 4096;

struct Answer {
  std::uint32_t documents = 0;
  std::uint32_t records = 0;  // cards and their processes
  std::vector<Card> cards;
  std::vector<ProcessRow> processes;
  std::vector<ProcessListStatus> list_statuses;
  Text<96> driver;
  std::vector<Text<256>> problems;   // malformed parts of the output, as sentences
  std::vector<Text<256>> sentences;  // known ones that were printed
  Text<256> stray;                   // first unknown line, or unknown key and its value
  bool is_truncated = false;         // more than `max_cards` or `max_processes`
};

// Adds cards and values that `target` lacks.
void merge(Answer& target, const Answer& source);

// Parses `output` and merges it into the earlier outputs of the same reading.
void read_answer(const Dialect& dialect, std::string_view output, Answer& answer);

}  // namespace hmn::amd_tool
