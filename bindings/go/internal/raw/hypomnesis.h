/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hypomnesis.h: the C interface of libhypomnesis, and its specification.
 *
 * libhypomnesis measures the memory of a process on the host and on a GPU, the memory of the whole
 * GPU, and the GPU's load, temperature and power.
 *
 *     hmn_context *context;
 *     hmn_pool pool = HMN_INIT(hmn_pool);
 *     if (hmn_context_create(NULL, &context, NULL) == HMN_OK &&
 *         hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL) == HMN_OK && pool.present & HMN_POOL_HAS_FREE)
 *         printf("%llu bytes free\n", (unsigned long long)pool.free_bytes);
 *     hmn_context_destroy(context);
 *
 * RULES FOR EVERY FUNCTION AND STRUCT
 *
 * Initialization. Every struct begins as `hmn_pool pool = HMN_INIT(hmn_pool);`: all zero except
 * struct_size. HMN_INIT needs C99 or C++11. In older languages, memset(&pool, 0, sizeof pool) and
 * pool.struct_size = sizeof pool do the same, as do designated initializers that name struct_size.
 * A struct can be used in any number of calls.
 *
 * Inputs (hmn_context_options, hmn_snapshot_options, hmn_sampler_options, hmn_tracker_options,
 * hmn_spill_options, hmn_spill_sample; the inputs of an estimate: hmn_packing, hmn_attention,
 * hmn_cache; and keys: hmn_metric_key, hmn_reason_key). Zero is the default of every field, so
 * NULL, an initialized struct and an older, shorter struct mean the same. An unknown flag bit, or a
 * byte other than zero past the fields that this library knows, is HMN_E_UNKNOWN_FLAG: a request is
 * never ignored.
 *
 * Results (all other structs). The call reads only struct_size. It must be a multiple of 8, from
 * the struct's ..._SIZE_V1 to 65536; otherwise the call returns HMN_E_STRUCT_SIZE and writes
 * nothing. On HMN_OK, every byte up to struct_size is written, and none past it. A field whose bit
 * in `present` is clear is zero, and no bit is set for a field past struct_size. On any other
 * status, all bytes after the struct_size field are zero. A handle that could not be created is
 * NULL, and a count that could not be determined is 0.
 *
 * Presence bits. The bit of a field is HMN_<struct>_HAS_<field>, a 64-bit number of type
 * hmn_fields. The same bits are used in `present` of a result, in `fields` of a request and in
 * `field` of a diagnostic.
 *
 * hmn_error. It is the last argument of every function that returns hmn_status, and may be NULL.
 * Every call writes it, also on HMN_OK (status 0, empty message). If error->struct_size is wrong,
 * the call does nothing and returns HMN_E_STRUCT_SIZE. No "last error" is kept anywhere. A message
 * names an argument or field as in the call ("capacity: 100000 is above 65536"); its wording is not
 * part of the interface.
 *
 * Devices and lists. The argument `device_index` is the index of a device in its context, as in
 * hmn_device.index, also for functions that read a snapshot (hmn_snapshot_find_...). The argument
 * `position` counts the entries of a list from 0, and differs between snapshots
 * (hmn_snapshot_..._at). Snapshots and inputs are const; other handles are not.
 *
 * Strings are written to (buffer, capacity, *needed) as valid, terminated UTF-8; *needed (may be
 * NULL) includes the terminator. If the buffer is too small, the call returns HMN_E_BUFFER and sets
 * buffer[0] = 0 and *needed. NULL with capacity 0 queries the size and returns HMN_OK. Invalid
 * UTF-8 is replaced with U+FFFD. char[N] fields are terminated UTF-8; a longer text is cut at a
 * code point, with HMN_NOTE_TRUNCATED. Strings that a caller passes are terminated UTF-8, and are
 * copied before the call returns. The bytes of a path are passed to the system unchanged, except on
 * Windows; in a label, invalid UTF-8 is replaced.
 *
 * Numbers. Bytes are exact. An unknown value is absent: its bit in `present` is clear, and the
 * snapshot has a diagnostic with the reason. There are no sentinel values. Enumerations grow: 0 is
 * "unknown", and callers must treat a number that they do not know as 0.
 *
 * Durations are uint64_t nanoseconds, in names that end in _ns; HMN_MILLISECONDS(n) converts. In
 * options, 0 is the default, HMN_NS_IMMEDIATE is no time at all, and HMN_NS_UNLIMITED is no limit;
 * any other value below 0.1 ms (100000) is HMN_E_RANGE, because it is most likely a number in
 * another unit. As an argument of a function, 0 does not wait, HMN_NS_UNLIMITED waits without a
 * limit, and any other value is allowed.
 *
 * Times. Every monotonic_ns is a time of the clock that hmn_monotonic_ns reads, and can be compared
 * within one boot of one machine. This clock stops while the machine is suspended, as do deadlines,
 * timeouts, intervals, idle_close_ns and every window_ns. Ages continue: age_ns, stale_ns and
 * max_age_ns use CLOCK_BOOTTIME on Linux, mach_continuous_time on macOS and QueryPerformanceCounter
 * on Windows. A rate between two readings, such as a load or a power, is absent
 * (HMN_REASON_NOT_YET) if the machine was suspended for more than 10 ms between them. Every age_ns
 * counts from the driver's answer to the end of the reading: for a direct reading, to the return of
 * the call; in a snapshot, for all records, to its monotonic_ns + duration_ns; for
 * hmn_sampler_latest_pool and hmn_sampler_latest_telemetry, to the call.
 *
 * Threads. Every handle may be used by several threads at the same time. Only destroy needs
 * exclusive access; it accepts NULL and never waits for a driver, and handles may be destroyed in
 * any order. A struct or buffer that a call writes belongs to the call until it returns. With
 * HMN_CONTEXT_ENVIRONMENT, hmn_context_create calls getenv: no other thread may call setenv or
 * putenv at that time. No other function reads the environment, and none changes it. To stop
 * threads that use a context, call hmn_context_cancel, join the threads, and call
 * hmn_context_destroy.
 *
 * Fork. In a forked child, the parent's contexts, samplers and spill detectors return HMN_E_FORKED
 * and may be destroyed; snapshots stay readable, and trackers usable; a new context works.
 *
 * Signals. No function may be called from a signal handler. The library installs no handlers,
 * prints nothing, does not change the locale, preserves errno, and is not a thread cancellation
 * point.
 *
 * Statuses. In addition to the statuses documented below, every function can return HMN_E_ARGUMENT
 * (a required pointer is NULL), HMN_E_STRUCT_SIZE, HMN_E_UNKNOWN_FLAG, HMN_E_NO_MEMORY (the host's
 * memory is exhausted) and HMN_E_INTERNAL (a defect of this library). With a context, a sampler, a
 * spill detector or a tracker of a device, it can also return HMN_E_FORKED, HMN_E_LIMIT (no file
 * descriptor or thread is left) and HMN_E_CANCELLED (hmn_context_cancel).
 *
 * Versions. @since is the first version that has an item; a field, parameter or enumerator without
 * it is as old as its struct, function or enumeration, and an enumeration without it is as old as
 * 0.1. From 1.0.0 on, the measuring functions are stable: structs, enumerations and flags grow, and
 * no meaning changes. Sections marked provisional give the same guarantee for each function and
 * struct, but may be superseded: a better function gets another name, and the old one is
 * deprecated. A deprecated function has HMN_DEPRECATED, and @deprecated with the version and the
 * replacement. It stays in this header for at least two minor releases, and in the library
 * permanently.
 */
#ifndef HMN_HYPOMNESIS_H
#define HMN_HYPOMNESIS_H
#include <stdint.h>

/* Version of this header. Until 1.0.0, each minor version has its own soname, and sizes may still
 * change. */
#define HMN_VERSION_MAJOR 0
#define HMN_VERSION_MINOR 1
#define HMN_VERSION_PATCH 0
#define HMN_VERSION_NUMBER 1000u /* major * 1000000 + minor * 1000 + patch */

/* Durations, in nanoseconds: see "Durations" above. */
#ifdef __cplusplus
#  define HMN_MILLISECONDS(n) (static_cast<uint64_t>(n) * 1000000u)
#else
#  define HMN_MILLISECONDS(n) ((uint64_t)(n) * 1000000u)
#endif
#define HMN_NS_IMMEDIATE 1u                    /* in an option: no time at all */
#define HMN_NS_UNLIMITED (~HMN_MILLISECONDS(0)) /* no limit: all bits set */

#if defined(_WIN32) && !defined(SWIG)
#  define HMN_CALL __cdecl
#else
#  define HMN_CALL
#endif
#if !defined(HMN_API)
#  if defined(SWIG) || defined(HMN_STATIC) /* HMN_STATIC: set by the .pc and CMake files */
#    define HMN_API
#  elif defined(_WIN32) && defined(HMN_BUILD) /* exports come from the .def made from the map */
#    define HMN_API
#  elif defined(_WIN32)
#    define HMN_API __declspec(dllimport)
#  elif defined(__GNUC__)
#    define HMN_API __attribute__((visibility("default")))
#  else
#    define HMN_API
#  endif
#endif
#define HMN_FN(type) HMN_API type HMN_CALL
/* Before HMN_FN: warns callers of a function. Define it as empty to disable these warnings. */
#if !defined(HMN_DEPRECATED)
#  if defined(SWIG)
#    define HMN_DEPRECATED(instead)
#  elif defined(__GNUC__)
#    define HMN_DEPRECATED(instead) __attribute__((deprecated(instead)))
#  elif defined(_MSC_VER)
#    define HMN_DEPRECATED(instead) __declspec(deprecated(instead))
#  else
#    define HMN_DEPRECATED(instead)
#  endif
#endif
#if defined(__cplusplus) && (__cplusplus >= 201103L || (defined(_MSC_VER) && _MSC_VER >= 1900))
#  define HMN_NX noexcept
#else
#  define HMN_NX
#endif
/* HMN_INIT(type): initial value of a struct, see "Initialization" above. Not a constant before
 * C++17. */
#if defined(__cplusplus)
#  if __cplusplus >= 201103L || (defined(_MSC_VER) && _MSC_VER >= 1900)
#    define HMN_INIT(type) \
       ([]() noexcept -> type { type hmn_made = {}; hmn_made.struct_size = sizeof(type); return hmn_made; }())
#  endif
#elif (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L) || defined(_MSC_VER)
#  define HMN_INIT(type) {.struct_size = sizeof(type)}
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles ------------------------------------------------------------------------------- */

/** Backends, opened once and kept. @since 0.1 */
typedef struct hmn_context hmn_context;
/** Immutable result of one reading of everything requested; outlives its context. @since 0.1 */
typedef struct hmn_snapshot hmn_snapshot;
/** Thread that takes snapshots on a schedule; outlives its context. @since 0.1 */
typedef struct hmn_sampler hmn_sampler;
/** Limit on a program's own allocations; outlives its context. @since 0.1 */
typedef struct hmn_tracker hmn_tracker;
/** Detector of device memory that moves to the host; outlives its context. @since 0.1 */
typedef struct hmn_spill hmn_spill;

/* ---- status -------------------------------------------------------------------------------- */

/** 0 is success, a negative number is an error; positive numbers are reserved. No number is ever
 *  reused. */
typedef int32_t hmn_status;
/** Set of bits. */
typedef uint32_t hmn_flags;
/** Set of presence bits: fields of a struct that are known, wanted or missing. */
typedef uint64_t hmn_fields;
/* Presence bit n, without a cast that C++ compilers warn about. */
#if defined(__cplusplus)
#  define HMN_PRESENCE(n) (hmn_fields(1) << (n))
#else
#  define HMN_PRESENCE(n) ((hmn_fields)1 << (n))
#endif

/** Statuses. */
enum {
    HMN_OK = 0,
    HMN_E_ARGUMENT = -1,     /* an argument is NULL, empty or malformed */
    HMN_E_STRUCT_SIZE = -2,  /* struct_size is not supported by this library */
    HMN_E_UNKNOWN_FLAG = -3, /* an unknown flag bit, or a nonzero byte past the known fields */
    HMN_E_RANGE = -4,        /* an index past the end, or a number out of range */
    HMN_E_NO_MEMORY = -5,    /* the host's memory is exhausted */
    HMN_E_UNSUPPORTED = -6,  /* not supported by this system, device or driver */
    HMN_E_NO_SOURCE = -7,    /* no source of this value: no library, no driver, no tool */
    HMN_E_NO_DEVICE = -8,    /* no device with that index or key */
    HMN_E_NO_PROCESS = -9,   /* no such process, or it has exited */
    HMN_E_PERMISSION = -10,  /* the system or the driver refused */
    HMN_E_TIMEOUT = -11,     /* the driver did not answer within the deadline */
    HMN_E_DEVICE_LOST = -12, /* the device is gone: unplugged, fallen off the bus, reset */
    HMN_E_BACKEND = -13,     /* a driver or tool returned an error or an invalid answer */
    HMN_E_LIMIT = -14,       /* a limit was reached */
    HMN_E_OVERFLOW = -15,    /* the result does not fit 64 bits */
    HMN_E_FORKED = -16,      /* the handle was created before fork() */
    HMN_E_BUFFER = -17,      /* the buffer is too small; *needed is the size required */
    HMN_E_EMPTY = -18,       /* not requested, or no data */
    HMN_E_INTERNAL = -19,    /* a defect of this library; please report it */
    HMN_E_ASLEEP = -20,      /* a reading would wake the device, or keep it awake */
    HMN_E_STATE = -21,       /* the call is not allowed in the handle's current state */
    HMN_E_CANCELLED = -22    /* the context was cancelled, and the call would have to wait */
};

/* ---- origin and meaning of values ------------------------------------------------------------ */

/** Source of a value. Numbers stay below 64, because masks are 64 bits wide. */
enum {
    HMN_BACKEND_NONE = 0,
    HMN_BACKEND_OS = 1,         /* the operating system itself */
    HMN_BACKEND_NVML = 2,       /* NVIDIA's management library */
    HMN_BACKEND_NVIDIA_SMI = 3, /* NVIDIA's nvidia-smi command, for what NVML does not report */
    HMN_BACKEND_AMDGPU = 4,     /* AMD's kernel driver: sysfs and fdinfo */
    HMN_BACKEND_KFD = 5,        /* AMD's compute driver: memory of compute processes */
    HMN_BACKEND_ROCM_SMI = 6,   /* AMD's rocm-smi command, for what the kernel does not report */
    HMN_BACKEND_I915 = 7,       /* Intel's older kernel driver */
    HMN_BACKEND_XE = 8,         /* Intel's newer kernel driver */
    HMN_BACKEND_DRM = 9,        /* any kernel DRM driver: sysfs, and the fdinfo files of its
                                 * clients */
    HMN_BACKEND_DXGI = 10,      /* Windows: the adapters, and the caller's memory budget on them */
    HMN_BACKEND_PDH = 11,       /* Windows: the performance counters of adapters and processes */
    HMN_BACKEND_METAL = 12,     /* macOS: Metal and the I/O Registry */
    HMN_BACKEND_MACMON = 13,    /* macOS: the macmon command */
    HMN_BACKEND_TEGRA = 14,     /* NVIDIA's SoCs (Jetson): sysfs */
    HMN_BACKEND_DMEM = 15,      /* the kernel's dmem cgroup controller (device memory) */
    HMN_BACKEND_SIMULATED = 16, /* a machine described by a file: nothing was measured */
    HMN_BACKEND_AMD_SMI = 17    /* AMD's amd-smi command, for what the kernel does not report */
};

