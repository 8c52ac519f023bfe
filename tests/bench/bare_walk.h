/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HMN_TESTS_BENCH_BARE_WALK_H
#define HMN_TESTS_BENCH_BARE_WALK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Stats each descriptor of each process: how many there are, and how many of them are devices. */
long bare_walk(long* devices);

#ifdef __cplusplus
}
#endif

#endif
