// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/simulated/machine_file.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

class host final : public host_source {
 public:
  host(std::shared_ptr<machine_file> file, std::unique_ptr<host_source> real);

  [[nodiscard]] source id() const noexcept override { return source::simulated; }
  result<void> memory(std::uint32_t pid, std::uint32_t fields, process_memory& out) override;
  result<void> own_memory(std::uint32_t fields, process_memory& out) override;
  result<void> system(system_memory& out) override;
  void describe(usage& row) override;
  void describe_texts(usage& row) override;
  result<void> groups(group_memory& out) override;

 private:
  void describe(usage& row, void (*fill_from)(usage&, const usage&),
                void (host_source::*ask)(usage&));

  const std::shared_ptr<machine_file> file_;
  const std::unique_ptr<host_source> real_;
  const std::uint32_t self_pid_;
};

}  // namespace hmn::simulated
