// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/model_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fit/model.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/text/json.hpp"
#include "cli/text/unicode.hpp"

namespace hmn::cli::fit {
namespace {

using Paths = std::vector<std::string>;

// Parts of "registry/organization/name:tag".
struct ModelName {
  std::string registry;      // empty: not given
  std::string organization;  // empty: not given
  std::string name;
  std::string tag;  // empty: not given

  // "org/name"
  std::string repository() const { return organization + "/" + name; }
};

bool is_name_part(std::string_view text) {
  constexpr std::string_view others = "-_.";
  return !text.empty() && text.front() != '.' && std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
  });
}

std::optional<ModelName> parse_model_name(std::string_view text) {
  ModelName name;
  const auto colon = text.find(':');
  if (colon != std::string_view::npos) {
    name.tag = text.substr(colon + 1);
    text = text.substr(0, colon);
    if (!is_name_part(name.tag)) return std::nullopt;
  }
  for (auto* part : {&name.name, &name.organization, &name.registry}) {
    const auto slash = text.rfind('/');
    *part = slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (!is_name_part(*part)) return std::nullopt;
    if (slash == std::string_view::npos) return name;
    text = text.substr(0, slash);
  }
  return std::nullopt;
}

std::optional<std::string> find_home() {
  if (auto home = get_trusted_environment("HOME")) return home;
  return get_trusted_environment("USERPROFILE");
}

// Returns the value of the variable, or what the home folder has at that place.
Paths list_roots(const char* variable, std::string_view in_variable,
                 std::initializer_list<std::string_view> in_home) {
  if (const auto value = get_trusted_environment(variable))
    return {*value + std::string(in_variable)};
  Paths roots;
  if (const auto home = find_home())
    for (const auto place : in_home) roots.push_back(*home + std::string(place));
  return roots;
}

// GGUF files of a folder and of the folders in it, which hold the parts of large ones; the first of
// each set, and no projectors. With a tag, only files whose names contain it.
Paths list_gguf_files(const std::string& folder, const std::string& tag = "") {
  Paths files;
  const auto add = [&](const std::string& path, const std::string& name) {
    const auto part = parse_part_name(name, ".gguf");
    const bool is_projector = lower_case(name).find("mmproj") != std::string::npos;
    if (name.ends_with(".gguf") && (!part || part->number == 1) && !is_projector &&
        lower_case(path.substr(folder.size())).find(lower_case(tag)) != std::string::npos)
      files.push_back(path);
  };
  for (const auto& name : list_folder(folder + "/")) {
    const auto path = folder + "/" + name;
    if (!is_folder(path)) {
      add(path, name);
      continue;
    }
    for (const auto& inner : list_folder(path + "/"))
      if (!is_folder(path + "/" + inner)) add(path + "/" + inner, inner);
  }
  return files;
}

bool has_safetensors(const std::string& folder) {
  const auto names = list_folder(folder + "/");
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.ends_with(".safetensors") || name == "model.safetensors.index.json";
  });
}

// Files of a repository's folder: its GGUF files, else the folder with its configuration.
Paths list_repository_files(const std::string& folder, const std::string& tag) {
  if (!is_folder(folder)) return {};
  if (auto files = list_gguf_files(folder, tag); !files.empty()) return files;
  if (has_safetensors(folder)) return {folder};
  const auto config = folder + "/config.json";
  return path_exists(config) ? Paths{config} : Paths();
}

