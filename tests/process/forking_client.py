# SPDX-License-Identifier: Apache-2.0
"""A program with a client of Peal that forks, for the case `fork`: SOCKET GROUP CHILDREN.

Writes one line for each step; the last child, and then this process, wait until they are ended."""

import os
import signal
import sys
import threading

import peal


def use(client):
    """What a child does with its parent's client: every call is refused, and closing it is silent.
    Returns what is wrong."""
    for call in (lambda: client.send("any", "from a child"), client.receive, client.flush,
                 client.status, lambda: client.join("other")):
        try:
            return f"a child got {call()!r}"
        except peal.Closed as error:
            if "made before fork()" not in str(error):
                return str(error)
    client.close()
    return ""


def sockets():
    """How many sockets this process has open."""
    paths = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    return sum(os.path.islink(path) and os.readlink(path).startswith("socket:") for path in paths)


def run_child(client):
    """One child that uses the client; an error ends this process."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        problem = use(client) or ("it has the parent's sockets" if sockets() > 0 else "")
        if problem:
            print("problem: " + problem, file=sys.stderr, flush=True)
        os._exit(1 if problem else 0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("problem: a child failed")


def main():
    """Sends and receives without rest while it forks."""
    path, group, children = sys.argv[1], sys.argv[2], int(sys.argv[3])
    client = peal.Client(path, keep=0.0)
    client.join(group)
    over = threading.Event()

    def send():
        while not over.is_set():
            client.send(group, b"x" * 100)

    def receive():
        while not over.is_set():
            event = client.receive(0.1)
            if isinstance(event, (peal.Ended, peal.Disconnected)):
                print(f"problem: the session has noticed: {event}", file=sys.stderr, flush=True)
                os._exit(1)
    threads = [threading.Thread(target=run) for run in (send, receive)]
    for thread in threads:
        thread.start()
    for _ in range(children):
        run_child(client)
    over.set()
    for thread in threads:
        thread.join()
    print("forked", file=sys.stderr, flush=True)
    child = os.fork()
    if child == 0:  # it has the client, and does nothing with it: it holds nothing of it open
        signal.alarm(60)
        signal.pause()
    print(f"child {child}", file=sys.stderr, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
