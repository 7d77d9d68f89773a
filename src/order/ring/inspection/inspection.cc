// SPDX-License-Identifier: Apache-2.0
#include "order/ring/inspection/inspection.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "order/ring/commit_record.h"
#include "order/ring/inspection/ghost_ring.h"
#include "wire/frames.h"

namespace peal::order::ring {
namespace {

using wire::Drop;
using wire::FrameKind;

constexpr PacketName named(FrameKind kind, std::string_view name, bool carries_units = false) {
  return {static_cast<std::uint8_t>(kind), name, carries_units};
}

constexpr PacketName kPacketNames[] = {named(FrameKind::token, "token"),
                                       named(FrameKind::data, "data", true),
                                       named(FrameKind::join, "join"),
                                       named(FrameKind::commit, "commit"),
                                       named(FrameKind::probe, "probe"),
                                       named(FrameKind::hold_cancel, "hold_cancel"),
                                       named(FrameKind::epoch_notice, "epoch_notice")};

FrameKind kind_of(const InspectedPacket& packet) { return static_cast<FrameKind>(packet.kind); }

// ---- what packets hold ----

PacketContent content_of(const InspectedPacket& packet) {
  PacketContent content;
  if (kind_of(packet) == FrameKind::data) {
    wire::Data data;
    if (wire::decode_data(packet.bytes, data) != Drop::none) return content;
    content.position = data.seq;
    content.retransmission = data.retransmission;
    content.post = data.post;
  } else if (kind_of(packet) == FrameKind::commit) {
    wire::Commit commit;
    if (decode_commit(packet.bytes, commit) != Drop::none) return content;
    content.rotation = commit.hops < commit.members.size() ? 1 : 2;
  }
  return content;
}

std::string names_of(const std::vector<MemberId>& members) {
  std::string text;
  for (const MemberId& member : members) {
    text += (text.empty() ? "n" : ",n") + std::to_string(member.node.value);
  }
  return text.empty() ? "-" : text;
}

std::string token_text(const wire::Token& token) {
  std::string text = " seq=" + std::to_string(token.seq) + " aru=" + std::to_string(token.aru);
  if (token.recovery_run > 0) text += " run=" + std::to_string(token.recovery_run);
  std::size_t requests = 0;
  for (const wire::RequestSection& section : token.sections) {
    for (const wire::RequestRange& range : section.ranges) {
      requests += static_cast<std::size_t>(__builtin_popcountll(range.bitmap));
    }
  }
  if (requests > 0) text += " requests=" + std::to_string(requests);
  return text;
}

std::string join_text(const wire::Join& join) {
  return std::string(join.leaving ? " leaving" : "") + " processes=" + names_of(join.processes) +
         " failed=" + names_of(join.failed);
}

std::string commit_text(const wire::Commit& commit) {
  return " members=" + names_of(commit.members) + " hops=" + std::to_string(commit.hops);
}

std::string data_text(const wire::Data& data) {
  return " " + std::to_string(data.seq) + (data.retransmission ? " again" : "") +
         (data.post ? " post" : "");
}

std::string packet_text(const InspectedPacket& packet) {
  switch (kind_of(packet)) {
    case FrameKind::token: return text_in(packet, &wire::decode_token, &token_text);
    case FrameKind::join: return text_in(packet, &wire::decode_join, &join_text);
    case FrameKind::commit: return text_in<wire::Commit>(packet, &decode_commit, &commit_text);
    case FrameKind::data: return text_in(packet, &wire::decode_data, &data_text);
    default: return "";
  }
}

// ---- the ghost ----

/// Decodes packets, and passes their content to GhostRing.
class PacketGhost final : public Ghost {
 public:
  PacketGhost(Seq first_count, const GhostReport& report)
      : ring_(first_count, report), token_(std::make_unique<wire::Token>()) {}

  void sent(MemberId from, const InspectedPacket& packet) override {
    switch (kind_of(packet)) {
      case FrameKind::token:
        // Decode into the same object each time, because a Token is too large to construct often.
        if (wire::decode_token(packet.bytes, *token_) == Drop::none) {
          ring_.said_token(from, *token_);
        }
        return;
      case FrameKind::join: {
        wire::Join join;
        if (wire::decode_join(packet.bytes, join) == Drop::none) ring_.said_join(from, join);
        return;
      }
      case FrameKind::commit: {
        wire::Commit commit;
        if (decode_commit(packet.bytes, commit) == Drop::none) ring_.said_commit(from, commit);
        return;
      }
      default: return received(from, packet);
    }
  }
  void received(MemberId who, const InspectedPacket& packet) override {
    if (kind_of(packet) != FrameKind::data) return;
    wire::Data data;
    if (wire::decode_data(packet.bytes, data) != Drop::none) return;
    ring_.holds(who, data.view, data.seq);
  }
  void delivered(MemberId who, const Delivery& delivery) override {
    ring_.delivered(who, delivery);
  }
  void installed(MemberId who, const View& view) override { ring_.installed(who, view); }

 private:
  GhostRing ring_;
  std::unique_ptr<wire::Token> token_;
};

std::unique_ptr<Ghost> make_ghost(const GhostSetup& setup, const GhostReport& report) {
  return std::make_unique<PacketGhost>(setup.first_count, report);
}

}  // namespace

constinit const Inspection kInspection{.engine = "ring",
                                       .packets = kPacketNames,
                                       .content = &content_of,
                                       .text = &packet_text,
                                       .make_ghost = &make_ghost};

}  // namespace peal::order::ring
