// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/storage.hpp"

#include <fmt/format.h>

#include "cli/fit/amount.hpp"

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

std::optional<std::string> dtype_of(config_keys& keys) {
  const auto* given = keys.text({"torch_dtype", "dtype"});
  if (given == nullptr) return std::nullopt;
  try {
    hypomnesis::dtype_from_name(*given);
    return *given;
  } catch (const hypomnesis::error&) {
    return std::nullopt;
  }
}

packing plain_packing(const std::string& dtype) {
  packing made;
  made.dtype = hypomnesis::dtype_from_name(dtype);
  return made;
}

std::uint32_t small(const json_tree* of, std::uint32_t otherwise) {
  const auto value = of != nullptr ? of->whole() : std::nullopt;
  return value && *value >= 1 && *value <= 65536 ? static_cast<std::uint32_t>(*value) : otherwise;
}

packing in_groups(std::uint32_t bits, std::uint32_t group, std::uint32_t group_bits) {
  return {{}, bits, group, group_bits};
}

// Counts a scale of 32 bits for each square of `weight_block_size`, or for each matrix.
packing fp8(const json_tree& given) {
  const auto* block = given.find("weight_block_size");
  if (block == nullptr || block->items() == nullptr || block->items()->size() != 2)
    return in_groups(8, 0, 0);
  const auto& sides = *block->items();
  return in_groups(8, small(&sides[0], 128) * small(&sides[1], 128), 32);
}

// Reads the weights of the first group of compressed-tensors.
std::optional<packing> compressed(const json_tree& given) {
  const auto* groups = given.find("config_groups");
  if (groups == nullptr || groups->members() == nullptr || groups->members()->empty())
    return std::nullopt;
  const auto* weights = groups->members()->front().second.find("weights");
  if (weights == nullptr || weights->find("num_bits") == nullptr) return std::nullopt;
  const auto group = weights->find("group_size");
  const auto bits = small(weights->find("num_bits"), 8);
  return group != nullptr ? in_groups(bits, small(group, 128), 16) : in_groups(bits, 0, 0);
}

std::optional<packing> packing_of(const std::string& method, const json_tree& given) {
  if (method == "fp8" || method == "fbgemm_fp8") return fp8(given);
  if (method == "mxfp4") return in_groups(4, 32, 8);
  if (method == "compressed-tensors") return compressed(given);
  if (method == "bitsandbytes") {
    const bool four = given.find("load_in_4bit") && given.find("load_in_4bit")->truth() == true;
    return four ? in_groups(4, 64, 32) : in_groups(8, 0, 0);
  }
  if (method != "gptq" && method != "awq") return std::nullopt;
  const auto bits = small(given.find("bits"), 4);
  // Count a scale of 16 bits and a zero point as wide as a weight.
  return in_groups(bits, small(given.find("group_size"), 128), 16 + bits);
}

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

storage storage_of(config_keys& keys) {
  storage made;
  const auto unsure = [&made](std::string why) {
    made.is_specified = false;
    made.assumptions.push_back(std::move(why));
  };
  const auto dtype = dtype_of(keys);
  if (!dtype) unsure("weights count as bf16: the configuration does not give their type");
  made.name = dtype.value_or("bf16");
  made.plain = made.matrices = made.experts = plain_packing(made.name);
  const auto* given = keys.object({"quantization_config", "compression_config"});
  if (given == nullptr) return made;
  const auto* method = given->find("quant_method");
  const std::string name = method && method->text() ? *method->text() : "";
  const auto packed = packing_of(name, *given);
  if (!packed) {
    unsure(fmt::format("weights count as {}: how \"{}\" quantises them is not known", made.name,
                       name));
    return made;
  }
  made.experts = *packed;
  if (name != "mxfp4") made.matrices = *packed;  // in gpt-oss only the experts
  made.name += fmt::format(", {} of {}", name == "mxfp4" ? "experts" : "matrices", name);
  return made;
}

expected<std::uint64_t> bytes_of(std::uint64_t elements, const packing& as) {
  try {
    return hypomnesis::estimate_packed({elements}, as);
  } catch (const hypomnesis::error& why) {
    return failed(fmt::format("{} numbers: {}", elements, why.status_name()));
  }
}

expected<std::uint64_t> bytes_of(const parameter_count& numbers, const storage& as) {
  const auto matrices = bytes_of(numbers.matrices, as.matrices);
  const auto experts = bytes_of(numbers.experts, as.experts);
  const auto plain = bytes_of(numbers.plain, as.plain);
  for (const auto* each : {&matrices, &experts, &plain})
    if (!*each) return each->why();
  return plus(*matrices, *experts, *plain);
}

}  // namespace hmn::cli::fit
