#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the package peal, with Python alone.

usage: bindings/python/peal_build.py LIBRARY FOLDER     a wheel that carries that libpeal.so
       pip install --no-index bindings/python           one that carries none: it takes the system's

The same wheel has the same bytes, whenever it is built."""

import base64
import hashlib
import os
import pathlib
import runpy
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)  # of each file: the earliest that a zip archive can have
ABOUT = "Totally ordered multicast: clients of a Peal daemon"
CARRIED = "peal/libpeal.so.0"


def version():
    return runpy.run_path(str(HERE / "peal/_version.py"))["VERSION"]


def contents(library, tag):
    """Path in the wheel -> bytes, all but the list of them."""
    info = f"peal-{version()}.dist-info"
    files = {f"peal/{path.name}": path.read_bytes() for path in sorted(HERE.glob("peal/*.py"))}
    files["peal/py.typed"] = b""
    # Away from its tree it cannot look into the header.
    files["peal/_version.py"] = (
        "# SPDX-License-Identifier: Apache-2.0\n"
        '"""The version of this package, and of the header that it was written for."""\n\n'
        f'VERSION = "{version()}"\n').encode()
    if library:
        files[CARRIED] = pathlib.Path(library).read_bytes()
    for name in ("LICENSE", "licenses/THIRD-PARTY"):
        files[f"{info}/licenses/{os.path.basename(name)}"] = (ROOT / name).read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: peal\nVersion: {version()}\nSummary: {ABOUT}\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\n").encode()
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: peal_build\n"
        f"Root-Is-Purelib: {'false' if library else 'true'}\nTag: {tag}\n").encode()
    return files


def make(folder, library):
    """Writes the wheel, and returns its name."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_") if library else "any"
    tag = f"py3-none-{platform}"
    files = contents(library, tag)
    record = f"peal-{version()}.dist-info/RECORD"
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    name = f"peal-{version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path == CARRIED else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


# What pip calls (PEP 517).
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """`--config-settings library=PATH` has it carry that library."""
    del metadata_directory
    return make(wheel_directory, (config_settings or {}).get("library"))


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the package is built from Peal's own tree."""
    del sdist_directory, config_settings
    raise SystemExit("peal_build: there is no source distribution of the Python package: build a "
                     "wheel, or take Peal's sources")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    library, folder = sys.argv[1:]
    if not os.path.isfile(library):
        sys.exit(f"peal_build: {library} is no file: build the target peal_c")
    make(folder, library)


if __name__ == "__main__":
    main()
