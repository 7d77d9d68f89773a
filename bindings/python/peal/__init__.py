# SPDX-License-Identifier: Apache-2.0
"""Clients of a Peal daemon: totally ordered messages to groups.

    with peal.Client() as client:
        client.join("chat")
        client.send("chat", "hello")
        for event in client:
            print(event)
"""

from ._version import VERSION as __version__
from .aio import AsyncClient
from .client import (Client, Closed, Denied, InvalidOption, NotPermitted, Status, TimedOut,
                     TooLarge, Unreachable, Untrusted, WouldBlock)
from .errors import Error, NoLibrary, WrongVersion
from .events import (Disconnected, Ended, Event, Gap, GapReason, GroupView, Left, Member, Message,
                     Place, Reason, Reconnected, Refused, Service, SlowPolicy, SlowWarning,
                     Transitional, ViewCause)

__all__ = ["AsyncClient", "Client", "Closed", "Denied", "Disconnected", "Ended", "Error", "Event",
           "Gap", "GapReason", "GroupView", "InvalidOption", "Left", "Member", "Message",
           "NoLibrary", "NotPermitted", "Place", "Reason", "Reconnected", "Refused", "Service",
           "SlowPolicy", "SlowWarning", "Status", "TimedOut", "TooLarge", "Transitional",
           "Unreachable", "Untrusted", "ViewCause", "WouldBlock", "WrongVersion", "__version__"]
