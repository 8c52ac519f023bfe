// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>

#include "model/failure.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::os {

// Held, so that all that is read of it is of one process, whoever gets its number next.
class opened_process {
 public:
  // no_process: no such one, or it has exited while others still hold it. permission: the system
  // refuses.
  static result<opened_process> open(std::uint32_t pid);

  [[nodiscard]] HANDLE get() const noexcept { return handle_.get(); }
  // "C:\...\name.exe"; empty where it has none.
  [[nodiscard]] std::string image_path() const;
  [[nodiscard]] std::optional<std::uint64_t> start_unix_ns() const noexcept;

 private:
  explicit opened_process(platform::handle h) noexcept : handle_(std::move(h)) {}

  platform::handle handle_;
};

}  // namespace hmn::os
