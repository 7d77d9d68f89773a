// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/options.h"

#include <array>

#include "order/common_options.h"
#include "wire/frames.h"

namespace peal::order::ramcast {
namespace {

constexpr std::int64_t kMs = 1'000'000;

constexpr std::string_view kPolls[] = {"adaptive", "always", "never"};
constexpr std::string_view kFabrics[] = {"auto", "shm", "tcp", "verbs"};

constexpr std::array kFields{
    field<&Options::fabric>(
        {.key = "ramcast.fabric",
         .words = kFabrics,
         .help =
             "how nodes write into each other's memory. \"shm\": through shared memory, between "
             "processes of one user on one machine. \"verbs\": by RDMA. \"tcp\": over a TCP "
             "connection to a node's own port. \"auto\": with each node the first of shm, verbs "
             "and tcp by which it can be reached"}),
    field<&Options::verbs_in_clear>(
        {.key = "ramcast.verbs_in_clear",
         .help =
             "with a key_file, whether nodes use RDMA all the same. RDMA neither encrypts nor "
             "authenticates what nodes write; use it only if nobody else reaches the network of "
             "the RDMA devices"}),
    field<&Options::poll>(
        {.key = "ramcast.poll",
         .words = kPolls,
         .help =
             "\"always\": the node's thread never sleeps, and keeps one processor busy; messages "
             "take a few microseconds. \"never\": it sleeps as soon as nothing comes, and a node "
             "that writes to it wakes it up. \"adaptive\": it polls for a while before it "
             "sleeps, as long as that saves time"}),
    field<&Options::slots>({.key = "ramcast.slots",
                            .least = 1,
                            .most = 1'024,
                            .drawn_least = 1,
                            .drawn_most = 64,
                            .cluster_wide = true,
                            .help = "messages that one node may have under way: sent, and not yet "
                                    "delivered by all members of their domains"}),
    field<&Options::log_bytes>(
        {.key = "ramcast.log_bytes",
         .least = 16'384,
         .most = 1 << 28,
         .drawn_least = 16'384,
         .drawn_most = 1 << 18,
         .cluster_wide = true,
         .help = "bytes of the memory in which a leader writes its log at each member of its "
                 "domain"}),
    field<&Options::inline_bytes>(
        {.key = "ramcast.inline_bytes",
         .least = 0,
         .most = 4'096,
         .drawn_least = 0,
         .drawn_most = 2'048,
         .cluster_wide = true,
         .help = "messages to one domain up to this size travel in the leader's log, too, and have "
                 "their place one write earlier"}),
    field<&Options::fast>({.key = "ramcast.fast",
                           .cluster_wide = true,
                           .internal = true,
                           .help = "whether completed writes to a majority commit a message"}),
    field<&Options::lazy>(
        {.key = "ramcast.lazy",
         .cluster_wide = true,
         .help = "followers do not acknowledge messages to one domain that travel in the log: "
                 "fewer writes, but followers deliver later"}),
    field<&Options::beat>({.key = "ramcast.beat_ms",
                           .least = kMs / 20,
                           .most = 1'000 * kMs,
                           .drawn_least = kMs / 2,
                           .drawn_most = 4 * kMs,
                           .help = "time between two signs of life to the nodes of the domain"}),
    field<&Options::suspect>(
        {.key = "ramcast.suspect_ms",
         .least = 2 * kMs,
         .most = 60'000 * kMs,
         .drawn_least = 20 * kMs,
         .drawn_most = 100 * kMs,
         .cluster_wide = true,
         .help = "a node that gives no sign of life for this long is suspected; after twice as "
                 "long it is excluded"}),
    field<&Options::repair>({.key = "ramcast.repair_ms",
                             .least = kMs / 20,
                             .most = 1'000 * kMs,
                             .drawn_least = kMs,
                             .drawn_most = 10 * kMs,
                             .internal = true,
                             .help = "how long a message may be without its key before a node asks "
                                     "others about it"}),
    field<&Options::packet_bytes_max>(packet_bytes_option(1'024, wire::kPacketBytesMax)),
};

}  // namespace

std::span<const Field<Options>> fields() { return kFields; }

Options options_of(const OptionValues& values) {
  Options options;
  read_options<Options>(values, fields(), options);
  options.log_bytes &= ~63U;  // whole cache lines
  return options;
}

std::span<const Option> all_options() {
  static constexpr auto kOptions = options_of(kFields);
  return kOptions;
}

/// The key and its value, as in a file.
std::string given(std::string_view key, Duration value) {
  for (const Option& option : all_options()) {
    if (option.key == key) return std::string(key) + " = " + text_of(option, value.ns);
  }
  return std::string(key);
}

std::string validate(const Options& options) {
  if (std::string wrong = refusal_in(options, fields()); !wrong.empty()) return wrong;
  if (options.suspect < options.beat * 4) {
    return given("ramcast.suspect_ms", options.suspect) +
           " is not accepted: it must be at least four times " +
           given("ramcast.beat_ms", options.beat);
  }
  return {};
}

}  // namespace peal::order::ramcast
