// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Processes of one device: its three lists merged, each process once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/session.hpp"
#include "model/usage.hpp"

namespace hmn::nvml {

// A process list of NVML, read completely and decoded. Rows have 16, 24 or 32 bytes, two of these
// sizes under the same symbol, so the size is detected from what the driver wrote.

inline constexpr std::size_t max_row_size = sizeof(ProcessDetail);
inline constexpr std::byte untouched{0xA5};

struct ListedProcess {
  std::uint32_t pid = 0;
  std::uint64_t used = value_not_available;
  std::uint32_t gpu_instance = no_instance;
  std::uint32_t compute_instance = no_instance;
};

struct RowSizeGuess {
  std::size_t row_size = 0;  // 0: nothing was written
  bool is_certain = false;   // no other size explains the data
};

// Pure. Detects the row size in a buffer filled with `untouched` before the driver wrote `count`
// rows into it. `default_size` wins if the content is ambiguous.
RowSizeGuess detect_row_size(std::span<const std::byte> buffer, std::size_t count,
                             std::size_t default_size) noexcept;

// Pure. Decodes row `i`; returns false if the driver did not write it. Rows of 16 bytes have no
// instances.
bool decode_row(std::span<const std::byte> buffer, std::size_t i, std::size_t row_size,
                ListedProcess& out) noexcept;

// Keeps its buffer: a list of the same length is read without an allocation.
class ProcessList {
 public:
  // Maximum number of rows requested.
  static constexpr std::size_t max_rows = 131072;

  // `row_size`: detected with certainty in earlier lists of this function, else 0. Returns unusable
  // if not all rows that the driver counts are processes; rows() has those that are.
  Code read(const CallContext& context, const ListCall& function, Handle handle,
            std::size_t& row_size);

  [[nodiscard]] std::span<const ListedProcess> rows() const noexcept { return rows_; }
  // Number of rows that could not be read.
  [[nodiscard]] std::uint64_t missed_rows() const noexcept { return missed_rows_; }

 private:
  Code query(const CallContext& context, const ListCall& function, Handle handle, unsigned& count);
  void decode(std::size_t count, std::size_t row_size);

  std::vector<std::byte> buffer_;
  std::vector<ListedProcess> rows_;
  std::uint64_t missed_rows_ = 0;
};

// Reads how busy each process keeps the device.
class ProcessLoadReader {
 public:
  // Sets the load of each row; 0 for a process without a sample. Not for partitioned devices and
  // their instances.
  Code read(const CallContext& context, const Session& session, const KnownDevice& device,
            std::span<Usage> rows);

 private:
  Code query_samples(const CallContext& context, const Session& session, const KnownDevice& device,
                     std::uint64_t since_us);

  std::vector<ProcessSample> samples_;  // its size is that of the next call
};

// In the order of search: the graphics list takes milliseconds.
enum class ListKind : std::size_t { compute = 0, mps = 1, graphics = 2 };
inline constexpr std::array all_lists{ListKind::compute, ListKind::mps, ListKind::graphics};

struct MergedProcess {
  std::uint32_t pid = 0;
  std::uint32_t kinds = 0;
  std::uint32_t gpu_instance = no_instance;
  std::uint32_t compute_instance = no_instance;
  std::optional<std::uint64_t> used;  // absent: not reported by the driver
  std::uint32_t list = 0;             // number of the list that it was found in first
  std::uint32_t order = 0;            // of all rows found
};

// How reading the three lists of one device ended, which decides what an absent process proves.
struct ListOutcome {
  std::array<Code, 3> results{no_symbol, no_symbol, no_symbol};
  std::array<const char*, 3> names{};
  std::uint64_t missed = 0;

  // Whether a list was read, or would add nothing: compute lists have MPS's clients as well.
  [[nodiscard]] bool has(ListKind kind) const noexcept;
  // Whether the rows include every user of the device. If not, an absent row proves nothing.
  [[nodiscard]] bool is_complete() const noexcept;
  // The list that failed, rather than one that the device does not have; compute if none did.
  [[nodiscard]] std::size_t find_failed_list() const noexcept;
  // Returns whether to skip the lists after `kind`; they then count as failed.
  bool stop_after(ListKind kind, Code code) noexcept;
};

// Merges the lists of a device. Pure. Rows of a process in several compute instances of one list
// are summed; several lists report the same value, so the larger one is kept.
class ProcessMerger {
 public:
  void clear() noexcept;
  // Adds the next list, or what it has of one process.
  void add(std::span<const ListedProcess> list, std::uint32_t kind,
           std::optional<std::uint32_t> pid = {});
  // Rows in the order found.
  std::span<const MergedProcess> finish();

 private:
  void sort_by(std::uint32_t MergedProcess::*key);
  // Merges a row into the one before if both belong together; false: it stays a row.
  using JoinRule = bool (*)(MergedProcess& target, const MergedProcess& other);
  void collapse(JoinRule join);

  std::vector<MergedProcess> rows_;
  std::uint32_t list_count_ = 0;
};

class ProcessReader {
 public:
  // Reads all processes of a device. The rows are valid until the next reading.
  ListOutcome read(const CallContext& context, Session& session, const KnownDevice& device);
  [[nodiscard]] std::span<const MergedProcess> rows() const noexcept { return rows_; }

  // Reads one process: stops at the first list that contains it.
  ListOutcome find(const CallContext& context, Session& session, const KnownDevice& device,
                   std::uint32_t pid, std::optional<MergedProcess>& match);
  // The rows that find() has read, if the process is in no list.
  [[nodiscard]] std::span<const MergedProcess> other_rows() { return merger_.finish(); }

 private:
  Code read_list(const CallContext& context, Session& session, const KnownDevice& device,
                 ListKind kind, ListOutcome& outcome);
  std::optional<MergedProcess> find_in_list(std::uint32_t pid, std::uint32_t kind);

  ProcessList list_;
  ProcessMerger merger_;
  ProcessMerger single_merger_;  // of the process that find() looks for
  std::span<const MergedProcess> rows_;
};

// Leaves a value absent, with a diagnostic, if the driver does not report it or it exceeds the
// device.
void fill_usage(const CallContext& context, const KnownDevice& device, const MergedProcess& process,
                Usage& usage);

// The row of a caller that uses nothing.
void fill_zero(std::uint32_t pid, Usage& usage) noexcept;

// Reports which lists, and how many rows, are missing. `fields`: presence bits that lack them.
void diagnose_lists(const CallContext& context, const ListOutcome& outcome, FieldSet fields = 0);

}  // namespace hmn::nvml
