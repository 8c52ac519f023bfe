# SPDX-License-Identifier: MIT OR Apache-2.0
"""The width table is what its script makes of the Unicode tables."""
import re
import subprocess
import sys
import unicodedata

from command import SOURCE, skip_all


def main():
    kept = (SOURCE / "src" / "cli" / "text" / "width_table.hpp").read_text()
    made_from = re.search(r"from Unicode (\S+)\.\n", kept).group(1)
    if made_from != unicodedata.unidata_version:
        skip_all("cli.width", f"Python has Unicode {unicodedata.unidata_version}, not {made_from}")
    made = subprocess.run([sys.executable, SOURCE / "scripts" / "make-width-table"], check=True,
                          capture_output=True, text=True).stdout
    return 0 if made == kept else "run scripts/make-width-table > src/cli/text/width_table.hpp"


if __name__ == "__main__":
    sys.exit(main())
