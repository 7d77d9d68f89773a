# SPDX-License-Identifier: Apache-2.0
"""Why a call failed before there was a daemon to ask."""


class Error(Exception):
    """A call failed; the text says why, and what to do about it."""


class NoLibrary(Error, ImportError):
    """libpeal.so is not found, or cannot be loaded."""


class WrongVersion(Error, ImportError):
    """libpeal.so is older than this package, or not compatible with it."""
