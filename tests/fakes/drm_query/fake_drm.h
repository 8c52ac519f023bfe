/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A shared object in front of the C library: device nodes below a folder "dri" or "accel" that
 * answer the memory region queries of i915 and xe as the kernel does, and a log of what was opened,
 * asked and closed. Preloaded into a program, or linked into one.
 *
 * Scenario, a line each; the file that FAKE_DRM_SCENARIO names, or the text of fake_drm_load:
 *   perfmon                           the caller has CAP_PERFMON
 *   node <name> <i915|xe> [<rule>=<number>]...
 *     open=<errno>       opening fails            ioctl=<errno>    each request fails
 *     item=<errno>       i915: the item's length is that error
 *     interrupt=<n>      the first n requests fail with EINTR
 *     grow=1             a region appears between the first two passes
 *     needed=<n>         size of the first pass    length=<n>       i915: of the second
 *     count=<n>          the answer has n regions, by its count
 *   region <name> <class> <instance> <size> <used> <visible> <visible used>
 *
 * Log, the file that FAKE_DRM_LOG names, or fake_drm_log: "open renderD128", "measure renderD128",
 * "ask renderD128", "close renderD128".
 */
#ifndef FAKE_DRM_H
#define FAKE_DRM_H

#ifdef __cplusplus
extern "C" {
#endif

/* In place of the environment's. */
void fake_drm_load(const char *scenario);
/* Since the last asking; valid until the next. */
const char *fake_drm_log(void);
/* Nodes that are open now. */
int fake_drm_open_nodes(void);

#ifdef __cplusplus
}
#endif
#endif
