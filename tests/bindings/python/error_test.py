# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a failed call raises."""
import pickle
import unittest

import hypomnesis
from hypomnesis import (Backend, Context, Error, NativeDomain, Place, Status, status_name)
from support import ABI, Case, run_suite

# What users of Python catch already.
BUILTINS = {
    "ARGUMENT": ValueError, "UNKNOWN_FLAG": ValueError, "RANGE": IndexError,
    "NO_MEMORY": MemoryError, "NO_DEVICE": LookupError, "NO_PROCESS": ProcessLookupError,
    "PERMISSION": PermissionError, "TIMEOUT": TimeoutError, "OVERFLOW": OverflowError,
    "EMPTY": LookupError,
}
# Statuses that a machine file can give, each with the class of its own.
SIMULATED = {
    "no_memory": hypomnesis.OutOfMemoryError, "unsupported": hypomnesis.UnsupportedError,
    "no_source": hypomnesis.NoSourceError, "no_device": hypomnesis.NoDeviceError,
    "no_process": hypomnesis.NoProcessError, "permission": hypomnesis.RefusedError,
    "timeout": hypomnesis.DeadlineError, "device_lost": hypomnesis.DeviceLostError,
    "backend": hypomnesis.BackendError, "limit": hypomnesis.LimitError,
    "overflow": hypomnesis.TooLargeError, "asleep": hypomnesis.AsleepError,
}


def failing(status):
    return {"devices": [{"name": "GPU", "pools": [{"kind": "vram", "total": 1}], "failures": [
        {"call": "pools", "status": status, "native": {"domain": "nvml", "code": 17},
         "message": f"it is {status}, Größe 4"}]}]}


class Errors(Case):
    def raised(self, call, *arguments):
        with self.assertRaises(Error) as caught:
            call(*arguments)
        return caught.exception

    def test_each_status_has_a_class(self):
        of_status = hypomnesis._error.ERROR_OF_STATUS
        statuses = {value for name, value in ABI["constants"].items() if name.startswith("HMN_E_")}
        self.assertEqual(set(of_status), statuses)
        for cls in of_status.values():
            self.assertTrue(issubclass(cls, Error) and cls is not Error)
        for name, builtin in BUILTINS.items():
            self.assertTrue(issubclass(of_status[Status[name]], builtin), name)

    def test_each_simulated_status_raises_its_class(self):
        for status, cls in SIMULATED.items():
            with self.subTest(status):
                error = self.raised(self.context(failing(status)).pool, 0)
                self.assertIs(type(error), cls)
                self.assertEqual(error.status, Status[status.upper()])
                self.assertEqual(error.status_name, f"HMN_E_{status.upper()}")
                self.assertIn(f"it is {status}, Größe 4", str(error))
                self.assertEqual(error.backend, Backend.SIMULATED)
                self.assertEqual((error.native_domain, error.native_code), (NativeDomain.NVML, 17))

    def test_refusals_name_no_backend_and_no_native_code(self):
        context = self.context("workstation")
        for call, arguments, cls in (
                (context.find_device, ["colour:red"], hypomnesis.ArgumentError),
                (context.find_device, ["uuid:GPU-none"], hypomnesis.NoDeviceError),
                (context.device, [7], hypomnesis.NoDeviceError),
                (context.pool, [0, 99], hypomnesis.RangeError),
                (context.own_memory, [1 << 31], hypomnesis.ArgumentError),
                (context.usage, [0, 0], hypomnesis.RangeError),
                (context.usage, [0, 999999], hypomnesis.NoProcessError),
                (context.backend, [63], hypomnesis.RangeError),
                (context.take, [0, 0, 3], hypomnesis.ArgumentError),
                (context.set_path, [Place.PROC, "/proc"], hypomnesis.StateError),
                (Context, [1 << 31], hypomnesis.ArgumentError)):
            with self.subTest(arguments):
                error = self.raised(call, *arguments)
                self.assertIs(type(error), cls)
                self.assertIsNone(error.native_code)
                self.assertTrue(error.message)

    def test_paths(self):
        context = Context()
        self.assertIs(type(self.raised(context.set_path, Place.PROC, "proc")),
                      hypomnesis.ArgumentError)
        self.assertIs(type(self.raised(context.set_path, 99, "/proc")), hypomnesis.RangeError)

    def test_a_snapshot_past_its_end(self):
        with self.context("workstation").snapshot() as snapshot:
            self.assertIs(type(self.raised(snapshot.device_line, 1)), hypomnesis.NoDeviceError)
            error = self.raised(snapshot.device_line, 0, 99)
            self.assertIs(type(error), hypomnesis.RangeError)
            self.assertIsInstance(error, IndexError)
            self.assertIsInstance(error, ValueError)
            self.assertIs(type(self.raised(snapshot.delta_since, snapshot, 5)),
                          hypomnesis.NoDeviceError)

    def test_arguments_that_are_no_such_thing(self):
        context = self.context("workstation")
        for call, argument, builtin in (
                (context.device, -1, OverflowError), (context.device, 1 << 32, OverflowError),
                (context.device, "0", TypeError), (context.device, 0.5, TypeError),
                (context.find_device, 5, TypeError), (context.find_device, "a\0b", ValueError),
                (hypomnesis.format_bytes, 1 << 64, OverflowError),
                (hypomnesis.format_bytes, -1, OverflowError)):
            with self.subTest(argument), self.assertRaises(builtin):
                call(argument)

    def test_a_status_that_is_not_known_is_a_plain_error(self):
        error = hypomnesis._error.error_of("new", -999, 0, 0, 0)
        self.assertIs(type(error), Error)
        self.assertEqual((error.status, error.status_name), (-999, "HMN_E_?"))

    def test_errors_travel_between_processes(self):
        for status in Status:
            if status == Status.OK:
                continue
            error = hypomnesis._error.error_of("why", status, 2, 7, 15)
            copy = pickle.loads(pickle.dumps(error))
            self.assertIs(type(copy), type(error))
            self.assertEqual(str(copy), "why")
            self.assertEqual(vars(copy), vars(error))
            self.assertEqual(copy.status_name, status_name(status))


if __name__ == "__main__":
    run_suite()
