// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "cli/fit/config.hpp"
#include "cli/fit/gguf.hpp"
#include "cli/system/file.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::size_t part_digits = 5;
constexpr unsigned max_parts = 9999;

std::optional<unsigned> parse_five_digits(std::string_view text) {
  unsigned number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.size() != part_digits || parsed.ec != std::errc{} || parsed.ptr != end)
    return std::nullopt;
  return number;
}

std::vector<std::string> filter_by_suffix(const std::vector<std::string>& names,
                                          std::string_view suffix) {
  std::vector<std::string> matches;
  for (const auto& name : names)
    if (name.ends_with(suffix)) matches.push_back(name);
  return matches;
}

// Returns the only file with the suffix, or the first part of a set.
std::optional<std::string> find_single_file(std::vector<std::string> files,
                                            std::string_view suffix) {
  std::erase_if(files, [&](const std::string& file) {
    const auto part = parse_part_name(file, suffix);
    return (part && part->number != 1) || file.starts_with("mmproj");
  });
  return files.size() == 1 ? std::optional(files.front()) : std::nullopt;
}

constexpr std::uint64_t max_config_bytes = 4u << 20;
constexpr std::uint64_t max_index_bytes = 64u << 20;
constexpr std::size_t max_tensors = 1u << 20;  // of all parts together

// Tensors of a model's files, each in one of them.
class TensorSet {
 public:
  std::optional<Failure> add(const std::string& path, std::vector<Tensor>&& tensors) {
    files_.push_back(path);
    for (auto& tensor : tensors) {
      const auto [it, is_new] = file_indices_.emplace(tensor.name, files_.size() - 1);
      if (!is_new)
        return make_file_failure(path, describe_duplicate(tensor.name, files_[it->second]));
      tensors_.push_back(std::move(tensor));
    }
    if (tensors_.size() > max_tensors)
      return make_file_failure(path, fmt::format("more than {} tensors", max_tensors));
    return std::nullopt;
  }
  std::vector<Tensor> all() && { return std::move(tensors_); }

 private:
  std::string describe_duplicate(const std::string& name, const std::string& file) const {
    return file == files_.back() ? fmt::format("tensor \"{}\" is there twice", name)
                                 : fmt::format("tensor \"{}\" is in \"{}\" too", name, file);
  }

  std::vector<Tensor> tensors_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::size_t> file_indices_;
};

std::string parent_folder(const std::string& path) {
  const auto slash = path.find_last_of(path_separators);
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Expected<std::string> find_model(const std::string& folder) {
  const auto prefix = parent_folder(folder) == folder ? folder : folder + "/";
  for (const auto* name : {"model.safetensors.index.json", "model.safetensors"})
    if (path_exists(prefix + name)) return prefix + name;
  const auto names = list_folder(prefix);
  for (const std::string_view suffix : {".safetensors", ".gguf"}) {
    const auto files = filter_by_suffix(names, suffix);
    if (const auto file = find_single_file(files, suffix)) return prefix + *file;
    if (files.size() > 1)
      return make_failure(
          fmt::format("\"{}\": {} files end in {}: expected one, or the path of one", folder,
                      files.size(), suffix));
  }
  if (path_exists(prefix + "config.json")) return prefix + "config.json";
  return make_failure(
      fmt::format("\"{}\": expected model.safetensors.index.json, a .safetensors or "
                  ".gguf file, or config.json in it",
                  folder));
}

Failure no_weights_error(const std::string& path) {
  return make_file_failure(path, "has no weights: expected the tensors of a model");
}

void note_layers_without_weights(Model& model) {
  const auto& layers = model.architecture->layers;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].has_weights && model.weights.layers[i] == 0) ++missing;
  if (missing != 0)
    model.notes.add(fmt::format("weights of {} of the {} layers are not there and not counted",
                                missing, layers.size()),
                    Precision::at_least);
}

