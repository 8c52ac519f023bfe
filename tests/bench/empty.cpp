// SPDX-License-Identifier: MIT OR Apache-2.0
int main() {
  return 0;
}
