// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli::fit {

// Returns the files that may be meant: a path itself, or the GGUF files of a folder that has
// several, the first part of each set. A name is looked for where other programs store models on
// this machine: "llama3:8b" in Ollama's folder, "org/model" in those of Hugging Face, LM Studio and
// llama.cpp. Nothing is downloaded.
Expected<std::vector<std::string>> find_model_files(const std::string& model);

}  // namespace hmn::cli::fit
