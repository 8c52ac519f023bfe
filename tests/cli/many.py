# SPDX-License-Identifier: MIT OR Apache-2.0
"""What thousands of GPUs cost: work that grows as their number does, not as its square."""
import os
import pty
import subprocess
import threading

from command import COMMAND, Machines, card, environment, main

FEW, MANY = 2500, 20000


def drain(terminal):
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass


class Many(Machines):
    def machine_of(self, count):
        # Without sensors, which is a missing value with its reason on each.
        return self.machine(devices=[card(f"Card {i}", uuid=f"GPU-{i:08}", processes=[
            {"pid": 1000 + i, "used": "1GiB", "name": f"worker-{i}", "uid": 1000 + i % 7}]) for i in range(count)])

    def processor_time(self, machine, words, on_terminal):
        """Of the command alone, in seconds: other work on this machine does not count."""
        terminal, output = pty.openpty() if on_terminal else (None, subprocess.DEVNULL)
        named = [*words[:1], "--machine", str(machine), "--timeout", "60s", *words[1:]]
        with subprocess.Popen([*COMMAND, *named], stdout=output, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment()) as running:
            if on_terminal:
                os.close(output)
                reader = threading.Thread(target=drain, args=(terminal,))
                reader.start()
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        if on_terminal:
            reader.join()
            os.close(terminal)
        self.assertEqual(running.returncode, 0, words)
        return used.ru_utime + used.ru_stime

    def test_the_work_grows_as_the_number_of_gpus_does(self):
        few, many = self.machine_of(FEW), self.machine_of(MANY)
        for words, on_terminal in ((("--color=never",), True), (("--json",), False), (("ps",), False),
                                   (("metrics",), False), (("snapshot",), False), (("top", "--once"), False),
                                   (("exporter", "--once", "--per", "process"), False)):
            # Eight times as many, whose square is 64.
            growth = (self.processor_time(many, words, on_terminal) /
                      self.processor_time(few, words, on_terminal))
            self.assertLess(growth, 18, words)


if __name__ == "__main__":
    main()
