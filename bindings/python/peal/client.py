# SPDX-License-Identifier: Apache-2.0
"""A client of a Peal daemon: joins groups, sends to them, is told everything in one order."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Iterator, Optional, Sequence, Union

from . import _library
from .events import Ended, Event, Reason, Service, SlowPolicy, from_raw

_INTERRUPTIBLE_MS = 200  # so that Ctrl-C ends what waits for ever


class Error(Exception):
    """A call failed; the text says why, and what to do about it."""


class WouldBlock(Error):
    """Full for now: read events, then try again."""


class TooLarge(Error):
    """The message is above the largest that is allowed."""


class Closed(Error):
    """The client has ended: make a new one."""


class InvalidOption(Error, ValueError):
    """An argument is wrong."""


class NotPermitted(Error, PermissionError):
    """The operating system refused."""


class TimedOut(Error, TimeoutError):
    """The time was over first; a request may still be carried out."""


class Unreachable(Error, ConnectionError):
    """No daemon answers there."""


class Untrusted(Error):
    """TLS: one of the two does not accept the other's certificate."""


class Denied(Error):
    """The daemon said no; `reason` says why."""

    def __init__(self, text: str, reason: Reason):
        super().__init__(text)
        self.reason = reason


# By peal_code.
_ERRORS = {-1: WouldBlock, -2: TooLarge, -3: Closed, -4: InvalidOption, -6: NotPermitted,
           -8: TimedOut, -9: Unreachable, -10: Untrusted}


@dataclass(frozen=True)
class Status:
    """How a client is doing; as ClientStatus in include/peal/client.h."""
    name: str
    node: str
    cluster: str
    connected: bool
    ended: bool
    sent: int
    settled: int
    unread_events: int
    unread_bytes: int
    message_bytes_max: int


def _ms(timeout: Optional[float]) -> int:
    return -1 if timeout is None else max(0, round(timeout * 1000))


def _encoded(text: Optional[str]) -> Optional[bytes]:
    if text is None:
        return None
    if "\0" in text:
        raise InvalidOption("a text holds a zero character")
    return text.encode("utf-8")


def _targets(targets: Union[str, Sequence[str]]) -> ctypes.Array:
    names = [targets] if isinstance(targets, str) else list(targets)
    return (ctypes.c_char_p * len(names))(*[_encoded(name) for name in names])


