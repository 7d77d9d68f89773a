// SPDX-License-Identifier: Apache-2.0
#include "examine.h"

#include <algorithm>
#include <cstddef>

#include "examine_body.h"
#include "order/ring/commit_record.h"

namespace peal::wire::test {
namespace {

std::size_t encode_data(const Header& header, const Data& data, ByteView packet) {
  std::copy(packet.begin() + kDataHeaderBytes, packet.end(), scratch().begin() + kDataHeaderBytes);
  encode_data_in_place(header, data, scratch().first(packet.size()));
  return packet.size();
}

void examine_commit(ByteView packet, const Header& header, Records records, Verdict& out) {
  if (records == Records::toto) return examine_toto_commit(packet, header, out);
  static Commit commit;
  examine_body(
      packet, commit, order::ring::decode_commit,
      [](const Commit& frame) { return broken_rule(frame, Records::ring); },
      [&](const Commit& frame) { return order::ring::encode_commit(header, frame, scratch()); },
      out);
}

void examine_kind(ByteView packet, const Header& header, Records records, Verdict& out) {
  const auto rule = [](const auto& frame) { return broken_rule(frame); };
  const auto with = [&](auto encode) {
    return [&header, encode](const auto& frame) { return encode(header, frame, scratch()); };
  };
  // These frames are used again for each packet, as an engine does. Nothing of an earlier packet
  // may remain in them.
  static Token token;
  static Data data;
  static Join join;
  static ProbeFrame probe;
  static HoldCancel hold_cancel;
  static EpochNotice notice;
  static Trial trial;
  static SettingsFrame settings;
  switch (header.kind) {
    case FrameKind::token:
      return examine_body(packet, token, decode_token, rule, with(encode_token), out);
    case FrameKind::data:
      if (is_trial_of_data(packet)) {
        return examine_body(packet, trial, decode_trial, rule, with(encode_trial), out);
      }
      return examine_body(
          packet, data, decode_data, rule,
          [&](const Data& frame) { return encode_data(header, frame, packet); }, out);
    case FrameKind::join:
      return examine_body(
          packet, join, decode_join,
          [&](const Join& frame) { return broken_rule(frame, header.sender); }, with(encode_join),
          out);
    case FrameKind::commit: return examine_commit(packet, header, records, out);
    case FrameKind::probe:
      return examine_body(packet, probe, decode_probe, rule, with(encode_probe), out);
    case FrameKind::hold_cancel:
      return examine_body(packet, hold_cancel, decode_hold_cancel, rule, with(encode_hold_cancel),
                          out);
    case FrameKind::epoch_notice:
      return examine_body(packet, notice, decode_epoch_notice, rule, with(encode_epoch_notice),
                          out);
    case FrameKind::trial:
      return examine_body(packet, trial, decode_trial, rule, with(encode_trial), out);
    case FrameKind::settings:
      return examine_body(
          packet, settings, decode_settings,
          [&](const SettingsFrame& frame) { return broken_rule(frame, packet); },
          with(encode_settings), out);
  }
  if (is_paxos_kind(header.kind)) return examine_paxos(packet, header, out);
  if (is_toto_kind(header.kind)) return examine_toto(packet, header, out);
  if (is_ramcast_kind(header.kind)) return examine_ramcast(packet, header, out);
  out.wrong = "a kind that does not exist";
}

}  // namespace

Verdict examine(ByteView packet, Checksum expected, Records records) {
  Verdict verdict;
  Header header;
  verdict.header = decode_header(packet, header, expected);
  if (verdict.header != Drop::none) return verdict;
  if (header.sender.node.value < 1 || header.sender.node.value > 65'535) {
    verdict.wrong = "header.sender";
    return verdict;
  }
  examine_kind(packet, header, records, verdict);
  return verdict;
}

}  // namespace peal::wire::test
