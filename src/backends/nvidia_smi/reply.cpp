// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/reply.hpp"

#include "model/compose.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {
namespace {

using kind = platform::outcome::kind;
using about = sentence::about;
using command_tool::fail;
using command_tool::verdict;

constexpr int exit_corrupted_inforom = 14;  // a warning: the figures are good

// nvidia-smi(1), RETURN VALUE
status status_of_exit(int code) {
  switch (code) {
    case 2:
    case 3:
    case 13:
      return status::unsupported;
    case 4:
      return status::permission;
    case 9:
    case 12:
      return status::no_source;
    case 15:
      return status::device_lost;
    default:
      return status::backend;
  }
}

failure of_exit(const platform::outcome& o, std::string_view what) {
  failure why = verdict(smi, o).of_exit(what);
  if (o.exit_known && o.signal == 0 && o.exit_code != 0) why.code = status_of_exit(o.exit_code);
  return why;
}

failure of_sentence(const platform::outcome& o, const sentence& s, const text<256>& line) {
  return verdict(smi, o).of_sentence(s, line.view());
}

bool has_failed(const platform::outcome& o) {
  if (!o.exit_known || o.what != kind::finished) return false;
  return o.signal != 0 || (o.exit_code != 0 && o.exit_code != exit_corrupted_inforom);
}

}  // namespace

bool is_cut(const platform::outcome& o) noexcept {
  return o.what == kind::output_too_long || (o.exit_known && o.signal != 0);
}

failure too_many(std::size_t rows) {
  return fail(smi, status::limit,
              {"nvidia-smi printed more rows than the ", rows, " that are read"});
}

refusal why_no_table(const platform::outcome& o, const stray_lines& strays) {
  bool nothing_there = false;
  for (const text<256>& line : strays.first()) {
    const auto s = parse_sentence(line.view());
    if (!s || s->what == about::warning) continue;
    if (s->what == about::nothing) {
      nothing_there = true;
      continue;
    }
    return {of_sentence(o, *s, line), s->field};
  }
  if (nothing_there) return {};
  if (o.what == kind::output_too_long) {
    return {fail(smi, status::limit, {"nvidia-smi printed no table, and more than is read"}), {}};
  }
  return {of_exit(o, strays.count() == 0 ? "printed nothing" : "printed no table that is known"),
          {}};
}

std::vector<problem> problems_of(const platform::outcome& o, const stray_lines& strays) {
  std::vector<problem> all;
  const text<256>* first_unknown = nullptr;
  std::size_t known = 0;
  for (const text<256>& line : strays.first()) {
    const auto s = parse_sentence(line.view());
    known += s ? 1 : 0;
    if (!s && first_unknown == nullptr) first_unknown = &line;
    if (!s || s->what == about::warning || s->what == about::nothing) continue;
    all.push_back({of_sentence(o, *s, line), s->bus_id});
  }
  if (first_unknown != nullptr) {
    all.push_back(
        {fail(smi, status::backend,
              {strays.count() - known, " line(s) of nvidia-smi's table make no sense, the first: ",
               text<120>(first_unknown->view()).view()}),
         {}});
  }
  if (has_failed(o) && all.empty()) all.push_back({of_exit(o, "printed its table"), {}});
  return all;
}

}  // namespace hmn::nvidia_smi
