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
constexpr unsigned most_parts = 9999;

std::optional<unsigned> five_digits(std::string_view text) {
  unsigned number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.size() != part_digits || parsed.ec != std::errc{} || parsed.ptr != end)
    return std::nullopt;
  return number;
}

std::vector<std::string> ending_in(const std::vector<std::string>& all, std::string_view suffix) {
  std::vector<std::string> found;
  for (const auto& each : all)
    if (each.ends_with(suffix)) found.push_back(each);
  return found;
}

// Returns the only file of a kind, or the first part of a set.
std::optional<std::string> only_one(std::vector<std::string> files, std::string_view suffix) {
  std::erase_if(files, [&](const std::string& each) {
    const auto part = parse_part_name(each, suffix);
    return (part && part->number != 1) || each.starts_with("mmproj");
  });
  return files.size() == 1 ? std::optional(files.front()) : std::nullopt;
}

constexpr std::uint64_t most_config_bytes = 4u << 20;
constexpr std::uint64_t most_index_bytes = 64u << 20;
constexpr std::size_t most_tensors_of_parts = 1u << 20;  // of all parts together

// Tensors of a model's files, each in one of them.
class TensorSet {
 public:
  std::optional<Failure> add(const std::string& path, std::vector<Tensor>&& more) {
    files_.push_back(path);
    for (auto& each : more) {
      const auto [at, is_new] = file_of_.emplace(each.name, files_.size() - 1);
      if (!is_new) return failed_at(path, twice(each.name, files_[at->second]));
      all_.push_back(std::move(each));
    }
    if (all_.size() > most_tensors_of_parts)
      return failed_at(path, fmt::format("more than {} tensors", most_tensors_of_parts));
    return std::nullopt;
  }
  std::vector<Tensor> all() && { return std::move(all_); }

 private:
  std::string twice(const std::string& name, const std::string& file) const {
    return file == files_.back() ? fmt::format("tensor \"{}\" is there twice", name)
                                 : fmt::format("tensor \"{}\" is in \"{}\" too", name, file);
  }

  std::vector<Tensor> all_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::size_t> file_of_;
};

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of(path_separators);
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string file_name_of(const std::string& path) {
  return path.substr(folder_of(path).size());
}

Expected<std::string> find_model(const std::string& folder) {
  const auto in = folder_of(folder) == folder ? folder : folder + "/";
  for (const auto* name : {"model.safetensors.index.json", "model.safetensors"})
    if (is_there(in + name)) return in + name;
  const auto all = list_folder(in);
  for (const std::string_view suffix : {".safetensors", ".gguf"}) {
    const auto files = ending_in(all, suffix);
    if (const auto one = only_one(files, suffix)) return in + *one;
    if (files.size() > 1)
      return failed(fmt::format("\"{}\": {} files end in {}: expected one, or the path of one",
                                folder, files.size(), suffix));
  }
  if (is_there(in + "config.json")) return in + "config.json";
  return failed(
      fmt::format("\"{}\": expected model.safetensors.index.json, a .safetensors or "
                  ".gguf file, or config.json in it",
                  folder));
}

Failure no_weights(const std::string& path) {
  return failed_at(path, "has no weights: expected the tensors of a model");
}

void note_layers_without_weights(Model& of) {
  const auto& layers = of.shape->layers;
  std::size_t without = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].has_weights && of.of.layers[i] == 0) ++without;
  if (without != 0)
    of.noted.add(fmt::format("weights of {} of the {} layers are not there and not counted",
                             without, layers.size()),
                 Precision::at_least);
}

// Notes the files that belong to a model and that its own do not mention.
void note_companions(const std::string& path, Notes& noted) {
  const auto folder = folder_of(path);
  const auto own = file_name_of(path);
  for (const auto& each : list_folder(folder.empty() ? "./" : folder)) {
    const bool sees = each.starts_with("mmproj") || each.find("-mmproj") != std::string::npos;
    if (each == own || !each.ends_with(".gguf") || !sees) continue;
    const auto file = InputFile::open(folder + each);
    if (file)
      noted.add(fmt::format("\"{}\" of {} is next to it and not counted: images need it", each,
                            hypomnesis::format_bytes(file->size())),
                Precision::at_least);
  }
}

std::optional<Failure> wrong_count(const Gguf& first, const std::vector<std::string>& paths) {
  const auto given = first.whole("split.count").value_or(1);
  if (given == paths.size() || (given == 0 && paths.size() == 1)) return std::nullopt;
  return failed_at(paths.front(),
                   fmt::format("split.count is {}: expected {}, by its name", given, paths.size()));
}

// Adds the tensors of a part after the first.
std::optional<Failure> add_part(const std::string& path, std::size_t number, TensorSet& to) {
  auto part = read_gguf(path);
  if (!part) return part.why();
  if (const auto given = part->whole("split.no").value_or(number); given != number)
    return failed_at(path, fmt::format("split.no is {}: expected {}, by its name", given, number));
  return to.add(path, std::move(part->tensors));
}

