// SPDX-License-Identifier: Apache-2.0
// The exploration of a small system treats states with equal digests as one state, and continues
// from one of them only. So the digest must contain everything that an engine's behaviour depends
// on.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "paxos_parts_bench.h"

namespace peal::order::paxos::test {
namespace {

template <class T>
std::uint64_t digest_of(const T& state) {
  Digest digest;
  state.add_to(digest);
  return digest.value();
}

/// Applies each change to a copy of `plain`. All results must have different digests.
template <class T>
void expect_different(const T& plain, const std::function<std::uint64_t(const T&)>& digest,
                      const std::vector<std::function<void(T&)>>& changes) {
  std::map<std::uint64_t, std::size_t> seen{{digest(plain), 0}};
  EXPECT_EQ(digest(plain), digest(plain));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    T changed = plain;
    changes[i](changed);
    const auto [at, fresh] = seen.emplace(digest(changed), i + 1);
    EXPECT_TRUE(fresh) << "changes " << i + 1 << " and " << at->second
                       << " (counted from 1; 0: no change)";
  }
}

/// The digest of a new bench after `change`.
std::uint64_t after(const std::function<void(PartsBench&)>& change,
                    const std::function<std::uint64_t(const PartsBench&)>& digest) {
  PartsBench bench;
  bench.be_in_view();
  bench.hear_all();
  change(bench);
  return digest(bench);
}
void expect_different(const std::function<std::uint64_t(const PartsBench&)>& digest,
                      const std::vector<std::function<void(PartsBench&)>>& changes) {
  std::map<std::uint64_t, std::size_t> seen{{after([](PartsBench&) {}, digest), 0}};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto [at, fresh] = seen.emplace(after(changes[i], digest), i + 1);
    EXPECT_TRUE(fresh) << "changes " << i + 1 << " and " << at->second
                       << " (counted from 1; 0: no change)";
  }
}

TEST(PaxosDigest, OfRoundsAndValues) {
  const auto of_round = [](const Round& round) {
    Digest digest;
    add_to(digest, round);
    return digest.value();
  };
  expect_different<Round>({4, kTwo}, of_round,
                          {[](Round& r) { r.count = 5; }, [](Round& r) { r.coordinator = kThree; },
                           [](Round& r) { r.coordinator.epoch = 101; }});
  PartsBench bench;
  const auto of_value = [](const Value& value) {
    Digest digest;
    add_to(digest, value);
    return digest.value();
  };
  expect_different<Value>(
      {unit_head(kTwo, 3), bench.bytes("x")}, of_value,
      {[](Value& v) { v.head.kind = wire::ValueKind::view; },
       [](Value& v) { v.head.service = Service::safe; }, [](Value& v) { v.head.view = 2; },
       [](Value& v) { v.head.origin.node = {3}; }, [](Value& v) { v.head.origin.epoch = 101; },
       [](Value& v) { v.head.number = 4; }, [&](Value& v) { v.bytes = bench.bytes("y"); }});
}

TEST(PaxosDigest, OfOrders) {
  wire::Checkpoint at;
  at.next = 9;
  at.key = 9;
  at.nodes = first_nodes();
  at.view = {5, kOne};
  at.members = {{kOne, 4}, {kTwo, 4}};
  at.numbers = {7, 8};
  using Said = wire::Checkpoint;
  expect_different<Said>(
      at, [](const Said& said) { return digest_of(OrderState(said)); },
      {[](Said& c) { c.next = 10; }, [](Said& c) { c.key = 10; },
       [](Said& c) { c.nodes.number = 1; }, [](Said& c) { c.nodes.hash = 2; },
       [](Said& c) { c.nodes.lives[1] = 5; }, [](Said& c) { c.view.number = 6; },
       [](Said& c) { c.view.representative.node = {2}; },
       [](Said& c) { c.view.representative.epoch = 7; },
       [](Said& c) {
         c.members.pop_back();
         c.numbers.pop_back();
       },
       [](Said& c) { c.members[1].member.node = {3}; },
       [](Said& c) { c.members[1].member.epoch = 101; },
       [](Said& c) { c.members[0].came_from = 0; }, [](Said& c) { c.numbers[1] = 9; }});
}

