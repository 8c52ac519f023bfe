// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/processes.hpp"

#include <algorithm>
#include <array>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/error_number.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::kfd {
namespace {

using sysfs::path_text;

// kthreadd is process 2 in the initial namespace only.
bool has_kernel_threads(std::string_view proc_root) {
  std::array<char, 512> text;
  return procfs::is_kernel_thread(sysfs::read_text(proc_root, "2/stat", text).value);
}

bool has_queue(std::string_view process, std::uint32_t gpu_id) {
  const path_text queues{process, "/queues"};
  bool found = false;
  (void)platform::for_each_entry(queues.c_str(), [&](std::string_view name) {
    const path_text queue{queues.view(), "/", name};
    const auto id = sysfs::read_number(queue.view(), "gpuid");
    found = id && id.value == gpu_id;
    return !found;
  });
  return found;
}

}  // namespace

// KFD counts its own allocations, fdinfo the same process's mapped memory; either may include some
// of the other. They are never added: the maximum is a lower bound.
void merge(const compute_use& use, std::vector<usage>& rows) {
  const auto known = std::ranges::find_if(rows, [&](const usage& u) { return u.pid == use.pid; });
  const bool is_new = known == rows.end();
  usage& row = is_new ? rows.emplace_back() : *known;
  row.pid = use.pid;
  row.kinds = row.kinds.value_or(0) | usage_kind::compute;
  if (row.used && *row.used >= use.vram) return;
  if (!is_new) row.notes |= note::mixed;
  row.notes |= note::lower_bound;
  row.from = source::kfd;
  row.accounting = accounting::committed;
  row.used = use.vram;
  row.committed = use.vram;
  row.resident.reset();
}

int process_list::of_gpu(std::uint32_t gpu_id, visitor visit) const {
  int failed = 0;
  const int listed = platform::for_each_entry(folder_.c_str(), [&](std::string_view name) {
    const auto pid = scan::number<std::uint32_t>(name);
    const int error = pid ? of_process(gpu_id, *pid, visit) : 0;
    if (error != 0) failed = error;
    return true;
  });
  return listed != 0 ? listed : failed;
}

int process_list::of_process(std::uint32_t gpu_id, std::uint32_t pid, visitor visit) const {
  std::array<char, 24> name;
  const path_text process{folder_, "/", pid};
  const auto vram = sysfs::read_number(process.view(), compose_in(name, {"vram_", gpu_id}));
  if (!vram) return is_passing(vram.error) ? vram.error : 0;
  if (vram.value != 0 || has_queue(process.view(), gpu_id)) visit({pid, vram.value});
  return 0;
}

bool process_list::knows_pids() {
  if (!knows_pids_) {
    const path_text own{proc_root_, "/self/ns"};
    int error = 0;
    const bool knows =
        sysfs::read_link_name(own.view(), "pid", &error).view() == procfs::initial_pid_namespace ||
        has_kernel_threads(proc_root_);
    if (!knows && is_passing(error)) return false;
    knows_pids_ = knows;
  }
  return *knows_pids_;
}

}  // namespace hmn::kfd
