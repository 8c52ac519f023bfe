// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/process_memory.hpp"

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>

#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "platform/file.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::os {
namespace {

using procfs::Amount;
using procfs::parse_smaps_rollup;
using procfs::parse_stat;
using procfs::parse_statm;
using procfs::parse_status;
using procfs::ProcPath;
using procfs::SmapsRollup;
using procfs::Stat;
using procfs::Statm;
using procfs::StatusMemory;

std::string_view reason_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the system refuses to let this user read it";
    case ENOMEM:
      return "the kernel is out of memory";
    case EMFILE:
      return "this process has no file descriptor left";
    case ENFILE:
      return "the system has no file descriptor left";
    case ENOENT:
      return "it is not there";
    case ESRCH:
      return "the process has ended";
    default:
      return "reading it failed";
  }
}

Life life_in(const Stat& s) {
  if (s.is_kernel_thread()) return Life::kernel_thread;
  if (s.is_headless()) return Life::headless;
  return s.has_exited() ? Life::exited : Life::running;
}

constexpr FailureOf fail{Source::os};

Failure no_process(std::string_view who, std::string_view rest) {
  return fail(Status::no_process, {"process ", who, rest});
}

Failure no_tree(std::string_view root) {
  return fail(Status::no_source,
              {"there is no proc tree at ", root, ": mount procfs there or name another root"},
              ENOENT);
}

Failure of_running(std::string_view who, const ProcPath& path, int error) {
  if (error == ESRCH) return no_process(who, " ended while it was read");
  if (error == 0) return nonsense(path, "a running process shows no memory there");
  return fail(Status::unsupported, {"this kernel has no ", path.c_str()});
}

namespace field = process_memory_field;

struct SubjectFiles {
  std::string_view root;
  std::string_view who;
};

struct Request {
  SubjectFiles of;
  std::size_t page_size;
  procfs::BootId& id;
  FieldSet fields;
  ProcessMemory& out;
};

Result<std::string_view> read_file(const SubjectFiles& of, const ProcPath& path,
                                   std::span<char> buffer) {
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) return why_no_memory(of.root, of.who, path, got.error);
  if (got.value == buffer.size()) return nonsense(path, "it is too long");
  return std::string_view(buffer.data(), got.value);
}

Result<void> read_statm(const Request& r) {
  const ProcPath path(r.of.root, r.of.who, "statm");
  std::array<char, 256> buffer;
  const auto text = read_file(r.of, path, buffer);
  if (!text) return text.why();
  const auto m = parse_statm(*text);
  if (!m) return nonsense(path, "pages expected");
  if (m->size == 0 && m->resident == 0) {
    // 0 is true only if the process has unmapped everything.
    if (life_of(r.of.root, r.of.who) != Life::running)
      return why_no_memory(r.of.root, r.of.who, path, 0);
  }
  MemorySizes sizes;
  if (!to_bytes(*m, r.page_size, sizes)) return nonsense(path, "a size is past 64 bits");
  store(sizes, r.fields, r.out);
  return {};
}

// Stores a wanted value, or returns why it is missing.
Result<void> take(const SubjectFiles& of, const ProcPath& path, std::string_view key,
                  const Amount& found, std::optional<std::uint64_t>& into) {
  into = found.value();
  if (into) return {};
  if (found.what == Amount::Is::malformed) return nonsense(path, {key, " is no amount in kB"});
  Failure why = why_no_memory(of.root, of.who, path, 0);
  if (why.code != Status::backend) return why;
  return fail(Status::unsupported, {"this kernel's ", path.c_str(), " has no ", key});
}

struct WantedValue {
  FieldSet field;
  const char* key;
  Amount found;
  std::optional<std::uint64_t>& into;
};

// Returns the first reason.
Result<void> take_both(const SubjectFiles& of, const ProcPath& path, FieldSet fields,
                       const WantedValue (&both)[2]) {
  Result<void> first;
  for (const WantedValue& w : both) {
    if ((fields & w.field) == 0) continue;
    Result<void> taken = take(of, path, w.key, w.found, w.into);
    if (first) first = std::move(taken);
  }
  return first;
}

Result<void> read_status(const Request& r) {
  const ProcPath path(r.of.root, r.of.who, "status");
  std::array<char, 16384> buffer;
  const auto text = read_file(r.of, path, buffer);
  if (!text) return text.why();
  const StatusMemory m = parse_status(*text);
  return take_both(r.of, path, r.fields,
                   {{field::peak_resident, "VmHWM", m.vm_hwm, r.out.peak_resident},
                    {field::swap, "VmSwap", m.vm_swap, r.out.swap}});
}

Result<void> read_smaps_rollup(const Request& r) {
  const ProcPath path(r.of.root, r.of.who, "smaps_rollup");
  std::array<char, 4096> buffer;
  const auto text = read_file(r.of, path, buffer);
  if (!text) return text.why();
  const SmapsRollup m = parse_smaps_rollup(*text);
  return take_both(
      r.of, path, r.fields,
      {{field::proportional, "Pss", m.pss, r.out.proportional},
       {field::private_set, "Private_Clean and Private_Dirty", m.unique(), r.out.private_set}});
}

