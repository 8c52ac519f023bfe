/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a test steers the fake NVML: find these in the loaded libnvidia-ml.so.1 with dlsym. */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#ifdef __cplusplus
extern "C" {
#endif

/* A path to a scenario, or the scenario itself when the text starts with '{'. Wins over the
 * environment until fake_nvml_reset. 0, or -1 with the reason in fake_nvml_problem. An
 * initialised session goes on with the new scenario. */
int fake_nvml_load(const char* path_or_json);
int fake_nvml_reload(void);
const char* fake_nvml_problem(void);

/* Forgets the loaded scenario, the counters, the rules' counters, the log and all sessions. */
void fake_nvml_reset(void);

/* Calls of one symbol since the last reset; NULL: of all symbols; ~0 for an unknown name. */
unsigned long long fake_nvml_calls(const char* symbol);
unsigned long long fake_nvml_device_calls(const char* symbol, unsigned device);

/* Successful initialisations less shutdowns, and the flags of the last initialisation. */
int fake_nvml_initialized(void);
unsigned fake_nvml_init_flags(void);

/* Calls inside the fake now, and those of them that are held by a hang rule. */
int fake_nvml_inside(void);
int fake_nvml_hanging(void);

/* The n-th call from now on returns that code; 0: none does. */
void fake_nvml_fail(unsigned long long number, int result);

/* Ends every hang under way; hangs that begin later hold again. */
void fake_nvml_release(void);

/* As if the kernel module was reloaded: every call returns UNINITIALIZED until the next init. */
void fake_nvml_driver_reload(void);

/* An Xid of the device at this position: those hear of it who have its events registered. -1: no
 * such device. */
int fake_nvml_raise(unsigned device, unsigned long long xid);
/* Sets of events that are not freed, and for how long they were waited for in all. */
int fake_nvml_event_sets(void);
unsigned long long fake_nvml_waited_ms(void);

/* Appends "symbol device result" for each call; NULL ends the log. */
void fake_nvml_log(const char* path);

#ifdef __cplusplus
}
#endif
#endif
