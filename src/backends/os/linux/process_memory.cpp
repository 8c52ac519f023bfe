// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/process_memory.hpp"

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>

#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "platform/file.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::os {
namespace {

using procfs::Amount;
using procfs::parse_smaps_rollup;
using procfs::parse_stat;
using procfs::parse_statm;
using procfs::parse_status;
using procfs::ProcPath;
using procfs::SmapsRollup;
using procfs::Stat;
using procfs::Statm;
using procfs::StatusMemory;

std::string_view describe_error(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the system refuses to let this user read it";
    case ENOMEM:
      return "the kernel is out of memory";
    case EMFILE:
      return "this process has no file descriptor left";
    case ENFILE:
      return "the system has no file descriptor left";
    case ENOENT:
      return "it does not exist";
    case ESRCH:
      return "the process has ended";
    default:
      return "reading it failed";
  }
}

ProcessState classify_state(const Stat& stat) {
  if (stat.is_kernel_thread()) return ProcessState::kernel_thread;
  if (stat.is_headless()) return ProcessState::headless;
  return stat.has_exited() ? ProcessState::exited : ProcessState::running;
}

constexpr FailureFactory fail{Source::os};

Failure make_no_process_failure(std::string_view process, std::string_view detail) {
  return fail(Status::no_process, {"process ", process, detail});
}

Failure make_no_tree_failure(std::string_view root) {
  return fail(Status::no_source,
              {"there is no proc tree at ", root, ": mount procfs there or name another root"},
              ENOENT);
}

Failure explain_running_process(std::string_view process, const ProcPath& path, int error) {
  if (error == ESRCH) return make_no_process_failure(process, " ended while it was read");
  if (error == 0) return make_malformed_failure(path, "a running process shows no memory there");
  return fail(Status::unsupported, {"this kernel has no ", path.c_str()});
}

namespace field = process_memory_field;

struct ProcessFolder {
  std::string_view root;
  std::string_view process;
};

struct Request {
  ProcessFolder folder;
  std::size_t page_size;
  procfs::BootId& boot_id;
  FieldSet fields;
  ProcessMemory& memory;
};

Result<std::string_view> read_file(const ProcessFolder& folder, const ProcPath& path,
                                   std::span<char> buffer) {
  const auto result = platform::read_small(path.c_str(), buffer);
  if (!result) return explain_missing_memory(folder.root, folder.process, path, result.error);
  if (result.value == buffer.size()) return make_malformed_failure(path, "it is too long");
  return std::string_view(buffer.data(), result.value);
}

Result<void> read_statm(const Request& request) {
  const ProcPath path(request.folder.root, request.folder.process, "statm");
  std::array<char, 256> buffer;
  const auto text = read_file(request.folder, path, buffer);
  if (!text) return text.failure();
  const auto statm = parse_statm(*text);
  if (!statm) return make_malformed_failure(path, "pages expected");
  if (statm->size == 0 && statm->resident == 0) {
    // 0 is correct only if the process has unmapped everything.
    if (read_process_state(request.folder.root, request.folder.process) != ProcessState::running)
      return explain_missing_memory(request.folder.root, request.folder.process, path, 0);
  }
  MemorySizes sizes;
  if (!convert_pages(*statm, request.page_size, sizes))
    return make_malformed_failure(path, "a size is past 64 bits");
  store_sizes(sizes, request.fields, request.memory);
  return {};
}

// Stores a requested value, or returns why it is missing.
Result<void> store_amount(const ProcessFolder& folder, const ProcPath& path, std::string_view key,
                          const Amount& amount, std::optional<std::uint64_t>& target) {
  target = amount.value();
  if (target) return {};
  if (amount.state == Amount::State::malformed)
    return make_malformed_failure(path, {key, " is not an amount in kB"});
  Failure failure = explain_missing_memory(folder.root, folder.process, path, 0);
  if (failure.code != Status::backend) return failure;
  return fail(Status::unsupported, {"this kernel's ", path.c_str(), " has no ", key});
}

struct ValueRequest {
  FieldSet field;
  const char* key;
  Amount amount;
  std::optional<std::uint64_t>& target;
};

// Returns the first failure.
Result<void> store_both(const ProcessFolder& folder, const ProcPath& path, FieldSet fields,
                        const ValueRequest (&requests)[2]) {
  Result<void> outcome;
  for (const ValueRequest& request : requests) {
    if ((fields & request.field) == 0) continue;
    Result<void> result = store_amount(folder, path, request.key, request.amount, request.target);
    if (outcome) outcome = std::move(result);
  }
  return outcome;
}

Result<void> read_status(const Request& request) {
  const ProcPath path(request.folder.root, request.folder.process, "status");
  std::array<char, 16384> buffer;
  const auto text = read_file(request.folder, path, buffer);
  if (!text) return text.failure();
  const StatusMemory memory = parse_status(*text);
  return store_both(request.folder, path, request.fields,
                    {{field::peak_resident, "VmHWM", memory.vm_hwm, request.memory.peak_resident},
                     {field::swap, "VmSwap", memory.vm_swap, request.memory.swap}});
}

Result<void> read_smaps_rollup(const Request& request) {
  const ProcPath path(request.folder.root, request.folder.process, "smaps_rollup");
  std::array<char, 4096> buffer;
  const auto text = read_file(request.folder, path, buffer);
  if (!text) return text.failure();
  const SmapsRollup rollup = parse_smaps_rollup(*text);
  return store_both(request.folder, path, request.fields,
                    {{field::proportional, "Pss", rollup.pss, request.memory.proportional},
                     {field::private_set, "Private_Clean and Private_Dirty", rollup.unique(),
                      request.memory.private_set}});
}

