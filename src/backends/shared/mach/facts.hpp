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
failure why_not(source from, std::uint32_t pid, std::string_view what, int error);
failure of_kernel(source from, std::string_view call, kern_return code);

// Returns errno; 0: the record is valid.
int read_record(const kernel& k, std::uint32_t pid, process_record& out) noexcept;
std::optional<std::uint64_t> start_unix_ns(const process_record& of) noexcept;
// Whether the caller has been forked and has not called exec: Apple's frameworks kill such a
// process.
bool is_forked_only(const kernel& k, std::uint32_t own_pid) noexcept;

std::optional<std::uint64_t> number_of(const kernel& k, const char* name) noexcept;
text<96> text_of(const kernel& k, const char* name) noexcept;

}  // namespace hmn::mach
