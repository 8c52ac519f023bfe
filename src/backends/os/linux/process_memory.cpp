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

using procfs::amount;
using procfs::parse_smaps_rollup;
using procfs::parse_stat;
using procfs::parse_statm;
using procfs::parse_status;
using procfs::proc_path;
using procfs::smaps_rollup;
using procfs::stat;
using procfs::statm;
using procfs::status_memory;

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

life life_in(const stat& s) {
  if (s.is_kernel_thread()) return life::kernel_thread;
  if (s.is_headless()) return life::headless;
  return s.has_exited() ? life::exited : life::running;
}

constexpr failure_of fail{source::os};

failure no_process(std::string_view who, std::string_view rest) {
  return fail(status::no_process, {"process ", who, rest});
}

failure no_tree(std::string_view root) {
  return fail(status::no_source,
              {"there is no proc tree at ", root, ": mount procfs there or name another root"},
              ENOENT);
}

failure of_running(std::string_view who, const proc_path& path, int error) {
  if (error == ESRCH) return no_process(who, " ended while it was read");
  if (error == 0) return nonsense(path, "a running process shows no memory there");
  return fail(status::unsupported, {"this kernel has no ", path.c_str()});
}

namespace field = process_memory_field;

struct subject_files {
  std::string_view root;
  std::string_view who;
};

struct request {
  subject_files of;
  std::size_t page_size;
  procfs::boot_id& id;
  FieldSet fields;
  process_memory& out;
};

result<std::string_view> read_file(const subject_files& of, const proc_path& path,
                                   std::span<char> buffer) {
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) return why_no_memory(of.root, of.who, path, got.error);
  if (got.value == buffer.size()) return nonsense(path, "it is too long");
  return std::string_view(buffer.data(), got.value);
}

result<void> read_statm(const request& r) {
  const proc_path path(r.of.root, r.of.who, "statm");
  std::array<char, 256> buffer;
  const auto text = read_file(r.of, path, buffer);
  if (!text) return text.why();
  const auto m = parse_statm(*text);
  if (!m) return nonsense(path, "pages expected");
  if (m->size == 0 && m->resident == 0) {
    // 0 is true only if the process has unmapped everything.
    if (life_of(r.of.root, r.of.who) != life::running)
      return why_no_memory(r.of.root, r.of.who, path, 0);
  }
  memory_sizes sizes;
  if (!to_bytes(*m, r.page_size, sizes)) return nonsense(path, "a size is past 64 bits");
  store(sizes, r.fields, r.out);
  return {};
}

// Stores a wanted value, or returns why it is missing.
result<void> take(const subject_files& of, const proc_path& path, std::string_view key,
                  const amount& found, std::optional<std::uint64_t>& into) {
  into = found.value();
  if (into) return {};
  if (found.what == amount::is::malformed) return nonsense(path, {key, " is no amount in kB"});
  failure why = why_no_memory(of.root, of.who, path, 0);
  if (why.code != status::backend) return why;
  return fail(status::unsupported, {"this kernel's ", path.c_str(), " has no ", key});
}

struct wanted_value {
  FieldSet field;
  const char* key;
  amount found;
  std::optional<std::uint64_t>& into;
};

// Returns the first reason.
result<void> take_both(const subject_files& of, const proc_path& path, FieldSet fields,
                       const wanted_value (&both)[2]) {
  result<void> first;
  for (const wanted_value& w : both) {
    if ((fields & w.field) == 0) continue;
    result<void> taken = take(of, path, w.key, w.found, w.into);
    if (first) first = std::move(taken);
  }
  return first;
}

result<void> read_status(const request& r) {
  const proc_path path(r.of.root, r.of.who, "status");
  std::array<char, 16384> buffer;
  const auto text = read_file(r.of, path, buffer);
  if (!text) return text.why();
  const status_memory m = parse_status(*text);
  return take_both(r.of, path, r.fields,
                   {{field::peak_resident, "VmHWM", m.vm_hwm, r.out.peak_resident},
                    {field::swap, "VmSwap", m.vm_swap, r.out.swap}});
}

result<void> read_smaps_rollup(const request& r) {
  const proc_path path(r.of.root, r.of.who, "smaps_rollup");
  std::array<char, 4096> buffer;
  const auto text = read_file(r.of, path, buffer);
  if (!text) return text.why();
  const smaps_rollup m = parse_smaps_rollup(*text);
  return take_both(
      r.of, path, r.fields,
      {{field::proportional, "Pss", m.pss, r.out.proportional},
       {field::private_set, "Private_Clean and Private_Dirty", m.unique(), r.out.private_set}});
}

