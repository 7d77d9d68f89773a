// SPDX-License-Identifier: Apache-2.0
#include "trace/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace peal::trace {
namespace {

constexpr MemberId kA{NodeId{1}, 1763};
constexpr MemberId kB{NodeId{2}, 99};
constexpr ViewId kOld{12, kA};
constexpr ViewId kNew{13, kB};
constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

Names two_names() {
  Names names;
  EXPECT_TRUE(names.set(NodeId{1}, "a"));
  EXPECT_TRUE(names.set(NodeId{2}, "b"));
  return names;
}

Event make(Kind kind) {
  Event event;
  event.kind = kind;
  event.at_ns = 17;
  event.node = kA;
  return event;
}

Event placed(Kind kind) {
  Event event = make(kind);
  event.message = {kA, 42};
  event.view = kOld;
  event.seq = 5;
  event.service = Service::safe;
  if (kind == Kind::deliver || kind == Kind::early) event.hash = 0xc0ffee;
  return event;
}

Event transitional() {
  Event event = make(Kind::view);
  event.transitional = true;
  event.old = kOld;
  event.view = kNew;
  event.members = {kA, kB};
  return event;
}

std::string write(const Event& event) {
  std::string out;
  append_json(out, event, two_names());
  return out;
}

void expect_equal(const Event& a, const Event& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.layer, b.layer);
  EXPECT_EQ(a.at_ns, b.at_ns);
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.service, b.service);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.lines, b.lines);
  EXPECT_EQ(a.view, b.view);
  EXPECT_EQ(a.seq, b.seq);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.transitional, b.transitional);
  EXPECT_EQ(a.old, b.old);
  EXPECT_EQ(a.members, b.members);
  EXPECT_EQ(a.primary, b.primary);
  EXPECT_EQ(a.optimistic, b.optimistic);
  EXPECT_EQ(a.domains, b.domains);
  EXPECT_EQ(a.as_guessed, b.as_guessed);
  EXPECT_EQ(a.set, b.set);
}

void expect_round_trip(const Event& event) {
  std::string line = write(event);
  ASSERT_TRUE(line.ends_with("}\n")) << line;
  line.pop_back();
  ASSERT_EQ(line.find('\n'), std::string::npos);
  Names names = two_names();
  const auto back = parse_json(line, names);
  ASSERT_TRUE(back.has_value()) << back.error() << ": " << line;
  expect_equal(*back, event);
}

std::string error_of(std::string_view line) {
  Names names;
  const auto event = parse_json(line, names);
  return event.has_value() ? "none" : event.error();
}

TEST(Json, WritesProcesses) {
  EXPECT_EQ(write(make(Kind::start)), R"({"at":17,"layer":"order","ev":"start","node":"a.1763"})"
                                      "\n");
  EXPECT_EQ(write(make(Kind::crash)), R"({"at":17,"layer":"order","ev":"crash","node":"a.1763"})"
                                      "\n");
  EXPECT_EQ(write(make(Kind::leave)), R"({"at":17,"layer":"order","ev":"leave","node":"a.1763"})"
                                      "\n");
}

TEST(Json, WritesAndReadsWhatOrders) {
  Event event = make(Kind::start);
  event.engine = "paxos";
  EXPECT_EQ(write(event),
            R"({"at":17,"layer":"order","ev":"start","node":"a.1763","order":"paxos"})"
            "\n");
  expect_round_trip(event);
}

TEST(Json, WritesSubmissions) {
  Event event = make(Kind::submit);
  event.message = {kA, 42};
  event.hash = 0xc0ffee;
  event.bytes = 1200;
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"submit","node":"a.1763",)"
                          R"("msg":"a.1763:42","service":"agreed","hash":"0000000000c0ffee",)"
                          R"("bytes":1200})"
                          "\n");
}

TEST(Json, WritesOriginations) {
  Event event = placed(Kind::originate);
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"originate","node":"a.1763",)"
                          R"("msg":"a.1763:42","view":"12@a.1763","seq":5,"service":"safe"})"
                          "\n");
  event.layer = Layer::unit;
  event.index = 2;
  EXPECT_EQ(write(event), R"({"at":17,"layer":"unit","ev":"originate","node":"a.1763",)"
                          R"("msg":"a.1763:42","view":"12@a.1763","seq":5,"index":2,)"
                          R"("service":"safe","hash":"0000000000000000"})"
                          "\n");
}

