// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/field_words.hpp"

#include "model/field_words.hpp"

namespace hmn::cli {
std::string field_words(const hypomnesis::diagnostic& of) {
  std::string list;
  if (!of.field) return list;
  if (of.subject == hypomnesis::part::metrics)
    return std::string(hypomnesis::name(static_cast<hypomnesis::metric_id>(*of.field)));
  for (const auto& each : named_fields(number(of.subject))) {
    if (each.words.empty() || (*of.field & each.bit) == 0) continue;
    list.append(list.empty() ? "" : ", ").append(each.words.view());
  }
  return list;
}

}  // namespace hmn::cli
