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

constexpr std::array kKnobs{
    Knob{"token_loss_ms", &Options::token_loss, nullptr, 5 * kMs, 60'000 * kMs, 30 * kMs, 300 * kMs,
         true, "no token for this long: the view is broken, and a new one is formed"},
    Knob{"token_retransmit_ms", &Options::token_retransmit, nullptr, kMs, 10'000 * kMs, 4 * kMs,
         30 * kMs, true, "no sign of life after passing the token: it is sent again"},
    Knob{"hold_ms", &Options::hold, nullptr, kMs / 10, 5'000 * kMs, kMs / 2, 8 * kMs, true,
         "how long the token of an idle view rests at one member"},
    Knob{"join_ms", &Options::join, nullptr, kMs, 5'000 * kMs, 3 * kMs, 30 * kMs, true,
         "between two join messages while members look for each other"},
    Knob{"consensus_ms", &Options::consensus, nullptr, 5 * kMs, 120'000 * kMs, 40 * kMs, 400 * kMs,
         true, "who has not agreed by then is left out of the next view"},
    Knob{"probe_ms", &Options::probe, nullptr, 10 * kMs, 60'000 * kMs, 50 * kMs, 700 * kMs, true,
         "between two probes of one view for others to merge with"},
    Knob{"recovery_guard_ms", &Options::recovery_guard, nullptr, 100 * kMs, 600'000 * kMs,
         500 * kMs, 5'000 * kMs, true,
         "a recovery that takes longer is started again without whom it waits for"},
    Knob{"stall_ms", &Options::stall, nullptr, 20 * kMs, 60'000 * kMs, 100 * kMs, 700 * kMs, true,
         "a member that receives nothing for this long, and 50 rotations, is left out"},
    Knob{"damping_ms", &Options::damping, nullptr, kMs, 60'000 * kMs, 50 * kMs, 600 * kMs, true,
         "an excluded member is not invited back for this long, doubled each time"},
    Knob{"damping_max_ms", &Options::damping_max, nullptr, kMs, 600'000 * kMs, 500 * kMs,
         2'000 * kMs, true, "the longest such time"},
    Knob{"personal_window", nullptr, &Options::personal_window, 0, 8'192, 0, 40, false,
         "packets that one member may send per visit of the token; 0 tunes itself"},
    Knob{"global_window", nullptr, &Options::global_window, 0, 8'192, 0, 200, false,
         "packets that all members may send per rotation; 0 tunes itself"},
    Knob{"accelerated_window", nullptr, &Options::accelerated_window, 0, kAuto, 0, 40, false,
         "packets sent after the token; 0 is the original ring, 4294967295 tunes itself"},
    Knob{"max_gap", nullptr, &Options::max_gap, 16, 8'192, 32, 1'024, false,
         "packets between what all members have and a new one"},
    Knob{"retransmit_max", nullptr, &Options::retransmit_max, 1, 4'096, 1, 64, false,
         "packets sent again per visit of the token"},
    Knob{"request_ranges_max", nullptr, &Options::request_ranges_max, 1, wire::kRangesMax, 1, 64,
         false, "ranges of 64 positions that one member asks for per visit"},
    Knob{"request_lag", nullptr, &Options::request_lag, 0, 4, 0, 3, false,
         "rotations before a missing packet is asked for"},
    Knob{"idle_rounds", nullptr, &Options::idle_rounds, 3, 1'000, 3, 8, false,
         "idle rotations before the token rests"},
    Knob{"packet_bytes_max", nullptr, &Options::packet_bytes_max, 256, wire::kPacketBytesMax, 256,
         4'000, false, "largest datagram in bytes, without IP and UDP headers"},
};

std::string show(const Knob& knob, std::int64_t value) {
  if (knob.duration == nullptr) return std::to_string(value);
  const std::int64_t whole = value / kMs;
  const std::int64_t rest = value % kMs / 1'000;
  if (rest == 0) return std::to_string(whole);
  std::string micro = std::to_string(rest);
  micro.insert(0, 3 - std::min<std::size_t>(3, micro.size()), '0');
  return std::to_string(whole) + "." + micro;
}

std::string rule(std::string_view left, Duration value, std::string_view relation,
                 std::string_view right, Duration bound) {
  const Knob as_time{"", &Options::hold, nullptr, 0, 0, 0, 0, false, ""};
  return "ring." + std::string(left) + " = " + show(as_time, value.ns) +
         " is not accepted: it must be " + std::string(relation) + " " + std::string(right) +
         " = " + show(as_time, bound.ns);
}

}  // namespace

std::span<const Knob> knobs() { return kKnobs; }

Duration rest_max(const Options& options) {
  return std::max(options.hold, options.token_loss - options.token_retransmit * 6);
}

std::string validate(const Options& options) {
  for (const Knob& knob : kKnobs) {
    const std::int64_t value =
        knob.duration != nullptr ? (options.*knob.duration).ns : std::int64_t{options.*knob.number};
    if (value < knob.minimum || value > knob.maximum) {
      return "ring." + std::string(knob.name) + " = " + show(knob, value) +
             " is not accepted: it must be " + show(knob, knob.minimum) + " to " +
             show(knob, knob.maximum);
    }
  }
  if (options.hold * 2 >= options.token_retransmit) {
    return rule("hold_ms", options.hold, "less than half of", "token_retransmit_ms",
                options.token_retransmit);
  }
  if (options.token_loss < options.token_retransmit * 5 + options.hold) {
    return rule("token_loss_ms", options.token_loss,
                "at least 5 * token_retransmit_ms + hold_ms, here", "token_retransmit_ms",
                options.token_retransmit);
  }
  const Duration least = std::max(options.token_loss, options.join * 5);
  if (options.consensus < least) {
    return rule("consensus_ms", options.consensus, "at least token_loss_ms and 5 * join_ms, here",
                "the larger", least);
  }
  if (options.damping_max < options.damping) {
    return rule("damping_max_ms", options.damping_max, "at least", "damping_ms", options.damping);
  }
  const std::uint64_t room = std::uint64_t{options.request_lag + 3} * options.global_window;
  if (options.max_gap < room) {
    return "ring.max_gap = " + std::to_string(options.max_gap) +
           " is not accepted: it must be at least (request_lag + 3) * global_window = " +
           std::to_string(room);
  }
  return {};
}

}  // namespace peal::order::ring
