// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "backends/shared/mach/kernel.hpp"
#include "source/interface.hpp"

namespace hmn::macos {

// Makes one kernel call for each value and caches nothing, so that a forked child may use it.
class MacosHost final : public HostSource {
 public:
  explicit MacosHost(const mach::Kernel& kernel) : kernel_(kernel) {}

  Source id() const noexcept override { return Source::os; }
  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override;
  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override;
  Result<void> system(SystemMemory& out) override;
  void describe(Usage& row) override;
  void describe_texts(Usage& row) override;

 private:
  const mach::Kernel& kernel_;
};

}  // namespace hmn::macos
