// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/kv_type.hpp"

namespace hmn::cli::fit {
namespace {

using hypomnesis::dtype_id;

struct named_packing {
  std::string_view name;
  packing as;
};
// Packings of q8_0 and similar: a group of 32 has a scale of 16 bits, and a minimum in types that
// end in 1.
constexpr named_packing packings[] = {
    {"f32", {dtype_id::f32, 0, 0, 0}},   {"f16", {dtype_id::f16, 0, 0, 0}},
    {"bf16", {dtype_id::bf16, 0, 0, 0}}, {"f8", {dtype_id::f8e4m3, 0, 0, 0}},
    {"q8_0", {{}, 8, 32, 16}},           {"q5_1", {{}, 5, 32, 32}},
    {"q5_0", {{}, 5, 32, 16}},           {"q4_1", {{}, 4, 32, 32}},
    {"q4_0", {{}, 4, 32, 16}},           {"iq4_nl", {{}, 4, 32, 16}},
};

}  // namespace

std::optional<packing> kv_packing_of(std::string_view name) noexcept {
  for (const auto& each : packings)
    if (each.name == name) return each.as;
  return std::nullopt;
}

std::string kv_type_names() {
  std::string all;
  for (const auto& each : packings) all.append(all.empty() ? "" : ", ").append(each.name);
  return all;
}

}  // namespace hmn::cli::fit
