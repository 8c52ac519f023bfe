// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

namespace hmn::cli {

enum class TextFormat { prometheus, openmetrics };

// Returns the Content-Type.
std::string_view media_type(TextFormat format) noexcept;

// Selects by a request's Accept header: OpenMetrics only if it is accepted with no lower weight
// than plain text.
TextFormat negotiate_format(std::string_view accept) noexcept;

// Returns whether a request's Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding) noexcept;

}  // namespace hmn::cli
