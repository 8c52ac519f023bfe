// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An nvidia-smi.exe with one card: answers the columns that it is asked for, and "[N/A]" to those
// that it does not know. It hangs if a file nvidia-smi.exe.hang is next to it: it is started
// without the caller's environment.
#include <windows.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "rows.hpp"

namespace {

struct Cell {
  const char* field;
  const char* title;
  const char* value;
};
constexpr Cell cells[] = {
    {"index", "index", "0"},
    {"name", "name", "NVIDIA GeForce RTX 4070"},
    {"uuid", "uuid", "GPU-00000000-1111-2222-3333-444444444444"},
    {"pci.bus_id", "pci.bus_id", "00000000:01:00.0"},
    {"memory.total", "memory.total [MiB]", "12282"},
    {"memory.used", "memory.used [MiB]", "1024"},
    {"memory.free", "memory.free [MiB]", "11258"},
    {"driver_version", "driver_version", "536.23"},
};

const Cell* find(const std::string& field) {
  for (const Cell& cell : cells) {
    if (field == cell.field) return &cell;
  }
  return nullptr;
}

void print_table(std::string fields) {
  std::string titles, values;
  while (!fields.empty()) {
    const auto comma = fields.find(',');
    const std::string field = fields.substr(0, comma);
    fields = comma == fields.npos ? "" : fields.substr(comma + 1);
    const Cell* const cell = find(field);
    titles += (titles.empty() ? "" : ", ") + (cell != nullptr ? std::string(cell->title) : field);
    values += (values.empty() ? "" : ", ") + std::string(cell != nullptr ? cell->value : "[N/A]");
  }
  std::printf("%s\n%s\n", titles.c_str(), values.c_str());
}

bool should_hang() {
  wchar_t path[MAX_PATH + 8] = {};
  GetModuleFileNameW(nullptr, path, MAX_PATH);
  return GetFileAttributesW(std::wstring(path).append(L".hang").c_str()) != INVALID_FILE_ATTRIBUTES;
}

}  // namespace

int main(int count, char** arguments) {
  if (should_hang()) Sleep(INFINITE);
  constexpr char gpus[] = "--query-gpu=";
  constexpr char apps[] = "--query-compute-apps=";
  for (int i = 1; i < count; ++i) {
    if (std::strncmp(arguments[i], gpus, sizeof gpus - 1) == 0) {
      print_table(arguments[i] + sizeof gpus - 1);
    }
    if (std::strncmp(arguments[i], apps, sizeof apps - 1) == 0) {
      std::printf("%s\n", arguments[i] + sizeof apps - 1);
    }
  }
  return 0;
}
