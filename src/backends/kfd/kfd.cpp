// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::kfd {
namespace {

using sysfs::path_text;

std::optional<std::uint32_t> small(std::optional<std::uint64_t> value) noexcept {
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// A node's properties have about 800 bytes.
using file_buffer = std::array<char, 4096>;

std::optional<std::uint64_t> memory_of(std::string_view node) {
  const path_text banks{node, "/mem_banks"};
  std::optional<std::uint64_t> sum;
  (void)platform::for_each_entry(banks.c_str(), [&](std::string_view name) {
    const path_text bank{banks.view(), "/", name};
    file_buffer buffer;
    const auto size = parse_bank(sysfs::read_text(bank.view(), "properties", buffer).value);
    if (size) sum = scan::sum(sum.value_or(0), *size);
    return true;
  });
  return sum;
}

using sysfs::path_text;

// kthreadd is process 2, but only in the initial namespace.
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

class kfd_driver final : public drm::compute_driver {
 public:
  explicit kfd_driver(const settings& s)
      : folder_(s.sys_root + "/class/kfd/kfd"), topology_(folder_), list_(folder_, s.proc_root) {}

  source from() const noexcept override { return source::kfd; }
  source_state describe() const override;
  std::span<const drm::compute_node> nodes() override;
  bool is_in_doubt() const noexcept override { return is_passing(error_.value_or(0)); }
  result<void> add_rows(drm::visit& v, std::uint32_t gpu_id, std::uint32_t pid,
                        std::vector<usage>& rows) override;

 private:
  std::string folder_;
  topology topology_;
  process_list list_;
  std::optional<int> error_;  // of the last read of the topology
};

constexpr failure_of fail{source::kfd};

failure refused(int error, std::string_view folder, std::string_view what) {
  if (error == ENOENT) return fail(status::no_source, "AMD's compute driver (KFD) is not here");
  const bool is_refusal = is_refused(error);
  return fail(is_refusal ? status::permission : status::backend,
              {folder, what, is_refusal ? " may not be read" : " cannot be read"}, error);
}

source_state kfd_driver::describe() const {
  source_state now;
  now.why = {status::ok, source::kfd, {}, {}};
  if (!error_) return now;
  now.state = state::ready;
  if (topology_.refused() != 0 && topology_.nodes().empty()) {
    now.why =
        fail(status::permission, {"none of the GPUs below ", folder_,
                                  "/topology may be looked at: this container was not given one"});
    now.state = state::unreadable;
  } else if (*error_ != 0) {
    now.why = refused(*error_, folder_, "/topology");
    now.state = now.why.code == status::no_source ? state::absent : state::unreadable;
  }
  return now;
}

std::span<const drm::compute_node> kfd_driver::nodes() {
  error_ = topology_.refresh();
  return topology_.nodes();
}

result<void> kfd_driver::add_rows(drm::visit& v, std::uint32_t gpu_id, std::uint32_t pid,
                                  std::vector<usage>& rows) {
  const bool knows_pids = list_.knows_pids();
  // Foreign pids are ambiguous: fdinfo may already list the same process, which would then count
  // twice.
  const bool may_repeat = !knows_pids && !rows.empty();
  std::uint64_t sum = 0;
  std::uint32_t count = 0;
  const auto take = [&](const compute_use& use) {
    sum += use.vram;
    ++count;
    if (may_repeat) return;
    merge(use, rows);
    if (!knows_pids) rows.back().notes |= note::foreign_pid;
  };
  const int error = pid == 0     ? list_.of_gpu(gpu_id, take)
                    : knows_pids ? list_.of_process(gpu_id, pid, take)
                                 : 0;
  if (may_repeat && count != 0) {
    for (usage& row : rows) note_incomplete(row);
    v.diagnose(
        with_reason(reason::ambiguous,
                    fail(status::no_source, {count, " compute processes use ", sum,
                                             " bytes of this device, by pids of the host; run in "
                                             "the host's PID namespace"})),
        subject::processes, 0);
  }
  if (error != 0 && error != ENOENT) return refused(error, folder_, "/proc");
  return {};
}

}  // namespace

std::optional<std::uint64_t> property(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_word(line) == key) return scan::decimal(scan::trim(line));
  }
  return std::nullopt;
}

bool parse_node(std::string_view properties, drm::compute_node& into) noexcept {
  const auto minor = small(property(properties, "drm_render_minor"));
  const auto location = small(property(properties, "location_id"));
  if (property(properties, "simd_count").value_or(0) == 0 || !minor || !location) return false;
  into.render_minor = *minor;
  into.location = *location;
  // Older kernels do not report it; they have one domain.
  into.domain = small(property(properties, "domain")).value_or(0);
  into.gfx_target = small(property(properties, "gfx_target_version")).value_or(0);
  return true;
}

std::optional<std::uint64_t> parse_bank(std::string_view properties) noexcept {
  // HSA: 0 system, 1 framebuffer, host-visible, 2 framebuffer, not host-visible
  const auto heap = property(properties, "heap_type");
  if (heap != 1 && heap != 2) return std::nullopt;
  return property(properties, "size_in_bytes");
}

int topology::refresh() {
  const auto now = sysfs::read_number(folder_, "generation_id");
  if (now && generation_ == now.value) return 0;
  nodes_.clear();
  refused_ = 0;
  int failed = now.error;
  const path_text all{folder_, "/nodes"};
  const int listed = platform::for_each_entry(all.c_str(), [&](std::string_view name) {
    const int error = add(path_text{all.view(), "/", name}.view());
    if (is_passing(error)) failed = error;
    return true;
  });
  if (listed != 0) failed = listed;
  const bool holds = now && failed == 0;
  generation_ = holds ? std::optional(now.value) : std::nullopt;
  return now || is_passing(failed) ? failed : listed;
}

// A CPU's node has gpu_id 0. Reading a node fails with EPERM if a device cgroup hides the GPU from
// this container.
int topology::add(std::string_view node) {
  const auto id = sysfs::read_number(node, "gpu_id");
  file_buffer buffer;
  const auto text = sysfs::read_text(node, "properties", buffer);
  if (is_refused(id.error) || is_refused(text.error)) ++refused_;
  if (!id) return id.error;
  if (id.value == 0 || id.value > UINT32_MAX) return 0;
  drm::compute_node fresh;
  fresh.gpu_id = static_cast<std::uint32_t>(id.value);
  if (!parse_node(text.value, fresh)) return text.error;
  fresh.memory = memory_of(node);
  nodes_.push_back(fresh);
  return 0;
}

// KFD counts its own allocations, and fdinfo the same process's mapped memory; either may include
// part of the other. They are never added: the larger one is a lower bound.
void merge(const compute_use& use, std::vector<usage>& rows) {
  const auto known = std::ranges::find_if(rows, [&](const usage& u) { return u.pid == use.pid; });
  const bool is_new = known == rows.end();
  usage& row = is_new ? rows.emplace_back() : *known;
  row.pid = use.pid;
  row.kinds = row.kinds.value_or(0) | usage_kind::compute;
  if (row.used && *row.used >= use.vram) return;
  if (!is_new) row.notes |= note::mixed;
  row.from = source::kfd;
  row.accounting = accounting::committed;
  row.used = use.vram;
  row.clients.reset();
  note_incomplete(row);
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
  if (!vram) return is_gone(vram.error) ? 0 : vram.error;
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

namespace hmn {

std::unique_ptr<drm::compute_driver> make_kfd(const settings& s) {
  return std::make_unique<kfd::kfd_driver>(s);
}

}  // namespace hmn