// The key is the process's, even if `who` is one of its threads.
result<void> read_key(const request& r) {
  const std::string_view who =
      r.of.who == "thread-self" ? "self" : r.of.who.substr(0, r.of.who.find('/'));
  const proc_path path(r.of.root, who, "stat");
  std::array<char, 2048> buffer;
  const auto text = read_file({r.of.root, who}, path, buffer);
  if (!text) return text.why();
  const auto s = parse_stat(*text);
  if (!s) return nonsense(path, "it is no process");
  r.out.process_key = r.id.key_of(r.of.root, *s);
  if (r.out.process_key) return {};
  return fail(status::unsupported,
              "the proc tree does not identify its boot (sys/kernel/random/boot_id)");
}

result<void> not_of_this_system(const request&) {
  return fail(status::unsupported,
              "Linux counts no committed memory and no footprint of a process");
}

FieldSet present(const process_memory& m) {
  return (m.resident ? field::resident : 0) | (m.virtual_size ? field::virtual_size : 0) |
         (m.peak_resident ? field::peak_resident : 0) | (m.swap ? field::swap : 0) |
         (m.proportional ? field::proportional : 0) | (m.private_set ? field::private_set : 0) |
         (m.process_key ? field::process_key : 0);
}

}  // namespace

failure unreadable(int error, const procfs::proc_path& path) {
  return fail(status_of(error, status::no_source),
              {"cannot read ", path.c_str(), ": ", reason_of(error)}, error);
}

failure nonsense(const procfs::proc_path& path, const message_text& what) {
  return fail(status::backend, {path.c_str(), " makes no sense: ", what.view()});
}

life life_of(std::string_view root, std::string_view who) {
  std::array<char, 2048> buffer;
  const auto got = platform::read_small(proc_path(root, who, "stat").c_str(), buffer);
  if (got) {
    const auto s = parse_stat({buffer.data(), got.value});
    return s ? life_in(*s) : life::unknown;
  }
  if (got.error == ESRCH) return life::gone;
  if (got.error != ENOENT) return life::unknown;
  return platform::exists(proc_path(root, "", "stat").c_str()) ? life::gone : life::no_tree;
}

failure why_no_memory(std::string_view root, std::string_view who, const procfs::proc_path& path,
                      int error) {
  if (error != 0 && !is_gone(error)) return unreadable(error, path);
  switch (life_of(root, who)) {
    case life::running:
      return of_running(who, path, error);
    case life::exited:
      return no_process(who, " has exited and its parent has not waited for it (a zombie)");
    case life::headless:
      return no_process(who, " has lost its first thread, and no other could be read");
    case life::kernel_thread:
      return fail(status::unsupported,
                  {"process ", who, " is a kernel thread, which has no memory of its own"});
    case life::gone:
      return no_process(who, " does not exist, or the proc mount hides it (option hidepid)");
    case life::no_tree:
      return no_tree(root);
    case life::unknown:
      break;
  }
  return error == 0 ? nonsense(path, "it shows no memory") : unreadable(error, path);
}

std::optional<std::string> living_thread(std::string_view root, std::string_view who) {
  if (life_of(root, who) != life::headless) return std::nullopt;
  const std::string folder = compose({who, "/task"});
  std::optional<std::string> found;
  (void)platform::for_each_entry(proc_path(root, folder, "").c_str(), [&](std::string_view thread) {
    std::string candidate = compose({folder, "/", thread});
    if (life_of(root, candidate) != life::running) return true;
    found = std::move(candidate);
    return false;
  });
  return found;
}

bool to_bytes(const procfs::statm& m, std::size_t page_size, memory_sizes& out) noexcept {
  return !__builtin_mul_overflow(m.resident, page_size, &out.resident) &&
         !__builtin_mul_overflow(m.size, page_size, &out.virtual_size);
}

void store(const memory_sizes& sizes, FieldSet fields, process_memory& out) noexcept {
  if ((fields & field::resident) != 0) out.resident = sizes.resident;
  if ((fields & field::virtual_size) != 0) out.virtual_size = sizes.virtual_size;
}

result<void> read_process_memory(std::string_view root, std::string_view who, std::size_t page_size,
                                 procfs::boot_id& id, FieldSet fields, process_memory& out) {
  const request all{{root, who}, page_size, id, fields, out};
  std::optional<failure> first;
  const auto ask = [&](std::uint32_t group, result<void> (*read)(const request&)) {
    if ((fields & group) == 0 || (first && first->code == status::no_process)) return;
    result<void> r = read(all);
    if (!r && (!first || r.why().code == status::no_process)) first = r.why();
  };
  ask(field::cheap, read_statm);
  ask(field::peak_resident | field::swap, read_status);
  ask(field::proportional | field::private_set, read_smaps_rollup);
  ask(field::process_key, read_key);
  ask(field::committed | field::footprint | field::peak_committed | field::peak_footprint,
      not_of_this_system);

  if (first && (first->code == status::no_process || (present(out) & fields) == 0)) return *first;
  if (first) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
