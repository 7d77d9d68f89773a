// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

/// Reads the key `domain`, such as domain=1 or domain=1,3. Without the key: all nodes.
DomainSet read_destinations(Tokenizer& words) {
  DomainSet domains;
  const std::string text = words.value("domain").value_or("0");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::uint32_t domain = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, domain);
    if (error != std::errc() || stop != text.data() + end || domain > kDomainMax) {
      words.fail("domain=" + text + ": accepted are numbers from 0 to " +
                 std::to_string(kDomainMax) + ", such as 1,3");
      return {};
    }
    domains.add(static_cast<order::Domain>(domain));
    at = end + 1;
  }
  return domains;
}

/// Checks that the node may send to these domains.
void check_destinations(const World& world, NodeId node, DomainSet domains, Tokenizer& words) {
  const order::Descriptor& engine = world.options().engine.engine();
  if (domains.size() > 1 && !engine.traits.genuine) {
    return words.fail("with the engine " + std::string(engine.name) +
                      " a message goes to one domain");
  }
  const auto& own = world.domains().of(node);
  for (const order::Domain domain : domains) {
    const bool known = domain <= world.options().domains.size();
    const bool is_own = std::find(own.begin(), own.end(), domain) != own.end();
    if (!(engine.traits.genuine ? known : is_own)) {
      return words.fail(engine.traits.genuine
                            ? "there is no domain " + std::to_string(domain)
                            : "a node is not in domain " + std::to_string(domain));
    }
  }
}

void do_submit(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const Service service = read_service(words);
  std::optional<std::string> text;
  words.take_keys();
  const bool sized = words.has("size");
  const std::uint64_t size = words.number("size", 0, 0, 1U << 30);
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  const DomainSet domains = read_destinations(words);
  if (!sized) text = words.text();
  if (!context.acting(words)) return;
  World& world = context.world();
  for (const NodeId node : nodes) check_destinations(world, node, domains, words);
  if (words.failed()) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const NodeId node : nodes) {
      world.submit(node, service, text ? *text : world.loads().payload(node, size), domains);
    }
  }
}

void do_load(ScenarioContext& context, Tokenizer& words) {
  if (words.accept("stop")) {
    if (context.acting(words)) context.world().loads().stop();
    return;
  }
  words.take_keys();
  Load load;
  load.nodes = words.nodes("nodes", context.all_nodes());
  load.rate = words.fraction("rate", load.rate, 1e7);
  const auto size = words.range("size", {load.size_low, load.size_high});
  const auto large = words.range("large-size", {load.large_low, load.large_high});
  load.size_low = static_cast<std::uint32_t>(size.first);
  load.size_high = static_cast<std::uint32_t>(size.second);
  load.large_low = static_cast<std::uint32_t>(large.first);
  load.large_high = static_cast<std::uint32_t>(large.second);
  load.large = words.fraction("large", load.large);
  load.safe = words.fraction("safe", load.safe);
  load.causal = words.fraction("causal", load.causal);
  load.burst = static_cast<std::uint32_t>(words.number("burst", load.burst, 1, 100'000));
  const Duration length = words.duration("for", seconds(1'000'000));
  if (load.rate <= 0) words.fail("a load needs a rate above 0");
  if (!context.acting(words)) return;
  load.until = context.now() + length;
  context.world().loads().add(load);
}

constexpr std::array kSendVerbs{
    Verb{"submit", do_submit,
         "submit NODES SERVICE \"text\" [domain=1], or submit NODES SERVICE size=1000 "
         "[count=50] [domain=1]"},
    Verb{"load", do_load,
         "load rate=1000 [nodes=n1,n2] [size=8-200] [large=0.01] [large-size=2000-20000] "
         "[safe=0.3] [causal=0] [burst=1] [for=2s], or load stop"},
};

}  // namespace

Service read_service(Tokenizer& words) {
  const std::string name = words.take("a service");
  if (name == "safe") return Service::safe;
  if (name == "causal") return Service::causal;
  if (name == "fifo") return Service::fifo;
  if (name != "agreed") words.fail("'" + name + "' is no service: safe, agreed, causal or fifo");
  return Service::agreed;
}

std::span<const Verb> send_verbs() { return kSendVerbs; }

}  // namespace peal::sim
