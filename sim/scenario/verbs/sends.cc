// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

void do_submit(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const Service service = read_service(words);
  std::optional<std::string> text;
  words.take_keys();
  const bool sized = words.has("size");
  const std::uint64_t size = words.number("size", 0, 0, 1U << 30);
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  const auto domain = static_cast<order::Domain>(words.number("domain", 0, 0, trace::kDomainMax));
  if (!sized) text = words.text();
  if (!context.acting(words)) return;
  World& world = context.world();
  for (const NodeId node : nodes) {
    const auto& own = world.domains().of(node);
    if (std::find(own.begin(), own.end(), domain) != own.end()) continue;
    return words.fail("a node is not in domain " + std::to_string(domain));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const NodeId node : nodes) {
      world.submit(node, service, text ? *text : world.loads().payload(node, size), domain);
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
