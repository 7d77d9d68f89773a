# SPDX-License-Identifier: Apache-2.0
"""libpeal.so as ctypes sees it: the structs and functions of include/peal/peal.h, word for word."""

from __future__ import annotations

import ctypes
import os
from ctypes import (POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t,
                    c_uint16, c_uint32, c_uint64, c_void_p)

from ._version import VERSION
from .errors import NoLibrary, WrongVersion

_NAME = "libpeal.so.0"


class Options(Structure):
    """peal_options"""
    _fields_ = [("size", c_uint32), ("connect_timeout_ms", c_uint32), ("keep_ms", c_uint32),
                ("spin_us", c_uint32), ("receive_bytes_max", c_uint64), ("daemon", c_char_p),
                ("name", c_char_p), ("token", c_char_p), ("tls_ca", c_char_p),
                ("tls_certificate", c_char_p), ("tls_key", c_char_p), ("tls_name", c_char_p)]


class JoinOptions(Structure):
    """peal_join_options"""
    _fields_ = [("size", c_uint32), ("policy", c_int32), ("memory_bytes_max", c_uint64),
                ("disk_bytes_max", c_uint64), ("age_ms_max", c_uint32), ("reserved", c_uint32)]


class SendOptions(Structure):
    """peal_send_options"""
    _fields_ = [("size", c_uint32), ("service", c_int32), ("type", c_uint16),
                ("reserved", c_uint16), ("self_discard", c_int32)]


class Text(Structure):
    """peal_text"""
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    def __str__(self) -> str:
        return ctypes.string_at(self.data, self.size).decode("utf-8", "replace")


class Place(Structure):
    """peal_place"""
    _fields_ = [("view", c_uint64), ("position", c_uint64), ("index", c_uint32),
                ("reserved", c_uint32)]


class GroupMember(Structure):
    """peal_group_member"""
    _fields_ = [("name", Text), ("came_with_us", c_int32), ("reserved", c_int32)]


class Event(Structure):
    """peal_event"""
    _fields_ = [("size", c_uint32), ("kind", c_int32), ("service", c_int32), ("cause", c_int32),
                ("reason", c_int32), ("policy", c_int32), ("on_request", c_int32),
                ("type", c_uint32), ("gap_reason", c_int32), ("reserved", c_int32),
                ("sender", Text), ("group", Text), ("id", Text),
                ("changed", Text), ("text", Text), ("targets", POINTER(Text)),
                ("target_count", c_size_t), ("members", POINTER(GroupMember)),
                ("member_count", c_size_t), ("payload", c_void_p), ("payload_bytes", c_size_t),
                ("place", Place), ("last", Place), ("number", c_uint64), ("messages", c_uint64),
                ("bytes", c_uint64), ("bytes_max", c_uint64), ("age_ms", c_uint64),
                ("age_ms_max", c_uint64)]


class Status(Structure):
    """peal_status"""
    _fields_ = [("size", c_uint32), ("name", c_char * 160), ("node", c_char * 256),
                ("cluster", c_char * 256),
                ("connected", c_int32), ("ended", c_int32), ("sent", c_uint64),
                ("settled", c_uint64), ("unread_events", c_uint64), ("unread_bytes", c_uint64),
                ("message_bytes_max", c_uint64)]


_FUNCTIONS = {
    "peal_options_init_sized": (None, [POINTER(Options), c_size_t]),
    "peal_connect_from": (c_int32, [POINTER(Options), POINTER(c_void_p), c_uint32]),
    "peal_end": (c_int32, [c_void_p, c_int64]),
    "peal_close": (None, [c_void_p, c_int64]),
    "peal_join": (c_int32, [c_void_p, c_char_p, POINTER(JoinOptions), c_int64]),
    "peal_leave": (c_int32, [c_void_p, c_char_p, c_int64]),
    "peal_send": (c_int64, [c_void_p, POINTER(c_char_p), c_size_t, c_char_p, c_size_t,
                            POINTER(SendOptions), c_int64]),
    "peal_flush": (c_int32, [c_void_p, c_int64]),
    "peal_receive_sized": (c_int32, [c_void_p, POINTER(Event), c_size_t, c_int64]),
    "peal_fd": (c_int, [c_void_p]),
    "peal_room_fd": (c_int, [c_void_p]),
    "peal_ask": (c_int64, [c_void_p, c_char_p, c_char_p, c_size_t, c_int64]),
    "peal_get_status_sized": (c_int32, [c_void_p, POINTER(Status), c_size_t]),
    "peal_error_text": (c_char_p, []),
    "peal_error_reason": (c_int32, []),
}


def _number(version: str) -> int:
    """A version as PEAL_VERSION of include/peal/version.h."""
    major, minor, patch = (int(part) for part in version.split("."))
    return major * 1_000_000 + minor * 1_000 + patch


# The version of the header that this module repeats.
HEADER = _number(VERSION)


def _path() -> str:
    """The library that PEAL_LIBRARY names, that of the wheel, or the system's."""
    named = os.environ.get("PEAL_LIBRARY")
    if named:
        return named
    carried = os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME)
    return carried if os.path.exists(carried) else _NAME


def _check(library: ctypes.CDLL, path: str) -> None:
    """Raises WrongVersion, as the library itself does for other programs (peal_connect)."""
    try:
        library.peal_version.restype = c_uint32
        found = library.peal_version()
    except AttributeError:
        raise WrongVersion(f"{path} does not say its version, so that it is older than this "
                           f"package, {VERSION}: install Peal {VERSION}") from None
    shown = f"{found // 1_000_000}.{found // 1_000 % 1_000}.{found % 1_000}"
    # As long as the major version is 0, the minor one counts as such.
    series = 1_000 if max(found, HEADER) < 1_000_000 else 1_000_000
    if found < HEADER or found // series != HEADER // series:
        fault = "older" if found < HEADER else "not compatible"
        raise WrongVersion(f"this package is peal {VERSION}, and {path} is Peal {shown}, which is "
                           f"{fault}: install the same version of both")


def load() -> ctypes.CDLL:
    """The library. Raises NoLibrary or WrongVersion."""
    path = _path()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise NoLibrary(
            f"cannot load the library {path} ({error}): install the wheel that carries it "
            "(share/peal/*.whl of an installation of Peal) or Peal's libraries (cmake --install), "
            "and what they need (libssl3, libstdc++6), or name libpeal.so.0 in PEAL_LIBRARY"
        ) from None
    _check(library, path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library
