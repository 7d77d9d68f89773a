// SPDX-License-Identifier: Apache-2.0
// Tests the rules of values, and of the frames that hold a value. A frame at a limit is accepted. A
// frame beyond the limit is dropped, with a useful reason for the counters.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_outcome.h"
#include "paxos_samples.h"
#include "wire/headroom.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

std::string value_outcome(const Bytes& packet) {
  Header header;
  const Drop drop = decode_header(packet, header);
  if (drop != Drop::none) return "header: " + std::string(drop_name(drop));
  ValueFrame decoded;
  return std::string(drop_name(decode_value(packet, decoded)));
}

std::string with_value(ValueSample sample, const std::function<void(ValueFrame&)>& change) {
  change(sample.frame);
  return value_outcome(packet_of(sample));
}

std::string with_head(const ValueSample& sample, const std::function<void(ValueHead&)>& change) {
  return with_value(sample, [&](ValueFrame& frame) { change(frame.head); });
}

std::string with_fetched(const std::function<void(FetchedSample&)>& change) {
  FetchedSample sample = plain_fetched();
  change(sample);
  Fetched decoded;
  return std::string(drop_name(decode_fetched(packet_of(sample), decoded)));
}

std::string word_outcome(const Bytes& packet) {
  Word decoded;
  return std::string(drop_name(decode_word(packet, decoded)));
}

std::string with_word(const std::function<void(WordSample&)>& change) {
  WordSample sample = plain_word();
  change(sample);
  return word_outcome(packet_of(sample));
}

Bytes no_vote_packet(Instance instance) {
  Bytes packet(kNoVoteBytes);
  EXPECT_EQ(encode_no_vote(header_of(PaxosKind::word), {instance}, packet), kNoVoteBytes);
  return packet;
}

Drop drop_of_value(ByteView packet) {
  ValueFrame decoded;
  return decode_value(packet, decoded);
}

TEST(WirePaxosValue, PlainOnesAreAccepted) {
  for (const ValueSample& sample :
       {plain_submit(), plain_propose(), plain_decided(), plain_view(), plain_nodes()}) {
    EXPECT_EQ(value_outcome(packet_of(sample)), "none");
  }
}

TEST(WirePaxosValue, OnlyAProposalHasARoundAndOnlyASubmissionAStamp) {
  expect_from_one([](std::uint64_t count) {
    return with_value(plain_propose(), [&](ValueFrame& v) { v.count = count; });
  });
  EXPECT_EQ(with_value(plain_decided(), [](ValueFrame& v) { v.count = 1; }), "bad_value");
  EXPECT_EQ(with_value(plain_decided(), [](ValueFrame& v) { v.count = kTop + 1; }), "bad_value");
  const auto stamp = [](std::uint64_t value) {
    return with_value(plain_submit(), [&](ValueFrame& v) { v.count = value; });
  };
  EXPECT_EQ(stamp(0), "none");
  EXPECT_EQ(stamp(1), "none");
  EXPECT_EQ(stamp(kEarlyStampMax), "none");
  EXPECT_EQ(stamp(kEarlyStampMax + 1), "bad_value");
  EXPECT_EQ(stamp(kTop + 1), "bad_value");
}

TEST(WirePaxosValue, OnlyASubmissionHasNoInstance) {
  expect_from_one([](Instance instance) {
    return with_value(plain_decided(), [&](ValueFrame& v) { v.instance = instance; });
  });
  expect_from_one([](Instance instance) {
    return with_value(plain_propose(), [&](ValueFrame& v) {
      v.instance = instance;
      v.behind = 0;
    });
  });
  EXPECT_EQ(with_value(plain_submit(), [](ValueFrame& v) { v.instance = 1; }), "bad_value");
}

