# SPDX-License-Identifier: Apache-2.0
"""A client of a Peal daemon: joins groups, sends to them, gets all events in one order.

With the engine "toto", the order depends on the `Service` of each message."""

from __future__ import annotations

import ctypes
import os
import select
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from . import _library
from .errors import Error, WrongVersion
from .events import Ended, Event, Reason, Service, SlowPolicy, from_raw

# Python runs what Ctrl-C does between two calls, in the main thread, and a call that begins just
# then does not notice: so none waits longer than this.
_INTERRUPTIBLE_S = 0.2
_WOULD_BLOCK = -1
_TIMED_OUT = -8


# How often this process was made by fork(): a client of a parent is of no use here. Its locks may
# be held by threads that are not here.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class WouldBlock(Error):
    """Full for now: read events, then try again."""


class TooLarge(Error):
    """The message exceeds the maximum size."""


class Closed(Error):
    """The client has ended: create a new one."""


class InvalidOption(Error, ValueError):
    """An argument is wrong."""


class NotPermitted(Error, PermissionError):
    """The operating system refused."""


class TimedOut(Error, TimeoutError):
    """The time ran out; a request may still be carried out."""


class Unreachable(Error, ConnectionError):
    """No daemon answers there."""


class Untrusted(Error):
    """TLS: one of the two does not accept the other's certificate."""


class Denied(Error):
    """The daemon refused; `reason` says why."""

    def __init__(self, text: str, reason: Reason):
        super().__init__(text)
        self.reason = reason


# By peal_code.
_ERRORS = {_WOULD_BLOCK: WouldBlock, -2: TooLarge, -3: Closed, -4: InvalidOption, -6: NotPermitted,
           _TIMED_OUT: TimedOut, -9: Unreachable, -10: Untrusted, -12: WrongVersion}


@dataclass(frozen=True)
class Status:
    """The status of a client, as ClientStatus in include/peal/client.h."""
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


def _end_of(timeout: Optional[float]) -> Optional[float]:
    """The end of the time; None: never."""
    return None if timeout is None else time.monotonic() + timeout


def _left(end: Optional[float]) -> Optional[float]:
    return None if end is None else max(0.0, end - time.monotonic())


