// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/shared/mach/kernel.hpp"
#include "source/interface.hpp"

namespace hmn::macos {

// Makes one kernel call for each value and caches nothing, so that a forked child may use it.
class macos_host final : public host_source {
 public:
  explicit macos_host(const mach::kernel& k) : k_(k) {}

  source id() const noexcept override { return source::os; }
  result<void> memory(std::uint32_t pid, FieldSet fields, process_memory& out) override;
  result<void> own_memory(FieldSet fields, process_memory& out) override;
  result<void> system(system_memory& out) override;
  void describe(usage& row) override;
  void describe_texts(usage& row) override;

 private:
  const mach::kernel& k_;
};

}  // namespace hmn::macos