TEST(Json, WritesOriginationsOfMessagesThatTheSenderDoesNotDeliver) {
  Event event = placed(Kind::originate);
  event.view = {};
  event.domains = DomainSet::up_to(2);
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"originate","node":"a.1763",)"
                          R"("msg":"a.1763:42","seq":5,"domains":[1,2],"service":"safe"})"
                          "\n");
  expect_round_trip(event);
}

TEST(Json, WritesDeliveries) {
  Event event = placed(Kind::deliver);
  event.transitional = true;
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"deliver","node":"a.1763",)"
                          R"("msg":"a.1763:42","view":"12@a.1763","seq":5,"service":"safe",)"
                          R"("transitional":true,"hash":"0000000000c0ffee"})"
                          "\n");
}

TEST(Json, WritesWhatIsToldEarly) {
  EXPECT_EQ(write(placed(Kind::early)),
            R"({"at":17,"layer":"order","ev":"early","node":"a.1763",)"
            R"("msg":"a.1763:42","view":"12@a.1763","seq":5,"service":"safe",)"
            R"("hash":"0000000000c0ffee"})"
            "\n");
  Event event = placed(Kind::deliver);
  event.as_guessed = true;
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"deliver","node":"a.1763",)"
                          R"("msg":"a.1763:42","view":"12@a.1763","seq":5,"service":"safe",)"
                          R"("as_guessed":true,"hash":"0000000000c0ffee"})"
                          "\n");
  event = make(Kind::start);
  event.engine = "ridge";
  event.optimistic = true;
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"start","node":"a.1763",)"
                          R"("order":"ridge","optimistic":true})"
                          "\n");
}

TEST(Json, WritesDomains) {
  Event event = make(Kind::start);
  event.engine = "ridge";
  event.domains.add(1);
  event.domains.add(15);
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"start","node":"a.1763",)"
                          R"("order":"ridge","domains":[1,15]})"
                          "\n");
  event = placed(Kind::originate);
  event.domains = DomainSet::of(3);
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"originate","node":"a.1763",)"
                          R"("msg":"a.1763:42","view":"12@a.1763","seq":5,"domains":[3],)"
                          R"("service":"safe"})"
                          "\n");
}

TEST(Json, ReadsTheDomainOfEarlierVersions) {
  const auto domains = [](const std::string& key) {
    Names names = two_names();
    const auto event = parse_json(R"({"at":17,"layer":"order","ev":"originate","node":"a.1763",)"
                                  R"("msg":"a.1763:42","view":"12@a.1763","seq":5,)" +
                                      key + R"("service":"safe"})",
                                  names);
    return event ? event->domains : DomainSet::of(15);
  };
  EXPECT_EQ(domains(R"("domain":3,)"), DomainSet::of(3));
  EXPECT_EQ(domains(R"("domain":0,)"), DomainSet());
  EXPECT_EQ(domains(""), DomainSet());
  EXPECT_EQ(domains(R"("domains":[2,1],)"), DomainSet::up_to(2));
}

TEST(Json, WritesViews) {
  Event event = make(Kind::view);
  event.view = kNew;
  event.members = {kA, kB};
  event.primary = Claim::no;
  EXPECT_EQ(write(event), R"({"at":17,"layer":"order","ev":"view","node":"a.1763",)"
                          R"("view":"13@b.99","kind":"regular","members":["a.1763","b.99"],)"
                          R"("primary":false})"
                          "\n");
  EXPECT_EQ(write(transitional()),
            R"({"at":17,"layer":"order","ev":"view","node":"a.1763",)"
            R"("view":"12@a.1763>13@b.99","kind":"transitional","old":"12@a.1763",)"
            R"("new":"13@b.99","members":["a.1763","b.99"]})"
            "\n");
}

TEST(Json, SaysHowManyLinesAreMissing) {
  Event lost = make(Kind::lost);
  lost.lines = 12;
  EXPECT_EQ(write(lost), R"({"at":17,"layer":"order","ev":"lost","node":"a.1763","lines":12})"
                         "\n");
  expect_round_trip(lost);
}

TEST(Json, ReadsBackEveryKindOfLine) {
  for (const Layer layer : {Layer::unit, Layer::order}) {
    for (const Kind kind : {Kind::start, Kind::crash, Kind::leave}) {
      Event event = make(kind);
      event.layer = layer;
      expect_round_trip(event);
    }
    for (const Service service : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
      Event event = placed(Kind::deliver);
      event.layer = layer;
      event.service = service;
      expect_round_trip(event);
      event.transitional = true;
      event.seq = 0;  // a causal message without a place
      expect_round_trip(event);
      event = placed(Kind::originate);
      event.layer = layer;
      event.service = service;
      if (layer == Layer::unit) event.hash = 0xfedcba9876543210;
      expect_round_trip(event);
    }
    for (const Claim claim : {Claim::absent, Claim::yes, Claim::no}) {
      Event event = make(Kind::view);
      event.layer = layer;
      event.view = kNew;
      event.members = {kB};
      event.primary = claim;
      expect_round_trip(event);
      event = transitional();
      event.layer = layer;
      event.primary = claim;
      expect_round_trip(event);
    }
  }
}

