// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/sample.hpp"
#include "fuzz.hpp"

using namespace hmn::macmon;

void fuzz(std::string_view input) {
  const Answer a = read_answer(input);
  promise(is_utf8(a.stray.view()));
  if (!a.last) return;
  const Sample& s = *a.last;
  for (const FieldAmount& f : s.amounts) {
    if (f.why == hmn::Status::empty) continue;
    promise(!f.key.empty() && is_utf8(f.said.view()) && f.has_value() == f.flaw.empty());
    if (f.has_value()) promise(f.number >= 0 && f.number - f.number == 0);
  }
  for (const Field f : {Field::gpu_active, Field::gpu_effective}) {
    if (s[f].has_value()) promise(s[f].number <= 100);
  }
  for (const FieldAmount& fan : s.fans) {
    if (fan.has_value()) promise(fan.number >= 0);
  }
  promise(is_utf8(s.chip.view()));
}