/** Note flags of a result; each bit has one meaning in every struct. */
enum {
    HMN_NOTE_STALE = 1 << 0,       /* the last known value, age_ns old: the driver did not answer */
    HMN_NOTE_LOWER_BOUND = 1 << 1, /* at least this much: a part is not visible, or memory that
                                    * several may share is counted once */
    HMN_NOTE_ESTIMATED = 1 << 2,   /* derived from other values, not measured */
    HMN_NOTE_TRUNCATED = 1 << 3,   /* a char[N] field was cut */
    HMN_NOTE_MIXED = 1 << 4,       /* several backends; `backend` is the first */
    HMN_NOTE_FOREIGN_PID = 1 << 5, /* pid belongs to another PID namespace */
    HMN_NOTE_PARTIAL = 1 << 6,     /* a requested value is missing: see the diagnostics */
    HMN_NOTE_TRACE = 1 << 7,       /* diagnostics: a driver call, recorded by HMN_CONTEXT_TRACE */
    HMN_NOTE_DIVIDED = 1 << 8      /* devices: its memory belongs to its partitions, which are
                                    * separate devices */
};

/** Scope of a value. */
enum { HMN_DELTA_SCOPE_NONE = 0, HMN_DELTA_SCOPE_PROCESS = 1, HMN_DELTA_SCOPE_DEVICE = 2 };

/** How bytes are accounted. */
enum {
    HMN_ACCOUNT_NONE = 0,
    HMN_ACCOUNT_RESIDENT = 1,  /* has backing store now */
    HMN_ACCOUNT_COMMITTED = 2, /* committed, with or without backing store */
    HMN_ACCOUNT_ALLOCATED = 3  /* allocations as the driver accounts them (NVML) */
};

/** Domain of a native_code. */
enum {
    HMN_NATIVE_NONE = 0,
    HMN_NATIVE_ERRNO = 1,    /* errno */
    HMN_NATIVE_WIN32 = 2,    /* GetLastError */
    HMN_NATIVE_HRESULT = 3,  /* HRESULT */
    HMN_NATIVE_NTSTATUS = 4, /* NTSTATUS */
    HMN_NATIVE_PDH = 5,      /* PDH_STATUS */
    HMN_NATIVE_KERN = 6,     /* kern_return_t */
    HMN_NATIVE_NVML = 7,     /* nvmlReturn_t */
    HMN_NATIVE_EXIT = 9      /* exit code of a helper program; 128 + n: killed by signal n */
};

/** PCI vendor ids. */
enum {
    HMN_VENDOR_UNKNOWN = 0,
    HMN_VENDOR_AMD = 0x1002,
    HMN_VENDOR_APPLE = 0x106b,
    HMN_VENDOR_NVIDIA = 0x10de,
    HMN_VENDOR_QUALCOMM = 0x5143,
    HMN_VENDOR_INTEL = 0x8086
};

/** Why a value is missing. The statuses of a call give the same reasons, less precisely. */
enum {
    HMN_REASON_UNKNOWN = 0,
    HMN_REASON_UNSUPPORTED = 1,    /* not supported by this device, driver or system */
    HMN_REASON_NOT_PRESENT = 2,    /* no such source, device or process */
    HMN_REASON_NOT_UNDERSTOOD = 3, /* present, in a form that this library does not know */
    HMN_REASON_AMBIGUOUS = 4,      /* the known data is ambiguous and determines no value */
    HMN_REASON_NOT_PERMITTED = 5,  /* the system or the driver refused */
    HMN_REASON_NOT_YET = 6,        /* known after a later reading: it is not read at every interval,
                                    * or is the difference of two readings */
    HMN_REASON_ASLEEP = 7,         /* a reading would wake the device, or keep it awake */
    HMN_REASON_LOST = 8,           /* the device is gone */
    HMN_REASON_TIMED_OUT = 9,      /* the driver did not answer within the deadline */
    HMN_REASON_FAILED = 10,        /* a driver, a tool or the system returned an error */
    HMN_REASON_IMPLAUSIBLE = 11,   /* the driver returned an impossible value */
    HMN_REASON_LIMIT = 12          /* a limit of this library, or of the host's memory, was
                                    * reached */
};

/* ---- error ----------------------------------------------------------------------------------- */

enum { HMN_ERROR_SIZE_V1 = 288 };
/** Why a call failed. Result, owned by the caller. @since 0.1 */
typedef struct hmn_error {
    uint32_t struct_size;
    hmn_status status;      /* the value that the call returned */
    hmn_flags notes;        /* HMN_NOTE_*: HMN_NOTE_TRUNCATED: the message was cut */
    uint32_t backend;       /* HMN_BACKEND_*: the one that failed; 0: this library */
    uint32_t reason;        /* HMN_REASON_*: why the value is missing, as in a diagnostic;
                             * HMN_REASON_UNKNOWN also if the call itself was wrong */
    uint32_t native_domain; /* HMN_NATIVE_*: domain of native_code */
    int32_t native_code;    /* as the system, driver or tool returned it */
    uint32_t reserved0;
    char message[256]; /* a sentence that names the value and the remedy; "" on HMN_OK */
} hmn_error;

/* ---- library --------------------------------------------------------------------------------- */

/** Features that a library may be built with: hmn_feature. */
enum {
    HMN_FEATURE_SUBPROCESS = 1, /* code that runs helper programs is compiled in */
    HMN_FEATURE_SIMULATION = 2  /* HMN_PATH_SIMULATION works */
};

/** Returns the library's version, encoded as HMN_VERSION_NUMBER. @since 0.1 */
HMN_FN(uint32_t) hmn_version_number(void) HMN_NX;
/** Returns the library's version as text, for instance "0.1.0". Static storage. @since 0.1 */
HMN_FN(const char *) hmn_version_string(void) HMN_NX;
/** Returns 1 if the library has a feature (HMN_FEATURE_*), 0 if not or if unknown. @since 0.1 */
HMN_FN(uint32_t) hmn_feature(uint32_t feature) HMN_NX;
/** Returns 1 if a backend (HMN_BACKEND_*) is compiled in, 0 if not or if unknown. @since 0.1 */
HMN_FN(uint32_t) hmn_backend_available(uint32_t backend) HMN_NX;
/** Returns the time of the clock that every monotonic_ns uses, in nanoseconds since an unspecified
 *  time of this boot. The clock is never set or stepped, and stops while the machine is suspended.
 *  Linux: CLOCK_MONOTONIC; macOS: CLOCK_UPTIME_RAW; Windows: QueryUnbiasedInterruptTimePrecise.
 *  @since 0.1 */
HMN_FN(uint64_t) hmn_monotonic_ns(void) HMN_NX;
/** Returns the name of a status, for instance "HMN_E_RANGE"; "HMN_E_?" for an unknown number.
 *  Static storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_status_name(hmn_status status) HMN_NX;
/** Returns the name of a backend, for instance "nvml"; "none" for 0, "unknown" for an unknown
 *  number. Static storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_backend_name(uint32_t backend) HMN_NX;
/** Returns the name of a reason (HMN_REASON_*), for instance "not_permitted"; "unknown" for 0 and
 *  for an unknown number. Static storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_reason_name(uint32_t reason) HMN_NX;

/* ---- context --------------------------------------------------------------------------------- */

/** Options of a context. */
enum {
    HMN_CONTEXT_NO_SUBPROCESS = 1 << 0, /* never run a helper program (nvidia-smi, rocm-smi,
                                         * amd-smi, macmon) */
    HMN_CONTEXT_WAKE_DEVICES = 1 << 1,  /* wake sleeping GPUs to read them */
    HMN_CONTEXT_NO_THREADS = 1 << 2,    /* start no threads: a driver may then block the caller, and
                                         * a deadline is only checked between driver calls */
    HMN_CONTEXT_ENVIRONMENT = 1 << 3,   /* read the HMN_* variables now, with getenv (never if
                                         * set-user-id): see "Threads" above */
    HMN_CONTEXT_TRACE = 1 << 4,         /* add each driver call to the snapshot's diagnostics */
    HMN_CONTEXT_RECORD = 1 << 5         /* keep what the backends read: hmn_context_recording */
};
enum { HMN_CONTEXT_OPTIONS_SIZE_V1 = 72 };
/** Options of hmn_context_create. Input; NULL means every default. @since 0.1 */
typedef struct hmn_context_options {
    uint32_t struct_size;
    hmn_flags flags;           /* HMN_CONTEXT_* */
    /* Durations: see above. IMMEDIATE is HMN_NS_IMMEDIATE, UNLIMITED is HMN_NS_UNLIMITED. */
    uint64_t deadline_ns;      /* longest time that one call may wait for drivers; 0 = 1 s.
                                * IMMEDIATE: the call starts drivers that can block, and returns
                                * their answer to an earlier call with HMN_NOTE_STALE, or
                                * HMN_E_TIMEOUT; other sources and, without threads, all sources are
                                * read at once. UNLIMITED: a call waits for as long as a driver
                                * hangs. No call waits for a driver that has not returned from the
                                * reading of an earlier call */
    uint64_t stale_ns;         /* maximum age of a value that is returned instead of HMN_E_TIMEOUT;
                                * 0 = 5 s. IMMEDIATE: no value is. UNLIMITED: a value of any age
                                * is */
    uint64_t open_deadline_ns; /* longest wait for a vendor library to open, in addition to
                                * deadline_ns; 0 = 10 s. IMMEDIATE, here or in deadline_ns: no wait;
                                * the library continues to open for later calls. UNLIMITED: a call
                                * waits until it is open */
    uint64_t max_age_ns;       /* readings up to this age share one driver call; 0, IMMEDIATE: no
                                * reading is shared. UNLIMITED: each value is read once */
    uint64_t idle_close_ns;    /* a vendor library whose GPU may sleep is shut down this long after
                                * the last reading; 0 = 2 s. IMMEDIATE: at the end of the reading.
                                * UNLIMITED: never, so readings keep such a GPU awake */
    uint64_t rescan_ns;        /* longest time between scans of all processes for GPU clients, if
                                * rescan_percent suffices; known clients are always read; 0 = 2 s.
                                * IMMEDIATE: each reading scans all processes. UNLIMITED: each
                                * process is scanned when it is first seen; one that uses a GPU
                                * later is missed */
    uint64_t backends_off;     /* bit n disables backend n (HMN_BACKEND_*) */
    uint32_t rescan_percent;   /* maximum processor time for these scans, in percent of a core,
                                * after the first scan; 0 = 2; 100 or more: no limit. If scanning
                                * all processes takes longer than rescan_ns, the results have
                                * HMN_NOTE_LOWER_BOUND, and a diagnostic has the age of the oldest
                                * scan */
    uint32_t device_classes;   /* bit n lists devices of class n (HMN_DEVICE_CLASS_*); 0 = GPUs.
                                * Devices of other classes are ignored */
} hmn_context_options;

/** Paths that replace the defaults. With HMN_CONTEXT_ENVIRONMENT the variable in brackets has the
 *  same effect. */
enum {
    HMN_PATH_PROC = 1,       /* the proc tree, default "/proc" [HMN_PROC] */
    HMN_PATH_SYS = 2,        /* the sysfs tree, default "/sys" [HMN_SYS] */
    HMN_PATH_NVML = 3,       /* the NVML library, by absolute path [HMN_NVML] */
    HMN_PATH_NVIDIA_SMI = 4, /* the nvidia-smi program, by absolute path [HMN_NVIDIA_SMI] */
    HMN_PATH_ROCM_SMI = 5,   /* the rocm-smi program, by absolute path [HMN_ROCM_SMI] */
    HMN_PATH_MACMON = 6,     /* the macmon program, by absolute path [HMN_MACMON] */
    HMN_PATH_SIMULATION = 7, /* a machine file, a recording or a folder of copied kernel files: it
                              * replaces every other source [HMN_SIMULATION] */
    HMN_PATH_CGROUP = 8,     /* the cgroup mount, default: found in mountinfo [HMN_CGROUP] */
    HMN_PATH_AMD_SMI = 9,    /* the amd-smi program, by absolute path [HMN_AMD_SMI] */
    HMN_PATH_DEV = 10        /* the device nodes, default "/dev" with the default sysfs tree, else
                              * none [HMN_DEV] */
};

/** State of a backend or a device. */
enum {
    HMN_RUN_STATE_UNKNOWN = 0,    /* not tried yet */
    HMN_RUN_STATE_READY = 1,      /* readable */
    HMN_RUN_STATE_ASLEEP = 2,     /* runtime suspended; only identity and totals are known */
    HMN_RUN_STATE_LOST = 3,       /* was present and is gone */
    HMN_RUN_STATE_UNREADABLE = 4, /* present, and returns errors */
    HMN_RUN_STATE_HUNG = 5,       /* a driver call has not returned: it hangs, or is still starting
                                   * the device */
    HMN_RUN_STATE_ABSENT = 6,     /* not on this machine */
    HMN_RUN_STATE_OFF = 7         /* disabled by the context or not compiled in */
};
#define HMN_BACKEND_INFO_HAS_VERSION HMN_PRESENCE(0)
enum { HMN_BACKEND_INFO_SIZE_V1 = 392 };
/** Status of a backend, for diagnosis and bug reports. Result. @since 0.1 */
typedef struct hmn_backend_info {
    uint32_t struct_size;
    hmn_flags notes;        /* HMN_NOTE_* */
    hmn_fields present;     /* HMN_BACKEND_INFO_HAS_* */
    uint32_t backend;       /* HMN_BACKEND_* */
    uint32_t state;         /* HMN_RUN_STATE_* */
    hmn_status status;      /* HMN_OK, or why it is not usable */
    uint32_t native_domain; /* HMN_NATIVE_* */
    int32_t native_code;    /* as the system, driver or tool returned it */
    char version[96];       /* version of the driver or tool */
    uint32_t reserved0;
    char message[256];      /* why it is not usable, and the remedy; "" when it is */
} hmn_backend_info;

/** Creates a context. Calls no driver and starts no thread.
 *  HMN_E_UNKNOWN_FLAG: an unknown flag or class. HMN_E_RANGE: a duration below 0.1 ms, see
 *  "Durations" above. HMN_E_UNSUPPORTED: HMN_CONTEXT_RECORD is set, and recordings are not compiled
 *  in, or the file that they need next to the library is missing or from another build.
 *  HMN_E_ARGUMENT: with HMN_CONTEXT_ENVIRONMENT, hmn_context_set_path would refuse a variable's
 *  value.
 *  *out is owned by the caller: hmn_context_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_context_create(const hmn_context_options *options, hmn_context **out, hmn_error *error) HMN_NX;
/** Sets a path to read from. `path` is HMN_PATH_*; `value` is an absolute path, or NULL for the
 *  default; it is copied. The first reading checks whether the path exists.
 *  HMN_E_ARGUMENT: not absolute, empty, or longer than 4095 bytes. HMN_E_RANGE: unknown HMN_PATH_*.
 *  HMN_E_UNSUPPORTED: its backend is not compiled in; for a simulation also: the file that it needs
 *  next to the library is missing or from another build. HMN_E_STATE: this context has already made
 *  a reading. @since 0.1 */
HMN_FN(hmn_status) hmn_context_set_path(hmn_context *context, uint32_t path, const char *value, hmn_error *error) HMN_NX;
/** Reads the status of a backend (HMN_BACKEND_*), and opens it within the deadlines if that was not
 *  tried yet. For a backend that is absent, off or failing, the call returns HMN_OK: see state and
 *  status.
 *  HMN_E_RANGE: unknown backend. @since 0.1 */
