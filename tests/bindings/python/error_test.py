# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exceptions of failed calls."""
import ast
import inspect
import pickle
import tracemalloc
import unittest

import hypomnesis
from hypomnesis import _proxy as raw
from hypomnesis import (ArgumentError, Backend, Context, Error, NativeDomain, Place, Reason, Status, status_name)
from support import ABI, ROOT, Case, run_suite

# Builtin exceptions that the classes derive from.
BUILTINS = {
    "ARGUMENT": ValueError, "UNKNOWN_FLAG": ValueError, "RANGE": IndexError,
    "NO_MEMORY": MemoryError, "NO_DEVICE": LookupError, "NO_PROCESS": ProcessLookupError,
    "PERMISSION": PermissionError, "TIMEOUT": TimeoutError, "OVERFLOW": OverflowError,
    "EMPTY": LookupError,
}
# Statuses that a machine file can simulate, with their classes.
SIMULATED = {
    "no_memory": hypomnesis.OutOfMemoryError, "unsupported": hypomnesis.UnsupportedError,
    "no_source": hypomnesis.NoSourceError, "no_device": hypomnesis.NoDeviceError,
    "no_process": hypomnesis.NoProcessError, "permission": hypomnesis.RefusedError,
    "timeout": hypomnesis.DeadlineError, "device_lost": hypomnesis.DeviceLostError,
    "backend": hypomnesis.BackendError, "limit": hypomnesis.LimitError,
    "overflow": hypomnesis.TooLargeError, "asleep": hypomnesis.AsleepError,
}


def make_failing_machine(status):
    return {"devices": [{"name": "GPU", "pools": [{"kind": "vram", "total": 1}], "failures": [
        {"call": "pools", "status": status, "native": {"domain": "nvml", "code": 17},
         "message": f"it is {status}, Größe 4"}]}]}


