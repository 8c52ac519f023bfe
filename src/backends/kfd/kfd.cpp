// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"

#include <cerrno>

#include "backends/kfd/processes.hpp"
#include "backends/kfd/topology.hpp"
#include "model/error_number.hpp"

namespace hmn::kfd {
namespace {

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
  // Foreign pids are ambiguous: one may be a process that fdinfo already listed, which would count
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
    for (usage& row : rows) row.notes |= note::lower_bound;
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
}  // namespace hmn::kfd

namespace hmn {

std::unique_ptr<drm::compute_driver> make_kfd(const settings& s) {
  return std::make_unique<kfd::kfd_driver>(s);
}

}  // namespace hmn
