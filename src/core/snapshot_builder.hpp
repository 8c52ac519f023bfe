// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "core/context.hpp"

namespace hmn {

// Builder of one snapshot.
class snapshot_builder {
 public:
  snapshot_builder(context& from, const snapshot_request& request);

  [[nodiscard]] result<std::unique_ptr<snapshot>> build();

 private:
  [[nodiscard]] bool wants(std::uint32_t about) const noexcept {
    return (out_->collect & about) != 0;
  }
  void add_host();
  result<void> add_devices();
  void add_source(worker& from, const source_cache& known, const moment& m);
  void add_device(worker& from, const device_cache& d, const moment& m);
  void consider_diagnostic(const diagnostic& given, std::optional<std::uint32_t> index);
  [[nodiscard]] merged_device* find(std::uint32_t index) noexcept;
  merged_device& add(const device& d);
  void add_known_devices();
  void add_refusals(const std::vector<context::refusal>& refused);
  void add_missing();
  void add_groups();
  void explain_unusable(const merged_device& d);
  void settle();
  void add_diagnostic(const diagnostic& d, std::optional<std::uint32_t> index);
  void drop_what_was_found();
  void note_what_is_partial();
  void describe_processes();
  [[nodiscard]] bool recall_texts(usage& row) const;
  void finish();

  context& from_;
  snapshot_request request_;
  plan plan_;
  std::unique_ptr<snapshot> out_;
  explanations& why_;  // of out_
  std::vector<merged_device> merged_;
  std::vector<std::uint32_t> places_;  // [index]: of the device in merged_, from 1; 0: none
};

}  // namespace hmn
