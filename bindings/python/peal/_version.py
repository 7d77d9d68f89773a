# SPDX-License-Identifier: Apache-2.0
"""The version of this package: that of include/peal/version.h, in whose tree it is. In a wheel this
file has it in writing (peal_build.py)."""

import pathlib
import re


def _of_header() -> str:
    header = pathlib.Path(__file__).resolve().parents[3] / "include/peal/version.h"
    numbers = re.findall(r"^#define PEAL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
                         header.read_text(encoding="utf-8"), re.MULTILINE)
    if len(numbers) != 3:
        raise ImportError(f"{header} does not have the three numbers of a version")
    return ".".join(numbers)


VERSION = _of_header()
