// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fit/amount.hpp"
#include "cli/fit/gguf_architecture.hpp"
#include "cli/fit/json_tree.hpp"
#include "cli/fit/model_path.hpp"
#include "cli/fit/safetensors.hpp"
#include "cli/system/file.hpp"
#include "cli/system/input_file.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::uint64_t most_config_bytes = 4u << 20;
constexpr std::uint64_t most_index_bytes = 64u << 20;
constexpr std::size_t most_tensors_of_parts = 1u << 20;  // of all parts together

void append(std::vector<tensor>& to, std::vector<tensor>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Derives the size from llama.cpp's tensor of embedding width times vocabulary.
std::uint64_t vocabulary_of(const gguf& file, const architecture& shape) {
  for (const auto& each : file.tensors)
    if (each.name == "token_embd.weight" && shape.hidden_size != 0)
      return each.elements / shape.hidden_size;
  return shape.vocabulary_size;
}

expected<model> read_gguf_parts(const std::string& path) {
  const auto paths = parts_of(path, ".gguf");
  auto first = read_gguf(paths.front());
  if (!first) return first.why();
  const auto given = first->whole("split.count").value_or(1);
  if (given != paths.size() && !(given == 0 && paths.size() == 1))
    return failed_at(
        path, fmt::format("split.count is {}: expected {}, by its name", given, paths.size()));
  for (std::size_t i = 1; i < paths.size(); ++i) {
    auto more = read_gguf(paths[i]);
    if (!more) return more.why();
    append(first->tensors, std::move(more->tensors));
    if (first->tensors.size() > most_tensors_of_parts)
      return failed_at(path, fmt::format("more than {} tensors", most_tensors_of_parts));
  }
  auto shape = architecture_of(*first);
  if (!shape) return failed_at(paths.front(), shape.why().message);
  shape->vocabulary_size = vocabulary_of(*first, *shape);
  model made;
  const auto* name = first->text("general.name");
  made.name = name != nullptr && !name->empty() ? *name : file_name_of(path);
  made.format = fmt::format("GGUF version {}", first->version);
  made.of = weights_of(first->tensors, shape->layers.size());
  made.shape = *std::move(shape);
  return made;
}

expected<std::optional<model_config>> config_beside(const std::string& path) {
  using answer = std::optional<model_config>;
  const auto config = folder_of(path) + "config.json";
  if (!is_there(config)) return answer();
  auto text = read_whole(config, most_config_bytes);
  if (!text) return text.why();
  auto parsed = parse_config(*std::move(text));
  if (!parsed) return failed_at(config, parsed.why().message);
  return answer(*std::move(parsed));
}

model with_config(model made, std::optional<model_config> config) {
  if (!config) return made;
  if (made.weights_are_counted || config->stored.is_specified) made.stored = config->stored.name;
  made.shape = std::move(config->shape);
  return made;
}

expected<model> from_tensors(const std::string& path, const std::vector<tensor>& tensors) {
  auto config = config_beside(path);
  if (!config) return config.why();
  model made;
  made.name = file_name_of(path);
  made.format = "safetensors";
  made.of = weights_of(tensors, *config ? (*config)->shape.layers.size() : 0);
  return with_config(std::move(made), *std::move(config));
}

expected<std::vector<tensor>> read_all(const std::string& folder,
                                       const std::vector<std::string>& files) {
  std::vector<tensor> all;
  for (const auto& each : files) {
    auto some = read_safetensors(folder + each);
    if (!some) return some.why();
    append(all, *std::move(some));
    if (all.size() > most_tensors_of_parts)
      return failed_at(folder + each, fmt::format("more than {} tensors", most_tensors_of_parts));
  }
  return all;
}

// Splits the total of an index without its files in the proportions of the architecture.
expected<model> from_index_alone(const std::string& path, const safetensors_index& index) {
  auto config = config_beside(path);
  if (!config) return config.why();
  if (!index.total_bytes)
    return failed_at(path, "none of its files is here: expected metadata.total_size");
  model made;
  made.name = file_name_of(path);
  made.format = "safetensors index";
  made.of.outside = *index.total_bytes;
  if (!*config) return made;
  const auto counted = weights_of(**config);
  if (!counted) return failed_at(path, counted.why().message);
  made.of = scaled_to(*counted, *index.total_bytes);
  made = with_config(std::move(made), *std::move(config));
  made.shape->assumptions.push_back(
      "the index has the sum of the weights; each layer's share is counted from the "
      "architecture");
  return made;
}

expected<model> read_index(const std::string& path, std::string text) {
  const auto index = parse_safetensors_index(std::move(text));
  if (!index) return failed_at(path, index.why().message);
  const auto folder = folder_of(path);
  const auto here = std::count_if(index->files.begin(), index->files.end(),
                                  [&](const std::string& each) { return is_there(folder + each); });
  if (here == 0) return from_index_alone(path, *index);
  const auto tensors = read_all(folder, index->files);
  if (!tensors) return tensors.why();
  return from_tensors(path, *tensors);
}

expected<model> read_config(const std::string& path, std::string text) {
  auto config = parse_config(std::move(text));
  if (!config) return failed_at(path, config.why().message);
  auto counted = weights_of(*config);
  if (!counted) return failed_at(path, counted.why().message);
  model made;
  made.name = path;
  made.format = "configuration";
  made.of = *std::move(counted);
  made.weights_are_counted = true;
  auto assumed = std::move(config->stored.assumptions);
  made = with_config(std::move(made), std::optional(*std::move(config)));
  std::move(assumed.begin(), assumed.end(), std::back_inserter(made.shape->assumptions));
  return made;
}

expected<model> read_json(const std::string& path) {
  auto text = read_whole(path, most_index_bytes);
  if (!text) return text.why();
  const bool is_index = path.ends_with(".index.json");
  if (!is_index && text->size() > most_config_bytes)
    return failed_at(path,
                     fmt::format("{} bytes: expected at most {}", text->size(), most_config_bytes));
  return is_index ? read_index(path, *std::move(text)) : read_config(path, *std::move(text));
}

// Reads the whole set that the file belongs to.
expected<model> read_safetensors_set(const std::string& path) {
  const auto index = folder_of(path) + "model.safetensors.index.json";
  const auto parts = parts_of(path, ".safetensors");
  if (parts.size() > 1 && is_there(index)) return read_json(index);
  std::vector<std::string> files;
  for (const auto& each : parts) files.push_back(file_name_of(each));
  const auto tensors = read_all(folder_of(path), files);
  if (!tensors) return tensors.why();
  return from_tensors(path, *tensors);
}

expected<bool> begins_as_gguf(const std::string& path) {
  const auto file = input_file::open(path);
  if (!file) return file.why();
  const auto magic = file->beginning(4);
  if (!magic) return magic.why();
  return *magic == "GGUF";
}

}  // namespace

expected<model> read_model(const std::string& path) {
  if (is_folder(path)) {
    const auto found = find_model(path);
    if (!found) return found.why();
    return is_folder(*found) ? failed_at(*found, "is a folder: expected a file")
                             : read_model(*found);
  }
  const auto is_gguf = begins_as_gguf(path);
  if (!is_gguf) return is_gguf.why();
  if (*is_gguf || path.ends_with(".gguf")) return read_gguf_parts(path);
  if (path.ends_with(".safetensors")) return read_safetensors_set(path);
  if (path.ends_with(".json")) return read_json(path);
  return failed_at(path,
                   "expected a GGUF file, a .safetensors file, its index, a config.json, or a "
                   "folder of them");
}

}  // namespace hmn::cli::fit
