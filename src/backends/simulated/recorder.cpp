// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "backends/simulated/fields.hpp"
#include "backends/simulated/kept.hpp"
#include "backends/simulated/recorded_machine.hpp"
#include "backends/simulated/script.hpp"
#include "model/json_writer.hpp"
#include "model/message_text.hpp"
#include "model/text.hpp"
#include "platform/process.hpp"

namespace hmn::simulated {
namespace {

using platform::RecordedAnswer;
using platform::RecordedFile;
using platform::RecordedRun;
using Files = std::span<const std::unique_ptr<RecordedFile>>;

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_below(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

// Command lines contain NULs.
bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    bytes.remove_prefix(utf8_length(bytes));
    if (!bytes.empty() && bytes.front() != '\0') return false;
    if (!bytes.empty()) bytes.remove_prefix(1);
  }
  return true;
}

bool is_of_groups(std::string_view path) {
  return path.find("/cgroup") != std::string_view::npos;
}

const RecordedFile* find(Files all, std::string_view path) {
  const auto at = std::lower_bound(
      all.begin(), all.end(), path,
      [](const std::unique_ptr<RecordedFile>& f, std::string_view p) { return f->path < p; });
  return at != all.end() && (*at)->path == path ? at->get() : nullptr;
}

// Whether an open descriptor is of no interest: it is not of a device, and no source uses it.
bool is_idle_descriptor(const RecordedFile& f) {
  return f.path.find("/fd/") != std::string::npos && f.has(RecordedFile::status) &&
         !f.about.is_character_device;
}

class Writer {
 public:
  Writer(const Settings& s, const Scenario& reported) : s_(s), reported_(reported) {}

