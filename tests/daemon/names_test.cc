// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>

#include "site.h"

// Nodes whose configured addresses are names. A node may return at another IP address.

namespace peal::daemon::test {
namespace {

using testing::HasSubstr;
using wire::RecordKind;

/// A name server in memory. It answers all queries of the nodes.
class NameServers {
 public:
  void set(const std::string& name, const io::Endpoint& at) {
    const std::lock_guard lock(state_->mutex);
    state_->known[name] = at;
  }
  io::LookUp::Question question() const {
    return [state = state_](const io::HostPort& name) -> io::LookUp::Answer {
      const std::lock_guard lock(state->mutex);
      const auto found = state->known.find(name.host);
      if (found == state->known.end()) {
        return unexpected(io::IoError{Errc::invalid_option, "no such name"});
      }
      return std::vector<io::Endpoint>{found->second.with_port(name.port)};
    };
  }

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, io::Endpoint> known;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();  ///< shared with the threads that ask
};

/// Options of node `self` of two nodes, n1.test and n2.test, with the same port.
Options named_options(const Folder& folder, std::uint32_t self, const NameServers& servers) {
  Options options = options_of(folder, self, 2);
  for (auto& node : options.member.nodes) node.address = {node.name + ".test", 6'500};
  options.member.question = servers.question();
  return options;
}

/// An address of this machine that only this process uses.
io::Endpoint at(std::uint32_t number) {
  const Folder unused;
  const auto options = options_of(unused, 1, 1);
  io::Endpoint at = *io::endpoint_of(options.member.nodes[0].address);
  at.ip[13] = static_cast<std::uint8_t>(at.ip[13] + number);  // ip[14], ip[15] name the process
  return at.with_port(6'500);
}

void wait_together(Client& client) {
  while (const auto got = client.until(RecordKind::group_view)) {
    ASSERT_EQ(got->kind, RecordKind::group_view);
    if (got->as<wire::GroupViewEvent>().members.size() == 2) return;
  }
}

TEST(Names, ANodeThatComesBackElsewhereIsFoundThere) {
  Folder folder;
  NameServers servers;
  servers.set("n1.test", at(1));
  servers.set("n2.test", at(2));
  Site first(named_options(folder, 1, servers));
  auto second = std::make_unique<Site>(named_options(folder, 2, servers));
  Client ann(first.socket(), hello_as("ann"));
  auto bob = std::make_unique<Client>(second->socket(), hello_as("bob"));
  ann.join("g");
  bob->join("g");
  wait_together(ann);
  first.wait_address("n2", io::to_string(at(2)));

  bob.reset();
  second.reset();
  servers.set("n2.test", at(3));
  second = std::make_unique<Site>(named_options(folder, 2, servers));
  bob = std::make_unique<Client>(second->socket(), hello_as("bob"));
  bob->join("g");
  wait_together(ann);
  first.wait_address("n2", io::to_string(at(3)));
  ann.send("g", "there you are");
  EXPECT_EQ(bob->message(), "there you are");

  wire::AskRequest ask;
  ask.request = 7;
  ask.what = "addresses";
  ann.say(ask);
  const auto reply = ann.until(RecordKind::reply);
  ASSERT_TRUE(reply && reply->kind == RecordKind::reply);
  EXPECT_THAT(std::string(reply->as<wire::Reply>().text),
              HasSubstr("n2 n2.test:6500 " + io::to_string(at(3))));
}

TEST(Names, AReloadLooksThemUpAgain) {
  Folder folder;
  NameServers servers;
  servers.set("n1.test", at(1));
  Site first(named_options(folder, 1, servers));
  first.wait_address("n2", io::to_string(io::Endpoint{}));
  servers.set("n2.test", at(2));
  EXPECT_TRUE(first.reconfigure(named_options(folder, 1, servers)));
  first.wait_address("n2", io::to_string(at(2)));
}

TEST(Names, ANodeWithoutAnAddressOfItsOwnDoesNotStart) {
  NoOwner nobody;
  Folder folder;
  NameServers servers;
  const auto unknown = Daemon::open(named_options(folder, 1, servers), nobody);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().message, "nodes.address: no such name");
  servers.set("n1.test", io::Endpoint::v4(203, 0, 113, 7, 1));
  const auto foreign = Daemon::open(named_options(folder, 1, servers), nobody);
  ASSERT_FALSE(foreign.has_value());
  EXPECT_THAT(foreign.error().message, HasSubstr("a name with an address of this machine"));
}

}  // namespace
}  // namespace peal::daemon::test
