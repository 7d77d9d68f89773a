// SPDX-License-Identifier: Apache-2.0
#include "examine_body.h"
#include "order/toto/commit_record.h"

namespace peal::wire::test {
namespace {

void examine_node(ByteView packet, const Header& header, Verdict& out) {
  static Node node;
  examine_body(
      packet, node, decode_node, [&](const Node& frame) { return broken_rule(frame, packet); },
      [&](const Node& frame) {
        return encode_before(packet, node_header_bytes(frame.advances.size()),
                             [&](ByteSpan again) { encode_node_in_place(header, frame, again); });
      },
      out);
}

}  // namespace

void examine_toto(ByteView packet, const Header& header, Verdict& out) {
  const auto rule = [](const auto& frame) { return broken_rule(frame); };
  const auto with = [&](auto encode) {
    return [&header, encode](const auto& frame) { return encode(header, frame, scratch()); };
  };
  // Reused for all packets, as an engine does: no value of an earlier frame may remain.
  static TotoLacks lacks;
  static TotoStatus status;
  static TotoPass pass;
  switch (static_cast<TotoKind>(header.kind)) {
    case TotoKind::node: return examine_node(packet, header, out);
    case TotoKind::lacks:
      return examine_body(packet, lacks, decode_toto_lacks, rule, with(encode_toto_lacks), out);
    case TotoKind::status:
      return examine_body(packet, status, decode_toto_status, rule, with(encode_toto_status), out);
    case TotoKind::pass:
      return examine_body(packet, pass, decode_toto_pass, rule, with(encode_toto_pass), out);
  }
  out.wrong = "a kind that does not exist";
}

void examine_toto_commit(ByteView packet, const Header& header, Verdict& out) {
  static Commit commit;
  examine_body(
      packet, commit, order::toto::decode_commit,
      [](const Commit& frame) { return broken_rule(frame, Records::toto); },
      [&](const Commit& frame) { return order::toto::encode_commit(header, frame, scratch()); },
      out);
}

}  // namespace peal::wire::test