class Errors(Case):
    def catch_error(self, call, *arguments):
        with self.assertRaises(Error) as caught:
            call(*arguments)
        return caught.exception

    def test_each_status_has_an_exception_class(self):
        classes = hypomnesis._error.ERROR_CLASSES
        statuses = {value for name, value in ABI["constants"].items() if name.startswith("HMN_E_")}
        self.assertEqual(set(classes), statuses)
        for cls in classes.values():
            self.assertTrue(issubclass(cls, Error) and cls is not Error)
        for name, builtin in BUILTINS.items():
            self.assertTrue(issubclass(classes[Status[name]], builtin), name)

    def test_each_simulated_status_raises_its_class(self):
        for status, cls in SIMULATED.items():
            with self.subTest(status):
                error = self.catch_error(self.context(make_failing_machine(status)).pool, 0)
                self.assertIs(type(error), cls)
                self.assertEqual(error.status, Status[status.upper()])
                self.assertEqual(error.status_name, f"HMN_E_{status.upper()}")
                self.assertIn(f"it is {status}, Größe 4", str(error))
                self.assertEqual(error.backend, Backend.SIMULATED)
                self.assertEqual((error.native_domain, error.native_code), (NativeDomain.NVML, 17))
                self.assertNotEqual(error.reason, Reason.UNKNOWN)

    def test_refusals_have_a_message_and_no_native_code(self):
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
                error = self.catch_error(call, *arguments)
                self.assertIs(type(error), cls)
                self.assertIsNone(error.native_code)
                self.assertTrue(error.message)

    def test_an_invalid_path_is_an_argument_or_range_error(self):
        context = Context()
        self.assertIs(type(self.catch_error(context.set_path, Place.PROC, "proc")),
                      hypomnesis.ArgumentError)
        self.assertIs(type(self.catch_error(context.set_path, 99, "/proc")), hypomnesis.RangeError)

    def test_indexes_past_the_end_of_a_snapshot_raise(self):
        with self.context("workstation").snapshot() as snapshot:
            self.assertIs(type(self.catch_error(snapshot.device_line, 1)), hypomnesis.NoDeviceError)
            error = self.catch_error(snapshot.device_line, 0, 99)
            self.assertIs(type(error), hypomnesis.RangeError)
            self.assertIsInstance(error, IndexError)
            self.assertIsInstance(error, ValueError)
            self.assertIs(type(self.catch_error(snapshot.delta_since, snapshot, 5)),
                          hypomnesis.NoDeviceError)

    def test_a_wrong_argument_is_named_by_an_argument_error(self):
        context = self.context("workstation")
        for call, argument, name in (
                (context.device, -1, "device_index"), (context.device, 1 << 32, "device_index"),
                (context.device, "0", "device_index"), (context.device, 0.5, "device_index"),
                (context.find_device, 5, "key"), (context.find_device, None, "key"),
                (hypomnesis.format_bytes, 1 << 64, "count"), (hypomnesis.format_bytes, -1, "count"),
                (hypomnesis.estimate_sum, [1, "x"], "counts"), (hypomnesis.estimate_sum, 3, "counts"),
                (lambda flags: context.sampler(flags=flags), -1, "flags"),
                (lambda place: context.set_path(place, None), "x", "place"),
                (lambda kind: context.pool(0, kind), 99, "kind"),
                (lambda interval: context.sampler(interval=interval), -1, "interval")):
            error = self.catch_error(call, argument)
            self.assertIsInstance(error, hypomnesis.ArgumentError)
            self.assertIsInstance(error, ValueError)
            self.assertIsInstance(error, TypeError)
            self.assertTrue(error.message.startswith(f"{name}: "), error.message)

    def test_an_exception_of_an_argument_itself_is_not_replaced(self):
        class Interrupted:
            def __index__(self):
                raise KeyboardInterrupt
        self.assertRaises(KeyboardInterrupt, hypomnesis.format_bytes, Interrupted())

    def test_empty_values_are_not_accepted_as_zero_or_as_a_snapshot(self):
        context = self.context("workstation")
        snapshot, spill = context.snapshot(), context.spill(0)
        for value in ("", [], 0.0, {}, "x", object()):
            for call in (lambda: context.snapshot(device_index=value), lambda: context.snapshot(pid=value),
                         lambda: context.sampler(device_index=value), lambda: context.sampler(pid=value),
                         lambda: spill.feed(1, 1, limit_bytes=value), lambda: spill.feed(1, 1, evicted_bytes=value),
                         lambda: snapshot.delta_since(value, 0), lambda: snapshot.delta_line(value, 0, "x"),
                         lambda: snapshot.before_after_lines(value, 0, "x"), lambda: spill.observe_snapshot(value)):
                with self.subTest(value), self.assertRaises(TypeError) as caught:
                    call()
                self.assertNotIn("method", str(caught.exception))
        self.assertRaises(TypeError, snapshot.delta_since, None, 0)
        for paths in ([1], 0, False):
            self.assertRaises(TypeError, Context, paths=paths)

    def test_objects_with_an_index_method_are_accepted_as_integers(self):
        context = self.context("workstation")
        self.assertEqual(context.device(Index(0)).index, 0)
        self.assertEqual(context.snapshot(device_index=Index(0)).devices[0].index, 0)
        self.assertEqual(hypomnesis.format_bytes(Index(1 << 63)), hypomnesis.format_bytes(1 << 63))
        self.assertEqual(hypomnesis.estimate_sum([Index(3), 4]), 7)
        self.assertEqual(status_name(Index(-4)), status_name(-4))

    def test_a_zero_byte_inside_a_text_is_an_argument_error(self):
        context = self.context("workstation")
        snapshot, spill = context.snapshot(), context.spill(0)
        for call in (lambda text: context.find_device(text), lambda text: context.set_path(Place.PROC, text),
                     lambda text: snapshot.delta_line(snapshot, 0, text), lambda text: spill.observe(text),
                     lambda text: hypomnesis.Tracker().tag(text), hypomnesis.dtype_from_name):
            for text in ("a\0b", b"a\0b", "\0"):
                error = self.catch_error(call, text)
                self.assertIs(type(error), hypomnesis.ArgumentError)
                self.assertIn("zero byte", str(error))

    def test_an_unknown_status_raises_the_base_class(self):
        error = hypomnesis._error.make_error("new", -999, 0, 0, 0, 0)
        self.assertIs(type(error), Error)
        self.assertEqual((error.status, error.status_name), (-999, "HMN_E_?"))

    def test_errors_can_be_pickled(self):
        for status in Status:
            if status == Status.OK:
                continue
            error = hypomnesis._error.make_error("why", status, 2, 7, 15, Reason.FAILED)
            copy = pickle.loads(pickle.dumps(error))
            self.assertIs(type(copy), type(error))
            self.assertEqual(str(copy), "why")
            self.assertEqual(vars(copy), vars(error))
            self.assertEqual(copy.status_name, status_name(status))


class LyingList(list):
    """Reports a hundred entries, and is emptied by iteration."""

    def __len__(self):
        return 100

    def __iter__(self):
        while list.__len__(self):
            yield self.pop()


class RaisingNumber(int):
    """An int whose __index__ raises: its value must be read without it."""

    def __index__(self):
        raise KeyError("a number's own")


