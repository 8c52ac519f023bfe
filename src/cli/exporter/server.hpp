// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/exporter/text_format.hpp"

namespace hmn::cli {

// A finished scrape, which is written in the formats that clients ask for. Any thread may call it.
using Renderer = std::function<std::string(TextFormat)>;

struct ServerSettings {
  std::vector<std::string> command_line;  // of hmn, for a program that has the server
  std::string address;                    // numeric; "": every address
  std::uint16_t port = 0;                 // 0: any
  std::optional<std::string> web_config;  // path
  std::chrono::milliseconds max_age{};    // scrapes up to this age are shared
  // Reads the machine within the deadline. Called on one thread.
  std::function<Renderer(std::chrono::milliseconds deadline)> scrape;
  std::function<void(const std::string& url)> report_url;
  std::function<void()> wait_for_stop;
};

// Serves until wait_for_stop returns. hmn itself becomes the program hmn-exporter, which has the
// server and its libraries. Fails where that is missing, or the server cannot begin.
std::optional<Failure> serve(const ServerSettings& settings);

}  // namespace hmn::cli
