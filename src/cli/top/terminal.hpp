// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/top/frame.hpp"

namespace hmn::cli::top {

enum class Key {
  character,
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  tab,
  backspace,
  f1,
  f9
};

struct KeyPress {
  Key key = Key::character;
  char32_t character = 0;
};

// Terminal that shows frames as a whole and takes keys. It is restored by the destructor, while the
// program is stopped, and when a signal ends the program.
class Terminal {
 public:
  struct Events {
    std::vector<KeyPress> keys;
    bool is_woken = false;    // by wake()
    bool is_changed = false;  // the size changed, or another program used the terminal
    bool is_ended = false;    // a signal requested the end, or the terminal is gone
  };

  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  virtual ~Terminal() = default;

  virtual int width() const = 0;
  virtual int height() const = 0;
  // Writes what differs from the previous frame.
  virtual void show(const Frame& frame) = 0;
  // Writes everything at the next show().
  virtual void redraw() = 0;
  virtual Events wait() = 0;
  // Makes wait() return; callable by any thread.
  virtual void wake() = 0;
};

// Takes the terminal's descriptor and its type, as in TERM. Fails where this build
// or the terminal does not support it.
Expected<std::unique_ptr<Terminal>> open_terminal(int output, const std::string& terminal_type,
                                                  bool has_colour);

}  // namespace hmn::cli::top
