// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "core/context.hpp"

namespace hmn {

// Collects one snapshot.
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
  void add_source(source_reader& reader, const reply& known, const moment& m);
  void add_device(source_reader& reader, const device_reply& d, const moment& m);
  void add_remark(const diagnostic& remark, std::optional<std::uint32_t> index);
  [[nodiscard]] snapshot_device& entry_of(const numbered_device& who);
  void add_pool(std::uint32_t index, dated<pool> fresh);
  bool add_pools(std::uint32_t index, const device_reply& d, const moment& m);
  bool add_self(snapshot_device& to, const device_reply& d, const moment& m);
  bool add_telemetry(snapshot_device& to, const device_reply& d, const moment& m);
  bool add_metrics(std::uint32_t index, const device_reply& d, const moment& m);
  void add_groups();
  bool add_processes(std::uint32_t index, const device_reply& d, const moment& m);
  void add_refusals(const std::vector<context::refusal>& refused);
  void add_known_devices();
  void add_diagnostic(diagnostic d, std::optional<std::uint32_t> index);
  bool add_missing(failure why, std::uint32_t about, std::uint32_t index);
  void add_what_is_missing();
  void drop_what_was_found();
  void note_what_is_partial();
  void describe_processes();
  void attribute_pools();
  void attribute(std::uint32_t index, pool& p);
  void finish();

  context& from_;
  snapshot_request request_;
  plan plan_;
  std::unique_ptr<snapshot> out_;
  // Why one source could not tell a part of a device; another may yet.
  struct missing_part {
    std::uint32_t index;
    std::uint32_t about;
    failure why;
  };
  std::vector<missing_part> missing_;
  // Devices whose rows cannot be added up: a figure or the list is missing.
  std::vector<std::uint32_t> unsummable_;
};

}  // namespace hmn
