// SPDX-License-Identifier: Apache-2.0
#include "explore_mail.h"

#include <bit>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"

namespace peal::order::test {
namespace {

std::string text_of_member(const MemberId& member) {
  // The first incarnation of node 1 has epoch 1, and is written as n1; the next one as n1'1.
  const std::string life = member.epoch > 1 ? "'" + std::to_string(member.epoch - 1) : "";
  return "n" + std::to_string(member.node.value) + life;
}

std::string text_of_promise(const Mail::Packet& packet) {
  wire::Promise promise;
  PEAL_ASSERT(wire::decode_promise(packet.bytes, promise) == wire::Drop::none);
  std::string text = "PROMISE " + text_of(promise.round);
  for (const wire::VoteRun& run : promise.runs) {
    text += ", voted for " + std::to_string(run.first) + "+" + std::to_string(run.length - 1) +
            " in " + text_of(run.round);
  }
  return text;
}

std::string text_of_value(const Mail::Packet& packet) {
  wire::ValueFrame frame;
  PEAL_ASSERT(wire::decode_value(packet.bytes, frame) == wire::Drop::none);
  const std::string value = text_of(frame.head);
  if (packet.kind == wire::PaxosKind::submit) return "SUBMIT " + value;
  const std::string place = " at " + std::to_string(frame.instance);
  if (packet.kind == wire::PaxosKind::decided) return "DECIDED " + value + place;
  const MemberId member{NodeId{packet.from}, packet.epoch};
  return "PROPOSE " + text_of(wire::Round{frame.count, member}) + ": " + value + place;
}

}  // namespace

std::string text_of(const wire::Round& round) {
  return std::to_string(round.count) + "." + text_of_member(round.coordinator);
}

std::string text_of(const wire::ValueHead& head) {
  const std::string of = text_of_member(head.origin);
  switch (head.kind) {
    case wire::ValueKind::nothing: return "nothing of " + of;
    case wire::ValueKind::view: return "view " + std::to_string(head.view) + " of " + of;
    case wire::ValueKind::nodes: return "list " + std::to_string(head.view) + " of " + of;
    case wire::ValueKind::unit: break;
  }
  return "unit " + std::to_string(head.number) + " of " + of;
}

std::uint32_t Mail::number_of(Packet packet) {
  std::vector<std::uint64_t> key{packet.from, packet.to, packet.epoch,
                                 static_cast<std::uint64_t>(packet.kind)};
  if (packet.kind == wire::PaxosKind::state && votes_only_) {
    wire::State state;
    PEAL_ASSERT(wire::decode_state(packet.bytes, state) == wire::Drop::none);
    const wire::Round& round = state.voted_round;
    for (const std::uint64_t each :
         {round.count, std::uint64_t{round.coordinator.node.value}, round.coordinator.epoch,
          state.voted_upto, state.next, state.view}) {
      key.push_back(each);
    }
  } else {
    key.push_back(digest_of(packet.bytes));
  }
  const auto number = static_cast<std::uint32_t>(packets_.size());
  const auto [at, added] = numbers_.emplace(std::move(key), number);
  if (added) packets_.push_back(std::move(packet));
  return at->second;
}

std::string Mail::text(std::uint32_t number) const {
  const Packet& packet = at(number);
  std::string text;
  switch (packet.kind) {
    case wire::PaxosKind::promise: text = text_of_promise(packet); break;
    case wire::PaxosKind::prepare: {
      wire::Prepare prepare;
      PEAL_ASSERT(wire::decode_prepare(packet.bytes, prepare) == wire::Drop::none);
      const MemberId member{NodeId{packet.from}, packet.epoch};
      text = "PREPARE " + text_of(wire::Round{prepare.count, member});
      break;
    }
    case wire::PaxosKind::state: {
      wire::State state;
      PEAL_ASSERT(wire::decode_state(packet.bytes, state) == wire::Drop::none);
      text = "STATE";
      if (state.voted_round.count != 0) {
        text += ", voted up to " + std::to_string(state.voted_upto) + " in " +
                text_of(state.voted_round);
      }
      break;
    }
    case wire::PaxosKind::fetch: text = "FETCH"; break;
    case wire::PaxosKind::fetched: text = "FETCHED"; break;
    default: text = text_of_value(packet); break;
  }
  return text + " from n" + std::to_string(packet.from);
}

std::uint32_t Sets::number_of(const std::vector<std::uint32_t>& sorted) {
  const auto number = static_cast<std::uint32_t>(sets_.size());
  const auto [at, added] = numbers_.emplace(sorted, number);
  if (added) sets_.push_back(&at->first);
  return at->second;
}

Facts::Mask Facts::bit_of(const Fact& fact) {
  std::size_t at = 0;
  while (at < all_.size() && all_[at] != fact) ++at;
  if (at == all_.size()) all_.push_back(fact);
  PEAL_ASSERT(at < 64 && "narrower limits, or wider masks");
  return Mask{1} << at;
}

std::string Facts::contradiction(Mask mask) const {
  for (Mask left = mask; left != 0; left &= left - 1) {
    const Fact& one = all_[static_cast<std::size_t>(std::countr_zero(left))];
    for (Mask right = left & (left - 1); right != 0; right &= right - 1) {
      const Fact& other = all_[static_cast<std::size_t>(std::countr_zero(right))];
      if (one.instance != other.instance || one.round != other.round) continue;
      return one.value + " and " + other.value + " at " + std::to_string(one.instance);
    }
  }
  return {};
}

}  // namespace peal::order::test
