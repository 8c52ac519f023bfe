/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hypomnesis.h: the C interface of libhypomnesis, and its specification.
 *
 * libhypomnesis measures memory: of a process on the host, of a process on a GPU, of the GPU as a
 * whole; and a GPU's load, temperature and power.
 *
 *     hmn_context *context;
 *     hmn_pool pool = {sizeof pool};
 *     if (hmn_context_create(NULL, &context, NULL) == HMN_OK &&
 *         hmn_pool_read(context, 0, HMN_POOL_MAIN, &pool, NULL) == HMN_OK)
 *         printf("%llu bytes free\n", (unsigned long long)pool.free_bytes);
 *     hmn_context_destroy(context);
 *
 * WHAT HOLDS FOR EVERY FUNCTION AND STRUCT
 *
 * Inputs (hmn_context_options, hmn_snapshot_options, hmn_sampler_options, hmn_tracker_options,
 * hmn_spill_options, hmn_spill_sample, and what an estimate is of: hmn_packing, hmn_attention,
 * hmn_cache). Zero the struct, then set struct_size. Zero is the default in every field, so
 * NULL, a zeroed struct and an older, shorter struct mean the same. A flag bit that this library does
 * not know, or a byte other than zero past what it knows, is HMN_E_UNKNOWN_FLAG: what was asked for
 * and cannot be done is never passed over in silence.
 *
 * Results (all other structs). Set struct_size, nothing else. It must be a multiple of 8, from the
 * struct's ..._SIZE_V1 to 65536, else HMN_E_STRUCT_SIZE and nothing is written. On HMN_OK every byte
 * up to struct_size is written and none past it; a field whose bit in `present` is not set is zero,
 * and no bit is set for a field that lies past struct_size. On any other status all bytes after
 * struct_size are zero. A handle that could not be made is NULL, a count that could not be taken 0.
 *
 * hmn_error. Always the last argument, may be NULL. Set its struct_size; every call writes it, also
 * on HMN_OK (status 0, empty message). A wrong error->struct_size refuses the whole call with
 * HMN_E_STRUCT_SIZE before anything is done. There is no "last error" kept anywhere.
 *
 * Strings out go into (buffer, capacity, *needed): valid UTF-8, terminated; *needed (may be NULL)
 * counts the terminator. A buffer too small gives HMN_E_BUFFER, buffer[0] = 0 and *needed. NULL with
 * capacity 0 asks for the size and gives HMN_OK. Bytes that were not UTF-8 became U+FFFD. char[N]
 * fields are terminated UTF-8, cut at a code point when too long, with HMN_NOTE_TRUNCATED.
 *
 * Numbers. Bytes are exact. What is unknown is absent: its bit in `present` is clear and the snapshot
 * has a diagnostic that says why. No value is a sentinel. Enumerations grow: 0 is "unknown", and a
 * caller treats a number that it does not know as 0.
 *
 * Threads. Every handle may be used from any thread at once. Only destroy needs the handle to itself;
 * it accepts NULL, never waits for a driver, and handles may be destroyed in any order.
 *
 * Fork. In a forked child the parent's context, sampler and a context's spill detector answer
 * HMN_E_FORKED and may be destroyed; snapshots stay readable, trackers
 * usable; a new context works.
 *
 * Signals. No function may be called from a signal handler. The library installs none, prints
 * nothing, changes no locale, leaves errno as it was, and is no point of thread cancellation.
 *
 * Statuses named below come beside those that every function can give: HMN_E_ARGUMENT (a pointer is
 * NULL that must not be), HMN_E_STRUCT_SIZE, HMN_E_UNKNOWN_FLAG, HMN_E_NO_MEMORY (the host's memory is
 * exhausted), HMN_E_INTERNAL (a defect of this library) and, with a context, a sampler or a spill
 * detector, HMN_E_FORKED.
 */
#ifndef HYPOMNESIS_H
#define HYPOMNESIS_H
#include <stdint.h>

/* The version of this header. Until 1.0.0 the soname is 0 and sizes may still change. */
#define HMN_VERSION_MAJOR 0
#define HMN_VERSION_MINOR 1
#define HMN_VERSION_PATCH 0
#define HMN_VERSION_NUMBER 1000u /* major * 1000000 + minor * 1000 + patch */

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
#if defined(__cplusplus) && (__cplusplus >= 201103L || (defined(_MSC_VER) && _MSC_VER >= 1900))
#  define HMN_NX noexcept
#else
#  define HMN_NX
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles ------------------------------------------------------------------------------- */

/** Sources of measurement, opened once and kept. @since 0.1 */
typedef struct hmn_context hmn_context;
/** One picture of everything asked for: immutable, outlives its context. @since 0.1 */
typedef struct hmn_snapshot hmn_snapshot;
/** A thread that takes snapshots on a schedule; outlives its context. @since 0.1 */
typedef struct hmn_sampler hmn_sampler;
/** A budget that a program keeps to; outlives its context. @since 0.1 */
typedef struct hmn_tracker hmn_tracker;
/** A detector of device memory that moves to the host; outlives its context. @since 0.1 */
typedef struct hmn_spill hmn_spill;

/* ---- status -------------------------------------------------------------------------------- */

/** 0 is success, negative an error, positive reserved for ever. A number is never reused. */
typedef int32_t hmn_status;
/** A set of bits. */
typedef uint32_t hmn_flags;

/** Outcome of a call. */
enum {
    HMN_OK = 0,
    HMN_E_ARGUMENT = -1,     /* an argument is NULL, empty or malformed */
    HMN_E_STRUCT_SIZE = -2,  /* struct_size is not one that this library can fill or read */
    HMN_E_UNKNOWN_FLAG = -3, /* a bit or a byte is set that this library does not know */
    HMN_E_RANGE = -4,        /* an index past the end, or a number outside what is allowed */
    HMN_E_NO_MEMORY = -5,    /* the host's memory is exhausted */
    HMN_E_UNSUPPORTED = -6,  /* this system, device or driver has no such value */
    HMN_E_NO_SOURCE = -7,    /* no source of this value is here: no library, no driver, no tool */
    HMN_E_NO_DEVICE = -8,    /* no device of that index or key */
    HMN_E_NO_PROCESS = -9,   /* no such process, or it has exited */
    HMN_E_PERMISSION = -10,  /* the system or the driver refused */
    HMN_E_TIMEOUT = -11,     /* the driver did not answer within the deadline */
    HMN_E_DEVICE_LOST = -12, /* the device was there and is gone: unplugged, fallen off, reset */
    HMN_E_BACKEND = -13,     /* a driver or tool answered with an error, or with nonsense */
    HMN_E_LIMIT = -14,       /* a limit was reached */
    HMN_E_OVERFLOW = -15,    /* the result does not fit 64 bits */
    HMN_E_FORKED = -16,      /* the handle was made by the parent of this process */
    HMN_E_BUFFER = -17,      /* the buffer is too small; *needed says how large it must be */
    HMN_E_EMPTY = -18,       /* it was not asked for, or there is nothing to give */
    HMN_E_INTERNAL = -19,    /* a defect of this library; please report it */
    HMN_E_ASLEEP = -20,      /* answering would have to wake the device, or keep it awake */
    HMN_E_STATE = -21        /* the right call at the wrong moment */
};

/* ---- where a value came from, and what it means ---------------------------------------------- */

/** Who measured. Numbers stay below 64 for ever: masks are 64 bits wide. */
enum {
    HMN_BACKEND_NONE = 0,
    HMN_BACKEND_OS = 1,         /* the operating system itself */
    HMN_BACKEND_NVML = 2,       /* NVIDIA's management library */
    HMN_BACKEND_NVIDIA_SMI = 3, /* NVIDIA's command, when NVML cannot serve */
    HMN_BACKEND_AMDGPU = 4,     /* AMD's kernel driver: sysfs and fdinfo */
    HMN_BACKEND_KFD = 5,        /* AMD's compute driver: what compute processes use */
    HMN_BACKEND_ROCM_SMI = 6,   /* AMD's rocm-smi command, when the kernel does not tell */
    HMN_BACKEND_I915 = 7,       /* Intel's older kernel driver */
    HMN_BACKEND_XE = 8,         /* Intel's newer kernel driver */
    HMN_BACKEND_DRM = 9,        /* any kernel DRM driver: sysfs, and the fdinfo files of its clients */
    HMN_BACKEND_DXGI = 10,      /* Windows: the adapters, and what the caller may use of them */
    HMN_BACKEND_PDH = 11,       /* Windows: the performance counters of adapters and processes */
    HMN_BACKEND_METAL = 12,     /* macOS: Metal, and the system's registry of GPUs */
    HMN_BACKEND_MACMON = 13,    /* macOS: the macmon command */
    HMN_BACKEND_TEGRA = 14,     /* NVIDIA's SoCs (Jetson): sysfs */
    HMN_BACKEND_DMEM = 15,      /* the kernel's control group of device memory */
    HMN_BACKEND_SIMULATED = 16, /* a machine described by a file: nothing was measured */
    HMN_BACKEND_AMD_SMI = 17    /* AMD's amd-smi command, when the kernel does not tell */
};

/** Remarks on a result; each bit has one meaning in every struct. */
enum {
    HMN_NOTE_STALE = 1 << 0,       /* the last known value, age_ns old: the driver did not answer */
    HMN_NOTE_LOWER_BOUND = 1 << 1, /* some of it could not be seen */
    HMN_NOTE_ESTIMATED = 1 << 2,   /* derived from other values, not measured */
    HMN_NOTE_TRUNCATED = 1 << 3,   /* a char[N] field was cut */
    HMN_NOTE_MIXED = 1 << 4,       /* several backends; `backend` is that of the first */
    HMN_NOTE_FOREIGN_PID = 1 << 5, /* pid belongs to another PID namespace */
    HMN_NOTE_PARTIAL = 1 << 6,     /* something asked for is missing: see the diagnostics */
    HMN_NOTE_TRACE = 1 << 7        /* diagnostics: a driver call, recorded by HMN_CONTEXT_TRACE */
};

/** Whose figure it is. */
enum { HMN_SCOPE_NONE = 0, HMN_SCOPE_PROCESS = 1, HMN_SCOPE_DEVICE = 2 };

/** What a number of bytes counts. */
enum {
    HMN_ACCOUNT_NONE = 0,
    HMN_ACCOUNT_RESIDENT = 1,  /* has backing store now */
    HMN_ACCOUNT_COMMITTED = 2, /* promised, whether backed or not */
    HMN_ACCOUNT_ALLOCATED = 3  /* as the driver accounts allocations (NVML) */
};

/** Whose number hmn_error.native_code is. */
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

/** hmn_device.vendor: PCI vendor ids. */
enum {
    HMN_VENDOR_UNKNOWN = 0,
    HMN_VENDOR_AMD = 0x1002,
    HMN_VENDOR_APPLE = 0x106b,
    HMN_VENDOR_NVIDIA = 0x10de,
    HMN_VENDOR_QUALCOMM = 0x5143,
    HMN_VENDOR_INTEL = 0x8086
};

/* ---- error ----------------------------------------------------------------------------------- */

enum { HMN_ERROR_SIZE_V1 = 280 };
/** Why a call failed, in words. Out, owned by the caller. @since 0.1 */
typedef struct hmn_error {
    uint32_t struct_size;
    hmn_status status;      /* the value that the call returned */
    hmn_flags notes;        /* HMN_NOTE_TRUNCATED: the message was cut */
    uint32_t backend;       /* HMN_BACKEND_*: who failed; 0: this library refused */
    uint32_t native_domain; /* HMN_NATIVE_*: whose number native_code is */
    int32_t native_code;
    char message[256]; /* a sentence that names the value and says what can be done; "" on HMN_OK */
} hmn_error;

