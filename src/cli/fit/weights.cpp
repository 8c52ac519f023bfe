// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/weights.hpp"

#include <algorithm>
#include <charconv>

#include "cli/fit/amount.hpp"
#include "cli/fit/architecture.hpp"

namespace hmn::cli::fit {
namespace {

bool is_of_another_sense(std::string_view name) {
  for (const std::string_view part :
       {"vision", "visual", "audio", "multi_modal", "mm_", "mm.", "v.blk", "a.blk", "image"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

bool counts_layers(std::string_view word) {
  for (const std::string_view each : {"blk", "layers", "h", "blocks", "block", "layer"})
    if (word == each) return true;
  return false;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const auto end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  if (word.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

std::size_t layers_in(const std::vector<tensor>& tensors) {
  std::uint64_t most = 0;
  for (const auto& each : tensors)
    if (const auto layer = layer_of_tensor(each.name); layer && *layer < most_layers)
      most = std::max(most, *layer + 1);
  return static_cast<std::size_t>(most);
}

}  // namespace

std::uint64_t weights::total() const {
  std::uint64_t sum = outside;
  for (const auto each : layers) sum = plus(sum, each);
  return sum;
}

std::optional<std::uint64_t> layer_of_tensor(std::string_view name) noexcept {
  if (is_of_another_sense(name)) return std::nullopt;
  std::string_view before;
  while (!name.empty()) {
    const auto word = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    if (counts_layers(before))
      if (const auto number = number_in(word)) return number;
    before = word;
  }
  return std::nullopt;
}

weights weights_of(const std::vector<tensor>& tensors, std::size_t layers) {
  weights made;
  made.layers.resize(layers != 0 ? layers : layers_in(tensors));
  for (const auto& each : tensors) {
    const auto layer = layer_of_tensor(each.name);
    auto& to = layer && *layer < made.layers.size() ? made.layers[static_cast<std::size_t>(*layer)]
                                                    : made.outside;
    to = plus(to, each.bytes);
    made.parameters = plus(made.parameters, each.elements);
  }
  return made;
}

expected<weights> weights_of(const model_config& counted) {
  weights made;
  for (const auto& each : counted.parameters.layers) {
    const auto bytes = bytes_of(each, counted.stored);
    if (!bytes) return bytes.why();
    made.layers.push_back(*bytes);
    made.parameters = plus(made.parameters, each.all());
  }
  const auto bytes = bytes_of(counted.parameters.outside, counted.stored);
  if (!bytes) return bytes.why();
  made.outside = *bytes;
  made.parameters = plus(made.parameters, counted.parameters.outside.all());
  if (made.total() == too_much) return failed("its sizes make more than 2^64 bytes");
  return made;
}

weights scaled_to(const weights& counted, std::uint64_t total) {
  weights made = counted;
  const auto sum = static_cast<double>(counted.total());
  std::uint64_t left = total;
  for (auto& each : made.layers) {
    const auto share = sum == 0 ? 0 : static_cast<double>(each) / sum;
    each = std::min(left, static_cast<std::uint64_t>(share * static_cast<double>(total)));
    left -= each;
  }
  made.outside = left;
  return made;
}

}  // namespace hmn::cli::fit