TEST(PaxosDigest, OfPeers) {
  const auto digest = [](const PartsBench& bench) { return digest_of(bench.peers); };
  const auto peer = [](const std::function<void(Peer&)>& change) {
    return [change](PartsBench& bench) { change(*bench.peers.find(kTwo.node)); };
  };
  expect_different(digest, {peer([](Peer& p) { p.member.epoch = 101; }),
                            peer([](Peer& p) { p.suspected = true; }),
                            peer([](Peer& p) { p.works = false; }),
                            peer([](Peer& p) { p.serve = false; }),
                            peer([](Peer& p) { p.patience = seconds(1); }),
                            peer([](Peer& p) { p.refused = true; }),
                            peer([](Peer& p) { p.bound = true; }),
                            peer([](Peer& p) { p.has_state = false; }),
                            peer([](Peer& p) { p.put_back = true; }),
                            peer([](Peer& p) {
                              p.state.round = {4, kTwo};
                            }),
                            peer([](Peer& p) {
                              p.state.round = {4, kThree};
                            }),
                            peer([](Peer& p) {
                              p.state.voted_round = {4, kTwo};
                            }),
                            peer([](Peer& p) { p.state.voted_upto = 6; }),
                            peer([](Peer& p) { p.state.decided_upto = 6; }),
                            peer([](Peer& p) { p.state.next = 6; }),
                            peer([](Peer& p) { p.state.oldest = 6; }),
                            peer([](Peer& p) { p.state.view = 6; }),
                            peer([](Peer& p) { p.state.list = 6; }),
                            peer([](Peer& p) { p.state.next_list = 6; }),
                            peer([](Peer& p) { p.state.leading = true; }),
                            peer([](Peer& p) { p.state.leaving = true; }),
                            peer([](Peer& p) { p.state.joined = true; }),
                            peer([](Peer& p) { p.state.misses = true; }),
                            peer([](Peer& p) { p.state.disk_hangs = true; }),
                            peer([](Peer& p) { p.state.fitness = wire::Fitness::chosen; })});
}

TEST(PaxosDigest, OfTheLogsOfOtherNodes) {
  const auto says = [](std::uint64_t epoch, std::uint64_t life, std::uint64_t log,
                       wire::LogWord word) {
    return [=](LogsHeard& heard) {
      wire::State said;
      said.life = life;
      said.log = log;
      said.log_word = word;
      heard.note(epoch, said);
    };
  };
  using Word = wire::LogWord;
  const auto both = [](const auto& first, const auto& second) {
    return [first, second](LogsHeard& heard) {
      first(heard);
      second(heard);
    };
  };
  const auto again = [](LogsHeard& heard) { heard.begin(); };
  const auto plain = says(100, kLog, 5, Word::sure);
  expect_different<LogsHeard>(
      LogsHeard{}, digest_of<LogsHeard>,
      {plain, says(100, kLog, 6, Word::sure), says(101, kLog, 5, Word::sure),
       says(100, kLog + 1, 5, Word::sure), says(100, kLog, 5, Word::asks), both(plain, again),
       both(says(100, kLog, 6, Word::sure), again),
       both(both(plain, again), says(101, kLog, 5, Word::sure))});
}

TEST(PaxosDigest, OfStores) {
  const auto digest = [](const PartsBench& bench) { return digest_of(bench.store); };
  const auto slot = [](const std::function<void(Slot&, PartsBench&)>& change) {
    return [change](PartsBench& bench) { change(*bench.store.make(2), bench); };
  };
  const auto heard = [](Slot& s, PartsBench& bench, std::string_view text, const Round& round) {
    s.heard = {unit_head(kTwo, 1), bench.bytes(text)};
    s.heard_round = round;
  };
  const auto voted = [](Slot& s, PartsBench& bench, std::string_view text, const Round& round) {
    s.vote = {unit_head(kTwo, 1), bench.bytes(text)};
    s.vote_round = round;
  };
  expect_different(digest,
                   {slot([](Slot&, PartsBench&) {}), [](PartsBench& bench) { bench.store.make(3); },
                    [](PartsBench& bench) { bench.decide_unit(kTwo, 1); },
                    [](PartsBench& bench) {
                      bench.decide_unit(kTwo, 1);
                      bench.store.forget_below(2);
                    },
                    slot([&](Slot& s, PartsBench& b) {
                      heard(s, b, "x", {4, kTwo});
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      heard(s, b, "y", {4, kTwo});
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      heard(s, b, "x", {4, kThree});
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      heard(s, b, "x", {4, kTwo});
                      s.decided = true;
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      heard(s, b, "x", {});
                      s.decided = true;
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      voted(s, b, "x", {4, kTwo});
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      voted(s, b, "y", {4, kTwo});
                    }),
                    slot([&](Slot& s, PartsBench& b) {
                      voted(s, b, "x", {5, kTwo});
                    })});
}

/// The bench gets a proposal in this round for instance 2, and votes for it.
void vote(PartsBench& bench, const Round& round) {
  Arrival arrival;
  arrival.round = round;
  arrival.instance = 2;
  arrival.head = unit_head(kTwo, 1);
  EXPECT_EQ(bench.learner.take_proposal(arrival, bench.bytes("x")), wire::Drop::none);
  EXPECT_TRUE(bench.acceptor.accept(round, 2));
  EXPECT_EQ(bench.acceptor.vote(bench.store), 1U);
}

