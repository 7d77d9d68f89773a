#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/soak: what runs when, what stays of a failure, and that it goes on."""

import importlib.machinery
import importlib.util
import os
import select
import socket
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

from soaking import turns  # pylint: disable=wrong-import-position
from soaking.record import Failure, Record  # pylint: disable=wrong-import-position

KINDS = [(["--order", "ring"], 600), (["--order", "paxos", "--groups"], 40)]
CASES = [("kill", 3), ("kill", 5), ("cut", 3)]
SEEDS = "seed 77: 0.13 s, 40721 events, 3 views: E10: no view\nseed 78: 0.1 s, 2 events, 1 views\n"


def load_soak():
    """tools/soak has no suffix."""
    loader = importlib.machinery.SourceFileLoader("soak", os.path.join(ROOT, "tools/soak"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    return module


class Scripted:
    """A runner whose commands end as the test says."""

    commit = "abc"

    def __init__(self, folder, answers):
        self.folder, self.answers, self.commands = folder, answers, []

    def run(self, command, _seconds=None, environment=None):
        """The first answer whose word is in the command: a status and the output."""
        self.commands.append((command, environment))
        status, text = next((answer for word, answer in self.answers.items()
                             if word in " ".join(command)), (0, ""))
        if "--out" in command:
            with open(command[command.index("--out") + 1], "w", encoding="utf-8") as out:
                out.write("small")
        path = os.path.join(self.folder, "log")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return status, path

    def new_folder(self):
        """As the real one."""
        return tempfile.mkdtemp(dir=self.folder)


class Soak(unittest.TestCase):
    """With a folder of its own."""

    def setUp(self):
        self.held = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.held.cleanup)
        self.folder = self.held.name

    def record(self, seed=70):
        """A new one."""
        return Record(os.path.join(self.folder, "record.json"), 2.0, seed)

    def test_every_kind_and_case_has_its_turn(self):
        schedule = turns.Schedule(KINDS, CASES, ["fuzz_wire", "fuzz_wal"])
        record, runner = self.record(), Scripted(self.folder, {})
        told = [schedule.turn(number, runner, record).about()
                for number in range(5 * len(schedule.round))]
        for each in ("60 seeds of --order ring", "5 seeds of --order paxos --groups",
                     "process case kill with 5 nodes", "process case cut with 3 nodes",
                     "60 s of fuzz_wire", "60 s of fuzz_wal", *turns.LONG):
            self.assertIn(each, told)

    def test_only_what_is_wanted(self):
        schedule = turns.Schedule(KINDS, CASES, ["fuzz_wire"], ["fuzz"])
        turn = schedule.turn(17, Scripted(self.folder, {}), self.record())
        self.assertEqual((len(schedule.round), turn.about()), (1, "60 s of fuzz_wire"))

    def test_no_two_turns_have_the_same_seeds(self):
        record, runner = self.record(), Scripted(self.folder, {})
        for _ in range(2):
            turns.Stories(runner, record, ["--order", "ring"], 10).run()
        self.assertEqual([command[-1] for command, _ in runner.commands], ["70-79", "80-89"])

    def test_a_failing_seed_leaves_its_story_and_the_command(self):
        runner = Scripted(self.folder, {"--seeds": (1, SEEDS), "--print": (0, "cluster"),
                                        "--shrink": (1, "")})
        runs, failures = turns.Stories(runner, self.record(), ["--order", "paxos"], 10).run()
        self.assertEqual((runs, len(failures)), (10, 1))
        self.assertEqual(failures[0].what, "--order paxos, seed 77: E10: no view")
        small = os.path.join(failures[0].folder, "small.txt")
        self.assertEqual(failures[0].commands,
                         ["build/release/bin/peal sim --order paxos --seed 77",
                          f"build/release/bin/peal sim --scenario {small}"])
        self.assertTrue(os.path.exists(small))
        self.assertTrue(os.path.exists(os.path.join(failures[0].folder, "seed.txt")))

    def test_a_simulator_that_crashes_is_a_failure(self):
        runner = Scripted(self.folder, {"--seeds": (-11, "")})
        _, failures = turns.Stories(runner, self.record(), ["--order", "paxos"], 10).run()
        self.assertEqual(failures[0].what, "build/release/bin/peal sim --order paxos --seeds 70-79 "
                                           "ended with -11")

    def test_a_failing_case_says_its_line(self):
        text = "FAIL kill 3 nodes: no view (3.1 s)\n     a.1: ended\n0 passed, 1 failed\n"
        runner = Scripted(self.folder, {"run.py": (1, text)})
        _, failures = turns.Case(runner, self.record(), "kill", 3).run()
        self.assertEqual(failures[0].what, "kill 3 nodes: no view (3.1 s)")
        self.assertEqual(failures[0].commands, ["tests/process/run.py --soak --nodes 3 kill"])

    def test_logs_of_a_failure_are_kept_though_sockets_lie_beside_them(self):
        case = os.path.join(self.folder, "kill-3")
        os.mkdir(case)
        with open(os.path.join(case, "a.log"), "w", encoding="utf-8"):
            pass
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.join(case, "a.sock"))
            failure = turns.Turn(Scripted(self.folder, {}), self.record()).failed("", [], [case])
        self.assertEqual(os.listdir(os.path.join(failure.folder, "kill-3")), ["a.log"])

    def test_what_takes_long_says_how_it_ended(self):
        runner = Scripted(self.folder, {"order_explore_test": (1, "")})
        _, failures = turns.Long(runner, self.record(), "order_explore_test").run()
        self.assertEqual(failures[0].commands,
                         ["PEAL_EXPLORE_MORE=1 build/release/bin/order_explore_test"])
        self.assertEqual(runner.commands[0][1], {"PEAL_EXPLORE_MORE": "1"})

    def test_a_record_is_read_as_it_was_saved(self):
        record = self.record()
        record.take_seeds(10)
        record.done("seeds ring", 10, 12.5, [Failure("what", ["again"], "folder", "abc")], "abc")
        again = Record.load(record.path)
        self.assertEqual(list(again.lines()), list(record.lines()))
        self.assertEqual((again.seed, again.turn, again.seconds), (80, 1, 12.5))
        self.assertEqual(again.failures, record.failures)

    def test_a_damaged_record_is_refused(self):
        record = self.record()
        for text in ("", "[]", "{}", '{"hours": 1'):
            with open(record.path, "w", encoding="utf-8") as out:
                out.write(text)
            with self.assertRaises(ValueError):
                Record.load(record.path)

    def test_a_turn_that_was_interrupted_is_done_again(self):
        soak = load_soak()
        schedule = turns.Schedule(KINDS[:1], [], [], ["seeds"])
        record, runner = self.record(), Scripted(self.folder, {})
        runner.run = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        with self.assertRaises(KeyboardInterrupt):
            soak.soak(record, schedule, runner)
        again = Record.load(record.path)
        self.assertEqual((again.turn, again.seed), (0, 70))

    def test_it_ends_when_the_time_is_over(self):
        soak = load_soak()
        record = self.record()
        record.seconds = 2 * 3600
        soak.soak(record, turns.Schedule(KINDS, [], [], ["seeds"]), None)
        self.assertEqual(record.turn, 0)

    def test_a_command_ends_with_all_that_it_started(self):
        runner = load_soak().Runner(self.folder)
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        status, _ = runner.run(["sh", "-c", f"exec 9>{fifo}; sleep 1000 & exit 3"])
        self.assertEqual(status, 3)
        poll = select.poll()
        poll.register(end, 0)
        self.assertEqual(poll.poll(10_000), [(end, select.POLLHUP)])  # nobody holds it any more
        self.assertEqual(runner.run(["sleep", "1000"], 0.01)[0], -9)


if __name__ == "__main__":
    unittest.main()