// https://github.com/ollama/ollama, docs/faq: a manifest for each tag names the blobs.
Paths find_in_ollama(const ModelName& name) {
  auto roots = list_roots("OLLAMA_MODELS", "", {"/.ollama/models"});
  roots.emplace_back("/usr/share/ollama/.ollama/models");  // of its service on Linux
  const auto registry = name.registry.empty() ? "registry.ollama.ai" : name.registry;
  const auto organization = name.organization.empty() ? "library" : name.organization;
  const auto tag = name.tag.empty() ? "latest" : name.tag;
  for (const auto& root : roots) {
    const auto text = read_text_file(
        fmt::format("{}/manifests/{}/{}/{}/{}", root, registry, organization, name.name, tag));
    if (!text) continue;
    const auto manifest = parse_json(*text);
    const auto* layers = manifest ? manifest->find("layers") : nullptr;
    if (layers == nullptr || layers->items() == nullptr) continue;
    for (const auto& layer : *layers->items()) {
      const auto* type = layer.find("mediaType");
      const auto* digest = layer.find("digest");
      if (type == nullptr || type->text() == nullptr || digest == nullptr ||
          digest->text() == nullptr || *type->text() != "application/vnd.ollama.image.model" ||
          !digest->text()->starts_with("sha256:") || !is_name_part(digest->text()->substr(7)))
        continue;
      return {root + "/blobs/sha256-" + digest->text()->substr(7)};
    }
  }
  return {};
}

// https://huggingface.co/docs/huggingface_hub, "Understand caching": a folder for each commit.
Paths find_in_hugging_face(const ModelName& name) {
  auto roots = list_roots("HF_HUB_CACHE", "", {});
  if (roots.empty()) roots = list_roots("HF_HOME", "/hub", {"/.cache/huggingface/hub"});
  for (const auto& root : roots) {
    const auto folder = fmt::format("{}/models--{}--{}", root, name.organization, name.name);
    auto commit = read_text_file(folder + "/refs/main").value_or("");
    while (!commit.empty() && commit.back() == '\n') commit.pop_back();
    if (!is_name_part(commit)) continue;
    if (auto files = list_repository_files(folder + "/snapshots/" + commit, name.tag);
        !files.empty())
      return files;
  }
  return {};
}

// https://lmstudio.ai/docs/app/advanced/import-model: publisher/model/file.
Paths find_in_lm_studio(const ModelName& name) {
  if (const auto home = find_home())
    for (const auto* place : {"/.lmstudio/models/", "/.cache/lm-studio/models/"})
      if (auto files = list_repository_files(*home + place + name.repository(), name.tag);
          !files.empty())
        return files;
  return {};
}

// common/common.cpp of llama.cpp: all files in one folder, named org_name_file.
Paths find_in_llama_cpp(const ModelName& name) {
  auto roots = list_roots("LLAMA_CACHE", "", {"/.cache/llama.cpp", "/Library/Caches/llama.cpp"});
  const auto prefix = name.organization + "_" + name.name + "_";
  for (const auto& root : roots) {
    auto files = list_gguf_files(root, name.tag);
    std::erase_if(files, [&](const std::string& file) {
      return !std::string_view(file).substr(root.size() + 1).starts_with(prefix);
    });
    if (!files.empty()) return files;
  }
  return {};
}

Failure unknown_name_error(const std::string& model, const ModelName& name) {
  const auto place = name.organization.empty()
                         ? std::string("a .gguf file of it, or the config.json of the original")
                         : fmt::format(
                               "a .gguf file of it, or https://huggingface.co/{}/raw/main/"
                               "config.json saved as config.json",
                               name.repository());
  return make_failure(fmt::format(
      "\"{}\": no such file, and no such model in the folders of Ollama, Hugging Face, LM Studio "
      "and llama.cpp; one file is enough: {}",
      model, place));
}

}  // namespace

Expected<std::vector<std::string>> find_model_files(const std::string& model) {
  if (is_folder(model) && !has_safetensors(model)) {
    const bool ends_in_separator = path_separators.find(model.back()) != std::string_view::npos;
    auto files = list_gguf_files(ends_in_separator ? model.substr(0, model.size() - 1) : model);
    if (files.size() > 1) return files;
  }
  if (path_exists(model)) return Paths{model};
  for (const auto* suffix : {".gguf", ".json", ".safetensors"})
    if (model.ends_with(suffix)) return Paths{model};
  const auto name = parse_model_name(model);
  if (!name) return Paths{model};
  auto files = find_in_ollama(*name);
  if (files.empty() && !name->organization.empty()) {
    for (const auto find : {find_in_hugging_face, find_in_lm_studio, find_in_llama_cpp})
      if (files.empty()) files = find(*name);
  }
  if (files.empty()) return unknown_name_error(model, *name);
  return files;
}

}  // namespace hmn::cli::fit
