// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

Result<void> Tool::run(Reading& reading, std::string_view option, ColumnChoice& choice,
                       FunctionRef<ParseResult(std::string_view text, bool cut)> parse,
                       std::vector<Problem>& problems) {
  if (Result<void> result = program_.find(); !result) return result;
  if (program_.was_replaced()) {
    // The columns depend on the driver's version.
    gpu_columns_.reset();
    app_columns_.reset();
  }
  // Each round but the last gives up one rejected spelling.
  for (;;) {
    const platform::Outcome outcome = program_.run(
        {compose({option, "=", choice.list()}), "--format=csv,nounits"}, false, reading);
    const command_tool::RunFailures verdict(smi, outcome);
    if (auto failure = verdict.find_start_failure(program_.path())) return *failure;
    const ParseResult answer = parse(outcome.output, is_cut(outcome));
    if (answer.is_table) {
      problems = collect_problems(outcome, answer.strays);
      const bool lacks_rows =
          answer.is_truncated || outcome.kind == platform::Outcome::Kind::output_too_long;
      if (lacks_rows) problems.push_back({make_too_many_failure(answer.count), {}});
      return {};
    }
    Refusal refusal = explain_no_table(outcome, answer.strays);
    if (!refusal.failure) return {};
    if (!choice.reject(refusal.field)) return *refusal.failure;
  }
}

template <class Row>
Result<void> Tool::run_query(Reading& r, std::string_view option, ColumnChoice& choice,
                             Answer<Row> (*parse)(std::string_view, bool), Reply<Row>& out) {
  out = {};
  const auto parse_rows = [&](std::string_view text, bool cut) -> ParseResult {
    Answer<Row> answer = parse(text, cut);
    out.rows = std::move(answer.rows);
    answer.count = out.rows.size();
    return answer;
  };
  return run(r, option, choice, parse_rows, out.problems);
}

Result<void> Tool::query_gpus(Reading& reading, Reply<GpuRow>& out) {
  return run_query(reading, "--query-gpu", gpu_columns_, parse_gpus, out);
}

Result<void> Tool::query_apps(Reading& reading, Reply<AppRow>& out) {
  return run_query(reading, "--query-compute-apps", app_columns_, parse_apps, out);
}

