// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/host.hpp"

#include <string>
#include <utility>

#include "backends/simulated/performer.hpp"
#include "model/record.hpp"
#include "platform/process.hpp"

namespace hmn::simulated {
namespace {

failure undescribed(const char* what, const char* remedy) {
  return refusal(status::unsupported, std::string("the machine file does not describe ") + what +
                                          "; add " + remedy + " or \"host\": \"real\"");
}

result<void> give(const process_memory& described, std::uint32_t pid, std::uint32_t fields,
                  process_memory& out) {
  out = {};
  out.pid = pid;
  out.from = described.from;
  out.notes = described.notes;
  if (take_missing(fields, out, described) != 0) return {};
  return refusal(status::unsupported,
                 "the machine file gives none of these values of process " + std::to_string(pid));
}

result<void> check_alive(const described_process& p) {
  const std::string who = "process " + std::to_string(p.memory.pid);
  switch (p.facts.name_state) {
    case name_state::exited:
      return refusal(status::no_process, who + " has exited");
    case name_state::protected_process:
      return refusal(status::permission,
                     who + " is protected: the system does not report its memory");
    case name_state::kernel:
      return refusal(status::unsupported, who + " is a kernel thread without memory of its own");
    default:
      return {};
  }
}

}  // namespace

host::host(std::shared_ptr<machine_file> file, std::unique_ptr<host_source> real)
    : file_(std::move(file)), real_(std::move(real)), self_pid_(platform::current_pid()) {}

result<void> host::memory(std::uint32_t pid, std::uint32_t fields, process_memory& out) {
  const result<view> v = file_->next_of_process(pid);
  if (!v) return v.why();
  const machine& m = *v->now;
  if (const fault* f = whole_fault(m.conduct, call::process_memory, v->reading)) return f->why;
  if (const described_process* p = m.find_process(pid)) {
    result<void> alive = check_alive(*p);
    return alive ? give(p->memory, pid, fields, out) : alive;
  }
  if (pid == self_pid_ && m.self) return give(m.self->memory, pid, fields, out);
  if (m.real_host) return real_->memory(pid, fields, out);
  return refusal(status::no_process, "the machine file has no process " + std::to_string(pid));
}

result<void> host::own_memory(std::uint32_t fields, process_memory& out) {
  const result<view> v = file_->next(counter::own_memory);
  if (!v) return v.why();
  const machine& m = *v->now;
  if (const fault* f = whole_fault(m.conduct, call::memory, v->reading)) return f->why;
  if (m.self) return give(m.self->memory, self_pid_, fields, out);
  if (m.real_host) return real_->own_memory(fields, out);
  return undescribed("this process's host memory", "\"host\": {\"self\": {\"resident\": …}}");
}

result<void> host::system(system_memory& out) {
  const result<view> v = file_->next(counter::system);
  if (!v) return v.why();
  const machine& m = *v->now;
  if (const fault* f = whole_fault(m.conduct, call::system, v->reading)) return f->why;
  if (m.system) {
    out = *m.system;
    return {};
  }
  if (m.real_host) return real_->system(out);
  return undescribed("the host's memory", "\"host\": {\"system\": {\"total\": …}}");
}

result<void> host::groups(group_memory& out) {
  const result<view> v = file_->latest();
  if (!v) return v.why();
  out.from = source::simulated;
  for (const described_device& d : v->now->devices) {
    for (const group& g : d.groups) {
      const auto number = static_cast<std::uint32_t>(out.names.size());
      out.names.push_back(g.name);
      out.parts.push_back({number, *parse_pci_address(d.identity.pci_bus_id), *g.used, g.limit});
    }
  }
  return {};
}

void host::describe(usage& row) {
  describe(row, fill_identity, &host_source::describe);
}

void host::describe_texts(usage& row) {
  describe(row, fill_texts, &host_source::describe_texts);
}

void host::describe(usage& row, void (*fill_from)(usage&, const usage&),
                    void (host_source::*ask)(usage&)) {
  const result<view> v = file_->latest();
  if (!v) return;
  const machine& m = *v->now;
  const bool is_foreign = (row.notes & note::foreign_pid) != 0;
  if (is_foreign) return;
  if (const described_process* p = m.find_process(row.pid)) return fill_from(row, p->facts);
  if (row.pid != self_pid_) return;
  if (m.self) {
    fill_from(row, m.self->facts);
  } else if (m.real_host) {
    (real_.get()->*ask)(row);
  }
}

}  // namespace hmn::simulated
