// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a driver is asked through its device node. The node is opened, asked and closed within the
// call: an open one keeps its device awake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/errno_or.hpp"

namespace hmn::platform {

// Whose language a question is in.
enum class query_language { i915, xe };

struct device_question {
  query_language in = query_language::i915;
  uint32_t number = 0;  // of the driver's list of questions
};

// The answer's length; what it holds is the driver's. ENOBUFS: longer than the room for it.
// EOPNOTSUPP: no node of a driver that speaks the language, or of one that knows the question.
errno_or<size_t> ask_device(const char* node, device_question what,
                            std::span<std::byte> answer) noexcept;

}  // namespace hmn::platform
