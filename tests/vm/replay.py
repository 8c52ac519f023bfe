# SPDX-License-Identifier: MIT OR Apache-2.0
"""replay.py HMN FOLDER: what a virtual machine recorded of itself reads the same outside of it."""
import json
import os
import pathlib
import subprocess
import sys

hmn, folder = sys.argv[1], pathlib.Path(sys.argv[2])
wanted = json.loads((folder / "recorded.json").read_text())
failed = False
for name, words in (("devices", []), ("rows", ["ps"])):
    done = subprocess.run([hmn, *words, "--machine", folder / "recording.json", "--json"], timeout=60,
                          check=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    here = [{key: value for key, value in each.items() if key != "age_ns"} for each in json.loads(done.stdout)]
    if here != wanted[name]:
        failed = True
        print(f"FAILED: {name} of the recording: {here}, recorded as {wanted[name]}")
print("the recording tells the same here" if not failed else "the recording differs here")
sys.exit(failed)
