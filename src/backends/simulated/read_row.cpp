// SPDX-License-Identifier: MIT OR Apache-2.0
#include <limits>

#include "backends/simulated/read_parts.hpp"
#include "backends/simulated/record_fields.hpp"
#include "backends/simulated/words.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

void read_name(object_reader& o, usage& out) {
  const std::optional<std::string_view> name = o.text("name");
  const std::optional<std::uint32_t> state = o.one_word("name_state", name_state_words);
  const auto resolved = static_cast<std::uint32_t>(name_state::resolved);
  const std::uint32_t implied = name ? resolved : static_cast<std::uint32_t>(name_state::unknown);
  if (state && (*state == resolved) != name.has_value()) {
    o.found().add(place(o.at(), "name_state"),
                  "a name is there when, and only when, it is \"resolved\"");
  }
  if (name && name->empty()) o.found().add(place(o.at(), "name"), "the name is empty");
  out.name_state = static_cast<name_state>(state.value_or(implied));
  out.name = name.value_or("");
}

std::optional<mig_instance> read_instance(object_reader& o) {
  const json::value* v = o.get("instance");
  if (v == nullptr) return {};
  const place here(o.at(), "instance");
  object_reader i(*v, here, o.found());
  mig_instance instance{i.whole32("gpu").value_or(0), i.whole32("compute").value_or(0)};
  i.finish();
  return instance;
}

std::unique_ptr<const failure> read_missing(object_reader& o, const usage& row) {
  const json::value* v = o.get("missing");
  if (v == nullptr) return {};
  const place here(o.at(), "missing");
  object_reader m(*v, here, o.found());
  failure why = read_failure(m, "this value");
  m.finish();
  if (row.used) o.found().add(here, "\"used\" is given and cannot be missing");
  return std::make_unique<failure>(why);
}

}  // namespace

void read_pid(object_reader& o, std::uint32_t self_pid, usage& out, bool& is_self) {
  constexpr std::string_view expected = "a process id from 1 to 4294967295, or \"self\"";
  const json::value* v = o.get("pid");
  if (v == nullptr) return o.missing("pid", expected);
  const auto* text = v->as<std::string>();
  const auto* number = v->as<std::uint64_t>();
  is_self = text != nullptr && *text == "self";
  const bool is_pid = number != nullptr && *number > 0 && *number <= most32;
  if (!is_self && !is_pid) o.found().refuse(place(o.at(), "pid"), *v, expected);
  out.pid = is_pid ? static_cast<std::uint32_t>(*number) : self_pid;
}

void read_facts(object_reader& o, usage& out) {
  read_name(o, out);
  out.uid = o.whole32("uid");
  out.start_unix_ns = o.whole("start_unix_ns", 0, most);
  out.command = o.text("command").value_or("");
  out.container = o.text("container").value_or("");
}

void read_row(const json::value& v, const place& at, problems& found, std::uint32_t self_pid,
              described_row& out) {
  object_reader o(v, at, found);
  usage& u = out.value;
  u.from = source::simulated;
  read_pid(o, self_pid, u, out.is_self);
  read_facts(o, u);
  u.instance = read_instance(o);
  const auto allocated = static_cast<std::uint32_t>(accounting::allocated);
  u.accounting =
      static_cast<accounting>(o.one_word("accounting", accounting_words).value_or(allocated));
  read_fields(o, described_usage(), &u);
  u.busy_percent = o.real("busy_percent", 0, 100);
  const auto window = o.whole("window_ns", 0, most);
  if (u.busy_percent) u.window_ns = window.value_or(0);
  u.notes = read_notes(o);
  out.missing = read_missing(o, u);
  o.finish();
}

}  // namespace hmn::simulated
