// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/reply.hpp"

#include <algorithm>
#include <cerrno>

#include "model/compose.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {
namespace {

using kind = platform::outcome::kind;
using about = sentence::about;

constexpr int exit_corrupted_inforom = 14;  // a warning: the figures are good

failure fail(status code, native_code native, std::string message) {
  return {code, source::nvidia_smi, native, std::move(message)};
}

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

failure of_sentence(const sentence& s, const text<256>& line, native_code native) {
  return fail(s.code, native,
              compose({"nvidia-smi says \"", text<160>(line.view()).view(), "\": ", s.advice}));
}

failure of_exit(const platform::outcome& o, std::string_view what) {
  if (!o.exit_known) return fail(status::backend, {}, compose({"nvidia-smi ", what}));
  if (o.signal != 0) {
    return fail(status::backend, exit_of(o),
                compose({"nvidia-smi ", what, " and was ended by signal ", o.signal}));
  }
  const status s = o.exit_code == 0 ? status::backend : status_of_exit(o.exit_code);
  return fail(s, exit_of(o), compose({"nvidia-smi ", what, " and exited with ", o.exit_code}));
}

bool has_failed(const platform::outcome& o) {
  if (!o.exit_known || o.what != kind::finished) return false;
  return o.signal != 0 || (o.exit_code != 0 && o.exit_code != exit_corrupted_inforom);
}

}  // namespace

native_code exit_of(const platform::outcome& o) noexcept {
  if (!o.exit_known) return {};
  return {native_domain::exit, o.signal != 0 ? 128 + o.signal : o.exit_code};
}

bool is_cut(const platform::outcome& o) noexcept {
  return o.what == kind::output_too_long || (o.exit_known && o.signal != 0);
}

std::optional<failure> why_no_answer(const platform::outcome& o, std::string_view path) {
  const native_code error{native_domain::error_number, o.error};
  switch (o.what) {
    case kind::finished:
    case kind::output_too_long:
      return std::nullopt;
    case kind::timed_out:
      return fail(status::timeout, {},
                  compose({path,
                           " did not answer within the deadline; persistence mode "
                           "(nvidia-persistenced) keeps the driver ready"}));
    case kind::not_found:
      return fail(status::no_source, error, compose({path, " is not there any more"}));
    case kind::not_runnable:
      break;
  }
  const bool refused = o.error == EACCES || o.error == EPERM;
  return fail(refused ? status::permission : status::backend, error,
              compose({path, " cannot be run", refused ? ": permission denied" : ""}));
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
    return {of_sentence(*s, line, exit_of(o)), s->field};
  }
  if (nothing_there) return {};
  if (o.what == kind::output_too_long) {
    return {fail(status::limit, {}, "nvidia-smi printed no table, and more than is read"), {}};
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
    all.push_back({of_sentence(*s, line, exit_of(o)), s->bus_id});
  }
  if (first_unknown != nullptr) {
    all.push_back({fail(status::backend, {},
                        compose({strays.count() - known,
                                 " line(s) of nvidia-smi's table make no sense, the first: ",
                                 text<120>(first_unknown->view()).view()})),
                   {}});
  }
  if (has_failed(o) && all.empty()) all.push_back({of_exit(o, "printed its table"), {}});
  return all;
}

}  // namespace hmn::nvidia_smi
