// SPDX-License-Identifier: Apache-2.0
#include "examine_body.h"

namespace peal::wire::test {
namespace {

void examine_relay(ByteView packet, const Header& header, Verdict& out) {
  static MessageRelay relay;
  examine_body(
      packet, relay, decode_message_relay,
      [&](const MessageRelay& frame) { return broken_rule(frame, packet); },
      [&](const MessageRelay& frame) {
        return encode_before(
            packet, relay_header_bytes(frame.head.indexes.size()),
            [&](ByteSpan again) { encode_message_relay_in_place(header, frame, again); });
      },
      out);
}

void examine_backlog(ByteView packet, const Header& header, Verdict& out) {
  static Backlog backlog;
  examine_body(
      packet, backlog, decode_backlog,
      [&](const Backlog& frame) { return broken_rule(frame, packet); },
      [&](const Backlog& frame) {
        return encode_before(
            packet, backlog_header_bytes(frame.message.head.indexes.size()),
            [&](ByteSpan again) { encode_backlog_in_place(header, frame, again); });
      },
      out);
}

}  // namespace

void examine_ramcast(ByteView packet, const Header& header, Verdict& out) {
  const auto rule = [](const auto& frame) { return broken_rule(frame); };
  const auto with = [&](auto encode) {
    return [&header, encode](const auto& frame) { return encode(header, frame, scratch()); };
  };
  // Kept from packet to packet, as an engine does: nothing of an earlier frame may shine through.
  static MemoryHello hello;
  static Takeover takeover;
  static MemberState state;
  static Nack nack;
  static AboutMessage about;
  static BacklogRequest request;
  static BacklogView backlog_view;
  const auto kind = static_cast<RamcastKind>(header.kind);
  switch (kind) {
    case RamcastKind::hello:
      return examine_body(packet, hello, decode_memory_hello, rule, with(encode_memory_hello), out);
    case RamcastKind::takeover:
      return examine_body(packet, takeover, decode_takeover, rule, with(encode_takeover), out);
    case RamcastKind::state:
      return examine_body(packet, state, decode_member_state, rule, with(encode_member_state), out);
    case RamcastKind::nack:
      return examine_body(packet, nack, decode_nack, rule, with(encode_nack), out);
    case RamcastKind::relay: return examine_relay(packet, header, out);
    case RamcastKind::backlog_request:
      return examine_body(packet, request, decode_backlog_request, rule,
                          with(encode_backlog_request), out);
    case RamcastKind::backlog: return examine_backlog(packet, header, out);
    case RamcastKind::backlog_view:
      return examine_body(packet, backlog_view, decode_backlog_view, rule,
                          with(encode_backlog_view), out);
    case RamcastKind::pull:
    case RamcastKind::query:
    case RamcastKind::answer:
      return examine_body(
          packet, about, decode_about_message,
          [&](const AboutMessage& frame) { return broken_rule(frame, kind); },
          [&](const AboutMessage& frame) {
            return encode_about_message(header, kind, frame, scratch());
          },
          out);
  }
  out.wrong = "a kind that does not exist";
}

}  // namespace peal::wire::test
