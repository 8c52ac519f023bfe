// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

constexpr std::size_t max_bytes = 64U << 20;
constexpr std::size_t max_file_bytes = 1U << 20;
constexpr int use_system = -1;

std::size_t copy(std::string_view source, std::span<char> target) noexcept {
  const std::size_t size = std::min(source.size(), target.size());
  std::memcpy(target.data(), source.data(), size);
  return size;
}

bool is_below(std::string_view path, std::string_view folder) noexcept {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

// Path on the real system, made without an allocation.
class Recording::RealPath {
 public:
  bool set(std::string_view folder, std::string_view rest) noexcept {
    if (folder.size() + rest.size() >= bytes_.size()) return false;
    bytes_[copy(folder, bytes_) + copy(rest, std::span(bytes_).subspan(folder.size()))] = '\0';
    path_ = bytes_.data();
    return true;
  }
  void set(const char* path) noexcept { path_ = path; }
  [[nodiscard]] const char* c_str() const noexcept { return path_; }

 private:
  const char* path_ = "";
  std::array<char, 4352> bytes_;
};

Recording::Files::const_iterator Recording::find_position(std::string_view path) const noexcept {
  return std::lower_bound(
      files_.begin(), files_.end(), path,
      [](const std::unique_ptr<RecordedFile>& f, std::string_view p) { return f->path < p; });
}

const RecordedFile* Recording::find(std::string_view path) const noexcept {
  const auto position = find_position(path);
  return position != files_.end() && (*position)->path == path ? position->get() : nullptr;
}

RecordedFile& Recording::at(std::string_view path) {
  const auto position = find_position(path);
  if (position != files_.end() && (*position)->path == path) return **position;
  count_bytes(path.size() + sizeof(RecordedFile));
  return **files_.insert(position, std::make_unique<RecordedFile>(std::string(path)));
}

// Sorts mounts by length, the longest first.
void Recording::mount(std::string path, std::string real_path) {
  const auto position =
      std::ranges::find_if(mounts_, [&](const Mount& m) { return m.path.size() <= path.size(); });
  mounts_.insert(position, {std::move(path), std::move(real_path)});
}

int Recording::find_answer(const char* path, Part part, const RecordedFile*& file,
                           RealPath& real_path) const noexcept {
  if (mode_ == Mode::record) {
    real_path.set(path);
    return use_system;
  }
  const std::string_view name(path);
  file = find(name);
  if (file != nullptr && file->errors[part] != RecordedFile::not_recorded)
    return file->errors[part];
  for (const Mount& mount : mounts_) {
    if (!is_below(name, mount.path)) continue;
    return real_path.set(mount.real_path, name.substr(mount.path.size())) ? use_system
                                                                          : ENAMETOOLONG;
  }
  return ENOENT;
}

void Recording::count_bytes(std::size_t bytes) noexcept {
  recorded_bytes_ += bytes;
  if (recorded_bytes_ > max_bytes) error_ = ENOBUFS;
}

// Records an answer. A missing file is not recorded, and a file once found stays: a recording is a
// single snapshot.
template <class F>
void Recording::record(const char* path, Part p, int error, F&& fill) noexcept {
  if (mode_ != Mode::record || error == ENOENT || error_ != 0) return;
  try {
    const std::lock_guard lock(mutex_);
    RecordedFile& file = at(path);
    if (error != 0 && file.has(p)) return;
    file.errors[p] = error;
    if (error == 0) fill(file);
  } catch (...) {
    error_ = ENOMEM;
  }
}

void Recording::record_text(const char* path, int error, std::string_view text,
                            bool is_cut) noexcept {
  record(path, RecordedFile::contents, error, [&](RecordedFile& file) {
    if (is_cut && file.text.size() >= text.size()) return;
    count_bytes(text.size());
    file.is_cut = is_cut || text.size() > max_file_bytes;
    file.text.assign(text.substr(0, max_file_bytes));
  });
}

ErrnoOr<std::size_t> Recording::read_small(const char* path, std::span<char> buffer) noexcept {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  const int error = find_answer(path, RecordedFile::contents, file, real_path);
  if (error == 0) return {copy(file->text, buffer), 0};
  if (error != use_system) return {0, error};
  const auto result = real::read_small(real_path.c_str(), buffer);
  record_text(path, result.error, {buffer.data(), result.value}, result.value == buffer.size());
  return result;
}

ErrnoOr<bool> Recording::read_whole(const char* path, std::string& out, std::size_t cap) {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  out.clear();
  const int error = find_answer(path, RecordedFile::contents, file, real_path);
  if (error == 0) {
    out.assign(file->text, 0, cap);
    return {file->is_cut || file->text.size() > cap, 0};
  }
  if (error != use_system) return {false, error};
  const auto result = real::read_whole(real_path.c_str(), out, cap);
  record_text(path, result.error, out, result.value);
  return result;
}

ErrnoOr<std::size_t> Recording::read_link(const char* path, std::span<char> buffer) noexcept {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  const int error = find_answer(path, RecordedFile::target, file, real_path);
  if (error == 0 && file->link.size() >= buffer.size()) return {0, ENAMETOOLONG};
  if (error == 0) return {copy(file->link, buffer), 0};
  if (error != use_system) return {0, error};
  const auto result = real::read_link(real_path.c_str(), buffer);
  record(path, RecordedFile::target, result.error,
         [&](RecordedFile& f) { f.link.assign(buffer.data(), result.value); });
  return result;
}

ErrnoOr<FileStatus> Recording::read_status(const char* path) noexcept {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  const int error = find_answer(path, RecordedFile::status, file, real_path);
  if (error == 0) return {file->file_status, 0};
  if (error != use_system) return {{}, error};
  const auto result = real::read_status(real_path.c_str());
  record(path, RecordedFile::status, result.error,
         [&](RecordedFile& f) { f.file_status = result.value; });
  return result;
}

// Returns whether the path or anything below it is recorded, as for a folder.
bool Recording::exists(const char* path) noexcept {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  const int error = find_answer(path, RecordedFile::presence, file, real_path);
  if (error == use_system) {
    const bool is_present = real::exists(real_path.c_str());
    record(path, RecordedFile::presence, is_present ? 0 : ENOENT, [](RecordedFile&) {});
    return is_present;
  }
  if (error != ENOENT) return error == 0;
  const auto position = find_position(path);
  return position != files_.end() && is_below((*position)->path, path);
}

bool Recording::is_executable_file(const char* path) noexcept {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  const int error = find_answer(path, RecordedFile::presence, file, real_path);
  if (error == 0) return file->is_program;
  if (error != use_system) return false;
  const bool is_executable = real::is_executable_file(real_path.c_str());
  record(path, RecordedFile::presence, is_executable ? 0 : ENOENT,
         [](RecordedFile& f) { f.is_program = true; });
  return is_executable;
}

int Recording::open_directory(const char* path) noexcept {
  if (mode_ != Mode::record) return exists(path) ? 0 : ENOENT;
  const auto result = real::read_status(path);
  const int error = result.error != 0 || result.value.is_directory ? result.error : ENOTDIR;
  record(path, RecordedFile::presence, error, [](RecordedFile&) {});
  return error;
}

int Recording::for_each_entry(const char* path, EntryVisitor visit) {
  const RecordedFile* file = nullptr;
  RealPath real_path;
  const int error = find_answer(path, RecordedFile::names, file, real_path);
  if (error > 0) return error;
  std::vector<std::string> names;
  int list_error = 0;
  if (error == use_system) {
    list_error = real::for_each_entry(real_path.c_str(), [&](std::string_view name) {
      names.emplace_back(name);
      return true;
    });
    record(path, RecordedFile::names, list_error, [&](RecordedFile& target) {
      for (const std::string& name : names) count_bytes(name.size() + sizeof name);
      target.entries = names;
    });
  }
  for (const std::string& name : error == 0 ? file->entries : names) {
    if (!visit(name)) break;
  }
  return list_error;
}

ErrnoOr<std::size_t> Recording::query_device(const char* node, DeviceQuery query,
                                             std::span<std::byte> buffer,
                                             QueryFunction query_real) noexcept {
  const auto is_match = [&](const RecordedAnswer& a) {
    return a.node == node && a.query.driver == query.driver && a.query.number == query.number;
  };
  if (mode_ == Mode::replay) {
    const auto match = std::ranges::find_if(answers_, is_match);
    if (match == answers_.end()) return {0, exists(node) ? EOPNOTSUPP : ENOENT};
    if (match->error != 0) return {0, match->error};
    if (match->bytes.size() > buffer.size()) return {0, ENOBUFS};
    std::memcpy(buffer.data(), match->bytes.data(), match->bytes.size());
    return {match->bytes.size(), 0};
  }
  const auto result = query_real(node, query, buffer);
  try {
    const std::lock_guard lock(mutex_);
    count_bytes(result.value);
    std::erase_if(answers_, is_match);
    answers_.push_back(
        {node, query, result.error, {reinterpret_cast<const char*>(buffer.data()), result.value}});
  } catch (...) {
    error_ = ENOMEM;
  }
  return result;
}

Outcome Recording::run(const Command& command, RunFunction run_real) {
  const auto is_match = [&](const RecordedRun& r) {
    return r.path == command.path && r.arguments == command.arguments;
  };
  if (mode_ == Mode::replay) {
    const auto match = std::ranges::find_if(runs_, is_match);
    if (match != runs_.end()) return match->outcome;
    Outcome none;
    none.kind = Outcome::Kind::not_found;
    none.error = ENOENT;
    return none;
  }
  Outcome outcome = run_real(command);
  const std::lock_guard lock(mutex_);
  count_bytes(outcome.output.size());
  const auto match = std::ranges::find_if(runs_, is_match);
  if (match != runs_.end()) {
    match->outcome = outcome;
  } else {
    runs_.push_back({command.path, command.arguments, outcome});
  }
  return outcome;
}

}  // namespace hmn::platform
