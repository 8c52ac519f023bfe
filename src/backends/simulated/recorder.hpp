// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/simulated/scenario.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

// Records what the sources of one context read, and writes it as a machine file.
class recorder final : public machine_recorder {
 public:
  explicit recorder(const settings& s)
      : settings_(s),
        answers_(std::make_shared<platform::recording>(platform::recording::use::keep)),
        reported_(std::make_shared<scenario>()) {}

  [[nodiscard]] const std::shared_ptr<platform::recording>& answers() const { return answers_; }
  [[nodiscard]] const std::shared_ptr<scenario>& reported() const { return reported_; }
  result<void> text(std::string& out) const override;

 private:
  const settings settings_;
  const std::shared_ptr<platform::recording> answers_;
  const std::shared_ptr<scenario> reported_;  // of sources that read no files: NVML
};

}  // namespace hmn::simulated
