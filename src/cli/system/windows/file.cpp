// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/file.hpp"

#include <fmt/format.h>
#include <windows.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/system/file.hpp"
#include "cli/system/windows/process.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {
namespace {

DWORD read_attributes(const std::string& path) {
  return GetFileAttributesW(platform::to_wide(path).c_str());
}

std::optional<BY_HANDLE_FILE_INFORMATION> read_identity(const std::string& path) {
  const platform::Handle file(CreateFileW(
      platform::to_wide(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  BY_HANDLE_FILE_INFORMATION info{};
  if (!file || GetFileInformationByHandle(file.get(), &info) == 0) return std::nullopt;
  return info;
}

struct CloseSearch {
  using pointer = HANDLE;
  void operator()(HANDLE search) const noexcept {
    if (search != INVALID_HANDLE_VALUE) FindClose(search);
  }
};

constexpr std::uint64_t max_read_bytes = 1 << 26;  // ReadFile counts in 32 bits

HANDLE input_handle(std::intptr_t file) {
  return reinterpret_cast<HANDLE>(file);
}

constexpr unsigned max_names = 100;

// Temporary file in the same folder as the result; removed on failure.
class TempFile {
 public:
  TempFile(const std::wstring& path, Readers readers) {
    const OwnerOnlySecurity owner_security;
    for (unsigned i = 0; i < max_names && !is_open(); ++i) {
      name_ = path + platform::to_wide(fmt::format(".{}-{}", GetCurrentProcessId(), i));
      file_ = platform::Handle(
          CreateFileW(name_.c_str(), GENERIC_WRITE | DELETE, 0,
                      readers == Readers::owner ? owner_security.attributes() : nullptr, CREATE_NEW,
                      FILE_ATTRIBUTE_NORMAL, nullptr));
      if (!is_open() && GetLastError() != ERROR_FILE_EXISTS) return;
    }
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    if (!is_open()) return;
    file_.close();
    DeleteFileW(name_.c_str());
  }

  bool is_open() const { return static_cast<bool>(file_); }

  bool write(std::string_view text) const {
    while (!text.empty()) {
      DWORD written = 0;
      const auto length = static_cast<DWORD>(std::min<std::size_t>(text.size(), 1 << 26));
      if (WriteFile(file_.get(), text.data(), length, &written, nullptr) == 0) return false;
      text.remove_prefix(written);
    }
    return FlushFileBuffers(file_.get()) != 0;
  }

  bool move_into_place(const std::wstring& path, bool may_replace) {
    file_.close();
    // Keeps the security descriptor of the file that it replaces.
    if (may_replace && ReplaceFileW(path.c_str(), name_.c_str(), nullptr, 0, nullptr, nullptr) != 0)
      return true;
    const bool is_new = !may_replace || GetLastError() == ERROR_FILE_NOT_FOUND;
    if (is_new && MoveFileExW(name_.c_str(), path.c_str(), MOVEFILE_WRITE_THROUGH) != 0)
      return true;
    const auto error = GetLastError();
    DeleteFileW(name_.c_str());
    SetLastError(error);
    return false;
  }

 private:
  std::wstring name_;
  platform::Handle file_;
};

Failure write_failure(const OutputTarget& target, DWORD error) {
  if (error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS)
    return already_exists_error(target, target.path);
  return make_file_failure(target.path, error_text(error));
}

// Returns whether the path is a device, such as NUL or a named pipe, and no file on a disk.
bool is_device(const std::wstring& path) {
  const platform::Handle file(CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                          nullptr, OPEN_EXISTING, 0, nullptr));
  return file && GetFileType(file.get()) != FILE_TYPE_DISK;
}

// Returns whether a folder, or its file system, does not allow to replace a file.
bool is_replacement_refused(DWORD error) {
  constexpr DWORD errors[] = {ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED,
                              ERROR_UNABLE_TO_REMOVE_REPLACED, ERROR_UNABLE_TO_MOVE_REPLACEMENT};
  return std::find(std::begin(errors), std::end(errors), error) != std::end(errors);
}

// Writes without a temporary file, as everything that is no file on a disk requires.
std::optional<Failure> write_in_place(const OutputTarget& target, std::string_view text) {
  OutputFile file(target.path);
  file.write(text);
  return file.is_good() ? std::nullopt
                        : std::optional(make_file_failure(target.path, file.error()));
}

constexpr std::size_t max_write_bytes = 1 << 26;  // WriteFile counts in 32 bits

HANDLE output_handle(std::intptr_t file) {
  return reinterpret_cast<HANDLE>(file);
}

}  // namespace

std::string error_text(std::uint32_t code) {
  wchar_t text[512];
  const auto length =
      FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0,
                     text, static_cast<DWORD>(std::size(text)), nullptr);
  std::wstring_view line(text, length);
  while (!line.empty() && (line.back() <= L' ' || line.back() == L'.')) line.remove_suffix(1);
  return line.empty() ? fmt::format("error {}", code) : platform::to_utf8(line);
}

std::string last_error_text() {
  return error_text(GetLastError());
}

// Includes the colon after a drive: "C:model.gguf" is in the drive's current folder.
constinit const std::string_view path_separators = "/\\:";

bool path_exists(const std::string& path) {
  return read_attributes(path) != INVALID_FILE_ATTRIBUTES;
}

bool is_folder(const std::string& path) {
  const auto attributes = read_attributes(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

std::optional<std::string> explain_unreadable(const std::string& path) {
  const platform::Handle file(CreateFileW(platform::to_wide(path).c_str(), GENERIC_READ,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                          nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
                                          nullptr));
  if (file) return std::nullopt;
  return last_error_text();
}

std::string absolute_path(const std::string& path) {
  const auto wide = platform::to_wide(path);
  std::wstring full(MAX_PATH, L'\0');
  for (;;) {
    const auto length =
        GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
    if (length == 0) return path;
    if (length < full.size()) return platform::to_utf8({full.data(), length});
    full.resize(length);
  }
}

bool is_same_file(const std::string& path, const std::string& other) {
  const auto identity = read_identity(path);
  const auto other_identity = read_identity(other);
  if (identity && other_identity)
    return identity->dwVolumeSerialNumber == other_identity->dwVolumeSerialNumber &&
           identity->nFileIndexHigh == other_identity->nFileIndexHigh &&
           identity->nFileIndexLow == other_identity->nFileIndexLow;
  const auto wide = platform::to_wide(absolute_path(path));
  const auto wide_other = platform::to_wide(absolute_path(other));
  return CompareStringOrdinal(wide.c_str(), -1, wide_other.c_str(), -1, TRUE) == CSTR_EQUAL;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  WIN32_FIND_DATAW entry{};
  const std::unique_ptr<void, CloseSearch> search(
      FindFirstFileW(platform::to_wide(path + "/*").c_str(), &entry));
  if (search.get() == INVALID_HANDLE_VALUE) return names;
  do {
    if (entry.cFileName[0] != L'.') names.push_back(platform::to_utf8(entry.cFileName));
  } while (FindNextFileW(search.get(), &entry) != 0);
  std::sort(names.begin(), names.end());
  return names;
}

Expected<InputFile> InputFile::open(const std::string& path) {
  platform::Handle file(CreateFileW(platform::to_wide(path).c_str(), GENERIC_READ,
                                    FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) return make_file_failure(path, last_error_text());
  LARGE_INTEGER size{};
  // Reject pipes and devices (CON, NUL), which are not FILE_TYPE_DISK.
  if (GetFileType(file.get()) != FILE_TYPE_DISK || GetFileSizeEx(file.get(), &size) == 0)
    return make_file_failure(path, "is not a regular file");
  return InputFile(path, reinterpret_cast<std::intptr_t>(file.release()),
                   static_cast<std::uint64_t>(size.QuadPart));
}

InputFile::~InputFile() {
  if (file_ != closed) CloseHandle(input_handle(file_));
}

Expected<std::string> InputFile::beginning(std::uint64_t max_bytes) const {
  std::string bytes(static_cast<std::size_t>(std::min(max_bytes, size_)), '\0');
  std::uint64_t done = 0;
  while (done < bytes.size()) {
    OVERLAPPED overlapped{};
    overlapped.Offset = static_cast<DWORD>(done);
    overlapped.OffsetHigh = static_cast<DWORD>(done >> 32);
    const auto count = static_cast<DWORD>(std::min(bytes.size() - done, max_read_bytes));
    DWORD read_count = 0;
    if (ReadFile(input_handle(file_), bytes.data() + done, count, &read_count, &overlapped) == 0 &&
        GetLastError() != ERROR_HANDLE_EOF)
      return make_file_failure(path_, last_error_text());
    if (read_count == 0) return make_file_failure(path_, "became shorter while it was read");
    done += read_count;
  }
  return bytes;
}

std::optional<Failure> check_writable(const OutputTarget& target) {
  if (target.path == "-") return std::nullopt;
  const auto path = platform::to_wide(target.path);
  const DWORD attributes = GetFileAttributesW(path.c_str());
  const DWORD error = GetLastError();
  if (is_device(path)) return std::nullopt;
  if (attributes == INVALID_FILE_ATTRIBUTES)
    return error == ERROR_FILE_NOT_FOUND ? check_new_name(target, target.path)
                                         : std::optional(write_failure(target, error));
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    return make_file_failure(target.path, "is a folder");
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
    return make_file_failure(target.path, "is a link");
  if (!target.may_replace(target.path)) return already_exists_error(target, target.path);
  if ((attributes & FILE_ATTRIBUTE_READONLY) != 0 && !target.force)
    return write_failure(target, ERROR_ACCESS_DENIED);
  return std::nullopt;
}

std::optional<Failure> write_file(const OutputTarget& target, std::string_view text,
                                  Readers readers) {
  if (auto failure = check_writable(target)) return failure;
  if (target.path == "-") return write_to_stream(Stream::output, text);
  const auto path = platform::to_wide(target.path);
  if (is_device(path)) return write_in_place(target, text);
  DWORD error = 0;
  {
    TempFile file(path, readers);
    if (file.is_open() && file.write(text) &&
        file.move_into_place(path, target.may_replace(target.path)))
      return std::nullopt;
    error = GetLastError();
  }
  if (target.may_replace(target.path) && is_replacement_refused(error))
    return write_in_place(target, text);
  return write_failure(target, error);
}

// Opens without inheritance by the command.
OutputFile::OutputFile(const std::string& path)
    : file_(reinterpret_cast<std::intptr_t>(CreateFileW(
          platform::to_wide(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
          nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr))) {
  if (output_handle(file_) == INVALID_HANDLE_VALUE) error_ = last_error_text();
}

OutputFile::~OutputFile() {
  if (output_handle(file_) != INVALID_HANDLE_VALUE) CloseHandle(output_handle(file_));
}

void OutputFile::write(std::string_view text) {
  // Fails for anything but a regular file, as nothing else has a length.
  if (is_good() && !has_written_) SetEndOfFile(output_handle(file_));
  has_written_ = true;
  const auto text_size = text.size();
  while (is_good() && !text.empty()) {
    DWORD written = 0;
    const auto length = static_cast<DWORD>(std::min(text.size(), max_write_bytes));
    if (WriteFile(output_handle(file_), text.data(), length, &written, nullptr) == 0)
      error_ = last_error_text();
    text.remove_prefix(written);
  }
  if (is_good()) {
    length_ += text_size;
    return;
  }
  LARGE_INTEGER end;
  end.QuadPart = static_cast<LONGLONG>(length_);
  if (SetFilePointerEx(output_handle(file_), end, nullptr, FILE_BEGIN) != 0)
    SetEndOfFile(output_handle(file_));
}

}  // namespace hmn::cli