// Notes files that belong to a model but are not mentioned in its own.
void note_companions(const std::string& path, Notes& notes) {
  const auto folder = parent_folder(path);
  const auto own_name = file_name(path);
  for (const auto& name : list_folder(folder.empty() ? "./" : folder)) {
    const bool is_projector =
        name.starts_with("mmproj") || name.find("-mmproj") != std::string::npos;
    if (name == own_name || !name.ends_with(".gguf") || !is_projector) continue;
    const auto file = InputFile::open(folder + name);
    if (file)
      notes.add(fmt::format("\"{}\" of {} is next to it and not counted: images need it", name,
                            hypomnesis::format_bytes(file->size())),
                Precision::at_least);
  }
}

std::optional<Failure> check_part_count(const Gguf& first, const std::vector<std::string>& paths) {
  const auto count = first.whole("split.count").value_or(1);
  if (count == paths.size() || (count == 0 && paths.size() == 1)) return std::nullopt;
  return make_file_failure(paths.front(), fmt::format("split.count is {}: expected {}, by its name",
                                                      count, paths.size()));
}

// Adds the tensors of a part after the first.
std::optional<Failure> add_part(const std::string& path, std::size_t number, TensorSet& tensors) {
  auto part = read_gguf(path);
  if (!part) return part.error();
  if (const auto stored_number = part->whole("split.no").value_or(number); stored_number != number)
    return make_file_failure(
        path, fmt::format("split.no is {}: expected {}, by its name", stored_number, number));
  return tensors.add(path, std::move(part->tensors));
}

// Returns the keys of the first part with the tensors of all.
Expected<Gguf> read_gguf_parts(const std::vector<std::string>& paths) {
  auto first = read_gguf(paths.front());
  if (!first) return first.error();
  if (auto failure = check_part_count(*first, paths)) return *failure;
  TensorSet set;
  if (auto failure = set.add(paths.front(), std::move(first->tensors))) return *failure;
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (auto failure = add_part(paths[i], i, set)) return *failure;
  first->tensors = std::move(set).all();
  const auto tensors = first->tensors.size();
  const auto stored_count = first->whole("split.tensors.count").value_or(tensors);
  if (paths.size() > 1 && stored_count != tensors)
    return make_file_failure(
        paths.front(), fmt::format("its parts have {} tensors: expected {}, by split.tensors.count",
                                   tensors, stored_count));
  return first;
}

Expected<Model> read_gguf_model(const std::string& path) {
  const auto paths = list_parts(path, ".gguf");
  const auto file = read_gguf_parts(paths);
  if (!file) return file.error();
  auto architecture = read_architecture(*file);
  if (!architecture) return make_file_failure(paths.front(), architecture.error().message);
  note_companions(path, architecture->notes);
  Model model;
  const auto* name = file->text("general.name");
  model.name = name != nullptr && !name->empty() ? *name : file_name(path);
  model.format = fmt::format("GGUF version {}", file->version);
  model.weights = sum_weights(file->tensors, architecture->layers.size());
  if (model.weights.total() == 0) return no_weights_error(paths.front());
  model.architecture = *std::move(architecture);
  note_layers_without_weights(model);
  return model;
}

Expected<std::optional<ModelConfig>> read_adjacent_config(const std::string& path) {
  using Result = std::optional<ModelConfig>;
  const auto config_path = parent_folder(path) + "config.json";
  if (!path_exists(config_path)) return Result();
  auto text = read_whole(config_path, max_config_bytes);
  if (!text) return text.error();
  auto parsed = parse_config(*std::move(text));
  if (!parsed) return make_file_failure(config_path, parsed.error().message);
  return Result(*std::move(parsed));
}

Model apply_config(Model model, std::optional<ModelConfig> config) {
  if (!config) return model;
  if (model.weights_are_counted || config->storage.is_specified)
    model.weight_type = config->storage.name;
  model.architecture = std::move(config->architecture);
  return model;
}

