// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/functions.def"
#include "model/failure.hpp"
#include "platform/library.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// Devices that a function answers for (functions.def).
enum class reach : std::uint8_t { any, gpu };

// A function of NVML in a loaded library, of which there may be several generations.
struct named_symbol {
  void* address = nullptr;
  const char* known_as = "";    // the name that was found; the newest one if none was
  std::uint8_t generation = 0;  // of the names in functions.def: that of the newest in the library
  reach answers_for = reach::any;

  // Searches for the names in order.
  void find(const platform::library& in, reach answers,
            std::initializer_list<const char*> names) noexcept;

  [[nodiscard]] const char* name() const noexcept { return known_as; }
  explicit operator bool() const noexcept { return address != nullptr; }
};

template <class F>
struct function;

template <class... P>
struct function<code(P...)> : named_symbol {
  code operator()(P... arguments) const {
    return static_cast<code>(reinterpret_cast<int (*)(P...)>(address)(arguments...));
  }
};

using text_call = function<code(handle, text_buffer<name_capacity>*, unsigned)>;
using number_call = function<code(handle, unsigned*)>;
using wide_call = function<code(handle, unsigned long long*)>;
using percent_call = function<code(handle, unsigned*, unsigned*)>;
using indexed_call = function<code(handle, unsigned, unsigned*)>;
using list_call = function<code(handle, row_count*, void*)>;

struct symbols {
#define HMN_NVML_FUNCTION(member, reach, parameters, ...) function<code parameters> member;
  HMN_NVML_FUNCTIONS(HMN_NVML_FUNCTION)
#undef HMN_NVML_FUNCTION

  void find(const platform::library& in) noexcept;
};

// Opens only settings.nvml_path if set; else searches the system's places (system.hpp).
result<platform::library> open_library(const settings& s);

}  // namespace hmn::nvml