class Index:
    """Converts to int, as NumPy's integers do."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class ShrinkingIndex(Index):
    """Clears its list when it is converted."""

    def __init__(self, values):
        super().__init__(1)
        self.values = values

    def __index__(self):
        self.values.clear()
        return 1


class FailingIterable:
    """Raises after its first number."""

    def __iter__(self):
        yield 1
        raise KeyError("the program's own")


# By type in the stub: a valid argument, and invalid ones with the exception that they raise.
WRONG_INTS = [(ArgumentError, (None, "1", b"1", 1.5, float("nan"), [1], {}, object(), -1 << 70, 1 << 70))]
WRONG_TEXTS = [(ArgumentError, (3, 1.5, ["x"], object(), "a\0b", b"a\0b", "\ud800"))]
WRONG_LISTS = [(ArgumentError, (None, 3, 1.5, object(), [1.5], [None], ["1"], "12", [[1]], [1] * 1000 + [None],
                                (1, object()), [-1], [1 << 64], [1] * 1000 + [-1], {-1})),
               (KeyError, (FailingIterable(),))]
WRONG_SNAPSHOTS = [(TypeError, (3, "x", [], object()))]
ARGUMENTS = {"int": (1, WRONG_INTS), "str": ("x", [*WRONG_TEXTS, (ArgumentError, (None,))]),
             "str | bytes | None": ("/x", WRONG_TEXTS), "Sequence[int]": ([1, 2], WRONG_LISTS),
             "Snapshot": (None, WRONG_SNAPSHOTS)}


class WrongArguments(Case):
    """Calls each function of the extension's stub: wrong arguments raise, and none crashes the interpreter. The
    suite runs with PYTHONMALLOC=debug, where a double free crashes."""

    def list_functions(self):
        """Yields name, callable and argument types."""
        context = self.context("workstation")
        objects = {"Context": context, "Snapshot": context.snapshot(), "Sampler": context.sampler(),
                   "Tracker": context.tracker(0), "Spill": context.spill(0)}
        for node in ast.parse((ROOT / "bindings/python/hypomnesis/_proxy.pyi").read_text()).body:
            methods = node.body if isinstance(node, ast.ClassDef) else [node]
            for function in methods:
                if not isinstance(function, ast.FunctionDef) or function.name in ("make", "raise_with", "__getattr__"):
                    continue
                owner = raw
                if isinstance(node, ast.ClassDef):
                    owner = objects[node.name]._handle.use()
                call = getattr(raw, node.name) if function.name == "__init__" else getattr(owner, function.name)
                types = [ast.unparse(argument.annotation) for argument in function.args.args if argument.arg != "self"]
                yield f"{node.name}.{function.name}", call, types

    def test_each_extension_function_refuses_wrong_arguments(self):
        lists = 0
        for name, call, types in self.list_functions():
            right = [ARGUMENTS[kind][0] for kind in types]
            for position, kind in enumerate(types):
                lists += kind == "Sequence[int]"
                for error, values in ARGUMENTS[kind][1]:
                    for value in values:
                        with self.subTest(f"{name}, argument {position}: {value!r:.60}"), self.assertRaises(error):
                            call(*right[:position], value, *right[position + 1:])
            with self.subTest(name), self.assertRaises(TypeError):
                call(*right, 1)
            if types:
                with self.subTest(name), self.assertRaises(TypeError):
                    call(*right[1:])
        self.assertEqual(lists, 3)

    def find_list_functions(self):
        """Yields each public function that takes a list, with its other arguments."""
        for name in hypomnesis.__all__:
            function = getattr(hypomnesis, name)
            if inspect.isfunction(function):
                parameters = list(inspect.signature(function).parameters.values())
                if "Sequence" in str(parameters[:1]):
                    others = [hypomnesis.Dtype.U8 for parameter in parameters[1:]
                              if parameter.kind == parameter.POSITIONAL_OR_KEYWORD]
                    yield function, others

    def test_lists_that_lie_about_their_length_or_shrink_are_read_safely(self):
        functions = list(self.find_list_functions())
        self.assertEqual(len(functions), 3)
        for function, others in functions:
            with self.subTest(function.__name__):
                self.assertEqual(function(LyingList([3, 2]), *others), function([3, 2], *others))
                self.assertEqual(function((RaisingNumber(5), True), *others), function([5, 1], *others))
                self.assertEqual(function(iter([3, 2]), *others), function([3, 2], *others))
                shrinking = []
                shrinking += [ShrinkingIndex(shrinking), 70000, 80000]
                self.assertEqual(function(shrinking, *others), function([1, 70000, 80000], *others))
                for error, values in WRONG_LISTS[:1]:
                    for value in values:
                        self.assertRaises(error, function, value, *others)

    def test_a_refused_list_leaks_no_memory(self):
        many = [1] * 10000 + ["x"]  # 80 kB of numbers
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for function, others in self.find_list_functions():
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(50):
                self.assertRaises(TypeError, function, many, *others)
                self.assertRaises(Error, function, [1 << 63] * 10000, *others)
            self.assertLess(tracemalloc.get_traced_memory()[0] - before, 1 << 20, function.__name__)

    def test_long_texts_in_messages_are_cut_between_characters(self):
        """The buffer of a message is limited; a text that is cut must stay valid UTF-8."""
        context = Context()
        for text in ("é" * 200, "x" + "é" * 200, "𝄞" * 100, "x𝄞" * 80):
            self.assertRaises(Error, context.find_device, text)
            self.assertRaises(Error, context.set_path, Place.PROC, text)
            self.assertRaises(Error, hypomnesis.dtype_from_name, text)
        self.assertRaises(Error, context.set_path, Place.PROC, b"\xff\xfe")


if __name__ == "__main__":
    run_suite()
