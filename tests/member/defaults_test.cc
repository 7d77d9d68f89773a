// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config/schema.h"
#include "member/config.h"

// The public structs agree with the schema of configuration files. A field that an application does
// not set has the default value of its key. The name of an enumerator is the word in a file.

namespace peal::member {
namespace {

config::Settings settings_from(const v0::Config& config) {
  config::Settings settings;
  const auto done = to_settings(config, settings);
  EXPECT_TRUE(done) << done.error();
  return settings;
}

TEST(PublicConfig, DefaultsAreThoseOfTheSchema) {
  const decltype(v0::Config::order) engines[] = {v0::Ring{}, v0::Paxos{}, v0::Ridge{}, v0::Toto{},
                                                 v0::Ramcast{}};
  for (const auto& engine : engines) {
    v0::Config config;
    config.order = engine;
    const config::Settings settings = settings_from(config);
    EXPECT_EQ(settings.own_thread, config::Settings{}.own_thread);
    for (const config::Key<config::Settings>& key : config::keys()) {
      const std::string text = key.get(settings);
      const bool is_engine = key.path() == "order" && engine.index() != 0;
      EXPECT_TRUE(text.empty() || text == key.normal || is_engine) << key.path() << " " << text;
    }
    EXPECT_TRUE(config::validate_engines(settings));
  }
}

std::string text_of(const v0::Config& config, std::string_view path) {
  const config::Settings settings = settings_from(config);
  return config::find_key(path)->get(settings);
}

TEST(PublicConfig, EnumerationsAreTheWordsOfAFile) {
  v0::Config config;
  EXPECT_EQ(text_of(config, "order"), "\"ring\"");
  config.order = v0::Ring{.primary = v0::PrimaryRule::majority};
  EXPECT_EQ(text_of(config, "primary"), "\"majority\"");
  config.multicast = v0::Multicast::off;
  EXPECT_EQ(text_of(config, "network.multicast"), "\"off\"");
  config.multicast = v0::MulticastGroup{"239.192.7.1:4800"};
  EXPECT_EQ(text_of(config, "network.multicast"), "\"239.192.7.1:4800\"");
  config.data = v0::Data::streams;
  EXPECT_EQ(text_of(config, "network.data"), "\"streams\"");
  config.order = v0::Paxos{.acceptors = {1, 2, 3}, .storage = v0::Storage::memory};
  EXPECT_EQ(text_of(config, "order"), "\"paxos\"");
  EXPECT_EQ(text_of(config, "paxos.storage"), "\"memory\"");
  EXPECT_EQ(text_of(config, "paxos.acceptors"), "[1, 2, 3]");
  config.order = v0::Ridge{.dissemination = v0::Dissemination::ring,
                           .ensembles = 3,
                           .merge = v0::Merge::rotation,
                           .optimistic = true};
  EXPECT_EQ(text_of(config, "order"), "\"ridge\"");
  EXPECT_EQ(text_of(config, "ridge.dissemination"), "\"ring\"");
  EXPECT_EQ(text_of(config, "ridge.ensembles"), "3");
  EXPECT_EQ(text_of(config, "ridge.merge"), "\"rotation\"");
  EXPECT_EQ(text_of(config, "ridge.optimistic"), "true");
  config.order = v0::Toto{
      .win = 0.75, .delivery = v0::TotoDelivery::all_ack, .fault = std::chrono::seconds(2)};
  EXPECT_EQ(text_of(config, "order"), "\"toto\"");
  EXPECT_EQ(text_of(config, "toto.win"), "0.75");
  EXPECT_EQ(text_of(config, "toto.delivery"), "\"all-ack\"");
  EXPECT_EQ(text_of(config, "toto.fault_ms"), "2000");
  config.order = v0::Ramcast{.fabric = v0::Fabric::verbs,
                             .verbs_in_clear = true,
                             .poll = v0::Poll::never,
                             .slots = 8,
                             .log_bytes = 65'536,
                             .inline_bytes = 0,
                             .lazy = true,
                             .beat = std::chrono::microseconds(1'500),
                             .suspect = std::chrono::milliseconds(80)};
  EXPECT_EQ(text_of(config, "order"), "\"ramcast\"");
  EXPECT_EQ(text_of(config, "ramcast.fabric"), "\"verbs\"");
  EXPECT_EQ(text_of(config, "ramcast.verbs_in_clear"), "true");
  EXPECT_EQ(text_of(config, "ramcast.poll"), "\"never\"");
  EXPECT_EQ(text_of(config, "ramcast.slots"), "8");
  EXPECT_EQ(text_of(config, "ramcast.log_bytes"), "65536");
  EXPECT_EQ(text_of(config, "ramcast.inline_bytes"), "0");
  EXPECT_EQ(text_of(config, "ramcast.lazy"), "true");
  EXPECT_EQ(text_of(config, "ramcast.beat_ms"), "1.5");
  EXPECT_EQ(text_of(config, "ramcast.suspect_ms"), "80");
  for (const auto& [fabric, word] :
       {std::pair{v0::Fabric::shm, "\"shm\""}, std::pair{v0::Fabric::tcp, "\"tcp\""}}) {
    config.order = v0::Ramcast{.fabric = fabric};
    EXPECT_EQ(text_of(config, "ramcast.fabric"), word);
  }
  config.order = v0::Ramcast{.poll = v0::Poll::always};
  EXPECT_EQ(text_of(config, "ramcast.poll"), "\"always\"");
  config.order = v0::Ring{.tunables = {{"token_loss_ms", 1.5e3}, {"max_gap", 64}}};
  EXPECT_EQ(text_of(config, "ring.token_loss_ms"), "1500");
  EXPECT_EQ(text_of(config, "ring.max_gap"), "64");
}

}  // namespace
}  // namespace peal::member
