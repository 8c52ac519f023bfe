// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The answers of AMD's two commands. The first byte selects one.
#include "backends/amd_tool/answer.hpp"
#include "fuzz.hpp"

using namespace hmn;
using namespace hmn::amd_tool;

namespace {

void check(const FieldAmount& f, Form as) {
  if (f.why == Status::empty) return;
  promise(!f.key.empty() && is_utf8(f.key.view()) && is_utf8(f.text.view()));
  if (!f.has_value()) return;
  promise(f.number - f.number == 0);
  if (as == Form::percent) promise(f.number >= 0 && f.number <= 100);
  if (as == Form::joules) promise(f.number > 0);
  if (as >= Form::bytes && as != Form::celsius) promise(f.number >= 0);
  if (as == Form::link) promise(f.whole >> 8 >= 1 && f.whole >> 8 <= 6 && (f.whole & 0xFF) <= 32);
}

void check(const Dialect& d, const Answer& a) {
  promise(a.cards.size() <= most_cards && a.processes.size() <= most_processes);
  promise(a.cards.size() <= a.records);
  for (const Card& c : a.cards) {
    for (const FieldAmount& f : c.amounts) {
      if (f.why != Status::empty) promise(f.rank < d.rows.size());
    }
    for (const Row& r : d.rows) {
      const FieldAmount& f = c[r.what];
      if (f.why != Status::empty) check(f, d.rows[f.rank].as);
    }
  }
  for (const ProcessRow& p : a.processes) promise(!p.used || p.flaw.empty());
  for (const auto& p : a.problems) promise(!p.empty() && is_utf8(p.view()));
}

}  // namespace

void fuzz(std::string_view input) {
  const Dialect& d = take_byte(input) % 2 == 0 ? rocm_smi : amd_smi;
  Answer a;
  read_answer(d, input, a);
  check(d, a);
  // A second answer of the same reading is laid over the first.
  read_answer(d, input.substr(input.size() / 2), a);
  check(d, a);
}
