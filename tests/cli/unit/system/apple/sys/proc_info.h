/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The fields that hmn reads, at places of their own. */
#pragma once

#include <stdint.h>

#define PROC_PIDTBSDINFO 3

struct proc_bsdinfo {
  uint32_t pbi_status;
  uint64_t pbi_start_tvsec;
  uint64_t pbi_start_tvusec;
};
