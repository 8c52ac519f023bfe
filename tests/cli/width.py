# SPDX-License-Identifier: MIT OR Apache-2.0
"""The width table matches the output of its script."""
import re
import subprocess
import sys
import unicodedata

from command import SOURCE, skip_all


def main():
    table = (SOURCE / "src" / "cli" / "text" / "width_table.hpp").read_text()
    version = re.search(r"from Unicode (\S+)\.\n", table).group(1)
    if version != unicodedata.unidata_version:
        skip_all("cli.width", f"Python has Unicode {unicodedata.unidata_version}, not {version}")
    output = subprocess.run([sys.executable, SOURCE / "scripts" / "make-width-table"], check=True,
                            capture_output=True, text=True).stdout
    return 0 if output == table else "run scripts/make-width-table > src/cli/text/width_table.hpp"


if __name__ == "__main__":
    sys.exit(main())
