// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::intel {

// The folder of the PCI function whose link is the slot's. An Arc card is behind a switch of its
// own, inside of which links read 2.5 GT/s x1: then it is the switch's upper end, two folders up,
// or nothing where that cannot be seen (a virtual machine that was given the card alone).
std::string link_folder(std::string_view device_folder);

}  // namespace hmn::intel
