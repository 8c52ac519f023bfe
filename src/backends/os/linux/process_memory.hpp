// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/failure.hpp"
#include "model/host_memory.hpp"
#include "procfs/boot.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::os {

enum class ProcessState {
  running,
  exited,    // a zombie
  headless,  // first thread has ended, others are running
  kernel_thread,
  gone,
  no_tree,  // no proc tree at all
  unknown,
};

ProcessState read_process_state(std::string_view root, std::string_view process);

// Makes the failure for a file of a proc tree that could not be read, for other errors than ENOENT
// and ESRCH.
Failure make_file_failure(int error, const procfs::ProcPath& path);
Failure make_malformed_failure(const procfs::ProcPath& path, const MessageText& problem);

// Explains why <root>/<process> has no memory values, or lacks a file. `error`: errno of reading
// `path`; 0 if it was empty.
Failure explain_missing_memory(std::string_view root, std::string_view process,
                               const procfs::ProcPath& path, int error);

// Returns "123/task/456": a running thread of a process whose first thread has ended.
std::optional<std::string> find_running_thread(std::string_view root, std::string_view process);

// Converts pages to bytes; returns false if a value does not fit in 64 bits.
bool convert_pages(const procfs::Statm& statm, std::size_t page_size, MemorySizes& sizes) noexcept;
void store_sizes(const MemorySizes& sizes, FieldSet fields, ProcessMemory& memory) noexcept;

// Reads the memory of the process with the folder <root>/<process>.
Result<void> read_process_memory(std::string_view root, std::string_view process,
                                 std::size_t page_size, procfs::BootId& boot_id, FieldSet fields,
                                 ProcessMemory& memory);

}  // namespace hmn::os
