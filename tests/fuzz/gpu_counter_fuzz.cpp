// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/instance.hpp"
#include "fuzz.hpp"
#include "platform/utf16.hpp"

using namespace hmn;

namespace {

// As the system writes it.
std::string format_name(const pdh::Instance& instance) {
  char text[128];
  std::string name;
  if (instance.pid) name = "pid_" + std::to_string(*instance.pid) + "_";
  std::snprintf(text, sizeof text, "luid_0x%08X_0x%08X_phys_%u",
                static_cast<unsigned>(instance.adapter >> 32U),
                static_cast<unsigned>(instance.adapter), instance.physical);
  name += text;
  if (instance.engine) name += "_eng_" + std::to_string(*instance.engine) + "_engtype_3D";
  return name;
}

}  // namespace

void fuzz(std::string_view input) {
  if (const auto instance = pdh::parse_instance(input)) {
    promise(instance->engine_kind < wddm::engine_kinds);
    const auto again = pdh::parse_instance(format_name(*instance));
    promise(again);
    promise(again->pid == instance->pid && again->adapter == instance->adapter);
    promise(again->physical == instance->physical && again->engine == instance->engine);
  }
  promise(pdh::find_engine_kind(input) < wddm::engine_kinds);
  std::u16string wide;
  for (std::size_t offset = 0; offset + 1 < input.size(); offset += 2) {
    const auto low = static_cast<unsigned char>(input[offset]);
    const auto high = static_cast<unsigned char>(input[offset + 1]);
    wide += static_cast<char16_t>(low | high << 8U);
  }
  // A name ends at its NUL.
  const auto name = std::u16string_view(wide).substr(0, wide.find(u'\0'));
  promise(is_utf8(platform::to_utf8(name)));
}
