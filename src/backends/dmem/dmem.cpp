// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dmem/dmem.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/dmem/survey.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/mutex.hpp"

namespace hmn::dmem {
namespace {

// How soon an enabled controller or a moved process is noticed.
constexpr std::uint64_t recheck_ns = platform::ns_per_second;

constexpr const char* limits_file = "/dmem.max";

// Finds the caller's groups, and which of them have the controller.
class OwnGroups {
 public:
  // Without the controller, only the folders found before are checked again.
  void refresh(HostSource& host) {
    const std::uint64_t now = platform::monotonic_ns();
    if (checked_ns_ != 0 && now - checked_ns_ < recheck_ns) return;
    const bool is_first = checked_ns_ == 0;
    checked_ns_ = now;
    if (is_first || has_own_controller_) find(host);
    if (root_.empty()) {
      is_enabled_in_siblings_ = false;
    } else if (const auto now_divided = is_enabled_for_children(root_);
               now_divided || now_divided.error == ENOENT) {
      is_enabled_in_siblings_ = now_divided.value;
    }
    has_own_controller_ = false;
    for (const std::string& group : all_) {
      has_own_controller_ = has_own_controller_ || platform::exists((group + limits_file).c_str());
    }
  }
  [[nodiscard]] bool has_own_controller() const noexcept { return has_own_controller_; }
  [[nodiscard]] bool has_any_controller() const noexcept {
    return has_own_controller_ || is_enabled_in_siblings_;
  }
  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }

 private:
  void find(HostSource& host) {
    all_.clear();
    host.own_groups(all_);
    root_ = all_.empty() ? std::string() : all_.back();
  }

  std::uint64_t checked_ns_ = 0;
  bool has_own_controller_ = false;      // around the caller
  bool is_enabled_in_siblings_ = false;  // in sibling groups
  std::vector<std::string> all_;
  std::string root_;  // topmost visible group
};

// Host source that adds device-memory limits of control groups to another one, to which it
// forwards everything else.
class DmemHost final : public HostSource {
 public:
  explicit DmemHost(std::unique_ptr<HostSource> host) : host_(std::move(host)) {}

  Source id() const noexcept override { return host_->id(); }
  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override {
    return host_->memory(pid, fields, out);
  }
  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override {
    return host_->own_memory(fields, out);
  }
  bool own_sizes(MemorySizes& out) noexcept override { return host_->own_sizes(out); }
  Result<void> system(SystemMemory& out) override { return host_->system(out); }
  void describe(Usage& row) override { host_->describe(row); }
  void describe_texts(Usage& row) override { host_->describe_texts(row); }
  void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> reuse_texts) override {
    host_->describe_all(rows, reuse_texts);
  }
  void own_groups(std::vector<std::string>& out) override { host_->own_groups(out); }

  void limit(std::string_view pci_bus_id, PoolList& pools) override {
    const std::lock_guard lock(mutex_);
    groups_.refresh(*host_);
    if (groups_.has_own_controller()) set_budgets(pci_bus_id, pools.all());
  }

  void name_group(std::string_view path, std::string& out) override {
    host_->name_group(path, out);
  }
  Result<void> groups(GroupMemory& out) override {
    std::string root;
    {
      const std::lock_guard lock(mutex_);
      groups_.refresh(*host_);
      if (!groups_.has_any_controller()) return {};
      root = groups_.root();
    }
    return survey(*host_, root, out);
  }

  std::optional<SourceState> describe_source(Source source) override {
    if (source != Source::dmem) return std::nullopt;
    const std::lock_guard lock(mutex_);
    groups_.refresh(*host_);
    SourceState result;
    result.failure = {Status::ok, source, {}, {}};
    result.state = groups_.has_any_controller() ? State::ready : State::absent;
    if (!groups_.has_any_controller()) {
      result.failure = FailureFactory{source}(Status::no_source,
                                              "no control group that is visible has dmem.max");
    }
    return result;
  }

 private:
  // Returns "" for a file that is not there, and none for one that is not understood.
  std::optional<std::string_view> read(const std::string& file) {
    const auto result = platform::read_small(file.c_str(), buffer_);
    if (!result && result.error == ENOENT) return "";
    // Truncated text could lack a region.
    const std::string_view text(buffer_.data(),
                                result && result.value < buffer_.size() ? result.value : 0);
    return result && text.size() == result.value && is_understood(text) ? std::optional(text)
                                                                        : std::nullopt;
  }

  // Applies the limits of all groups to each pool: the tightest is the budget, and the fullest
  // group decides what is left. A limit that is not understood may be lower, and so may what is
  // left.
  void set_budgets(std::string_view pci_bus_id, std::span<Pool> pools) {
    for (const std::string& group : groups_.all()) {
      std::array<std::optional<std::uint64_t>, PoolList::capacity> limits;
      const auto text = read(group + limits_file);
      for (std::size_t i = 0; i < pools.size(); ++i) {
        limits[i] = sum_regions(text.value_or(""), pci_bus_id, {pools[i].kind, pools[i].instance});
        if (!text) pools[i].notes |= note::partial;
      }
      const auto usage = read(group + "/dmem.current");
      for (std::size_t i = 0; i < pools.size(); ++i) {
        if (!limits[i]) continue;
        set_budget(*limits[i],
                   sum_regions(usage.value_or(""), pci_bus_id, {pools[i].kind, pools[i].instance}),
                   pools[i]);
        if (!usage) pools[i].notes |= note::partial;
      }
    }
  }

  static void set_budget(std::uint64_t limit, std::optional<std::uint64_t> used, Pool& pool) {
    pool.budget = std::min(limit, pool.budget.value_or(limit));
    pool.notes |= note::mixed;
    const std::uint64_t left = limit - std::min(limit, used.value_or(0));
    pool.budget_left = std::min(left, pool.budget_left.value_or(left));
  }

  const std::unique_ptr<HostSource> host_;
  platform::Mutex mutex_;
  dmem::OwnGroups groups_;
  std::array<char, 16384> buffer_;
};

}  // namespace

}  // namespace hmn::dmem

namespace hmn {

std::unique_ptr<HostSource> make_dmem(std::unique_ptr<HostSource> host) {
  return std::make_unique<dmem::DmemHost>(std::move(host));
}

}  // namespace hmn
