// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/system/installation.hpp"
#include "cli/system/streams.hpp"
#include "platform/library.hpp"

namespace hmn::cli {

Failure exec_program(const std::string& program, const std::vector<std::string>& command_line) {
  std::vector<char> buffer(platform::max_path_size);
  const std::string folder(platform::own_folder(buffer));
  std::vector<char*> words;
  for (const auto& word : command_line) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  dup2(output_descriptor(), STDOUT_FILENO);  // the output that the user gave
  // Installed next to hmn, wherever that was moved. Without /proc hmn's own folder is unknown:
  // where it was configured to be installed.
  const auto libexec =
      folder.empty() ? std::string(HMN_LIBEXEC) : folder + "/" HMN_LIBEXEC_FROM_BIN;
  const auto installed_path = libexec + "/hypomnesis/" + program;
  execv(installed_path.c_str(), words.data());
  const int error = errno;
  if (error == ENOENT && !folder.empty())  // a build folder
    execv((folder + "/" + program).c_str(), words.data());
  if (error == ENOENT)
    return make_failure(fmt::format("{} is not installed; it is in the package hypomnesis-exporter",
                                    installed_path));
  return make_failure(fmt::format("{}: {}", installed_path, std::strerror(error)));
}

}  // namespace hmn::cli
