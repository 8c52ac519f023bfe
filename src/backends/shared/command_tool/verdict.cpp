// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/command_tool/verdict.hpp"

#include "model/error_number.hpp"
#include "model/text.hpp"

namespace hmn::command_tool {
namespace {

using kind = platform::outcome::kind;
using line_text = text<160>;

}  // namespace

const sentence* find_sentence(std::span<const sentence> known, std::string_view line) noexcept {
  for (const sentence& s : known) {
    if (line.find(s.part) != line.npos) return &s;
  }
  return nullptr;
}

native_code exit_of(const platform::outcome& o) noexcept {
  if (!o.exit_known) return {};
  return {native_domain::exit, o.signal != 0 ? 128 + o.signal : o.exit_code};
}

void add_missing(std::vector<missing>& to, std::uint32_t fields, status code,
                 const message_text& message, reason stated) {
  for (missing& m : to) {
    if (m.code != code || m.message != message) continue;
    m.fields |= fields;
    return;
  }
  to.push_back({fields, code, message, stated});
}

std::optional<failure> verdict::why_not_run(std::string_view path) const {
  if (o_.what == kind::finished || o_.what == kind::output_too_long) return std::nullopt;
  if (o_.what == kind::timed_out) {
    return d_.fail(status::timeout, {path, " did not answer within the deadline", d_.when_late});
  }
  const bool refused = is_refused(o_.error);
  failure why = o_.what == kind::not_found
                    ? d_.fail(status::no_source, {path, " is not there any more"})
                    : d_.fail(refused ? status::permission : status::backend,
                              {path, " cannot be run", refused ? ": permission denied" : ""});
  why.native = {native_domain::error_number, o_.error};
  return why;
}

failure verdict::of_sentence(const sentence& s, std::string_view line) const {
  failure why = d_.fail(s.code, {d_.name, " prints \"", line_text(line).view(), "\": ", s.advice});
  why.native = exit_of(o_);
  return why;
}

failure verdict::of_exit(std::string_view what, std::string_view said) const {
  const bool is_signal = o_.signal != 0;
  const piece code = is_signal ? o_.signal : o_.exit_code;
  failure why = d_.fail(status::backend, {d_.name, " ", what,
                                          !o_.exit_known ? ""
                                          : is_signal    ? " and was ended by signal "
                                                         : " and exited with ",
                                          o_.exit_known ? code : piece(""),
                                          said.empty() ? "" : ": ", line_text(said).view()});
  why.native = exit_of(o_);
  return why;
}

}  // namespace hmn::command_tool
