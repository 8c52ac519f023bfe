// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a recording keeps of a file or of a program's output, by its kind (the table in kept.cpp).
#pragma once
#include <string>
#include <string_view>

#include "backends/simulated/neutral.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// Returns whether sources look for the word, or it is a single character. Case does not matter.
bool is_kept_word(std::string_view word);
// Returns the kernel's name of a process from its /proc/<pid>/stat, or nothing.
std::string_view comm_of(std::string_view stat);
// `stat`: that of the process that the file belongs to; empty if it belongs to none.
std::string kept_text(Neutral& by, std::string_view path, std::string_view text,
                      std::string_view stat);
std::string kept_output(Neutral& by, const platform::RecordedRun& r);

}  // namespace hmn::simulated
