// SPDX-License-Identifier: MIT OR Apache-2.0
//
// For systems where drivers have no queries through device nodes.
#include <cerrno>

#include "platform/device_query.hpp"
#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

errno_or<size_t> ask_nobody(const char* /*node*/, device_question /*what*/,
                            std::span<std::byte> /*answer*/) noexcept {
  return {0, EOPNOTSUPP};
}

}  // namespace

errno_or<size_t> ask_device(const char* node, device_question what,
                            std::span<std::byte> answer) noexcept {
  if (system_override* const r = system_override::of_thread())
    return r->ask_device(node, what, answer, ask_nobody);
  return ask_nobody(node, what, answer);
}

}  // namespace hmn::platform
