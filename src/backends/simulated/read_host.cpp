// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/simulated/read_parts.hpp"
#include "backends/simulated/record_fields.hpp"
#include "backends/simulated/words.hpp"

namespace hmn::simulated {
namespace {

constexpr std::array otherwise_words = {entry("absent", 0U), entry("real", 1U)};

void read_process(object_reader& o, described_process& p) {
  p.memory.from = source::simulated;
  p.facts.from = source::simulated;
  read_fields(o, described_process_memory(), &p.memory);
  p.memory.notes = read_notes(o);
  read_facts(o, p.facts);
  p.facts.host_resident = p.memory.resident;
  p.facts.process_key = p.memory.process_key;
}

void read_listed(object_reader& host, machine& out) {
  std::vector<std::uint32_t> pids;
  out.processes.reserve(host.length("processes"));
  pids.reserve(out.processes.capacity());
  host.each("processes", [&](const json::value& v, const place& at) {
    object_reader o(v, at, host.found());
    described_process& p = out.processes.emplace_back();
    read_process(o, p);
    bool is_self = false;
    read_pid(o, 0, p.facts, is_self);
    o.finish();
    if (is_self) host.found().add(at, "this process is described by \"self\" of \"host\"");
    p.memory.pid = p.facts.pid;
    pids.push_back(p.facts.pid);
  });
  if (const auto twice = find_repeated(pids)) {
    host.found().add(place(place(host.at(), "processes"), *twice),
                     "this process stands here already");
  }
  if (std::ranges::is_sorted(pids)) return;
  std::ranges::stable_sort(
      out.processes,
      [](const described_process& a, const described_process& b) { return pid_of(a) < pid_of(b); });
}

void read_self(object_reader& host, machine& out) {
  const json::value* v = host.get("self");
  if (v == nullptr) return;
  const place here(host.at(), "self");
  object_reader o(*v, here, host.found());
  read_process(o, out.self.emplace());
  o.finish();
}

void read_system(object_reader& host, machine& out) {
  const json::value* v = host.get("system");
  if (v == nullptr) return;
  const place here(host.at(), "system");
  object_reader o(*v, here, host.found());
  system_memory s;
  s.from = source::simulated;
  read_fields(o, described_system_memory(), &s);
  s.notes = read_notes(o);
  o.finish();
  out.system = s;
}

}  // namespace

void read_host(object_reader& root, machine& out) {
  const json::value* v = root.get("host");
  if (v == nullptr) return;
  const place here(root.at(), "host");
  if (const auto* word = v->as<std::string>()) {
    out.real_host = *word == "real";
    if (!out.real_host) root.found().refuse(here, *v, "\"real\" or an object");
    return;
  }
  object_reader host(*v, here, root.found());
  out.real_host = host.one_word("otherwise", otherwise_words).value_or(0) != 0;
  read_self(host, out);
  read_system(host, out);
  read_listed(host, out);
  host.finish();
}

}  // namespace hmn::simulated
