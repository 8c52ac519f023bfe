// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/keys.hpp"

#include <doctest/doctest.h>

#include "cli/top/screen.hpp"

using hmn::cli::top::all_key_help;
using hmn::cli::top::draw_screen;
using hmn::cli::top::GpuReading;
using hmn::cli::top::Key;
using hmn::cli::top::KeyAction;
using hmn::cli::top::KeyPress;
using hmn::cli::top::MachineReading;
using hmn::cli::top::Page;
using hmn::cli::top::ProcessReading;
using hmn::cli::top::ProcessReadings;
using hmn::cli::top::State;

namespace {

std::shared_ptr<MachineReading> make_machine(const std::vector<std::uint32_t>& pids) {
  auto rows = std::make_shared<ProcessReadings>();
  for (const auto pid : pids) {
    ProcessReading row;
    row.gpu = std::make_shared<const hmn::cli::Gpu>();
    row.usage.pid = pid;
    row.usage.process_key = 1000 + pid;
    row.usage.used_bytes = pid;
    rows->push_back(row);
  }
  auto machine = std::make_shared<MachineReading>();
  machine->gpus.resize(2);
  machine->gpus[1].gpu.device.index = 1;
  machine->processes = rows;
  machine->has_new_processes = true;
  return machine;
}

KeyAction type_keys(State& state, std::u32string_view keys) {
  auto last_request = KeyAction::none;
  for (const auto character : keys)
    last_request = handle_key(state, {Key::character, character}, 5);
  return last_request;
}

}  // namespace

TEST_CASE("the selected process stays selected when others come and go") {
  State state;
  state.update(make_machine({10, 20, 30}));
  REQUIRE(state.selected_process() != nullptr);
  CHECK(state.selected_process()->usage.pid == 30);
  handle_key(state, {Key::down}, 5);
  CHECK(state.selected_process()->usage.pid == 20);
  state.update(make_machine({20, 21, 22, 23}));
  CHECK(state.selected_process()->usage.pid == 20);
  CHECK(state.process_cursor.position == 3);
  state.update(make_machine({7, 8}));
  CHECK(state.selected_process()->usage.pid == 7);
}

TEST_CASE("a reused pid is another process") {
  State state;
  state.update(make_machine({10}));
  auto reused = make_machine({10});
  auto rows = std::make_shared<ProcessReadings>(*reused->processes);
  rows->front().usage.process_key = 5;
  reused->processes = rows;
  handle_key(state, {Key::enter}, 5);
  REQUIRE(state.page == Page::process);
  state.update(reused);
  CHECK(state.selected_process() == nullptr);
}

TEST_CASE("with --read-only no page sends a signal") {
  for (const bool is_on_process : {false, true}) {
    State state;
    state.is_read_only = true;
    state.update(make_machine({10}));
    if (is_on_process) handle_key(state, {Key::enter}, 5);
    const auto before = state.page;
    CHECK(type_keys(state, U"x") == KeyAction::none);
    CHECK(state.page == before);
    CHECK(state.message == "--read-only: no signals are sent");
    CHECK_FALSE(state.pending_signal);
  }
}

TEST_CASE("a signal is sent only after confirmation") {
  if (hmn::cli::list_signal_choices().empty()) return;
  for (const auto answer : {U'n', U'\r', U'x'}) {
    State state;
    state.update(make_machine({10}));
    type_keys(state, U"x");
    REQUIRE(state.page == Page::signals);
    handle_key(state, {Key::enter}, 5);
    REQUIRE(state.page == Page::confirmation);
    CHECK(type_keys(state, {&answer, 1}) == KeyAction::none);
    CHECK_FALSE(state.pending_signal);
  }
  State state;
  state.update(make_machine({10}));
  type_keys(state, U"x");
  handle_key(state, {Key::enter}, 5);
  CHECK(type_keys(state, U"y") == KeyAction::send_signal);
  REQUIRE(state.pending_signal);
  CHECK(state.pending_signal->process.pid == 10);
  CHECK(state.pending_signal->process.start == 1010);
}

TEST_CASE("keys typed into the filter are text until Escape clears it") {
  State state;
  state.update(make_machine({10, 20}));
  CHECK(type_keys(state, U"/q2") == KeyAction::none);
  CHECK(state.choice.filter == "q2");
  handle_key(state, {Key::backspace}, 5);
  type_keys(state, U"é");
  CHECK(state.choice.filter == "qé");
  handle_key(state, {Key::backspace}, 5);
  CHECK(state.choice.filter == "q");
  handle_key(state, {Key::escape}, 5);
  CHECK(state.choice.filter.empty());
  CHECK(type_keys(state, U"q") == KeyAction::quit);
}

TEST_CASE("every key on every page leaves a frame that can be drawn") {
  const Key special[] = {Key::up,        Key::down,      Key::left, Key::right, Key::page_up,
                         Key::page_down, Key::home,      Key::end,  Key::enter, Key::escape,
                         Key::tab,       Key::backspace, Key::f1,   Key::f9};
  State state;
  state.update(make_machine({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  unsigned random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 1664525 + 1013904223;
    const auto number = random >> 16;
    KeyPress event{Key::character, U' ' + number % 95};
    if (number % 3 == 0) event = {special[number / 3 % std::size(special)]};
    if (handle_key(state, event, 4) == KeyAction::send_signal) state.pending_signal.reset();
    if (i % 500 == 0) state.update(make_machine({number % 7 + 1, number % 11 + 20}));
    const auto frame =
        draw_screen(state, 60 + static_cast<int>(number % 100), 16, {i % 2 == 0, false});
    REQUIRE(frame.height() == 16);
  }
}

TEST_CASE("the keys in the help fit their column") {
  for (const auto& help : all_key_help()) {
    CHECK(help.keys.size() < 29);
    CHECK_FALSE(help.effect.empty());
  }
}
