// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/instance.hpp"
#include "fuzz.hpp"
#include "platform/utf16.hpp"

using namespace hmn;

namespace {

// As the system writes it.
std::string name_of(const pdh::Instance& i) {
  char text[128];
  std::string name;
  if (i.pid) name = "pid_" + std::to_string(*i.pid) + "_";
  std::snprintf(text, sizeof text, "luid_0x%08X_0x%08X_phys_%u",
                static_cast<unsigned>(i.adapter >> 32U), static_cast<unsigned>(i.adapter),
                i.physical);
  name += text;
  if (i.engine) name += "_eng_" + std::to_string(*i.engine) + "_engtype_3D";
  return name;
}

}  // namespace

void fuzz(std::string_view input) {
  if (const auto i = pdh::parse_instance(input)) {
    promise(i->engine_kind < wddm::engine_kinds);
    const auto again = pdh::parse_instance(name_of(*i));
    promise(again);
    promise(again->pid == i->pid && again->adapter == i->adapter);
    promise(again->physical == i->physical && again->engine == i->engine);
  }
  promise(pdh::kind_of_engine(input) < wddm::engine_kinds);
  std::u16string wide;
  for (std::size_t at = 0; at + 1 < input.size(); at += 2) {
    const auto low = static_cast<unsigned char>(input[at]);
    const auto high = static_cast<unsigned char>(input[at + 1]);
    wide += static_cast<char16_t>(low | high << 8U);
  }
  // A name ends at its NUL.
  const auto name = std::u16string_view(wide).substr(0, wide.find(u'\0'));
  promise(is_utf8(platform::to_utf8(name)));
}
