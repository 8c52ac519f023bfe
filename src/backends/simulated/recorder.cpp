// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "backends/simulated/fields.hpp"
#include "backends/simulated/recorded_machine.hpp"
#include "backends/simulated/recording_filter.hpp"
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

bool is_cgroup_path(std::string_view path) {
  return path.find("/cgroup") != std::string_view::npos;
}

const RecordedFile* find(Files files, std::string_view path) {
  const auto it = std::lower_bound(
      files.begin(), files.end(), path,
      [](const std::unique_ptr<RecordedFile>& f, std::string_view p) { return f->path < p; });
  return it != files.end() && (*it)->path == path ? it->get() : nullptr;
}

// Whether an open descriptor is of no interest: it is not of a device, and no source uses it.
bool is_idle_descriptor(const RecordedFile& file) {
  return file.path.find("/fd/") != std::string::npos && file.has(RecordedFile::status) &&
         !file.file_status.is_character_device;
}

class RecordingWriter {
 public:
  RecordingWriter(const Settings& settings, const DeviceRecording& device_recording)
      : settings_(settings), device_recording_(device_recording) {}

  std::string write(Files files, std::span<const RecordedRun> runs,
                    std::span<const RecordedAnswer> answers) {
    learn_names(files, runs);
    writer_.open('{');
    writer_.member("format", 1);
    device_recording_.write(writer_, anonymizer_);
    writer_.newline();
    writer_.key("recording");
    writer_.open('{');
    writer_.member("format", 1);
    writer_.member("page_size", platform::page_size());
    write_roots();
    write_list("files", files, [&](const auto& file) {
      if (!is_idle_descriptor(*file)) write(*file, files);
    });
    write_list("runs", runs, [&](const RecordedRun& run) { write(run); });
    write_list("answers", answers, [&](const RecordedAnswer& answer) { write(answer); });
    writer_.close('}');
    writer_.close('}');
    out_ += '\n';
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_default(const Root& root) const {
    const std::string& path = settings_.*root.setting;
    return path.empty() || path == root.default_path;
  }

  void write_roots() {
    std::uint32_t moved_mask = 0;
    for (const Root& root : roots) moved_mask |= is_default(root) ? 0U : 1U;
    if (moved_mask == 0) return;
    writer_.key("roots");
    writer_.open('[');
    for (const Root& root : roots) {
      if (!is_default(root)) writer_.text(root.name);
    }
    writer_.close(']');
  }

  // The path that a root other than the default has in a recording.
  [[nodiscard]] std::string moved_path(std::string_view path) const {
    const Root* best = nullptr;
    for (const Root& root : roots) {
      const bool is_match = !is_default(root) && is_below(path, settings_.*root.setting);
      if (is_match &&
          (best == nullptr || (settings_.*best->setting).size() < (settings_.*root.setting).size()))
        best = &root;
    }
    if (best == nullptr) return std::string(path);
    return compose({moved_root_prefix, best->name, path.substr((settings_.*best->setting).size())});
  }

  [[nodiscard]] bool is_sysfs_path(std::string_view path) const {
    return is_below(path, settings_.sys_root) && !is_cgroup_path(path);
  }
  // Whether the kernel has made up the names in the path.
  [[nodiscard]] bool has_kernel_names(std::string_view path) const {
    return is_below(path, settings_.proc_root) || is_sysfs_path(path);
  }

  std::string anonymize_path(std::string_view path) {
    std::string moved = moved_path(path);
    return has_kernel_names(path) ? moved : anonymizer_.anonymize_words(moved);
  }

  void learn_names(Files files, std::span<const RecordedRun> runs) {
    for (const char* const variable : {"USER", "LOGNAME", "SUDO_USER"}) {
      const char* const name = platform::environment(variable);
      if (name != nullptr) anonymizer_.add_name(name, Anonymizer::Kind::user);
    }
    const std::string host = platform::host_name();
    anonymizer_.add_name(host, Anonymizer::Kind::host);
    anonymizer_.add_name(host.substr(0, host.find('.')), Anonymizer::Kind::host);
    for (const auto& file : files) {
      if (is_sysfs_path(file->path)) continue;
      if (last_part(file->path) == "stat") anonymizer_.add_program(find_comm(file->text));
      if (last_part(file->path) != "mountinfo") anonymizer_.learn_names(file->text);
      anonymizer_.learn_names(file->link);
    }
    for (const RecordedRun& run : runs) anonymizer_.learn_names(run.outcome.output);
  }

  std::string filter_contents(const RecordedFile& file, Files files) {
    std::string_view stat;
    if (last_part(file.path) == "cmdline") {
      const std::string_view folder = std::string_view(file.path).substr(0, file.path.rfind('/'));
      const RecordedFile* const stat_file = find(files, compose({folder, "/stat"}));
      if (stat_file != nullptr) stat = stat_file->text;
    }
    return filter_text(anonymizer_, file.path, file.text, stat);
  }

  void write(const RecordedFile& file, Files files) {
    const auto has_part = [&](RecordedFile::Part p) { return file.has(p); };
    writer_.newline();
    writer_.open('{');
    writer_.member("path", anonymize_path(file.path));
    if (has_part(RecordedFile::contents)) write_bytes(filter_contents(file, files));
    if (file.is_cut) writer_.member("cut", true);
    if (has_part(RecordedFile::target)) write_link(file);
    if (has_part(RecordedFile::names)) write_names(file, files);
    if (has_part(RecordedFile::status)) write_status(file);
    if (file.is_program) writer_.member("program", true);
    write_errors(file);
    writer_.close('}');
  }

  // Writes "text", or "hex" if it is not UTF-8.
  void write_bytes(std::string_view bytes) {
    if (is_text(bytes)) return writer_.member("text", bytes);
    std::string digits;
    for (const char c : bytes) digits += PieceText(hex(static_cast<unsigned char>(c), 2)).view();
    writer_.member("hex", digits);
  }

  void write_link(const RecordedFile& file) {
    const bool is_private =
        file.path.find("/fd/") != std::string::npos && !file.link.starts_with("/dev/");
    if (is_private) return;
    writer_.member("link",
                   is_sysfs_path(file.path) ? file.link : anonymizer_.anonymize_words(file.link));
  }

  void write_names(const RecordedFile& file, Files files) {
    writer_.key("list");
    writer_.open('[');
    for (const std::string& name : file.entries) {
      const RecordedFile* const entry = find(files, compose({file.path, "/", name}));
      if (entry != nullptr && is_idle_descriptor(*entry)) continue;
      writer_.text(has_kernel_names(file.path) ? name : anonymizer_.anonymize_words(name));
    }
    writer_.close(']');
  }

  void write_status(const RecordedFile& file) {
    const auto write_number = [&](std::string_view name, std::uint64_t n) {
      if (n != 0) writer_.member(name, n);
    };
    writer_.key("status");
    writer_.open('{');
    const std::uint32_t type = file.file_status.is_directory          ? is_directory
                               : file.file_status.is_character_device ? is_character_device
                                                                      : 0;
    write_word(writer_, "type", type_words, type);
    write_number("device", file.file_status.device);
    write_number("inode", file.file_status.inode);
    write_number("size", file.file_status.size);
    write_number("owner", file.file_status.owner);
    write_number("major", file.file_status.special_device_major);
    write_number("minor", file.file_status.special_device_minor);
    writer_.close('}');
  }

  void write_errors(const RecordedFile& file) {
    const auto is_error = [](int e) { return e > 0; };
    if (std::ranges::none_of(file.errors, is_error)) return;
    writer_.key("errors");
    writer_.open('{');
    for (unsigned p = 0; p < RecordedFile::parts; ++p) {
      if (is_error(file.errors[p]))
        writer_.member(part_names[p], static_cast<std::uint64_t>(file.errors[p]));
    }
    writer_.close('}');
  }

  void write(const RecordedRun& run) {
    writer_.newline();
    writer_.open('{');
    writer_.member("path", anonymize_path(run.path));
    writer_.key("arguments");
    writer_.open('[');
    for (const std::string& argument : run.arguments) writer_.text(argument);
    writer_.close(']');
    write_word(writer_, "outcome", outcome_words, static_cast<std::uint32_t>(run.outcome.kind));
    if (run.outcome.error > 0)
      writer_.member("errno", static_cast<std::uint64_t>(run.outcome.error));
    if (run.outcome.signal > 0)
      writer_.member("signal", static_cast<std::uint64_t>(run.outcome.signal));
    if (run.outcome.has_exit_status && run.outcome.signal == 0) {
      writer_.member("exit", static_cast<std::uint64_t>(run.outcome.exit_code));
    }
    write_bytes(filter_output(anonymizer_, run));
    writer_.close('}');
  }

  void write(const RecordedAnswer& answer) {
    writer_.newline();
    writer_.open('{');
    writer_.member("node", anonymize_path(answer.node));
    write_word(writer_, "language", language_words,
               static_cast<std::uint32_t>(answer.query.driver));
    writer_.member("number", answer.query.number);
    if (answer.error > 0) writer_.member("errno", static_cast<std::uint64_t>(answer.error));
    write_bytes(answer.bytes);
    writer_.close('}');
  }

  template <class T, class F>
  void write_list(std::string_view name, const T& items, F write_item) {
    if (items.empty()) return;
    writer_.newline();
    writer_.key(name);
    writer_.open('[');
    for (const auto& item : items) write_item(item);
    writer_.close(']');
  }

  const Settings& settings_;
  const DeviceRecording& device_recording_;
  Anonymizer anonymizer_;
  std::string out_;
  json::Writer writer_{out_};
};

Failure make_limit_failure(const char* message) {
  return {Status::limit, Source::simulated, {}, message};
}

}  // namespace

Result<void> Recorder::write_machine_file(std::string& out) const {
  const int error = recording_->error();
  if (error == ENOMEM) return Failure{Status::no_memory, Source::simulated, {}, "no memory left"};
  if (error != 0) {
    return make_limit_failure("the sources read more than the 64 MiB that a recording keeps");
  }
  recording_->visit([&](const auto& files, const auto& runs, const auto& answers) {
    out = RecordingWriter(settings_, *device_recording_).write(files, runs, answers);
  });
  if (out.size() > max_file_bytes) {
    return make_limit_failure(
        "the recording is larger than the 16 MiB that a machine file may have");
  }
  return {};
}

}  // namespace hmn::simulated
