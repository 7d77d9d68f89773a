# SPDX-License-Identifier: Apache-2.0
"""The events of a client, in the order that all clients agree on.

include/peal/events.h explains the terms."""

from __future__ import annotations

import ctypes
import enum
from dataclasses import dataclass
from typing import Callable, Union

from . import _library


class Service(enum.IntEnum):
    """The ordering guarantee of one message.

    `FIFO` and `CAUSAL` differ from `AGREED` with the engine "toto" only: such a message has no
    place in the order, and needs no acknowledgement of its own. The other engines deliver it as
    `AGREED`. docs/client.md has the details."""
    FIFO = 0    # as CAUSAL
    CAUSAL = 1  # after everything that the sender had sent or delivered before
    AGREED = 2  # in one total order; with "toto", equal at daemons that leave a view together
    SAFE = 3    # the same, and only once every daemon of the view has it


class SlowPolicy(enum.IntEnum):
    """What happens to a member of a group that does not read its messages."""
    NORMAL = 0  # as the daemon's configuration says
    BLOCK = 1   # all senders wait for it
    SPILL = 2   # messages go to the daemon's disk, and return in order
    DROP = 3    # messages are dropped, and a Gap says so
    EVICT = 4   # its session ends


class Reason(enum.IntEnum):
    """Why a daemon refused, or why something ended."""
    NONE = 0
    BAD_RECORD = 1
    BAD_VERSION = 2
    BAD_NAME = 3
    BAD_SECRET = 4
    NOT_PERMITTED = 5
    NAME_IN_USE = 6
    SESSION_LOST = 7
    MEMBER_ALREADY = 8
    NO_MEMBER = 9
    TOO_LARGE = 10
    TOO_MANY = 11
    OVER_QUOTA = 12
    SLOW = 13
    SILENT = 14
    REPLACED = 15
    GOODBYE = 16
    EVICTED = 17
    SHUTDOWN = 18
    DROPPED = 19


class ViewCause(enum.IntEnum):
    """Why the members of a group changed."""
    JOIN = 0
    LEAVE = 1
    DISCONNECT = 2
    NETWORK = 3


class GapReason(enum.IntEnum):
    """Why messages are missing."""
    SLOW = 0  # this client was too slow, and they were dropped
    AWAY = 1  # they were ordered in a partition without this client's daemon


@dataclass(frozen=True, order=True)
class Place:
    """A place in the order; the places of one client's events ascend.

    With the engine "toto", `FIFO` and `CAUSAL` messages have no place: position and index are 0.
    `Message.number` and the sender identify such a message in its view."""
    view: int
    position: int  # from 1; 0: no place
    index: int


@dataclass(frozen=True)
class Message:
    """A message that a client sent to groups or to private names."""
    sender: str                # private name: "#name#node"
    targets: tuple[str, ...]   # groups and private names of the message, sorted
    payload: bytes
    service: Service
    type: int                  # a number of the sending application's choice
    place: Place
    number: int = 0            # without a place: counts the messages of the sender's daemon

    @property
    def text(self) -> str:
        """The payload as UTF-8; invalid bytes are replaced."""
        return self.payload.decode("utf-8", "replace")


@dataclass(frozen=True)
class Member:
    """One member of a group."""
    name: str
    came_with_us: bool  # was together with this client in the group's previous view


@dataclass(frozen=True)
class GroupView:
    """The members of a group from this place of the order on."""
    group: str
    id: str          # equal at all members of the group
    cause: ViewCause
    reason: Reason   # of a disconnect
    changed: str     # the client that joined, left or disconnected
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Transitional:
    """Some members of the group are unreachable, until its next view."""
    group: str


@dataclass(frozen=True)
class Left:
    """This client has left the group; the group's last event."""
    group: str


@dataclass(frozen=True)
class Gap:
    """Messages are missing here, behind all that came before and ahead of all that follows."""
    group: str         # empty: messages to the private name
    reason: GapReason
    messages: int      # 0 if unknown, like the rest; so with GapReason.AWAY
    bytes: int
    first: Place       # of the first missing message that has a place
    last: Place        # of the last one; without any, the positions are 0


@dataclass(frozen=True)
class SlowWarning:
    """A limit of a membership is near: read faster."""
    group: str
    policy: SlowPolicy
    bytes: int
    bytes_max: int
    age_ms: int
    age_ms_max: int


@dataclass(frozen=True)
class Refused:
    """The daemon refused a message that this client sent."""
    number: int
    reason: Reason
    message: str


@dataclass(frozen=True)
class Disconnected:
    """The connection broke, and the client tries to reconnect."""
    message: str


@dataclass(frozen=True)
class Reconnected:
    """The session continues where it was, without missing or duplicate events."""


@dataclass(frozen=True)
class Ended:
    """The last event."""
    on_request: bool
    reason: Reason
    message: str
    unsettled_first: int     # 0 if all messages were acknowledged
    unsettled_messages: int  # messages of unknown fate


Event = Union[Message, GroupView, Transitional, Left, Gap, SlowWarning, Refused, Disconnected,
              Reconnected, Ended]


def _place(raw: _library.Place) -> Place:
    return Place(raw.view, raw.position, raw.index)


def _message(raw: _library.Event) -> Event:
    return Message(str(raw.sender), tuple(str(raw.targets[i]) for i in range(raw.target_count)),
                   ctypes.string_at(raw.payload, raw.payload_bytes), Service(raw.service),
                   raw.type, _place(raw.place), raw.number)


def _view(raw: _library.Event) -> Event:
    members = tuple(Member(str(raw.members[i].name), bool(raw.members[i].came_with_us))
                    for i in range(raw.member_count))
    return GroupView(str(raw.group), str(raw.id), ViewCause(raw.cause), Reason(raw.reason),
                     str(raw.changed), members)


# By peal_event_kind.
_MAKERS: tuple[Callable[[_library.Event], Event], ...] = (
    _message,
    _view,
    lambda raw: Transitional(str(raw.group)),
    lambda raw: Left(str(raw.group)),
    lambda raw: Gap(str(raw.group), GapReason(raw.gap_reason), raw.messages, raw.bytes,
                    _place(raw.place), _place(raw.last)),
    lambda raw: SlowWarning(str(raw.group), SlowPolicy(raw.policy), raw.bytes, raw.bytes_max,
                            raw.age_ms, raw.age_ms_max),
    lambda raw: Refused(raw.number, Reason(raw.reason), str(raw.text)),
    lambda raw: Disconnected(str(raw.text)),
    lambda raw: Reconnected(),
    lambda raw: Ended(bool(raw.on_request), Reason(raw.reason), str(raw.text), raw.number,
                      raw.messages),
)


def from_raw(raw: _library.Event) -> Event:
    """Copies an event out of the library's memory."""
    return _MAKERS[raw.kind](raw)
