// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __attribute__((visibility("default"))) int hmn_platform_probe() {
  return 4711;
}
