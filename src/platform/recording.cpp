// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

constexpr std::size_t most_bytes = 64U << 20;
constexpr std::size_t most_of_one = 1U << 20;
constexpr int ask_the_system = -1;

std::size_t copy(std::string_view from, std::span<char> to) noexcept {
  const std::size_t size = std::min(from.size(), to.size());
  std::memcpy(to.data(), from.data(), size);
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

Recording::Files::const_iterator Recording::first_from(std::string_view path) const noexcept {
  return std::lower_bound(
      files_.begin(), files_.end(), path,
      [](const std::unique_ptr<RecordedFile>& f, std::string_view p) { return f->path < p; });
}

const RecordedFile* Recording::find(std::string_view path) const noexcept {
  const auto at = first_from(path);
  return at != files_.end() && (*at)->path == path ? at->get() : nullptr;
}

RecordedFile& Recording::at(std::string_view path) {
  const auto place = first_from(path);
  if (place != files_.end() && (*place)->path == path) return **place;
  count(path.size() + sizeof(RecordedFile));
  return **files_.insert(place, std::make_unique<RecordedFile>(std::string(path)));
}

// Sorts mounts by length, the longest first.
void Recording::mount(std::string at, std::string real) {
  const auto place =
      std::ranges::find_if(mounts_, [&](const Mounted& m) { return m.at.size() <= at.size(); });
  mounts_.insert(place, {std::move(at), std::move(real)});
}

int Recording::answer(const char* path, Part p, const RecordedFile*& out,
                      RealPath& real) const noexcept {
  if (how_ == Use::keep) {
    real.set(path);
    return ask_the_system;
  }
  const std::string_view name(path);
  out = find(name);
  if (out != nullptr && out->errors[p] != RecordedFile::unasked) return out->errors[p];
  for (const Mounted& m : mounts_) {
    if (!is_below(name, m.at)) continue;
    return real.set(m.real, name.substr(m.at.size())) ? ask_the_system : ENAMETOOLONG;
  }
  return ENOENT;
}

void Recording::count(std::size_t bytes) noexcept {
  kept_bytes_ += bytes;
  if (kept_bytes_ > most_bytes) lost_ = ENOBUFS;
}

// Records an answer. A missing file is not recorded, and a file once found stays: a recording is a
// single snapshot.
template <class F>
void Recording::keep(const char* path, Part p, int error, F&& fill) noexcept {
  if (how_ != Use::keep || error == ENOENT || lost_ != 0) return;
  try {
    const std::lock_guard lock(mutex_);
    RecordedFile& f = at(path);
    if (error != 0 && f.has(p)) return;
    f.errors[p] = error;
    if (error == 0) fill(f);
  } catch (...) {
    lost_ = ENOMEM;
  }
}

void Recording::keep_text(const char* path, int error, std::string_view text,
                          bool is_cut) noexcept {
  keep(path, RecordedFile::contents, error, [&](RecordedFile& f) {
    if (is_cut && f.text.size() >= text.size()) return;
    count(text.size());
    f.is_cut = is_cut || text.size() > most_of_one;
    f.text.assign(text.substr(0, most_of_one));
  });
}

ErrnoOr<std::size_t> Recording::read_small(const char* path, std::span<char> buffer) noexcept {
  const RecordedFile* known = nullptr;
  RealPath real;
  const int error = answer(path, RecordedFile::contents, known, real);
  if (error == 0) return {copy(known->text, buffer), 0};
  if (error != ask_the_system) return {0, error};
  const auto got = real::read_small(real.c_str(), buffer);
  keep_text(path, got.error, {buffer.data(), got.value}, got.value == buffer.size());
  return got;
}

ErrnoOr<bool> Recording::read_whole(const char* path, std::string& out, std::size_t cap) {
  const RecordedFile* known = nullptr;
  RealPath real;
  out.clear();
  const int error = answer(path, RecordedFile::contents, known, real);
  if (error == 0) {
    out.assign(known->text, 0, cap);
    return {known->is_cut || known->text.size() > cap, 0};
  }
  if (error != ask_the_system) return {false, error};
  const auto got = real::read_whole(real.c_str(), out, cap);
  keep_text(path, got.error, out, got.value);
  return got;
}

ErrnoOr<std::size_t> Recording::read_link(const char* path, std::span<char> buffer) noexcept {
  const RecordedFile* known = nullptr;
  RealPath real;
  const int error = answer(path, RecordedFile::target, known, real);
  if (error == 0 && known->link.size() >= buffer.size()) return {0, ENAMETOOLONG};
  if (error == 0) return {copy(known->link, buffer), 0};
  if (error != ask_the_system) return {0, error};
  const auto got = real::read_link(real.c_str(), buffer);
  keep(path, RecordedFile::target, got.error,
       [&](RecordedFile& f) { f.link.assign(buffer.data(), got.value); });
  return got;
}

ErrnoOr<FileStatus> Recording::status_of(const char* path) noexcept {
  const RecordedFile* known = nullptr;
  RealPath real;
  const int error = answer(path, RecordedFile::status, known, real);
  if (error == 0) return {known->about, 0};
  if (error != ask_the_system) return {{}, error};
  const auto got = real::status_of(real.c_str());
  keep(path, RecordedFile::status, got.error, [&](RecordedFile& f) { f.about = got.value; });
  return got;
}

// Returns whether the path or anything below it is recorded, as for a folder.
bool Recording::exists(const char* path) noexcept {
  const RecordedFile* known = nullptr;
  RealPath real;
  const int error = answer(path, RecordedFile::presence, known, real);
  if (error == ask_the_system) {
    const bool is_there = real::exists(real.c_str());
    keep(path, RecordedFile::presence, is_there ? 0 : ENOENT, [](RecordedFile&) {});
    return is_there;
  }
  if (error != ENOENT) return error == 0;
  const auto at = first_from(path);
  return at != files_.end() && is_below((*at)->path, path);
}

bool Recording::is_executable_file(const char* path) noexcept {
  const RecordedFile* known = nullptr;
  RealPath real;
  const int error = answer(path, RecordedFile::presence, known, real);
  if (error == 0) return known->is_program;
  if (error != ask_the_system) return false;
  const bool is_one = real::is_executable_file(real.c_str());
  keep(path, RecordedFile::presence, is_one ? 0 : ENOENT,
       [](RecordedFile& f) { f.is_program = true; });
  return is_one;
}

int Recording::open_directory(const char* path) noexcept {
  if (how_ != Use::keep) return exists(path) ? 0 : ENOENT;
  const auto got = real::status_of(path);
  const int error = got.error != 0 || got.value.is_directory ? got.error : ENOTDIR;
  keep(path, RecordedFile::presence, error, [](RecordedFile&) {});
  return error;
}

int Recording::for_each_entry(const char* path, EntryVisitor visit) {
  const RecordedFile* known = nullptr;
  RealPath real;
  const int error = answer(path, RecordedFile::names, known, real);
  if (error > 0) return error;
  std::vector<std::string> listed;
  int failed = 0;
  if (error == ask_the_system) {
    failed = real::for_each_entry(real.c_str(), [&](std::string_view name) {
      listed.emplace_back(name);
      return true;
    });
    keep(path, RecordedFile::names, failed, [&](RecordedFile& f) {
      for (const std::string& name : listed) count(name.size() + sizeof name);
      f.entries = listed;
    });
  }
  for (const std::string& name : error == 0 ? known->entries : listed) {
    if (!visit(name)) break;
  }
  return failed;
}

ErrnoOr<std::size_t> Recording::ask_device(const char* node, DeviceQuestion what,
                                           std::span<std::byte> buffer, Asking really) noexcept {
  const auto is_it = [&](const RecordedAnswer& a) {
    return a.node == node && a.what.in == what.in && a.what.number == what.number;
  };
  if (how_ == Use::replay) {
    const auto known = std::ranges::find_if(answers_, is_it);
    if (known == answers_.end()) return {0, exists(node) ? EOPNOTSUPP : ENOENT};
    if (known->error != 0) return {0, known->error};
    if (known->bytes.size() > buffer.size()) return {0, ENOBUFS};
    std::memcpy(buffer.data(), known->bytes.data(), known->bytes.size());
    return {known->bytes.size(), 0};
  }
  const auto got = really(node, what, buffer);
  try {
    const std::lock_guard lock(mutex_);
    count(got.value);
    std::erase_if(answers_, is_it);
    answers_.push_back(
        {node, what, got.error, {reinterpret_cast<const char*>(buffer.data()), got.value}});
  } catch (...) {
    lost_ = ENOMEM;
  }
  return got;
}

Outcome Recording::run(const Command& what, Running really) {
  const auto is_it = [&](const RecordedRun& r) {
    return r.path == what.path && r.arguments == what.arguments;
  };
  if (how_ == Use::replay) {
    const auto known = std::ranges::find_if(runs_, is_it);
    if (known != runs_.end()) return known->reported;
    Outcome none;
    none.what = Outcome::Kind::not_found;
    none.error = ENOENT;
    return none;
  }
  Outcome reported = really(what);
  const std::lock_guard lock(mutex_);
  count(reported.output.size());
  const auto known = std::ranges::find_if(runs_, is_it);
  if (known != runs_.end()) {
    known->reported = reported;
  } else {
    runs_.push_back({what.path, what.arguments, reported});
  }
  return reported;
}

}  // namespace hmn::platform
