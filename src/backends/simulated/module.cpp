// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/module.hpp"

namespace hmn::platform {

// Replaces the library's own: the module reads files of this system only, and the redirection of a
// thread's reads is stored in the library alone.
constinit std::atomic<std::uint32_t> stand_in::in_use_{0};

stand_in* stand_in::current() noexcept {
  return nullptr;
}

}  // namespace hmn::platform

using namespace hmn::simulated;

extern "C" __attribute__((visibility("default"))) const module_table* hmn_simulation_module() {
  static constexpr module_table table{module_interface, module_layout(), HMN_MODULE_VERSION,
                                      module_headers,   __VERSION__,     make_sources};
  return &table;
}
