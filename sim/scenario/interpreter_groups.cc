// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "sim/scenario/interpreter.h"

// Clients of process groups, in scenarios whose cluster has groups=yes.

namespace peal::sim {
namespace {

constexpr std::uint64_t kNamesMost = 10'000;

/// "x" or "x,y" or "x1-x9": the names, in the order written.
std::vector<std::string> names_of(Tokenizer& words, const std::string& text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t dash = part.find('-');
    const std::size_t digits = part.find_first_of("0123456789");
    if (dash == part.npos || digits >= dash) {
      names.push_back(part);
      continue;
    }
    const std::string stem = part.substr(0, digits);
    const bool same_stem = part.compare(dash + 1, stem.size(), stem) == 0;
    Tokenizer first(part.substr(digits, dash - digits), 0);
    Tokenizer last(part.substr(std::min(dash + 1 + stem.size(), part.size())), 0);
    const std::uint64_t low = first.number(0, kNamesMost);
    const std::uint64_t high = last.number(low, kNamesMost);
    if (!same_stem || first.failed() || last.failed()) {
      words.fail("'" + part + "' is no range of names such as x1-x9");
      return {};
    }
    for (std::uint64_t i = low; i <= high; ++i) names.push_back(stem + std::to_string(i));
  }
  return names;
}

}  // namespace

/// client NODES NAMES connect|disconnect | client NODES NAMES join|leave GROUPS |
/// client NODES NAMES send TARGETS SERVICE "text"|size=N [count=N] [self-discard]
void Interpreter::do_client(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const std::vector<std::string> clients = names_of(words, words.take("names of clients"));
  const std::string verb = words.take("what they do");
  if (!world_options_.groups) words.fail("there are clients in a cluster with groups=yes only");
  ClientWish wish;
  std::vector<std::string> groups{""};
  if (verb == "send") {
    client_sends(words, nodes, clients);
    return;
  }
  if (verb == "connect") {
    wish.kind = ClientWish::Kind::connect;
  } else if (verb == "disconnect") {
    wish.kind = ClientWish::Kind::disconnect;
  } else if (verb == "join" || verb == "leave") {
    wish.kind = verb == "join" ? ClientWish::Kind::join : ClientWish::Kind::leave;
    groups = names_of(words, words.take("names of groups"));
  } else {
    words.fail("'" + verb + "': accepted is connect, disconnect, join, leave or send");
  }
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    for (const std::string& client : clients) {
      for (const std::string& group : groups) {
        wish.client = client;
        wish.targets = {group};
        world_->submit(node, Service::agreed, {}, 0, wish);
      }
    }
  }
}

void Interpreter::client_sends(Tokenizer& words, const std::vector<NodeId>& nodes,
                               const std::vector<std::string>& clients) {
  ClientWish wish;
  wish.targets = names_of(words, words.take("groups and private names"));
  const Service service = take_service(words);
  wish.self_discard = words.accept("self-discard");
  words.take_keys();
  const bool sized = words.has("size");
  const std::uint64_t size = words.number("size", 0, 0, 1U << 30);
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  std::optional<std::string> text;
  if (!sized) text = words.text();
  if (!acting(words)) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const NodeId node : nodes) {
      for (const std::string& client : clients) {
        wish.client = client;
        world_->submit(node, service, text ? *text : world_->loads().payload(node, size), 0, wish);
      }
    }
  }
}

/// expect NODES group GROUPS members="x@n1 y@n2"
void Interpreter::expect_group(Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::vector<std::string> groups = names_of(words, words.take("names of groups"));
  const std::string wanted = words.text();
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    for (const std::string& group : groups) {
      const std::string found = process == nullptr || process->clients == nullptr
                                    ? "nothing, as there is no table"
                                    : process->clients->members_text(group);
      if (found == wanted) continue;
      fail(nodes_text({node}) + " has \"" + found + "\" in " + group);
      return;
    }
  }
}

/// expect NODES client NAMES got|missed "text"
/// expect NODES client NAMES gap|no-gap "group", which is empty for messages to the client alone
void Interpreter::expect_client(Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::vector<std::string> clients = names_of(words, words.take("names of clients"));
  const bool no_gap = words.accept("no-gap");
  const bool gap = no_gap || words.accept("gap");
  const bool wanted = !no_gap && (gap || words.accept("got"));
  if (!gap && !wanted) words.expect("missed");
  const std::string text = words.text();
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    for (const std::string& client : clients) {
      const ClientSide* side = process == nullptr ? nullptr : process->clients.get();
      const bool was = side != nullptr &&
                       (gap ? side->was_told_of_gap(client, text) : side->was_given(client, text));
      if (was == wanted) continue;
      const std::string what = gap ? (wanted ? " was not told of a gap" : " was told of a gap")
                                   : (wanted ? " did not get it" : " got it");
      fail(client + " at " + nodes_text({node}) + what);
      return;
    }
  }
}

}  // namespace peal::sim