  std::string write(Files all, std::span<const RecordedRun> runs,
                    std::span<const RecordedAnswer> answers) {
    learn(all, runs);
    to_.open('{');
    to_.member("format", 1);
    reported_.write(to_, by_);
    to_.line();
    to_.key("recording");
    to_.open('{');
    to_.member("format", 1);
    to_.member("page_size", platform::page_size());
    write_roots();
    list("files", all, [&](const auto& f) {
      if (!is_idle_descriptor(*f)) write(*f, all);
    });
    list("runs", runs, [&](const RecordedRun& r) { write(r); });
    list("answers", answers, [&](const RecordedAnswer& a) { write(a); });
    to_.close('}');
    to_.close('}');
    out_ += '\n';
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_usual(const Root& r) const {
    const std::string& place = s_.*r.place;
    return place.empty() || place == r.usual;
  }

  void write_roots() {
    std::uint32_t moved = 0;
    for (const Root& r : roots) moved |= is_usual(r) ? 0U : 1U;
    if (moved == 0) return;
    to_.key("roots");
    to_.open('[');
    for (const Root& r : roots) {
      if (!is_usual(r)) to_.text(r.name);
    }
    to_.close(']');
  }

  // The path that a root other than the default has in a recording.
  [[nodiscard]] std::string moved(std::string_view path) const {
    const Root* best = nullptr;
    for (const Root& r : roots) {
      const bool is_it = !is_usual(r) && is_below(path, s_.*r.place);
      if (is_it && (best == nullptr || (s_.*best->place).size() < (s_.*r.place).size())) best = &r;
    }
    if (best == nullptr) return std::string(path);
    return compose({moved_roots, best->name, path.substr((s_.*best->place).size())});
  }

  [[nodiscard]] bool is_of_sysfs(std::string_view path) const {
    return is_below(path, s_.sys_root) && !is_of_groups(path);
  }
  // Whether the kernel has made up the names in the path.
  [[nodiscard]] bool is_of_kernel(std::string_view path) const {
    return is_below(path, s_.proc_root) || is_of_sysfs(path);
  }

  std::string neutral_path(std::string_view path) {
    std::string there = moved(path);
    return is_of_kernel(path) ? there : by_.known(there);
  }

  void learn(Files all, std::span<const RecordedRun> runs) {
    for (const char* const variable : {"USER", "LOGNAME", "SUDO_USER"}) {
      const char* const name = platform::environment(variable);
      if (name != nullptr) by_.know(name, Neutral::Kind::user);
    }
    const std::string host = platform::host_name();
    by_.know(host, Neutral::Kind::host);
    by_.know(host.substr(0, host.find('.')), Neutral::Kind::host);
    for (const auto& f : all) {
      if (is_of_sysfs(f->path)) continue;
      if (last_part(f->path) == "stat") by_.know_program(comm_of(f->text));
      if (last_part(f->path) != "mountinfo") by_.learn(f->text);
      by_.learn(f->link);
    }
    for (const RecordedRun& r : runs) by_.learn(r.reported.output);
  }

  std::string neutral_text(const RecordedFile& f, Files all) {
    std::string_view stat;
    if (last_part(f.path) == "cmdline") {
      const std::string_view folder = std::string_view(f.path).substr(0, f.path.rfind('/'));
      const RecordedFile* const of = find(all, compose({folder, "/stat"}));
      if (of != nullptr) stat = of->text;
    }
    return kept_text(by_, f.path, f.text, stat);
  }

  void write(const RecordedFile& f, Files all) {
    const auto holds = [&](RecordedFile::Part p) { return f.has(p); };
    to_.line();
    to_.open('{');
    to_.member("path", neutral_path(f.path));
    if (holds(RecordedFile::contents)) write_bytes(neutral_text(f, all));
    if (f.is_cut) to_.member("cut", true);
    if (holds(RecordedFile::target)) write_link(f);
    if (holds(RecordedFile::names)) write_names(f, all);
    if (holds(RecordedFile::status)) write_status(f);
    if (f.is_program) to_.member("program", true);
    write_errors(f);
    to_.close('}');
  }

  // Writes "text", or "hex" if it is not UTF-8.
  void write_bytes(std::string_view bytes) {
    if (is_text(bytes)) return to_.member("text", bytes);
    std::string digits;
    for (const char c : bytes) digits += PieceText(hex(static_cast<unsigned char>(c), 2)).view();
    to_.member("hex", digits);
  }

  void write_link(const RecordedFile& f) {
    const bool is_private =
        f.path.find("/fd/") != std::string::npos && !f.link.starts_with("/dev/");
    if (is_private) return;
    to_.member("link", is_of_sysfs(f.path) ? f.link : by_.known(f.link));
  }

  void write_names(const RecordedFile& f, Files all) {
    to_.key("list");
    to_.open('[');
    for (const std::string& name : f.entries) {
      const RecordedFile* const entry = find(all, compose({f.path, "/", name}));
      if (entry != nullptr && is_idle_descriptor(*entry)) continue;
      to_.text(is_of_kernel(f.path) ? name : by_.known(name));
    }
    to_.close(']');
  }

  void write_status(const RecordedFile& f) {
    const auto number = [&](std::string_view name, std::uint64_t n) {
      if (n != 0) to_.member(name, n);
    };
    to_.key("status");
    to_.open('{');
    const std::uint32_t type = f.about.is_directory          ? is_directory
                               : f.about.is_character_device ? is_character_device
                                                             : 0;
    write_word(to_, "type", type_words, type);
    number("device", f.about.device);
    number("inode", f.about.inode);
    number("size", f.about.size);
    number("owner", f.about.owner);
    number("major", f.about.special_device_major);
    number("minor", f.about.special_device_minor);
    to_.close('}');
  }

  void write_errors(const RecordedFile& f) {
    const auto is_error = [](int e) { return e > 0; };
    if (std::ranges::none_of(f.errors, is_error)) return;
    to_.key("errors");
    to_.open('{');
    for (unsigned p = 0; p < RecordedFile::parts; ++p) {
      if (is_error(f.errors[p])) to_.member(part_names[p], static_cast<std::uint64_t>(f.errors[p]));
    }
    to_.close('}');
  }

  void write(const RecordedRun& r) {
    to_.line();
    to_.open('{');
    to_.member("path", neutral_path(r.path));
    to_.key("arguments");
    to_.open('[');
    for (const std::string& a : r.arguments) to_.text(a);
    to_.close(']');
    write_word(to_, "outcome", outcome_words, static_cast<std::uint32_t>(r.reported.what));
    if (r.reported.error > 0) to_.member("errno", static_cast<std::uint64_t>(r.reported.error));
    if (r.reported.signal > 0) to_.member("signal", static_cast<std::uint64_t>(r.reported.signal));
    if (r.reported.exit_known && r.reported.signal == 0) {
      to_.member("exit", static_cast<std::uint64_t>(r.reported.exit_code));
    }
    write_bytes(kept_output(by_, r));
    to_.close('}');
  }

  void write(const RecordedAnswer& a) {
    to_.line();
    to_.open('{');
    to_.member("node", neutral_path(a.node));
    write_word(to_, "language", language_words, static_cast<std::uint32_t>(a.what.in));
    to_.member("number", a.what.number);
    if (a.error > 0) to_.member("errno", static_cast<std::uint64_t>(a.error));
    write_bytes(a.bytes);
    to_.close('}');
  }

  template <class T, class F>
  void list(std::string_view name, const T& all, F each) {
    if (all.empty()) return;
    to_.line();
    to_.key(name);
    to_.open('[');
    for (const auto& one : all) each(one);
    to_.close(']');
  }

  const Settings& s_;
  const Scenario& reported_;
  Neutral by_;
  std::string out_;
  json::Writer to_{out_};
};

Failure too_much(const char* what) {
  return {Status::limit, Source::simulated, {}, what};
}

}  // namespace

Result<void> Recorder::text(std::string& out) const {
  const int lost = answers_->lost();
  if (lost == ENOMEM) return Failure{Status::no_memory, Source::simulated, {}, "no memory left"};
  if (lost != 0) {
    return too_much("the sources read more than the 64 MiB that a recording keeps");
  }
  answers_->look([&](const auto& all, const auto& runs, const auto& answers) {
    out = Writer(settings_, *reported_).write(all, runs, answers);
  });
  if (out.size() > most_file_bytes) {
    return too_much("the recording is larger than the 16 MiB that a machine file may have");
  }
  return {};
}

}  // namespace hmn::simulated
