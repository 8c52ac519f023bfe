// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/keys.hpp"

#include <doctest/doctest.h>

#include "cli/top/screen.hpp"

using hmn::cli::top::all_key_help;
using hmn::cli::top::draw_screen;
using hmn::cli::top::GpuReading;
using hmn::cli::top::Key;
using hmn::cli::top::KeyPress;
using hmn::cli::top::MachineReading;
using hmn::cli::top::Page;
using hmn::cli::top::ProcessReading;
using hmn::cli::top::ProcessReadings;
using hmn::cli::top::Request;
using hmn::cli::top::State;

namespace {

std::shared_ptr<MachineReading> machine_with(const std::vector<std::uint32_t>& listed) {
  auto rows = std::make_shared<ProcessReadings>();
  for (const auto pid : listed) {
    ProcessReading row;
    row.on = std::make_shared<const hmn::cli::Gpu>();
    row.usage.pid = pid;
    row.usage.process_key = 1000 + pid;
    row.usage.used_bytes = pid;
    rows->push_back(row);
  }
  auto made = std::make_shared<MachineReading>();
  made->gpus.resize(2);
  made->gpus[1].of.device.index = 1;
  made->processes = rows;
  made->has_processes = true;
  return made;
}

Request type(State& in, std::u32string_view keys) {
  auto last = Request::none;
  for (const auto each : keys) last = press(in, {Key::character, each}, 5);
  return last;
}

}  // namespace

TEST_CASE("what is chosen stays chosen when others come and go") {
  State in;
  in.take(machine_with({10, 20, 30}));
  REQUIRE(in.process() != nullptr);
  CHECK(in.process()->usage.pid == 30);
  press(in, {Key::down}, 5);
  CHECK(in.process()->usage.pid == 20);
  in.take(machine_with({20, 21, 22, 23}));
  CHECK(in.process()->usage.pid == 20);
  CHECK(in.processes.at == 3);
  in.take(machine_with({7, 8}));
  CHECK(in.process()->usage.pid == 7);
}

TEST_CASE("a reused pid is another process") {
  State in;
  in.take(machine_with({10}));
  auto other = machine_with({10});
  auto rows = std::make_shared<ProcessReadings>(*other->processes);
  rows->front().usage.process_key = 5;
  other->processes = rows;
  press(in, {Key::enter}, 5);
  REQUIRE(in.at == Page::process);
  in.take(other);
  CHECK(in.process() == nullptr);
}

TEST_CASE("with --read-only no page leads to a signal") {
  for (const bool is_on_process : {false, true}) {
    State in;
    in.is_read_only = true;
    in.take(machine_with({10}));
    if (is_on_process) press(in, {Key::enter}, 5);
    const auto before = in.at;
    CHECK(type(in, U"x") == Request::none);
    CHECK(in.at == before);
    CHECK(in.message == "--read-only: no signals are sent");
    CHECK_FALSE(in.pending);
  }
}

TEST_CASE("a signal needs its confirmation") {
  if (hmn::cli::signal_choices().empty()) return;
  for (const auto answer : {U'n', U'\r', U'x'}) {
    State in;
    in.take(machine_with({10}));
    type(in, U"x");
    REQUIRE(in.at == Page::signals);
    press(in, {Key::enter}, 5);
    REQUIRE(in.at == Page::confirmation);
    CHECK(type(in, {&answer, 1}) == Request::none);
    CHECK_FALSE(in.pending);
  }
  State in;
  in.take(machine_with({10}));
  type(in, U"x");
  press(in, {Key::enter}, 5);
  CHECK(type(in, U"y") == Request::send_signal);
  REQUIRE(in.pending);
  CHECK(in.pending->to.pid == 10);
  CHECK(in.pending->to.start == 1010);
}

TEST_CASE("keys of the filter are text until it is kept or dropped") {
  State in;
  in.take(machine_with({10, 20}));
  CHECK(type(in, U"/q2") == Request::none);
  CHECK(in.choice.filter == "q2");
  press(in, {Key::backspace}, 5);
  type(in, U"é");
  CHECK(in.choice.filter == "qé");
  press(in, {Key::backspace}, 5);
  CHECK(in.choice.filter == "q");
  press(in, {Key::escape}, 5);
  CHECK(in.choice.filter.empty());
  CHECK(type(in, U"q") == Request::quit);
}

TEST_CASE("every key on every page leaves a frame that can be drawn") {
  const Key special[] = {Key::up,        Key::down,      Key::left, Key::right, Key::page_up,
                         Key::page_down, Key::home,      Key::end,  Key::enter, Key::escape,
                         Key::tab,       Key::backspace, Key::f1,   Key::f9};
  State in;
  in.take(machine_with({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  unsigned random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 1664525 + 1013904223;
    const auto choice = random >> 16;
    KeyPress pressed{Key::character, U' ' + choice % 95};
    if (choice % 3 == 0) pressed = {special[choice / 3 % std::size(special)]};
    if (press(in, pressed, 4) == Request::send_signal) in.pending.reset();
    if (i % 500 == 0) in.take(machine_with({choice % 7 + 1, choice % 11 + 20}));
    const auto shown =
        draw_screen(in, 60 + static_cast<int>(choice % 100), 16, {i % 2 == 0, false});
    REQUIRE(shown.height() == 16);
  }
}

TEST_CASE("the keys of each line of the help fit their column") {
  for (const auto& each : all_key_help()) {
    CHECK(each.keys.size() < 29);
    CHECK_FALSE(each.effect.empty());
  }
}
