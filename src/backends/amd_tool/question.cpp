// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/answer.hpp"
#include "backends/amd_tool/source.hpp"
#include "backends/shared/command_tool/verdict.hpp"
#include "model/scan.hpp"

namespace hmn::amd_tool {
namespace {

using kind = platform::outcome::kind;

// Evaluates one answer.
class judge {
 public:
  judge(const command_tool::description& d, const platform::outcome& o, reading& r)
      : d_(d), o_(o), r_(r), v_(d, o) {}

  result<void> without_records(const answer& a) const {
    bool says_none = false;
    for (const text<256>& line : a.sentences) {
      const sentence* const s = find_sentence(line.view());
      if (s->what == sentence::about::tool) return v_.of_sentence(*s, line.view());
      says_none = says_none || s->what == sentence::about::nothing;
    }
    if (says_none) {
      with_records(a);
      return {};
    }
    if (!a.problems.empty()) {
      failure why = of_problem(a.problems.front());
      why.native = command_tool::exit_of(o_);
      return why;
    }
    if (o_.what == kind::output_too_long) return too_long();
    return v_.of_exit(a.stray.empty() ? "listed no GPU" : "printed no JSON of GPUs",
                      a.stray.view());
  }

  void with_records(const answer& a) const {
    for (const text<256>& line : a.sentences) {
      diagnose(v_.of_sentence(*find_sentence(line.view()), line.view()));
    }
    for (const text<256>& p : a.problems) diagnose(of_problem(p));
    if (o_.what == kind::output_too_long || a.is_truncated) diagnose(too_long());
    const bool is_bad = o_.exit_known && (o_.signal != 0 || o_.exit_code != 0);
    if (is_bad) diagnose(v_.of_exit("printed its answer"));
  }

 private:
  [[nodiscard]] failure of_problem(const text<256>& p) const {
    return with_reason(reason::not_understood, d_.fail(status::backend, p.view()));
  }
  [[nodiscard]] failure too_long() const {
    return d_.fail(status::limit, {d_.name, " printed more than is read"});
  }
  void diagnose(const failure& why) const {
    diagnostic d;
    d.why = why;
    d.about = subject::devices;
    r_.diagnose(d);
  }

  const command_tool::description& d_;
  const platform::outcome& o_;
  reading& r_;
  command_tool::verdict v_;
};

}  // namespace

result<void> amd_source::put(std::string_view question, answer& into, reading& r) {
  std::vector<std::string> arguments;
  while (!question.empty()) arguments.emplace_back(scan::take_word(question));
  const platform::outcome o = program_.run(std::move(arguments), true, r);
  const command_tool::verdict v(d_.tool, o);
  if (auto why = v.why_not_run(program_.path())) return *why;
  into.sentences.clear();
  into.problems.clear();
  into.stray.clear();
  const std::uint32_t before = into.records;
  read_answer(d_, o.output, into);
  const judge j(d_.tool, o, r);
  if (into.records == before) return j.without_records(into);
  j.with_records(into);
  return {};
}

}  // namespace hmn::amd_tool