def _readable(descriptor: int, end: Optional[float]) -> bool:
    """Waits until a descriptor is readable; False if the time runs out. Ctrl-C ends it."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        left = _left(end)
        if left == 0:
            return False
        step = _INTERRUPTIBLE_S if left is None else min(left, _INTERRUPTIBLE_S)
        # Rounded up: to look too early would be to look again and again.
        if poll.poll(step * 1000 + 1):
            return True


def _interruptible(call: Callable[[], int], timeout: Optional[float]) -> int:
    """Runs a call of the library, and returns or raises its result. On Ctrl-C a long call stays
    behind, on a thread of its own."""
    is_short = timeout is not None and timeout <= _INTERRUPTIBLE_S
    if is_short or threading.current_thread() is not threading.main_thread():
        return call()
    outcome: list[Any] = []
    over = threading.Event()

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            outcome.append(error)
        over.set()
    threading.Thread(target=run, daemon=True).start()
    while not over.wait(_INTERRUPTIBLE_S):
        pass
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _encoded(text: Optional[str]) -> Optional[bytes]:
    if text is None:
        return None
    if "\0" in text:
        raise InvalidOption("a text holds a zero character")
    return text.encode("utf-8")


def _targets(targets: Union[str, Sequence[str]]) -> ctypes.Array:
    names = [targets] if isinstance(targets, str) else list(targets)
    return (ctypes.c_char_p * len(names))(*[_encoded(name) for name in names])


class _Use:
    """The handle of a client, which is not freed meanwhile. After the last use no other may begin,
    and the use that ends last frees the handle."""

    def __init__(self, client: Client, is_last: bool = False):
        self._client = client
        self._is_last = is_last

    def __enter__(self) -> ctypes.c_void_p:
        client = self._client
        if client._made != _forks:
            raise Closed("this client was made before fork(): open a new one in the child")
        with client._lock:
            if client._handle is None or (client._closing and not self._is_last):
                raise Closed("close() was called: make a new client")
            client._closing = client._closing or self._is_last
            client._uses.add(self)
            return client._handle

    def __exit__(self, *_: object) -> None:
        client = self._client
        if client._made != _forks:
            return  # it forked inside: the parent ends this use
        unused = None
        with client._lock:
            client._uses.discard(self)
            if client._closing and not client._uses:
                unused, client._handle = client._handle, None
        if unused is not None:
            client._lib.peal_close(unused, 0)


@dataclass(frozen=True)
class _Outgoing:
    """A message in the form for the library."""
    targets: ctypes.Array
    payload: bytes
    options: _library.SendOptions


class Client:
    """One client. Times are seconds; None waits for ever, 0 does not wait.

    All functions may be called from any thread, also concurrently; close() wakes other threads
    that wait. A context manager, and an iterator over events that ends after Ended."""

    def __init__(self, daemon: Optional[str] = None, *, name: Optional[str] = None,
                 token: Optional[str] = None, tls_ca: Optional[str] = None,
                 tls_certificate: Optional[str] = None, tls_key: Optional[str] = None,
                 tls_name: Optional[str] = None, connect_timeout: float = 5.0,
                 keep: float = 30.0, receive_bytes_max: int = 4 << 20):
        """Connects once, and starts a session. Raises InvalidOption, Unreachable, Untrusted,
        Denied, TimedOut, NotPermitted or Error; NoLibrary or WrongVersion, if there is no
        libpeal.so that goes with this package. `daemon` is a path, or "tls://host:port"."""
        self._made = _forks
        self._handle: Optional[ctypes.c_void_p] = None
        self._lock = threading.RLock()  # guards the handle and the next two
        self._closing = False
        self._uses: set[_Use] = set()
        self._lib = _library.load()
        options = _library.Options()
        self._lib.peal_options_init_sized(ctypes.byref(options), ctypes.sizeof(options))
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
        self._check(self._lib.peal_connect_from(ctypes.byref(options), ctypes.byref(handle),
                                                _library.HEADER))
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

    def use(self) -> _Use:
        """For a `with`: the handle. Raises Closed if there is none any more."""
        return _Use(self)

    def join(self, group: str, *, policy: SlowPolicy = SlowPolicy.NORMAL,
             memory_bytes_max: int = 0, disk_bytes_max: int = 0, age_max: float = 0.0,
             timeout: Optional[float] = 10.0) -> None:
        """Becomes a member of a group. Raises Denied, TimedOut, Closed, InvalidOption."""
        options = _library.JoinOptions(ctypes.sizeof(_library.JoinOptions), policy,
                                       memory_bytes_max, disk_bytes_max, _ms(age_max), 0)
        self._ask(lambda handle: self._lib.peal_join(handle, _encoded(group),
                                                     ctypes.byref(options), _ms(timeout)), timeout)

    def leave(self, group: str, *, timeout: Optional[float] = 10.0) -> None:
        """Ends a membership. May overtake messages that are not acknowledged: call flush()
        before, to read them. Like join()."""
        self._ask(lambda handle: self._lib.peal_leave(handle, _encoded(group), _ms(timeout)),
                  timeout)

    def _ask(self, call: Callable[[ctypes.c_void_p], int], timeout: Optional[float]) -> int:
        def use_it() -> int:  # and go on to use it if it is left behind
            with self.use() as handle:
                return self._check(call(handle))
        return _interruptible(use_it, timeout)

    def send(self, targets: Union[str, Sequence[str]], payload: Union[str, bytes], *,
             service: Service = Service.AGREED, type: int = 0, self_discard: bool = False,
             timeout: Optional[float] = None) -> int:
        """Queues a message to 1 to 64 groups and private names; returns its number. Waits up to
        `timeout` for space. Raises WouldBlock, TooLarge, InvalidOption, Closed."""
        message = self.outgoing(targets, payload, service, type, self_discard)
        end = _end_of(timeout)
        with self.use() as handle:
            while True:
                number = self.try_send(handle, message)
                if number is not None:
                    return number
                if not _readable(self.room_descriptor(handle), end):
                    return self._check(_WOULD_BLOCK)

    @staticmethod
    def outgoing(targets: Union[str, Sequence[str]], payload: Union[str, bytes], service: Service,
                 type: int, self_discard: bool) -> _Outgoing:
        """A message for try_send()."""
        data = payload.encode("utf-8") if isinstance(payload, str) else bytes(payload)
        if not 0 <= type <= 0xffff:
            raise InvalidOption(f"type is {type}: 0 to 65535")
        options = _library.SendOptions(ctypes.sizeof(_library.SendOptions), service, type, 0,
                                       int(self_discard))
        return _Outgoing(_targets(targets), data, options)

    def try_send(self, handle: ctypes.c_void_p, message: _Outgoing) -> Optional[int]:
        """The message's number; None if there is no space now."""
        number = self._lib.peal_send(handle, message.targets, len(message.targets),
                                     message.payload, len(message.payload),
                                     ctypes.byref(message.options), 0)
        return None if number == _WOULD_BLOCK else self._check(number)

    def flush(self, timeout: Optional[float] = None) -> None:
        """Waits until all messages are acknowledged. Raises TimedOut, Closed."""
        self.flush_to(self.status().sent, timeout)

    def flush_to(self, number: int, timeout: Optional[float]) -> None:
        """The same, until the message with this number."""
        end = _end_of(timeout)
        with self.use() as handle:
            while True:
                left = _left(end)
                step = _INTERRUPTIBLE_S if left is None else min(left, _INTERRUPTIBLE_S)
                result = self._lib.peal_flush(handle, _ms(step))
                # Others may have sent more since.
                if result == _TIMED_OUT and self._status(handle).settled >= number:
                    return
                if result != _TIMED_OUT or step == left:
                    self._check(result)
                    return

    def receive(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The next event; None if none comes within `timeout`. Raises Closed after Ended."""
        end = _end_of(timeout)
        if self._made != _forks:
            self.use().__enter__()  # says so; the lock may be another thread's, in the parent
        with self._receiving, self.use() as handle:
            while True:
                event = self.try_receive(handle)
                if event is not None or not _readable(self.descriptor(handle), end):
                    return event

    def try_receive(self, handle: ctypes.c_void_p) -> Optional[Event]:
        """The next event, if there is one now. Raises Closed after Ended. From one thread at a
        time."""
        if self._check(self._lib.peal_receive_sized(handle, ctypes.byref(self._raw),
                                                    ctypes.sizeof(self._raw), 0)):
            return from_raw(self._raw)
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
        with self.use() as handle:
            return self.descriptor(handle)

    def room_fileno(self) -> int:
        """The same for sending: readable when there is space again after WouldBlock."""
        with self.use() as handle:
            return self.room_descriptor(handle)

    def descriptor(self, handle: ctypes.c_void_p) -> int:
        """As fileno()."""
        return self._check(self._lib.peal_fd(handle))

    def room_descriptor(self, handle: ctypes.c_void_p) -> int:
        """As room_fileno()."""
        return self._check(self._lib.peal_room_fd(handle))

    def ask(self, what: str, *, timeout: Optional[float] = 10.0) -> str:
        """Asks the daemon, for instance "status". Raises Denied, TimedOut, Closed."""
        answer = ctypes.create_string_buffer((1 << 20) + 1)  # as long as an answer may be
        self._ask(lambda handle: self._lib.peal_ask(handle, _encoded(what), answer, len(answer),
                                                    _ms(timeout)), timeout)
        return answer.value.decode("utf-8", "replace")

    def status(self) -> Status:
        """How the client is doing."""
        with self.use() as handle:
            return self._status(handle)

    def _status(self, handle: ctypes.c_void_p) -> Status:
        raw = _library.Status()
        self._check(self._lib.peal_get_status_sized(handle, ctypes.byref(raw), ctypes.sizeof(raw)))
        return Status(raw.name.decode(), raw.node.decode(), raw.cluster.decode(),
                      bool(raw.connected), bool(raw.ended), raw.sent, raw.settled,
                      raw.unread_events, raw.unread_bytes, raw.message_bytes_max)

    def close(self, timeout: Optional[float] = 1.0) -> None:
        """Waits up to `timeout` until all messages are acknowledged, ends the session, and frees
        the client once calls in other threads have ended. In a child after fork() it frees the
        child's copy."""
        if self._made != _forks:
            unused, self._handle = self._handle, None
            if unused is not None:
                self._lib.peal_close(unused, 0)
            return
        try:
            _interruptible(lambda: self._end(timeout), timeout)
        except Closed:
            pass  # it was called before

    def _end(self, timeout: Optional[float]) -> int:
        with _Use(self, is_last=True) as handle:
            return self._check(self._lib.peal_end(handle, _ms(timeout)))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close(0)
