// SPDX-License-Identifier: Apache-2.0
// Which options of `peal up` and `peal bench` do not go together.
#include <string>

#include "cli/arguments_builder.h"

namespace peal::cli {
namespace {

/// Why --dissemination, --ensembles or --merge is not possible with the engine, or with each other,
/// in one line; empty if all are possible.
template <class Command>
std::string ensembles_conflict(const Command& c) {
  const char* given = c.options.get(kDissemination) ? "--dissemination"
                      : c.options.get(kEnsembles)   ? "--ensembles"
                      : c.options.get(kMerge)       ? "--merge"
                                                    : nullptr;
  if (given != nullptr && !c.order->traits.ensembles) {
    return std::string(given) + " does not go with --order " + std::string(c.order->name) +
           leave_out_or_say(engines_with(&order::Traits::ensembles, "--order "));
  }
  if (!is_rotation(c.options) || ensembles_of(c.options) > 1) return {};
  return "--merge rotation does not go with one ensemble: leave it out, or say --ensembles 2 or "
         "more";
}

std::string optimistic_conflict(const BenchCommand& c) {
  if (!is_optimistic(c.options)) return {};
  if (!c.order->traits.ensembles) {
    return "--optimistic does not go with --order " + std::string(c.order->name) +
           leave_out_or_say(engines_with(kOptimistic, "--order "));
  }
  if (ensembles_of(c.options) > 1) {
    return "--optimistic does not go with several --ensembles, which make no guess: leave out one "
           "of them";
  }
  if (!c.daemon) return {};
  return "--optimistic does not go with --daemon, whose clients are told nothing early: leave out "
         "one of them";
}

/// Why --domains or --fabric is not possible; empty if they are.
template <class Command>
std::string genuine_conflict(const Command& c) {
  const char* given = c.domains > 1 ? "--domains" : c.options.get(kFabric) ? "--fabric" : nullptr;
  if (given != nullptr && !c.order->traits.genuine) {
    return std::string(given) + " does not go with --order " + std::string(c.order->name) +
           leave_out_or_say(engines_with(&order::Traits::genuine, "--order "));
  }
  return {};
}

/// Why the nodes cannot be divided into the domains; empty if they can.
std::string division_conflict(std::uint32_t domains, std::uint32_t nodes,
                              const order::Descriptor& order) {
  if (!order.traits.genuine) return {};
  const std::string given = "--domains = \"" + std::to_string(domains) + "\" ";
  if (nodes % domains != 0 || nodes < domains) {
    return given + "does not divide " + counted(nodes, "node") +
           " into domains of equal size: accepted is a divisor of the number of nodes";
  }
  if (nodes / domains <= order.traits.domain_nodes_most) return {};
  return given + "makes domains of " + counted(nodes / domains, "node") + ": accepted are up to " +
         std::to_string(order.traits.domain_nodes_most);
}

std::string acceptors_conflict(const BenchCommand& c) {
  if (!c.acceptors) return {};
  const std::string given = "--acceptors = \"" + std::to_string(*c.acceptors) + "\" ";
  if (!c.order->traits.has_acceptors()) {
    return given + "does not go with --order " + std::string(c.order->name) + ", which has none" +
           leave_out_or_say(engines_that(has_acceptors, "--order "));
  }
  if (*c.acceptors <= c.nodes) return {};
  return given + "is more than there are nodes: accepted is an odd whole number up to --nodes, " +
         std::to_string(c.nodes);
}

/// Why options of an engine with genuine multicast are not possible; empty if they are.
std::string bench_genuine_conflict(const BenchCommand& c) {
  if (std::string wrong = genuine_conflict(c); !wrong.empty()) return wrong;
  const char* given = c.outside ? "--outside" : c.poll ? "--poll" : nullptr;
  if (given != nullptr && !c.order->traits.genuine) {
    return std::string(given) + " does not go with --order " + std::string(c.order->name) +
           leave_out_or_say(engines_with(&order::Traits::genuine, "--order "));
  }
  const bool members = c.outside || c.poll || c.domains > 1;
  if (members && (c.daemon || c.own_thread)) {
    return std::string(c.daemon ? "--daemon" : "--thread own") +
           " does not go with --domains, --outside and --poll: leave out one of them";
  }
  if (c.options.get(kFabric) && c.table == c.order) {
    return "--fabric does not go with --" + std::string(c.order->name) +
           ", which has the key fabric as well: leave out one of them";
  }
  if (c.poll.value_or(0) > c.nodes) {
    return "--poll = \"" + std::to_string(*c.poll) + "\": accepted is up to --nodes, " +
           std::to_string(c.nodes);
  }
  if (c.outside && c.nodes < 2) return "--outside needs two nodes: accepted is --nodes from 2";
  return division_conflict(c.domains, c.nodes - (c.outside ? 1 : 0), *c.order);
}

}  // namespace

std::string storage_conflict(const order::Descriptor& order, const order::OptionValues& options) {
  if (!options.get(kStorage)) return {};
  if (!order.traits.has_acceptors()) {
    return "--storage does not go with --order " + std::string(order.name) +
           ", which has no acceptors" + leave_out_or_say(engines_with(kStorage, "--order "));
  }
  if (!is_in_memory(options) || ensembles_of(options) == 1) return {};
  return "--storage memory does not go with --ensembles: leave out one of them";
}

std::string data_conflict(const order::Descriptor& order, bool streams) {
  if (!streams || order.traits.streams) return {};
  return "--data streams does not go with --order " + std::string(order.name) +
         ", which needs multicast" +
         leave_out_or_say(engines_with(&order::Traits::streams, "--order "));
}

std::string up_conflict(const UpCommand& c) {
  if (std::string wrong = genuine_conflict(c); !wrong.empty()) return wrong;
  if (std::string wrong = division_conflict(c.domains, c.nodes, *c.order); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = ensembles_conflict(c); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = storage_conflict(*c.order, c.options); !wrong.empty()) return wrong;
  return data_conflict(*c.order, c.streams);
}

std::string bench_conflict(const BenchCommand& c) {
  if (c.loopback && c.link_bits_per_s > 0) {
    return "--link does not go with --loopback, which has no cables: leave out one of them";
  }
  if (!c.rate.is_max() && c.rate.messages_of(c.payload_bytes) < 1) {
    return "--rate is below one message of " + counted(c.payload_bytes, "byte") +
           " per second: accepted is at least " + decimal(8.0 * c.payload_bytes / 1e3) + "kbit";
  }
  if (c.under_way && !c.rate.is_max()) {
    return "--under-way = \"" + std::to_string(*c.under_way) +
           "\" does not go with --rate, which says itself when to send: leave out one of them, or "
           "say --rate max";
  }
  if (c.table != nullptr && c.table != c.order) {
    return "--" + std::string(c.table->name) + " does not go with --order " +
           std::string(c.order->name) + ": leave out one of them";
  }
  if (std::string wrong = ensembles_conflict(c); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = optimistic_conflict(c); !wrong.empty()) return wrong;
  if (std::string wrong = storage_conflict(*c.order, c.options); !wrong.empty()) return wrong;
  if (std::string wrong = data_conflict(*c.order, c.streams); !wrong.empty()) return wrong;
  if (std::string wrong = acceptors_conflict(c); !wrong.empty()) return wrong;
  if (std::string wrong = bench_genuine_conflict(c); !wrong.empty()) return wrong;
  if (c.daemon && c.own_thread) {
    return "--thread does not go with --daemon, whose nodes have threads of their own: leave out "
           "one of them";
  }
  if (c.daemon && c.loss_percent > 0) {
    return "--loss does not go with --daemon: measure loss with members, without --daemon";
  }
  if (c.limit && c.nodes < 2) {
    return "--limit needs a network: accepted is --nodes from 2 to " +
           std::to_string(kBenchNodesMax);
  }
  if (c.plot.empty()) return {};
  if (!c.plot.ends_with(".png")) {
    return "--plot = " + quote(c.plot) + ": accepted is the path of a file that ends in .png";
  }
  if (!c.rate.is_max()) return "--plot goes through the rates itself: leave out --rate";
  if (c.under_way) return "--plot goes through the rates itself: leave out --under-way";
  if (c.limit) return "--plot does not draw the limit: leave out --limit";
  return {};
}

}  // namespace peal::cli
