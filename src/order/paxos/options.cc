// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/options.h"

#include <algorithm>
#include <array>
#include <span>

namespace peal::order::paxos {
namespace {

constexpr std::int64_t kWindowMax = 4'096;
constexpr std::size_t kFewAcceptors = 3;
constexpr std::size_t kManyAcceptors = 5;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kS = 1'000'000'000;
constexpr std::int64_t kGapMax = 8'192;

constexpr Option internal(std::string_view key, std::int64_t least, std::int64_t most) {
  return {.key = key, .least = least, .most = most, .internal = true};
}

constexpr std::array kFields{
    field<&Options::heartbeat>(internal("paxos.heartbeat_ms", 100 * kUs, 10 * kS)),
    field<&Options::suspect>(internal("paxos.suspect_ms", 300 * kUs, 60 * kS)),
    field<&Options::suspect_max>(internal("paxos.suspect_max_ms", 300 * kUs, 600 * kS)),
    field<&Options::resend>(internal("paxos.resend_ms", 100 * kUs, 60 * kS)),
    field<&Options::gap>(internal("paxos.gap_ms", 10 * kUs, 60 * kS)),
    field<&Options::votes_apart>(internal("paxos.votes_apart_ms", 0, 100 * kMs)),
    field<&Options::window>(internal("paxos.window", 1, kWindowMax)),
    field<&Options::window_first>(internal("paxos.window_first", 1, kWindowMax)),
    field<&Options::member_window>(internal("paxos.member_window", 1, 4'096)),
    field<&Options::max_gap>(internal("paxos.max_gap", 1, kGapMax)),
    field<&Options::checkpoint_every>(internal("paxos.checkpoint_every", 1, kGapMax)),
    field<&Options::history_bytes_max>(internal("paxos.history_bytes_max", 1 << 16, 1LL << 40)),
    field<&Options::optimistic>(internal("paxos.optimistic", 0, 1)),
    field<&Options::early_wait_max>(internal("paxos.early_wait_max_ms", 10 * kUs, kS)),
    field<&Options::packet_bytes_max>(
        internal("paxos.packet_bytes_max", 256, wire::kPacketBytesMax)),
};

std::string out_of_rule(std::string_view key, std::int64_t value, const std::string& least) {
  for (const auto& each : kFields) {
    if (each.option.key != key) continue;
    return std::string(key) + " = " + text_of(each.option, value) +
           " is not accepted: it must be " + least;
  }
  return {};
}

}  // namespace

std::span<const Field<Options>> fields() { return kFields; }

std::string validate(const Options& options) {
  if (std::string wrong = refusal_in(options, fields()); !wrong.empty()) return wrong;
  if (options.suspect < options.heartbeat * 3) {
    return out_of_rule("paxos.suspect_ms", options.suspect.ns, "at least three heartbeats");
  }
  if (options.suspect_max < options.suspect) {
    return out_of_rule("paxos.suspect_max_ms", options.suspect_max.ns, "at least suspect_ms");
  }
  if (options.checkpoint_every > options.max_gap) {
    return out_of_rule("paxos.checkpoint_every", options.checkpoint_every, "at most max_gap");
  }
  return {};
}

wire::Instance gap_max(const Options& options) {
  constexpr std::uint64_t kSpare = 4;  // for unused space at the end of the ring buffer
  const std::uint64_t held = options.history_bytes_max / options.packet_bytes_max;
  return std::clamp<std::uint64_t>(held, kSpare + 1, kSpare + options.max_gap) - kSpare;
}

std::vector<NodeId> default_acceptors(const std::vector<NodeId>& universe) {
  std::size_t count = universe.size();
  if (count > kFewAcceptors) count = count < kManyAcceptors ? kFewAcceptors : kManyAcceptors;
  return {universe.begin(), universe.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace peal::order::paxos