Expected<Model> make_model(const std::string& path, const std::vector<Tensor>& tensors) {
  auto config = read_adjacent_config(path);
  if (!config) return config.error();
  Model model;
  model.name = file_name(path);
  model.format = "safetensors";
  model.weights = sum_weights(tensors, *config ? (*config)->architecture.layers.size() : 0);
  if (model.weights.total() == 0) return no_weights_error(path);
  model = apply_config(std::move(model), *std::move(config));
  if (model.architecture) note_layers_without_weights(model);
  return model;
}

// Counts a tensor only in the file that the index names: another set may have one of the same name.
Expected<std::vector<Tensor>> read_tensors(const std::string& folder,
                                           const std::vector<std::string>& files,
                                           const SafetensorsIndex& index = {}) {
  TensorSet set;
  for (const auto& file : files) {
    auto tensors = read_safetensors(folder + file);
    if (!tensors) return tensors.error();
    std::erase_if(*tensors, [&](const Tensor& tensor) {
      const auto it = index.tensors.find(tensor.name);
      return it != index.tensors.end() && it->second != file;
    });
    if (auto failure = set.add(folder + file, *std::move(tensors))) return *failure;
  }
  return std::move(set).all();
}

// Notes tensors of the index that its files lack, and a total that differs from theirs by more than
// a percent: totals of tied weights may differ.
void note_index_differences(const SafetensorsIndex& index, const std::vector<Tensor>& tensors,
                            Model& model) {
  auto missing = index.tensors;
  for (const auto& tensor : tensors) missing.erase(tensor.name);
  if (!missing.empty())
    model.notes.add(fmt::format("the index names {} {} that its files lack, as \"{}\": not counted",
                                missing.size(), missing.size() == 1 ? "tensor" : "tensors",
                                std::min_element(missing.begin(), missing.end())->first),
                    Precision::at_least);
  const auto total = model.weights.total();
  const auto index_total = index.total_bytes.value_or(total);
  if (std::max(index_total, total) - std::min(index_total, total) > total / 100)
    model.notes.add(fmt::format("\"total_size\" of the index is {}, its files have {} bytes: the "
                                "latter are counted",
                                index_total, total),
                    Precision::about);
}

// Splits the total of an index in the proportions of the architecture. The estimate may be smaller:
// an image encoder is not counted, and a quantisation method may be unknown.
std::optional<Failure> share_total(std::uint64_t total, const ModelConfig& config, Model& model) {
  const auto estimate = estimate_weights(config);
  if (!estimate) return estimate.error();
  const auto sum = estimate->total();
  model.weights = scale_weights(*estimate, total);
  model.notes.add(
      "the index has the sum of the weights; each layer's share is counted from the "
      "architecture");
  if (std::min(total, sum) < std::max(total, sum) / 3 * 2)
    model.notes.add(
        fmt::format("\"total_size\" of the index is {}, the architecture makes {} bytes: "
                    "the former is counted",
                    total, sum),
        Precision::about);
  return std::nullopt;
}

Expected<Model> make_model_from_index(const std::string& path, const SafetensorsIndex& index) {
  auto config = read_adjacent_config(path);
  if (!config) return config.error();
  if (index.total_bytes.value_or(0) == 0)
    return make_file_failure(path,
                             fmt::format("none of its files is here and metadata.total_size is {}: "
                                         "expected the sum of the weights",
                                         index.total_bytes ? "0" : "missing"));
  Model model;
  model.name = file_name(path);
  model.format = "safetensors index";
  model.weights.outside = *index.total_bytes;
  if (!*config) return model;
  if (auto failure = share_total(*index.total_bytes, **config, model))
    return make_file_failure(path, failure->message);
  return apply_config(std::move(model), *std::move(config));
}

Expected<Model> read_index(const std::string& path, std::string text) {
  const auto index = parse_safetensors_index(std::move(text));
  if (!index) return make_file_failure(path, index.error().message);
  const auto folder = parent_folder(path);
  const auto present_count =
      std::count_if(index->files.begin(), index->files.end(),
                    [&](const std::string& file) { return path_exists(folder + file); });
  if (present_count == 0) return make_model_from_index(path, *index);
  const auto tensors = read_tensors(folder, index->files, *index);
  if (!tensors) return tensors.error();
  auto model = make_model(path, *tensors);
  if (model) note_index_differences(*index, *tensors, *model);
  return model;
}

