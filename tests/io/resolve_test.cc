// SPDX-License-Identifier: Apache-2.0
#include "io/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace peal::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Endpoint v6(std::uint8_t last, std::uint16_t port) {
  Endpoint endpoint;
  endpoint.ip[0] = 0xfd;
  endpoint.ip[15] = last;
  endpoint.port = port;
  return endpoint;
}

TEST(HostPort, ReadsNamesAndNumbers) {
  const std::tuple<std::string, std::string, std::uint16_t> cases[] = {
      {"node-1.example:4900", "node-1.example", 4'900},
      {"peal_nodes:1", "peal_nodes", 1},
      {"10.0.0.1:65535", "10.0.0.1", 65'535},
      {"[fd00::1]:4900", "fd00::1", 4'900},
      {"name", "name", 77},
      {"10.0.0.1", "10.0.0.1", 77},
      {"[fd00::1]", "fd00::1", 77},
      {"[FD00:0::1]:1", "fd00::1", 1},  // in canonical form
      {"node-1.example.:1", "node-1.example.", 1},
      {"4.node:1", "4.node", 1},
  };
  for (const auto& [text, host, port] : cases) {
    const auto parsed = parse_host_port(text, 77);
    ASSERT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->host, host);
    EXPECT_EQ(parsed->port, port);
    EXPECT_EQ(*parse_host_port(to_string(*parsed), 0), *parsed);
  }
}

TEST(HostPort, RefusesEverythingElse) {
  const std::string long_name(254, 'x');
  for (const std::string text : {"",
                                 ":",
                                 ":1",
                                 "name:",
                                 "name:0",
                                 "name:65536",
                                 "name:-1",
                                 "name:1x",
                                 "name:port",
                                 "na me:1",
                                 "name/x:1",
                                 "-name:1",
                                 "a:b:1",
                                 "fd00::1",
                                 "fd00::1:4900",
                                 "[fd00::1",
                                 "[]:1",
                                 "[fd00::1]x",
                                 "[fd00::1]:",
                                 "[fd00::1]1",
                                 "[10.0.0.1]:1",
                                 "[name]:1",
                                 "10.0.0.256:1",
                                 "10.0.0:1",
                                 "10.0.0.01:1",
                                 "name.7:1",
                                 "7:1",
                                 "name.7.:1",
                                 "name:01",
                                 "name\n:1",
                                 "n\xc3\xa4me:1"}) {
    const auto parsed = parse_host_port(text, 77);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, Errc::invalid_option);
  }
  EXPECT_FALSE(parse_host_port(long_name, 77).has_value());
  EXPECT_FALSE(parse_host_port(std::string("10.0.0.1\0x:1", 12), 77).has_value());
  EXPECT_THAT(parse_host_port("name", 0).error().message, HasSubstr("the port is missing"));
}

TEST(SystemResolver, AsksNobodyAboutNumbers) {
  SystemResolver resolver(seconds(60), [](const HostPort&) -> SystemResolver::Answer {
    ADD_FAILURE() << "asked";
    return std::vector<Endpoint>{};
  });
  const auto found = resolver.look_up({"10.0.0.1", 4'900});
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(Endpoint::v4(10, 0, 0, 1, 4'900)));
  EXPECT_THAT(*resolver.look_up({"fd00::1", 1}), ElementsAre(v6(1, 1)));
}

TEST(SystemResolver, KnowsThisMachine) {
  SystemResolver resolver(seconds(60));
  const auto found = resolver.look_up({"localhost", 4'900});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->front().port, 4'900);
}

TEST(SystemResolver, GivesEachAddressOnceInOneOrder) {
  SystemResolver resolver(seconds(60), [](const HostPort& name) -> SystemResolver::Answer {
    return std::vector<Endpoint>{v6(2, name.port), Endpoint::v4(10, 0, 0, 2, name.port),
                                 v6(1, name.port), Endpoint::v4(10, 0, 0, 1, name.port),
                                 Endpoint::v4(10, 0, 0, 2, name.port)};
  });
  EXPECT_THAT(
      *resolver.look_up({"nodes", 7}),
      ElementsAre(Endpoint::v4(10, 0, 0, 1, 7), Endpoint::v4(10, 0, 0, 2, 7), v6(1, 7), v6(2, 7)));
}

TEST(SystemResolver, CutsAnEndlessAnswerOff) {
  SystemResolver resolver(seconds(60), [](const HostPort&) -> SystemResolver::Answer {
    std::vector<Endpoint> all;
    for (int i = 0; i < 1'000; ++i) {
      all.push_back(
          Endpoint::v4(10, 0, static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i), 1));
    }
    return all;
  });
  EXPECT_THAT(*resolver.look_up({"nodes", 1}), SizeIs(Resolver::kAddressesMax));
}

TEST(SystemResolver, PassesErrorsOn) {
  SystemResolver empty(seconds(60), [](const HostPort&) -> SystemResolver::Answer {
    return std::vector<Endpoint>{};
  });
  EXPECT_EQ(empty.look_up({"nobody", 1}).error().code, Errc::invalid_option);
  EXPECT_THAT(empty.look_up({"nobody", 1}).error().message, HasSubstr("look up \"nobody\""));
  SystemResolver broken(seconds(60), [](const HostPort&) -> SystemResolver::Answer {
    return unexpected(IoError{Errc::system, "out of order"});
  });
  EXPECT_EQ(broken.look_up({"nobody", 1}).error().message, "out of order");
}

TEST(SystemResolver, WaitsNoLongerThanItsPatienceAndAsksNoMoreThanItMay) {
  // Queries get their answers only when the test sets `release`.
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  const auto ended = std::make_shared<std::atomic<int>>(0);
  SystemResolver resolver(milliseconds(1),
                          [released, ended](const HostPort&) -> SystemResolver::Answer {
                            released.wait();
                            ended->fetch_add(1);
                            return std::vector<Endpoint>{Endpoint::v4(10, 0, 0, 1, 1)};
                          });
  for (int i = 0; i < SystemResolver::kQuestionsMax; ++i) {
    const auto found = resolver.look_up({"slow", 1});
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Errc::would_block);
    EXPECT_THAT(found.error().message, HasSubstr("no answer after 1 ms"));
  }
  const auto refused = resolver.look_up({"slow", 1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("4 questions wait for an answer already"));
  release.set_value();
  // Once the slow queries are answered, new queries are accepted.
  SystemResolver patient(seconds(60), [](const HostPort&) -> SystemResolver::Answer {
    return std::vector<Endpoint>{Endpoint::v4(10, 0, 0, 1, 1)};
  });
  while (!patient.look_up({"quick", 1})) {
  }
  while (ended->load() < SystemResolver::kQuestionsMax) {
  }
}

}  // namespace
}  // namespace peal::io
