// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "examine_body.h"
#include "wire/paxos.h"

namespace peal::wire::test {
namespace {

void examine_value(ByteView packet, const Header& header, Verdict& out) {
  static ValueFrame value;
  const auto kind = static_cast<PaxosKind>(header.kind);
  examine_body(
      packet, value, decode_value,
      [&](const ValueFrame& frame) {
        return broken_rule(frame, kind, packet.subspan(kDataHeaderBytes));
      },
      [&](const ValueFrame& frame) {
        return encode_before(packet, kDataHeaderBytes, [&](ByteSpan again) {
          encode_value_in_place(header, kind, frame, again);
        });
      },
      out);
}

void examine_fetched(ByteView packet, const Header& header, Verdict& out) {
  static Fetched fetched;
  examine_body(
      packet, fetched, decode_fetched,
      [&](const Fetched& frame) { return broken_rule(frame, packet.subspan(kFetchedHeaderBytes)); },
      [&](const Fetched& frame) {
        return encode_before(packet, kFetchedHeaderBytes, [&](ByteSpan again) {
          encode_fetched_in_place(header, frame, again);
        });
      },
      out);
}

void examine_word(ByteView packet, const Header& header, Verdict& out) {
  static Word word;
  const auto voted = [](const Word& frame) { return frame.round.count != 0; };
  examine_body(
      packet, word, decode_word,
      [&](const Word& frame) {
        return broken_rule(frame, packet.subspan(voted(frame) ? kWordHeaderBytes : kNoVoteBytes));
      },
      [&](const Word& frame) {
        if (!voted(frame)) return encode_no_vote(header, frame, scratch());
        return encode_before(packet, kWordHeaderBytes,
                             [&](ByteSpan again) { encode_word_in_place(header, frame, again); });
      },
      out);
}

void examine_relay(ByteView packet, const Header& header, Verdict& out) {
  static Relay relay;
  examine_body(
      packet, relay, decode_relay,
      [&](const Relay& frame) { return broken_rule(frame, packet.subspan(kRelayHeaderBytes)); },
      [&](const Relay& frame) {
        return encode_before(packet, kRelayHeaderBytes, [&](ByteSpan again) {
          encode_relay_in_place(header, static_cast<PaxosKind>(header.kind), frame, again);
        });
      },
      out);
}

void examine_checkpoint_get(ByteView packet, const Header& header, Verdict& out) {
  struct Nothing {};
  Nothing nothing;
  examine_body(
      packet, nothing, [](ByteView bytes, Nothing&) { return decode_checkpoint_get(bytes); },
      [](const Nothing&) { return static_cast<const char*>(nullptr); },
      [&](const Nothing&) { return encode_checkpoint_get(header, scratch()); }, out);
}

}  // namespace

void examine_paxos(ByteView packet, const Header& header, Verdict& out) {
  const auto rule = [](const auto& frame) { return broken_rule(frame); };
  const auto with = [&](auto encode) {
    return [&header, encode](const auto& frame) { return encode(header, frame, scratch()); };
  };
  // These frames are used again for each packet, as an engine does. Nothing of an earlier packet
  // may remain in them.
  static State state;
  static Prepare prepare;
  static Promise promise;
  static Fetch fetch;
  static Repeat repeat;
  static Recall recall;
  static LinkCheck check;
  static Lacks lacks;
  static Pass pass;
  static Lives lives;
  static LogAnswer log;
  static Checkpoint checkpoint;
  switch (static_cast<PaxosKind>(header.kind)) {
    case PaxosKind::state:
      return examine_body(
          packet, state, decode_state,
          [&](const State& frame) { return broken_rule(frame, header.sender); }, with(encode_state),
          out);
    case PaxosKind::submit:
    case PaxosKind::propose:
    case PaxosKind::decided: return examine_value(packet, header, out);
    case PaxosKind::prepare:
      return examine_body(packet, prepare, decode_prepare, rule, with(encode_prepare), out);
    case PaxosKind::promise:
      return examine_body(packet, promise, decode_promise, rule, with(encode_promise), out);
    case PaxosKind::fetch:
      return examine_body(packet, fetch, decode_fetch, rule, with(encode_fetch), out);
    case PaxosKind::fetched: return examine_fetched(packet, header, out);
    case PaxosKind::relay:
    case PaxosKind::distribute: return examine_relay(packet, header, out);
    case PaxosKind::repeat:
      return examine_body(packet, repeat, decode_repeat, rule, with(encode_repeat), out);
    case PaxosKind::recall:
      return examine_body(packet, recall, decode_recall, rule, with(encode_recall), out);
    case PaxosKind::word: return examine_word(packet, header, out);
    case PaxosKind::lacks:
      return examine_body(packet, lacks, decode_lacks, rule, with(encode_lacks), out);
    case PaxosKind::pass:
      return examine_body(packet, pass, decode_pass, rule, with(encode_pass), out);
    case PaxosKind::link_check:
      return examine_body(packet, check, decode_link_check, rule, with(encode_link_check), out);
    case PaxosKind::lives:
      return examine_body(packet, lives, decode_lives, rule, with(encode_lives), out);
    case PaxosKind::log_heard:
      return examine_body(packet, log, decode_log_answer, rule, with(encode_log_answer), out);
    case PaxosKind::checkpoint_get: return examine_checkpoint_get(packet, header, out);
    case PaxosKind::checkpoint:
      return examine_body(packet, checkpoint, decode_checkpoint, rule, with(encode_checkpoint),
                          out);
  }
  out.wrong = "a kind that does not exist";
}

}  // namespace peal::wire::test
