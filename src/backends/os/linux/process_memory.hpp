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

enum class Life {
  running,
  exited,    // a zombie
  headless,  // first thread has ended, others are running
  kernel_thread,
  gone,
  no_tree,  // no proc tree at all
  unknown,
};

Life life_of(std::string_view root, std::string_view who);

// Why a file of a proc tree could not be read, except for ENOENT and ESRCH.
Failure unreadable(int error, const procfs::ProcPath& path);
Failure nonsense(const procfs::ProcPath& path, const MessageText& what);

// Why <root>/<who> has no memory values, or lacks a file. `error`: errno of reading `path`; 0 if it
// was empty.
Failure why_no_memory(std::string_view root, std::string_view who, const procfs::ProcPath& path,
                      int error);

// Returns "123/task/456": a running thread of a process whose first thread has ended.
std::optional<std::string> living_thread(std::string_view root, std::string_view who);

// Returns false if a value does not fit 64 bits.
bool to_bytes(const procfs::Statm& m, std::size_t page_size, MemorySizes& out) noexcept;
void store(const MemorySizes& sizes, FieldSet fields, ProcessMemory& out) noexcept;

// Reads the memory of the process with the folder <root>/<who>.
Result<void> read_process_memory(std::string_view root, std::string_view who, std::size_t page_size,
                                 procfs::BootId& id, FieldSet fields, ProcessMemory& out);

}  // namespace hmn::os