namespace {

using Subject = Sentence::Subject;

constexpr const char* load_driver =
    "load it with 'modprobe nvidia', in a container start it with GPU access, or install the "
    "driver";

constexpr command_tool::ToolMessage known_sentences[] = {
    {"No devices were found", Subject::nothing, Status::no_device,
     "the driver runs and finds no GPU that it can use; see 'dmesg' for NVRM lines"},
    {"No running", Subject::nothing, Status::empty, "no process uses the GPU"},
    {"couldn't communicate with the NVIDIA driver", Subject::tool, Status::no_source, load_driver},
    {"couldn't find libnvidia-ml", Subject::tool, Status::no_source,
     "install the user-space part of the NVIDIA driver, or start the container with GPU access"},
    {"version mismatch", Subject::tool, Status::backend,
     "driver library and kernel module differ, as after an update; reload the nvidia modules or "
     "reboot"},
    {"Driver Not Loaded", Subject::tool, Status::no_source, load_driver},
    {"blocked by the operating system", Subject::tool, Status::permission,
     "give the container or service access to /dev/nvidia*"},
    {"ermission", Subject::tool, Status::permission, "run it as a user who may open /dev/nvidia*"},
    {"is lost", Subject::device, Status::device_lost,
     "see 'dmesg' for Xid lines, then reset the GPU or reboot"},
    {"requires reset", Subject::device, Status::backend,
     "reset it with 'nvidia-smi --gpu-reset', or reboot"},
    {"Unable to determine the device handle", Subject::device, Status::backend,
     "see 'dmesg' for NVRM lines; resetting the GPU or a reboot may help"},
    {"Failed to initialize NVML", Subject::tool, Status::backend,
     "see 'dmesg' for NVRM lines; a container that lost its devices must be started again"},
    {"infoROM is corrupted", Subject::warning, Status::ok, "the values are still valid"},
    {"is not recognized", Subject::tool, Status::unsupported, "this tool is too old"},
    {"is missing its value", Subject::tool, Status::unsupported, "this tool is too old"},
    {"Invalid combination of input arguments", Subject::tool, Status::unsupported,
     "this tool is too old"},
    {"NVIDIA-SMI has failed", Subject::tool, Status::backend, "see 'dmesg' for NVRM lines"},
};

// Parses "Field "cuda_version" is not a valid field to query."
std::optional<std::string> parse_refused_field(std::string_view line) {
  if (!line.starts_with("Field \"") || line.find("not a valid field") == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(7);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

// Finds the first word that is a PCI address: "GPU0: 0000:81:00.0: Unknown Error".
Text<32> find_bus_id(std::string_view line) {
  while (!scan::trim(line).empty()) {
    std::string_view word = scan::take_word(line);
    while (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    if (const Text<32> id = normalize_pci_address(word); !id.empty()) return id;
  }
  return {};
}

using Kind = platform::Outcome::Kind;
using command_tool::RunFailures;

constexpr int exit_corrupted_inforom = 14;  // warning: the values are valid

// nvidia-smi(1), RETURN VALUE
Status map_exit_code(int code) {
  switch (code) {
    case 2:
    case 3:
    case 13:
      return Status::unsupported;
    case 4:
      return Status::permission;
    case 9:
    case 12:
      return Status::no_source;
    case 15:
      return Status::device_lost;
    default:
      return Status::backend;
  }
}

Failure make_exit_failure(const platform::Outcome& outcome, std::string_view event) {
  Failure failure = RunFailures(smi, outcome).make_exit_failure(event);
  if (outcome.has_exit_status && outcome.signal == 0 && outcome.exit_code != 0)
    failure.code = map_exit_code(outcome.exit_code);
  return failure;
}

Failure make_sentence_failure(const platform::Outcome& outcome, const Sentence& sentence,
                              const Text<256>& line) {
  return RunFailures(smi, outcome).make_message_failure(sentence, line.view());
}

bool has_failed(const platform::Outcome& outcome) {
  if (!outcome.has_exit_status || outcome.kind != Kind::finished) return false;
  return outcome.signal != 0 ||
         (outcome.exit_code != 0 && outcome.exit_code != exit_corrupted_inforom);
}

}  // namespace

std::optional<Sentence> parse_sentence(std::string_view line) {
  if (auto field = parse_refused_field(line)) {
    return Sentence{{{}, Subject::field, Status::unsupported, "this tool is too old for it"},
                    std::move(*field),
                    {}};
  }
  const command_tool::ToolMessage* const match = command_tool::find_message(known_sentences, line);
  if (match == nullptr) return std::nullopt;
  return Sentence{*match, {}, find_bus_id(line)};
}

bool is_cut(const platform::Outcome& outcome) noexcept {
  return outcome.kind == Kind::output_too_long || (outcome.has_exit_status && outcome.signal != 0);
}

Failure make_too_many_failure(std::size_t rows) {
  return smi.fail(Status::limit,
                  {"nvidia-smi printed more rows than the ", rows, " that are read"});
}

Refusal explain_no_table(const platform::Outcome& outcome, const StrayLines& strays) {
  bool is_empty = false;
  for (const Text<256>& line : strays.first_lines()) {
    const auto sentence = parse_sentence(line.view());
    if (!sentence || sentence->subject == Subject::warning) continue;
    if (sentence->subject == Subject::nothing) {
      is_empty = true;
      continue;
    }
    return {make_sentence_failure(outcome, *sentence, line), sentence->field};
  }
  if (is_empty) return {};
  if (outcome.kind == Kind::output_too_long) {
    return {smi.fail(Status::limit, {"nvidia-smi printed no table, and more than is read"}), {}};
  }
  return {make_exit_failure(
              outcome, strays.count() == 0 ? "printed nothing" : "printed no table that is known"),
          {}};
}

std::vector<Problem> collect_problems(const platform::Outcome& outcome, const StrayLines& strays) {
  std::vector<Problem> problems;
  const Text<256>* first_unknown = nullptr;
  std::size_t known_count = 0;
  for (const Text<256>& line : strays.first_lines()) {
    const auto sentence = parse_sentence(line.view());
    known_count += sentence ? 1 : 0;
    if (!sentence && first_unknown == nullptr) first_unknown = &line;
    if (!sentence || sentence->subject == Subject::nothing) continue;
    problems.push_back({make_sentence_failure(outcome, *sentence, line), sentence->bus_id});
  }
  if (first_unknown != nullptr) {
    problems.push_back(
        {with_reason(
             Reason::not_understood,
             smi.fail(Status::backend, {strays.count() - known_count,
                                        " line(s) of nvidia-smi's table make no sense, the first: ",
                                        Text<120>(first_unknown->view()).view()})),
         {}});
  }
  if (has_failed(outcome) && problems.empty())
    problems.push_back({make_exit_failure(outcome, "printed its table"), {}});
  return problems;
}

}  // namespace hmn::nvidia_smi