// The key is that of the process, even if the folder is that of one of its threads.
Result<void> read_process_key(const Request& request) {
  const std::string_view process =
      request.folder.process == "thread-self"
          ? "self"
          : request.folder.process.substr(0, request.folder.process.find('/'));
  const ProcPath path(request.folder.root, process, "stat");
  std::array<char, 2048> buffer;
  const auto text = read_file({request.folder.root, process}, path, buffer);
  if (!text) return text.failure();
  const auto stat = parse_stat(*text);
  if (!stat) return make_malformed_failure(path, "it is no process");
  request.memory.process_key = request.boot_id.find_process_key(request.folder.root, *stat);
  if (request.memory.process_key) return {};
  return fail(Status::unsupported,
              "the proc tree does not identify its boot (sys/kernel/random/boot_id)");
}

Result<void> report_unsupported(const Request&) {
  return fail(Status::unsupported,
              "Linux counts no committed memory and no footprint of a process");
}

FieldSet find_present_fields(const ProcessMemory& memory) {
  return (memory.resident ? field::resident : 0) | (memory.virtual_size ? field::virtual_size : 0) |
         (memory.peak_resident ? field::peak_resident : 0) | (memory.swap ? field::swap : 0) |
         (memory.proportional ? field::proportional : 0) |
         (memory.private_set ? field::private_set : 0) |
         (memory.process_key ? field::process_key : 0);
}

}  // namespace

Failure make_file_failure(int error, const procfs::ProcPath& path) {
  return fail(translate_errno(error, Status::no_source),
              {"cannot read ", path.c_str(), ": ", describe_error(error)}, error);
}

Failure make_malformed_failure(const procfs::ProcPath& path, const MessageText& problem) {
  return fail(Status::backend, {path.c_str(), " cannot be parsed: ", problem.view()});
}

ProcessState read_process_state(std::string_view root, std::string_view process) {
  std::array<char, 2048> buffer;
  const auto result = platform::read_small(ProcPath(root, process, "stat").c_str(), buffer);
  if (result) {
    const auto stat = parse_stat({buffer.data(), result.value});
    return stat ? classify_state(*stat) : ProcessState::unknown;
  }
  if (result.error == ESRCH) return ProcessState::gone;
  if (result.error != ENOENT) return ProcessState::unknown;
  return platform::exists(ProcPath(root, "", "stat").c_str()) ? ProcessState::gone
                                                              : ProcessState::no_tree;
}

Failure explain_missing_memory(std::string_view root, std::string_view process,
                               const procfs::ProcPath& path, int error) {
  if (error != 0 && !is_gone(error)) return make_file_failure(error, path);
  switch (read_process_state(root, process)) {
    case ProcessState::running:
      return explain_running_process(process, path, error);
    case ProcessState::exited:
      return make_no_process_failure(process,
                                     " has exited and its parent has not waited for it (a zombie)");
    case ProcessState::headless:
      return make_no_process_failure(process,
                                     " has lost its first thread, and no other could be read");
    case ProcessState::kernel_thread:
      return fail(Status::unsupported,
                  {"process ", process, " is a kernel thread, which has no memory of its own"});
    case ProcessState::gone:
      return make_no_process_failure(
          process, " does not exist, or the proc mount hides it (option hidepid)");
    case ProcessState::no_tree:
      return make_no_tree_failure(root);
    case ProcessState::unknown:
      break;
  }
  return error == 0 ? make_malformed_failure(path, "it shows no memory")
                    : make_file_failure(error, path);
}

std::optional<std::string> find_running_thread(std::string_view root, std::string_view process) {
  if (read_process_state(root, process) != ProcessState::headless) return std::nullopt;
  const std::string folder = compose({process, "/task"});
  std::optional<std::string> match;
  (void)platform::for_each_entry(ProcPath(root, folder, "").c_str(), [&](std::string_view thread) {
    std::string candidate = compose({folder, "/", thread});
    if (read_process_state(root, candidate) != ProcessState::running) return true;
    match = std::move(candidate);
    return false;
  });
  return match;
}

bool convert_pages(const procfs::Statm& statm, std::size_t page_size, MemorySizes& sizes) noexcept {
  return !__builtin_mul_overflow(statm.resident, page_size, &sizes.resident) &&
         !__builtin_mul_overflow(statm.size, page_size, &sizes.virtual_size);
}

void store_sizes(const MemorySizes& sizes, FieldSet fields, ProcessMemory& memory) noexcept {
  if ((fields & field::resident) != 0) memory.resident = sizes.resident;
  if ((fields & field::virtual_size) != 0) memory.virtual_size = sizes.virtual_size;
}

Result<void> read_process_memory(std::string_view root, std::string_view process,
                                 std::size_t page_size, procfs::BootId& boot_id, FieldSet fields,
                                 ProcessMemory& memory) {
  const Request request{{root, process}, page_size, boot_id, fields, memory};
  std::optional<Failure> first_failure;
  const auto read_if_requested = [&](std::uint32_t bits, Result<void> (*reader)(const Request&)) {
    if ((fields & bits) == 0 || (first_failure && first_failure->code == Status::no_process))
      return;
    Result<void> result = reader(request);
    if (!result && (!first_failure || result.failure().code == Status::no_process))
      first_failure = result.failure();
  };
  read_if_requested(field::cheap, read_statm);
  read_if_requested(field::peak_resident | field::swap, read_status);
  read_if_requested(field::proportional | field::private_set, read_smaps_rollup);
  read_if_requested(field::process_key, read_process_key);
  read_if_requested(
      field::committed | field::footprint | field::peak_committed | field::peak_footprint,
      report_unsupported);

  if (first_failure &&
      (first_failure->code == Status::no_process || (find_present_fields(memory) & fields) == 0))
    return *first_failure;
  if (first_failure) memory.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
