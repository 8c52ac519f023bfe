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

struct Scraped {
  Samples made;
  std::optional<std::string> search_failure;  // why it is not known which GPUs there are
};

// Reads the machine, again and again. Not for several threads at once.
class Scraper {
 public:
  Scraper(const Session& in, const ExporterSettings& how);
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  // Ends by the deadline; what could not be read is among the samples, with the reason.
  Scraped scrape(std::chrono::milliseconds deadline);

 private:
  const Session& in_;
  const ExporterSettings& how_;
  KnownDevices devices_;
  TransferRates rates_;
  Workloads workloads_;
};

Scraper::Scraper(const Session& in, const ExporterSettings& how)
    : in_(in), how_(how), workloads_(how.per, in) {}

Scraped Scraper::scrape(std::chrono::milliseconds deadline) {
  hypomnesis::snapshot_options what;
  what.collect = exported_parts;
  what.deadline = std::min(deadline, std::chrono::milliseconds(how_.timeout_ms));
  const auto end = UserNames::Clock::now() + what.deadline;
  const auto snapshot = in_.library().take(what);
  if (how_.is_traced) print_trace(snapshot);
  auto values = snapshot.values();
  devices_.complete(values.devices);
  const DeviceIds ids(values.devices);
  Scraped out;
  collect(values, ids, out.made);
  rates_.update(values);
  for (const auto each : how_.compatible)
    collect_compatible(each, values.devices, rates_, out.made);
  workloads_.collect(values, ids, end, out.made);
  out.search_failure = why_search_failed(snapshot);
  return out;
}

using std::chrono::milliseconds;

Scraped scrape_now(Scraper& from, const ExporterSettings& how) {
  auto done = from.scrape(milliseconds(how.timeout_ms));
  if (done.search_failure) write_notice(*done.search_failure);
  return done;
}

ExitCode result_of(const Scraped& of) {
  return of.search_failure ? ExitCode::failed : ExitCode::done;
}

Expected<ExitCode> print(Scraper& from, const ExporterSettings& how) {
  const auto done = scrape_now(from, how);
  return std::max(result_of(done), write_output(write_samples(done.made, how.format, how.names)));
}

// A failure to write is reported and tried again: a full disk may have space later.
Expected<ExitCode> write_text_file(Scraper& from, const ExporterSettings& how) {
  auto to = *how.text_file;
  StopRequest stop;
  for (auto next = StopRequest::Clock::now();;) {
    const auto done = scrape_now(from, how);
    auto wrong = write_file(to, write_samples(done.made, how.format, how.names), Readers::everyone);
    if (!how.interval_ms) return wrong ? Expected<ExitCode>(*std::move(wrong)) : result_of(done);
    if (wrong) write_notice(wrong->message);
    to.force = to.force || !wrong;  // replaces what it has written
    next = std::max(next + milliseconds(*how.interval_ms), StopRequest::Clock::now());
    if (stop.wait_until(next)) return ExitCode::done;
  }
}

Rendering scrape_or_report(Scraper& from, const ExporterSettings& how, milliseconds deadline) {
  try {
    return [made = from.scrape(deadline).made, &how](TextFormat format) {
      return write_samples(made, format, how.names);
    };
  } catch (const std::exception& why) {
    write_notice(why.what());
    return nullptr;
  }
}

Expected<ExitCode> serve_until_stopped(Scraper& from, const ExporterSettings& how) {
  ServerSettings server;
  server.command_line = how.command_line;
  server.address = how.address;
  server.port = how.port;
  server.web_config = how.web_config;
  server.max_age = milliseconds(how.max_age_ms);
  server.scrape = [&](milliseconds deadline) { return scrape_or_report(from, how, deadline); };
  server.listening = [](const std::string& url) {
    write_notice(fmt::format("listening at {}/metrics", url));
  };
  server.wait_for_stop = [] {
    StopRequest stop;
    while (!stop.wait_until(StopRequest::Clock::now() + std::chrono::hours(1))) {
    }
  };
  if (auto wrong = serve(server)) return *std::move(wrong);
  return ExitCode::done;
}

}  // namespace

Expected<ExitCode> run_exporter(const Session& in, const ExporterSettings& how) {
  Scraper from(in, how);
  if (how.once) return print(from, how);
  return how.text_file ? write_text_file(from, how) : serve_until_stopped(from, how);
}

}  // namespace hmn::cli
