// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/pci.hpp"

#include <doctest/doctest.h>

#include "fake_tree.hpp"
#include "model/device.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

bool may_have(const hmn_fake::Tree& tree, std::uint32_t vendor) {
  pci::VendorCache none{0};
  return pci::may_have_gpu(vendor, tree.proc(), tree.sys(), none);
}

// As drivers/pci/proc.c prints it: bus and function, vendor and device, the interrupt, addresses
// and sizes, the driver.
void set_kernel_list(const hmn_fake::Tree& tree, const std::string& ids) {
  std::string text;
  for (std::size_t position = 0; position < ids.size(); position = ids.find('\n', position) + 1) {
    text += ids.substr(position, ids.find('\n', position) - position) + "\t10";
    for (int i = 0; i < 14; ++i) text += "\t               0";
    text += "\tpcieport\n";
  }
  tree.write("proc/bus/pci/devices", text);
}

}  // namespace

TEST_CASE("the kernel's list shows whether a vendor has functions") {
  const hmn_fake::Tree tree;
  set_kernel_list(tree, "0010\t80861234\n4111\t10de2684\n4112\t80861234\n");
  CHECK(may_have(tree, vendor::nvidia));
  CHECK_FALSE(may_have(tree, vendor::amd));
  set_kernel_list(tree, "0010\t80861234\n0300\t100273ff\n");
  CHECK_FALSE(may_have(tree, vendor::nvidia));
  CHECK(may_have(tree, vendor::amd));
  set_kernel_list(tree, "0010\t80861234\n4111\t10de2684\n0300\t100273ff\n");
  CHECK(may_have(tree, vendor::nvidia));
  CHECK(may_have(tree, vendor::amd));
}

TEST_CASE("a vendor that is not tracked may have functions") {
  const hmn_fake::Tree tree;
  set_kernel_list(tree, "4111\t10de2684\n");
  CHECK(may_have(tree, vendor::intel));
}

TEST_CASE("a list that is missing, empty, broken or of another machine proves nothing") {
  const hmn_fake::Tree tree;
  CHECK(may_have(tree, vendor::nvidia));
  for (const char* list : {"", "4111\n", "no list\n", "4111 80862684\n", "4111\t80g62684\n"}) {
    CAPTURE(list);
    tree.write("proc/bus/pci/devices", list);
    CHECK(may_have(tree, vendor::nvidia));
  }
  set_kernel_list(tree, "0010\t80861234\n");
  CHECK_FALSE(may_have(tree, vendor::nvidia));
  const hmn_fake::Tree other;
  for (const char* list : {"", "0010\t80861234\n"}) {
    set_kernel_list(other, list);
    pci::VendorCache none{0};
    CHECK(pci::may_have_gpu(vendor::nvidia, other.proc(), tree.sys(), none));
  }
}

TEST_CASE("the list of vendors is shared by callers within its maximum age") {
  const hmn_fake::Tree tree;
  set_kernel_list(tree, "4111\t10de2684\n");
  pci::VendorCache vendors{0};
  const std::uint64_t start_ns = platform::monotonic_ns();
  CHECK(pci::may_have_gpu(vendor::nvidia, tree.proc(), tree.sys(), vendors));
  set_kernel_list(tree, "0300\t100273ff\n");
  const bool has_amd = pci::may_have_gpu(vendor::amd, tree.proc(), tree.sys(), vendors);
  const bool is_late = platform::monotonic_ns() - start_ns >= pci::max_list_age_ns;
  CHECK(has_amd == is_late);
  platform::sleep_ns(pci::max_list_age_ns);
  CHECK(pci::may_have_gpu(vendor::amd, tree.proc(), tree.sys(), vendors));
  CHECK_FALSE(pci::may_have_gpu(vendor::nvidia, tree.proc(), tree.sys(), vendors));
}