/* ---- library --------------------------------------------------------------------------------- */

/** What a library may have been built with: hmn_feature. */
enum {
    HMN_FEATURE_SUBPROCESS = 1, /* code that runs helper programs is compiled in */
    HMN_FEATURE_SIMULATION = 2, /* HMN_PATH_SIMULATION works */
    HMN_FEATURE_BACKEND = 1000  /* 1000 + n: backend n is compiled in */
};

/** The library's version as HMN_VERSION_NUMBER counts it. @since 0.1 */
HMN_FN(uint32_t) hmn_version_number(void) HMN_NX;
/** The library's version as text, for instance "0.1.0". Static storage. @since 0.1 */
HMN_FN(const char *) hmn_version_string(void) HMN_NX;
/** Whether the library has a feature (HMN_FEATURE_*): 1 yes, 0 no or unknown number. @since 0.1 */
HMN_FN(uint32_t) hmn_feature(uint32_t feature) HMN_NX;
/** A status' name, for instance "HMN_E_RANGE"; "HMN_E_?" for a number it does not know. Static
 *  storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_status_name(hmn_status status) HMN_NX;
/** A backend's name, for instance "nvml"; "none" for 0, "unknown" for a number it does not know.
 *  Static storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_backend_name(uint32_t backend) HMN_NX;

/* ---- context --------------------------------------------------------------------------------- */

/** How a context works. */
enum {
    HMN_CONTEXT_NO_SUBPROCESS = 1 << 0, /* never run a helper program (nvidia-smi, rocm-smi,
                                         * amd-smi, macmon) */
    HMN_CONTEXT_WAKE_DEVICES = 1 << 1,  /* a sleeping GPU may be woken to answer */
    HMN_CONTEXT_NO_THREADS = 1 << 2,    /* start none: a driver may then block the caller, and a
                                         * deadline can only be kept between driver calls */
    HMN_CONTEXT_ENVIRONMENT = 1 << 3,   /* read HMN_* variables now (never when set-user-id) */
    HMN_CONTEXT_TRACE = 1 << 4,         /* each driver call becomes a diagnostic of the snapshot */
    HMN_CONTEXT_RECORD = 1 << 5         /* keep what the backends read: hmn_context_recording */
};
enum { HMN_CONTEXT_OPTIONS_SIZE_V1 = 40 };
/** In; NULL means every default. @since 0.1 */
typedef struct hmn_context_options {
    uint32_t struct_size;
    hmn_flags flags;           /* HMN_CONTEXT_* */
    uint32_t deadline_ms;      /* longest that one call may wait for drivers; 0 = 1000 */
    uint32_t stale_ms;         /* oldest value given instead of HMN_E_TIMEOUT; 0 = 5000 */
    uint32_t open_deadline_ms; /* longest wait for a vendor library to open; 0 = 10000 */
    uint32_t max_age_ms;       /* readings this young share one driver call; 0 = none do */
    uint32_t idle_close_ms;    /* a vendor library whose GPU may sleep is shut down this long after
                                * the last reading; 0 = 2000 */
    uint32_t rescan_ms;        /* all processes are looked through for GPU clients at least this
                                * often, the known clients at each reading; 0 = 2000 */
    uint64_t backends_off;     /* bit n disables backend n */
} hmn_context_options;

/** Places to read from instead of the usual ones. With HMN_CONTEXT_ENVIRONMENT the variable in
 *  brackets does the same. */
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
    HMN_PATH_DEV = 10        /* the device nodes, default "/dev" for the usual sysfs tree, none for
                              * another [HMN_DEV] */
};

/** What a backend or a device is doing. */
enum {
    HMN_STATE_UNKNOWN = 0,    /* not tried yet */
    HMN_STATE_READY = 1,      /* answers */
    HMN_STATE_ASLEEP = 2,     /* runtime suspended; only identity and totals are known */
    HMN_STATE_LOST = 3,       /* was here and is gone */
    HMN_STATE_UNREADABLE = 4, /* here, and answers with errors */
    HMN_STATE_HUNG = 5,       /* a driver call has not returned */
    HMN_STATE_ABSENT = 6,     /* not on this machine */
    HMN_STATE_OFF = 7         /* switched off by the context or not compiled in */
};
enum { HMN_BACKEND_INFO_HAS_VERSION = 1 << 0 };
enum { HMN_BACKEND_INFO_SIZE_V1 = 384 };
/** How a backend fares; for doctors and bug reports. Out. @since 0.1 */
typedef struct hmn_backend_info {
    uint32_t struct_size;
    hmn_flags present; /* HMN_BACKEND_INFO_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t state;         /* HMN_STATE_* */
    hmn_status status;      /* HMN_OK, or why it cannot serve */
    uint32_t native_domain; /* HMN_NATIVE_* */
    int32_t native_code;
    char version[96];  /* of the driver or tool behind it */
    char message[256]; /* why it cannot serve, and what can be done; "" when it can */
} hmn_backend_info;

/** Makes a context. Touches no driver and starts no thread.
 *  HMN_E_UNKNOWN_FLAG: an unknown flag. HMN_E_UNSUPPORTED: HMN_CONTEXT_RECORD, and recordings are not
 *  compiled in, or the file that they need beside the library is missing or of another build.
 *  HMN_E_ARGUMENT: with HMN_CONTEXT_ENVIRONMENT, a variable holds what set_path would refuse.
 *  *out is owned by the caller: hmn_context_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_context_create(const hmn_context_options *options, hmn_context **out, hmn_error *error) HMN_NX;
/** Reads from another place than the usual one. `path` is HMN_PATH_*; `value` an absolute path, or
 *  NULL for the default; it is copied. Whether something is there shows at the first reading.
 *  HMN_E_ARGUMENT: not absolute, empty, or longer than 4095 bytes. HMN_E_RANGE: no such HMN_PATH_*.
 *  HMN_E_UNSUPPORTED: the backend it is for is not compiled in; or a simulation is asked for, and the
 *  file that it needs beside the library is missing or of another build.
 *  HMN_E_STATE: a reading was already made with this context. @since 0.1 */
HMN_FN(hmn_status) hmn_context_set_path(hmn_context *context, uint32_t path, const char *value, hmn_error *error) HMN_NX;
/** Tells how a backend (HMN_BACKEND_*) fares; it is opened if that was not tried yet, within the
 *  deadlines. A backend that is absent, off or failing is HMN_OK here, told by state and status.
 *  HMN_E_RANGE: no such backend. @since 0.1 */
HMN_FN(hmn_status) hmn_context_backend(hmn_context *context, uint32_t backend, hmn_backend_info *out, hmn_error *error) HMN_NX;
/** What the backends of a context with HMN_CONTEXT_RECORD have read so far: files, links, device
 *  numbers, answers of drivers and tools, as a machine file that HMN_PATH_SIMULATION takes elsewhere.
 *  Names of users and hosts, home folders, arguments of processes, UUIDs and serial numbers are
 *  replaced; each file is kept as it was last read. Another reading may make it longer: ask again on
 *  HMN_E_BUFFER.
 *  HMN_E_STATE: the context does not record, or reads a simulated machine. HMN_E_LIMIT: more was read
 *  than the 16 MiB that a machine file may have. @since 0.1 */
