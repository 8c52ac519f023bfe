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

// Little-endian, as this machine is.
template <class T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string gguf_text(std::string_view text) {
  return raw(std::uint64_t{text.size()}).append(text);
}

// Puts a GGUF file together; type numbers are those of the format's specification.
struct GgufFile {
  std::string keys;
  std::string tensors;
  std::uint64_t key_count = 0;
  std::uint64_t tensor_count = 0;
  std::uint64_t data_bytes = 0;
  std::uint32_t version = 3;

  GgufFile& key(std::string_view name, std::uint32_t type, std::string_view value) {
    keys += gguf_text(name) + raw(type);
    keys.append(value);
    ++key_count;
    return *this;
  }
  GgufFile& whole(std::string_view name, std::uint32_t value) { return key(name, 4, raw(value)); }
  GgufFile& text(std::string_view name, std::string_view value) {
    return key(name, 8, gguf_text(value));
  }
  GgufFile& whole_list(std::string_view name, const std::vector<std::uint32_t>& values) {
    std::string list = raw(std::uint32_t{4}) + raw(std::uint64_t{values.size()});
    for (const auto each : values) list += raw(each);
    return key(name, 9, list);
  }
  GgufFile& text_list(std::string_view name, const std::vector<std::string>& values) {
    std::string list = raw(std::uint32_t{8}) + raw(std::uint64_t{values.size()});
    for (const auto& each : values) list += gguf_text(each);
    return key(name, 9, list);
  }
  // Of `bytes` bytes, behind the one before, rounded up to 32.
  GgufFile& tensor(std::string_view name, const std::vector<std::uint64_t>& shape,
                   std::uint32_t type, std::uint64_t bytes) {
    tensors += gguf_text(name) + raw(static_cast<std::uint32_t>(shape.size()));
    for (const auto each : shape) tensors += raw(each);
    tensors += raw(type) + raw(data_bytes);
    data_bytes += (bytes + 31) / 32 * 32;
    ++tensor_count;
    return *this;
  }
  std::string header() const {
    return "GGUF" + raw(version) + raw(tensor_count) + raw(key_count) + keys + tensors;
  }
  std::string bytes() const {
    auto all = header();
    all.resize((all.size() + 31) / 32 * 32 + data_bytes);
    return all;
  }
};

inline std::string safetensors_file(std::string_view header, std::size_t data_bytes) {
  return raw(std::uint64_t{header.size()}).append(header) + std::string(data_bytes, '\0');
}

// A folder that goes away with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hmn-fit-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name + "/";
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string add(const std::string& name, const std::string& content) const {
    std::ofstream(path_ + name, std::ios::binary) << content;
    return path_ + name;
  }

 private:
  std::string path_;
};
