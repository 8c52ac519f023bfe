// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/process_memory.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>

#include "backends/os/linux/process_life.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/path.hpp"
#include "procfs/status.hpp"

namespace hmn::os {
namespace {

using procfs::amount;
using procfs::parse_smaps_rollup;
using procfs::parse_statm;
using procfs::parse_status;
using procfs::proc_path;
using procfs::smaps_rollup;
using procfs::statm;
using procfs::status_memory;

namespace field = process_memory_field;

struct subject_files {
  std::string_view root;
  std::string_view who;
};

result<std::string_view> read_file(const subject_files& of, const proc_path& path,
                                   std::span<char> buffer) {
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) return why_no_memory(of.root, of.who, path, got.error);
  if (got.value == buffer.size()) return nonsense(path, "it is too long");
  return std::string_view(buffer.data(), got.value);
}

result<void> read_statm(const subject_files& of, std::size_t page_size, std::uint32_t fields,
                        process_memory& out) {
  const proc_path path(of.root, of.who, "statm");
  std::array<char, 256> buffer;
  const auto text = read_file(of, path, buffer);
  if (!text) return text.why();
  const auto m = parse_statm(*text);
  if (!m) return nonsense(path, "pages expected");
  if (m->size == 0 && m->resident == 0) {
    // A process may have unmapped everything: only then 0 is its figure.
    if (life_of(of.root, of.who) != life::running) return why_no_memory(of.root, of.who, path, 0);
  }
  if (!fill(*m, page_size, fields, out)) return nonsense(path, "a size is past 64 bits");
  return {};
}

// Puts a wanted amount into its place, or says why not.
result<void> take(const subject_files& of, const proc_path& path, std::string_view key,
                  const amount& found, std::optional<std::uint64_t>& into) {
  into = found.value();
  if (into) return {};
  std::string what = std::string(key);
  if (found.what == amount::is::malformed) return nonsense(path, what + " is no amount in kB");
  failure why = why_no_memory(of.root, of.who, path, 0);
  if (why.code != status::backend) return why;
  return failure{status::unsupported,
                 source::os,
                 {},
                 "this kernel's " + std::string(path.c_str()) + " has no " + what};
}

result<void> first_of(result<void> a, result<void> b) {
  return a ? std::move(b) : std::move(a);
}

result<void> read_status(const subject_files& of, std::uint32_t fields, process_memory& out) {
  const proc_path path(of.root, of.who, "status");
  std::array<char, 16384> buffer;
  const auto text = read_file(of, path, buffer);
  if (!text) return text.why();
  const status_memory m = parse_status(*text);
  result<void> peak;
  result<void> swap;
  if (fields & field::peak_resident) peak = take(of, path, "VmHWM", m.vm_hwm, out.peak_resident);
  if (fields & field::swap) swap = take(of, path, "VmSwap", m.vm_swap, out.swap);
  return first_of(std::move(peak), std::move(swap));
}

result<void> read_smaps_rollup(const subject_files& of, std::uint32_t fields, process_memory& out) {
  const proc_path path(of.root, of.who, "smaps_rollup");
  std::array<char, 4096> buffer;
  const auto text = read_file(of, path, buffer);
  if (!text) return text.why();
  const smaps_rollup m = parse_smaps_rollup(*text);
  result<void> pss;
  result<void> uss;
  if (fields & field::proportional) pss = take(of, path, "Pss", m.pss, out.proportional);
  if (fields & field::private_set) {
    uss = take(of, path, "Private_Clean and Private_Dirty", m.unique(), out.private_set);
  }
  return first_of(std::move(pss), std::move(uss));
}

result<void> not_of_this_system() {
  return failure{status::unsupported,
                 source::os,
                 {},
                 "Linux counts no committed memory and no footprint of a process"};
}

std::uint32_t present(const process_memory& m) {
  return (m.resident ? field::resident : 0) | (m.virtual_size ? field::virtual_size : 0) |
         (m.peak_resident ? field::peak_resident : 0) | (m.swap ? field::swap : 0) |
         (m.proportional ? field::proportional : 0) | (m.private_set ? field::private_set : 0);
}

}  // namespace

bool fill(const procfs::statm& m, std::size_t page_size, std::uint32_t fields,
          process_memory& out) noexcept {
  const auto resident = scan::product(m.resident, page_size);
  const auto size = scan::product(m.size, page_size);
  if (!resident || !size) return false;
  if (fields & field::resident) out.resident = resident;
  if (fields & field::virtual_size) out.virtual_size = size;
  return true;
}

result<void> read_process_memory(std::string_view root, std::string_view who, std::size_t page_size,
                                 std::uint32_t fields, process_memory& out) {
  const subject_files of{root, who};
  std::optional<failure> first;
  const auto ask = [&](std::uint32_t group, auto&& read) {
    if ((fields & group) == 0 || (first && first->code == status::no_process)) return;
    result<void> r = read();
    if (!r && (!first || r.why().code == status::no_process)) first = std::move(r.why());
  };
  ask(field::cheap, [&] { return read_statm(of, page_size, fields, out); });
  ask(field::peak_resident | field::swap, [&] { return read_status(of, fields, out); });
  ask(field::proportional | field::private_set, [&] { return read_smaps_rollup(of, fields, out); });
  ask(field::committed | field::footprint | field::peak_committed | field::peak_footprint,
      not_of_this_system);

  if (first && (first->code == status::no_process || (present(out) & fields) == 0)) return *first;
  if (first) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
