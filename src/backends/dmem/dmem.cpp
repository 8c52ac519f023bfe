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
    if (looked_ns_ != 0 && now - looked_ns_ < recheck_ns) return;
    const bool is_first = looked_ns_ == 0;
    looked_ns_ = now;
    if (is_first || is_here_) find(host);
    if (root_.empty()) {
      is_divided_ = false;
    } else if (const auto now_divided = is_divided(root_);
               now_divided || now_divided.error == ENOENT) {
      is_divided_ = now_divided.value;
    }
    is_here_ = false;
    for (const std::string& g : all_) {
      is_here_ = is_here_ || platform::exists((g + limits_file).c_str());
    }
  }
  [[nodiscard]] bool is_here() const noexcept { return is_here_; }
  [[nodiscard]] bool is_anywhere() const noexcept { return is_here_ || is_divided_; }
  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }

 private:
  void find(HostSource& host) {
    all_.clear();
    host.own_groups(all_);
    root_ = all_.empty() ? std::string() : all_.back();
  }

  std::uint64_t looked_ns_ = 0;
  bool is_here_ = false;     // around the caller
  bool is_divided_ = false;  // in sibling groups
  std::vector<std::string> all_;
  std::string root_;  // topmost visible group
};

class LimitedHost final : public HostSource {
 public:
  explicit LimitedHost(std::unique_ptr<HostSource> host) : host_(std::move(host)) {}

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
  void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> recall) override {
    host_->describe_all(rows, recall);
  }
  void own_groups(std::vector<std::string>& out) override { host_->own_groups(out); }

  void limit(std::string_view pci_bus_id, Pools& all) override {
    const std::lock_guard lock(mutex_);
    groups_.refresh(*host_);
    if (groups_.is_here()) set_budgets(pci_bus_id, all.all());
  }

  void name_group(std::string_view path, std::string& out) override {
    host_->name_group(path, out);
  }
  Result<void> groups(GroupMemory& out) override {
    std::string root;
    {
      const std::lock_guard lock(mutex_);
      groups_.refresh(*host_);
      if (!groups_.is_anywhere()) return {};
      root = groups_.root();
    }
    return survey(*host_, root, out);
  }

  std::optional<SourceState> describe_source(Source which) override {
    if (which != Source::dmem) return std::nullopt;
    const std::lock_guard lock(mutex_);
    groups_.refresh(*host_);
    SourceState now;
    now.why = {Status::ok, which, {}, {}};
    now.state = groups_.is_anywhere() ? State::ready : State::absent;
    if (!groups_.is_anywhere()) {
      now.why =
          FailureOf{which}(Status::no_source, "no control group that is visible has dmem.max");
    }
    return now;
  }

 private:
  // Returns "" for a file that is not there, and none for one that is not understood.
  std::optional<std::string_view> read(const std::string& file) {
    const auto got = platform::read_small(file.c_str(), buffer_);
    if (!got && got.error == ENOENT) return "";
    // Truncated text could lack a region.
    const std::string_view text(buffer_.data(), got && got.value < buffer_.size() ? got.value : 0);
    return got && text.size() == got.value && is_understood(text) ? std::optional(text)
                                                                  : std::nullopt;
  }

  // Applies the limits of all groups to each pool: the tightest is the budget, and the fullest
  // group decides what is left. A limit that is not understood may be lower, so may be what is
  // left.
  void set_budgets(std::string_view pci_bus_id, std::span<Pool> all) {
    for (const std::string& g : groups_.all()) {
      std::array<std::optional<std::uint64_t>, Pools::most> limits;
      const auto text = read(g + limits_file);
      for (std::size_t i = 0; i < all.size(); ++i) {
        limits[i] = sum_of(text.value_or(""), pci_bus_id, {all[i].kind, all[i].instance});
        if (!text) all[i].notes |= note::partial;
      }
      const auto use = read(g + "/dmem.current");
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!limits[i]) continue;
        set_budget(*limits[i], sum_of(use.value_or(""), pci_bus_id, {all[i].kind, all[i].instance}),
                   all[i]);
        if (!use) all[i].notes |= note::partial;
      }
    }
  }

  static void set_budget(std::uint64_t limit, std::optional<std::uint64_t> used, Pool& p) {
    p.budget = std::min(limit, p.budget.value_or(limit));
    p.notes |= note::mixed;
    const std::uint64_t left = limit - std::min(limit, used.value_or(0));
    p.budget_left = std::min(left, p.budget_left.value_or(left));
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
  return std::make_unique<dmem::LimitedHost>(std::move(host));
}

}  // namespace hmn
