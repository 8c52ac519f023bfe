// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Readers of the parts of a machine file; errors are added to the reader's problems.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/reader.hpp"

namespace hmn::simulated {

enum class level { source, device };

// Reads "failures" and "delays".
conduct read_conduct(object_reader& o, level where);

// Reads "status", "native" and "message".
failure read_failure(object_reader& o);

std::uint32_t read_notes(object_reader& o);

// Reads "pid": a number, or "self".
void read_pid(object_reader& o, std::uint32_t self_pid, usage& out, bool& is_self);

// Reads "name", "name_state", "uid" and "start_unix_ns".
void read_facts(object_reader& o, usage& out);

described_row read_row(const json::value& v, const place& at, problems& found,
                       std::uint32_t self_pid);

described_metric read_metric(const json::value& v, const place& at, problems& found);

std::optional<telemetry> read_telemetry(object_reader& device);
pools read_pools(object_reader& device);

void read_devices(object_reader& root, std::uint32_t self_pid, machine& out);
void read_host(object_reader& root, machine& out);

}  // namespace hmn::simulated
