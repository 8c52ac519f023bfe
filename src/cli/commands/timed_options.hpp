// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/sort_key.hpp"
#include "cli/system/file.hpp"

namespace CLI {
class App;
}

// Options of the commands that run for a time.
namespace hmn::cli {

enum class log_form { text, json, csv };

// Parsed options of `hmn log`.
struct log_options {
  std::uint32_t interval_ms = 1000;
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> duration_ms;
  log_form form = log_form::text;
};

// Options of `hmn log` as given on the command line.
struct log_texts {
  std::optional<std::string> interval;
  std::optional<std::string> count;
  std::optional<std::string> duration;
  bool json = false;
  bool csv = false;
};

extern const char* const log_examples;
void add_log(CLI::App& app, log_texts& into);
std::optional<failure> apply_log(const log_texts& from, log_options& to);

// Where the report of `hmn run` and `hmn spill` goes as JSON, as given on the command line.
struct report_texts {
  bool json = false;
  std::optional<std::string> output;
  bool force = false;
};

// Parsed options of `hmn run`.
struct run_options {
  std::uint32_t interval_ms = 100;
  std::optional<file_to_write> record;
  std::optional<file_to_write> plot;
  std::vector<file_to_write> reports;  // of --json and --output
};

// Options of `hmn run` as given on the command line.
struct run_texts {
  std::optional<std::string> interval;
  std::optional<std::string> record;
  std::optional<std::string> plot;
  report_texts report;
};

extern const char* const run_examples;
void add_run(CLI::App& app, run_texts& into);
std::optional<failure> apply_run(const run_texts& from, run_options& to);

// Parsed options of `hmn spill`.
struct spill_options {
  std::uint32_t interval_ms = 100;
  std::vector<file_to_write> reports;  // of --json and --output
};

// Options of `hmn spill` as given on the command line.
struct spill_texts {
  std::optional<std::string> interval;
  report_texts report;
};

extern const char* const spill_examples;
void add_spill(CLI::App& app, spill_texts& into);
std::optional<failure> apply_spill(const spill_texts& from, spill_options& to);

// Parsed options of `hmn wait`.
struct wait_options {
  std::uint64_t bytes = 0;
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> timeout_ms;
};

// Options of `hmn wait` as given on the command line.
struct wait_texts {
  std::optional<std::string> free;
  bool any = false;
  std::optional<std::string> interval;
  std::optional<std::string> timeout;
};

extern const char* const wait_examples;
void add_wait(CLI::App& app, wait_texts& into);
// Takes in `has_device` whether --device was given.
std::optional<failure> apply_wait(const wait_texts& from, bool has_device, wait_options& to);

// Parsed options of `hmn watch`.
struct watch_options {
  std::vector<std::uint32_t> pids;  // empty: the top processes by use
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> duration_ms;
  std::uint32_t top = 5;
  std::optional<std::string> match;
  sort_key sort = sort_key::vram;
  bool follow_new = false;
};

// Options of `hmn watch` as given on the command line.
struct watch_texts {
  std::vector<std::string> pids;
  std::optional<std::string> interval;
  std::optional<std::string> duration;
  std::optional<std::string> top;
  std::optional<std::string> match;
  std::optional<std::string> sort;
  bool follow_new = false;
};

extern const char* const watch_examples;
void add_watch(CLI::App& app, watch_texts& into);
std::optional<failure> apply_watch(const watch_texts& from, watch_options& to);

}  // namespace hmn::cli
