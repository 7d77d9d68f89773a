// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/transcript.h"

#include "order/ring/commit_record.h"
#include "sim/scenario/tokenizer.h"
#include "wire/frames.h"

namespace peal::sim {
namespace {

std::string name_of(NodeId node) {
  return node.value == 0 ? "?" : "n" + std::to_string(node.value);
}

std::string names_of(const std::vector<MemberId>& members) {
  std::vector<NodeId> nodes;
  for (const MemberId& member : members) nodes.push_back(member.node);
  return nodes.empty() ? "-" : nodes_text(nodes);
}

std::string token_text(const Packet& packet) {
  wire::Token token;
  if (wire::decode_token(packet.bytes, token) != wire::Drop::none) return " damaged";
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

std::string join_text(const Packet& packet) {
  wire::Join join;
  if (wire::decode_join(packet.bytes, join) != wire::Drop::none) return " damaged";
  return std::string(join.leaving ? " leaving" : "") + " processes=" + names_of(join.processes) +
         " failed=" + names_of(join.failed);
}

std::string commit_text(const Packet& packet) {
  wire::Commit commit;
  if (order::ring::decode_commit(packet.bytes, commit) != wire::Drop::none) return " damaged";
  return " members=" + names_of(commit.members) + " hops=" + std::to_string(commit.hops);
}

std::string data_text(const Packet& packet) {
  wire::Data data;
  if (wire::decode_data(packet.bytes, data) != wire::Drop::none) return " damaged";
  return " " + std::to_string(data.seq) + (data.retransmission ? " again" : "") +
         (data.post ? " post" : "");
}

}  // namespace

std::string packet_text(const Packet& packet) {
  std::string text = name_of(packet.from) + " " + std::string(packet_kind_name(packet.kind));
  if (packet.to.value != 0) text += " > " + name_of(packet.to);
  switch (packet.kind) {
    case PacketKind::token: return text + token_text(packet);
    case PacketKind::data: return text + data_text(packet);
    case PacketKind::join: return text + join_text(packet);
    case PacketKind::commit: return text + commit_text(packet);
    default: return text;
  }
}

void Transcript::add(const Packet& packet) {
  if (packet.kind == PacketKind::data) {
    add_data(packet);
    return;
  }
  close_run();
  lines_.push_back(packet_text(packet));
}

void Transcript::add_data(const Packet& packet) {
  wire::Data data;
  if (wire::decode_data(packet.bytes, data) != wire::Drop::none || data.retransmission) {
    close_run();
    lines_.push_back(packet_text(packet));
    return;
  }
  const std::string from = name_of(packet.from);
  const std::string suffix = data.post ? " post" : "";
  if (run_first_ != 0 && run_from_ == from && run_suffix_ == suffix && data.seq == run_last_ + 1) {
    run_last_ = data.seq;
    return;
  }
  close_run();
  run_from_ = from;
  run_suffix_ = suffix;
  run_first_ = run_last_ = data.seq;
}

std::string Transcript::run_text() const {
  std::string text = run_from_ + " data " + std::to_string(run_first_);
  if (run_last_ != run_first_) text += "-" + std::to_string(run_last_);
  return text + run_suffix_;
}

void Transcript::close_run() {
  if (run_first_ != 0) lines_.push_back(run_text());
  run_first_ = run_last_ = 0;
}

void Transcript::clear() {
  lines_.clear();
  run_first_ = run_last_ = 0;
}

std::vector<std::string> Transcript::lines() const {
  std::vector<std::string> all = lines_;
  if (run_first_ != 0) all.push_back(run_text());
  return all;
}

}  // namespace peal::sim
