/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The handle of a sampler is ready whenever hmn_sampler_next would return without waiting.
 */
#define _GNU_SOURCE
#include "support/event.h"
#include "support/machine.h"

#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

static const char one_gpu[] =
    "{\"devices\": [{\"name\": \"GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"16GiB\", "
    "\"used\": \"3GiB\"}]}]}";

typedef struct sampling {
  machine machine;
  hmn_sampler* sampler;
  int64_t handle;
} sampling;

static void sample(sampling* s, uint32_t interval_ms, hmn_flags flags) {
  NEW(hmn_sampler_options, options);
  options.interval_ns = HMN_MILLISECONDS(interval_ms);
  options.flags = flags;
  machine_make(&s->machine, one_gpu, NULL);
  assert_status(hmn_sampler_create(s->machine.context, &options, NULL, &s->sampler, NULL), HMN_OK);
  assert_returns(hmn_sampler_handle(s->sampler, &s->handle, &error), HMN_OK);
  assert_true(s->handle >= 0);
}

static void end(sampling* s) {
  hmn_sampler_destroy(s->sampler);
  machine_end(&s->machine);
}

static hmn_status pull(const sampling* s) {
  hmn_snapshot* snapshot = NULL;
  const hmn_status status = hmn_sampler_next(s->sampler, 0, &snapshot, NULL);
  hmn_snapshot_destroy(snapshot);
  return status;
}

static void a_sampler_always_returns_the_same_handle(void** state) {
  (void)state;
  sampling s;
  int64_t second = -1;
  sample(&s, PATIENT_MS, 0);
  assert_status(hmn_sampler_handle(s.sampler, &second, NULL), HMN_OK);
  assert_int_equal(second, s.handle);
  end(&s);
}

static void the_handle_is_ready_before_the_start(void** state) {
  (void)state;
  sampling s;
  sample(&s, PATIENT_MS, 0);
  assert_true(becomes_ready(s.handle, 0));
  assert_status(pull(&s), HMN_E_STATE);
  end(&s);
}

static void the_handle_is_ready_while_a_snapshot_is_pending(void** state) {
  (void)state;
  sampling s;
  sample(&s, PATIENT_MS, 0);
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  assert_true(becomes_ready(s.handle, PATIENT_MS));
  assert_true(becomes_ready(s.handle, 0));
  assert_status(pull(&s), HMN_OK);
  assert_false(becomes_ready(s.handle, 0));
  assert_status(pull(&s), HMN_E_EMPTY);
  end(&s);
}

static void the_handle_is_ready_again_for_each_snapshot(void** state) {
  (void)state;
  sampling s;
  sample(&s, 10, 0);
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  for (int i = 0; i < 5; ++i) {
    assert_true(becomes_ready(s.handle, PATIENT_MS));
    assert_status(pull(&s), HMN_OK);
  }
  end(&s);
}

static void the_handle_stays_ready_after_stop(void** state) {
  (void)state;
  sampling s;
  sample(&s, PATIENT_MS, 0);
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  assert_true(becomes_ready(s.handle, PATIENT_MS));
  assert_status(pull(&s), HMN_OK);
  assert_status(hmn_sampler_stop(s.sampler, NULL), HMN_OK);
  assert_true(becomes_ready(s.handle, 0));
  assert_status(pull(&s), HMN_E_STATE);
  assert_true(becomes_ready(s.handle, 0));
  end(&s);
}

static void the_handle_of_a_sampler_of_peaks_is_always_ready(void** state) {
  (void)state;
  sampling s;
  sample(&s, PATIENT_MS, HMN_SAMPLER_PEAKS_ONLY);
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  assert_true(becomes_ready(s.handle, 0));
  assert_status(pull(&s), HMN_E_STATE);
  end(&s);
}

/* The handle is first requested when a snapshot is already pending. */
static void a_handle_requested_late_is_ready_too(void** state) {
  (void)state;
  machine m;
  sampling s;
  NEW(hmn_sampler_info, info);
  machine_make(&m, one_gpu, NULL);
  assert_status(hmn_sampler_create(m.context, NULL, NULL, &s.sampler, NULL), HMN_OK);
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  wait_until(hmn_sampler_read(s.sampler, &info, NULL) == HMN_OK && info.pending > 0);
  assert_status(hmn_sampler_handle(s.sampler, &s.handle, NULL), HMN_OK);
  assert_true(becomes_ready(s.handle, 0));
  hmn_sampler_destroy(s.sampler);
  machine_end(&m);
}