TEST(WirePaxosValue, OnlyAProposalSaysWhatIsDecidedAndFromTheFirstOn) {
  const auto behind = [](Instance instance, std::uint32_t value) {
    return with_value(plain_propose(), [&](ValueFrame& v) {
      v.instance = instance;
      v.behind = value;
    });
  };
  EXPECT_EQ(behind(1, 0), "none");
  EXPECT_EQ(behind(1, 1), "bad_value");
  EXPECT_EQ(behind(100, 99), "none");
  EXPECT_EQ(behind(100, 100), "bad_value");
  EXPECT_EQ(behind(100, 0xffff'ffff), "bad_value");
  EXPECT_EQ(behind(1ULL << 32, 0xffff'ffff), "none");
  for (const ValueSample& sample : {plain_submit(), plain_decided()}) {
    EXPECT_EQ(with_value(sample, [](ValueFrame& v) { v.behind = 1; }), "bad_value");
  }
}

TEST(WirePaxosValue, OnlyUnitsAreSubmitted) {
  const auto submit = [](const ValueSample& sample) {
    return value_outcome(
        packet_of({PaxosKind::submit, {0, 0, 0, sample.frame.head}, sample.bytes}));
  };
  EXPECT_EQ(submit(plain_propose()), "none");
  EXPECT_EQ(submit(plain_view()), "bad_value");
  EXPECT_EQ(submit(plain_nodes()), "bad_value");
  ValueSample nothing;
  nothing.frame.head.origin = kSender;
  EXPECT_EQ(submit(nothing), "bad_value");
}

TEST(WirePaxosValue, UnitsHaveAViewAndANumberAndAnyBytes) {
  expect_from_one([](std::uint64_t view) {
    return with_head(plain_decided(), [&](ValueHead& h) { h.view = view; });
  });
  expect_from_one([](std::uint64_t number) {
    return with_head(plain_decided(), [&](ValueHead& h) { h.number = number; });
  });
  ValueSample empty = plain_decided();
  empty.bytes.clear();
  EXPECT_EQ(value_outcome(packet_of(empty)), "none");
  empty.bytes.resize(kPacketBytesMax - kDataHeaderBytes);
  EXPECT_EQ(value_outcome(packet_of(empty)), "none");
}

ValueSample plain_nothing() {
  ValueSample nothing = plain_propose();
  nothing.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, 0};
  nothing.bytes.clear();
  return nothing;
}

TEST(WirePaxosValue, NothingHasAKeyAndNoViewAndNoBytes) {
  ValueSample nothing = plain_nothing();
  EXPECT_EQ(value_outcome(packet_of(nothing)), "none");
  EXPECT_EQ(with_head(nothing, [](ValueHead& h) { h.view = 1; }), "bad_value");
  expect_counter(
      [&](std::uint64_t key) { return with_head(nothing, [&](ValueHead& h) { h.number = key; }); });
  EXPECT_EQ(with_head(nothing, [](ValueHead& h) { h.service = Service::safe; }), "bad_value");
  nothing.bytes.resize(1);
  EXPECT_EQ(value_outcome(packet_of(nothing)), "trailing_bytes");
}

TEST(WirePaxosValue, AViewHasItsNumberAndAKeyAndIsNotSafe) {
  expect_from_one([](std::uint64_t view) {
    return with_head(plain_view(), [&](ValueHead& h) { h.view = view; });
  });
  expect_counter([](std::uint64_t key) {
    return with_head(plain_view(), [&](ValueHead& h) { h.number = key; });
  });
  EXPECT_EQ(with_head(plain_view(), [](ValueHead& h) { h.service = Service::safe; }), "bad_value");
}

TEST(WirePaxosValue, AViewsBytesAreItsMembers) {
  const auto with = [](const Bytes& bytes) {
    ValueSample view = plain_view();
    view.bytes = bytes;
    FetchedSample fetched{{kSomeRound, 100, view.frame.head}, bytes};
    Fetched decoded;
    const std::string outcome = value_outcome(packet_of(view));
    EXPECT_EQ(drop_name(decode_fetched(packet_of(fetched), decoded)), outcome);
    EXPECT_EQ(word_outcome(packet_of(WordSample{{100, kSomeRound, view.frame.head}, bytes})),
              outcome);
    return outcome;
  };
  EXPECT_EQ(with(view_bytes(first_view_members(kMembersMax))), "none");
  EXPECT_EQ(with({}), "truncated");
  EXPECT_EQ(with(Bytes(2)), "bad_value");
  Bytes bytes = view_bytes(first_view_members(3));
  bytes.pop_back();
  EXPECT_EQ(with(bytes), "truncated");
  bytes.resize(bytes.size() + 2);
  EXPECT_EQ(with(bytes), "trailing_bytes");
  EXPECT_EQ(with(view_bytes({{{{2}, 20}, 1}, {{{1}, 10}, 1}})), "not_sorted");
  EXPECT_EQ(with(view_bytes({{kNobody, 1}})), "bad_value");
  EXPECT_EQ(with(view_bytes({{kSender, kTop + 1}})), "bad_value");
}

TEST(WirePaxosValue, OriginIsANode) {
  for (const ValueSample& sample :
       {plain_submit(), plain_propose(), plain_decided(), plain_view(), plain_nodes()}) {
    EXPECT_EQ(with_head(sample, [](ValueHead& h) { h.origin = kLastNode; }), "none");
    EXPECT_EQ(with_head(sample, [](ValueHead& h) { h.origin = kNobody; }), "bad_value");
    EXPECT_EQ(with_head(sample, [](ValueHead& h) { h.origin = kNodeTooLarge; }), "bad_value");
  }
}

TEST(WirePaxosValue, KindAndServiceAreKnown) {
  const Bytes unit = packet_of(plain_propose());
  const std::size_t head = kHeaderBytes + 20;
  expect_bytes_accepted(unit, head, {1}, drop_of_value);
  expect_bytes_accepted(unit, head + 1, {2, 3}, drop_of_value);
  expect_bytes_accepted(packet_of(plain_view()), head, {3}, drop_of_value);
  expect_bytes_accepted(packet_of(plain_view()), head + 1, {2}, drop_of_value);
  expect_bytes_accepted(packet_of(plain_nodes()), head + 1, {2}, drop_of_value);
}

std::string placing_outcome(const Bytes& unit) {
  Placing decoded;
  return std::string(drop_name(decode_placing(unit, decoded)));
}

TEST(WirePaxosPlacing, HasAStampAViewAndANumber) {
  const auto with = [](const Placing& placing) {
    return placing_outcome(placed_unit(placing, Bytes(3)));
  };
  expect_counter([&](std::uint64_t stamp) { return with({stamp, 9, 41}); });
  expect_from_one([&](std::uint64_t view) { return with({7, view, 41}); });
  expect_from_one([&](std::uint64_t number) { return with({7, 9, number}); });
  EXPECT_EQ(with({0, 1, 1}), "none");
  EXPECT_EQ(with({kTop, kTop, kTop}), "none");
  EXPECT_EQ(with({}), "bad_value");
}

TEST(WirePaxosPlacing, StandsInFrontOfAUnitsBytesWhateverTheyAre) {
  const Placing placing{7, 9, 41};
  const Bytes alone = placed_unit(placing, {});
  ASSERT_EQ(alone.size(), 24U);
  for (std::size_t size = 0; size < alone.size(); ++size) {
    const auto end = alone.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(placing_outcome(Bytes(alone.begin(), end)), "truncated") << size;
  }
  for (const std::byte fill : {std::byte{0}, std::byte{0xff}}) {
    for (const std::size_t size : {0U, 1U, 60'000U}) {
      Placing decoded;
      ASSERT_EQ(decode_placing(placed_unit(placing, Bytes(size, fill)), decoded), Drop::none);
      EXPECT_EQ(decoded, placing);
    }
  }
}

TEST(WirePaxosPlacing, IsWrittenOverTheFirstBytesAndNoOthers) {
  Bytes unit(30, std::byte{0xa5});
  encode_placing_in_place({7, 9, 41}, unit);
  EXPECT_EQ(unit, placed_unit({7, 9, 41}, Bytes(6, std::byte{0xa5})));
}

TEST(WirePaxosPlacing, NoFrameAsksForOne) {
  for (const Bytes& unit : {Bytes(23), Bytes(24), placed_unit({7, 9, 41}, {})}) {
    for (ValueSample sample : {plain_submit(), plain_propose(), plain_decided()}) {
      sample.bytes = unit;
      EXPECT_EQ(value_outcome(packet_of(sample)), "none");
    }
  }
}

TEST(WirePaxosPlacing, FitsInFrontOfAUnitTogetherWithTheLongestHeader) {
  EXPECT_EQ(kPlacingBytes, 24U);
  for (const std::size_t header : {kDataHeaderBytes, kFetchedHeaderBytes, kRelayHeaderBytes}) {
    EXPECT_LE(header + kPlacingBytes, kUnitHeadroomBytes);
  }
}

std::string with_relay(PaxosKind kind, const std::function<void(RelaySample&)>& change) {
  RelaySample sample = plain_relay(kind);
  change(sample);
  Relay decoded;
  return std::string(drop_name(decode_relay(packet_of(sample), decoded)));
}

TEST(WirePaxosRelay, NamesARoundAnInstanceAndWhoVotes) {
  for (const PaxosKind kind : {PaxosKind::relay, PaxosKind::distribute}) {
    expect_begun_round([kind](const Round& round) {
      return with_relay(kind, [&](RelaySample& r) { r.frame.round = round; });
    });
    expect_from_one([kind](Instance instance) {
      return with_relay(kind, [&](RelaySample& r) {
        r.frame.instance = instance;
        r.frame.behind = 0;
      });
    });
    const auto chain = [kind](std::uint16_t value) {
      return with_relay(kind, [&](RelaySample& r) { r.frame.chain = value; });
    };
    EXPECT_EQ(chain(0), "bad_value");
    EXPECT_EQ(chain(1), "none");
    EXPECT_EQ(chain(0xffff), "none");
    const auto behind = [kind](Instance instance, std::uint32_t value) {
      return with_relay(kind, [&](RelaySample& r) {
        r.frame.instance = instance;
        r.frame.behind = value;
      });
    };
    EXPECT_EQ(behind(1, 0), "none");
    EXPECT_EQ(behind(1, 1), "bad_value");
    EXPECT_EQ(behind(100, 99), "none");
    EXPECT_EQ(behind(100, 100), "bad_value");
  }
}

TEST(WirePaxosRelay, ItsValueObeysTheRulesOfValues) {
  const auto with = [](const std::function<void(RelaySample&)>& change) {
    return with_relay(PaxosKind::relay, change);
  };
  EXPECT_EQ(with([](RelaySample& r) { r.bytes.clear(); }), "none");
  EXPECT_EQ(with([](RelaySample& r) { r.frame.head.view = 0; }), "bad_value");
  EXPECT_EQ(with([](RelaySample& r) { r.frame.head.origin = kNobody; }), "bad_value");
  EXPECT_EQ(with([](RelaySample& r) {
              r.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, 0};
            }),
            "trailing_bytes");
  expect_counter([&](std::uint64_t key) {
    return with([&](RelaySample& r) {
      r.frame.head = {ValueKind::view, Service::agreed, 10, kSender, key};
      r.bytes = view_bytes(first_view_members(3));
    });
  });
}

TEST(WirePaxosRelay, OnlyAUnitMayComeWithoutItsBytesAndThenHasNone) {
  const auto own = [](const std::function<void(RelaySample&)>& change) {
    return with_relay(PaxosKind::distribute, [&](RelaySample& r) {
      r.frame.own = true;
      r.bytes.clear();
      change(r);
    });
  };
  EXPECT_EQ(own([](RelaySample&) {}), "none");
  EXPECT_EQ(own([](RelaySample& r) { r.bytes.resize(1); }), "trailing_bytes");
  EXPECT_EQ(own([](RelaySample& r) {
              r.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, 0};
            }),
            "bad_value");
  EXPECT_EQ(own([](RelaySample& r) {
              r.frame.head = {ValueKind::view, Service::agreed, 10, kSender, 1};
            }),
            "bad_value");
}

TEST(WirePaxosRelay, FlagsThatNobodyKnowsAreRefused) {
  constexpr std::size_t kFlags = kHeaderBytes + 20 + 8 + 4 + 2;
  for (unsigned flags = 0; flags < 256; ++flags) {
    RelaySample sample = plain_relay(PaxosKind::relay);
    sample.bytes.clear();
    Bytes packet = packet_of(sample);
    packet[kFlags] = static_cast<std::byte>(flags);
    complete(packet);
    Relay decoded;
    EXPECT_EQ(drop_name(decode_relay(packet, decoded)), flags < 2 ? "none" : "bad_value") << flags;
  }
}

TEST(WirePaxosFetched, NamesARoundAndAnInstance) {
  expect_begun_round([](const Round& round) {
    return with_fetched([&](FetchedSample& f) { f.frame.round = round; });
  });
  expect_from_one([](Instance instance) {
    return with_fetched([&](FetchedSample& f) { f.frame.instance = instance; });
  });
}

TEST(WirePaxosFetched, ItsValueObeysTheRulesOfValues) {
  EXPECT_EQ(with_fetched([](FetchedSample& f) { f.bytes.clear(); }), "none");
  EXPECT_EQ(with_fetched([](FetchedSample& f) { f.frame.head.view = 0; }), "bad_value");
  EXPECT_EQ(with_fetched([](FetchedSample& f) { f.frame.head.number = 0; }), "bad_value");
  EXPECT_EQ(with_fetched([](FetchedSample& f) { f.frame.head.origin = kNobody; }), "bad_value");
  const auto nothing = [](std::size_t bytes) {
    return with_fetched([&](FetchedSample& f) {
      f.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, 0};
      f.bytes.resize(bytes);
    });
  };
  EXPECT_EQ(nothing(0), "none");
  EXPECT_EQ(nothing(1), "trailing_bytes");
  expect_counter([](std::uint64_t key) {
    return with_fetched([&](FetchedSample& f) {
      f.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, key};
      f.bytes.clear();
    });
  });
}