class Client:
    """One client. Times are seconds; None waits for ever, 0 does not wait.

    Everything may be called from any thread; but receive() from one at a time, and close() when no
    other call runs. A context manager, and an iterator over events that ends after Ended."""

    def __init__(self, daemon: Optional[str] = None, *, name: Optional[str] = None,
                 token: Optional[str] = None, tls_ca: Optional[str] = None,
                 tls_certificate: Optional[str] = None, tls_key: Optional[str] = None,
                 tls_name: Optional[str] = None, connect_timeout: float = 5.0,
                 keep: float = 30.0, receive_bytes_max: int = 4 << 20):
        """Connects once, and starts a session. Raises InvalidOption, Unreachable, Untrusted,
        Denied, TimedOut, NotPermitted or Error. `daemon` is a path, or "tls://host:port"."""
        self._handle = None
        self._lib = _library.load()
        options = _library.Options()
        self._lib.peal_options_init(ctypes.byref(options))
        options.connect_timeout_ms = _ms(connect_timeout)
        options.keep_ms = _ms(keep)
        options.receive_bytes_max = receive_bytes_max
        options.daemon = _encoded(daemon)
        options.name = _encoded(name)
        options.token = _encoded(token)
        options.tls_ca = _encoded(tls_ca)
        options.tls_certificate = _encoded(tls_certificate)
        options.tls_key = _encoded(tls_key)
        options.tls_name = _encoded(tls_name)
        handle = ctypes.c_void_p()
        self._check(self._lib.peal_connect(ctypes.byref(options), ctypes.byref(handle)))
        self._handle = handle
        self._raw = _library.Event()
        self._receiving = threading.Lock()

    def _check(self, result: int) -> int:
        if result >= 0:
            return result
        text = self._lib.peal_error_text().decode("utf-8", "replace")
        if result == -11:
            raise Denied(text, Reason(self._lib.peal_error_reason()))
        raise _ERRORS.get(result, Error)(text)

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise Closed("close() was called: make a new client")
        return self._handle

    def join(self, group: str, *, policy: SlowPolicy = SlowPolicy.NORMAL,
             memory_bytes_max: int = 0, disk_bytes_max: int = 0, age_max: float = 0.0,
             timeout: Optional[float] = 10.0) -> None:
        """Becomes a member of a group. Raises Denied, TimedOut, Closed, InvalidOption."""
        options = _library.JoinOptions(ctypes.sizeof(_library.JoinOptions), policy,
                                       memory_bytes_max, disk_bytes_max, _ms(age_max), 0)
        self._check(self._lib.peal_join(self._open(), _encoded(group), ctypes.byref(options),
                                        _ms(timeout)))

    def leave(self, group: str, *, timeout: Optional[float] = 10.0) -> None:
        """Ends a membership. As join()."""
        self._check(self._lib.peal_leave(self._open(), _encoded(group), _ms(timeout)))

    def send(self, targets: Union[str, Sequence[str]], payload: Union[str, bytes], *,
             service: Service = Service.AGREED, type: int = 0, self_discard: bool = False,
             timeout: Optional[float] = None) -> int:
        """Queues a message to 1 to 64 groups and private names; returns its number. Waits up to
        `timeout` for room. Raises WouldBlock, TooLarge, InvalidOption, Closed."""
        data = payload.encode("utf-8") if isinstance(payload, str) else bytes(payload)
        if not 0 <= type <= 0xffff:
            raise InvalidOption(f"type is {type}: 0 to 65535")
        options = _library.SendOptions(ctypes.sizeof(_library.SendOptions), service, type, 0,
                                       int(self_discard))
        names = _targets(targets)
        return self._check(self._lib.peal_send(self._open(), names, len(names), data, len(data),
                                               ctypes.byref(options), _ms(timeout)))

    def flush(self, timeout: Optional[float] = None) -> None:
        """Waits until all that was sent has its place in the order. Raises TimedOut, Closed."""
        self._check(self._lib.peal_flush(self._open(), _ms(timeout)))

    def receive(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The next event; None if none comes within `timeout`. Raises Closed after Ended."""
        patience = _ms(timeout)
        with self._receiving:
            while True:
                step = _INTERRUPTIBLE_MS if patience < 0 else min(patience, _INTERRUPTIBLE_MS)
                got = self._check(self._lib.peal_receive(self._open(), ctypes.byref(self._raw),
                                                         step))
                if got:
                    return from_raw(self._raw)
                if patience >= 0:
                    patience -= step
                    if patience <= 0:
                        return None

    def __iter__(self) -> Iterator[Event]:
        while True:
            event = self.receive()
            if event is None:
                continue
            yield event
            if isinstance(event, Ended):
                return

    def fileno(self) -> int:
        """A descriptor for select and the like: readable when there is an event. Do not read it."""
        return self._check(self._lib.peal_fd(self._open()))

    def room_fileno(self) -> int:
        """The same for sending: readable when there is room again after WouldBlock."""
        return self._check(self._lib.peal_room_fd(self._open()))

    def ask(self, what: str, *, timeout: Optional[float] = 10.0) -> str:
        """Asks the daemon, for instance "status". Raises Denied, TimedOut, Closed."""
        answer = ctypes.create_string_buffer((1 << 20) + 1)  # as long as an answer may be
        self._check(self._lib.peal_ask(self._open(), _encoded(what), answer, len(answer),
                                       _ms(timeout)))
        return answer.value.decode("utf-8", "replace")

    def status(self) -> Status:
        """How the client is doing."""
        raw = _library.Status()
        self._check(self._lib.peal_get_status(self._open(), ctypes.byref(raw)))
        return Status(raw.name.decode(), raw.node.decode(), raw.cluster.decode(),
                      bool(raw.connected), bool(raw.ended), raw.sent, raw.settled,
                      raw.unread_events, raw.unread_bytes, raw.message_bytes_max)

    def close(self, timeout: Optional[float] = 1.0) -> None:
        """Waits up to `timeout` until all is settled, says goodbye, and frees what it has."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            self._lib.peal_close(handle, _ms(timeout))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close(0)
