// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded machines: the words of a recording, which its reader and writer share, and folders of
// copied kernel files, which are read like one.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backends/simulated/fields.hpp"
#include "backends/simulated/reader.hpp"
#include "model/json.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

// A root that a context reads. One other than the default is "/machine/<name>" in a recording,
// which hides the recorder's folders.
struct root {
  std::string_view name;
  std::string settings::*place;
  std::string_view usual;
};

inline constexpr std::array roots = {
    root{"proc", &settings::proc_root, "/proc"},
    root{"sys", &settings::sys_root, "/sys"},
    root{"dev", &settings::dev_root, ""},
    root{"cgroup", &settings::cgroup_root, ""},
    root{"nvidia_smi", &settings::nvidia_smi_path, ""},
    root{"rocm_smi", &settings::rocm_smi_path, ""},
    root{"amd_smi", &settings::amd_smi_path, ""},
};

inline constexpr std::string_view moved_roots = "/machine/";

// In the order of recorded_file::part.
inline constexpr std::array<std::string_view, platform::recorded_file::parts> part_names = {
    "read", "link", "list", "status", "open"};

inline constexpr std::uint32_t is_directory = 1;
inline constexpr std::uint32_t is_character_device = 2;
inline constexpr std::array type_words = {entry("other", 0U), entry("directory", is_directory),
                                          entry("character", is_character_device)};

using outcome_kind = platform::outcome::kind;
inline constexpr std::array outcome_words = {
    entry("finished", outcome_kind::finished),
    entry("not_found", outcome_kind::not_found),
    entry("not_runnable", outcome_kind::not_runnable),
    entry("timed_out", outcome_kind::timed_out),
    entry("output_too_long", outcome_kind::output_too_long),
};

// Not inline: mingw-w64 puts it into sections of two kinds, which do not link.
[[maybe_unused]] constexpr std::array language_words = {
    entry("i915", platform::query_language::i915), entry("xe", platform::query_language::xe)};

// What "recording" in a machine file contains.
struct recorded_machine {
  std::shared_ptr<platform::recording> answers;
  std::uint32_t moved = 0;  // bit n: roots[n] was not the default
};

recorded_machine read_recording(const json::value& v, const place& at, problems& found);

// Decodes pairs of hexadecimal digits; returns false if malformed.
bool read_hex(std::string_view digits, std::string& out);

// Reads a folder of copied kernel files: it contains "sys" or "proc", or is a sysfs tree, or
// contains folders of cards as in /sys/class/drm ("card0", each with its "device"), or is one of
// these. Returns false for any other folder. `s`: changed for the sources that read it.
bool open_plain_tree(const std::string& folder, settings& s, platform::recording& out);

}  // namespace hmn::simulated
