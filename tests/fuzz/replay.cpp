// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The main function of a fuzz target where the compiler has no libFuzzer: gives it every file of
// the folders that are named, once.
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

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

void give(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t given = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : files_in(argv[i])) {
      give(path);
      ++given;
    }
  }
  if (given == 0) std::fputs("no seeds\n", stderr);
  return given == 0 ? 1 : 0;
}
