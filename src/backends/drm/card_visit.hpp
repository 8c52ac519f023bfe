// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/drm/source.hpp"

namespace hmn::drm {

class card_visit final : public visit {
 public:
  static constexpr bool quiet = true;  // what is missing is not said

  card_visit(drm_source& in, const card& of, reading& r, bool is_quiet = false)
      : in_(in), of_(of), reading_(r), is_quiet_(is_quiet) {}

  const card& of() const noexcept override { return of_; }
  std::span<const card> all() const noexcept override { return in_.roster_.all(); }
  const std::string& sys_root() const noexcept override { return in_.sys_root_; }
  bool is_asleep() const noexcept override { return of_.is_asleep && !in_.may_wake_; }
  std::string node_path(node::kind what) const override { return in_.roster_.node_path(of_, what); }
  std::uint64_t deadline_ns() const noexcept override { return reading_.deadline_ns(); }
  result<card_use> clients() override;
  result<card_load> load() override;
  bool wants_remarks() const noexcept override { return !is_quiet_ && reading_.wants_remarks(); }
  void remark(failure why, std::uint32_t about, std::uint32_t fields) override;

 private:
  result<void> walk();
  [[nodiscard]] failure why_no_load() const;

  drm_source& in_;
  const card& of_;
  reading& reading_;
  bool is_quiet_;
};

}  // namespace hmn::drm
