// SPDX-License-Identifier: MIT OR Apache-2.0

#include "backends/nvidia_smi/rows.hpp"
#include "backends/nvidia_smi/tool.hpp"
#include "fuzz.hpp"
#include "model/pci_address.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

void fuzz(std::string_view input) {
  platform::Outcome outcome;
  outcome.kind = platform::Outcome::Kind::finished;
  outcome.has_exit_status = true;
  outcome.exit_code = static_cast<int>(take_byte(input));
  const auto parsed_sentence = parse_sentence(input);
  if (parsed_sentence) {
    promise((parsed_sentence->code == Status::ok) ==
            (parsed_sentence->subject == Sentence::Subject::warning));
    promise(*parsed_sentence->advice != '\0');
    promise((parsed_sentence->subject == Sentence::Subject::field) ||
            parsed_sentence->field.empty());
    promise(normalize_pci_address(parsed_sentence->bus_id.view()) == parsed_sentence->bus_id);
  }
  const auto answer = parse_gpus(input, false);
  const Refusal refusal = explain_no_table(outcome, answer.strays);
  promise(!refusal.failure ||
          (refusal.failure->code != Status::ok && is_utf8(refusal.failure->message.view())));
  for (const Problem& problem : collect_problems(outcome, answer.strays)) {
    promise(!problem.failure.message.view().empty() && is_utf8(problem.failure.message.view()));
  }
}