TEST(Json, ReadsBackExtremes) {
  Event event = make(Kind::submit);
  event.at_ns = std::numeric_limits<std::int64_t>::min();
  event.node = {NodeId{2}, kMax};
  event.message = {{NodeId{2}, kMax}, kMax};
  event.hash = kMax;
  event.bytes = kMax;
  expect_round_trip(event);
  event = placed(Kind::deliver);
  event.at_ns = std::numeric_limits<std::int64_t>::max();
  event.message = {{NodeId{2}, 0}, 0};
  event.view = {kMax, {NodeId{2}, kMax}};
  event.seq = kMax;
  event.index = std::numeric_limits<std::uint32_t>::max();
  expect_round_trip(event);
  event = make(Kind::view);
  event.at_ns = 0;
  event.view = {0, kA};
  expect_round_trip(event);
  for (std::uint32_t i = 1; i <= 128; ++i) event.members.push_back({NodeId{1 + i % 2}, i});
  expect_round_trip(event);
}

TEST(Json, ReadsBackRandomEvents) {
  Random random(7);
  for (int i = 0; i < 2'000; ++i) {
    Event event;
    event.kind = static_cast<Kind>(random.below(9));
    event.layer = static_cast<Layer>(random.below(2));
    event.at_ns = static_cast<std::int64_t>(random.next());
    const auto member = [&] {
      return MemberId{NodeId{static_cast<std::uint32_t>(1 + random.below(2))}, random.next()};
    };
    event.node = member();
    if (event.kind == Kind::start) event.optimistic = random.below(2) == 0;
    if (event.kind == Kind::start) {
      event.domains = DomainSet::of_bits(static_cast<std::uint32_t>(random.next()));
    }
    if (event.kind == Kind::submit || event.kind == Kind::originate ||
        event.kind == Kind::deliver || event.kind == Kind::early) {
      event.message = {member(), random.next()};
      event.service = static_cast<Service>(random.below(4));
      event.domains = DomainSet::of_bits(static_cast<std::uint32_t>(random.next()));
    }
    if (event.kind == Kind::originate || event.kind == Kind::deliver || event.kind == Kind::early) {
      event.view = {random.next(), member()};
      event.seq = random.next();
      event.index = static_cast<std::uint32_t>(random.below(3));
    }
    if (event.kind == Kind::submit || event.kind == Kind::deliver || event.kind == Kind::early ||
        (event.kind == Kind::originate && event.layer == Layer::unit)) {
      event.hash = random.next();
    }
    if (event.kind == Kind::submit) event.bytes = random.next();
    if (event.kind == Kind::lost) event.lines = random.next();
    if (event.kind == Kind::deliver) event.transitional = random.below(2) == 0;
    if (event.kind == Kind::deliver) event.as_guessed = random.below(2) == 0;
    if (event.kind == Kind::deliver && random.below(2) == 0) event.set = random.next();
    if (event.kind == Kind::view) {
      event.transitional = random.below(2) == 0;
      event.view = {random.next(), member()};
      if (event.transitional) event.old = {random.next(), member()};
      for (std::uint64_t n = random.below(4); n > 0; --n) event.members.push_back(member());
      event.primary = static_cast<Claim>(random.below(3));
    }
    expect_round_trip(event);
  }
}

TEST(Json, GivesNewNamesIds) {
  Names names;
  const auto event = parse_json(
      R"({"at":1,"layer":"order","ev":"view","node":"x.y.7","view":"1@z.2","kind":"regular",)"
      R"("members":["z.2","x.y.7"]})",
      names);
  ASSERT_TRUE(event.has_value()) << event.error();
  EXPECT_EQ(event->node, (MemberId{NodeId{1}, 7}));
  EXPECT_EQ(names.name(NodeId{1}), "x.y");
  EXPECT_EQ(event->view.representative, (MemberId{NodeId{2}, 2}));
}

TEST(Json, WritesAndReadsNodesWithoutNames) {
  std::string line;
  append_json(line, make(Kind::start), Names());
  EXPECT_NE(line.find("\"#1.1763\""), std::string::npos);
  line.pop_back();
  Names names;
  const auto back = parse_json(line, names);
  ASSERT_TRUE(back.has_value()) << back.error();
  EXPECT_EQ(back->node, kA);
}

