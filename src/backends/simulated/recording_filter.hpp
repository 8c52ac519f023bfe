// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Filters what a recording keeps of a file or of a program's output (table in
// recording_filter.cpp).
#pragma once
#include <string>
#include <string_view>

#include "backends/simulated/anonymizer.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// Returns whether sources look for the word, or it is a single character. Case does not matter.
bool is_known_word(std::string_view word);
// Returns the kernel's name of a process from its /proc/<pid>/stat, or nothing.
std::string_view find_comm(std::string_view stat);
// `stat`: that of the process that the file belongs to; empty if it belongs to none.
std::string filter_text(Anonymizer& anonymizer, std::string_view path, std::string_view text,
                        std::string_view stat);
std::string filter_output(Anonymizer& anonymizer, const platform::RecordedRun& run);

}  // namespace hmn::simulated
