# SPDX-License-Identifier: Apache-2.0
"""Python clients and a daemon made for tests. PEAL_LIBRARY and PEAL_FAKE_DAEMON name the two."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import threading
import unittest

import peal
from peal import _library

# AddressSanitizer's allocator may hang in a child of fork(): tests/base/in_child.h says why.
NO_FORK = "the library's sanitizer does not survive fork()" if "PEAL_NO_FORK" in os.environ else ""


class OtherLibrary:
    """A library of another version; of one that has no version yet, if it is None."""

    def __init__(self, version):
        if version is not None:
            self.peal_version = lambda: version


class LibraryTest(unittest.TestCase):
    """The library is found, and goes with the package, or the error says what to do."""

    def test_a_library_that_is_not_found_is_named_with_the_remedy(self):
        named = os.environ["PEAL_LIBRARY"]
        os.environ["PEAL_LIBRARY"] = "/no/such/libpeal.so.0"
        try:
            with self.assertRaisesRegex(peal.NoLibrary, "/no/such/libpeal.so.0.*install.*PEAL_LIB"):
                peal.Client()
        finally:
            os.environ["PEAL_LIBRARY"] = named

    def test_the_package_has_the_version_of_the_library(self):
        self.assertEqual(_library.load().peal_version(), _library.HEADER)
        self.assertRegex(peal.__version__, r"^\d+\.\d+\.\d+$")

    def test_another_version_is_refused_by_both_numbers(self):
        here, _library.HEADER = _library.HEADER, 2_001
        there, _library.VERSION = _library.VERSION, "0.2.1"
        try:
            for version, what in ((2_000, r"0\.2\.1.*0\.2\.0.*older"),
                                  (1_999, r"0\.2\.1.*0\.1\.999.*older"),
                                  (3_000, r"0\.2\.1.*0\.3\.0.*not compatible"),
                                  (1_000_000, r"0\.2\.1.*1\.0\.0.*not compatible"),
                                  (None, r"does not say its version.*0\.2\.1")):
                with self.assertRaisesRegex(peal.WrongVersion, what):
                    _library._check(OtherLibrary(version), "libpeal.so.0")
            _library._check(OtherLibrary(2_001), "libpeal.so.0")
            _library._check(OtherLibrary(2_999), "libpeal.so.0")
            _library.HEADER, _library.VERSION = 1_002_003, "1.2.3"
            _library._check(OtherLibrary(1_003_000), "libpeal.so.0")
            with self.assertRaisesRegex(peal.WrongVersion, r"2\.0\.0.*not compatible"):
                _library._check(OtherLibrary(2_000_000), "libpeal.so.0")
        finally:
            _library.HEADER, _library.VERSION = here, there


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


class Recorder:
    """The library, noting when each function is called and when it has returned."""

    def __init__(self, library):
        self._library = library
        self._changed = threading.Condition()
        self.steps = []

    def __getattr__(self, name):
        function = getattr(self._library, name)

        def call(*arguments):
            self._note(name)
            try:
                return function(*arguments)
            finally:
                self._note(name + " returned")
        return call

    def _note(self, step):
        with self._changed:
            self.steps.append(step)
            self._changed.notify_all()

    def wait_for(self, step):
        with self._changed:
            self._changed.wait_for(lambda: step in self.steps)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.daemon = FakeDaemon()
        self.addCleanup(self.daemon.end)

    def connect(self, **options):
        return peal.Client(self.daemon.path, connect_timeout=60, keep=60, **options)

    def test_fifo_and_causal_messages_may_have_no_place(self):
        sent = 0
        with self.connect() as client:
            for causal in (False, True):
                if causal:
                    self.daemon.order("causal")
                for service in peal.Service:
                    sent += 1
                    self.assertEqual(client.send("chat", "hello", service=service), sent)
                    message = client.receive()
                    self.assertIs(message.service, service)
                    placed = not causal or service >= peal.Service.AGREED
                    self.assertEqual(message.place, peal.Place(1, sent if placed else 0, 0))
                    self.assertEqual(message.number, 0 if placed else sent)
            client.flush()

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

    def test_a_gap_says_why(self):
        with self.connect() as client:
            self.daemon.order("gap chat")
            gap = client.receive()
            none = peal.Place(0, 0, 0)
            self.assertEqual(gap, peal.Gap("chat", peal.GapReason.AWAY, 0, 0, none, none))

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

    def recorded(self, client):
        client._lib = Recorder(client._lib)
        return client._lib

    def assert_in_order(self, steps, *wanted):
        self.assertEqual([step for step in steps if step in wanted], list(wanted))

    def test_close_frees_nothing_that_a_call_still_uses(self):
        client = self.connect()
        library = self.recorded(client)
        self.daemon.order("mute")
        outcomes = []

        def join():
            try:
                client.join("chat", timeout=None)
            except peal.Closed as error:
                outcomes.append(error)
        joining = threading.Thread(target=join)
        joining.start()
        library.wait_for("peal_join")
        client.close(0)
        joining.join()
        self.assertEqual(len(outcomes), 1)
        self.assert_in_order(library.steps, "peal_join", "peal_join returned", "peal_close")

    def test_close_ends_what_waits(self):
        client = self.connect()
        self.daemon.order("mute")
        library = self.recorded(client)
        events = []
        reading = threading.Thread(target=lambda: events.append(client.receive()))
        reading.start()
        library.wait_for("peal_fd returned")
        client.close(0)
        reading.join()
        self.assertIsInstance(events[0], peal.Ended)
        self.assertTrue(events[0].on_request)

    def test_control_c_ends_what_waits(self):
        with self.connect() as client:
            self.daemon.order("mute")
            for _ in range(100):  # as many as may be unsettled
                client.send("chat", "x")
            waits = [("peal_send", lambda: client.send("chat", "x")),
                     ("peal_flush", client.flush),
                     ("peal_receive_sized", client.receive),
                     ("peal_join", lambda: client.join("chat", timeout=None)),
                     ("peal_end", lambda: client.close(None))]
            for name, wait in waits:
                library = self.recorded(client)

                def interrupt():
                    library.wait_for(name)
                    os.kill(os.getpid(), signal.SIGINT)
                interrupting = threading.Thread(target=interrupt)
                interrupting.start()
                with self.subTest(name), self.assertRaises(KeyboardInterrupt):
                    wait()
                interrupting.join()
            client.close(0)

    def test_a_signal_handler_may_close(self):
        client = self.connect()
        library = self.recorded(client)
        before = signal.signal(signal.SIGUSR1, lambda *_: client.close())
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

        def close():
            library.wait_for("peal_receive_sized")
            os.kill(os.getpid(), signal.SIGUSR1)
        closing = threading.Thread(target=close)
        closing.start()
        self.assertIsInstance(client.receive(), peal.Ended)
        closing.join()
        self.assert_in_order(library.steps, "peal_close", "peal_close returned")

    def test_asyncio_cancels_and_closes(self):
        async def talk():
            client = await peal.AsyncClient.connect(self.daemon.path, connect_timeout=60)
            library = self.recorded(client._client)
            self.daemon.order("mute")
            calls = [("peal_join", client.join("chat", timeout=None)),
                     ("peal_ask", client.ask("status", timeout=None))]
            for name, call in calls:
                task = asyncio.ensure_future(call)
                await asyncio.get_running_loop().run_in_executor(None, library.wait_for, name)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            reading = asyncio.ensure_future(client.receive())
            await asyncio.get_running_loop().run_in_executor(None, library.wait_for, "peal_fd")
            await client.close(0)
            self.assertIsInstance(await reading, peal.Ended)
            with self.assertRaises(peal.Closed):
                await client.receive()
            return library.steps
        steps = asyncio.run(talk())
        self.assert_in_order(steps, "peal_join returned", "peal_close")
        self.assert_in_order(steps, "peal_ask returned", "peal_close")

    def in_child(self, what):
        """What `what` returns in a child by fork(): a text."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                text = what()
            except BaseException as error:  # pylint: disable=broad-except
                text = f"raised {error!r}"
            os.write(writing, text.encode())
            os._exit(0)
        os.close(writing)
        with open(reading, encoding="utf-8") as pipe:
            text = pipe.read()
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        return text

    @unittest.skipIf(NO_FORK, NO_FORK)
    def test_a_client_stays_the_parents(self):
        client = self.connect()
        client.join("chat")
        inside = threading.Event()
        self.daemon.order("mute")

        def ask():  # holds what only a thread of the parent can let go
            with client._receiving, client._lock:
                inside.set()
                ended.wait()
        ended = threading.Event()
        holding = threading.Thread(target=ask)
        holding.start()
        inside.wait()

        def use():
            calls = [lambda: client.send("chat", "x"), lambda: client.join("other"),
                     lambda: client.leave("chat"), client.flush, client.receive, client.status,
                     client.fileno, client.room_fileno, lambda: client.ask("status")]
            problems = []
            for call in calls:
                try:
                    problems.append(f"returned {call()!r}")
                except peal.Closed as error:
                    if "made before fork()" not in str(error):
                        problems.append(str(error))
            client.close()
            client.close()
            client.__del__()
            return "; ".join(problems)
        self.assertEqual(self.in_child(use), "")
        ended.set()
        holding.join()
        self.assertTrue(client.status().connected)
        client.close(0)

    @unittest.skipIf(NO_FORK, NO_FORK)
    def test_multiprocessing_may_fork_with_a_client(self):
        client = self.connect()
        client.join("chat")

        def end():
            client.close()
            client.__del__()
        process = multiprocessing.get_context("fork").Process(target=end)
        process.start()
        process.join()
        self.assertEqual(process.exitcode, 0)
        client.send("chat", "still here")
        client.flush()
        self.assertEqual(client.receive().payload, b"still here")
        client.close()


if __name__ == "__main__":
    unittest.main()
