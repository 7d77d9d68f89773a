// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/transcript.h"

namespace peal::sim {
namespace {

std::string name_of(NodeId node) {
  return node.value == 0 ? "?" : "n" + std::to_string(node.value);
}

}  // namespace

std::string packet_text(const Packet& packet) {
  std::string text = name_of(packet.from) + " " + std::string(packet_kind_name(packet.kind));
  if (packet.to.value != 0) text += " > " + name_of(packet.to);
  return text + content_text(packet);
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
  const order::PacketContent content = content_of(packet);
  if (!content.position || content.retransmission.value_or(false)) {
    close_run();
    lines_.push_back(packet_text(packet));
    return;
  }
  const std::string from = name_of(packet.from);
  const std::string suffix = content.post.value_or(false) ? " post" : "";
  if (run_first_ != 0 && run_from_ == from && run_suffix_ == suffix &&
      *content.position == run_last_ + 1) {
    run_last_ = *content.position;
    return;
  }
  close_run();
  run_from_ = from;
  run_suffix_ = suffix;
  run_first_ = run_last_ = *content.position;
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