HMN_FN(hmn_status) hmn_context_backend(hmn_context *context, uint32_t backend, hmn_backend_info *out, hmn_error *error) HMN_NX;
/** Writes everything that the backends of a context with HMN_CONTEXT_RECORD have read so far, as a
 *  machine file for HMN_PATH_SIMULATION elsewhere: files, links, device numbers, and answers of
 *  drivers and tools. Names of programs are kept; of everything else, only numbers and the words
 *  that backends look for are kept. Other words, such as names of users, hosts and containers,
 *  paths and titles of processes, are replaced, as are network addresses, UUIDs, serial numbers and
 *  other ids; equal ones get the same replacement. Each file is kept as last read. Another reading
 *  may make the text longer: call again on HMN_E_BUFFER. flags: none yet.
 *  HMN_E_STATE: the context does not record, or reads a simulated machine. HMN_E_LIMIT: the
 *  readings exceed the 16 MiB that a machine file may have. @since 0.1 */
HMN_FN(hmn_status) hmn_context_recording(hmn_context *context, hmn_flags flags, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;
/** Ends the waiting of all calls. Until hmn_context_resume, every call that waits for a driver or a
 *  snapshot, or would have to, returns HMN_E_CANCELLED: calls of the context, of its samplers, and
 *  of trackers and spill detectors with this context. Calls that need not wait still work: calls
 *  for the host's memory, calls that files or an earlier reading (max_age_ns) answer, and calls
 *  without a time to wait. Returns at once, and may be called from any thread, any number of times.
 *  With HMN_CONTEXT_NO_THREADS, it takes effect between driver calls.
 *  A driver call in progress continues, and its answer is kept for later readings; it does not
 *  cause a device to be shown as hung. The thread of a sampler continues: its attempts fail, and
 *  are counted in failed_count. hmn_context_destroy is not affected. @since 0.1 */
HMN_FN(hmn_status) hmn_context_cancel(hmn_context *context, hmn_error *error) HMN_NX;
/** Allows calls to wait again. Returns HMN_OK even if the context was not cancelled. @since 0.1 */
HMN_FN(hmn_status) hmn_context_resume(hmn_context *context, hmn_error *error) HMN_NX;
/** Destroys a context. Never waits for a driver: a hanging call is abandoned, and what it needs
 *  stays valid until it returns. NULL is allowed. @since 0.1 */
HMN_FN(void) hmn_context_destroy(hmn_context *context) HMN_NX;

/* ---- host memory ----------------------------------------------------------------------------- */

#define HMN_PROCESS_MEMORY_HAS_RESIDENT HMN_PRESENCE(0)
#define HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT HMN_PRESENCE(1)
#define HMN_PROCESS_MEMORY_HAS_VIRTUAL HMN_PRESENCE(2)
#define HMN_PROCESS_MEMORY_HAS_SWAP HMN_PRESENCE(3)
#define HMN_PROCESS_MEMORY_HAS_PROPORTIONAL HMN_PRESENCE(4)
#define HMN_PROCESS_MEMORY_HAS_PRIVATE HMN_PRESENCE(5)
#define HMN_PROCESS_MEMORY_HAS_COMMITTED HMN_PRESENCE(6)
#define HMN_PROCESS_MEMORY_HAS_FOOTPRINT HMN_PRESENCE(7)
#define HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT HMN_PRESENCE(8)
#define HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED HMN_PRESENCE(9)
#define HMN_PROCESS_MEMORY_HAS_PROCESS_KEY HMN_PRESENCE(10)
enum { HMN_PROCESS_MEMORY_SIZE_V1 = 112 };
/** Host RAM of one process, in bytes. Result. @since 0.1 */
typedef struct hmn_process_memory {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_PROCESS_MEMORY_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t pid;      /* in the proc tree in use */
    uint64_t resident_bytes;       /* RSS: anonymous, file and shared pages (/proc/pid/statm) */
    uint64_t peak_resident_bytes;  /* highest RSS so far (VmHWM) */
    uint64_t virtual_bytes;        /* address space (/proc/pid/statm) */
    uint64_t swap_bytes;           /* anonymous pages swapped out (VmSwap) */
    uint64_t proportional_bytes;   /* PSS (proportional set size; smaps_rollup) */
    uint64_t private_bytes;        /* USS: pages that no other process maps (smaps_rollup) */
    uint64_t committed_bytes;      /* Windows: PrivateUsage; absent elsewhere */
    uint64_t footprint_bytes;      /* macOS: phys_footprint; absent elsewhere */
    uint64_t peak_footprint_bytes; /* macOS: highest phys_footprint so far; absent elsewhere */
    uint64_t peak_committed_bytes; /* Windows: PeakPagefileUsage; absent elsewhere */
    uint64_t process_key;          /* as in hmn_usage */
} hmn_process_memory;

#define HMN_SYSTEM_MEMORY_HAS_TOTAL HMN_PRESENCE(0)
#define HMN_SYSTEM_MEMORY_HAS_AVAILABLE HMN_PRESENCE(1)
#define HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL HMN_PRESENCE(2)
#define HMN_SYSTEM_MEMORY_HAS_SWAP_FREE HMN_PRESENCE(3)
#define HMN_SYSTEM_MEMORY_HAS_LIMIT HMN_PRESENCE(4)
#define HMN_SYSTEM_MEMORY_HAS_LIMIT_USED HMN_PRESENCE(5)
#define HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT HMN_PRESENCE(6)
#define HMN_SYSTEM_MEMORY_HAS_COMMITTED HMN_PRESENCE(7)
#define HMN_SYSTEM_MEMORY_HAS_PRESSURE HMN_PRESENCE(8)
#define HMN_SYSTEM_MEMORY_HAS_STALL HMN_PRESENCE(9)
#define HMN_SYSTEM_MEMORY_HAS_USABLE HMN_PRESENCE(10)
/** Memory pressure, as the system itself reports it. */
enum {
    HMN_PRESSURE_UNKNOWN = 0,
    HMN_PRESSURE_NORMAL = 1,
    HMN_PRESSURE_WARNING = 2, /* programs should release memory */
    HMN_PRESSURE_CRITICAL = 3 /* the system kills processes next; never reported by Windows */
};
enum { HMN_SYSTEM_MEMORY_SIZE_V1 = 104 };
/** Memory of the host and of this process' container, in bytes. Result. @since 0.1 */
typedef struct hmn_system_memory {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: HMN_NOTE_ESTIMATED: the kernel lacks MemAvailable */
    hmn_fields present; /* HMN_SYSTEM_MEMORY_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t pressure; /* HMN_PRESSURE_*: macOS, Windows; absent on Linux, which has no level */
    uint64_t total_bytes;      /* RAM managed by the kernel (MemTotal) */
    uint64_t available_bytes;  /* allocatable without swapping (MemAvailable) */
    uint64_t swap_total_bytes;
    uint64_t swap_free_bytes;
    uint64_t limit_bytes;      /* the lowest memory limit of this process' control groups, or on
                                * Windows of its job objects; absent if none applies */
    uint64_t limit_used_bytes; /* memory charged to the group or job with that limit, file cache
                                * included */
    uint64_t commit_limit_bytes;
    uint64_t committed_bytes;
    double stall_percent; /* share of the last 10 s in which at least one task waited for memory
                           * (Linux: `some avg10` of /proc/pressure/memory); absent elsewhere */
    uint64_t usable_bytes; /* memory that can be allocated now: available_bytes, but no more than
                            * any limit leaves; that includes cache that can be reclaimed */
} hmn_system_memory;

/* Direct readings fill the caller's struct and, in the steady state, allocate nothing (except
 * hmn_system_memory_read, which looks up the control groups each time, and hmn_metric_read).
 * `fields` selects presence bits; 0 selects the fields that each function names, or all. Other
 * fields may be filled as well. If a requested field is missing, HMN_NOTE_PARTIAL is set; if
 * nothing could be read, the call fails. HMN_E_UNKNOWN_FLAG: an unknown bit in fields, or the bit
 * of a field past out->struct_size. */

/** Reads the host memory of a process in the proc tree in use. fields 0 selects resident and
 *  virtual, which are cheap. HMN_E_RANGE: pid is 0.
 *  HMN_E_NO_PROCESS: no such process, or a zombie (exited, not waited for).
 *  HMN_E_UNSUPPORTED: a kernel thread, which has no memory of its own; or this system supports none
 *  of the fields. HMN_E_PERMISSION: the system refused. HMN_E_BACKEND: the system's answer is
 *  malformed. HMN_E_NO_SOURCE: there is no proc tree. @since 0.1 */
HMN_FN(hmn_status) hmn_process_memory_read(hmn_context *context, uint32_t pid, hmn_fields fields, hmn_process_memory *out, hmn_error *error) HMN_NX;
/** Reads the host memory of the calling process. Otherwise as hmn_process_memory_read.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_process_memory_read_self(hmn_context *context, hmn_fields fields, hmn_process_memory *out, hmn_error *error) HMN_NX;
/** Reads the host's memory and the limit on this process. HMN_E_PERMISSION, HMN_E_BACKEND: as
 *  hmn_process_memory_read. HMN_E_NO_SOURCE: there is no meminfo. @since 0.1 */
HMN_FN(hmn_status) hmn_system_memory_read(hmn_context *context, hmn_fields fields, hmn_system_memory *out, hmn_error *error) HMN_NX;

/* ---- devices: identity --------------------------------------------------------------------- */

/** Class of a device; bit n of hmn_context_options.device_classes is class n. */
enum {
    HMN_DEVICE_CLASS_UNKNOWN = 0,
    HMN_DEVICE_CLASS_GPU = 1,
    HMN_DEVICE_CLASS_NPU = 2 /* an accelerator for computations only, such as neural networks */
};
/** Form of a device; a partition has the form of its parent. */
enum {
    HMN_DEVICE_FORM_UNKNOWN = 0,
    HMN_DEVICE_FORM_DISCRETE = 1,
    HMN_DEVICE_FORM_INTEGRATED = 2, /* a part of the processor or SoC */
    HMN_DEVICE_FORM_VIRTUAL = 3
};
/** Kind of a device's memory. */
enum {
    HMN_MEMORY_KIND_UNKNOWN = 0,
    HMN_MEMORY_KIND_DEDICATED = 1, /* its own memory */
    HMN_MEMORY_KIND_UNIFIED = 2,   /* allocated from the host's RAM (GB10, Jetson, Apple) */
    HMN_MEMORY_KIND_COHERENT = 3   /* its own memory, which is also a NUMA node of the host
                                    * (GH200) */
};
#define HMN_DEVICE_HAS_NAME HMN_PRESENCE(0)
#define HMN_DEVICE_HAS_UUID HMN_PRESENCE(1)
#define HMN_DEVICE_HAS_PCI HMN_PRESENCE(2)
#define HMN_DEVICE_HAS_DRIVER HMN_PRESENCE(3)
#define HMN_DEVICE_HAS_PARENT HMN_PRESENCE(4)
#define HMN_DEVICE_HAS_PCI_DEVICE HMN_PRESENCE(5)
#define HMN_DEVICE_HAS_PCI_SUBSYSTEM HMN_PRESENCE(6)
#define HMN_DEVICE_HAS_RENDER_MINOR HMN_PRESENCE(7)
#define HMN_DEVICE_HAS_NUMA_NODE HMN_PRESENCE(8)
#define HMN_DEVICE_HAS_INSTANCE HMN_PRESENCE(9) /* gpu_instance and compute_instance */
#define HMN_DEVICE_HAS_DRIVER_INDEX HMN_PRESENCE(10)
#define HMN_DEVICE_HAS_OS_ID HMN_PRESENCE(11)
#define HMN_DEVICE_HAS_CUDA_VERSION HMN_PRESENCE(12) /* cuda_version_major and cuda_version_minor */
#define HMN_DEVICE_HAS_COMPUTE_CAPABILITY HMN_PRESENCE(13) /* compute_capability_major and …_minor */
#define HMN_DEVICE_HAS_ARCHITECTURE HMN_PRESENCE(14)
enum { HMN_DEVICE_SIZE_V1 = 624 };
/** Identity of a device. Result. @since 0.1 */
typedef struct hmn_device {
    uint32_t struct_size;
    hmn_flags notes;           /* HMN_NOTE_* */
    hmn_fields present;        /* HMN_DEVICE_HAS_* */
    uint32_t backend;          /* HMN_BACKEND_* */
    uint32_t index;            /* index in the context: never reused, never renumbered */
    uint32_t device_class;     /* HMN_DEVICE_CLASS_* */
    uint32_t form;             /* HMN_DEVICE_FORM_* */
    uint32_t state;            /* HMN_RUN_STATE_* */
    uint32_t vendor;           /* HMN_VENDOR_*, a PCI vendor id */
    uint32_t memory_kind;      /* HMN_MEMORY_KIND_* */
    uint32_t parent_index;     /* the device that this partition belongs to: a MIG instance, an
                                * XCP */
    uint32_t driver_index;     /* index in the vendor's own tools */
    uint32_t pci_device;       /* PCI device id */
    uint32_t pci_subsystem;    /* subsystem device id << 16 | subsystem vendor id */
    uint32_t render_minor;     /* N of /dev/dri/renderDN */
    uint32_t numa_node;        /* the host's NUMA node that is the device's own memory */
    uint32_t gpu_instance;     /* number of the MIG GPU instance */
    uint32_t compute_instance; /* number of the MIG compute instance */
    uint32_t cuda_version_major; /* newest CUDA that the driver supports: 12.4 is 12 and 4 */
    uint32_t cuda_version_minor;       /* of the same version */
    uint32_t compute_capability_major; /* NVIDIA: 9.0 is 9 and 0 */
    uint32_t compute_capability_minor; /* of the same capability */
    uint32_t reserved0;
    uint64_t os_id;            /* Windows: adapter LUID; macOS: registry id */
    uint64_t age_ns;           /* time since its driver listed it; with several drivers, since the
                                * earliest list */
    char name[256];          /* as the vendor writes it: "NVIDIA GeForce RTX 4090" */
    char uuid[96];           /* as the vendor writes it: "GPU-…", "MIG-…" */
    char pci_bus_id[32];     /* "0000:01:00.0": domain (4 or 8 hex digits), bus, device, function */
    char driver_version[96]; /* as the vendor writes it */
    char architecture[32];   /* as the vendor names it: "Hopper", "gfx942" */
} hmn_device;

/** Asks every source for its devices; apart from snapshots, no other call does. *count is the
 *  number of device indexes of this context, and never shrinks. *generation changes when a device
 *  is added to the list, is gone or comes back, so a program that finds another value should read
 *  its devices again; 0: no device was seen yet. Sleep, errors and hanging drivers do not change
 *  it. Either may be NULL.
 *  An index belongs to one device for the lifetime of the context. NVIDIA's devices come first, in
 *  the driver's order, then other GPUs by PCI address, then partitions, then devices of other
 *  classes; devices that arrive later are appended. A device that is gone keeps its index, with
 *  state HMN_RUN_STATE_LOST. HMN_OK and 0 devices: there are certainly none. A vendor library that
 *  is not installed, or a driver that is not loaded, has no devices.
 *  The other functions use the list of the last scan, and do not ask the sources whether it is
 *  still valid; they scan only in a context that has never scanned. A scan that fails changes
 *  nothing: the previous list and its generation stay. If no device is known and a source failed,
 *  the call returns that failure, as does every reading of one device: HMN_E_TIMEOUT: a driver did
 *  not answer. HMN_E_BACKEND: a driver or its library is broken, or they do not match.
 *  HMN_E_PERMISSION: the system refused. HMN_E_NO_SOURCE: there is no machine file. HMN_E_ARGUMENT:
 *  it is malformed. @since 0.1 */
HMN_FN(hmn_status) hmn_device_scan(hmn_context *context, uint32_t *count, uint64_t *generation, hmn_error *error) HMN_NX;
/** Finds the index of the device with a key: "uuid:GPU-…", "pci:0000:01:00.0" (the domain may be
 *  left out or have 8 digits, letters in either case), "luid:<hex>", "render:<minor>",
 *  "driver:<vendor>:<the vendor's index>".
 *  HMN_E_ARGUMENT: unknown kind of key, or malformed value. HMN_E_NO_DEVICE: no device of the last
 *  scan has the key; if the device may have been added since, scan and try again.
 *  If a device that could not be queried may have the key: HMN_E_DEVICE_LOST: it is lost.
 *  HMN_E_ASLEEP: it sleeps. Otherwise as hmn_device_scan, also if that scan could not query a
 *  source that may have the device. @since 0.1 */
HMN_FN(hmn_status) hmn_device_find(hmn_context *context, const char *key, uint32_t *out, hmn_error *error) HMN_NX;
/** Reads the identity of a device as of the last scan, age_ns ago; its state may be from a later
 *  reading. For a device that is lost or asleep, the call returns HMN_OK: see state.
 *  HMN_E_NO_DEVICE: unknown index; scan and try again. Otherwise as hmn_device_scan. @since 0.1 */
HMN_FN(hmn_status) hmn_device_read(hmn_context *context, uint32_t device_index, hmn_fields fields, hmn_device *out, hmn_error *error) HMN_NX;

/* ---- devices: memory ------------------------------------------------------------------------- */

/** Kind of a memory pool. A device has at most one pool of each kind, and a pool may have parts. An
 *  APU has VRAM and HOST; a unified GPU has only UNIFIED. */
enum {
    HMN_POOL_MAIN = 0,         /* in requests: the pool that allocations come from */
    HMN_POOL_VRAM = 1,         /* the device's own memory */
    HMN_POOL_VRAM_VISIBLE = 2, /* the part of the device's own memory that the host can address */
    HMN_POOL_HOST = 3,         /* host RAM mapped for the device (GTT, WDDM shared) */
    HMN_POOL_UNIFIED = 4,      /* host RAM that the device allocates from as its own */
    HMN_POOL_STOLEN = 5        /* host RAM reserved by firmware */
};
#define HMN_POOL_HAS_TOTAL HMN_PRESENCE(0)
#define HMN_POOL_HAS_FREE HMN_PRESENCE(1)
#define HMN_POOL_HAS_USED HMN_PRESENCE(2)
#define HMN_POOL_HAS_RESERVED HMN_PRESENCE(3)
#define HMN_POOL_HAS_USABLE HMN_PRESENCE(4)
#define HMN_POOL_HAS_BUDGET HMN_PRESENCE(5)
#define HMN_POOL_HAS_UNATTRIBUTED HMN_PRESENCE(6)
enum { HMN_POOL_SIZE_V1 = 104 };
/** One memory pool of a device, or a part of one, in bytes. Result. @since 0.1 */
typedef struct hmn_pool {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_POOL_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t device_index;
    uint32_t kind;       /* HMN_POOL_*, never MAIN */
    uint32_t accounting; /* HMN_ACCOUNT_*: what used_bytes counts */
    uint32_t is_main;    /* 1: allocations come from this pool; 0 for each part */
    uint32_t instance;   /* 0: the whole pool; its parts, such as the memory of each tile, count
                          * from 1 */
    uint64_t total_bytes;
    uint64_t free_bytes;
    uint64_t used_bytes;     /* without reserved_bytes if that is known; otherwise including it */
    uint64_t reserved_bytes; /* held by driver and firmware, included in total_bytes:
                              * total = reserved + free + used */
    uint64_t usable_bytes;   /* best estimate of the memory that can be allocated now: the free
                              * memory, but no more than is left of the budget and, if the pool is
                              * part of the host's memory, of the host's usable memory; the total
                              * while the device sleeps. For a pool with parts, their sum, which one
                              * allocation may not get. Absent if stale, and on a device that is
                              * divided into partitions */
    uint64_t budget_bytes;   /* what a policy grants this process */
    uint64_t unattributed_bytes; /* used, and owned by no visible process; only in snapshots that
                                  * collect processes */
    uint64_t age_ns;             /* time since the driver's answer */
} hmn_pool;
/** Reads one memory pool of a device; `kind` is HMN_POOL_*, and `instance` is 0 for the whole pool
 *  or the number of one of its parts, from 1; `fields` as for all direct readings; 0 selects all
 *  but unattributed_bytes. No source is queried for fields that are not requested.
 *  HMN_E_NO_DEVICE: unknown index. HMN_E_RANGE: unknown HMN_POOL_*. HMN_E_UNKNOWN_FLAG: an unknown
 *  bit in fields, or HMN_POOL_HAS_UNATTRIBUTED, which only a snapshot provides. HMN_E_UNSUPPORTED:
 *  the device has no such pool or part, or its driver does not report it. HMN_E_DEVICE_LOST,
 *  HMN_E_ASLEEP, HMN_E_PERMISSION, HMN_E_TIMEOUT, HMN_E_BACKEND, HMN_E_NO_SOURCE (the driver is
 *  gone): as named, and as hmn_device_scan. @since 0.1 */
HMN_FN(hmn_status) hmn_pool_read(hmn_context *context, uint32_t device_index, uint32_t kind, uint32_t instance, hmn_fields fields, hmn_pool *out, hmn_error *error) HMN_NX;

/* ---- devices: load, temperature, power ------------------------------------------------------- */

#define HMN_TELEMETRY_HAS_GPU_BUSY HMN_PRESENCE(0)
#define HMN_TELEMETRY_HAS_MEMORY_BUSY HMN_PRESENCE(1)
#define HMN_TELEMETRY_HAS_ENCODER_BUSY HMN_PRESENCE(2)
#define HMN_TELEMETRY_HAS_DECODER_BUSY HMN_PRESENCE(3)
#define HMN_TELEMETRY_HAS_TEMPERATURE HMN_PRESENCE(4)
#define HMN_TELEMETRY_HAS_HOTSPOT HMN_PRESENCE(5)
#define HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE HMN_PRESENCE(6) /* memory_celsius */
#define HMN_TELEMETRY_HAS_POWER HMN_PRESENCE(7)
#define HMN_TELEMETRY_HAS_POWER_LIMIT HMN_PRESENCE(8)
#define HMN_TELEMETRY_HAS_ENERGY HMN_PRESENCE(9)
#define HMN_TELEMETRY_HAS_CORE_CLOCK HMN_PRESENCE(10)
#define HMN_TELEMETRY_HAS_MEMORY_CLOCK HMN_PRESENCE(11)
#define HMN_TELEMETRY_HAS_FAN_PERCENT HMN_PRESENCE(12)
#define HMN_TELEMETRY_HAS_FAN_RPM HMN_PRESENCE(13)
#define HMN_TELEMETRY_HAS_PCIE_GENERATION HMN_PRESENCE(14)
#define HMN_TELEMETRY_HAS_PCIE_WIDTH HMN_PRESENCE(15)
#define HMN_TELEMETRY_HAS_PCIE_RX HMN_PRESENCE(16)
#define HMN_TELEMETRY_HAS_PCIE_TX HMN_PRESENCE(17)
#define HMN_TELEMETRY_HAS_THROTTLE HMN_PRESENCE(18)
#define HMN_TELEMETRY_HAS_P_STATE HMN_PRESENCE(19)
#define HMN_TELEMETRY_HAS_WINDOW HMN_PRESENCE(20)
/** Why clocks are reduced. */
enum {
    HMN_THROTTLE_IDLE = 1 << 0,
    HMN_THROTTLE_POWER = 1 << 1,
    HMN_THROTTLE_THERMAL = 1 << 2,
    HMN_THROTTLE_HARDWARE = 1 << 3,
    HMN_THROTTLE_SETTING = 1 << 4,
    HMN_THROTTLE_OTHER = 1 << 5
};
enum { HMN_TELEMETRY_SIZE_V1 = 176 };
/** Load, temperature and power of a device. Result. @since 0.1 */
typedef struct hmn_telemetry {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_TELEMETRY_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t device_index;
    uint32_t core_clock_mhz;
    uint32_t memory_clock_mhz;
    uint32_t fan_percent; /* share of the fan's highest speed; may exceed 100 */
    uint32_t fan_rpm;
    uint32_t pcie_generation; /* current generation of the link */
    uint32_t pcie_width;      /* lanes in use now */
    uint32_t p_state;         /* NVIDIA: 0 is the fastest */
    hmn_flags throttle;       /* HMN_THROTTLE_* */
    uint64_t backends;           /* bit n: backend n provided at least one field */
    double gpu_busy_percent;     /* 0..100: share of time in which something ran */
    double memory_busy_percent;  /* 0..100: share of time in which memory was read or written; not
                                  * how full it is */
    double encoder_busy_percent; /* 0..100 */
    double decoder_busy_percent; /* 0..100 */
    double temperature_celsius;
    double hotspot_celsius;
    double memory_celsius;
    double power_watts;
    double power_limit_watts;
    double energy_joules;   /* counter since the driver was loaded: take differences */
    uint64_t pcie_rx_bytes; /* counter: take differences */
    uint64_t pcie_tx_bytes; /* counter: take differences */
    uint64_t window_ns;     /* time over which the percentages are averaged */
    uint64_t age_ns;        /* time since the driver's answer */
} hmn_telemetry;
/** Reads load, temperature and power of a device. `fields` as for all direct readings; 0 selects the
 *  cheap ones. HMN_E_UNKNOWN_FLAG: an unknown bit in fields. HMN_E_UNSUPPORTED: the device has none of
 *  them. Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_telemetry_read(hmn_context *context, uint32_t device_index, hmn_fields fields, hmn_telemetry *out, hmn_error *error) HMN_NX;

/* ---- devices: metrics ------------------------------------------------------------------------ */

/** Metric: one number of a device. A metric is a value for which hmn_telemetry has no field, or one
 *  instance of a value that it has (each sensor, each fan, each clock). Numbers are appended; unit,
 *  kind and instances are part of a metric's meaning: hmn_metric_unit, hmn_metric_kind. A "count"
 *  is a whole number, in `count`; all other metrics are in `value`. */
enum {
    HMN_METRIC_UNKNOWN = 0,
    HMN_METRIC_ENGINE_BUSY_NS = 1,         /* count, ns, counter; instance: HMN_ENGINE_* */
    HMN_METRIC_ENGINE_PERCENT = 2,         /* 0..100 of window_ns; instance: HMN_ENGINE_* */
    HMN_METRIC_ENGINE_CAPACITY = 3,        /* count: number of engines; instance: HMN_ENGINE_* */
    HMN_METRIC_TEMPERATURE = 20,           /* Celsius; instance: HMN_SENSOR_* */
    HMN_METRIC_TEMPERATURE_LIMIT = 21,     /* Celsius: where the device slows down; HMN_SENSOR_* */
    HMN_METRIC_FAN_RPM = 22,               /* RPM; instance: fan, from 1 */
    HMN_METRIC_FAN_PERCENT = 23,           /* of the highest speed, may exceed 100; fan, from 1 */
    HMN_METRIC_POWER_WATTS = 24,           /* W; instance: HMN_POWER_READING_* */
    HMN_METRIC_ENERGY_JOULES = 25,         /* J, counter: take differences; HMN_POWER_READING_* */
    HMN_METRIC_CLOCK_MHZ = 26,             /* MHz; instance: HMN_CLOCK_* */
    HMN_METRIC_CLOCK_LIMIT_MHZ = 27,       /* MHz: maximum; instance: HMN_CLOCK_* */
    HMN_METRIC_VOLTAGE = 28,               /* V; instance: HMN_RAIL_* */
    HMN_METRIC_TEMPERATURE_SHUTDOWN = 29,  /* Celsius: where the device shuts down; HMN_SENSOR_* */
    HMN_METRIC_POWER_LIMIT_WATTS = 30,     /* W; instance: HMN_POWER_LIMIT_* */
    HMN_METRIC_ECC_CORRECTED = 40,         /* count of memory errors; instance: HMN_ERA_* */
    HMN_METRIC_ECC_UNCORRECTED = 41,       /* count of memory errors; instance: HMN_ERA_* */
    HMN_METRIC_ROWS_REMAPPED = 42,         /* count; instance: HMN_REMAPPED_* */
    HMN_METRIC_LAST_FAULT = 43,            /* count: the driver's fault number (NVIDIA: Xid) */
    HMN_METRIC_THROTTLE_NS = 44,           /* count, ns throttled, counter; HMN_THROTTLE_* */
    HMN_METRIC_PCIE_RX_BYTES = 60,         /* count, counter: received by the device */
    HMN_METRIC_PCIE_TX_BYTES = 61,         /* count, counter: sent by the device */
    HMN_METRIC_PCIE_REPLAYS = 62,          /* count, counter: packets sent again */
    HMN_METRIC_LINK_RX_BYTES = 63,         /* count, counter; link to other devices, from 1 */
    HMN_METRIC_LINK_TX_BYTES = 64          /* count, counter; link to other devices, from 1 */
};
/* Instances. 0 is always the whole device, or an instance that the source does not name; numbered
 * instances (fans, links) count from 1. */

/** Engine of a device: instance of HMN_METRIC_ENGINE_*. */
enum {
    HMN_ENGINE_UNKNOWN = 0,
    HMN_ENGINE_GRAPHICS = 1,
    HMN_ENGINE_COMPUTE = 2,
    HMN_ENGINE_COPY = 3,
    HMN_ENGINE_DECODE = 4,
    HMN_ENGINE_ENCODE = 5,
    HMN_ENGINE_VIDEO = 6, /* video decoding and encoding, or image enhancement */
    HMN_ENGINE_OTHER = 7,
    HMN_ENGINE_MEMORY = 8 /* the memory controller */
};
/** Temperature sensor: instance of HMN_METRIC_TEMPERATURE and its limits. */
enum {
    HMN_SENSOR_UNKNOWN = 0,
    HMN_SENSOR_CORE = 1, /* edge of the die, or its average */
    HMN_SENSOR_HOTSPOT = 2,
    HMN_SENSOR_MEMORY = 3,
    HMN_SENSOR_PACKAGE = 4,
    HMN_SENSOR_BOARD = 5,
    HMN_SENSOR_REGULATOR = 6
};
/** Kind of power: instance of HMN_METRIC_POWER_WATTS and HMN_METRIC_ENERGY_JOULES. */
enum {
    HMN_POWER_READING_UNKNOWN = 0,
    HMN_POWER_READING_AVERAGE = 1, /* of the device, over window_ns where that is known */
    HMN_POWER_READING_INSTANT = 2, /* of the device, now */
    HMN_POWER_READING_PACKAGE = 3, /* of the whole package, including a CPU */
    HMN_POWER_READING_MEMORY = 4,
    HMN_POWER_READING_BOARD = 5
};
/** Kind of power limit: instance of HMN_METRIC_POWER_LIMIT_WATTS. */
enum {
    HMN_POWER_LIMIT_UNKNOWN = 0,
    HMN_POWER_LIMIT_CURRENT = 1,
    HMN_POWER_LIMIT_DEFAULT = 2, /* the vendor's default */
    HMN_POWER_LIMIT_MIN = 3,     /* lowest limit that can be set */
    HMN_POWER_LIMIT_MAX = 4      /* highest limit that can be set */
};
/** Clock domain: instance of HMN_METRIC_CLOCK_MHZ and HMN_METRIC_CLOCK_LIMIT_MHZ. */
enum {
    HMN_CLOCK_UNKNOWN = 0,
    HMN_CLOCK_CORE = 1, /* graphics */
    HMN_CLOCK_MEMORY = 2,
    HMN_CLOCK_SM = 3, /* NVIDIA's streaming multiprocessors */
    HMN_CLOCK_VIDEO = 4,
    HMN_CLOCK_MEDIA = 5,
    HMN_CLOCK_SOC = 6,
    HMN_CLOCK_FABRIC = 7,
    HMN_CLOCK_REQUESTED = 8 /* of the core, before limits */
};
/** Voltage rail: instance of HMN_METRIC_VOLTAGE. */
enum {
    HMN_RAIL_UNKNOWN = 0,
    HMN_RAIL_CORE = 1,
    HMN_RAIL_SOC = 2,
    HMN_RAIL_MEMORY = 3,
    HMN_RAIL_BOARD = 4
};
/** Period of an error count: instance of HMN_METRIC_ECC_CORRECTED and
 *  HMN_METRIC_ECC_UNCORRECTED. */
enum {
    HMN_ERA_UNKNOWN = 0,
    HMN_ERA_SINCE_LOAD = 1, /* since the driver was loaded, or the device reset */
    HMN_ERA_LIFETIME = 2    /* of the device */
};
/** State of remapped memory rows: instance of HMN_METRIC_ROWS_REMAPPED. */
enum {
    HMN_REMAPPED_UNKNOWN = 0,
    HMN_REMAPPED_CORRECTED = 1,   /* rows of memory replaced after corrected errors */
    HMN_REMAPPED_UNCORRECTED = 2, /* after uncorrected errors */
    HMN_REMAPPED_PENDING = 3,     /* 1: a reset will replace rows, 0: none pending */
    HMN_REMAPPED_FAILED = 4       /* 1: a row could not be replaced, 0: none */
};
/** Kind of a metric's number. It determines how to show the number, and whether to take
 *  differences. */
enum {
    HMN_NUMBER_KIND_UNKNOWN = 0,
    HMN_NUMBER_KIND_GAUGE = 1,    /* rises and falls */
    HMN_NUMBER_KIND_COUNTER = 2,  /* only rises, until the driver or the device restarts */
    HMN_NUMBER_KIND_CONSTANT = 3  /* a property of the device */
};
enum { HMN_METRIC_KEY_SIZE_V1 = 16 };
/** Names a metric of a device. Input. @since 0.1 */
typedef struct hmn_metric_key {
    uint32_t struct_size;
    uint32_t id;       /* HMN_METRIC_* */
    uint32_t instance; /* one of several: see the metric; 0 for a metric without instances */
    uint32_t reserved0;
} hmn_metric_key;
#define HMN_METRIC_HAS_VALUE HMN_PRESENCE(0)
#define HMN_METRIC_HAS_COUNT HMN_PRESENCE(1)
#define HMN_METRIC_HAS_WINDOW HMN_PRESENCE(2)
enum { HMN_METRIC_SIZE_V1 = 64 };
/** One number of a device, with its own source and age. Either value or count is present. Result.
 *  @since 0.1 */
typedef struct hmn_metric {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_METRIC_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t device_index;
    uint32_t id;        /* HMN_METRIC_* */
    uint32_t instance;  /* one of several: see the metric */
    double value;       /* a reading */
    uint64_t count;     /* a counter or a whole number */
    uint64_t window_ns; /* time over which value is averaged */
    uint64_t age_ns;    /* time since the driver's answer */
} hmn_metric;
/** Reads one metric of a device, even one that is slow to read (HMN_SNAPSHOT_SLOW). A snapshot with
 *  HMN_COLLECT_METRICS reads all metrics at about the cost of a few.
 *  HMN_E_RANGE: unknown HMN_METRIC_*. HMN_E_ARGUMENT: an instance of a metric that has no
 *  instances; key is NULL. HMN_E_UNSUPPORTED: the device has no such metric or instance, or its
 *  driver does not report it. Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_metric_read(hmn_context *context, uint32_t device_index, const hmn_metric_key *key, hmn_fields fields, hmn_metric *out, hmn_error *error) HMN_NX;
/** Returns the metric with the next number, or 0 after the last one. Start with hmn_metric_next(0)
 *  to list the metrics that this library knows. @since 0.1 */
HMN_FN(uint32_t) hmn_metric_next(uint32_t metric) HMN_NX;
/** Returns the kind of a metric's number (HMN_NUMBER_KIND_*); HMN_NUMBER_KIND_UNKNOWN for an
 *  unknown number. @since 0.1 */
HMN_FN(uint32_t) hmn_metric_kind(uint32_t metric) HMN_NX;
/** Returns the name of a metric, for instance "temperature"; "unknown" for an unknown number.
 *  Static storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_metric_name(uint32_t metric) HMN_NX;
/** Returns the unit of a metric, for instance "W"; "" if it has none or is unknown. Static storage,
 *  never NULL. @since 0.1 */
HMN_FN(const char *) hmn_metric_unit(uint32_t metric) HMN_NX;
/** Returns the name of a metric's instance, for instance "hotspot"; "" if it has no name: the
 *  instance of the whole device, a numbered instance (fans, links), or an unknown number. Static
 *  storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_metric_instance_name(uint32_t metric, uint32_t instance) HMN_NX;

/* ---- one process on one device --------------------------------------------------------------- */

/** Kinds of work of a process on a device. */
enum { HMN_USAGE_KIND_COMPUTE = 1 << 0, HMN_USAGE_KIND_GRAPHICS = 1 << 1, HMN_USAGE_KIND_MEDIA = 1 << 2 };
/** State of a process' name. */
enum {
    HMN_NAME_STATE_UNKNOWN = 0,
    HMN_NAME_STATE_RESOLVED = 1,
    HMN_NAME_STATE_EXITED = 2,    /* listed by the driver, no longer by the system */
    HMN_NAME_STATE_PROTECTED = 3, /* not readable with the caller's permissions */
    HMN_NAME_STATE_KERNEL = 4     /* the kernel itself */
};
#define HMN_USAGE_HAS_USED HMN_PRESENCE(0)
#define HMN_USAGE_HAS_RESIDENT HMN_PRESENCE(1)
#define HMN_USAGE_HAS_COMMITTED HMN_PRESENCE(2)
#define HMN_USAGE_HAS_ALLOCATED HMN_PRESENCE(3)
#define HMN_USAGE_HAS_SHARED HMN_PRESENCE(4)
#define HMN_USAGE_HAS_PURGEABLE HMN_PRESENCE(5)
#define HMN_USAGE_HAS_EVICTED HMN_PRESENCE(6)
#define HMN_USAGE_HAS_HOST_POOL HMN_PRESENCE(7)
#define HMN_USAGE_HAS_HOST_RESIDENT HMN_PRESENCE(8)
#define HMN_USAGE_HAS_BUDGET HMN_PRESENCE(9)
#define HMN_USAGE_HAS_BUSY_NS HMN_PRESENCE(10)
#define HMN_USAGE_HAS_BUSY_PERCENT HMN_PRESENCE(11) /* busy_percent and window_ns */
#define HMN_USAGE_HAS_START_TIME HMN_PRESENCE(12) /* start_unix_ns */
#define HMN_USAGE_HAS_UID HMN_PRESENCE(13)
#define HMN_USAGE_HAS_INSTANCE HMN_PRESENCE(14) /* gpu_instance and compute_instance */
#define HMN_USAGE_HAS_KINDS HMN_PRESENCE(15)
#define HMN_USAGE_HAS_PEAK_USED HMN_PRESENCE(16)
#define HMN_USAGE_HAS_PROCESS_KEY HMN_PRESENCE(17)
enum { HMN_USAGE_SIZE_V1 = 192 };
/** Memory of one process on one device: values of that process only, never of the device. Result.
 *  @since 0.1 */
typedef struct hmn_usage {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: HMN_NOTE_FOREIGN_PID: pid is not of the proc tree in use */
    hmn_fields present; /* HMN_USAGE_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t pid;      /* as the driver lists it: see hmn_usage_read */
    uint32_t device_index;
    hmn_flags kinds;     /* HMN_USAGE_KIND_*: COMPUTE, GRAPHICS, MEDIA */
    uint32_t accounting; /* HMN_ACCOUNT_*: what used_bytes counts */
    uint32_t name_state; /* HMN_NAME_STATE_* */
    uint32_t uid;        /* effective user id */
    uint32_t gpu_instance;     /* number of the MIG GPU instance */
    uint32_t compute_instance; /* number of the MIG compute instance */
    uint32_t reserved0;
    uint64_t start_unix_ns;    /* start time, for display: see process_key. For an exited process:
                                * start of the driver's accounting */
    uint64_t used_bytes;       /* main value, accounted as in `accounting`; for an integrated device
                                * all of its memory, including host_pool_bytes */
    uint64_t resident_bytes;
    uint64_t committed_bytes;
    uint64_t allocated_bytes;
    uint64_t shared_bytes; /* memory that other processes hold as well; it and purgeable_bytes may
                            * exceed used_bytes if the driver counts them whether they are resident
                            * or not */
    uint64_t purgeable_bytes;
    uint64_t evicted_bytes;       /* belongs in device memory, but is not there now */
    uint64_t host_pool_bytes;     /* host RAM mapped for the device (GTT, WDDM shared) */
    uint64_t host_resident_bytes; /* RSS: the same in each row of this pid */
    uint64_t budget_bytes;
    uint64_t busy_ns; /* counter: take differences */
    double busy_percent;
    uint64_t window_ns; /* time over which busy_percent is averaged */
    uint64_t age_ns;    /* time since the driver's answer */
    uint64_t peak_used_bytes; /* highest use, as the driver accounts it at each allocation (NVIDIA's
                               * accounting mode), never sampled */
    uint64_t process_key; /* opaque: identifies the process in every context, even if its pid is
                           * reused or the clock is set, for all readers in one PID namespace.
                           * Absent for a process of another PID namespace, for an exited process,
                           * and if the system does not identify its boot (a copied proc tree) */
} hmn_usage;
/** Reads the usage of one process on a device. `pid` is the pid that the driver reports (for NVML
 *  in this process' PID namespace, or in the host's if the driver does not translate it).
 *  A process that the driver no longer lists, but still accounts for, has peak_used_bytes and no
 *  used_bytes.
 *  The load is the driver's own value over the last two seconds (NVIDIA), or the difference to an
 *  earlier reading of the process; some earlier readings are kept, and the first call has no load.
 *  HMN_E_RANGE: pid is 0. HMN_E_NO_PROCESS: the driver does not list the process on the device.
 *  Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_usage_read(hmn_context *context, uint32_t device_index, uint32_t pid, hmn_fields fields, hmn_usage *out, hmn_error *error) HMN_NX;
/** Reads the usage of the calling process on a device. 0 bytes is reported only if the driver's
 *  list reliably contains the caller; otherwise (a list of host pids read inside a container) the
 *  call returns HMN_E_NO_SOURCE. Name, start time, owner, host memory and values that need another
 *  driver call (NVIDIA's load and peak) are left out, here and in hmn_snapshot_find_self. Otherwise
 *  as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_usage_read_self(hmn_context *context, uint32_t device_index, hmn_fields fields, hmn_usage *out, hmn_error *error) HMN_NX;

/* ---- one control group on one device --------------------------------------------------------- */

#define HMN_GROUP_HAS_USED HMN_PRESENCE(0)
#define HMN_GROUP_HAS_LIMIT HMN_PRESENCE(1)
enum { HMN_GROUP_SIZE_V1 = 48 };
/** Memory of one device that one control group holds (a container, a session or a service). No
 *  group of a snapshot contains another, so used_bytes can be summed. Result. @since 0.1 */
typedef struct hmn_group {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_GROUP_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t device_index;
    uint64_t used_bytes;  /* VRAM held by the group's processes */
    uint64_t limit_bytes; /* the lowest limit of the group and of the groups that contain it, which
                           * they may share with others; absent: none, or not readable */
    uint64_t age_ns;      /* time since the kernel was queried */
} hmn_group;

/* ---- snapshot -----------------------------------------------------------------------------------
 * One consistent, immutable set of readings. `i` is a position in a snapshot's list, from 0; it is
 * not a device_index. */

/** What a snapshot collects. */
enum {
    HMN_COLLECT_MEMORY = 1 << 0,    /* the caller's host memory: resident and virtual */
    HMN_COLLECT_SYSTEM = 1 << 1,    /* the host's memory */
    HMN_COLLECT_DEVICES = 1 << 2,   /* identity of the devices (implied by the following) */
    HMN_COLLECT_POOLS = 1 << 3,     /* memory of the devices */
    HMN_COLLECT_SELF = 1 << 4,      /* usage of the caller on each device */
    HMN_COLLECT_PROCESSES = 1 << 5, /* usage of every process on each device */
    HMN_COLLECT_TELEMETRY = 1 << 6, /* load, temperature, power */
    HMN_COLLECT_METRICS = 1 << 7,   /* every metric that the sources report */
    HMN_COLLECT_GROUPS = 1 << 8     /* usage of every control group on each device */
};
/** Scope and cost of a snapshot. */
enum {
    HMN_SNAPSHOT_ONE_DEVICE = 1 << 0,  /* only the device device_index */
    HMN_SNAPSHOT_ONE_PROCESS = 1 << 1, /* only the usage rows of pid */
    HMN_SNAPSHOT_SLOW = 1 << 2,        /* include metrics that take more than a few milliseconds;
                                        * they are read last and delay nothing else */
    HMN_SNAPSHOT_QUICK = 1 << 3,       /* leave out values that take the driver milliseconds (for
                                        * NVIDIA the energy, the highest clocks and the load of each
                                        * process): HMN_REASON_NOT_YET. Not with
                                        * HMN_SNAPSHOT_SLOW */
    HMN_SNAPSHOT_PARTS = 1 << 4        /* also list the parts of pools: see hmn_pool.instance */
};
enum { HMN_SNAPSHOT_OPTIONS_SIZE_V1 = 32 };
/** Options of hmn_snapshot_take. Input; NULL means every default. @since 0.1 */
typedef struct hmn_snapshot_options {
    uint32_t struct_size;
    hmn_flags flags;       /* HMN_SNAPSHOT_* */
    hmn_flags collect;     /* HMN_COLLECT_*; 0 = memory, devices, pools, self */
    uint32_t device_index; /* zero unless HMN_SNAPSHOT_ONE_DEVICE */
    uint32_t pid;          /* zero unless HMN_SNAPSHOT_ONE_PROCESS */
    uint32_t reserved0;
    uint64_t deadline_ns;  /* as in hmn_context_options; 0 = the context's */
} hmn_snapshot_options;

enum { HMN_SNAPSHOT_INFO_SIZE_V1 = 80 };
/** Counts, times and notes of a snapshot. Result. @since 0.1 */
typedef struct hmn_snapshot_info {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: HMN_NOTE_PARTIAL: a requested value is missing;
                        * HMN_NOTE_LOWER_BOUND: a device, or all values of one, may be missing, so
                        * counts and sums over devices are minimums */
    hmn_fields present; /* none yet */
    hmn_flags collect; /* HMN_COLLECT_*: what was requested */
    uint32_t device_count;
    uint32_t pool_count;
    uint32_t usage_count;
    uint32_t diagnostic_count;
    uint32_t unreadable_process_count; /* processes that the system did not permit the caller to
                                        * read, or whose use of a device it did not permit to
                                        * read */
    uint32_t metric_count;
    uint32_t group_count;
    uint64_t unix_time_ns; /* start time, since 1970 */
    uint64_t monotonic_ns; /* start time: hmn_monotonic_ns */
    uint64_t duration_ns;  /* time that the snapshot took */
    uint64_t device_generation; /* generation of the context's last scan: see hmn_device_scan */
} hmn_snapshot_info;

enum { HMN_REASON_KEY_SIZE_V1 = 40 };
/** Names a value that may be missing. A member that the subject does not use must be 0. Input.
 *  @since 0.1 */
typedef struct hmn_reason_key {
    uint32_t struct_size;
    hmn_flags subject;        /* one bit of HMN_COLLECT_* */
    uint32_t device_index;    /* unused with HMN_COLLECT_MEMORY and HMN_COLLECT_SYSTEM */
    uint32_t pid;             /* with HMN_COLLECT_PROCESSES; 0: no particular process */
    uint32_t pool;            /* with HMN_COLLECT_POOLS: HMN_POOL_*, HMN_POOL_MAIN as in requests */
    uint32_t pool_instance;   /* with HMN_COLLECT_POOLS: as in hmn_pool */
    uint32_t metric;          /* with HMN_COLLECT_METRICS: HMN_METRIC_*; 0: all metrics */
    uint32_t metric_instance; /* with a metric: as in hmn_metric */
    hmn_fields field;         /* presence bit of the value in the subject's struct; 0: the subject
                               * as a whole. Unused with HMN_COLLECT_METRICS */
} hmn_reason_key;

#define HMN_DIAGNOSTIC_HAS_DEVICE HMN_PRESENCE(0)
#define HMN_DIAGNOSTIC_HAS_PID HMN_PRESENCE(1)
#define HMN_DIAGNOSTIC_HAS_FIELD HMN_PRESENCE(2)
#define HMN_DIAGNOSTIC_HAS_METRIC HMN_PRESENCE(3)
#define HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE HMN_PRESENCE(4)
#define HMN_DIAGNOSTIC_HAS_POOL HMN_PRESENCE(5) /* pool and pool_instance */
#define HMN_DIAGNOSTIC_HAS_DURATION HMN_PRESENCE(6)
enum { HMN_DIAGNOSTIC_SIZE_V1 = 344 };
/** Why a value is missing, and the remedy. The missing value is named as in hmn_reason_key, and an
 *  absent member means all: without HMN_DIAGNOSTIC_HAS_FIELD and HMN_DIAGNOSTIC_HAS_METRIC, the
 *  whole subject is missing. Result. @since 0.1 */
typedef struct hmn_diagnostic {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: HMN_NOTE_TRACE: not a fault, a recorded driver call */
    hmn_fields present; /* HMN_DIAGNOSTIC_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t reason;   /* HMN_REASON_* */
    hmn_status status;        /* HMN_E_UNSUPPORTED: not supported by this device; HMN_E_NO_DEVICE:
                               * this backend certainly has no device; HMN_OK: a warning, nothing is
                               * missing; these three do not set HMN_NOTE_PARTIAL in a snapshot */
    uint32_t native_domain;   /* HMN_NATIVE_* */
    int32_t native_code;      /* as the system, driver or tool returned it */
    hmn_flags subject;        /* HMN_COLLECT_*: the bit concerned */
    uint32_t device_index;
    uint32_t pid;             /* the process concerned */
    uint32_t pool;            /* HMN_POOL_* */
    uint32_t pool_instance;   /* as in hmn_pool */
    uint32_t metric;          /* HMN_METRIC_* */
    uint32_t metric_instance; /* as in hmn_metric */
    hmn_fields field;     /* presence bits that are missing for this reason, in the subject's
                           * struct */
    uint64_t duration_ns; /* duration of a traced call */
    uint32_t count;       /* number of equal diagnostics merged into this one */
    uint32_t reserved0;
    char message[256];    /* a sentence that names the value and the remedy */
} hmn_diagnostic;

/** Texts of a snapshot; `i` is a position in the list named. */
enum {
    HMN_TEXT_PROCESS_NAME = 1,     /* of usage i: command name */
    HMN_TEXT_PROCESS_COMMAND = 3,  /* of usage i: command line */
    HMN_TEXT_PROCESS_CONTAINER = 5, /* of usage i: id of the container */
    HMN_TEXT_GROUP_NAME = 64       /* of group i: its container, else its path */
};

/** Takes a snapshot. A value that could not be read becomes a diagnostic of the snapshot, not an
 *  error of this call.
 *  HMN_E_NO_DEVICE: HMN_SNAPSHOT_ONE_DEVICE and an unknown index; with this flag also as
 *  hmn_device_scan. HMN_E_RANGE: HMN_SNAPSHOT_ONE_PROCESS and pid 0, or a deadline_ns below 0.1 ms.
 *  HMN_E_ARGUMENT: device_index or pid without its flag. *out is owned by the caller:
 *  hmn_snapshot_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_take(hmn_context *context, const hmn_snapshot_options *options, hmn_snapshot **out, hmn_error *error) HMN_NX;
/** Destroys a snapshot. NULL is allowed. @since 0.1 */
HMN_FN(void) hmn_snapshot_destroy(hmn_snapshot *snapshot) HMN_NX;
/** Reads the counts, times and notes of a snapshot. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_read(const hmn_snapshot *snapshot, hmn_snapshot_info *out, hmn_error *error) HMN_NX;
/** Reads the caller's host memory. HMN_E_EMPTY: not requested, or not available; the error has the
 *  reason. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_memory(const hmn_snapshot *snapshot, hmn_process_memory *out, hmn_error *error) HMN_NX;
/** Reads the host's memory. Otherwise as hmn_snapshot_memory. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_system(const hmn_snapshot *snapshot, hmn_system_memory *out, hmn_error *error) HMN_NX;
/** Reads the device at a position of device_count, sorted by index. HMN_E_RANGE: position is past
 *  the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_device_at(const hmn_snapshot *snapshot, uint32_t position, hmn_device *out, hmn_error *error) HMN_NX;
/** Reads load, temperature and power of a device. HMN_E_NO_DEVICE: the snapshot does not have it.
 *  HMN_E_EMPTY: not requested, or not available; the error has the reason. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_find_telemetry(const hmn_snapshot *snapshot, uint32_t device_index, hmn_telemetry *out, hmn_error *error) HMN_NX;
/** Reads the usage of the caller on a device. Otherwise as hmn_snapshot_find_telemetry.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_find_self(const hmn_snapshot *snapshot, uint32_t device_index, hmn_usage *out, hmn_error *error) HMN_NX;
/** Reads a memory pool of a device; `kind` and `instance` as in hmn_pool_read; parts are available
 *  with HMN_SNAPSHOT_PARTS. HMN_E_RANGE: unknown HMN_POOL_*. Otherwise as
 *  hmn_snapshot_find_telemetry. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_find_pool(const hmn_snapshot *snapshot, uint32_t device_index, uint32_t kind, uint32_t instance, hmn_pool *out, hmn_error *error) HMN_NX;
/** Reads the pool at a position of pool_count, sorted by device index, with the main pool first and
 *  parts last. HMN_E_RANGE: position is past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_pool_at(const hmn_snapshot *snapshot, uint32_t position, hmn_pool *out, hmn_error *error) HMN_NX;
/** Reads the usage at a position of usage_count, sorted by device index, then pid. HMN_E_RANGE:
 *  position is past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_usage_at(const hmn_snapshot *snapshot, uint32_t position, hmn_usage *out, hmn_error *error) HMN_NX;
/** Reads the metric at a position of metric_count, sorted by device index. HMN_E_RANGE: position is
 *  past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_metric_at(const hmn_snapshot *snapshot, uint32_t position, hmn_metric *out, hmn_error *error) HMN_NX;
/** Reads the control group at a position of group_count, sorted by device index. HMN_E_RANGE:
 *  position is past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_group_at(const hmn_snapshot *snapshot, uint32_t position, hmn_group *out, hmn_error *error) HMN_NX;
/** Reads the diagnostic at a position of diagnostic_count. HMN_E_RANGE: position is past the end.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_diagnostic_at(const hmn_snapshot *snapshot, uint32_t position, hmn_diagnostic *out, hmn_error *error) HMN_NX;
/** Reads why a value is missing: the diagnostic that explains it best, otherwise the reason that
 *  follows from the device's state, otherwise HMN_E_UNSUPPORTED.
 *  HMN_E_RANGE: subject is not one bit of HMN_COLLECT_*; unknown HMN_POOL_* or HMN_METRIC_*.
 *  HMN_E_ARGUMENT: a member that the subject does not use is not 0; key is NULL. HMN_E_EMPTY: the
 *  subject was not requested. HMN_E_NO_DEVICE: the snapshot does not have the device. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_reason(const hmn_snapshot *snapshot, const hmn_reason_key *key, hmn_diagnostic *out, hmn_error *error) HMN_NX;
/** Writes a text (HMN_TEXT_*) of the usage or group at a position. A command line has a space
 *  between arguments and is cut after 4 KiB. In a sampler's snapshots, the command line and the
 *  container may be up to five seconds older if the process has the same name. A container is
 *  "<runtime>:<id>", for instance "docker:1c8f…", taken from the innermost control group that
 *  belongs to a container; HMN_E_EMPTY: none does. The name of a control group is its (outermost)
 *  container in the same form, or its path, for instance "/user.slice".
 *  HMN_E_RANGE: unknown text, or position is past the end. HMN_E_EMPTY: not known. HMN_E_BUFFER:
 *  too small. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_text_at(const hmn_snapshot *snapshot, uint32_t text, uint32_t position, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;

/* ---- report and format (provisional) ------------------------------------------------------------
 * Pure functions of snapshots. The decimal point is '.' in every locale. */

/** Form of human-readable lines. */
enum { HMN_LINE_MB = 1 << 0 /* "MB" for MiB, as the Rust crate hypomnesis 0.2 writes them */ };
#define HMN_DELTA_HAS_MEMORY HMN_PRESENCE(0)
#define HMN_DELTA_HAS_DEVICE HMN_PRESENCE(1)
#define HMN_DELTA_HAS_ENERGY HMN_PRESENCE(2)
enum { HMN_DELTA_SIZE_V1 = 64 };
/** Change between two snapshots: after minus before. Result. @since 0.1 */
typedef struct hmn_delta {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_DELTA_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_* */
    uint32_t device_index;
    uint32_t scope;      /* HMN_DELTA_SCOPE_*: whether device_bytes is for this process or for the
                          * device */
    uint32_t accounting; /* HMN_ACCOUNT_*: how device_bytes is accounted */
    int64_t memory_bytes; /* the caller's resident set */
    int64_t device_bytes; /* for the caller if both snapshots have that, otherwise for the device */
    uint64_t elapsed_ns;
    double energy_joules; /* energy of the whole device */
} hmn_delta;
/** Computes the change on a device and on the host. HMN_E_NO_DEVICE: neither snapshot has the
 *  device. HMN_E_ARGUMENT: `after` was taken before `before`. HMN_E_EMPTY: the snapshots have
 *  nothing in common. @since 0.1 */
HMN_FN(hmn_status) hmn_delta_read(const hmn_snapshot *before, const hmn_snapshot *after, uint32_t device_index, hmn_delta *out, hmn_error *error) HMN_NX;
/** Writes the change as one line: "  label: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n";
 *  without the second part if a snapshot lacks it. `flags` is HMN_LINE_*. HMN_E_EMPTY: a snapshot
 *  lacks host memory. HMN_E_ARGUMENT: label is NULL. @since 0.1 */
HMN_FN(hmn_status) hmn_report_delta(const hmn_snapshot *before, const hmn_snapshot *after, uint32_t device_index, const char *label, hmn_flags flags, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;
/** Writes both values and the change, one line for RAM and one for VRAM. Otherwise as
 *  hmn_report_delta. @since 0.1 */
HMN_FN(hmn_status) hmn_report_before_after(const hmn_snapshot *before, const hmn_snapshot *after, uint32_t device_index, const char *label, hmn_flags flags, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;

/** Value in the line of a device. */
enum { HMN_FORMAT_FREE = 1, HMN_FORMAT_TOTAL = 2, HMN_FORMAT_USED = 3 };
/** Writes a device as one line, for instance "  GPU 0: free 13284 MiB / 16384 MiB [name]\n";
 *  `format` is HMN_FORMAT_*, `flags` is HMN_LINE_*. HMN_E_NO_DEVICE: the snapshot does not have the
 *  device.
 *  HMN_E_RANGE: unknown HMN_FORMAT_*. HMN_E_EMPTY: a value is not known. @since 0.1 */
HMN_FN(hmn_status) hmn_format_device(const hmn_snapshot *snapshot, uint32_t device_index, uint32_t format, hmn_flags flags, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;
/** Writes the whole snapshot as one JSON object; docs/schema has its JSON Schema. An unknown value
 *  is null. flags: none yet. @since 0.1 */
HMN_FN(hmn_status) hmn_format_json(const hmn_snapshot *snapshot, hmn_flags flags, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;
/** Writes a number of bytes as readable text: whole MiB below 1 GiB ("512 MiB", rounded down),
 *  otherwise GiB with one decimal ("8.2 GiB"). @since 0.1 */
HMN_FN(hmn_status) hmn_format_bytes(uint64_t bytes, char *buffer, uint32_t capacity, uint32_t *needed, hmn_error *error) HMN_NX;

/* ---- sampler ------------------------------------------------------------------------------------
 * One thread that takes snapshots on a schedule, so that callers do not wait for a driver: a
 * collector pulls snapshots one by one, and an interactive program reads the latest values every
 * frame. A sampler keeps everything that it needs of the context, which may be destroyed first. */

/** Options of a sampler. */
enum { HMN_SAMPLER_PEAKS_ONLY = 1 << 0 /* keep no snapshots, only latest values and peaks */ };
enum { HMN_SAMPLER_OPTIONS_SIZE_V1 = 32 };
/** Options of hmn_sampler_create. Input; NULL means every default. @since 0.1 */
typedef struct hmn_sampler_options {
    uint32_t struct_size;
    hmn_flags flags;              /* HMN_SAMPLER_*: PEAKS_ONLY */
    uint64_t interval_ns;         /* time between snapshots; 0 = 1 s; HMN_NS_UNLIMITED and
                                   * HMN_NS_IMMEDIATE are HMN_E_RANGE. An idle GPU that may sleep is
                                   * read less often; in between, the last values are used, with
                                   * HMN_NOTE_STALE, their age and a diagnostic (HMN_E_ASLEEP) */
    uint64_t process_interval_ns; /* time between snapshots with HMN_COLLECT_PROCESSES, which costs
                                   * most; 0 = 1 s. Never more often than interval_ns. `collect` of
                                   * the snapshots in between does not contain
                                   * HMN_COLLECT_PROCESSES, and they are taken with
                                   * HMN_SNAPSHOT_QUICK. HMN_NS_IMMEDIATE: no snapshots are in
                                   * between. HMN_NS_UNLIMITED: HMN_E_RANGE, leave out
                                   * HMN_COLLECT_PROCESSES instead */
    uint32_t capacity;            /* snapshots kept until they are pulled; when full, the oldest is
                                   * dropped; 0 = 64 */
    uint32_t reserved0;
} hmn_sampler_options;

/** State of a sampler; it only moves forward. */
enum { HMN_SAMPLER_STATE_IDLE = 1, HMN_SAMPLER_STATE_RUNNING = 2, HMN_SAMPLER_STATE_STOPPED = 3 };
#define HMN_SAMPLER_INFO_HAS_LAST HMN_PRESENCE(0) /* last_status and last_monotonic_ns */
enum { HMN_SAMPLER_INFO_SIZE_V1 = 72 };
/** State and counters of a sampler. Result. @since 0.1 */
typedef struct hmn_sampler_info {
    uint32_t struct_size;
    hmn_flags notes;            /* HMN_NOTE_* */
    hmn_fields present; /* HMN_SAMPLER_INFO_HAS_* */
    uint32_t state;             /* HMN_SAMPLER_STATE_*: IDLE, RUNNING, STOPPED */
    uint32_t pending;           /* snapshots not yet pulled */
    hmn_status last_status;     /* status of the last attempt */
    uint32_t reserved0;
    uint64_t taken_count;       /* snapshots taken */
    uint64_t dropped_count;     /* snapshots of these that were dropped unread because the queue was
                                 * full */
    uint64_t late_count;        /* scheduled times skipped because a snapshot took too long */
    uint64_t failed_count;      /* attempts without a snapshot */
    uint64_t last_monotonic_ns; /* start of the last attempt: hmn_monotonic_ns */
} hmn_sampler_info;

#define HMN_PEAK_HAS_USED HMN_PRESENCE(0) /* used_bytes, accounting and used_monotonic_ns */
#define HMN_PEAK_HAS_HOST_POOL HMN_PRESENCE(1)
#define HMN_PEAK_HAS_HOST_RESIDENT HMN_PRESENCE(2)
enum { HMN_PEAK_SIZE_V1 = 64 };
/** Highest values in a sampler's snapshots since its start. Each is determined separately, so they
 *  may be from different times. Peaks between two snapshots are missed. Result. @since 0.1 */
typedef struct hmn_peak {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: of the reading of used_bytes */
    hmn_fields present; /* HMN_PEAK_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_*: of the reading of used_bytes */
    uint32_t device_index;
    uint32_t pid;        /* 0: the device */
    uint32_t accounting; /* HMN_ACCOUNT_*: what used_bytes counts */
    uint64_t used_bytes;          /* for a device: used memory of its main pool */
    uint64_t host_pool_bytes;     /* for a device: used memory of its HMN_POOL_HOST */
    uint64_t host_resident_bytes; /* for a process: RSS */
    uint64_t used_monotonic_ns;   /* start of the first snapshot with used_bytes */
} hmn_peak;

/** Creates a sampler. Calls no driver and starts no thread. `what` is collected each time; NULL or
 *  a `collect` of 0 means devices, pools and telemetry. An unknown device_index is reported in
 *  failed_count and last_status. HMN_E_RANGE: capacity is above the library's limit, or an interval
 *  is unlimited or below 0.1 ms. Otherwise as hmn_snapshot_take. *out is owned by the caller:
 *  hmn_sampler_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_create(hmn_context *context, const hmn_sampler_options *options, const hmn_snapshot_options *what, hmn_sampler **out, hmn_error *error) HMN_NX;
/** Stops and destroys a sampler. Never waits for a driver: a thread that hangs in one is abandoned,
 *  and what it needs stays valid until it returns. NULL is allowed. @since 0.1 */
HMN_FN(void) hmn_sampler_destroy(hmn_sampler *sampler) HMN_NX;
/** Starts the thread. The first snapshot starts at once, and each later one a whole number of
 *  intervals after it; times that have passed are skipped. The thread blocks all signals.
 *  HMN_E_STATE: it was started before. HMN_E_UNSUPPORTED: the context has HMN_CONTEXT_NO_THREADS.
 *  HMN_E_LIMIT: the system cannot create a thread. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_start(hmn_sampler *sampler, hmn_error *error) HMN_NX;
/** Stops the sampler permanently and wakes the threads that wait in hmn_sampler_next. Does not wait
 *  for the snapshot in progress, which is discarded. Returns HMN_OK even if it was stopped before.
 *  HMN_E_STATE: it was never started. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_stop(hmn_sampler *sampler, hmn_error *error) HMN_NX;
/** Pulls the oldest snapshot that was not pulled yet, and waits up to timeout_ns for one: 0 does
 *  not wait, HMN_NS_UNLIMITED waits until a snapshot is available or none can follow.
 *  Several threads may wait; each snapshot goes to one of them.
 *  HMN_E_EMPTY: none yet. HMN_E_CANCELLED: none yet, and the context is cancelled; without a
 *  timeout, this is HMN_E_EMPTY, too. HMN_E_STATE: no snapshot can follow: the sampler is not
 *  started, is stopped and all snapshots are pulled, or keeps none (HMN_SAMPLER_PEAKS_ONLY).
 *  *out is owned by the caller: hmn_snapshot_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_next(hmn_sampler *sampler, uint64_t timeout_ns, hmn_snapshot **out, hmn_error *error) HMN_NX;
/** Returns a handle for an event loop: a file descriptor to poll for reading (Linux, macOS), or the
 *  HANDLE of an event (Windows). It is ready while hmn_sampler_next would return without waiting: a
 *  snapshot is available, none can follow, or the context is cancelled. It is level-triggered; with
 *  an edge-triggered wait, pull snapshots until HMN_E_EMPTY. The first call creates it. It is
 *  closed on exec and belongs to the sampler: do not read, write, set or close it, and stop waiting
 *  for it before hmn_sampler_destroy, which closes it. A forked child has a copy of the descriptor
 *  until it runs another program or exits; the copy is ready whenever the parent's is, and this
 *  call is HMN_E_FORKED in the child. On failure, *out is -1. HMN_E_LIMIT: the system cannot create
 *  one. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_handle(hmn_sampler *sampler, int64_t *out, hmn_error *error) HMN_NX;
/** Reads the state and counters of a sampler. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_read(hmn_sampler *sampler, hmn_sampler_info *out, hmn_error *error) HMN_NX;
/** Reads the main pool of a device from the latest snapshot; age_ns grows until the next one. Calls
 *  no driver, takes no lock, allocates nothing and does not wait: suitable for every frame.
 *  HMN_E_NO_DEVICE: no snapshot has a device of that index. HMN_E_EMPTY: there is no snapshot yet,
 *  or the latest has no such values. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_latest_pool(hmn_sampler *sampler, uint32_t device_index, hmn_pool *out, hmn_error *error) HMN_NX;
/** Reads load, temperature and power from the latest snapshot. Otherwise as
 *  hmn_sampler_latest_pool. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_latest_telemetry(hmn_sampler *sampler, uint32_t device_index, hmn_telemetry *out, hmn_error *error) HMN_NX;
/** Reads the peak of a process on a device: with HMN_COLLECT_SELF of the caller, with
 *  HMN_COLLECT_PROCESSES of all processes. The peak of a reused pid starts again. Exited processes
 *  are forgotten when too many peaks are kept. HMN_E_RANGE: pid is 0. HMN_E_NO_DEVICE: as
 *  hmn_sampler_latest_pool. HMN_E_NO_PROCESS: no snapshot has it on that device. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_peak(hmn_sampler *sampler, uint32_t device_index, uint32_t pid, hmn_peak *out, hmn_error *error) HMN_NX;
/** Reads the peak of a device. HMN_E_NO_DEVICE: as hmn_sampler_latest_pool. HMN_E_EMPTY: no
 *  snapshot has its values. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_peak_device(hmn_sampler *sampler, uint32_t device_index, hmn_peak *out, hmn_error *error) HMN_NX;

/* ---- estimate (provisional) ---------------------------------------------------------------------
 * Memory that a model needs, before it is loaded: pure arithmetic, without a driver or a context.
 * Integers throughout; a result that does not fit 64 bits is HMN_E_OVERFLOW, never a wrapped
 * number. *out is 0 unless the call succeeds. */

/** Data type of an element. */
enum {
    HMN_DTYPE_UNKNOWN = 0,
    HMN_DTYPE_U8 = 1,
    HMN_DTYPE_I8 = 2,
    HMN_DTYPE_U16 = 3,
    HMN_DTYPE_I16 = 4,
    HMN_DTYPE_U32 = 5,
    HMN_DTYPE_I32 = 6,
    HMN_DTYPE_U64 = 7,
    HMN_DTYPE_I64 = 8,
    HMN_DTYPE_F16 = 9,
    HMN_DTYPE_BF16 = 10,
    HMN_DTYPE_F32 = 11,
    HMN_DTYPE_F64 = 12,
    HMN_DTYPE_F8E4M3 = 13,
    HMN_DTYPE_F8E5M2 = 14,
    HMN_DTYPE_F8E8M0 = 15, /* a scale: exponent only */
    HMN_DTYPE_F6E2M3 = 16, /* 6 bits */
    HMN_DTYPE_F6E3M2 = 17, /* 6 bits */
    HMN_DTYPE_F4 = 18,     /* 4 bits: e2m1 */
    HMN_DTYPE_I4 = 19,     /* 4 bits */
    HMN_DTYPE_U4 = 20,     /* 4 bits */
    HMN_DTYPE_BOOL = 21    /* 8 bits, as frameworks store it */
};
/** Returns the number of bits of an HMN_DTYPE_*; 0 for an unknown number. @since 0.1 */
HMN_FN(uint32_t) hmn_dtype_bits(uint32_t dtype) HMN_NX;
/** Returns the name of an HMN_DTYPE_*, for instance "bf16"; "unknown" for an unknown number. Static
 *  storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_dtype_name(uint32_t dtype) HMN_NX;
/** Finds the HMN_DTYPE_* of a name, as candle, torch, safetensors, numpy and C spell it: "F32",
 *  "float32", "torch.float32", "fp32", "float"; "F8_E4M3", "float8_e4m3fn", "fp8". Case and
 *  underscores are ignored. Numbers in names count bits: "f4" and "i4" have 4, not numpy's 4 bytes.
 *  HMN_E_ARGUMENT: name is NULL or unknown. @since 0.1 */
HMN_FN(hmn_status) hmn_dtype_from_name(const char *name, uint32_t *out, hmn_error *error) HMN_NX;

enum { HMN_PACKING_SIZE_V1 = 24 };
/** Layout of packed elements with a scale per group: q4_0 is {I4, group_size 32, group_bits 16}.
 *  Input; not NULL. @since 0.1 */
typedef struct hmn_packing {
    uint32_t struct_size;
    hmn_flags flags;       /* none yet */
    uint32_t dtype;        /* HMN_DTYPE_* of an element */
    uint32_t element_bits; /* instead of dtype, for elements of 2, 3 or 5 bits */
    uint32_t group_size;   /* elements that share a scale; 0 = no groups */
    uint32_t group_bits;   /* bits of a group in addition to its elements: scale, zero point */
} hmn_packing;

/** Options of an attention estimate. */
enum { HMN_ATTENTION_FUSED = 1 << 0 /* scores are never stored in full (flash attention) */ };
enum { HMN_ATTENTION_SIZE_V1 = 56 };
/** One attention layer. Input; not NULL. @since 0.1 */
typedef struct hmn_attention {
    uint32_t struct_size;
    hmn_flags flags; /* HMN_ATTENTION_* */
    uint32_t dtype;  /* HMN_DTYPE_* */
    uint32_t reserved0;
    uint64_t batch;    /* 0 = 1 */
    uint64_t heads;    /* of the queries */
    uint64_t kv_heads; /* 0 = heads */
    uint64_t sequence; /* tokens */
    uint64_t head_dim; /* elements of one head's query, key or value */
} hmn_attention;

/** What layers cache of earlier tokens. */
enum {
    HMN_CACHE_FULL = 0,   /* keys or values of each token: MHA, GQA and MQA, by kv_heads */
    HMN_CACHE_WINDOW = 1, /* the same, of the last `window` tokens and the first `sinks` tokens */
    HMN_CACHE_LATENT = 2, /* one vector for each token: MLA (DeepSeek) */
    HMN_CACHE_STATE = 3   /* one state of fixed size: Mamba and other SSMs */
};
enum { HMN_CACHE_SIZE_V1 = 88 };
/** Cache of layers of one kind. Keys and values are two caches, which may have different types; a
 *  hybrid model has more. hmn_estimate_sum adds their sizes. A field that the kind does not use is
 *  0. Input; not NULL. @since 0.1 */
typedef struct hmn_cache {
    uint32_t struct_size;
    hmn_flags flags;         /* none yet */
    uint32_t kind;           /* HMN_CACHE_* */
    uint32_t dtype;          /* HMN_DTYPE_*; this and the next three as in hmn_packing */
    uint32_t element_bits;   /* a row is one head's key or value, the latent vector, or the state of
                              * one layer */
    uint32_t group_size;     /* elements that share a scale */
    uint32_t group_bits;     /* bits of a group in addition to its elements */
    uint32_t reserved0;
    uint64_t layers;         /* number of layers with this cache */
    uint64_t kv_heads;       /* full, window: heads with keys and values of their own */
    uint64_t row_dim;        /* full, window: elements of one head's key, or of its value */
    uint64_t window;         /* window: tokens kept in addition to the sinks */
    uint64_t sinks;          /* window: first tokens, always kept */
    uint64_t latent_dim;     /* latent: kv_lora_rank + qk_rope_head_dim */
    uint64_t state_elements; /* state: of one layer, including its convolution */
} hmn_cache;

/** Computes the bytes of a tensor. `shape` has `rank` dimensions and `dtype` is HMN_DTYPE_*: rank 0
 *  is one element; a dimension of 0 gives 0 bytes. Elements smaller than a byte are packed, and the
 *  total is rounded up to bytes.
 *  HMN_E_RANGE: unknown HMN_DTYPE_*. HMN_E_ARGUMENT: shape is NULL and rank is not 0.
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_tensor(const uint64_t *shape, uint32_t rank, uint32_t dtype, uint64_t *out, hmn_error *error) HMN_NX;
/** Computes the bytes of a tensor whose elements are grouped along the last dimension; an
 *  incomplete last group of a row has a scale as well. HMN_E_ARGUMENT: also both dtype and
 *  element_bits, or neither; group_bits without group_size. HMN_E_RANGE: element_bits is above 64.
 *  Otherwise as hmn_estimate_tensor. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_packed(const uint64_t *shape, uint32_t rank, const hmn_packing *packing, uint64_t *out, hmn_error *error) HMN_NX;
/** Computes the bytes of queries, keys, values, scores and output of one layer:
 *  batch * (2 * heads * sequence * head_dim + 2 * kv_heads * sequence * head_dim
 *  + heads * sequence ^ 2)
 *  elements, with HMN_ATTENTION_FUSED without the last term.
 *  HMN_E_RANGE: heads, sequence or head_dim is 0, kv_heads is above heads, or unknown HMN_DTYPE_*.
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_attention(const hmn_attention *attention, uint64_t *out, hmn_error *error) HMN_NX;
/** Computes the bytes of a cache that holds `sequence` tokens of each of `sequences` sequences
 *  (batch times users). HMN_E_RANGE: a field that the kind needs is 0, element_bits is above 64, or
 *  unknown HMN_CACHE_* or HMN_DTYPE_*. HMN_E_ARGUMENT: as hmn_estimate_packed, or a field is set
 *  that the kind does not use. HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_cache(const hmn_cache *cache, uint64_t sequence, uint64_t sequences, uint64_t *out, hmn_error *error) HMN_NX;
/** Computes bytes * per_thousand / 1000, rounded up; a per_thousand of 0 means 1100 (10 % more).
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_overhead(uint64_t bytes, uint32_t per_thousand, uint64_t *out, hmn_error *error) HMN_NX;
/** Computes the sum of `count` sizes. HMN_E_ARGUMENT: bytes is NULL and count is not 0.
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_sum(const uint64_t *bytes, uint32_t count, uint64_t *out, hmn_error *error) HMN_NX;

/* ---- tracker ------------------------------------------------------------------------------------
 * Accounting of a program's own allocations against a limit. A tracker allocates no device memory;
 * the program reports what it allocates and releases. The limit holds at all times with any number
 * of threads: bytes that another thread is allocating or releasing count as allocated until its
 * call returns. A tracker has no thread and, on 64-bit processors, no lock: it stays usable in a
 * forked child, which has a copy of its own; bytes that other threads were allocating or releasing
 * during the fork stay allocated there. 32-bit processors cannot exchange limit and bytes at once,
 * so a tracker takes a lock for a few instructions there; a child that is forked in these may not
 * use the parent's trackers. */

/** Options of a tracker. */
enum { HMN_TRACKER_LIMITED = 1 << 0 /* allocations are limited to limit_bytes */ };
enum { HMN_TRACKER_OPTIONS_SIZE_V1 = 24 };
/** Options of hmn_tracker_create. Input; NULL means every default. @since 0.1 */
typedef struct hmn_tracker_options {
    uint32_t struct_size;
    hmn_flags flags;       /* HMN_TRACKER_* */
    uint64_t limit_bytes;  /* with LIMITED: 0 allows nothing, UINT64_MAX is no limit; zero without
                            * it */
    uint32_t tag_capacity; /* maximum number of tags; 0 = 64 */
    uint32_t reserved0;
} hmn_tracker_options;

#define HMN_TRACKER_INFO_HAS_LIMIT HMN_PRESENCE(0)
#define HMN_TRACKER_INFO_HAS_DEVICE HMN_PRESENCE(1) /* linked to device_index */
enum { HMN_TRACKER_INFO_SIZE_V1 = 56 };
/** Limit and totals of a tracker: allocated_bytes is never above limit_bytes, peak_bytes never
 *  below allocated_bytes. Result. @since 0.1 */
typedef struct hmn_tracker_info {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* HMN_TRACKER_INFO_HAS_* */
    uint32_t device_index;
    uint32_t tag_count; /* tags are numbered from 1 to tag_count */
    uint64_t limit_bytes;
    uint64_t allocated_bytes;
    uint64_t peak_bytes;    /* highest allocated_bytes since the start or the last reset */
    uint64_t refused_count; /* allocations refused with HMN_E_LIMIT */
} hmn_tracker_info;

enum { HMN_TAG_SIZE_V1 = 104 };
/** Totals of a tag. Result. @since 0.1 */
typedef struct hmn_tag {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_* */
    hmn_fields present; /* none yet */
    uint32_t number;   /* of the tag */
    uint32_t reserved0;
    uint64_t allocated_bytes;
    uint64_t peak_bytes;
    char name[64];     /* as passed to hmn_tracker_tag */
} hmn_tag;

/** Creates a tracker. With a context, it is linked to a device, whose memory hmn_tracker_would_fit
 *  also checks; with NULL, it only counts. Calls no driver, and keeps everything that it needs of
 *  the context, which may be destroyed first. HMN_E_ARGUMENT: device_index without a context, or
 *  limit_bytes without its flag. HMN_E_RANGE: tag_capacity is above the library's limit. *out is
 *  owned by the caller: hmn_tracker_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_create(hmn_context *context, uint32_t device_index, const hmn_tracker_options *options, hmn_tracker **out, hmn_error *error) HMN_NX;
/** Destroys a tracker. NULL is allowed. @since 0.1 */
HMN_FN(void) hmn_tracker_destroy(hmn_tracker *tracker) HMN_NX;
/** Counts bytes as allocated. HMN_E_LIMIT: they would exceed the limit (without one, 2^64 - 1
 *  bytes), and nothing was counted. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_allocate(hmn_tracker *tracker, uint64_t bytes, hmn_error *error) HMN_NX;
/** Counts bytes as released. HMN_E_RANGE: more than is allocated, and nothing was counted.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_release(hmn_tracker *tracker, uint64_t bytes, hmn_error *error) HMN_NX;
/** Returns the number of the tag with that name, and creates the tag if needed. Call once and keep
 *  the number.
 *  HMN_E_ARGUMENT: name is NULL, empty, not UTF-8 or longer than 63 bytes. HMN_E_LIMIT:
 *  tag_capacity is reached. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_tag(hmn_tracker *tracker, const char *name, uint32_t *out, hmn_error *error) HMN_NX;
/** Counts bytes as allocated, also under a tag; tag 0 is none. HMN_E_RANGE: unknown tag. Otherwise
 *  as hmn_tracker_allocate. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_allocate_tagged(hmn_tracker *tracker, uint32_t tag, uint64_t bytes, hmn_error *error) HMN_NX;
/** Counts bytes that were allocated under a tag as released. HMN_E_RANGE: also an unknown tag.
 *  Otherwise as hmn_tracker_release. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_release_tagged(hmn_tracker *tracker, uint32_t tag, uint64_t bytes, hmn_error *error) HMN_NX;
/** Checks whether bytes would fit now: HMN_OK, or HMN_E_LIMIT if they exceed the limit or, with a
 *  linked device, the usable_bytes of its main pool. HMN_E_TIMEOUT: also if the device's values are
 *  stale. HMN_E_FORKED: the tracker is linked and was created before fork(). If linked, otherwise
 *  as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_would_fit(hmn_tracker *tracker, uint64_t bytes, hmn_error *error) HMN_NX;
/** Sets limit_bytes: 0 allows nothing, UINT64_MAX removes the limit. HMN_E_LIMIT: more than that is
 *  allocated, and nothing was changed. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_set_limit(hmn_tracker *tracker, uint64_t limit_bytes, hmn_error *error) HMN_NX;
/** Reads the limit and totals of a tracker. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_read(hmn_tracker *tracker, hmn_tracker_info *out, hmn_error *error) HMN_NX;
/** Reads the totals of a tag. HMN_E_RANGE: unknown tag (1 … tag_count). @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_read_tag(hmn_tracker *tracker, uint32_t tag, hmn_tag *out, hmn_error *error) HMN_NX;
/** Resets the allocated bytes, the peaks and refused_count; limit and tags stay. A concurrent call
 *  counts as before or after the reset, and a peak may be from before. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_reset(hmn_tracker *tracker, hmn_error *error) HMN_NX;

/* ---- spill (provisional) ------------------------------------------------------------------------
 * Detection of device memory that spills: the device's memory is full, and data that belongs there
 * is in the host's RAM, which is slow and silent. An observation spills when one of two rules
 * holds. Shared: use of the device's memory is at or above the threshold, and the host memory that
 * the device uses has grown by growth_bytes or more since the first observation. Evicted: memory
 * that drivers report as moved out of the device has grown by as much. Consecutive observations
 * that spill are an episode. There is no smoothing: one observation starts an episode, one ends it.
 *
 * Drivers report different values. amdgpu reports VRAM and GTT of the device, and evicted memory of
 * its processes; xe reports both for the device; i915 reports the memory that its processes have in
 * the host's RAM, or not in the device's. NVIDIA's driver on Linux moves nothing to the host (an
 * allocation fails instead), and managed-memory migration is not reported: such a device is
 * HMN_E_UNSUPPORTED, as is a device without its own memory. Samples from other sources can still be
 * fed. */

enum { HMN_SPILL_OPTIONS_SIZE_V1 = 32 };
/** Options of hmn_spill_create. Input; NULL means every default. @since 0.1 */
typedef struct hmn_spill_options {
    uint32_t struct_size;
    hmn_flags flags;           /* none yet */
    uint32_t episode_capacity; /* episodes kept before the oldest is dropped; 0 = 1024 */
    uint32_t reserved0;
    uint64_t dedicated_threshold_bytes; /* 0 = limit / 100 * 85, whole bytes; none below 100
                                         * bytes */
    uint64_t growth_bytes;              /* 0 = 256 MiB */
} hmn_spill_options;

enum {
    HMN_SPILL_SAMPLE_HAS_LIMIT = 1 << 0,
    HMN_SPILL_SAMPLE_HAS_EVICTED = 1 << 1
};
enum { HMN_SPILL_SAMPLE_SIZE_V1 = 48 };
/** Values from another source. Input. @since 0.1 */
typedef struct hmn_spill_sample {
    uint32_t struct_size;
    hmn_flags flags;          /* HMN_SPILL_SAMPLE_HAS_* */
    uint64_t monotonic_ns;    /* time of hmn_monotonic_ns; 0 = now */
    uint64_t dedicated_bytes; /* used device memory */
    uint64_t shared_bytes;    /* host RAM that the device uses */
    uint64_t limit_bytes;     /* size of the device's memory; zero without its flag */
    uint64_t evicted_bytes;   /* belongs in the device's memory, but is not there; zero without its
                               * flag */
} hmn_spill_sample;

/** State of a detector, current and latched. */
enum {
    HMN_SPILL_STATE_MEASURABLE = 1 << 0, /* at least one observation had values */
    HMN_SPILL_STATE_NOW = 1 << 1,        /* the last observation spilled */
    HMN_SPILL_STATE_EVER = 1 << 2        /* any observation spilled */
};
/** Rules that held. */
enum { HMN_SPILL_BY_SHARED = 1 << 0, HMN_SPILL_BY_EVICTED = 1 << 1 };
#define HMN_SPILL_INFO_HAS_LIMIT HMN_PRESENCE(0)
#define HMN_SPILL_INFO_HAS_OBSERVED HMN_PRESENCE(1) /* dedicated, shared, their peaks, the baseline of shared */
#define HMN_SPILL_INFO_HAS_EVICTED HMN_PRESENCE(2)
#define HMN_SPILL_INFO_HAS_PEAK_EVICTED HMN_PRESENCE(3) /* and the baseline of evicted */
#define HMN_SPILL_INFO_HAS_EPISODE HMN_PRESENCE(4) /* longest_ns, longest_episode and first_label */
enum { HMN_SPILL_INFO_SIZE_V1 = 488 };
/** State and totals of a detector. Result. @since 0.1 */
typedef struct hmn_spill_info {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: of the last observation; HMN_NOTE_TRUNCATED: first_label or
                        * message was cut */
    hmn_fields present; /* HMN_SPILL_INFO_HAS_* */
    uint32_t backend;  /* HMN_BACKEND_*: of the last observation; 0: it was fed */
    uint32_t device_index;
    hmn_flags state;   /* HMN_SPILL_STATE_*: MEASURABLE, NOW, EVER */
    hmn_flags rules;   /* HMN_SPILL_BY_*: of the last observation */
    hmn_status status; /* HMN_OK, or why the last attempt gave no observation; HMN_E_EMPTY: no
                        * attempt was made */
    uint32_t reserved0;
    uint64_t observation_count;
    uint64_t skipped_count;  /* attempts without an observation, which change nothing else */
    uint64_t episode_count;  /* all episodes; the last one may still be open */
    uint64_t first_episode;  /* lowest number still kept */
    uint64_t limit_bytes;    /* last known */
    uint64_t dedicated_bytes;
    uint64_t shared_bytes;
    uint64_t evicted_bytes;
    uint64_t peak_dedicated_bytes;
    uint64_t peak_shared_bytes;
    uint64_t peak_evicted_bytes;
    uint64_t baseline_shared_bytes;  /* of the first observation */
    uint64_t baseline_evicted_bytes; /* of the first with that value; 0 if no process existed
                                      * before */
    uint64_t total_ns;               /* of all episodes, including dropped ones */
    uint64_t longest_ns;
    uint64_t longest_episode; /* its number; the first of equal ones */
    char first_label[64];     /* of the first episode */
    char message[256];        /* reason for status, and the remedy; "" on HMN_OK */
} hmn_spill_info;

#define HMN_EPISODE_HAS_END HMN_PRESENCE(0) /* end_monotonic_ns and end_label */
#define HMN_EPISODE_HAS_PEAK_EVICTED HMN_PRESENCE(1)
enum { HMN_EPISODE_SIZE_V1 = 208 };
/** Consecutive observations that spilled. Result. @since 0.1 */
typedef struct hmn_episode {
    uint32_t struct_size;
    hmn_flags notes;   /* HMN_NOTE_*: HMN_NOTE_TRUNCATED: a label was cut */
    hmn_fields present; /* HMN_EPISODE_HAS_* */
    hmn_flags rules;   /* HMN_SPILL_BY_*: those that held */
    uint32_t reserved0;
    uint64_t number; /* counts a detector's episodes from 0 */
    uint64_t observation_count;
    uint64_t peak_shared_bytes;
    uint64_t peak_evicted_bytes;
    uint64_t start_monotonic_ns; /* of its first observation */
    uint64_t end_monotonic_ns; /* of the first observation after it */
    uint64_t duration_ns;      /* from its first observation to its last */
    char start_label[64];      /* of its first observation */
    char end_label[64];        /* of the first observation after it */
} hmn_episode;

/** Creates a detector. Calls no driver. It keeps everything that it needs of the context, which may
 *  be destroyed first; with NULL, it measures nothing itself. After a fork, a detector with a
 *  context returns HMN_E_FORKED; a detector without one stays usable, unless a call of the parent
 *  was using it during the fork.
 *  HMN_E_RANGE: episode_capacity is above the library's limit.
 *  *out is owned by the caller: hmn_spill_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_create(hmn_context *context, uint32_t device_index, const hmn_spill_options *options, hmn_spill **out, hmn_error *error) HMN_NX;
/** Destroys a detector. Never waits for a driver. NULL is allowed. @since 0.1 */
HMN_FN(void) hmn_spill_destroy(hmn_spill *spill) HMN_NX;
/** Reads the device and adds an observation. Reads its pools, and its processes if their driver
 *  reports evicted memory. `label` (NULL: "") names the observation, for instance "step 400"; bytes
 *  past 63 are cut. Any status but HMN_OK changes only skipped_count, status and message.
 *  HMN_E_UNSUPPORTED: not measurable on this device; if that is permanent, no driver is queried
 *  again.
 *  HMN_E_EMPTY: not measurable while no process uses the device. HMN_E_NO_SOURCE: the detector has
 *  no context. HMN_E_NO_DEVICE: unknown index. Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_observe(hmn_spill *spill, const char *label, hmn_error *error) HMN_NX;
/** Adds an observation from a snapshot, which needs HMN_COLLECT_POOLS and HMN_COLLECT_PROCESSES of
 *  all processes. For samplers and recordings: calls no driver and needs no context.
 *  HMN_E_NO_DEVICE: the snapshot does not have the device. Otherwise as hmn_spill_observe.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_spill_observe_snapshot(hmn_spill *spill, const hmn_snapshot *snapshot, const char *label, hmn_error *error) HMN_NX;
/** Adds an observation from another source; `label` as in hmn_spill_observe. HMN_E_ARGUMENT: sample
 *  is NULL, or limit_bytes or evicted_bytes is set without its flag. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_feed(hmn_spill *spill, const hmn_spill_sample *sample, const char *label, hmn_error *error) HMN_NX;
/** Reads the state and totals of a detector. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_read(hmn_spill *spill, hmn_spill_info *out, hmn_error *error) HMN_NX;
/** Reads an episode by its number, from 0; numbers are never reused. HMN_E_RANGE: not started yet,
 *  or already dropped. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_episode(hmn_spill *spill, uint64_t number, hmn_episode *out, hmn_error *error) HMN_NX;

#ifdef __cplusplus
}
#endif
#endif
