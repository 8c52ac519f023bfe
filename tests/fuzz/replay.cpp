// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The main function of a fuzz target for compilers without libFuzzer: runs it once on every file
// of the folders on the command line.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> list_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void run_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t file_count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : list_files(argv[i])) {
      run_file(path);
      ++file_count;
    }
  }
  if (file_count == 0) std::fputs("no seeds\n", stderr);
  return file_count == 0 ? 1 : 0;
}
