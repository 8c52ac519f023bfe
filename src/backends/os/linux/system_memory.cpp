// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/system_memory.hpp"

#include <array>
#include <cerrno>
#include <string_view>

#include "backends/os/linux/process_memory.hpp"
#include "model/scan.hpp"
#include "procfs/meminfo.hpp"
#include "procfs/tree.hpp"

namespace hmn::os {
namespace {

using procfs::amount;
using procfs::meminfo;
using procfs::parse_meminfo;
using procfs::parse_stall;
using procfs::proc_path;

// Sum of the zones' low watermarks: a quarter above the minimum (mm/page_alloc.c).
std::uint64_t low_watermark(const std::string& proc_root) {
  std::array<char, 32> buffer;
  const proc_path path(proc_root, "", "sys/vm/min_free_kbytes");
  const auto got = platform::read_small(path.c_str(), buffer);
  std::string_view text(buffer.data(), got ? got.value : 0);
  const std::uint64_t kilobytes = scan::number(scan::take_line(text)).value_or(0);
  const std::uint64_t bytes = scan::product(kilobytes, 1024).value_or(0);
  return bytes + bytes / 4;
}

void take(const meminfo& m, const std::string& proc_root, system_memory& out) {
  out.total = m.total.value();
  out.available = m.available.value();
  out.swap_total = m.swap_total.value();
  out.swap_free = m.swap_free.value();
  out.commit_limit = m.commit_limit.value();
  out.committed = m.committed.value();
  if (m.available.what != amount::is::missing) return;
  out.available = m.estimate_available(low_watermark(proc_root));
  if (out.available) out.notes |= note::estimated;
}

}  // namespace

system_reader::system_reader(const std::string& proc_root, const std::string& cgroup_root)
    : proc_root_(proc_root),
      meminfo_(proc_root + "/meminfo"),
      stall_(proc_root + "/pressure/memory"),
      limits_(proc_root, cgroup_root) {}

// Kernels without pressure stall information lack the file, or refuse to open it (psi=0).
void system_reader::read_stall(system_memory& out) {
  std::array<char, 256> buffer;
  const auto got = stall_.read(buffer);
  if (!got && (got.error == ENOENT || got.error == EOPNOTSUPP)) return;
  if (got) out.stall_percent = parse_stall({buffer.data(), got.value});
  if (!out.stall_percent) out.notes |= note::partial;
}

result<void> system_reader::read(system_memory& out) {
  std::array<char, 16384> buffer;
  const auto got = meminfo_.read(buffer);
  if (!got) return unreadable(got.error, proc_path(proc_root_, "", "meminfo"));
  out = system_memory();
  out.from = source::os;
  take(parse_meminfo({buffer.data(), got.value}), proc_root_, out);
  if (!out.total && !out.available) {
    return nonsense(proc_path(proc_root_, "", "meminfo"), "it has no MemTotal in kB");
  }
  read_stall(out);

  const memory_limit limit = limits_.read();
  out.limit = limit.bytes;
  out.limit_used = limit.used;
  out.limit_left = limit.left;
  if (limit.is_partial || !out.total || !out.available) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
