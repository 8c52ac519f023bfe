// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/generate from include/hypomnesis.h.
/* The fields of each result: name, how it is written, where it lies, and the bit that guards it. */
#ifndef HMN_TESTS_BINDINGS_RECORDS_H
#define HMN_TESTS_BINDINGS_RECORDS_H
#include <hypomnesis.h>
#include <stddef.h>

enum kind { END, U32, I32, U64, I64, F64, TEXT };

struct field {
  const char* name;
  enum kind kind;
  size_t offset;
  hmn_fields bit; /* 0: always there */
};

extern const struct field backend_info_fields[];
extern const struct field process_memory_fields[];
extern const struct field system_memory_fields[];
extern const struct field device_fields[];
extern const struct field pool_fields[];
extern const struct field telemetry_fields[];
extern const struct field metric_fields[];
extern const struct field usage_fields[];
extern const struct field group_fields[];
extern const struct field snapshot_info_fields[];
extern const struct field diagnostic_fields[];
extern const struct field delta_fields[];
extern const struct field sampler_info_fields[];
extern const struct field peak_fields[];
extern const struct field tracker_info_fields[];
extern const struct field tag_fields[];
extern const struct field spill_info_fields[];
extern const struct field episode_fields[];

#endif
