// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

void client_sends(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes,
                  const std::vector<std::string>& clients) {
  ClientWish wish;
  wish.targets = words.names("groups and private names");
  const Service service = read_service(words);
  wish.self_discard = words.accept("self-discard");
  words.take_keys();
  const bool sized = words.has("size");
  const std::uint64_t size = words.number("size", 0, 0, 1U << 30);
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  std::optional<std::string> text;
  if (!sized) text = words.text();
  if (!context.acting(words)) return;
  World& world = context.world();
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const NodeId node : nodes) {
      for (const std::string& client : clients) {
        wish.client = client;
        world.submit(node, service, text ? *text : world.loads().payload(node, size), {}, wish);
      }
    }
  }
}

void do_client(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const std::vector<std::string> clients = words.names("names of clients");
  const std::string verb = words.take("what they do");
  if (!context.cluster().groups) words.fail("there are clients in a cluster with groups=yes only");
  ClientWish wish;
  std::vector<std::string> groups{""};
  if (verb == "send") {
    client_sends(context, words, nodes, clients);
    return;
  }
  if (verb == "connect") {
    wish.kind = ClientWish::Kind::connect;
  } else if (verb == "disconnect") {
    wish.kind = ClientWish::Kind::disconnect;
  } else if (verb == "join" || verb == "leave") {
    wish.kind = verb == "join" ? ClientWish::Kind::join : ClientWish::Kind::leave;
    groups = words.names("names of groups");
  } else {
    words.fail("'" + verb + "': accepted is connect, disconnect, join, leave or send");
  }
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    for (const std::string& client : clients) {
      for (const std::string& group : groups) {
        wish.client = client;
        wish.targets = {group};
        context.world().submit(node, Service::agreed, {}, {}, wish);
      }
    }
  }
}

void check_group(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::vector<std::string> groups = words.names("names of groups");
  const std::string wanted = words.text();
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    for (const std::string& group : groups) {
      const std::string found = process == nullptr || process->clients == nullptr
                                    ? "nothing, as there is no table"
                                    : process->clients->members_text(group);
      if (found == wanted) continue;
      context.fail(nodes_text({node}) + " has \"" + found + "\" in " + group);
      return;
    }
  }
}

/// Checks whether clients got a message or a gap. The group name "" means a gap in the messages to
/// the client's private name.
void check_client(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::vector<std::string> clients = words.names("names of clients");
  const bool no_gap = words.accept("no-gap");
  const bool gap = no_gap || words.accept("gap");
  const bool wanted = !no_gap && (gap || words.accept("got"));
  if (!gap && !wanted) words.expect("missed");
  const std::string text = words.text();
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    for (const std::string& client : clients) {
      const ClientSide* side = process == nullptr ? nullptr : process->clients.get();
      const bool was = side != nullptr &&
                       (gap ? side->was_told_of_gap(client, text) : side->was_given(client, text));
      if (was == wanted) continue;
      const std::string what = gap ? (wanted ? " was not told of a gap" : " was told of a gap")
                                   : (wanted ? " did not get it" : " got it");
      context.fail(client + " at " + nodes_text({node}) + what);
      return;
    }
  }
}

constexpr std::array kClientVerbs{
    Verb{"client", do_client,
         "client NODES NAMES connect|disconnect, client NODES NAMES join|leave GROUPS, or "
         "client NODES NAMES send TARGETS SERVICE [self-discard] \"text\"|size=1000 [count=50]"},
};

constexpr std::array kClientChecks{
    NodeCheck{"group", check_group, "expect NODES group GROUPS \"x@n1 y@n2\""},
    NodeCheck{"client", check_client,
              "expect NODES client NAMES got|missed \"text\", or expect NODES client NAMES "
              "gap|no-gap \"group\""},
};

}  // namespace

std::span<const Verb> client_verbs() { return kClientVerbs; }
std::span<const NodeCheck> client_checks() { return kClientChecks; }

}  // namespace peal::sim
