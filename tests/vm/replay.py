# SPDX-License-Identifier: MIT OR Apache-2.0
"""replay.py HMN FOLDER: a virtual machine's recording of itself reads the same outside of it."""
import json
import os
import pathlib
import subprocess
import sys

hmn, folder = sys.argv[1], pathlib.Path(sys.argv[2])
recorded = json.loads((folder / "recorded.json").read_text())
failed = False
for name, words in (("devices", []), ("rows", ["ps"])):
    result = subprocess.run([hmn, *words, "--machine", folder / "recording.json", "--json"], timeout=60,
                            check=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    replayed = [{key: value for key, value in row.items() if key != "age_ns"} for row in json.loads(result.stdout)]
    if replayed != recorded[name]:
        failed = True
        print(f"FAILED: {name} of the recording: {replayed}, recorded as {recorded[name]}")
print("the recording reads the same here" if not failed else "the recording differs here")
sys.exit(failed)
