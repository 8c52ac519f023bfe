// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values that the kernel reports about processes and the machine, and its errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/shared/mach/kernel.hpp"
#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn::mach {

// Returns the failure for an errno of a call on `pid`. `subject`: the value requested, "its
// memory".
Failure make_process_failure(Source source, std::uint32_t pid, std::string_view subject, int error);
Failure make_kernel_failure(Source source, std::string_view call, KernReturn code);

// Returns errno; 0: the record is valid.
int read_record(const Kernel& kernel, std::uint32_t pid, ProcessRecord& record) noexcept;
std::optional<std::uint64_t> start_unix_ns(const ProcessRecord& record) noexcept;
// Returns whether the caller was forked and has not called exec: Apple's frameworks kill such a
// process.
bool is_forked_only(const Kernel& kernel, std::uint32_t own_pid) noexcept;

std::optional<std::uint64_t> read_number(const Kernel& kernel, const char* name) noexcept;
Text<96> read_text(const Kernel& kernel, const char* name) noexcept;

}  // namespace hmn::mach