// Returns the keys of the first part with the tensors of all.
Expected<Gguf> read_gguf_parts(const std::vector<std::string>& paths) {
  auto first = read_gguf(paths.front());
  if (!first) return first.why();
  if (auto wrong = wrong_count(*first, paths)) return *wrong;
  TensorSet found;
  if (auto wrong = found.add(paths.front(), std::move(first->tensors))) return *wrong;
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (auto wrong = add_part(paths[i], i, found)) return *wrong;
  first->tensors = std::move(found).all();
  const auto tensors = first->tensors.size();
  const auto given = first->whole("split.tensors.count").value_or(tensors);
  if (paths.size() > 1 && given != tensors)
    return failed_at(paths.front(),
                     fmt::format("its parts have {} tensors: expected {}, by split.tensors.count",
                                 tensors, given));
  return first;
}

Expected<Model> read_gguf_model(const std::string& path) {
  const auto paths = parts_of(path, ".gguf");
  const auto all = read_gguf_parts(paths);
  if (!all) return all.why();
  auto shape = architecture_of(*all);
  if (!shape) return failed_at(paths.front(), shape.why().message);
  note_companions(path, shape->noted);
  Model made;
  const auto* name = all->text("general.name");
  made.name = name != nullptr && !name->empty() ? *name : file_name_of(path);
  made.format = fmt::format("GGUF version {}", all->version);
  made.of = weights_of(all->tensors, shape->layers.size());
  if (made.of.total() == 0) return no_weights(paths.front());
  made.shape = *std::move(shape);
  note_layers_without_weights(made);
  return made;
}

Expected<std::optional<ModelConfig>> config_beside(const std::string& path) {
  using Answer = std::optional<ModelConfig>;
  const auto config = folder_of(path) + "config.json";
  if (!is_there(config)) return Answer();
  auto text = read_whole(config, most_config_bytes);
  if (!text) return text.why();
  auto parsed = parse_config(*std::move(text));
  if (!parsed) return failed_at(config, parsed.why().message);
  return Answer(*std::move(parsed));
}

Model with_config(Model made, std::optional<ModelConfig> config) {
  if (!config) return made;
  if (made.weights_are_counted || config->stored.is_specified) made.stored = config->stored.name;
  made.shape = std::move(config->shape);
  return made;
}

Expected<Model> from_tensors(const std::string& path, const std::vector<Tensor>& tensors) {
  auto config = config_beside(path);
  if (!config) return config.why();
  Model made;
  made.name = file_name_of(path);
  made.format = "safetensors";
  made.of = weights_of(tensors, *config ? (*config)->shape.layers.size() : 0);
  if (made.of.total() == 0) return no_weights(path);
  made = with_config(std::move(made), *std::move(config));
  if (made.shape) note_layers_without_weights(made);
  return made;
}

// Counts a tensor in the file alone that an index names for it: one of another set may have it too.
Expected<std::vector<Tensor>> read_all(const std::string& folder,
                                       const std::vector<std::string>& files,
                                       const SafetensorsIndex& index = {}) {
  TensorSet found;
  for (const auto& each : files) {
    auto some = read_safetensors(folder + each);
    if (!some) return some.why();
    std::erase_if(*some, [&](const Tensor& one) {
      const auto at = index.tensors.find(one.name);
      return at != index.tensors.end() && at->second != each;
    });
    if (auto wrong = found.add(folder + each, *std::move(some))) return *wrong;
  }
  return std::move(found).all();
}

// Notes what the index names and its files lack; or that its sum is not theirs by more than a
// percent, as those of tied weights may differ.
void note_index(const SafetensorsIndex& index, const std::vector<Tensor>& tensors, Model& of) {
  auto lacking = index.tensors;
  for (const auto& each : tensors) lacking.erase(each.name);
  if (!lacking.empty())
    of.noted.add(fmt::format("the index names {} {} that its files lack, as \"{}\": not counted",
                             lacking.size(), lacking.size() == 1 ? "tensor" : "tensors",
                             std::min_element(lacking.begin(), lacking.end())->first),
                 Precision::at_least);
  const auto total = of.of.total();
  const auto given = index.total_bytes.value_or(total);
  if (std::max(given, total) - std::min(given, total) > total / 100)
    of.noted.add(fmt::format("\"total_size\" of the index is {}, its files have {} bytes: the "
                             "latter are counted",
                             given, total),
                 Precision::about);
}

// Splits the total of an index in the proportions of the architecture. That may not make all of it:
// an encoder of images is not counted, and a way to quantise may be missing.
std::optional<Failure> share(std::uint64_t total, const ModelConfig& by, Model& to) {
  const auto counted = weights_of(by);
  if (!counted) return counted.why();
  const auto sum = counted->total();
  to.of = scaled_to(*counted, total);
  to.noted.add(
      "the index has the sum of the weights; each layer's share is counted from the "
      "architecture");
  if (std::min(total, sum) < std::max(total, sum) / 3 * 2)
    to.noted.add(fmt::format("\"total_size\" of the index is {}, the architecture makes {} bytes: "
                             "the former is counted",
                             total, sum),
                 Precision::about);
  return std::nullopt;
}