Expected<Model> read_config(const std::string& path, std::string text) {
  auto config = parse_config(std::move(text));
  if (!config) return make_file_failure(path, config.error().message);
  auto weights = estimate_weights(*config);
  if (!weights) return make_file_failure(path, weights.error().message);
  Model model;
  model.name = path;
  model.format = "configuration";
  model.weights = *std::move(weights);
  model.weights_are_counted = true;
  const auto storage_notes = std::move(config->storage.notes);
  model = apply_config(std::move(model), std::optional(*std::move(config)));
  model.architecture->notes.append(storage_notes);
  return model;
}

Expected<Model> read_json(const std::string& path) {
  auto text = read_whole(path, max_index_bytes);
  if (!text) return text.error();
  const bool is_index = path.ends_with(".index.json");
  if (!is_index && text->size() > max_config_bytes)
    return make_file_failure(
        path, fmt::format("{} bytes: expected at most {}", text->size(), max_config_bytes));
  return is_index ? read_index(path, *std::move(text)) : read_config(path, *std::move(text));
}

// Reads the whole set that the file belongs to.
Expected<Model> read_safetensors_set(const std::string& path) {
  const auto index = parent_folder(path) + "model.safetensors.index.json";
  const auto parts = list_parts(path, ".safetensors");
  if (parts.size() > 1 && path_exists(index)) return read_json(index);
  std::vector<std::string> files;
  for (const auto& part : parts) files.emplace_back(file_name(part));
  const auto tensors = read_tensors(parent_folder(path), files);
  if (!tensors) return tensors.error();
  return make_model(path, *tensors);
}

Expected<bool> has_gguf_magic(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return file.error();
  const auto magic = file->beginning(4);
  if (!magic) return magic.error();
  return *magic == "GGUF";
}

}  // namespace

std::optional<PartName> parse_part_name(std::string_view file, std::string_view suffix) {
  constexpr std::string_view separator = "-of-";
  constexpr std::size_t length =
      1 + part_digits + separator.size() + part_digits;  // "-00001-of-00002"
  if (!file.ends_with(suffix)) return std::nullopt;
  file.remove_suffix(suffix.size());
  if (file.size() < length) return std::nullopt;
  const auto end = file.substr(file.size() - length);
  const auto number = parse_five_digits(end.substr(1, part_digits));
  const auto count = parse_five_digits(end.substr(1 + part_digits + separator.size()));
  if (end.front() != '-' || end.substr(1 + part_digits, separator.size()) != separator || !number ||
      !count || *number == 0 || *number > *count || *count > max_parts)
    return std::nullopt;
  return PartName{std::string(file.substr(0, file.size() - length)), *number, *count};
}

std::vector<std::string> list_parts(const std::string& file, std::string_view suffix) {
  const auto part = parse_part_name(file, suffix);
  if (!part) return {file};
  std::vector<std::string> parts;
  for (unsigned i = 1; i <= part->count; ++i)
    parts.push_back(fmt::format("{}-{:05}-of-{:05}{}", part->prefix, i, part->count, suffix));
  return parts;
}

Expected<Model> read_model(const std::string& path) {
  if (is_folder(path)) {
    const auto file = find_model(path);
    if (!file) return file.error();
    return is_folder(*file) ? make_file_failure(*file, "is a folder: expected a file")
                            : read_model(*file);
  }
  const auto is_gguf = has_gguf_magic(path);
  if (!is_gguf) return is_gguf.error();
  if (*is_gguf || path.ends_with(".gguf")) return read_gguf_model(path);
  if (path.ends_with(".safetensors")) return read_safetensors_set(path);
  if (path.ends_with(".json")) return read_json(path);
  return make_file_failure(
      path,
      "expected a GGUF file, a .safetensors file, its index, a config.json, or a "
      "folder of them");
}

}  // namespace hmn::cli::fit
