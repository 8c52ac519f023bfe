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
struct Root {
  std::string_view name;
  std::string Settings::*setting;
  std::string_view default_path;
};

inline constexpr std::array roots = {
    Root{"proc", &Settings::proc_root, "/proc"},
    Root{"sys", &Settings::sys_root, "/sys"},
    Root{"dev", &Settings::dev_root, ""},
    Root{"cgroup", &Settings::cgroup_root, ""},
    Root{"nvidia_smi", &Settings::nvidia_smi_path, ""},
    Root{"rocm_smi", &Settings::rocm_smi_path, ""},
    Root{"amd_smi", &Settings::amd_smi_path, ""},
};

inline constexpr std::string_view moved_root_prefix = "/machine/";

// In the order of RecordedFile::Part.
inline constexpr std::array<std::string_view, platform::RecordedFile::parts> part_names = {
    "read", "link", "list", "status", "open"};

inline constexpr std::uint32_t is_directory = 1;
inline constexpr std::uint32_t is_character_device = 2;
inline constexpr std::array type_words = {make_word("other", 0U),
                                          make_word("directory", is_directory),
                                          make_word("character", is_character_device)};

using OutcomeKind = platform::Outcome::Kind;
inline constexpr std::array outcome_words = {
    make_word("finished", OutcomeKind::finished),
    make_word("not_found", OutcomeKind::not_found),
    make_word("not_runnable", OutcomeKind::not_runnable),
    make_word("timed_out", OutcomeKind::timed_out),
    make_word("output_too_long", OutcomeKind::output_too_long),
};

// Not inline: mingw-w64 puts it into sections of two kinds, which do not link.
[[maybe_unused]] constexpr std::array language_words = {
    make_word("i915", platform::QueryDriver::i915), make_word("xe", platform::QueryDriver::xe)};

// What "recording" in a machine file contains.
struct RecordedMachine {
  std::shared_ptr<platform::Recording> recording;
  std::uint32_t moved_roots = 0;  // bit n: roots[n] was not the default
};

RecordedMachine read_recording(const json::Value& value, const JsonPath& path, Problems& problems);

// Decodes pairs of hexadecimal digits; returns false if malformed.
bool read_hex(std::string_view digits, std::string& out);

// Reads a folder of copied kernel files: it contains "sys" or "proc", or is a sysfs tree, or
// contains folders of cards as in /sys/class/drm ("card0", each with its "device"), or is one of
// these. Returns false for any other folder. `settings`: changed for the sources that read it.
bool open_plain_tree(const std::string& folder, Settings& settings, platform::Recording& recording);

}  // namespace hmn::simulated
