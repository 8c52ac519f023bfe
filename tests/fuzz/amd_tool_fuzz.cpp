// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Output of AMD's two commands. The first byte selects one.
#include "backends/amd_tool/answer.hpp"
#include "fuzz.hpp"

using namespace hmn;
using namespace hmn::amd_tool;

namespace {

void check(const FieldAmount& amount, Form format) {
  if (amount.status == Status::empty) return;
  promise(!amount.key.empty() && is_utf8(amount.key.view()) && is_utf8(amount.text.view()));
  if (!amount.has_value()) return;
  promise(amount.number - amount.number == 0);
  if (format == Form::percent) promise(amount.number >= 0 && amount.number <= 100);
  if (format == Form::joules) promise(amount.number > 0);
  if (format >= Form::bytes && format != Form::celsius) promise(amount.number >= 0);
  if (format == Form::link)
    promise(amount.whole >> 8 >= 1 && amount.whole >> 8 <= 6 && (amount.whole & 0xFF) <= 32);
}

void check(const Dialect& dialect, const Answer& answer) {
  promise(answer.cards.size() <= max_cards && answer.processes.size() <= max_processes);
  promise(answer.cards.size() <= answer.records);
  for (const Card& card : answer.cards) {
    for (const FieldAmount& amount : card.amounts) {
      if (amount.status != Status::empty) promise(amount.rank < dialect.rows.size());
    }
    for (const Row& row : dialect.rows) {
      const FieldAmount& amount = card[row.field];
      if (amount.status != Status::empty) check(amount, dialect.rows[amount.rank].form);
    }
  }
  for (const ProcessRow& process : answer.processes) promise(!process.used || process.flaw.empty());
  for (const auto& problem : answer.problems) promise(!problem.empty() && is_utf8(problem.view()));
}

}  // namespace

void fuzz(std::string_view input) {
  const Dialect& dialect = take_byte(input) % 2 == 0 ? rocm_smi : amd_smi;
  Answer answer;
  read_answer(dialect, input, answer);
  check(dialect, answer);
  // A second answer of the same reading is merged into the first.
  read_answer(dialect, input.substr(input.size() / 2), answer);
  check(dialect, answer);
}