TEST(Json, IgnoresUnknownKeysSpacesAndOrder) {
  Names names;
  const auto event = parse_json(
      R"( { "node" : "a.1", "more" : {"x": [1, null]}, "ev":"start", "layer":"unit", "at":-5 } )",
      names);
  ASSERT_TRUE(event.has_value()) << event.error();
  EXPECT_EQ(event->kind, Kind::start);
  EXPECT_EQ(event->layer, Layer::unit);
  EXPECT_EQ(event->at_ns, -5);
}

TEST(Json, RefusesWhatIsNotAnObject) {
  EXPECT_EQ(error_of(""), "the line is not JSON");
  EXPECT_EQ(error_of("{"), "the line is not JSON");
  EXPECT_EQ(error_of(R"({"at":1} x)"), "the line is not JSON");
  EXPECT_EQ(error_of("{\"node\":\"\xff\"}"), "the line is not JSON");
  EXPECT_EQ(error_of("[]"), "the line is not a JSON object");
  EXPECT_EQ(error_of("7"), "the line is not a JSON object");
  EXPECT_EQ(error_of(std::string(kLineBytesMax + 1, ' ')), "the line is too long");
}

TEST(Json, SaysWhichKeyIsMissing) {
  const std::string lines[] = {
      R"("at":1)",       R"("layer":"order")",  R"("ev":"deliver")",
      R"("node":"a.1")", R"("msg":"a.1:1")",    R"("view":"1@a.1")",
      R"("seq":1)",      R"("service":"safe")", R"("hash":"0000000000000000")"};
  const char* const keys[] = {"at", "layer", "ev", "node", "msg", "view", "seq", "service", "hash"};
  for (std::size_t left_out = 0; left_out < std::size(keys); ++left_out) {
    std::string line;
    for (std::size_t i = 0; i < std::size(keys); ++i) {
      if (i != left_out) line += (line.empty() ? "{" : ",") + lines[i];
    }
    EXPECT_EQ(error_of(line + "}"), std::string("key '") + keys[left_out] + "' is missing");
  }
}

