/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A sampler in libuv's loop, by hmn_sampler_handle.
 */
#define _GNU_SOURCE
#include <uv.h>

#include "support/machine.h"

typedef struct watch {
  hmn_sampler* sampler;
  int snapshot_count;
} watch;

static void pull(uv_poll_t* poll, int error, int events) {
  watch* w = poll->data;
  hmn_snapshot* snapshot = NULL;
  assert_int_equal(error, 0);
  assert_int_equal(events, UV_READABLE);
  const hmn_status status = hmn_sampler_next(w->sampler, 0, &snapshot, NULL);
  hmn_snapshot_destroy(snapshot);
  if (status == HMN_OK && ++w->snapshot_count == 3) {
    assert_status(hmn_sampler_stop(w->sampler, NULL), HMN_OK);
  }
  if (status == HMN_E_STATE) uv_close((uv_handle_t*)poll, NULL);
}

static void run(watch* w, int handle) {
  uv_loop_t loop;
  uv_poll_t poll;
  assert_int_equal(uv_loop_init(&loop), 0);
  assert_int_equal(uv_poll_init(&loop, &poll, handle), 0);
  poll.data = w;
  assert_int_equal(uv_poll_start(&poll, UV_READABLE, pull), 0);
  assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(&loop), 0);
}

static void a_libuv_loop_pulls_snapshots_until_the_sampler_stops(void** state) {
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
      cmocka_unit_test(a_libuv_loop_pulls_snapshots_until_the_sampler_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