static void a_null_sampler_or_result_is_an_argument_error(void** state) {
  (void)state;
  int64_t handle = 7;
  assert_returns(hmn_sampler_handle(NULL, &handle, &error), HMN_E_ARGUMENT);
  assert_int_equal(handle, -1);
  sampling s;
  sample(&s, PATIENT_MS, 0);
  assert_returns(hmn_sampler_handle(s.sampler, NULL, &error), HMN_E_ARGUMENT);
  end(&s);
}

#if defined(__linux__)
static hmn_status handle_without_descriptors(hmn_sampler* sampler, int64_t* handle) {
  struct rlimit before, none;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  const hmn_status status = hmn_sampler_handle(sampler, handle, NULL);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  return status;
}

static void a_handle_that_cannot_be_created_is_minus_1(void** state) {
  (void)state;
  machine m;
  machine_make(&m, one_gpu, NULL);
  hmn_sampler* sampler = NULL;
  assert_status(hmn_sampler_create(m.context, NULL, NULL, &sampler, NULL), HMN_OK);
  int64_t handle = 0; /* standard input */
  assert_status(handle_without_descriptors(sampler, &handle), HMN_E_LIMIT);
  assert_int_equal(handle, -1);
  assert_returns(hmn_sampler_handle(sampler, &handle, &error), HMN_OK);
  assert_true(handle > 0);
  hmn_sampler_destroy(sampler);
  machine_end(&m);
}

/* An edge is reported once for each change from not ready to ready. */
static void each_snapshot_causes_an_edge(void** state) {
  (void)state;
  sampling s;
  sample(&s, 50, 0);
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event edge = {.events = EPOLLIN | EPOLLET}, event;
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  assert_int_equal(epoll_ctl(loop, EPOLL_CTL_ADD, (int)s.handle, &edge), 0);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(epoll_wait(loop, &event, 1, PATIENT_MS), 1);
    assert_int_equal(event.events, EPOLLIN);
    assert_status(pull(&s), HMN_OK);
    while (pull(&s) == HMN_OK) {
    }
  }
  close(loop);
  end(&s);
}

/* A program may close every descriptor and open others, which are not written to. */
static void a_descriptor_the_program_reuses_is_left_alone(void** state) {
  (void)state;
  sampling s;
  sample(&s, 20, 0);
  FILE* other = tmpfile();
  assert_int_equal(dup2(fileno(other), (int)s.handle), s.handle);
  assert_status(hmn_sampler_start(s.sampler, NULL), HMN_OK);
  for (int i = 0; i < 3; ++i) {
    hmn_snapshot* snapshot = NULL;
    assert_status(hmn_sampler_next(s.sampler, HMN_MILLISECONDS(PATIENT_MS), &snapshot, NULL),
                  HMN_OK);
    hmn_snapshot_destroy(snapshot);
  }
  const int number = (int)s.handle;
  end(&s);
  assert_int_equal(lseek(number, 0, SEEK_END), 0);
  assert_int_equal(close(number), 0);
  fclose(other);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_sampler_always_returns_the_same_handle),
    cmocka_unit_test(the_handle_is_ready_before_the_start),
    cmocka_unit_test(the_handle_is_ready_while_a_snapshot_is_pending),
    cmocka_unit_test(the_handle_is_ready_again_for_each_snapshot),
    cmocka_unit_test(the_handle_stays_ready_after_stop),
    cmocka_unit_test(the_handle_of_a_sampler_of_peaks_is_always_ready),
    cmocka_unit_test(a_handle_requested_late_is_ready_too),
    cmocka_unit_test(a_null_sampler_or_result_is_an_argument_error),
#if defined(__linux__)
    cmocka_unit_test(a_handle_that_cannot_be_created_is_minus_1),
    cmocka_unit_test(each_snapshot_causes_an_edge),
    cmocka_unit_test(a_descriptor_the_program_reuses_is_left_alone),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