TEST(PaxosDigest, OfAcceptors) {
  const auto digest = [](const PartsBench& bench) { return digest_of(bench.acceptor); };
  const auto prepare = [](const Round& round) {
    return [round](PartsBench& bench) { EXPECT_TRUE(bench.acceptor.prepare(round)); };
  };
  expect_different(digest, {prepare({4, kTwo}), prepare({5, kTwo}), prepare({4, kThree}),
                            [](PartsBench& bench) {
                              EXPECT_TRUE(bench.acceptor.prepare({4, kTwo}));
                              bench.disk.sync();
                            },
                            [](PartsBench& bench) {
                              bench.disk.set_full(true);
                              EXPECT_TRUE(bench.acceptor.prepare({4, kTwo}));
                            },
                            [](PartsBench& bench) {
                              EXPECT_TRUE(bench.acceptor.accept({4, kTwo}, 2));
                            },
                            [](PartsBench& bench) {
                              EXPECT_TRUE(bench.acceptor.accept({4, kTwo}, 4));
                            },
                            [](PartsBench& bench) {
                              vote(bench, {4, kTwo});
                            },
                            [](PartsBench& bench) {
                              vote(bench, {4, kTwo});
                              bench.disk.sync();
                            },
                            [](PartsBench& bench) {
                              vote(bench, {4, kTwo});
                              bench.disk.sync();
                              bench.acceptor.on_durable();
                            },
                            [](PartsBench& bench) {
                              bench.disk.set_full(true);
                              EXPECT_FALSE(bench.acceptor.note_decided(2, unit_head(kTwo, 1), {}));
                            }});
}

TEST(PaxosDigest, OfProgress) {
  const auto of_learner = [](const PartsBench& bench) { return digest_of(bench.learner); };
  const auto votes = [](Instance upto, const Round& round) {
    return [upto, round](PartsBench& bench) {
      for (const MemberId& each : {kTwo, kThree}) {
        wire::State said;
        said.round = said.voted_round = round;
        said.voted_upto = upto;
        bench.hear(each, said);
      }
      bench.learner.count_votes();
    };
  };
  expect_different(of_learner, {votes(3, {4, kTwo}), votes(4, {4, kTwo}), votes(3, {5, kTwo}),
                                [](PartsBench& bench) { bench.learner.note_decided(7); },
                                [](PartsBench& bench) { bench.learner.note_decided(8); }});
  const auto of_consumer = [](const PartsBench& bench) { return digest_of(bench.consumer); };
  expect_different(of_consumer, {[](PartsBench& bench) { bench.decide_unit(kTwo, 1); },
                                 [](PartsBench& bench) {
                                   bench.decide_view(2, {{kOne, 1}, {kTwo, 1}});
                                 },
                                 [](PartsBench& bench) { bench.consumer.set_ready(false, 0); }});
  const auto of_checkpoints = [](const PartsBench& bench) { return digest_of(bench.checkpointer); };
  expect_different(of_checkpoints, {[](PartsBench& bench) { bench.checkpointer.want(true); },
                                    [](PartsBench& bench) { bench.checkpointer.begin_list(); },
                                    [](PartsBench& bench) {
                                      bench.checkpointer.want(true);
                                      EXPECT_TRUE(bench.checkpointer.write());
                                    }});
  const auto of_own = [](const PartsBench& bench) { return digest_of(bench.own_units); };
  const auto pull = [](std::size_t units) {
    return [units](PartsBench& bench) {
      bench.queue.assign(units, "x");
      bench.own_units.pull(bench.now, bench);
    };
  };
  expect_different(of_own, {pull(1), pull(2), [&](PartsBench& bench) {
                              pull(2)(bench);
                              bench.own_units.place(bench.now);
                            }});
}

