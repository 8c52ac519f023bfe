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

DWORD attributes_of(const std::string& path) {
  return GetFileAttributesW(platform::to_wide(path).c_str());
}

std::optional<BY_HANDLE_FILE_INFORMATION> identity_of(const std::string& path) {
  const platform::Handle file(CreateFileW(
      platform::to_wide(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  BY_HANDLE_FILE_INFORMATION info{};
  if (!file || GetFileInformationByHandle(file.get(), &info) == 0) return std::nullopt;
  return info;
}

struct CloseSearch {
  using pointer = HANDLE;
  void operator()(HANDLE open) const noexcept {
    if (open != INVALID_HANDLE_VALUE) FindClose(open);
  }
};

constexpr std::uint64_t most_read = 1 << 26;  // ReadFile counts in 32 bits

Failure unreadable(const std::string& path, const std::string& why) {
  return failed(fmt::format("\"{}\": {}", path, why));
}

HANDLE input_handle(std::intptr_t file) {
  return reinterpret_cast<HANDLE>(file);
}

constexpr unsigned most_names = 100;

// Temporary file in the same folder as the result; removed on failure.
class Draft {
 public:
  Draft(const std::wstring& path, Readers allowed) {
    const OwnerOnly mine;
    for (unsigned i = 0; i < most_names && !is_open(); ++i) {
      name_ = path + platform::to_wide(fmt::format(".{}-{}", GetCurrentProcessId(), i));
      file_ = platform::Handle(CreateFileW(name_.c_str(), GENERIC_WRITE | DELETE, 0,
                                           allowed == Readers::owner ? mine.attributes() : nullptr,
                                           CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
      if (!is_open() && GetLastError() != ERROR_FILE_EXISTS) return;
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
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

  bool become(const std::wstring& path, bool may_replace) {
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

Failure not_written(const FileToWrite& to, DWORD error) {
  if (error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS)
    return is_there_already(to, to.path);
  return failed_at(to.path, error_text(error));
}

// Returns whether it is no file on a disk, as NUL and a named pipe are not.
bool is_device(const std::wstring& path) {
  const platform::Handle file(CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                          nullptr, OPEN_EXISTING, 0, nullptr));
  return file && GetFileType(file.get()) != FILE_TYPE_DISK;
}

// Returns whether a folder, or its file system, lets no other file take the place of one.
bool keeps_file(DWORD error) {
  constexpr DWORD all[] = {ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED,
                           ERROR_UNABLE_TO_REMOVE_REPLACED, ERROR_UNABLE_TO_MOVE_REPLACEMENT};
  return std::find(std::begin(all), std::end(all), error) != std::end(all);
}

// Writes a file itself, and so all that is no file on a disk.
std::optional<Failure> write_in_place(const FileToWrite& to, std::string_view text) {
  OutputFile file(to.path);
  file.write(text);
  return file.is_good() ? std::nullopt : std::optional(failed_at(to.path, file.why()));
}

constexpr std::size_t most_written = 1 << 26;  // WriteFile counts in 32 bits

HANDLE handle_of(std::intptr_t file) {
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

bool is_there(const std::string& path) {
  return attributes_of(path) != INVALID_FILE_ATTRIBUTES;
}

bool is_folder(const std::string& path) {
  const auto found = attributes_of(path);
  return found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

std::optional<std::string> why_unreadable(const std::string& path) {
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
  const auto a = identity_of(path);
  const auto b = identity_of(other);
  if (a && b)
    return a->dwVolumeSerialNumber == b->dwVolumeSerialNumber &&
           a->nFileIndexHigh == b->nFileIndexHigh && a->nFileIndexLow == b->nFileIndexLow;
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
  if (!file) return unreadable(path, last_error_text());
  LARGE_INTEGER size{};
  // Reject pipes and devices (CON, NUL), which are not FILE_TYPE_DISK.
  if (GetFileType(file.get()) != FILE_TYPE_DISK || GetFileSizeEx(file.get(), &size) == 0)
    return unreadable(path, "is no regular file");
  return InputFile(path, reinterpret_cast<std::intptr_t>(file.release()),
                   static_cast<std::uint64_t>(size.QuadPart));
}

InputFile::~InputFile() {
  if (file_ != closed) CloseHandle(input_handle(file_));
}

Expected<std::string> InputFile::beginning(std::uint64_t most) const {
  std::string bytes(static_cast<std::size_t>(std::min(most, size_)), '\0');
  std::uint64_t done = 0;
  while (done < bytes.size()) {
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(done);
    at.OffsetHigh = static_cast<DWORD>(done >> 32);
    const auto wanted = static_cast<DWORD>(std::min(bytes.size() - done, most_read));
    DWORD got = 0;
    if (ReadFile(input_handle(file_), bytes.data() + done, wanted, &got, &at) == 0 &&
        GetLastError() != ERROR_HANDLE_EOF)
      return unreadable(path_, last_error_text());
    if (got == 0) return unreadable(path_, "became shorter while it was read");
    done += got;
  }
  return bytes;
}

std::optional<Failure> why_not_writable(const FileToWrite& to) {
  if (to.path == "-") return std::nullopt;
  const auto path = platform::to_wide(to.path);
  const DWORD found = GetFileAttributesW(path.c_str());
  const DWORD error = GetLastError();
  if (is_device(path)) return std::nullopt;
  if (found == INVALID_FILE_ATTRIBUTES)
    return error == ERROR_FILE_NOT_FOUND ? why_wrong_name(to, to.path)
                                         : std::optional(not_written(to, error));
  if ((found & FILE_ATTRIBUTE_DIRECTORY) != 0) return failed_at(to.path, "is a folder");
  if ((found & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return failed_at(to.path, "is a link");
  if (!to.may_replace(to.path)) return is_there_already(to, to.path);
  if ((found & FILE_ATTRIBUTE_READONLY) != 0 && !to.force)
    return not_written(to, ERROR_ACCESS_DENIED);
  return std::nullopt;
}

std::optional<Failure> write_file(const FileToWrite& to, std::string_view text, Readers allowed) {
  if (auto refused = why_not_writable(to)) return refused;
  if (to.path == "-") return write_to_stream(Stream::output, text);
  const auto path = platform::to_wide(to.path);
  if (is_device(path)) return write_in_place(to, text);
  DWORD error = 0;
  {
    Draft made(path, allowed);
    if (made.is_open() && made.write(text) && made.become(path, to.may_replace(to.path)))
      return std::nullopt;
    error = GetLastError();
  }
  if (to.may_replace(to.path) && keeps_file(error)) return write_in_place(to, text);
  return not_written(to, error);
}

// Opens without inheritance by the command.
OutputFile::OutputFile(const std::string& path)
    : file_(reinterpret_cast<std::intptr_t>(CreateFileW(
          platform::to_wide(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
          nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr))) {
  if (handle_of(file_) == INVALID_HANDLE_VALUE) why_ = last_error_text();
}

OutputFile::~OutputFile() {
  if (handle_of(file_) != INVALID_HANDLE_VALUE) CloseHandle(handle_of(file_));
}

void OutputFile::write(std::string_view text) {
  // Fails for what is no regular file, which has no length.
  if (is_good() && !is_begun_) SetEndOfFile(handle_of(file_));
  is_begun_ = true;
  const auto whole = text.size();
  while (is_good() && !text.empty()) {
    DWORD written = 0;
    const auto length = static_cast<DWORD>(std::min(text.size(), most_written));
    if (WriteFile(handle_of(file_), text.data(), length, &written, nullptr) == 0)
      why_ = last_error_text();
    text.remove_prefix(written);
  }
  if (is_good()) {
    length_ += whole;
    return;
  }
  LARGE_INTEGER end;
  end.QuadPart = static_cast<LONGLONG>(length_);
  if (SetFilePointerEx(handle_of(file_), end, nullptr, FILE_BEGIN) != 0)
    SetEndOfFile(handle_of(file_));
}

}  // namespace hmn::cli
