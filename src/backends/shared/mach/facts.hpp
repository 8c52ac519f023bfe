// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the kernel reports of processes and the machine, and its errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/shared/mach/kernel.hpp"
#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn::mach {

// Failure for an errno of a call on `pid`. `what`: what was queried, "its memory".
Failure why_not(Source from, std::uint32_t pid, std::string_view what, int error);
Failure of_kernel(Source from, std::string_view call, KernReturn code);

// Returns errno; 0: the record is valid.
int read_record(const Kernel& k, std::uint32_t pid, ProcessRecord& out) noexcept;
std::optional<std::uint64_t> start_unix_ns(const ProcessRecord& of) noexcept;
// Whether the caller has been forked and has not called exec: Apple's frameworks kill such a
// process.
bool is_forked_only(const Kernel& k, std::uint32_t own_pid) noexcept;

std::optional<std::uint64_t> number_of(const Kernel& k, const char* name) noexcept;
Text<96> text_of(const Kernel& k, const char* name) noexcept;

}  // namespace hmn::mach
