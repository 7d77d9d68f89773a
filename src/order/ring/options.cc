// SPDX-License-Identifier: Apache-2.0
#include "order/ring/options.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "wire/frames.h"

namespace peal::order::ring {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kAuto = Options::kAutoWindow;
constexpr std::string_view kPriorities[] = {"aggressive", "careful"};

constexpr std::array kFields{
    field<&Options::token_loss>(
        {.key = "ring.token_loss_ms",
         .least = 5 * kMs,
         .most = 60'000 * kMs,
         .drawn_least = 30 * kMs,
         .drawn_most = 300 * kMs,
         .cluster_wide = true,
         .help = "no token for this long: the view is broken, and a new one is formed"}),
    field<&Options::token_retransmit>(
        {.key = "ring.token_retransmit_ms",
         .least = kMs,
         .most = 10'000 * kMs,
         .drawn_least = 4 * kMs,
         .drawn_most = 30 * kMs,
         .cluster_wide = true,
         .help = "no sign of life after passing the token: it is sent again"}),
    field<&Options::hold>({.key = "ring.hold_ms",
                           .least = kMs / 10,
                           .most = 5'000 * kMs,
                           .drawn_least = kMs / 2,
                           .drawn_most = 8 * kMs,
                           .cluster_wide = true,
                           .help = "how long the token of an idle view rests at one member"}),
    field<&Options::join>({.key = "ring.join_ms",
                           .least = kMs,
                           .most = 5'000 * kMs,
                           .drawn_least = 3 * kMs,
                           .drawn_most = 30 * kMs,
                           .cluster_wide = true,
                           .help = "between two join messages while members look for each other"}),
    field<&Options::consensus>(
        {.key = "ring.consensus_ms",
         .least = 5 * kMs,
         .most = 120'000 * kMs,
         .drawn_least = 40 * kMs,
         .drawn_most = 400 * kMs,
         .cluster_wide = true,
         .help = "a member that has not agreed by then is excluded from the next view"}),
    field<&Options::probe>({.key = "ring.probe_ms",
                            .least = 10 * kMs,
                            .most = 60'000 * kMs,
                            .drawn_least = 50 * kMs,
                            .drawn_most = 700 * kMs,
                            .cluster_wide = true,
                            .help = "between two probes of one view for others to merge with"}),
    field<&Options::recovery_guard>(
        {.key = "ring.recovery_guard_ms",
         .least = 100 * kMs,
         .most = 600'000 * kMs,
         .drawn_least = 500 * kMs,
         .drawn_most = 5'000 * kMs,
         .cluster_wide = true,
         .help =
             "a recovery that takes longer starts again without the members that it waits for"}),
    field<&Options::stall>(
        {.key = "ring.stall_ms",
         .least = 20 * kMs,
         .most = 60'000 * kMs,
         .drawn_least = 100 * kMs,
         .drawn_most = 700 * kMs,
         .cluster_wide = true,
         .help = "a member that receives nothing for this long, and 50 rotations, is excluded"}),
    field<&Options::damping>(
        {.key = "ring.damping_ms",
         .least = kMs,
         .most = 60'000 * kMs,
         .drawn_least = 50 * kMs,
         .drawn_most = 600 * kMs,
         .cluster_wide = true,
         .help = "an excluded member is not invited back for this long, doubled each time"}),
    field<&Options::damping_max>({.key = "ring.damping_max_ms",
                                  .least = kMs,
                                  .most = 600'000 * kMs,
                                  .drawn_least = 500 * kMs,
                                  .drawn_most = 2'000 * kMs,
                                  .cluster_wide = true,
                                  .help = "the longest such time"}),
    field<&Options::personal_window>(
        {.key = "ring.personal_window",
         .least = 0,
         .most = 8'192,
         .drawn_least = 0,
         .drawn_most = 40,
         .help = "packets that one member may send per visit of the token; 0 tunes itself"}),
    field<&Options::global_window>(
        {.key = "ring.global_window",
         .least = 0,
         .most = 8'192,
         .drawn_least = 0,
         .drawn_most = 200,
         .help = "packets that all members may send per rotation; 0 tunes itself"}),
    field<&Options::accelerated_window>(
        {.key = "ring.accelerated_window",
         .least = 0,
         .most = kAuto,
         .automatic = kAuto,
         .drawn_least = 0,
         .drawn_most = 40,
         .help = "packets sent after the token; 0 is the original ring, \"auto\" tunes itself"}),
    field<&Options::max_gap>(
        {.key = "ring.max_gap",
         .least = 16,
         .most = 8'192,
         .drawn_least = 32,
         .drawn_most = 1'024,
         .help = "how many packets a new one may be ahead of the last that all members have"}),
    field<&Options::retransmit_max>({.key = "ring.retransmit_max",
                                     .least = 1,
                                     .most = 4'096,
                                     .drawn_least = 1,
                                     .drawn_most = 64,
                                     .help = "packets sent again per visit of the token"}),
    field<&Options::request_ranges_max>(
        {.key = "ring.request_ranges_max",
         .least = 1,
         .most = wire::kRangesMax,
         .drawn_least = 1,
         .drawn_most = 64,
         .help = "ranges of 64 positions that one member asks for per visit"}),
    field<&Options::request_lag>({.key = "ring.request_lag",
                                  .least = 0,
                                  .most = 4,
                                  .drawn_least = 0,
                                  .drawn_most = 3,
                                  .help = "rotations before a missing packet is asked for"}),
    field<&Options::idle_rounds>({.key = "ring.idle_rounds",
                                  .least = 3,
                                  .most = 1'000,
                                  .drawn_least = 3,
                                  .drawn_most = 8,
                                  .help = "idle rotations before the token rests"}),
    field<&Options::packet_bytes_max>(packet_bytes_option(256, wire::kPacketBytesMax)),
    field<&Options::primary>(primary_option()),
    field<&Options::priority>({.key = "ring.priority",
                               .least = 1,
                               .words = kPriorities,
                               .internal = true,
                               .help = "when data is read before the token"}),
};

std::string rule(std::string_view left, Duration value, std::string_view relation,
                 std::string_view right, Duration bound) {
  const Option as_time{.key = "_ms", .kind = Option::Kind::duration};
  return "ring." + std::string(left) + " = " + text_of(as_time, value.ns) +
         " is not accepted: it must be " + std::string(relation) + " " + std::string(right) +
         " = " + text_of(as_time, bound.ns);
}

}  // namespace

