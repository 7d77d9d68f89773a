#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A chat room: everybody in it reads the same lines in the same order. `chat.py [SOCKET]`."""

import sys
import threading

import peal


def type_in(client):
    for line in sys.stdin:
        client.send("chat", line.rstrip("\n"))
    client.flush()
    client.leave("chat")


with peal.Client(sys.argv[1] if len(sys.argv) > 1 else None) as client:
    client.join("chat")
    threading.Thread(target=type_in, args=(client,), daemon=True).start()
    for event in client:
        if isinstance(event, peal.Message):
            print(f"{event.sender}: {event.text}", flush=True)
        elif isinstance(event, peal.GroupView):
            print(f"-- {len(event.members)} here", flush=True)
        elif isinstance(event, peal.Left):
            break