constexpr std::size_t kVotedOffset = kNoVoteBytes - 1;

TEST(WirePaxosWord, NamesAnInstanceAndARound) {
  expect_from_one([](Instance instance) {
    return with_word([&](WordSample& w) { w.frame.instance = instance; });
  });
  // The round must have begun: a node that did not vote sends a WORD of the other form.
  expect_begun_round(
      [](const Round& round) { return with_word([&](WordSample& w) { w.frame.round = round; }); });
}

TEST(WirePaxosWord, ItsValueObeysTheRulesOfValues) {
  EXPECT_EQ(with_word([](WordSample& w) { w.bytes.clear(); }), "none");
  EXPECT_EQ(with_word([](WordSample& w) { w.frame.head.view = 0; }), "bad_value");
  EXPECT_EQ(with_word([](WordSample& w) { w.frame.head.number = 0; }), "bad_value");
  EXPECT_EQ(with_word([](WordSample& w) { w.frame.head.origin = kNobody; }), "bad_value");
  const auto nothing = [](std::size_t bytes) {
    return with_word([&](WordSample& w) {
      w.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, 0};
      w.bytes.resize(bytes);
    });
  };
  EXPECT_EQ(nothing(0), "none");
  EXPECT_EQ(nothing(1), "trailing_bytes");
  expect_counter([](std::uint64_t key) {
    return with_word([&](WordSample& w) {
      w.frame.head = {ValueKind::nothing, Service::agreed, 0, kSender, key};
      w.bytes.clear();
    });
  });
}