// The key is the process's, even if `who` is one of its threads.
Result<void> read_key(const Request& r) {
  const std::string_view who =
      r.of.who == "thread-self" ? "self" : r.of.who.substr(0, r.of.who.find('/'));
  const ProcPath path(r.of.root, who, "stat");
  std::array<char, 2048> buffer;
  const auto text = read_file({r.of.root, who}, path, buffer);
  if (!text) return text.why();
  const auto s = parse_stat(*text);
  if (!s) return nonsense(path, "it is no process");
  r.out.process_key = r.id.key_of(r.of.root, *s);
  if (r.out.process_key) return {};
  return fail(Status::unsupported,
              "the proc tree does not identify its boot (sys/kernel/random/boot_id)");
}

Result<void> not_of_this_system(const Request&) {
  return fail(Status::unsupported,
              "Linux counts no committed memory and no footprint of a process");
}

FieldSet present(const ProcessMemory& m) {
  return (m.resident ? field::resident : 0) | (m.virtual_size ? field::virtual_size : 0) |
         (m.peak_resident ? field::peak_resident : 0) | (m.swap ? field::swap : 0) |
         (m.proportional ? field::proportional : 0) | (m.private_set ? field::private_set : 0) |
         (m.process_key ? field::process_key : 0);
}

}  // namespace

Failure unreadable(int error, const procfs::ProcPath& path) {
  return fail(status_of(error, Status::no_source),
              {"cannot read ", path.c_str(), ": ", reason_of(error)}, error);
}

Failure nonsense(const procfs::ProcPath& path, const MessageText& what) {
  return fail(Status::backend, {path.c_str(), " makes no sense: ", what.view()});
}

Life life_of(std::string_view root, std::string_view who) {
  std::array<char, 2048> buffer;
  const auto got = platform::read_small(ProcPath(root, who, "stat").c_str(), buffer);
  if (got) {
    const auto s = parse_stat({buffer.data(), got.value});
    return s ? life_in(*s) : Life::unknown;
  }
  if (got.error == ESRCH) return Life::gone;
  if (got.error != ENOENT) return Life::unknown;
  return platform::exists(ProcPath(root, "", "stat").c_str()) ? Life::gone : Life::no_tree;
}

Failure why_no_memory(std::string_view root, std::string_view who, const procfs::ProcPath& path,
                      int error) {
  if (error != 0 && !is_gone(error)) return unreadable(error, path);
  switch (life_of(root, who)) {
    case Life::running:
      return of_running(who, path, error);
    case Life::exited:
      return no_process(who, " has exited and its parent has not waited for it (a zombie)");
    case Life::headless:
      return no_process(who, " has lost its first thread, and no other could be read");
    case Life::kernel_thread:
      return fail(Status::unsupported,
                  {"process ", who, " is a kernel thread, which has no memory of its own"});
    case Life::gone:
      return no_process(who, " does not exist, or the proc mount hides it (option hidepid)");
    case Life::no_tree:
      return no_tree(root);
    case Life::unknown:
      break;
  }
  return error == 0 ? nonsense(path, "it shows no memory") : unreadable(error, path);
}

std::optional<std::string> living_thread(std::string_view root, std::string_view who) {
  if (life_of(root, who) != Life::headless) return std::nullopt;
  const std::string folder = compose({who, "/task"});
  std::optional<std::string> found;
  (void)platform::for_each_entry(ProcPath(root, folder, "").c_str(), [&](std::string_view thread) {
    std::string candidate = compose({folder, "/", thread});
    if (life_of(root, candidate) != Life::running) return true;
    found = std::move(candidate);
    return false;
  });
  return found;
}

bool to_bytes(const procfs::Statm& m, std::size_t page_size, MemorySizes& out) noexcept {
  return !__builtin_mul_overflow(m.resident, page_size, &out.resident) &&
         !__builtin_mul_overflow(m.size, page_size, &out.virtual_size);
}

void store(const MemorySizes& sizes, FieldSet fields, ProcessMemory& out) noexcept {
  if ((fields & field::resident) != 0) out.resident = sizes.resident;
  if ((fields & field::virtual_size) != 0) out.virtual_size = sizes.virtual_size;
}

Result<void> read_process_memory(std::string_view root, std::string_view who, std::size_t page_size,
                                 procfs::BootId& id, FieldSet fields, ProcessMemory& out) {
  const Request all{{root, who}, page_size, id, fields, out};
  std::optional<Failure> first;
  const auto ask = [&](std::uint32_t group, Result<void> (*read)(const Request&)) {
    if ((fields & group) == 0 || (first && first->code == Status::no_process)) return;
    Result<void> r = read(all);
    if (!r && (!first || r.why().code == Status::no_process)) first = r.why();
  };
  ask(field::cheap, read_statm);
  ask(field::peak_resident | field::swap, read_status);
  ask(field::proportional | field::private_set, read_smaps_rollup);
  ask(field::process_key, read_key);
  ask(field::committed | field::footprint | field::peak_committed | field::peak_footprint,
      not_of_this_system);

  if (first && (first->code == Status::no_process || (present(out) & fields) == 0)) return *first;
  if (first) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
