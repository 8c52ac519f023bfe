// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Model files, byte by byte.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

// In this machine's byte order, which is little-endian.
template <class T>
std::string raw_bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string gguf_text(std::string_view text) {
  return raw_bytes(std::uint64_t{text.size()}).append(text);
}

// Builds a GGUF file; type numbers are those of the format's specification.
struct GgufFile {
  std::string keys;
  std::string tensors;
  std::uint64_t key_count = 0;
  std::uint64_t tensor_count = 0;
  std::uint64_t data_bytes = 0;
  std::uint32_t version = 3;

  GgufFile& add_key(std::string_view name, std::uint32_t type, std::string_view value) {
    keys += gguf_text(name) + raw_bytes(type);
    keys.append(value);
    ++key_count;
    return *this;
  }
  GgufFile& add_number(std::string_view name, std::uint32_t value) {
    return add_key(name, 4, raw_bytes(value));
  }
  GgufFile& add_text(std::string_view name, std::string_view value) {
    return add_key(name, 8, gguf_text(value));
  }
  GgufFile& add_numbers(std::string_view name, const std::vector<std::uint32_t>& values) {
    std::string list = raw_bytes(std::uint32_t{4}) + raw_bytes(std::uint64_t{values.size()});
    for (const auto value : values) list += raw_bytes(value);
    return add_key(name, 9, list);
  }
  GgufFile& add_texts(std::string_view name, const std::vector<std::string>& values) {
    std::string list = raw_bytes(std::uint32_t{8}) + raw_bytes(std::uint64_t{values.size()});
    for (const auto& value : values) list += gguf_text(value);
    return add_key(name, 9, list);
  }
  // Adds a tensor of `bytes` bytes after the previous one, rounded up to 32.
  GgufFile& add_tensor(std::string_view name, const std::vector<std::uint64_t>& shape,
                       std::uint32_t type, std::uint64_t bytes) {
    tensors += gguf_text(name) + raw_bytes(static_cast<std::uint32_t>(shape.size()));
    for (const auto size : shape) tensors += raw_bytes(size);
    tensors += raw_bytes(type) + raw_bytes(data_bytes);
    data_bytes += (bytes + 31) / 32 * 32;
    ++tensor_count;
    return *this;
  }
  std::string header() const {
    return "GGUF" + raw_bytes(version) + raw_bytes(tensor_count) + raw_bytes(key_count) + keys +
           tensors;
  }
  std::string bytes() const {
    auto file = header();
    file.resize((file.size() + 31) / 32 * 32 + data_bytes);
    return file;
  }
};

inline std::string safetensors_file(std::string_view header, std::size_t data_bytes) {
  return raw_bytes(std::uint64_t{header.size()}).append(header) + std::string(data_bytes, '\0');
}

// A temporary folder, removed with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hmn-fit-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name + "/";
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string add(const std::string& name, const std::string& content) const {
    std::ofstream(path_ + name, std::ios::binary) << content;
    return path_ + name;
  }

 private:
  std::string path_;
};