Expected<Model> from_index_alone(const std::string& path, const SafetensorsIndex& index) {
  auto config = config_beside(path);
  if (!config) return config.why();
  if (index.total_bytes.value_or(0) == 0)
    return failed_at(path, fmt::format("none of its files is here and metadata.total_size is {}: "
                                       "expected the sum of the weights",
                                       index.total_bytes ? "0" : "missing"));
  Model made;
  made.name = file_name_of(path);
  made.format = "safetensors index";
  made.of.outside = *index.total_bytes;
  if (!*config) return made;
  if (auto wrong = share(*index.total_bytes, **config, made))
    return failed_at(path, wrong->message);
  return with_config(std::move(made), *std::move(config));
}

Expected<Model> read_index(const std::string& path, std::string text) {
  const auto index = parse_safetensors_index(std::move(text));
  if (!index) return failed_at(path, index.why().message);
  const auto folder = folder_of(path);
  const auto here = std::count_if(index->files.begin(), index->files.end(),
                                  [&](const std::string& each) { return is_there(folder + each); });
  if (here == 0) return from_index_alone(path, *index);
  const auto tensors = read_all(folder, index->files, *index);
  if (!tensors) return tensors.why();
  auto made = from_tensors(path, *tensors);
  if (made) note_index(*index, *tensors, *made);
  return made;
}

Expected<Model> read_config(const std::string& path, std::string text) {
  auto config = parse_config(std::move(text));
  if (!config) return failed_at(path, config.why().message);
  auto counted = weights_of(*config);
  if (!counted) return failed_at(path, counted.why().message);
  Model made;
  made.name = path;
  made.format = "configuration";
  made.of = *std::move(counted);
  made.weights_are_counted = true;
  const auto assumed = std::move(config->stored.noted);
  made = with_config(std::move(made), std::optional(*std::move(config)));
  made.shape->noted.append(assumed);
  return made;
}

Expected<Model> read_json(const std::string& path) {
  auto text = read_whole(path, most_index_bytes);
  if (!text) return text.why();
  const bool is_index = path.ends_with(".index.json");
  if (!is_index && text->size() > most_config_bytes)
    return failed_at(path,
                     fmt::format("{} bytes: expected at most {}", text->size(), most_config_bytes));
  return is_index ? read_index(path, *std::move(text)) : read_config(path, *std::move(text));
}

// Reads the whole set that the file belongs to.
Expected<Model> read_safetensors_set(const std::string& path) {
  const auto index = folder_of(path) + "model.safetensors.index.json";
  const auto parts = parts_of(path, ".safetensors");
  if (parts.size() > 1 && is_there(index)) return read_json(index);
  std::vector<std::string> files;
  for (const auto& each : parts) files.push_back(file_name_of(each));
  const auto tensors = read_all(folder_of(path), files);
  if (!tensors) return tensors.why();
  return from_tensors(path, *tensors);
}

Expected<bool> begins_as_gguf(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return file.why();
  const auto magic = file->beginning(4);
  if (!magic) return magic.why();
  return *magic == "GGUF";
}

}  // namespace

std::optional<PartName> parse_part_name(std::string_view file, std::string_view suffix) {
  constexpr std::string_view between = "-of-";
  constexpr std::size_t length =
      1 + part_digits + between.size() + part_digits;  // "-00001-of-00002"
  if (!file.ends_with(suffix)) return std::nullopt;
  file.remove_suffix(suffix.size());
  if (file.size() < length) return std::nullopt;
  const auto end = file.substr(file.size() - length);
  const auto number = five_digits(end.substr(1, part_digits));
  const auto count = five_digits(end.substr(1 + part_digits + between.size()));
  if (end.front() != '-' || end.substr(1 + part_digits, between.size()) != between || !number ||
      !count || *number == 0 || *number > *count || *count > most_parts)
    return std::nullopt;
  return PartName{std::string(file.substr(0, file.size() - length)), *number, *count};
}

std::vector<std::string> parts_of(const std::string& file, std::string_view suffix) {
  const auto part = parse_part_name(file, suffix);
  if (!part) return {file};
  std::vector<std::string> all;
  for (unsigned i = 1; i <= part->count; ++i)
    all.push_back(fmt::format("{}-{:05}-of-{:05}{}", part->prefix, i, part->count, suffix));
  return all;
}

Expected<Model> read_model(const std::string& path) {
  if (is_folder(path)) {
    const auto found = find_model(path);
    if (!found) return found.why();
    return is_folder(*found) ? failed_at(*found, "is a folder: expected a file")
                             : read_model(*found);
  }
  const auto is_gguf = begins_as_gguf(path);
  if (!is_gguf) return is_gguf.why();
  if (*is_gguf || path.ends_with(".gguf")) return read_gguf_model(path);
  if (path.ends_with(".safetensors")) return read_safetensors_set(path);
  if (path.ends_with(".json")) return read_json(path);
  return failed_at(path,
                   "expected a GGUF file, a .safetensors file, its index, a config.json, or a "
                   "folder of them");
}

}  // namespace hmn::cli::fit
