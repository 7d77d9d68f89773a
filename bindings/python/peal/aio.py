# SPDX-License-Identifier: Apache-2.0
"""A client for asyncio."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, AsyncIterator, Optional, Sequence, Union

from .client import Client, Status, TimedOut
from .events import Ended, Event, Service, SlowPolicy


async def _readable(descriptor: int) -> None:
    """Waits until a descriptor is readable."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


class AsyncClient:
    """As Client, for one event loop: receive() and send() wait on descriptors; what waits for an
    answer of the daemon does so on a thread of the loop's executor. Make it with connect().

    One task may receive and another send at the same time. An asynchronous context manager, and an
    asynchronous iterator over events that ends after Ended."""

    def __init__(self, client: Client):
        self._client = client

    @classmethod
    async def connect(cls, daemon: Optional[str] = None, **options: Any) -> AsyncClient:
        """Connects; the arguments are those of Client."""
        return cls(await cls._elsewhere(lambda: Client(daemon, **options)))

    @staticmethod
    async def _elsewhere(call: Any, executor: Optional[Executor] = None) -> Any:
        return await asyncio.get_running_loop().run_in_executor(executor, call)

    async def join(self, group: str, *, policy: SlowPolicy = SlowPolicy.NORMAL,
                   **options: Any) -> None:
        """As Client.join()."""
        await self._elsewhere(lambda: self._client.join(group, policy=policy, **options))

    async def leave(self, group: str, *, timeout: Optional[float] = 10.0) -> None:
        """As Client.leave()."""
        await self._elsewhere(lambda: self._client.leave(group, timeout=timeout))

    async def send(self, targets: Union[str, Sequence[str]], payload: Union[str, bytes], *,
                   service: Service = Service.AGREED, type: int = 0,
                   self_discard: bool = False) -> int:
        """Like Client.send(), waiting for space as long as it takes."""
        message = self._client.outgoing(targets, payload, service, type, self_discard)
        with self._client.use() as handle:
            while True:
                number = self._client.try_send(handle, message)
                if number is not None:
                    return number
                await _readable(self._client.room_descriptor(handle))

    async def flush(self) -> None:
        """As Client.flush(). If the task is cancelled, it ends a little later."""
        last = self._client.status().sent
        while True:
            try:
                return await self._elsewhere(lambda: self._client.flush_to(last, 0.2))
            except TimedOut:
                continue

    async def receive(self) -> Event:
        """The next event. Raises Closed after Ended."""
        with self._client.use() as handle:
            while True:
                event = self._client.try_receive(handle)
                if event is not None:
                    return event
                await _readable(self._client.descriptor(handle))

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            event = await self.receive()
            yield event
            if isinstance(event, Ended):
                return

    async def ask(self, what: str, *, timeout: Optional[float] = 10.0) -> str:
        """As Client.ask()."""
        return await self._elsewhere(lambda: self._client.ask(what, timeout=timeout))

    def status(self) -> Status:
        """As Client.status()."""
        return self._client.status()

    async def close(self, timeout: Optional[float] = 1.0) -> None:
        """As Client.close(). What waits in other tasks and threads ends."""
        # On a thread of its own: those of the loop may all be waiting for what this ends.
        closer = ThreadPoolExecutor(1)
        try:
            await self._elsewhere(lambda: self._client.close(timeout), closer)
        finally:
            closer.shutdown(wait=False)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
