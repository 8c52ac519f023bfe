/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A sampler in GLib's main loop, by hmn_sampler_handle.
 */
#define _GNU_SOURCE
#include <glib-unix.h>

#include "support/machine.h"

typedef struct watch {
  hmn_sampler* sampler;
  GMainLoop* loop;
  int snapshot_count;
} watch;

static gboolean pull(gint fd, GIOCondition condition, gpointer argument) {
  watch* w = argument;
  hmn_snapshot* snapshot = NULL;
  (void)fd;
  assert_int_equal(condition, G_IO_IN);
  const hmn_status status = hmn_sampler_next(w->sampler, 0, &snapshot, NULL);
  hmn_snapshot_destroy(snapshot);
  if (status == HMN_OK && ++w->snapshot_count == 3) {
    assert_status(hmn_sampler_stop(w->sampler, NULL), HMN_OK);
  }
  if (status != HMN_E_STATE) return G_SOURCE_CONTINUE;
  g_main_loop_quit(w->loop);
  return G_SOURCE_REMOVE;
}

static void run(watch* w, int handle) {
  w->loop = g_main_loop_new(NULL, FALSE);
  g_unix_fd_add(handle, G_IO_IN, pull, w);
  g_main_loop_run(w->loop);
  g_main_loop_unref(w->loop);
}

static void a_glib_loop_pulls_snapshots_until_the_sampler_stops(void** state) {
  (void)state;
  NEW(hmn_sampler_options, options);
  machine m;
  watch w = {0};
  int64_t handle = -1;
  options.interval_ns = HMN_MILLISECONDS(20);
  machine_make(&m, "{\"devices\": [{\"name\": \"GPU\"}]}", NULL);
  assert_status(hmn_sampler_create(m.context, &options, NULL, &w.sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_handle(w.sampler, &handle, NULL), HMN_OK);
  assert_status(hmn_sampler_start(w.sampler, NULL), HMN_OK);
  run(&w, (int)handle);
  assert_true(w.snapshot_count >= 3);
  hmn_sampler_destroy(w.sampler);
  machine_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_glib_loop_pulls_snapshots_until_the_sampler_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
