// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/sample.hpp"
#include "fuzz.hpp"

using namespace hmn::macmon;

void fuzz(std::string_view input) {
  const Answer answer = read_answer(input);
  promise(is_utf8(answer.stray.view()));
  if (!answer.last) return;
  const Sample& sample = *answer.last;
  for (const FieldAmount& amount : sample.amounts) {
    if (amount.status == hmn::Status::empty) continue;
    promise(!amount.key.empty() && is_utf8(amount.text.view()) &&
            amount.has_value() == amount.flaw.empty());
    if (amount.has_value()) promise(amount.number >= 0 && amount.number - amount.number == 0);
  }
  for (const Field selected_field : {Field::gpu_active, Field::gpu_effective}) {
    if (sample[selected_field].has_value()) promise(sample[selected_field].number <= 100);
  }
  for (const FieldAmount& fan : sample.fans) {
    if (fan.has_value()) promise(fan.number >= 0);
  }
  promise(is_utf8(sample.chip.view()));
}