HMN_FN(hmn_status) hmn_context_recording(hmn_context *context, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;
/** Ends a context. Never waits for a driver: a call that hangs is left behind, and what it needs
 *  stays valid until it returns. NULL is fine. @since 0.1 */
HMN_FN(void) hmn_context_destroy(hmn_context *context) HMN_NX;

/* ---- host memory ----------------------------------------------------------------------------- */

enum {
    HMN_PROCESS_MEMORY_HAS_RESIDENT = 1 << 0,
    HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT = 1 << 1,
    HMN_PROCESS_MEMORY_HAS_VIRTUAL = 1 << 2,
    HMN_PROCESS_MEMORY_HAS_SWAP = 1 << 3,
    HMN_PROCESS_MEMORY_HAS_PROPORTIONAL = 1 << 4,
    HMN_PROCESS_MEMORY_HAS_PRIVATE = 1 << 5,
    HMN_PROCESS_MEMORY_HAS_COMMITTED = 1 << 6,
    HMN_PROCESS_MEMORY_HAS_FOOTPRINT = 1 << 7,
    HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT = 1 << 8,
    HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED = 1 << 9
};
enum { HMN_PROCESS_MEMORY_SIZE_V1 = 88, HMN_PROCESS_MEMORY_SIZE_V2 = 104 };
/** Host RAM of one process, in bytes. Out. @since 0.1 */
typedef struct hmn_process_memory {
    uint32_t struct_size;
    hmn_flags present; /* HMN_PROCESS_MEMORY_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t pid;
    uint32_t reserved0;
    uint64_t resident_bytes;       /* RSS: anonymous, file and shared pages (/proc/pid/statm) */
    uint64_t peak_resident_bytes;  /* highest RSS so far (VmHWM) */
    uint64_t virtual_bytes;        /* address space (/proc/pid/statm) */
    uint64_t swap_bytes;           /* anonymous pages swapped out (VmSwap) */
    uint64_t proportional_bytes;   /* PSS: shared pages divided by their users (smaps_rollup) */
    uint64_t private_bytes;        /* USS: pages that no other process maps (smaps_rollup) */
    uint64_t committed_bytes;      /* Windows: PrivateUsage; absent elsewhere */
    uint64_t footprint_bytes;      /* macOS: phys_footprint; absent elsewhere */
    uint64_t peak_footprint_bytes; /* macOS: highest phys_footprint so far; absent elsewhere. V2 */
    uint64_t peak_committed_bytes; /* Windows: PeakPagefileUsage; absent elsewhere. V2 */
} hmn_process_memory;

enum {
    HMN_SYSTEM_MEMORY_HAS_TOTAL = 1 << 0,
    HMN_SYSTEM_MEMORY_HAS_AVAILABLE = 1 << 1,
    HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL = 1 << 2,
    HMN_SYSTEM_MEMORY_HAS_SWAP_FREE = 1 << 3,
    HMN_SYSTEM_MEMORY_HAS_LIMIT = 1 << 4,
    HMN_SYSTEM_MEMORY_HAS_LIMIT_USED = 1 << 5,
    HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT = 1 << 6,
    HMN_SYSTEM_MEMORY_HAS_COMMITTED = 1 << 7,
    HMN_SYSTEM_MEMORY_HAS_PRESSURE = 1 << 8,
    HMN_SYSTEM_MEMORY_HAS_STALL = 1 << 9
};
/** How short of memory the system itself says that it is. */
enum {
    HMN_PRESSURE_UNKNOWN = 0,
    HMN_PRESSURE_NORMAL = 1,
    HMN_PRESSURE_WARNING = 2, /* programs should give memory back */
    HMN_PRESSURE_CRITICAL = 3 /* it ends programs next; never said by Windows */
};
enum { HMN_SYSTEM_MEMORY_SIZE_V1 = 80, HMN_SYSTEM_MEMORY_SIZE_V2 = 96 };
/** The host's RAM and this container's share of it, in bytes. Out. @since 0.1 */
typedef struct hmn_system_memory {
    uint32_t struct_size;
    hmn_flags present; /* HMN_SYSTEM_MEMORY_HAS_* */
    hmn_flags notes;   /* HMN_NOTE_ESTIMATED: available_bytes derived, on kernels without it */
    uint32_t backend;
    uint64_t total_bytes;      /* RAM that the kernel manages (MemTotal) */
    uint64_t available_bytes;  /* what could be used without swapping (MemAvailable) */
    uint64_t swap_total_bytes;
    uint64_t swap_free_bytes;
    uint64_t limit_bytes;      /* the tightest memory limit of this process' control groups, on
                                * Windows of its job objects; absent when none applies */
    uint64_t limit_used_bytes; /* what is charged to the group or job with that limit */
    uint64_t commit_limit_bytes;
    uint64_t committed_bytes;
    uint32_t pressure;    /* HMN_PRESSURE_*: macOS, Windows; absent on Linux, which has no level. V2 */
    uint32_t reserved0;   /* V2 */
    double stall_percent; /* of the last 10 s: at least one task waited for memory (Linux: `some avg10`
                           * of /proc/pressure/memory); absent elsewhere. V2 */
} hmn_system_memory;

/* Direct readings fill the caller's struct and, in the steady state, allocate nothing (but
 * hmn_system_memory_read, which looks for the control groups each time, and hmn_metric_read). `fields`
 * are the presence bits that are wanted; 0 means those that are cheap. A field that was asked for and
 * is missing leaves HMN_NOTE_PARTIAL; when nothing at all could be read the call fails. */

/** Host memory of a process of the proc tree in use. Cheap: resident and virtual.
 *  HMN_E_RANGE: pid is 0. HMN_E_UNKNOWN_FLAG: an unknown bit in fields, or that of a field which lies
 *  past out->struct_size.
 *  HMN_E_NO_PROCESS: no such process, or it has exited and not been waited for (a zombie).
 *  HMN_E_UNSUPPORTED: a kernel thread, which has no memory of its own; or this system lacks all of
 *  the fields. HMN_E_PERMISSION: the system refused. HMN_E_BACKEND: the system's text made no sense.
 *  HMN_E_NO_SOURCE: there is no proc tree. @since 0.1 */
HMN_FN(hmn_status) hmn_process_memory_read(hmn_context *context, uint32_t pid, hmn_flags fields, hmn_process_memory *out, hmn_error *error) HMN_NX;
/** The same of the calling process; with fields 0 one fstat and one pread. @since 0.1 */
HMN_FN(hmn_status) hmn_process_memory_read_self(hmn_context *context, hmn_flags fields, hmn_process_memory *out, hmn_error *error) HMN_NX;
/** The host's memory and the limit on this process. HMN_E_PERMISSION, HMN_E_BACKEND as above;
 *  HMN_E_NO_SOURCE: there is no meminfo. @since 0.1 */
HMN_FN(hmn_status) hmn_system_memory_read(hmn_context *context, hmn_system_memory *out, hmn_error *error) HMN_NX;

/* ---- devices: who they are ------------------------------------------------------------------- */

/** Kind of a device. */
enum {
    HMN_KIND_UNKNOWN = 0,
    HMN_KIND_DISCRETE = 1,
    HMN_KIND_INTEGRATED = 2,
    HMN_KIND_PARTITION = 3, /* a MIG instance: a device of its own, with parent_index */
    HMN_KIND_VIRTUAL = 4
};
/** Kind of a device's memory. */
enum {
    HMN_MEMORY_KIND_UNKNOWN = 0,
    HMN_MEMORY_KIND_DEDICATED = 1, /* memory of its own */
    HMN_MEMORY_KIND_UNIFIED = 2,   /* it allocates from the host's RAM (GB10, Jetson, Apple) */
    HMN_MEMORY_KIND_COHERENT = 3   /* memory of its own that is also a NUMA node of the host (GH200) */
};
enum {
    HMN_DEVICE_HAS_NAME = 1 << 0,
    HMN_DEVICE_HAS_UUID = 1 << 1,
    HMN_DEVICE_HAS_PCI = 1 << 2,
    HMN_DEVICE_HAS_DRIVER = 1 << 3,
    HMN_DEVICE_HAS_PARENT = 1 << 4,
    HMN_DEVICE_HAS_PCI_DEVICE = 1 << 5,
    HMN_DEVICE_HAS_PCI_SUBSYSTEM = 1 << 6,
    HMN_DEVICE_HAS_RENDER_MINOR = 1 << 7,
    HMN_DEVICE_HAS_NUMA_NODE = 1 << 8,
    HMN_DEVICE_HAS_INSTANCE = 1 << 9,      /* gpu_instance and compute_instance */
    HMN_DEVICE_HAS_DRIVER_INDEX = 1 << 10,
    HMN_DEVICE_HAS_OS_ID = 1 << 11,
    HMN_DEVICE_HAS_CUDA_VERSION = 1 << 12
};
enum { HMN_DEVICE_SIZE_V1 = 560 };
/** Who a device is. Out. @since 0.1 */
typedef struct hmn_device {
    uint32_t struct_size;
    hmn_flags present; /* HMN_DEVICE_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t index;            /* the context's number: never reused, never renumbered */
    uint32_t kind;             /* HMN_KIND_* */
    uint32_t state;            /* HMN_STATE_* */
    uint32_t vendor;           /* HMN_VENDOR_*, a PCI vendor id */
    uint32_t memory_kind;      /* HMN_MEMORY_KIND_* */
    uint32_t parent_index;     /* a partition's GPU */
    uint32_t driver_index;     /* what the vendor's own tools call it */
    uint32_t pci_device;       /* PCI device id */
    uint32_t pci_subsystem;    /* subsystem device id << 16 | subsystem vendor id */
    uint32_t render_minor;     /* N of /dev/dri/renderDN */
    uint32_t numa_node;        /* the host's NUMA node that is the device's own memory */
    uint32_t gpu_instance;     /* MIG */
    uint32_t compute_instance; /* MIG */
    uint32_t cuda_version;     /* of the driver: 1000 * major + 10 * minor */
    uint64_t os_id;            /* Windows: adapter LUID; macOS: registry id */
    char name[256];
    char uuid[96];           /* as the vendor writes it: "GPU-…", "MIG-…" */
    char pci_bus_id[32];     /* "0000:01:00.0": domain (4 or 8 hex digits), bus, device, function */
    char driver_version[96]; /* as the vendor writes it */
} hmn_device;

/** How many device indexes this context has given. Looks for devices first; never shrinks. An index
 *  belongs to one device for the context's life: NVIDIA's come first in the driver's order, then
 *  others by PCI address, then partitions; later arrivals are appended; a device that is gone keeps
 *  its index with state HMN_STATE_LOST. No device at all is HMN_OK and 0.
 *  HMN_E_TIMEOUT: a driver did not answer and nothing is known yet. @since 0.1 */
HMN_FN(hmn_status) hmn_device_count(hmn_context *context, uint32_t *out, hmn_error *error) HMN_NX;
/** The index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0" (any spelling: domain
 *  may be left out or have 8 digits, letters in either case), "luid:<hex>", "render:<minor>",
 *  "driver:<the vendor's index>". Looks for devices first.
 *  HMN_E_ARGUMENT: no such kind of key, or the value cannot be one. HMN_E_NO_DEVICE: nothing has it.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_device_find(hmn_context *context, const char *key, uint32_t *out, hmn_error *error) HMN_NX;
/** Who a device is. A device that is lost or asleep is HMN_OK, told by state.
 *  HMN_E_NO_DEVICE: the index was never given. @since 0.1 */
HMN_FN(hmn_status) hmn_device_read(hmn_context *context, uint32_t device_index, hmn_device *out, hmn_error *error) HMN_NX;

/* ---- devices: memory --------------------------------------------------------------------------- */

/** One pool per kind. An APU has VRAM and HOST, a unified GPU has UNIFIED alone. */
enum {
    HMN_POOL_MAIN = 0,         /* asked for: the pool that allocations come from */
    HMN_POOL_VRAM = 1,         /* the device's own memory */
    HMN_POOL_VRAM_VISIBLE = 2, /* the part of it that the host can address */
    HMN_POOL_HOST = 3,         /* host RAM mapped for the device (GTT, WDDM shared) */
    HMN_POOL_UNIFIED = 4,      /* host RAM that the device allocates from as its own */
    HMN_POOL_STOLEN = 5        /* host RAM that firmware set aside */
};
enum {
    HMN_POOL_HAS_TOTAL = 1 << 0,
    HMN_POOL_HAS_FREE = 1 << 1,
    HMN_POOL_HAS_USED = 1 << 2,
    HMN_POOL_HAS_RESERVED = 1 << 3,
    HMN_POOL_HAS_USABLE = 1 << 4,
    HMN_POOL_HAS_BUDGET = 1 << 5,
    HMN_POOL_HAS_UNATTRIBUTED = 1 << 6
};
enum { HMN_POOL_SIZE_V1 = 96 };
/** One memory pool of a device, device-wide, in bytes. Out. @since 0.1 */
typedef struct hmn_pool {
    uint32_t struct_size;
    hmn_flags present; /* HMN_POOL_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t device_index;
    uint32_t kind;       /* HMN_POOL_*, never MAIN */
    uint32_t accounting; /* HMN_ACCOUNT_*: what used_bytes counts */
    uint32_t is_main;    /* 1: allocations come from this pool */
    uint64_t total_bytes;
    uint64_t free_bytes;
    uint64_t used_bytes;     /* without reserved_bytes where that is known; else with it */
    uint64_t reserved_bytes; /* held by driver and firmware, inside total_bytes:
                              * total = reserved + free + used */
    uint64_t usable_bytes;   /* best estimate of what one could allocate now */
    uint64_t budget_bytes;   /* what a policy lets this process use */
    uint64_t unattributed_bytes; /* used, and owned by no process that can be seen; only in
                                  * snapshots that collect processes */
    uint64_t age_ns;             /* since the driver was asked */
} hmn_pool;
/** Memory of a device; `kind` is HMN_POOL_*. HMN_E_NO_DEVICE: the index was never given.
 *  HMN_E_RANGE: no such HMN_POOL_*. HMN_E_UNSUPPORTED: the device has no such pool, or its driver no
 *  figures for it. HMN_E_DEVICE_LOST, HMN_E_ASLEEP, HMN_E_PERMISSION, HMN_E_TIMEOUT, HMN_E_BACKEND,
 *  HMN_E_NO_SOURCE (the driver is gone): as named. @since 0.1 */
HMN_FN(hmn_status) hmn_pool_read(hmn_context *context, uint32_t device_index, uint32_t kind, hmn_pool *out, hmn_error *error) HMN_NX;

/* ---- devices: load, temperature, power --------------------------------------------------------- */

enum {
    HMN_TELEMETRY_HAS_GPU_BUSY = 1 << 0,
    HMN_TELEMETRY_HAS_MEMORY_BUSY = 1 << 1,
    HMN_TELEMETRY_HAS_ENCODER_BUSY = 1 << 2,
    HMN_TELEMETRY_HAS_DECODER_BUSY = 1 << 3,
    HMN_TELEMETRY_HAS_TEMPERATURE = 1 << 4,
    HMN_TELEMETRY_HAS_HOTSPOT = 1 << 5,
    HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE = 1 << 6,
    HMN_TELEMETRY_HAS_POWER = 1 << 7,
    HMN_TELEMETRY_HAS_POWER_LIMIT = 1 << 8,
    HMN_TELEMETRY_HAS_ENERGY = 1 << 9,
    HMN_TELEMETRY_HAS_CORE_CLOCK = 1 << 10,
    HMN_TELEMETRY_HAS_MEMORY_CLOCK = 1 << 11,
    HMN_TELEMETRY_HAS_FAN_PERCENT = 1 << 12,
    HMN_TELEMETRY_HAS_FAN_RPM = 1 << 13,
    HMN_TELEMETRY_HAS_PCIE_GENERATION = 1 << 14,
    HMN_TELEMETRY_HAS_PCIE_WIDTH = 1 << 15,
    HMN_TELEMETRY_HAS_PCIE_RX = 1 << 16,
    HMN_TELEMETRY_HAS_PCIE_TX = 1 << 17,
    HMN_TELEMETRY_HAS_THROTTLE = 1 << 18,
    HMN_TELEMETRY_HAS_P_STATE = 1 << 19,
    HMN_TELEMETRY_HAS_WINDOW = 1 << 20
};
/** Why clocks are held down. */
enum {
    HMN_THROTTLE_IDLE = 1 << 0,
    HMN_THROTTLE_POWER = 1 << 1,
    HMN_THROTTLE_THERMAL = 1 << 2,
    HMN_THROTTLE_HARDWARE = 1 << 3,
    HMN_THROTTLE_SETTING = 1 << 4,
    HMN_THROTTLE_OTHER = 1 << 5
};
enum { HMN_TELEMETRY_SIZE_V1 = 176 };
/** Load, temperature and power of a device. Out. @since 0.1 */
typedef struct hmn_telemetry {
    uint32_t struct_size;
    hmn_flags present; /* HMN_TELEMETRY_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t device_index;
    uint32_t core_clock_mhz;
    uint32_t memory_clock_mhz;
    uint32_t fan_percent; /* of the fan's highest speed; may pass 100 */
    uint32_t fan_rpm;
    uint32_t pcie_generation; /* of the link as it runs now */
    uint32_t pcie_width;      /* lanes in use now */
    uint32_t p_state;         /* NVIDIA: 0 is the fastest */
    hmn_flags throttle;       /* HMN_THROTTLE_* */
    uint32_t reserved0;
    uint64_t backends;           /* bit n: backend n gave at least one field */
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
    double energy_joules;   /* ever growing since the driver was loaded: take differences */
    uint64_t pcie_rx_bytes; /* ever growing: take differences */
    uint64_t pcie_tx_bytes; /* ever growing: take differences */
    uint64_t window_ns;     /* what the percentages average over */
    uint64_t age_ns;        /* since the driver was asked */
} hmn_telemetry;
/** Load, temperature and power of a device. `fields` as for all direct readings; 0: all that are
 *  cheap. HMN_E_UNKNOWN_FLAG: an unknown bit in fields. HMN_E_UNSUPPORTED: the device has none of
 *  them. Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_telemetry_read(hmn_context *context, uint32_t device_index, hmn_flags fields, hmn_telemetry *out, hmn_error *error) HMN_NX;

/* ---- devices: single numbers -------------------------------------------------------------------- */

/** A metric is one number of a device: those that hmn_telemetry has no field for, and of those that it
 *  has, each instance with a source of its own (every sensor, every fan, every clock). Numbers grow;
 *  what a metric is counted in is part of its meaning, and hmn_metric_unit tells it. "Count": in
 *  `count`, whole; all others are in `value`. */
enum {
    HMN_METRIC_UNKNOWN = 0,
    HMN_METRIC_ENGINE_BUSY_NS = 1,         /* count, ns, ever growing; instance: HMN_ENGINE_* */
    HMN_METRIC_ENGINE_PERCENT = 2,         /* 0..100 of window_ns; instance: HMN_ENGINE_* */
    HMN_METRIC_ENGINE_CAPACITY = 3,        /* count: how many there are; instance: HMN_ENGINE_* */
    HMN_METRIC_TEMPERATURE = 20,           /* Celsius; instance: HMN_SENSOR_* */
    HMN_METRIC_TEMPERATURE_LIMIT = 21,     /* Celsius: where the device slows down; HMN_SENSOR_* */
    HMN_METRIC_FAN_RPM = 22,               /* turns a minute; instance: fan, from 0 */
    HMN_METRIC_FAN_PERCENT = 23,           /* of the highest speed, may pass 100; fan, from 0 */
    HMN_METRIC_POWER_WATTS = 24,           /* W; instance: HMN_POWER_* */
    HMN_METRIC_ENERGY_JOULES = 25,         /* J, ever growing: take differences; HMN_POWER_* */
    HMN_METRIC_CLOCK_MHZ = 26,             /* MHz; instance: HMN_CLOCK_* */
    HMN_METRIC_CLOCK_LIMIT_MHZ = 27,       /* MHz: highest; instance: HMN_CLOCK_* */
    HMN_METRIC_VOLTAGE = 28,               /* V; instance: HMN_RAIL_* */
    HMN_METRIC_TEMPERATURE_SHUTDOWN = 29,  /* Celsius: where it switches itself off; HMN_SENSOR_* */
    HMN_METRIC_POWER_LIMIT_WATTS = 30,     /* W; instance: HMN_POWER_LIMIT_* */
    HMN_METRIC_ECC_CORRECTED = 40,         /* count of memory errors; instance: HMN_ERA_* */
    HMN_METRIC_ECC_UNCORRECTED = 41,       /* count of memory errors; instance: HMN_ERA_* */
    HMN_METRIC_ROWS_REMAPPED = 42,         /* count; instance: HMN_REMAPPED_* */
    HMN_METRIC_LAST_FAULT = 43,            /* count: the driver's own number of it (NVIDIA: Xid) */
    HMN_METRIC_THROTTLE_NS = 44,           /* count, ns held back, ever growing; HMN_THROTTLE_* */
    HMN_METRIC_PCIE_RX_BYTES = 60,         /* count, ever growing: received by the device */
    HMN_METRIC_PCIE_TX_BYTES = 61,         /* count, ever growing: sent by the device */
    HMN_METRIC_PCIE_REPLAYS = 62,          /* count, ever growing: packets sent again */
    HMN_METRIC_LINK_RX_BYTES = 63,         /* count, ever growing; link to other devices, from 0 */
    HMN_METRIC_LINK_TX_BYTES = 64,         /* count, ever growing; link to other devices, from 0 */
    HMN_METRIC_GROUP_VRAM_BYTES = 80,      /* count: what a control group's processes hold; instance:
                                            * from 1 in its snapshot (HMN_TEXT_METRIC_GROUP) */
    HMN_METRIC_GROUP_VRAM_LIMIT_BYTES = 81 /* count: the most that they may hold; the same instance */
};
/* Instances: which one of several. 0: of the whole device, or the source does not tell which. */
/** Engine of a device: instance of HMN_METRIC_ENGINE_PERCENT and its like. */
enum {
    HMN_ENGINE_UNKNOWN = 0,
    HMN_ENGINE_GRAPHICS = 1,
    HMN_ENGINE_COMPUTE = 2,
    HMN_ENGINE_COPY = 3,
    HMN_ENGINE_DECODE = 4,
    HMN_ENGINE_ENCODE = 5,
    HMN_ENGINE_VIDEO = 6, /* decodes and encodes, or improves pictures */
    HMN_ENGINE_OTHER = 7,
    HMN_ENGINE_MEMORY = 8 /* the memory controller */
};
/** Place of a temperature: instance of HMN_METRIC_TEMPERATURE and its limits. */
enum {
    HMN_SENSOR_UNKNOWN = 0,
    HMN_SENSOR_CORE = 1, /* edge of the chip, or its average */
    HMN_SENSOR_HOTSPOT = 2,
    HMN_SENSOR_MEMORY = 3,
    HMN_SENSOR_PACKAGE = 4,
    HMN_SENSOR_BOARD = 5,
    HMN_SENSOR_REGULATOR = 6
};
/** Which power: instance of HMN_METRIC_POWER_WATTS and HMN_METRIC_ENERGY_JOULES. */
enum {
    HMN_POWER_UNKNOWN = 0,
    HMN_POWER_AVERAGE = 1, /* of the device, over window_ns where that is known */
    HMN_POWER_INSTANT = 2, /* of the device, now */
    HMN_POWER_PACKAGE = 3, /* the chip and what is in its package, a CPU too */
    HMN_POWER_MEMORY = 4,
    HMN_POWER_BOARD = 5
};
/** Which limit: instance of HMN_METRIC_POWER_LIMIT_WATTS. */
enum {
    HMN_POWER_LIMIT_UNKNOWN = 0,
    HMN_POWER_LIMIT_CURRENT = 1,
    HMN_POWER_LIMIT_DEFAULT = 2, /* the maker's */
    HMN_POWER_LIMIT_MIN = 3,     /* lowest that can be set */
    HMN_POWER_LIMIT_MAX = 4      /* highest that can be set */
};
/** Which clock: instance of HMN_METRIC_CLOCK_MHZ and HMN_METRIC_CLOCK_LIMIT_MHZ. */
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
/** Which rail: instance of HMN_METRIC_VOLTAGE. */
enum {
    HMN_RAIL_UNKNOWN = 0,
    HMN_RAIL_CORE = 1,
    HMN_RAIL_SOC = 2,
    HMN_RAIL_MEMORY = 3,
    HMN_RAIL_BOARD = 4
};
/** Time that errors were counted in: instance of HMN_METRIC_ECC_CORRECTED and
 *  HMN_METRIC_ECC_UNCORRECTED. */
enum {
    HMN_ERA_UNKNOWN = 0,
    HMN_ERA_SINCE_LOAD = 1, /* since the driver was loaded, or the device reset */
    HMN_ERA_LIFETIME = 2    /* of the device */
};
/** What became of rows of memory: instance of HMN_METRIC_ROWS_REMAPPED. */
enum {
    HMN_REMAPPED_UNKNOWN = 0,
    HMN_REMAPPED_CORRECTED = 1,   /* rows of memory replaced after corrected errors */
    HMN_REMAPPED_UNCORRECTED = 2, /* after uncorrected errors */
    HMN_REMAPPED_PENDING = 3,     /* 1: a reset will replace some, 0: none waits for it */
    HMN_REMAPPED_FAILED = 4       /* 1: one could not be replaced, 0: none */
};
enum {
    HMN_METRIC_HAS_PID = 1 << 0,
    HMN_METRIC_HAS_VALUE = 1 << 1,
    HMN_METRIC_HAS_COUNT = 1 << 2,
    HMN_METRIC_HAS_WINDOW = 1 << 3
};
enum { HMN_METRIC_SIZE_V1 = 64 };
/** One number of a device, with its own source and age. Exactly one of value and count is there. Out.
 *  @since 0.1 */
typedef struct hmn_metric {
    uint32_t struct_size;
    hmn_flags present; /* HMN_METRIC_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t device_index;
    uint32_t pid;       /* with its bit: this process' part, not the device's */
    uint32_t id;        /* HMN_METRIC_* */
    uint32_t instance;  /* which one of several: see the metric */
    double value;       /* a reading */
    uint64_t count;     /* ever growing, or whole by nature */
    uint64_t window_ns; /* what value averages over */
    uint64_t age_ns;    /* since the driver was asked */
} hmn_metric;
/** One metric of the whole device, also one that takes long to read (HMN_SNAPSHOT_SLOW). A snapshot
 *  with HMN_COLLECT_METRICS has all of them for the price of a few.
 *  HMN_E_RANGE: no such HMN_METRIC_*. HMN_E_UNSUPPORTED: the device has no such metric or instance, or
 *  its driver does not tell it. Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_metric_read(hmn_context *context, uint32_t device_index, uint32_t metric, uint32_t instance, hmn_metric *out, hmn_error *error) HMN_NX;
/** A metric's name, for instance "temperature"; "unknown" for a number it does not know. Static
 *  storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_metric_name(uint32_t metric) HMN_NX;
/** What a metric is counted in, for instance "W"; "" for a plain number or one it does not know.
 *  Static storage, never NULL. @since 0.1 */
HMN_FN(const char *) hmn_metric_unit(uint32_t metric) HMN_NX;
/** The name of a metric's instance, for instance "hotspot"; "" where it has none: the instance of
 *  the whole device, one that is counted (fans, links), or a number it does not know. Static storage,
 *  never NULL. @since 0.1 */
HMN_FN(const char *) hmn_metric_instance_name(uint32_t metric, uint32_t instance) HMN_NX;

/* ---- one process on one device ------------------------------------------------------------------ */

/** Kinds of work of a process on a device. */
enum { HMN_USAGE_COMPUTE = 1 << 0, HMN_USAGE_GRAPHICS = 1 << 1, HMN_USAGE_MEDIA = 1 << 2 };
/** What is known of a process' name. */
enum {
    HMN_NAME_UNKNOWN = 0,
    HMN_NAME_RESOLVED = 1,
    HMN_NAME_EXITED = 2,    /* the driver still tells of it, the system does not */
    HMN_NAME_PROTECTED = 3, /* the system refuses to tell */
    HMN_NAME_KERNEL = 4     /* the kernel itself */
};
enum {
    HMN_USAGE_HAS_USED = 1 << 0,
    HMN_USAGE_HAS_RESIDENT = 1 << 1,
    HMN_USAGE_HAS_COMMITTED = 1 << 2,
    HMN_USAGE_HAS_ALLOCATED = 1 << 3,
    HMN_USAGE_HAS_SHARED = 1 << 4,
    HMN_USAGE_HAS_PURGEABLE = 1 << 5,
    HMN_USAGE_HAS_EVICTED = 1 << 6,
    HMN_USAGE_HAS_HOST_POOL = 1 << 7,
    HMN_USAGE_HAS_HOST_RESIDENT = 1 << 8,
    HMN_USAGE_HAS_BUDGET = 1 << 9,
    HMN_USAGE_HAS_BUSY_NS = 1 << 10,
    HMN_USAGE_HAS_BUSY_PERCENT = 1 << 11, /* busy_percent and window_ns */
    HMN_USAGE_HAS_START_TIME = 1 << 12,
    HMN_USAGE_HAS_UID = 1 << 13,
    HMN_USAGE_HAS_INSTANCE = 1 << 14, /* gpu_instance and compute_instance */
    HMN_USAGE_HAS_KINDS = 1 << 15,
    HMN_USAGE_HAS_PEAK_USED = 1 << 16
};
enum { HMN_USAGE_SIZE_V1 = 168, HMN_USAGE_SIZE_V2 = 176 };
/** Memory of one process on one device: figures of that process only, never the device's. Out.
 *  @since 0.1 */
typedef struct hmn_usage {
    uint32_t struct_size;
    hmn_flags present; /* HMN_USAGE_HAS_* */
    hmn_flags notes;   /* HMN_NOTE_FOREIGN_PID: pid is not one of the proc tree in use */
    uint32_t backend;
    uint32_t pid;
    uint32_t device_index;
    hmn_flags kinds;     /* HMN_USAGE_COMPUTE … : what it runs there */
    uint32_t accounting; /* HMN_ACCOUNT_*: what used_bytes counts */
    uint32_t name_state; /* HMN_NAME_* */
    uint32_t uid;        /* effective user id */
    uint32_t gpu_instance;     /* MIG */
    uint32_t compute_instance; /* MIG */
    uint64_t start_unix_ns;    /* with pid: tells a reused pid from the old one. Of a process that has
                                * ended: since when the driver keeps its account */
    uint64_t used_bytes;       /* the headline, by `accounting` */
    uint64_t resident_bytes;
    uint64_t committed_bytes;
    uint64_t allocated_bytes;
    uint64_t shared_bytes; /* the part of used_bytes that other processes hold as well */
    uint64_t purgeable_bytes;
    uint64_t evicted_bytes;       /* wanted in device memory, and not there now */
    uint64_t host_pool_bytes;     /* host RAM mapped for the device (GTT, WDDM shared) */
    uint64_t host_resident_bytes; /* RSS: the same in each row of this pid */
    uint64_t budget_bytes;
    uint64_t busy_ns; /* ever growing: take differences */
    double busy_percent;
    uint64_t window_ns; /* what busy_percent averages over */
    uint64_t age_ns;    /* since the driver was asked */
    uint64_t peak_used_bytes; /* the most that it has held there: the driver's own account of it, kept at
                               * each allocation (NVIDIA's accounting mode), never sampled. V2 */
} hmn_usage;
/** What a process uses on a device. `pid` is as the driver counts it (for NVML that of this process'
 *  PID namespace, or the host's where the driver does not translate).
 *  A process that the driver no longer lists, and whose account it has kept, has peak_used_bytes and
 *  no used_bytes; for a caller whose struct ends before that, it is HMN_E_NO_PROCESS.
 *  Load is the driver's own of the last two seconds (NVIDIA), else the difference to the process'
 *  figures in an earlier list or call, some of which are kept: a first call has none.
 *  HMN_E_RANGE: pid is 0. HMN_E_NO_PROCESS: the driver lists no such process on the device.
 *  Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_usage_read(hmn_context *context, uint32_t device_index, uint32_t pid, hmn_usage *out, hmn_error *error) HMN_NX;
/** What the calling process uses on a device. 0 bytes is said only where the driver's list can be
 *  trusted to hold the caller; where it cannot (a list of host pids read inside a container) the
 *  call is HMN_E_NO_SOURCE and says so. Name, start time, owner, host memory and what would cost a
 *  further driver call (NVIDIA's load and peak) are left out, here and in hmn_snapshot_self. Otherwise as
 *  hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_usage_read_self(hmn_context *context, uint32_t device_index, hmn_usage *out, hmn_error *error) HMN_NX;

/* ---- snapshot ------------------------------------------------------------------------------------
 * One consistent, immutable picture. `i` is a position in it, from 0; device_index never is. */

/** What a snapshot collects. */
enum {
    HMN_COLLECT_MEMORY = 1 << 0,    /* the caller's host memory: resident and virtual */
    HMN_COLLECT_SYSTEM = 1 << 1,    /* the host's memory */
    HMN_COLLECT_DEVICES = 1 << 2,   /* who the devices are (implied by all of the next) */
    HMN_COLLECT_POOLS = 1 << 3,     /* their memory */
    HMN_COLLECT_SELF = 1 << 4,      /* what the caller uses on each */
    HMN_COLLECT_PROCESSES = 1 << 5, /* what every process uses on each */
    HMN_COLLECT_TELEMETRY = 1 << 6, /* load, temperature, power */
    HMN_COLLECT_METRICS = 1 << 7    /* each single number that the sources tell */
};
/** What a snapshot is confined to, and what it may cost. */
enum {
    HMN_SNAPSHOT_ONE_DEVICE = 1 << 0,  /* device_index says which */
    HMN_SNAPSHOT_ONE_PROCESS = 1 << 1, /* pid says which: keeps the usage rows of that pid alone */
    HMN_SNAPSHOT_SLOW = 1 << 2         /* also metrics that take more than a few milliseconds; they
                                        * are read last, so that nothing else waits for them */
};
enum { HMN_SNAPSHOT_OPTIONS_SIZE_V1 = 24 };
/** In; NULL means every default. @since 0.1 */
typedef struct hmn_snapshot_options {
    uint32_t struct_size;
    hmn_flags flags;       /* HMN_SNAPSHOT_* */
    hmn_flags collect;     /* HMN_COLLECT_*; 0 = memory, devices, pools, self */
    uint32_t device_index; /* zero unless HMN_SNAPSHOT_ONE_DEVICE */
    uint32_t pid;          /* zero unless HMN_SNAPSHOT_ONE_PROCESS */
    uint32_t deadline_ms;  /* 0 = the context's */
} hmn_snapshot_options;

enum { HMN_SNAPSHOT_INFO_SIZE_V1 = 64 };
/** What a snapshot holds. Out. @since 0.1 */
typedef struct hmn_snapshot_info {
    uint32_t struct_size;
    hmn_flags present;
    hmn_flags notes;   /* HMN_NOTE_PARTIAL: something asked for is missing */
    hmn_flags collect; /* HMN_COLLECT_*: what was asked for */
    uint32_t device_count;
    uint32_t pool_count;
    uint32_t usage_count;
    uint32_t diagnostic_count;
    uint32_t unreadable_process_count; /* processes that the system would not describe, or not let
                                        * be asked what they use of a device */
    uint32_t metric_count;
    uint64_t unix_time_ns; /* when it was begun, since 1970 */
    uint64_t monotonic_ns; /* the same by the clock that never jumps */
    uint64_t duration_ns;  /* how long it took */
} hmn_snapshot_info;

enum {
    HMN_DIAGNOSTIC_HAS_DEVICE = 1 << 0,
    HMN_DIAGNOSTIC_HAS_PID = 1 << 1,
    HMN_DIAGNOSTIC_HAS_FIELD = 1 << 2,
    HMN_DIAGNOSTIC_HAS_DURATION = 1 << 3
};
enum { HMN_DIAGNOSTIC_SIZE_V1 = 312 };
/** Why something is missing, and what can be done. Out. @since 0.1 */
typedef struct hmn_diagnostic {
    uint32_t struct_size;
    hmn_flags present; /* HMN_DIAGNOSTIC_HAS_* */
    hmn_flags notes;   /* HMN_NOTE_TRACE: not a fault, a recorded driver call */
    uint32_t backend;
    hmn_status status;      /* HMN_E_UNSUPPORTED: this card has no such value; HMN_E_NO_DEVICE:
                             * this backend is sure that it has no device; these two do not make
                             * a snapshot HMN_NOTE_PARTIAL */
    uint32_t native_domain; /* HMN_NATIVE_* */
    int32_t native_code;
    hmn_flags subject; /* the HMN_COLLECT_* bit that it is about */
    hmn_flags field;   /* the presence bits of that struct that are missing because of it; for
                        * HMN_COLLECT_METRICS the HMN_METRIC_* */
    uint32_t device_index;
    uint32_t pid;         /* of the first, when several were merged */
    uint32_t count;       /* how many alike were merged into this one */
    uint64_t duration_ns; /* of a traced call */
    char message[256];
} hmn_diagnostic;

/** Text of a snapshot; `i` counts in the list that it is about. */
enum {
    HMN_TEXT_PROCESS_NAME = 1,     /* of usage i: command name */
    HMN_TEXT_PROCESS_COMMAND = 3,  /* of usage i: command line */
    HMN_TEXT_PROCESS_CONTAINER = 5, /* of usage i: id of the container */
    HMN_TEXT_METRIC_GROUP = 64      /* of metric i: the control group that it is of */
};

/** Takes a snapshot. What could not be read is a diagnostic of it, not an error of this call.
 *  HMN_E_NO_DEVICE: HMN_SNAPSHOT_ONE_DEVICE and the index was never given. HMN_E_RANGE:
 *  HMN_SNAPSHOT_ONE_PROCESS and pid 0. HMN_E_ARGUMENT: device_index or pid without its flag.
 *  *out is owned by the caller: hmn_snapshot_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_take(hmn_context *context, const hmn_snapshot_options *options, hmn_snapshot **out, hmn_error *error) HMN_NX;
/** Ends a snapshot. NULL is fine. @since 0.1 */
HMN_FN(void) hmn_snapshot_destroy(hmn_snapshot *snapshot) HMN_NX;
/** Counts, times and notes of a snapshot. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_read(const hmn_snapshot *snapshot, hmn_snapshot_info *out) HMN_NX;
/** The caller's host memory. HMN_E_EMPTY: not asked for, or not to be had. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_memory(const hmn_snapshot *snapshot, hmn_process_memory *out) HMN_NX;
/** The host's memory. HMN_E_EMPTY: not asked for, or not to be had. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_system(const hmn_snapshot *snapshot, hmn_system_memory *out) HMN_NX;
/** Device at position i (device_count of them, by index). HMN_E_RANGE: i is past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_device(const hmn_snapshot *snapshot, uint32_t i, hmn_device *out) HMN_NX;
/** Load, temperature and power of the device at position i. HMN_E_RANGE: i is past the end.
 *  HMN_E_EMPTY: not asked for, or not to be had. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_telemetry(const hmn_snapshot *snapshot, uint32_t i, hmn_telemetry *out) HMN_NX;
/** What the caller uses on the device at position i. HMN_E_RANGE: i is past the end. HMN_E_EMPTY: not
 *  asked for, or not to be had. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_self(const hmn_snapshot *snapshot, uint32_t i, hmn_usage *out) HMN_NX;
/** Pool i (pool_count of them, by device index, the main pool first). HMN_E_RANGE: i is past the end.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_pool(const hmn_snapshot *snapshot, uint32_t i, hmn_pool *out) HMN_NX;
/** Usage i (usage_count of them, by device index, then pid). HMN_E_RANGE: i is past the end.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_usage(const hmn_snapshot *snapshot, uint32_t i, hmn_usage *out) HMN_NX;
/** Metric i (metric_count of them, by device index). HMN_E_RANGE: i is past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_metric(const hmn_snapshot *snapshot, uint32_t i, hmn_metric *out) HMN_NX;
/** Diagnostic i (diagnostic_count of them). HMN_E_RANGE: i is past the end. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_diagnostic(const hmn_snapshot *snapshot, uint32_t i, hmn_diagnostic *out) HMN_NX;
/** A text of the snapshot: HMN_TEXT_*. A command line has a blank between arguments; of one of more
 *  than 4 KiB it is the beginning. A container is "<runtime>:<id>", for instance "docker:1c8f…", by
 *  the innermost control group that is one's; HMN_E_EMPTY where none is. A control group is the
 *  container that it is of (the outermost), in the same words, else its path, for instance
 *  "/user.slice"; HMN_E_EMPTY: the metric is not of one. HMN_E_RANGE: no such text, or i is past the
 *  end. HMN_E_EMPTY: not known. HMN_E_BUFFER: too small. @since 0.1 */
HMN_FN(hmn_status) hmn_snapshot_text(const hmn_snapshot *snapshot, uint32_t text, uint32_t i, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;

/* ---- report and format ----------------------------------------------------------------------------
 * Pure functions of snapshots. '.' is the decimal point in every locale. */

enum {
    HMN_DELTA_HAS_MEMORY = 1 << 0,
    HMN_DELTA_HAS_DEVICE = 1 << 1,
    HMN_DELTA_HAS_ENERGY = 1 << 2
};
enum { HMN_DELTA_SIZE_V1 = 64 };
/** What changed from one snapshot to another: after minus before. Out. @since 0.1 */
typedef struct hmn_delta {
    uint32_t struct_size;
    hmn_flags present; /* HMN_DELTA_HAS_* */
    hmn_flags notes;
    uint32_t backend;
    uint32_t device_index;
    uint32_t scope;      /* HMN_SCOPE_*: device_bytes is this process' or the device's */
    uint32_t accounting; /* HMN_ACCOUNT_* of device_bytes */
    uint32_t reserved0;
    int64_t memory_bytes; /* the caller's resident set */
    int64_t device_bytes; /* of the caller when both snapshots know that, else of the device */
    uint64_t elapsed_ns;
    double energy_joules; /* of the whole device */
} hmn_delta;
/** What changed on a device (by its index) and on the host. HMN_E_NO_DEVICE: neither snapshot has the
 *  device. HMN_E_ARGUMENT: `after` was taken before `before`. HMN_E_EMPTY: the snapshots have nothing
 *  in common. @since 0.1 */
HMN_FN(hmn_status) hmn_report_read(const hmn_snapshot *before, const hmn_snapshot *after, uint32_t device_index, hmn_delta *out) HMN_NX;
/** The change as one line: "  label: RAM +100 MB  |  VRAM +500 MB [per-process]\n", in MiB; without
 *  the second part when a side does not know it. HMN_E_EMPTY: host memory is missing on a side.
 *  HMN_E_ARGUMENT: label is NULL. @since 0.1 */
HMN_FN(hmn_status) hmn_report_delta(const hmn_snapshot *before, const hmn_snapshot *after, uint32_t device_index, const char *label, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;
/** Both figures and the change, one line for RAM and one for VRAM. Otherwise as hmn_report_delta.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_report_before_after(const hmn_snapshot *before, const hmn_snapshot *after, uint32_t device_index, const char *label, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;

/** Value in the line of a device. */
enum { HMN_FORMAT_FREE = 1, HMN_FORMAT_TOTAL = 2, HMN_FORMAT_USED = 3 };
/** The device at position i as one line, for instance "  GPU 0: free 13284 MB / 16384 MB [name]\n", in
 *  MiB. HMN_E_RANGE: i is past the end, or no such HMN_FORMAT_*. HMN_E_EMPTY: a figure is not known.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_format_device(const hmn_snapshot *snapshot, uint32_t i, uint32_t format, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;
/** The whole snapshot as one JSON object; docs/schema has its JSON Schema. Numbers are numbers, what is
 *  unknown is null. @since 0.1 */
HMN_FN(hmn_status) hmn_format_json(const hmn_snapshot *snapshot, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;
/** A size for people: whole MiB below 1 GiB ("512 MiB", rounded down), else GiB with one decimal
 *  ("8.2 GiB"). @since 0.1 */
HMN_FN(hmn_status) hmn_format_bytes(uint64_t bytes, char *buffer, uint32_t capacity, uint32_t *needed) HMN_NX;

/* ---- sampler -------------------------------------------------------------------------------------
 * One thread that takes snapshots on a schedule, so that nobody waits for a driver: a collector pulls
 * them one by one, a program that draws asks for the latest figures every frame. It keeps what it
 * needs of the context, which may be destroyed before it. */

/** How a sampler works. */
enum { HMN_SAMPLER_PEAKS_ONLY = 1 << 0 /* keep no snapshots: latest figures and peaks alone */ };
enum { HMN_SAMPLER_OPTIONS_SIZE_V1 = 24 };
/** In; NULL means every default. @since 0.1 */
typedef struct hmn_sampler_options {
    uint32_t struct_size;
    hmn_flags flags;              /* HMN_SAMPLER_* */
    uint32_t interval_ms;         /* from one snapshot to the next; 0 = 1000. A GPU that may sleep
                                   * and has nothing to do is left alone for at least 10 s at a
                                   * time, however short this is: figures are then the last ones,
                                   * with HMN_NOTE_STALE, their age and a diagnostic (HMN_E_ASLEEP) */
    uint32_t process_interval_ms; /* with HMN_COLLECT_PROCESSES, which costs most: from one snapshot
                                   * with processes to the next; 0 = 1000. Never more often than
                                   * interval_ms. `collect` of a snapshot between has no
                                   * HMN_COLLECT_PROCESSES */
    uint32_t capacity;            /* snapshots kept until they are pulled, then the oldest is
                                   * dropped; 0 = 64, at most 65536 */
    uint32_t reserved0;
} hmn_sampler_options;

/** Where a sampler is in its life, which has one way. */
enum { HMN_SAMPLER_IDLE = 1, HMN_SAMPLER_RUNNING = 2, HMN_SAMPLER_STOPPED = 3 };
enum { HMN_SAMPLER_INFO_HAS_LAST = 1 << 0 /* last_status and last_monotonic_ns */ };
enum { HMN_SAMPLER_INFO_SIZE_V1 = 64 };
/** How a sampler fares. Out. @since 0.1 */
typedef struct hmn_sampler_info {
    uint32_t struct_size;
    hmn_flags present; /* HMN_SAMPLER_INFO_HAS_* */
    hmn_flags notes;
    uint32_t state;             /* HMN_SAMPLER_IDLE … */
    uint32_t pending;           /* snapshots that wait to be pulled */
    hmn_status last_status;     /* of the last try */
    uint64_t taken_count;       /* snapshots taken */
    uint64_t dropped_count;     /* of these, dropped unread to make room */
    uint64_t late_count;        /* times that were left out since the snapshot before took too long */
    uint64_t failed_count;      /* tries that gave no snapshot */
    uint64_t last_monotonic_ns; /* when the last try was begun, by the clock that never jumps */
} hmn_sampler_info;

enum {
    HMN_PEAK_HAS_USED = 1 << 0, /* used_bytes, accounting and used_monotonic_ns */
    HMN_PEAK_HAS_HOST_POOL = 1 << 1,
    HMN_PEAK_HAS_HOST_RESIDENT = 1 << 2
};
enum { HMN_PEAK_SIZE_V1 = 64 };
/** The highest figures that a sampler has seen since its start, each for itself: they need not be of
 *  the same moment. What rose and fell between two snapshots was not seen. Out. @since 0.1 */
typedef struct hmn_peak {
    uint32_t struct_size;
    hmn_flags present; /* HMN_PEAK_HAS_* */
    hmn_flags notes;   /* of the reading that used_bytes is from */
    uint32_t backend;  /* so too */
    uint32_t device_index;
    uint32_t pid;        /* 0: of the device */
    uint32_t accounting; /* HMN_ACCOUNT_*: what used_bytes counts */
    uint32_t reserved0;
    uint64_t used_bytes;          /* a device: of its main pool */
    uint64_t host_pool_bytes;     /* a device: used of its HMN_POOL_HOST */
    uint64_t host_resident_bytes; /* of a process: RSS */
    uint64_t used_monotonic_ns;   /* when used_bytes was seen first */
} hmn_peak;

/** Makes a sampler. Touches no driver and starts no thread. `what` is taken each time, NULL or a
 *  `collect` of 0 being devices, pools and telemetry; a device_index that was never given shows in
 *  failed_count and last_status. HMN_E_RANGE: capacity is above 65536. Otherwise as
 *  hmn_snapshot_take. *out is owned by the caller: hmn_sampler_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_create(hmn_context *context, const hmn_sampler_options *options, const hmn_snapshot_options *what, hmn_sampler **out, hmn_error *error) HMN_NX;
/** Ends a sampler, stopping it first. Never waits for a driver: a thread that hangs in one is left
 *  behind, and what it needs stays valid until it returns. NULL is fine. @since 0.1 */
HMN_FN(void) hmn_sampler_destroy(hmn_sampler *sampler) HMN_NX;
/** Starts the thread: the first snapshot is begun at once, each other a whole number of intervals
 *  after it; a time that has passed is left out. The thread blocks all signals.
 *  HMN_E_STATE: it was started before. HMN_E_UNSUPPORTED: the context has HMN_CONTEXT_NO_THREADS.
 *  HMN_E_LIMIT: the system gives no thread. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_start(hmn_sampler *sampler, hmn_error *error) HMN_NX;
/** Stops for good, and wakes those that wait in hmn_sampler_next. Does not wait for the snapshot
 *  under way, which is thrown away. HMN_OK also when it was stopped before. HMN_E_STATE: it was never
 *  started. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_stop(hmn_sampler *sampler, hmn_error *error) HMN_NX;
/** Pulls the oldest snapshot that nobody has pulled, waiting for one until timeout_ms (0: not at
 *  all) are over. Several threads may wait; each snapshot goes to one of them.
 *  HMN_E_EMPTY: none has come yet. HMN_E_STATE: none will come: it is not started, it is stopped and
 *  all were pulled, or it keeps none (HMN_SAMPLER_PEAKS_ONLY).
 *  *out is owned by the caller: hmn_snapshot_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_next(hmn_sampler *sampler, uint32_t timeout_ms, hmn_snapshot **out, hmn_error *error) HMN_NX;
/** How a sampler fares. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_read(const hmn_sampler *sampler, hmn_sampler_info *out) HMN_NX;
/** The main pool of a device as the latest snapshot has it; age_ns grows while no newer one comes.
 *  Asks no driver, takes no lock, allocates nothing and waits for nobody: for every frame.
 *  HMN_E_NO_DEVICE: no snapshot has had a device of that index. HMN_E_EMPTY: there is no snapshot
 *  yet, or the latest has no such figures. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_latest_pool(const hmn_sampler *sampler, uint32_t device_index, hmn_pool *out) HMN_NX;
/** Load, temperature and power in the same way. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_latest_telemetry(const hmn_sampler *sampler, uint32_t device_index, hmn_telemetry *out) HMN_NX;
/** The highest that a process has used of a device; of the caller with HMN_COLLECT_SELF, of all with
 *  HMN_COLLECT_PROCESSES. A pid that is given anew begins anew. Processes that have ended are
 *  forgotten once more than 65536 peaks are kept. HMN_E_RANGE: pid is 0. HMN_E_NO_DEVICE: as above.
 *  HMN_E_NO_PROCESS: it was not seen on that device. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_peak(const hmn_sampler *sampler, uint32_t device_index, uint32_t pid, hmn_peak *out) HMN_NX;
/** The highest that was used of a device. HMN_E_NO_DEVICE: as above. HMN_E_EMPTY: no snapshot has had
 *  its figures. @since 0.1 */
HMN_FN(hmn_status) hmn_sampler_peak_device(const hmn_sampler *sampler, uint32_t device_index, hmn_peak *out) HMN_NX;

/* ---- estimate ------------------------------------------------------------------------------------
 * What a model will need, before it is loaded: arithmetic alone, which asks no driver and needs no
 * context. Whole numbers throughout; a result that does not fit 64 bits is HMN_E_OVERFLOW, never a
 * wrapped number. *out is 0 unless the call succeeds. */

/** What a number is stored as. */
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
    HMN_DTYPE_F8E8M0 = 15, /* a scale: exponent alone */
    HMN_DTYPE_F6E2M3 = 16, /* 6 bits */
    HMN_DTYPE_F6E3M2 = 17, /* 6 bits */
    HMN_DTYPE_F4 = 18,     /* 4 bits: e2m1 */
    HMN_DTYPE_I4 = 19,     /* 4 bits */
    HMN_DTYPE_U4 = 20,     /* 4 bits */
    HMN_DTYPE_BOOL = 21    /* 8 bits, as frameworks keep it */
};
/** How many bits a number of a HMN_DTYPE_* has; 0 for a number it does not know. @since 0.1 */
HMN_FN(uint32_t) hmn_dtype_bits(uint32_t dtype) HMN_NX;
/** A dtype's name, for instance "bf16"; "unknown" for a number it does not know. Static storage,
 *  never NULL. @since 0.1 */
HMN_FN(const char *) hmn_dtype_name(uint32_t dtype) HMN_NX;
/** The HMN_DTYPE_* that a name stands for, as candle, torch, safetensors, numpy and C spell it: "F32",
 *  "float32", "torch.float32", "fp32", "float"; "F8_E4M3", "float8_e4m3fn", "fp8". Letters in either case,
 *  underscores do not count. The number is of bits: "f4" and "i4" have 4, not numpy's 4 bytes.
 *  HMN_E_ARGUMENT: name is NULL, or no such name. @since 0.1 */
HMN_FN(hmn_status) hmn_dtype_from_name(const char *name, uint32_t *out, hmn_error *error) HMN_NX;

enum { HMN_PACKING_SIZE_V1 = 24 };
/** How elements lie packed, a scale for each group of them: of q4_0 {I4, group_size 32, group_bits 16}.
 *  In; not NULL. @since 0.1 */
typedef struct hmn_packing {
    uint32_t struct_size;
    hmn_flags flags;       /* none yet */
    uint32_t dtype;        /* HMN_DTYPE_* of an element */
    uint32_t element_bits; /* instead of dtype, for those that are none: of 2, 3, 5 bits */
    uint32_t group_size;   /* elements that share a scale; 0 = no groups */
    uint32_t group_bits;   /* what a group holds beside its elements: scale, zero point */
} hmn_packing;

/** How attention works. */
enum { HMN_ATTENTION_FUSED = 1 << 0 /* scores are never kept whole (flash attention) */ };
enum { HMN_ATTENTION_SIZE_V1 = 56 };
/** One layer of attention at work. In; not NULL. @since 0.1 */
typedef struct hmn_attention {
    uint32_t struct_size;
    hmn_flags flags; /* HMN_ATTENTION_* */
    uint32_t dtype;  /* HMN_DTYPE_* */
    uint32_t reserved0;
    uint64_t batch;    /* 0 = 1 */
    uint64_t heads;    /* of the queries */
    uint64_t kv_heads; /* 0 = heads */
    uint64_t sequence; /* tokens */
    uint64_t head_dim;
} hmn_attention;

/** What layers keep of the tokens before. */
enum {
    HMN_CACHE_FULL = 0,   /* keys and values of each token: MHA, GQA and MQA, by kv_heads */
    HMN_CACHE_WINDOW = 1, /* of the last `window` tokens and of the first `sinks` */
    HMN_CACHE_LATENT = 2, /* one vector for each token: MLA (DeepSeek) */
    HMN_CACHE_STATE = 3   /* one state, however long the sequence: Mamba and other SSMs */
};
enum { HMN_CACHE_SIZE_V1 = 96 };
/** The cache of layers that are alike; a hybrid model has several, whose sizes hmn_estimate_sum adds. A
 *  field that the kind has no use for is 0. In; not NULL. @since 0.1 */
typedef struct hmn_cache {
    uint32_t struct_size;
    hmn_flags flags;         /* none yet */
    uint32_t kind;           /* HMN_CACHE_* */
    uint32_t dtype;          /* this and the next three: as in hmn_packing. A row is one head's key or */
    uint32_t element_bits;   /* value, the latent vector, or the state of one layer */
    uint32_t group_size;
    uint32_t group_bits;
    uint32_t reserved0;
    uint64_t layers;         /* that have such a cache */
    uint64_t kv_heads;       /* full, window: heads that have keys and values of their own */
    uint64_t key_dim;        /* full, window: elements of one head's key */
    uint64_t value_dim;      /* full, window: of one head's value; 0 = key_dim */
    uint64_t window;         /* window: tokens kept beside the sinks */
    uint64_t sinks;          /* window: first tokens that are kept for good */
    uint64_t latent_dim;     /* latent: kv_lora_rank + qk_rope_head_dim */
    uint64_t state_elements; /* state: of one layer, that of its convolution too */
} hmn_cache;

/** Bytes of a tensor. rank 0 is one element; a dimension of 0 makes 0 bytes. Elements smaller than a
 *  byte are packed, the whole rounded up to bytes.
 *  HMN_E_RANGE: no such HMN_DTYPE_*. HMN_E_ARGUMENT: shape is NULL and rank is not 0. HMN_E_OVERFLOW.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_tensor(const uint64_t *shape, uint32_t rank, uint32_t dtype, uint64_t *out, hmn_error *error) HMN_NX;
/** Bytes of a tensor whose elements lie in groups along the last dimension; the last group of a row has
 *  a scale as well when it is not full. HMN_E_ARGUMENT: also both dtype and element_bits, or neither;
 *  group_bits without group_size. HMN_E_RANGE: element_bits is above 64. Otherwise as
 *  hmn_estimate_tensor. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_packed(const uint64_t *shape, uint32_t rank, const hmn_packing *packing, uint64_t *out, hmn_error *error) HMN_NX;
/** Bytes of queries, keys, values, scores and output of one layer:
 *  batch * (2 * heads * sequence * head_dim + 2 * kv_heads * sequence * head_dim + heads * sequence ^ 2)
 *  elements, with HMN_ATTENTION_FUSED without the last term.
 *  HMN_E_RANGE: heads, sequence or head_dim is 0, kv_heads is above heads, or no such HMN_DTYPE_*.
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_attention(const hmn_attention *attention, uint64_t *out, hmn_error *error) HMN_NX;
/** Bytes of a cache once `sequence` tokens are in it, for `sequences` of them (batch times users).
 *  HMN_E_RANGE: a field that the kind needs is 0, element_bits is above 64, or no such HMN_CACHE_* or
 *  HMN_DTYPE_*. HMN_E_ARGUMENT: as hmn_estimate_packed, or a field is set that the kind has no use for.
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_cache(const hmn_cache *cache, uint64_t sequence, uint64_t sequences, uint64_t *out, hmn_error *error) HMN_NX;
/** bytes * per_thousand / 1000, rounded up; a per_thousand of 0 is 1100: a tenth more.
 *  HMN_E_OVERFLOW. @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_overhead(uint64_t bytes, uint32_t per_thousand, uint64_t *out, hmn_error *error) HMN_NX;
/** The sum of `count` sizes. HMN_E_ARGUMENT: bytes is NULL and count is not 0. HMN_E_OVERFLOW.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_estimate_sum(const uint64_t *bytes, uint32_t count, uint64_t *out, hmn_error *error) HMN_NX;

/* ---- tracker -------------------------------------------------------------------------------------
 * Bookkeeping of a budget: it allocates nothing itself, a program tells it what it takes and gives back.
 * The limit holds at every instant, however many threads take at once: what another thread is taking or
 * giving back counts as taken until its call returns. Plain memory without a lock or a thread, so a tracker
 * stays usable in a forked child, where it goes on alone with a copy; what other threads were taking or
 * giving back at the fork stays taken there. */

enum { HMN_TRACKER_OPTIONS_SIZE_V1 = 24 };
/** In; NULL means every default. @since 0.1 */
typedef struct hmn_tracker_options {
    uint32_t struct_size;
    hmn_flags flags;       /* none yet */
    uint64_t limit_bytes;  /* 0 = none */
    uint32_t tag_capacity; /* tags that there can be; 0 = 64, at most 65536 */
    uint32_t reserved0;
} hmn_tracker_options;

enum {
    HMN_TRACKER_INFO_HAS_LIMIT = 1 << 0,
    HMN_TRACKER_INFO_HAS_DEVICE = 1 << 1 /* device_index: it is linked to one */
};
enum { HMN_TRACKER_INFO_SIZE_V1 = 56 };
/** How a budget fares: allocated_bytes is never above limit_bytes, peak_bytes never below
 *  allocated_bytes. Out. @since 0.1 */
typedef struct hmn_tracker_info {
    uint32_t struct_size;
    hmn_flags present; /* HMN_TRACKER_INFO_HAS_* */
    hmn_flags notes;
    uint32_t device_index;
    uint32_t tag_count; /* tags are numbered from 1 up to it */
    uint32_t reserved0;
    uint64_t limit_bytes;
    uint64_t allocated_bytes;
    uint64_t peak_bytes;    /* highest allocated_bytes since the start or the last reset */
    uint64_t refused_count; /* allocations that were HMN_E_LIMIT */
} hmn_tracker_info;

enum { HMN_TAG_SIZE_V1 = 96 };
/** What was allocated under a tag. Out. @since 0.1 */
typedef struct hmn_tag {
    uint32_t struct_size;
    hmn_flags present;
    hmn_flags notes;
    uint32_t number; /* of the tag */
    uint64_t allocated_bytes;
    uint64_t peak_bytes;
    char name[64];
} hmn_tag;

/** Makes a tracker, of bookkeeping alone when context is NULL, else linked to a device, whose memory
 *  hmn_tracker_would_fit asks for as well. Touches no driver; keeps what it needs of the context, which
 *  may be destroyed before it. HMN_E_ARGUMENT: device_index without a context. HMN_E_RANGE:
 *  tag_capacity is above 65536. *out is owned by the caller: hmn_tracker_destroy. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_create(hmn_context *context, uint32_t device_index, const hmn_tracker_options *options, hmn_tracker **out, hmn_error *error) HMN_NX;
/** Ends a tracker. NULL is fine. @since 0.1 */
HMN_FN(void) hmn_tracker_destroy(hmn_tracker *tracker) HMN_NX;
/** Takes bytes from the budget. HMN_E_LIMIT: they would exceed the limit, and nothing was taken. Without
 *  a limit the most is 2^64 - 1 bytes. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_allocate(hmn_tracker *tracker, uint64_t bytes, hmn_error *error) HMN_NX;
/** Gives bytes back. HMN_E_RANGE: more than is allocated, and nothing was given back. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_release(hmn_tracker *tracker, uint64_t bytes, hmn_error *error) HMN_NX;
/** The number of the tag of that name, which is made if there is none. It is meant to be asked for once and
 *  kept. HMN_E_ARGUMENT: name is NULL, empty, no UTF-8 or longer than 63 bytes. HMN_E_LIMIT: tag_capacity
 *  is reached. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_tag(hmn_tracker *tracker, const char *name, uint32_t *out, hmn_error *error) HMN_NX;
/** As hmn_tracker_allocate, also counted under a tag; tag 0 is none. HMN_E_RANGE: no such tag.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_allocate_tagged(hmn_tracker *tracker, uint32_t tag, uint64_t bytes, hmn_error *error) HMN_NX;
/** As hmn_tracker_release, of what was allocated under that tag. HMN_E_RANGE: also no such tag.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_release_tagged(hmn_tracker *tracker, uint32_t tag, uint64_t bytes, hmn_error *error) HMN_NX;
/** Whether bytes would fit now: HMN_OK, or HMN_E_LIMIT where the limit is in the way or, of a linked
 *  tracker, what can be allocated on the device (usable_bytes of its main pool, or free_bytes where that
 *  is not known). HMN_E_TIMEOUT: also when the device's figures are stale. HMN_E_FORKED: linked, and made
 *  by the parent of this process. Linked, otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_would_fit(const hmn_tracker *tracker, uint64_t bytes, hmn_error *error) HMN_NX;
/** Another limit; 0 = none. HMN_E_LIMIT: more than that is allocated, and nothing was changed.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_set_limit(hmn_tracker *tracker, uint64_t limit_bytes, hmn_error *error) HMN_NX;
/** How the budget fares. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_read(const hmn_tracker *tracker, hmn_tracker_info *out) HMN_NX;
/** What was allocated under a tag. HMN_E_RANGE: no such tag (1 … tag_count). @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_read_tag(const hmn_tracker *tracker, uint32_t tag, hmn_tag *out) HMN_NX;
/** Forgets what is allocated, the peaks and refused_count; limit and tags stay. Beside other threads each
 *  of their calls counts as before it or after it, and a peak may be one of before. @since 0.1 */
HMN_FN(hmn_status) hmn_tracker_reset(hmn_tracker *tracker, hmn_error *error) HMN_NX;

/* ---- spill ---------------------------------------------------------------------------------------
 * Whether a device's memory is full and what belongs there stands in the host's RAM: slow, and silent.
 * An observation spills when one of two rules holds. Shared: the device's memory is used to the
 * threshold or above, and the host memory that the device uses has grown by growth_bytes or more over
 * the first observation. Evicted: what drivers say was moved out of the device's memory has grown as
 * much. Consecutive observations that spill are an episode. There is no smoothing: one is enough to
 * begin an episode, one to end it.
 *
 * Who tells what: amdgpu VRAM and GTT of the device, and evicted memory of its processes; xe both of
 * the device; i915 what its processes have in the host's RAM, or not in the device's. NVIDIA's driver
 * on Linux moves nothing to the host, an allocation fails instead, and what managed memory moves is
 * not told: such a device is HMN_E_UNSUPPORTED, as is one without memory of its own. Samples from
 * elsewhere can be fed all the same. */

enum { HMN_SPILL_OPTIONS_SIZE_V1 = 32 };
/** In; NULL means every default. @since 0.1 */
typedef struct hmn_spill_options {
    uint32_t struct_size;
    hmn_flags flags;           /* none yet */
    uint32_t episode_capacity; /* episodes kept, then the oldest is dropped; 0 = 1024, at most 65536 */
    uint32_t reserved0;
    uint64_t dedicated_threshold_bytes; /* 0 = limit / 100 * 85, whole bytes; none below 100 bytes */
    uint64_t growth_bytes;              /* 0 = 256 MiB */
} hmn_spill_options;

enum {
    HMN_SPILL_SAMPLE_HAS_LIMIT = 1 << 0,
    HMN_SPILL_SAMPLE_HAS_EVICTED = 1 << 1
};
enum { HMN_SPILL_SAMPLE_SIZE_V1 = 48 };
/** Figures from elsewhere. In. @since 0.1 */
typedef struct hmn_spill_sample {
    uint32_t struct_size;
    hmn_flags flags;          /* HMN_SPILL_SAMPLE_HAS_* */
    uint64_t monotonic_ns;    /* when, by the clock that never jumps; 0 = now */
    uint64_t dedicated_bytes; /* used of the device's memory */
    uint64_t shared_bytes;    /* host RAM that the device uses */
    uint64_t limit_bytes;     /* size of the device's memory; zero without its flag */
    uint64_t evicted_bytes;   /* wanted in the device's memory and not there; zero without its flag */
} hmn_spill_sample;

/** Where a detector stands: now, and latched. */
enum {
    HMN_SPILL_MEASURABLE = 1 << 0, /* at least one observation had its figures */
    HMN_SPILL_NOW = 1 << 1,        /* the last observation spilled */
    HMN_SPILL_EVER = 1 << 2        /* one did */
};
/** Which rule held. */
enum { HMN_SPILL_BY_SHARED = 1 << 0, HMN_SPILL_BY_EVICTED = 1 << 1 };
enum {
    HMN_SPILL_INFO_HAS_LIMIT = 1 << 0,
    HMN_SPILL_INFO_HAS_OBSERVED = 1 << 1, /* dedicated, shared, their peaks, the baseline of shared */
    HMN_SPILL_INFO_HAS_EVICTED = 1 << 2,
    HMN_SPILL_INFO_HAS_PEAK_EVICTED = 1 << 3, /* and the baseline of evicted */
    HMN_SPILL_INFO_HAS_EPISODE = 1 << 4       /* longest_ns, longest_episode and first_label */
};
enum { HMN_SPILL_INFO_SIZE_V1 = 480 };
/** What a detector has seen. Out. @since 0.1 */
typedef struct hmn_spill_info {
    uint32_t struct_size;
    hmn_flags present; /* HMN_SPILL_INFO_HAS_* */
    hmn_flags notes;   /* of the last observation; HMN_NOTE_TRUNCATED: first_label or message was cut */
    uint32_t backend;  /* of the last observation; 0: it was fed */
    uint32_t device_index;
    hmn_flags state;   /* HMN_SPILL_MEASURABLE … */
    hmn_flags rules;   /* HMN_SPILL_BY_*: of the last observation */
    hmn_status status; /* HMN_OK, or why the last try gave no observation; HMN_E_EMPTY: none was made */
    uint64_t observation_count;
    uint64_t skipped_count;  /* tries that gave no observation, and changed nothing else */
    uint64_t episode_count;  /* ever begun; the last one may still be open */
    uint64_t first_episode;  /* lowest number that is still kept */
    uint64_t limit_bytes;    /* the last one known */
    uint64_t dedicated_bytes;
    uint64_t shared_bytes;
    uint64_t evicted_bytes;
    uint64_t peak_dedicated_bytes;
    uint64_t peak_shared_bytes;
    uint64_t peak_evicted_bytes;
    uint64_t baseline_shared_bytes;  /* of the first observation */
    uint64_t baseline_evicted_bytes; /* of the first that told it; 0 where no process was there before */
    uint64_t total_ns;               /* of all episodes, also those dropped */
    uint64_t longest_ns;
    uint64_t longest_episode; /* its number; of equal ones the first */
    char first_label[64];     /* of the first episode */
    char message[256];        /* why status is what it is, and what can be done; "" on HMN_OK */
} hmn_spill_info;

enum {
    HMN_EPISODE_HAS_END = 1 << 0, /* end_monotonic_ns and end_label */
    HMN_EPISODE_HAS_PEAK_EVICTED = 1 << 1
};
enum { HMN_EPISODE_SIZE_V1 = 200 };
/** Consecutive observations that spilled. Out. @since 0.1 */
typedef struct hmn_episode {
    uint32_t struct_size;
    hmn_flags present; /* HMN_EPISODE_HAS_* */
    hmn_flags notes;   /* HMN_NOTE_TRUNCATED: a label was cut */
    hmn_flags rules;   /* HMN_SPILL_BY_*: those that held in it */
    uint64_t number;
    uint64_t observation_count;
    uint64_t peak_shared_bytes;
    uint64_t peak_evicted_bytes;
    uint64_t start_monotonic_ns;
    uint64_t end_monotonic_ns; /* of the first observation after it */
    uint64_t duration_ns;      /* from its first observation to its last */
    char start_label[64];      /* of its first observation */
    char end_label[64];        /* of the first observation after it */
} hmn_episode;

/** Makes a detector. Touches no driver. It keeps what it needs of the context, which may be destroyed
 *  before it; with NULL it measures nothing itself. After a fork one with a context is HMN_E_FORKED;
 *  one without stays usable, unless the parent was writing to it at that moment.
 *  HMN_E_RANGE: episode_capacity is above 65536. *out is owned by the caller: hmn_spill_destroy.
 *  @since 0.1 */
HMN_FN(hmn_status) hmn_spill_create(hmn_context *context, uint32_t device_index, const hmn_spill_options *options, hmn_spill **out, hmn_error *error) HMN_NX;
/** Ends a detector. Never waits for a driver. NULL is fine. @since 0.1 */
HMN_FN(void) hmn_spill_destroy(hmn_spill *spill) HMN_NX;
/** Reads the device and takes it for an observation. Asks for its pools, and for its processes where
 *  their driver tells what it has moved out. `label` (NULL: "") names the moment, for instance "step
 *  400"; bytes past 63 are cut. Anything but HMN_OK changes skipped_count, status and message alone.
 *  HMN_E_UNSUPPORTED: not measurable on this device; no driver is asked again when that is for ever.
 *  HMN_E_EMPTY: not while no process uses it. HMN_E_NO_SOURCE: the detector has no context.
 *  HMN_E_NO_DEVICE: the index was never given. Otherwise as hmn_pool_read. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_observe(hmn_spill *spill, const char *label, hmn_error *error) HMN_NX;
/** Takes the device of a snapshot for an observation: one with HMN_COLLECT_POOLS, and
 *  HMN_COLLECT_PROCESSES of all processes. For samplers and recordings: no driver is asked, and a
 *  context is not needed. HMN_E_NO_DEVICE: the snapshot has no such device. Otherwise as
 *  hmn_spill_observe. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_observe_snapshot(hmn_spill *spill, const hmn_snapshot *snapshot, const char *label, hmn_error *error) HMN_NX;
/** Takes figures from elsewhere for an observation. HMN_E_ARGUMENT: sample is NULL, or limit_bytes or
 *  evicted_bytes is set without its flag. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_feed(hmn_spill *spill, const hmn_spill_sample *sample, const char *label, hmn_error *error) HMN_NX;
/** What a detector has seen. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_read(const hmn_spill *spill, hmn_spill_info *out) HMN_NX;
/** An episode by its number, from 0; a number is never given twice. HMN_E_RANGE: not begun yet, or
 *  dropped since. @since 0.1 */
HMN_FN(hmn_status) hmn_spill_episode(const hmn_spill *spill, uint64_t number, hmn_episode *out) HMN_NX;

#ifdef __cplusplus
}
#endif
#endif