std::span<const Field<Options>> fields() { return kFields; }

std::span<const Option> all_options() {
  static constexpr auto kOptions = options_of(kFields);
  return kOptions;
}

Duration rest_max(const Options& options) {
  return std::max(options.hold, options.token_loss - options.token_retransmit * 6);
}

std::string validate(const Options& options) {
  if (std::string wrong = refusal_in(options, fields()); !wrong.empty()) return wrong;
  if (options.hold * 2 >= options.token_retransmit) {
    return rule("hold_ms", options.hold, "less than half of", "ring.token_retransmit_ms",
                options.token_retransmit);
  }
  if (options.token_loss < options.token_retransmit * 5 + options.hold) {
    return rule("token_loss_ms", options.token_loss,
                "at least 5 * ring.token_retransmit_ms + ring.hold_ms, here",
                "ring.token_retransmit_ms", options.token_retransmit);
  }
  const Duration least = std::max(options.token_loss, options.join * 5);
  if (options.consensus < least) {
    return rule("consensus_ms", options.consensus,
                "at least ring.token_loss_ms and 5 * ring.join_ms, here", "the larger", least);
  }
  if (options.damping_max < options.damping) {
    return rule("damping_max_ms", options.damping_max, "at least", "ring.damping_ms",
                options.damping);
  }
  const std::uint64_t room = std::uint64_t{options.request_lag + 3} * options.global_window;
  if (options.max_gap < room) {
    return "ring.max_gap = " + std::to_string(options.max_gap) +
           " is not accepted: it must be at least (ring.request_lag + 3) * ring.global_window = " +
           std::to_string(room);
  }
  return {};
}

}  // namespace peal::order::ring
