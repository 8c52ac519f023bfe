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

using sysfs::PathText;

std::optional<std::uint32_t> narrow(std::optional<std::uint64_t> value) noexcept {
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// A node's properties have about 800 bytes.
using FileBuffer = std::array<char, 4096>;

std::optional<std::uint64_t> sum_banks(std::string_view node) {
  const PathText banks{node, "/mem_banks"};
  std::optional<std::uint64_t> sum;
  (void)platform::for_each_entry(banks.c_str(), [&](std::string_view name) {
    const PathText bank{banks.view(), "/", name};
    FileBuffer buffer;
    const auto size = parse_bank(sysfs::read_text(bank.view(), "properties", buffer).value);
    if (size) sum = scan::checked_add(sum.value_or(0), *size);
    return true;
  });
  return sum;
}

// kthreadd is process 2, but only in the initial namespace.
bool has_kernel_threads(std::string_view proc_root) {
  std::array<char, 512> text;
  return procfs::is_kernel_thread(sysfs::read_text(proc_root, "2/stat", text).value);
}

bool has_queue(std::string_view process, std::uint32_t gpu_id) {
  const PathText queues{process, "/queues"};
  bool is_match = false;
  (void)platform::for_each_entry(queues.c_str(), [&](std::string_view name) {
    const PathText queue{queues.view(), "/", name};
    const auto id = sysfs::read_number(queue.view(), "gpuid");
    is_match = id && id.value == gpu_id;
    return !is_match;
  });
  return is_match;
}

class KfdDriver final : public drm::ComputeDriver {
 public:
  explicit KfdDriver(const Settings& settings)
      : folder_(settings.sys_root + "/class/kfd/kfd"),
        topology_(folder_),
        processes_(folder_, settings.proc_root) {}

  Source source() const noexcept override { return Source::kfd; }
  SourceState describe() const override;
  std::span<const drm::ComputeNode> nodes() override;
  bool is_uncertain() const noexcept override { return is_transient(error_.value_or(0)); }
  Result<void> add_rows(drm::Visit& visit, std::uint32_t gpu_id, std::uint32_t pid,
                        std::vector<Usage>& rows) override;

 private:
  std::string folder_;
  Topology topology_;
  ProcessList processes_;
  std::optional<int> error_;  // of the last read of the topology
};

constexpr FailureFactory fail{Source::kfd};

Failure make_refused_failure(int error, std::string_view folder, std::string_view file) {
  if (error == ENOENT) return fail(Status::no_source, "AMD's compute driver (KFD) is not here");
  const bool is_refusal = is_refused(error);
  return fail(is_refusal ? Status::permission : Status::backend,
              {folder, file, is_refusal ? " may not be read" : " cannot be read"}, error);
}

SourceState KfdDriver::describe() const {
  SourceState result;
  result.failure = {Status::ok, Source::kfd, {}, {}};
  if (!error_) return result;
  result.state = State::ready;
  if (topology_.refused_count() != 0 && topology_.nodes().empty()) {
    result.failure =
        fail(Status::permission, {"none of the GPUs below ", folder_,
                                  "/topology is readable: none was given to this container"});
    result.state = State::unreadable;
  } else if (*error_ != 0) {
    result.failure = make_refused_failure(*error_, folder_, "/topology");
    result.state = result.failure.code == Status::no_source ? State::absent : State::unreadable;
  }
  return result;
}

std::span<const drm::ComputeNode> KfdDriver::nodes() {
  error_ = topology_.refresh();
  return topology_.nodes();
}

Result<void> KfdDriver::add_rows(drm::Visit& visit, std::uint32_t gpu_id, std::uint32_t pid,
                                 std::vector<Usage>& rows) {
  const bool has_host_pids = processes_.has_host_pids();
  // Foreign pids are ambiguous: fdinfo may already list the same process, which would then count
  // twice.
  const bool may_repeat = !has_host_pids && !rows.empty();
  std::uint64_t sum = 0;
  std::uint32_t count = 0;
  const auto add = [&](const ComputeUse& use) {
    sum += use.vram;
    ++count;
    if (may_repeat) return;
    merge(use, rows);
    if (!has_host_pids) rows.back().notes |= note::foreign_pid;
  };
  const int error = pid == 0        ? processes_.visit_gpu(gpu_id, add)
                    : has_host_pids ? processes_.visit_process(gpu_id, pid, add)
                                    : 0;
  if (may_repeat && count != 0) {
    for (Usage& row : rows) mark_lower_bound(row);
    visit.diagnose(
        with_reason(Reason::ambiguous,
                    fail(Status::no_source, {count, " compute processes use ", sum,
                                             " bytes of this device, by pids of the host; run in "
                                             "the host's PID namespace"})),
        subject::processes, 0);
  }
  if (error != 0 && error != ENOENT) return make_refused_failure(error, folder_, "/proc");
  return {};
}

}  // namespace

std::optional<std::uint64_t> find_property(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_word(line) == key) return scan::parse_decimal(scan::trim(line));
  }
  return std::nullopt;
}