TEST(Json, SaysWhatIsWrongWithAValue) {
  const std::string head = R"({"at":1,"layer":"order","node":"a.1","ev":)";
  const std::string deliver = head + R"("deliver","msg":"a.1:1","service":"safe",)";
  const std::string submit = head + R"("submit","msg":"a.1:1","service":"safe",)";
  const std::string view = head + R"("view","kind":"regular","view":"1@a.1",)";
  const std::pair<std::string, const char*> cases[] = {
      {R"({"at":1,"layer":"order","ev":"foo","node":"a.1"})", "unknown ev 'foo'"},
      {R"({"at":1,"layer":"x","ev":"start","node":"a.1"})", "unknown layer 'x'"},
      {head + R"("start","order":"Ring 2"})", "key 'order' is 'Ring 2', not the name of an engine"},
      {head + R"("start","order":""})", "key 'order' is '', not the name of an engine"},
      {head + R"("start","order":1})", "key 'order' is not a string"},
      {head + R"("start","domains":1})", "key 'domains' is not a list"},
      {head + R"("start","domains":[0]})",
       "key 'domains' has an item that is not a number from 1 to 15"},
      {head + R"("start","domains":[16]})",
       "key 'domains' has an item that is not a number from 1 to 15"},
      {head + R"("start","domains":["a"]})",
       "key 'domains' has an item that is not a number from 1 to 15"},
      {head + R"("submit","msg":"a.1:1","service":"safe","domain":16})",
       "key 'domain' is too large"},
      {R"({"at":1,"layer":7,"ev":"start","node":"a.1"})", "key 'layer' is not a string"},
      {R"({"at":"1","layer":"unit","ev":"start","node":"a.1"})",
       "key 'at' is not a whole number of nanoseconds"},
      {R"({"at":1.5,"layer":"unit","ev":"start","node":"a.1"})",
       "key 'at' is not a whole number of nanoseconds"},
      {R"({"at":9223372036854775808,"layer":"unit","ev":"start","node":"a.1"})",
       "key 'at' is not a whole number of nanoseconds"},
      {R"({"at":1,"layer":"unit","ev":"start","node":"a"})",
       "key 'node' is 'a', not a member id such as 'a.1763'"},
      {R"({"at":1,"layer":"unit","ev":"start","node":"a.01"})",
       "key 'node' is 'a.01', not a member id such as 'a.1763'"},
      {R"({"at":1,"layer":"unit","ev":"start","node":"a.-1"})",
       "key 'node' is 'a.-1', not a member id such as 'a.1763'"},
      {R"({"at":1,"layer":"unit","ev":"start","node":"a.18446744073709551616"})",
       "key 'node' is 'a.18446744073709551616', not a member id such as 'a.1763'"},
      {R"({"at":1,"layer":"unit","ev":"start","node":"a b.1"})",
       "key 'node' is 'a b.1', not the id of a node that can be named"},
      {head + R"("submit","msg":"a.1","service":"safe"})",
       "key 'msg' is 'a.1', not a message id such as 'a.1763:42'"},
      {head + R"("submit","msg":"a:1","service":"safe"})",
       "key 'msg' is 'a', not a member id such as 'a.1763'"},
      {head + R"("submit","msg":"a.1:1","service":"best"})", "unknown service 'best'"},
      {submit + R"("hash":"00","bytes":1})", "key 'hash' is not 16 lower-case hexadecimal digits"},
      {submit + R"("hash":"00C0FFEE00C0FFEE","bytes":1})",
       "key 'hash' is not 16 lower-case hexadecimal digits"},
      {submit + R"("hash":"0000000000000000","bytes":-1})",
       "key 'bytes' is not a whole number from 0"},
      {deliver + R"("view":"1.a","seq":1,"hash":"0000000000000000"})",
       "key 'view' is '1.a', not a view id such as '12@a.1763'"},
      {deliver + R"("view":"1@a.1","seq":1,"index":4294967296,"hash":"0000000000000000"})",
       "key 'index' is too large"},
      {deliver + R"("view":"1@a.1","seq":1,"transitional":1,"hash":"0000000000000000"})",
       "key 'transitional' is neither true nor false"},
      {view + R"("members":"a.1"})", "key 'members' is not a list"},
      {view + R"("members":["a.1",2]})", "key 'members' has an item that is not a string"},
      {view + R"("members":["a.1","b"]})",
       "key 'members' is 'b', not a member id such as 'a.1763'"},
      {view + R"("members":["a.1"],"primary":null})", "key 'primary' is neither true nor false"},
      {head + R"("view","kind":"odd","view":"1@a.1","members":[]})", "unknown kind 'odd'"},
      {head + R"("view","kind":"transitional","view":"1@a.1","members":[]})",
       "key 'view' is '1@a.1', not a transitional view id such as '12@a.1763>13@b.99'"},
      {head + R"("view","kind":"transitional","view":"1@a.1>2@a.1","old":"3@a.1","new":"2@a.1"})",
       "keys 'old' and 'new' do not agree with 'view'"},
  };
  for (const auto& [line, error] : cases) EXPECT_EQ(error_of(line), error) << line;
}

TEST(Json, ShortensWhatItQuotes) {
  const std::string error =
      error_of(R"({"at":1,"layer":"unit","ev":")" + std::string(500, 'x') + R"(","node":"a.1"})");
  EXPECT_EQ(error, "unknown ev '" + std::string(64, 'x') + "...'");
}

// A damaged line gives an event, or an error with a text.
TEST(Json, SurvivesDamagedLines) {
  Random random(11);
  std::string good = write(placed(Kind::deliver)) + write(transitional());
  std::size_t refused = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string line = i % 2 == 0 ? write(placed(Kind::deliver)) : write(transitional());
    line.pop_back();
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      const std::size_t at = random.below(line.size());
      switch (random.below(3)) {
        case 0: line[at] = static_cast<char>(random.below(256)); break;
        case 1: line.erase(at, 1 + random.below(8)); break;
        default: line.insert(at, 1, good[random.below(good.size())]); break;
      }
      if (line.empty()) break;
    }
    Names names;
    const auto event = parse_json(line, names);
    if (event.has_value()) continue;
    ++refused;
    EXPECT_FALSE(event.error().empty());
  }
  EXPECT_GT(refused, 2'500U);
}

TEST(Json, SurvivesDeepNesting) {
  std::string line = R"({"at":1,"layer":"unit","ev":"start","node":"a.1","x":)";
  line += std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(error_of(line), "none");
}

TEST(Names, AreGivenAnewWhoeverHadThem) {
  Names names = two_names();
  names.set({7}, "seven");
  names.replace({8}, "seven");
  EXPECT_EQ(names.name({8}), "seven");
  EXPECT_EQ(names.name({7}), "#7");
  names.replace({8}, "eight");
  EXPECT_EQ(names.name({8}), "eight");
  EXPECT_TRUE(names.set({7}, "seven"));
}

}  // namespace
}  // namespace peal::trace
