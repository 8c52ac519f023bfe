// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "cli/exporter/collector.hpp"
#include "cli/exporter/compat.hpp"
#include "cli/exporter/devices.hpp"
#include "cli/exporter/samples.hpp"
#include "cli/exporter/server.hpp"
#include "cli/exporter/workloads.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/file.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

struct Scrape {
  Samples samples;
  std::optional<std::string> search_failure;  // why it is not known which GPUs there are
};

// Reads the machine, again and again. Not for several threads at once.
class Scraper {
 public:
  Scraper(const Session& session, const ExporterSettings& settings);
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  // Ends by the deadline; what could not be read is among the samples, with the reason.
  Scrape scrape(std::chrono::milliseconds deadline);

 private:
  const Session& session_;
  const ExporterSettings& settings_;
  KnownDevices devices_;
  TransferRates rates_;
  Workloads workloads_;
};

Scraper::Scraper(const Session& session, const ExporterSettings& settings)
    : session_(session), settings_(settings), workloads_(settings.groupings, session) {}

Scrape Scraper::scrape(std::chrono::milliseconds deadline) {
  hypomnesis::snapshot_options options;
  options.collect = exported_parts;
  options.deadline = std::min(deadline, std::chrono::milliseconds(settings_.timeout_ms));
  const auto end = UserNames::Clock::now() + options.deadline;
  const auto snapshot = session_.library().take(options);
  if (settings_.is_traced) print_trace(snapshot);
  auto values = snapshot.values();
  devices_.complete(values.devices);
  const DeviceIds ids(values.devices);
  Scrape result;
  collect_samples(values, ids, result.samples);
  rates_.update(values);
  for (const auto dialect : settings_.dialects)
    collect_compatible(dialect, values.devices, rates_, result.samples);
  workloads_.collect(values, ids, end, result.samples);
  result.search_failure = explain_search_failure(snapshot);
  return result;
}

using std::chrono::milliseconds;

Scrape scrape_now(Scraper& scraper, const ExporterSettings& settings) {
  auto scrape = scraper.scrape(milliseconds(settings.timeout_ms));
  if (scrape.search_failure) write_notice(*scrape.search_failure);
  return scrape;
}

ExitCode choose_scrape_exit_code(const Scrape& scrape) {
  return scrape.search_failure ? ExitCode::failed : ExitCode::done;
}

Expected<ExitCode> print_scrape(Scraper& scraper, const ExporterSettings& settings) {
  const auto scrape = scrape_now(scraper, settings);
  return std::max(choose_scrape_exit_code(scrape),
                  write_output(format_samples(scrape.samples, settings.format, settings.names)));
}

// A failure to write is reported and tried again: a full disk may have space later.
Expected<ExitCode> write_text_file(Scraper& scraper, const ExporterSettings& settings) {
  auto file = *settings.text_file;
  StopRequest stop;
  for (auto next = StopRequest::Clock::now();;) {
    const auto scrape = scrape_now(scraper, settings);
    auto failure = write_file(file, format_samples(scrape.samples, settings.format, settings.names),
                              Readers::everyone);
    if (!settings.interval_ms)
      return failure ? Expected<ExitCode>(*std::move(failure)) : choose_scrape_exit_code(scrape);
    if (failure) write_notice(failure->message);
    file.force = file.force || !failure;  // replaces what it has written
    next = std::max(next + milliseconds(*settings.interval_ms), StopRequest::Clock::now());
    if (stop.wait_until(next)) return ExitCode::done;
  }
}

Renderer scrape_or_report(Scraper& scraper, const ExporterSettings& settings,
                          milliseconds deadline) {
  try {
    return [made = scraper.scrape(deadline).samples, &settings](TextFormat format) {
      return format_samples(made, format, settings.names);
    };
  } catch (const std::exception& error) {
    write_notice(error.what());
    return nullptr;
  }
}

Expected<ExitCode> serve_until_stopped(Scraper& scraper, const ExporterSettings& settings) {
  ServerSettings server;
  server.command_line = settings.command_line;
  server.address = settings.address;
  server.port = settings.port;
  server.web_config = settings.web_config;
  server.max_age = milliseconds(settings.max_age_ms);
  server.scrape = [&](milliseconds deadline) {
    return scrape_or_report(scraper, settings, deadline);
  };
  server.report_url = [](const std::string& url) {
    write_notice(fmt::format("listening at {}/metrics", url));
  };
  server.wait_for_stop = [] {
    StopRequest stop;
    while (!stop.wait_until(StopRequest::Clock::now() + std::chrono::hours(1))) {
    }
  };
  if (auto failure = serve(server)) return *std::move(failure);
  return ExitCode::done;
}

}  // namespace

Expected<ExitCode> run_exporter(const Session& session, const ExporterSettings& settings) {
  Scraper scraper(session, settings);
  if (settings.once) return print_scrape(scraper, settings);
  return settings.text_file ? write_text_file(scraper, settings)
                            : serve_until_stopped(scraper, settings);
}

}  // namespace hmn::cli
