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
class recording::real_path {
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

recording::files::const_iterator recording::first_from(std::string_view path) const noexcept {
  return std::lower_bound(
      files_.begin(), files_.end(), path,
      [](const std::unique_ptr<recorded_file>& f, std::string_view p) { return f->path < p; });
}

const recorded_file* recording::find(std::string_view path) const noexcept {
  const auto at = first_from(path);
  return at != files_.end() && (*at)->path == path ? at->get() : nullptr;
}

recorded_file& recording::at(std::string_view path) {
  const auto place = first_from(path);
  if (place != files_.end() && (*place)->path == path) return **place;
  count(path.size() + sizeof(recorded_file));
  return **files_.insert(place, std::make_unique<recorded_file>(std::string(path)));
}

// Sorts mounts by length, the longest first.
void recording::mount(std::string at, std::string real) {
  const auto place =
      std::ranges::find_if(mounts_, [&](const mounted& m) { return m.at.size() <= at.size(); });
  mounts_.insert(place, {std::move(at), std::move(real)});
}

int recording::answer(const char* path, part p, const recorded_file*& out,
                      real_path& real) const noexcept {
  if (how_ == use::keep) {
    real.set(path);
    return ask_the_system;
  }
  const std::string_view name(path);
  out = find(name);
  if (out != nullptr && out->errors[p] != recorded_file::unasked) return out->errors[p];
  for (const mounted& m : mounts_) {
    if (!is_below(name, m.at)) continue;
    return real.set(m.real, name.substr(m.at.size())) ? ask_the_system : ENAMETOOLONG;
  }
  return ENOENT;
}

void recording::count(std::size_t bytes) noexcept {
  kept_bytes_ += bytes;
  if (kept_bytes_ > most_bytes) lost_ = ENOBUFS;
}

// Records an answer. A missing file is not recorded, and a file once found stays: a recording is a
// single snapshot.
template <class F>
void recording::keep(const char* path, part p, int error, F&& fill) noexcept {
  if (how_ != use::keep || error == ENOENT || lost_ != 0) return;
  try {
    const std::lock_guard lock(mutex_);
    recorded_file& f = at(path);
    if (error != 0 && f.has(p)) return;
    f.errors[p] = error;
    if (error == 0) fill(f);
  } catch (...) {
    lost_ = ENOMEM;
  }
}

void recording::keep_text(const char* path, int error, std::string_view text,
                          bool is_cut) noexcept {
  keep(path, recorded_file::contents, error, [&](recorded_file& f) {
    if (is_cut && f.text.size() >= text.size()) return;
    count(text.size());
    f.is_cut = is_cut || text.size() > most_of_one;
    f.text.assign(text.substr(0, most_of_one));
  });
}

errno_or<std::size_t> recording::read_small(const char* path, std::span<char> buffer) noexcept {
  const recorded_file* known = nullptr;
  real_path real;
  const int error = answer(path, recorded_file::contents, known, real);
  if (error == 0) return {copy(known->text, buffer), 0};
  if (error != ask_the_system) return {0, error};
  const auto got = real::read_small(real.c_str(), buffer);
  keep_text(path, got.error, {buffer.data(), got.value}, got.value == buffer.size());
  return got;
}

errno_or<bool> recording::read_whole(const char* path, std::string& out, std::size_t cap) {
  const recorded_file* known = nullptr;
  real_path real;
  out.clear();
  const int error = answer(path, recorded_file::contents, known, real);
  if (error == 0) {
    out.assign(known->text, 0, cap);
    return {known->is_cut || known->text.size() > cap, 0};
  }
  if (error != ask_the_system) return {false, error};
  const auto got = real::read_whole(real.c_str(), out, cap);
  keep_text(path, got.error, out, got.value);
  return got;
}

errno_or<std::size_t> recording::read_link(const char* path, std::span<char> buffer) noexcept {
  const recorded_file* known = nullptr;
  real_path real;
  const int error = answer(path, recorded_file::target, known, real);
  if (error == 0 && known->link.size() >= buffer.size()) return {0, ENAMETOOLONG};
  if (error == 0) return {copy(known->link, buffer), 0};
  if (error != ask_the_system) return {0, error};
  const auto got = real::read_link(real.c_str(), buffer);
  keep(path, recorded_file::target, got.error,
       [&](recorded_file& f) { f.link.assign(buffer.data(), got.value); });
  return got;
}

errno_or<file_status> recording::status_of(const char* path) noexcept {
  const recorded_file* known = nullptr;
  real_path real;
  const int error = answer(path, recorded_file::status, known, real);
  if (error == 0) return {known->about, 0};
  if (error != ask_the_system) return {{}, error};
  const auto got = real::status_of(real.c_str());
  keep(path, recorded_file::status, got.error, [&](recorded_file& f) { f.about = got.value; });
  return got;
}

// Returns whether the path or anything below it is recorded, as for a folder.
bool recording::exists(const char* path) noexcept {
  const recorded_file* known = nullptr;
  real_path real;
  const int error = answer(path, recorded_file::presence, known, real);
  if (error == ask_the_system) {
    const bool is_there = real::exists(real.c_str());
    keep(path, recorded_file::presence, is_there ? 0 : ENOENT, [](recorded_file&) {});
    return is_there;
  }
  if (error != ENOENT) return error == 0;
  const auto at = first_from(path);
  return at != files_.end() && is_below((*at)->path, path);
}

bool recording::is_executable_file(const char* path) noexcept {
  const recorded_file* known = nullptr;
  real_path real;
  const int error = answer(path, recorded_file::presence, known, real);
  if (error == 0) return known->is_program;
  if (error != ask_the_system) return false;
  const bool is_one = real::is_executable_file(real.c_str());
  keep(path, recorded_file::presence, is_one ? 0 : ENOENT,
       [](recorded_file& f) { f.is_program = true; });
  return is_one;
}

int recording::open_directory(const char* path) noexcept {
  if (how_ != use::keep) return exists(path) ? 0 : ENOENT;
  const auto got = real::status_of(path);
  const int error = got.error != 0 || got.value.is_directory ? got.error : ENOTDIR;
  keep(path, recorded_file::presence, error, [](recorded_file&) {});
  return error;
}

int recording::for_each_entry(const char* path, entry_visitor visit) {
  const recorded_file* known = nullptr;
  real_path real;
  const int error = answer(path, recorded_file::names, known, real);
  if (error > 0) return error;
  std::vector<std::string> listed;
  int failed = 0;
  if (error == ask_the_system) {
    failed = real::for_each_entry(real.c_str(), [&](std::string_view name) {
      listed.emplace_back(name);
      return true;
    });
    keep(path, recorded_file::names, failed, [&](recorded_file& f) {
      for (const std::string& name : listed) count(name.size() + sizeof name);
      f.entries = listed;
    });
  }
  for (const std::string& name : error == 0 ? known->entries : listed) {
    if (!visit(name)) break;
  }
  return failed;
}

errno_or<std::size_t> recording::ask_device(const char* node, device_question what,
                                            std::span<std::byte> buffer, asking really) noexcept {
  const auto is_it = [&](const recorded_answer& a) {
    return a.node == node && a.what.in == what.in && a.what.number == what.number;
  };
  if (how_ == use::replay) {
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

outcome recording::run(const command& what, running really) {
  const auto is_it = [&](const recorded_run& r) {
    return r.path == what.path && r.arguments == what.arguments;
  };
  if (how_ == use::replay) {
    const auto known = std::ranges::find_if(runs_, is_it);
    if (known != runs_.end()) return known->reported;
    outcome none;
    none.what = outcome::kind::not_found;
    none.error = ENOENT;
    return none;
  }
  outcome reported = really(what);
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
