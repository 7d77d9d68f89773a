# SPDX-License-Identifier: Apache-2.0
"""Python clients and a daemon made for tests. PEAL_LIBRARY and PEAL_FAKE_DAEMON name the two."""

import asyncio
import os
import subprocess
import unittest

import peal


class FakeDaemon:
    """A program that echoes what it is sent."""

    def __init__(self):
        # What is loaded before Python, for the library's sake, is not for this program.
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        self.process = subprocess.Popen([os.environ["PEAL_FAKE_DAEMON"]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        self.path = self.process.stdout.readline().strip()

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait() == 0


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.daemon = FakeDaemon()
        self.addCleanup(self.daemon.end)

    def connect(self, **options):
        return peal.Client(self.daemon.path, connect_timeout=60, keep=60, **options)

    def test_a_message_goes_out_and_comes_back(self):
        with self.connect() as client:
            client.join("chat")
            number = client.send(["chat"], b"\0hello", service=peal.Service.SAFE, type=7)
            self.assertEqual(number, 1)
            client.flush()
            message = client.receive()
            self.assertIsInstance(message, peal.Message)
            self.assertEqual(message.payload, b"\0hello")
            self.assertEqual(message.sender, "#ada#n1")
            self.assertEqual(message.targets, ("chat",))
            self.assertEqual(message.place.position, 1)
            self.assertIsNone(client.receive(0))
            self.assertEqual(client.ask("status"), "fine")
            status = client.status()
            self.assertEqual((status.name, status.cluster), ("#ada#n1", "test"))
            self.assertEqual((status.sent, status.settled), (1, 1))
            client.leave("chat")

    def test_goes_on_after_a_cut(self):
        with self.connect() as client:
            self.daemon.order("cut")
            client.send("chat", "after")
            events = []
            for event in client:
                events.append(type(event))
                if isinstance(event, peal.Message):
                    self.assertEqual(event.text, "after")
                    break
            self.assertEqual(events, [peal.Disconnected, peal.Reconnected, peal.Message])

    def test_errors(self):
        with self.assertRaises(peal.Unreachable) as caught:
            peal.Client("/no/such/socket")
        self.assertIn("/no/such/socket", str(caught.exception))
        with self.assertRaises(peal.InvalidOption):
            peal.Client(self.daemon.path, name="x" * 33)
        client = self.connect()
        with self.assertRaises(peal.TooLarge):
            client.send("chat", "x" * 1001)
        for targets in ([], [""], ["x"] * 65, "zero\0"):
            with self.assertRaises(peal.InvalidOption):
                client.send(targets, "x")
        with self.assertRaises(peal.InvalidOption):
            client.send("chat", "x", type=65536)
        client.close()
        client.close()
        with self.assertRaises(peal.Closed):
            client.send("chat", "x")

    def test_asyncio(self):
        async def talk():
            connecting = peal.AsyncClient.connect(self.daemon.path, connect_timeout=60)
            async with await connecting as client:
                await client.join("chat")
                waiting = asyncio.ensure_future(client.receive())
                await client.send("chat", "hello")
                self.assertEqual((await waiting).text, "hello")
                await client.flush()
                for number in range(300):  # more than may be unsettled at a time
                    await client.send("chat", str(number))
                got = []
                async for event in client:
                    got.append(event.text)
                    if len(got) == 300:
                        break
                self.assertEqual(got, [str(number) for number in range(300)])
                self.assertEqual(await client.ask("status"), "fine")
                await client.leave("chat")
                self.assertTrue(client.status().connected)
        asyncio.run(talk())


if __name__ == "__main__":
    unittest.main()
