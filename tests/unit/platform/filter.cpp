// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <iterator>

namespace test {
namespace {

unsigned failing(int error) {
  return SECCOMP_RET_ERRNO | static_cast<unsigned>(error);
}

constexpr unsigned argument(unsigned index) {
  return static_cast<unsigned>(offsetof(seccomp_data, args)) + index * 8;  // its low half
}

bool install(long number, unsigned argument_offset, unsigned mask, unsigned value,
             unsigned action) {
  const auto call = static_cast<unsigned>(number);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_offset),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool refuse(long number, int error, unsigned mask, unsigned value) {
  return install(number, argument(0), mask, value, failing(error));
}

bool refuse_third(long number, int error, unsigned value) {
  return install(number, argument(2), ~0U, value, failing(error));
}

bool trap(long number) {
  return install(number, argument(0), 0, 0, SECCOMP_RET_TRAP);
}

}  // namespace test