bool parse_node(std::string_view properties, drm::ComputeNode& node) noexcept {
  const auto minor = narrow(find_property(properties, "drm_render_minor"));
  const auto location = narrow(find_property(properties, "location_id"));
  if (find_property(properties, "simd_count").value_or(0) == 0 || !minor || !location) return false;
  node.render_minor = *minor;
  node.location = *location;
  // Older kernels do not report it; they have one domain.
  node.domain = narrow(find_property(properties, "domain")).value_or(0);
  node.gfx_target = narrow(find_property(properties, "gfx_target_version")).value_or(0);
  return true;
}

std::optional<std::uint64_t> parse_bank(std::string_view properties) noexcept {
  // HSA: 0 system, 1 framebuffer, host-visible, 2 framebuffer, not host-visible
  const auto heap = find_property(properties, "heap_type");
  if (heap != 1 && heap != 2) return std::nullopt;
  return find_property(properties, "size_in_bytes");
}

int Topology::refresh() {
  const auto generation = sysfs::read_number(folder_, "generation_id");
  if (generation && generation_ == generation.value) return 0;
  nodes_.clear();
  refused_count_ = 0;
  int last_error = generation.error;
  const PathText nodes_path{folder_, "/nodes"};
  const int list_error = platform::for_each_entry(nodes_path.c_str(), [&](std::string_view name) {
    const int error = add(PathText{nodes_path.view(), "/", name}.view());
    if (is_transient(error)) last_error = error;
    return true;
  });
  if (list_error != 0) last_error = list_error;
  const bool is_complete = generation && last_error == 0;
  generation_ = is_complete ? std::optional(generation.value) : std::nullopt;
  return generation || is_transient(last_error) ? last_error : list_error;
}

// A CPU's node has gpu_id 0. Reading a node fails with EPERM if a device cgroup hides the GPU from
// this container.
int Topology::add(std::string_view node) {
  const auto id = sysfs::read_number(node, "gpu_id");
  FileBuffer buffer;
  const auto text = sysfs::read_text(node, "properties", buffer);
  if (is_refused(id.error) || is_refused(text.error)) ++refused_count_;
  if (!id) return id.error;
  if (id.value == 0 || id.value > UINT32_MAX) return 0;
  drm::ComputeNode added;
  added.gpu_id = static_cast<std::uint32_t>(id.value);
  if (!parse_node(text.value, added)) return text.error;
  added.memory = sum_banks(node);
  nodes_.push_back(added);
  return 0;
}

// KFD counts its own allocations, and fdinfo the same process's mapped memory; either may include
// part of the other. They are never added: the larger one is a lower bound.
void merge(const ComputeUse& use, std::vector<Usage>& rows) {
  const auto it = std::ranges::find_if(rows, [&](const Usage& u) { return u.pid == use.pid; });
  const bool is_new = it == rows.end();
  Usage& row = is_new ? rows.emplace_back() : *it;
  row.pid = use.pid;
  row.kinds = row.kinds.value_or(0) | usage_kind::compute;
  if (row.used && *row.used >= use.vram) return;
  if (!is_new) row.notes |= note::mixed;
  row.source = Source::kfd;
  row.accounting = Accounting::committed;
  row.used = use.vram;
  row.clients.reset();
  mark_lower_bound(row);
  row.committed = use.vram;
  row.resident.reset();
}

int ProcessList::visit_gpu(std::uint32_t gpu_id, Visitor visit) const {
  int last_error = 0;
  const int list_error = platform::for_each_entry(folder_.c_str(), [&](std::string_view name) {
    const auto pid = scan::parse_number<std::uint32_t>(name);
    const int error = pid ? visit_process(gpu_id, *pid, visit) : 0;
    if (error != 0) last_error = error;
    return true;
  });
  return list_error != 0 ? list_error : last_error;
}

int ProcessList::visit_process(std::uint32_t gpu_id, std::uint32_t pid, Visitor visit) const {
  std::array<char, 24> name;
  const PathText process{folder_, "/", pid};
  const auto vram = sysfs::read_number(process.view(), compose_into(name, {"vram_", gpu_id}));
  if (!vram) return is_gone(vram.error) ? 0 : vram.error;
  if (vram.value != 0 || has_queue(process.view(), gpu_id)) visit({pid, vram.value});
  return 0;
}

bool ProcessList::has_host_pids() {
  if (!has_host_pids_) {
    const PathText namespaces{proc_root_, "/self/ns"};
    int error = 0;
    const bool is_initial = sysfs::read_link_name(namespaces.view(), "pid", &error).view() ==
                                procfs::initial_pid_namespace ||
                            has_kernel_threads(proc_root_);
    if (!is_initial && is_transient(error)) return false;
    has_host_pids_ = is_initial;
  }
  return *has_host_pids_;
}

}  // namespace hmn::kfd

namespace hmn {

std::unique_ptr<drm::ComputeDriver> make_kfd(const Settings& settings) {
  return std::make_unique<kfd::KfdDriver>(settings);
}

}  // namespace hmn
