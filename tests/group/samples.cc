// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <utility>

namespace peal::group::test {
namespace {

const MemberId kSampleA{NodeId{1}, 1'000};
const MemberId kSampleB{NodeId{2}, 77};

template <class Message>
Sample sample(std::string name, const Message& message) {
  Sample made{std::move(name), {}};
  encode(message, made.bytes);
  return made;
}

Data data(std::initializer_list<std::string_view> targets, std::string_view payload) {
  Data message;
  message.client = {9, "feed"};
  message.type = 0x1234;
  for (const std::string_view target : targets) message.targets.push_back(target);
  message.payload = as_bytes_view(payload);
  return message;
}

}  // namespace

Tables sample_tables() {
  Tables tables;
  tables.view = {12, kSampleA};
  tables.synced = {kSampleA, kSampleB};
  tables.groups = {
      {"asks", {{12, kSampleA}, 1}, false, {{kSampleA, {{1, "x"}, {7, "y"}}}}},
      {"bids", {{11, kSampleB}, 40}, true, {{kSampleA, {{1, "x"}}}, {kSampleB, {{2, "x"}}}}},
      {"orders", {{12, kSampleA}, 2}, false, {{kSampleB, {{2, "x"}, {3, "z"}}}}},
  };
  tables.traffic = sample_traffic();
  return tables;
}

std::vector<Traffic> sample_traffic() {
  ViewTraffic first;
  first.view = {10, kSampleB};
  first.upto = {77, 3};
  first.every_name = true;
  first.late_digest = 99;
  ViewTraffic second;
  second.view = {11, kSampleA};
  second.upto = {9, 1};
  second.names = {{"#x#a", 2}, {"bids", 7}};
  second.late = {{{10, 0}, "asks"}, {{10, 0}, "bids"}, {{12, 5}, "bids"}};
  ViewTraffic third;
  third.view = {11, kSampleB};
  third.late = {{{1, 0}, "orders"}};
  ViewTraffic of_sender;
  of_sender.view = {11, kSampleB};
  of_sender.sender = kSampleA;
  of_sender.upto = {12, 0};
  of_sender.names = {{"#x#a", 2}, {"bids", 9}};
  ViewTraffic vague;
  vague.view = {11, kSampleB};
  vague.sender = kSampleB;
  vague.upto = {3, 0};
  vague.every_name = true;
  return {{0, {}, {first, second, third}},
          {2, {{9, kSampleB}, 5, false, {"#x#a", "bids"}}, {}},
          {3, {{9, kSampleA}, 6, true, {}}, {third}},
          {5, {}, {of_sender, vague}}};
}

std::vector<Sample> samples() {
  const std::string longest(kNameBytesMax, 'n'), client(kClientNameBytesMax, 'c');
  Data discarding = data({"orders"}, "");
  discarding.self_discard = true;
  Tables none;
  none.view = {1, kSampleB};
  none.synced = {kSampleB};
  return {
      sample("join", Join{{1, "c"}, "orders"}),
      sample("join, longest names", Join{{0xffffffff, client}, longest}),
      sample("leave", Leave{{2, "trader 7"}, "orders"}),
      sample("disconnect", Disconnect{{3, "c"}}),
      sample("disconnect, slow", Disconnect{{3, "c"}, wire::ClientCode::slow}),
      sample("data", data({"orders"}, "payload")),
      sample("data, several targets", data({"#x#a", "bids", "orders"}, "payload")),
      sample("data, empty, not to itself", discarding),
      sample("tables", sample_tables()),
      sample("tables without groups", none),
      sample("traffic of domains", DomainTraffic{{12, kSampleA}, sample_traffic()}),
      sample("traffic of no domain", DomainTraffic{{12, kSampleA}, {}}),
      sample("marker", Marker{}),
  };
}

}  // namespace peal::group::test