TEST(WirePaxosWord, WithoutAVoteNamesAnInstance) {
  expect_from_one([](Instance instance) { return word_outcome(no_vote_packet(instance)); });
}

TEST(WirePaxosWord, WithoutAVoteNothingOfAnEarlierOneIsLeft) {
  Word decoded = plain_word().frame;
  ASSERT_EQ(drop_name(decode_word(no_vote_packet(9), decoded)), "none");
  EXPECT_EQ(decoded, (Word{9}));
}

TEST(WirePaxosWord, WithoutAVoteHasNoOtherContent) {
  const Bytes good = no_vote_packet(9);
  for (std::size_t size = 0; size < kNoVoteBytes; ++size) {
    const Bytes packet(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(word_outcome(packet), "truncated") << size;
  }
  for (const std::size_t size : {kNoVoteBytes + 1, kWordHeaderBytes, kWordHeaderBytes + 100}) {
    Bytes packet = good;
    packet.resize(size);
    EXPECT_EQ(word_outcome(packet), "trailing_bytes") << size;
  }
}

TEST(WirePaxosWord, SaysWhetherThereWasAVoteInOneWay) {
  Bytes with = packet_of(plain_word());
  Bytes without = no_vote_packet(9);
  for (unsigned said = 0; said < 256; ++said) {
    with[kVotedOffset] = without[kVotedOffset] = static_cast<std::byte>(said);
    const std::string refused = said < 2 ? "" : "bad_value";
    EXPECT_EQ(word_outcome(with), said == 0 ? "trailing_bytes" : said == 1 ? "none" : refused);
    EXPECT_EQ(word_outcome(without), said == 0 ? "none" : said == 1 ? "truncated" : refused);
  }
}

// A WORD that is cut before its value is `truncated`, even if its other fields are wrong. Each cut
// WORD has a memory block of its own, so that a sanitizer detects reads behind its end.
TEST(WirePaxosWord, OfAVoteIsTruncatedInFrontOfTheValue) {
  WordSample sample = plain_word();
  for (const Instance instance : {Instance{12}, Instance{0}}) {
    for (const Round& round : {kSomeRound, Round{}}) {
      sample.frame.instance = instance;
      sample.frame.round = round;
      const Bytes whole = packet_of(sample);
      for (std::size_t size = 0; size < kWordHeaderBytes; ++size) {
        Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        part.shrink_to_fit();
        EXPECT_EQ(word_outcome(part), "truncated") << size;
      }
    }
  }
}

}  // namespace
}  // namespace peal::wire::test
