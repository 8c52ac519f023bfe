// SPDX-License-Identifier: MIT OR Apache-2.0

#include "backends/nvidia_smi/rows.hpp"
#include "backends/nvidia_smi/tool.hpp"
#include "fuzz.hpp"
#include "model/pci_address.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

void fuzz(std::string_view input) {
  platform::Outcome o;
  o.what = platform::Outcome::Kind::finished;
  o.exit_known = true;
  o.exit_code = static_cast<int>(take_byte(input));
  const auto s = parse_sentence(input);
  if (s) {
    promise((s->code == Status::ok) == (s->what == Sentence::About::warning));
    promise(*s->advice != '\0');
    promise((s->what == Sentence::About::field) || s->field.empty());
    promise(normal_pci_address(s->bus_id.view()) == s->bus_id);
  }
  const auto a = parse_gpus(input, false);
  const Refusal r = why_no_table(o, a.strays);
  promise(!r.why || (r.why->code != Status::ok && is_utf8(r.why->message.view())));
  for (const Problem& p : problems_of(o, a.strays)) {
    promise(!p.why.message.view().empty() && is_utf8(p.why.message.view()));
  }
}