TEST(PaxosDigest, OfCoordinators) {
  const auto digest = [](const PartsBench& bench) { return digest_of(bench.coordinator); };
  const auto prepare = [](std::uint64_t count) {
    return [count](PartsBench& bench) { bench.coordinator.prepare(bench.now, count, bench); };
  };
  const auto promised = [](const wire::Promise& said) {
    return [said](PartsBench& bench) {
      bench.coordinator.prepare(bench.now, 4, bench);
      wire::Promise promise = said;
      promise.round = {4, kOne};
      bench.coordinator.on_promise(bench.now, *bench.peers.find(kTwo.node), promise, bench);
    };
  };
  const auto from_three = [](const wire::Promise& said) {
    return [said](PartsBench& bench) {
      bench.coordinator.prepare(bench.now, 4, bench);
      wire::Promise promise = said;
      promise.round = {4, kOne};
      bench.coordinator.on_promise(bench.now, *bench.peers.find(kThree.node), promise, bench);
    };
  };
  expect_different(digest,
                   {prepare(4), prepare(5), promised({{}, 2, {}}), promised({{}, 3, {}}),
                    from_three({{}, 2, {}}), promised({{}, 2, {{2, 1, {3, kTwo}}}}),
                    promised({{}, 2, {{3, 1, {3, kTwo}}}}), promised({{}, 2, {{2, 2, {3, kTwo}}}}),
                    promised({{}, 2, {{2, 1, {3, kThree}}}})});
  // From here on, the coordinator has completed Phase 1.
  const auto lead = [](PartsBench& bench) {
    bench.coordinator.prepare(bench.now, 4, bench);
    bench.disk.sync();
    bench.coordinator.work(bench.now, bench);
    bench.coordinator.on_promise(bench.now, *bench.peers.find(kTwo.node), {{4, kOne}, 2, {}},
                                 bench);
    ASSERT_TRUE(bench.coordinator.leads());
  };
  const auto submits = [&](const MemberId& from, std::uint64_t number, std::string_view text,
                           bool proposes) {
    return [&lead, from, number, text, proposes](PartsBench& bench) {
      lead(bench);
      EXPECT_TRUE(bench.coordinator.submit(unit_head(from, number), bench.bytes(text), false, 0));
      if (proposes) bench.coordinator.work(bench.now, bench);
    };
  };
  expect_different(digest, {lead, submits(kTwo, 1, "x", false), submits(kTwo, 2, "x", false),
                            submits(kThree, 1, "x", false), submits(kTwo, 1, "x", true),
                            submits(kTwo, 1, "y", true), submits(kThree, 1, "x", true)});
}

TEST(PaxosDigest, OfBootstrap) {
  const auto restored = [](const wire::Lives& taken) {
    return [taken](Bootstrap& bootstrap) { bootstrap.restore(taken, {kOne, kTwo}); };
  };
  expect_different<Bootstrap>(Bootstrap{}, digest_of<Bootstrap>,
                              {restored({7, {1, 2}}), restored({8, {1, 2}}), restored({7, {1, 3}}),
                               [&](Bootstrap& bootstrap) {
                                 restored({7, {1, 2}})(bootstrap);
                                 bootstrap.note_own(kOne.node);
                               },
                               [&](Bootstrap& bootstrap) {
                                 restored({7, {1, 2}})(bootstrap);
                                 bootstrap.note_own(kTwo.node);
                               }});
  const auto begun = [](CopyCheck& check) { check.begin({{100, {1}}}, false); };
  const auto answered = [&](NodeId from, const std::vector<wire::LogHeard>& heard) {
    return [&begun, from, heard](CopyCheck& check) {
      begun(check);
      check.note(from, {100, kLog, heard});
    };
  };
  expect_different<CopyCheck>(CopyCheck{}, digest_of<CopyCheck>,
                              {begun, answered({2}, {}), answered({3}, {}),
                               answered({2}, {{99, 5}}), [&](CopyCheck& check) {
                                 answered({2}, {})(check);
                                 check.look(three_peers());
                               }});
}

TEST(PaxosDigest, OfHistoryForOtherNodes) {
  const auto word = [](NodeId from, Instance instance, const Round& round) {
    return [=](Recall& recall) { recall.note(from, instance, round, {}); };
  };
  expect_different<Recall>(Recall{}, digest_of<Recall>,
                           {word({2}, 5, {4, kTwo}), word({2}, 6, {4, kTwo}),
                            word({2}, 5, {5, kTwo}), word({2}, 5, {}), [&](Recall& recall) {
                              word({2}, 5, {4, kTwo})(recall);
                              word({3}, 5, {})(recall);
                            }});
  const auto of_words = [](const PartsBench& bench) { return digest_of(bench.kept); };
  const auto skip = [](Instance first, const Round& round) {
    return [=](PartsBench& bench) {
      bench.store.make(2)->vote_round = round;
      bench.kept.keep(first, 4, bench.store);
    };
  };
  expect_different(of_words, {skip(1, {4, kTwo}), skip(2, {4, kTwo}), skip(2, {5, kTwo})});
  const auto of_history = [](const PartsBench& bench) { return digest_of(bench.history); };
  const auto retain = [](std::initializer_list<MemberId> members, std::uint64_t units) {
    const std::vector<MemberId> all = members;
    return [all, units](PartsBench& bench) {
      for (std::uint64_t k = 1; k <= units; ++k) bench.decide_unit(kTwo, k);
      bench.history.retain_for(all);
    };
  };
  expect_different(of_history, {retain({kTwo}, 1), retain({kThree}, 1), retain({kTwo, kThree}, 1),
                                retain({kTwo}, 2), retain({{kTwo.node, kTwo.epoch + 1}}, 1)});
}

}  // namespace
}  // namespace peal::order::paxos::test
