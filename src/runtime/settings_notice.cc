// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings_notice.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "base/text.h"
#include "config/schema.h"
#include "runtime/text.h"

namespace peal::runtime {
namespace {

constexpr Duration kQuestionEvery = seconds(1);
constexpr std::uint32_t kQuestions = 2;
constexpr Duration kAnswerEvery = seconds(1);
constexpr Duration kLineEvery = seconds(10);
constexpr std::size_t kNamedMax = 8;
/// The number of nodes in an active and a pending list of the largest size.
constexpr std::size_t kPeersMax = 2 * config::kNodesMax;

constexpr std::string_view kOrder = "order";

bool is_plain(std::string_view text) {
  constexpr std::size_t kShown = 60;  // as in quote()
  return !text.empty() && text.size() <= kShown &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

/// Makes `text` printable in a message. `text` is a value, or a key of another release, with any
/// bytes.
std::string shown(std::string_view text) {
  if (text.empty()) return "none";
  if (is_plain(text)) return std::string(text);
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quote(quoted ? text.substr(1, text.size() - 2) : text);
}

std::string difference(const std::string& key, std::string_view theirs, std::string_view own) {
  std::string there = shown(theirs);
  std::string here = shown(own);
  if (there == here) return key + " differs";  // the difference is in bytes that shown() hides
  return key + " is " + std::move(there) + " there and " + std::move(here) + " here";
}

const wire::Setting* find(const wire::SettingsFrame& frame, std::string_view key) {
  for (const wire::Setting& each : frame.settings) {
    if (each.key == key) return &each;
  }
  return nullptr;
}

}  // namespace

SettingsNotice::SettingsNotice(const config::Settings& settings, const trace::Names& names,
                               BufferPool& frames, Outputs outputs)
    : cluster_(cluster_id(settings)),
      checksum_(settings.keys ? wire::Checksum::absent : wire::Checksum::present),
      own_(cluster_wide_settings(settings)),
      names_(names),
      frames_(frames),
      outputs_(std::move(outputs)) {
  std::sort(own_.begin(), own_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
}

SettingsNotice::Peer* SettingsNotice::peer(NodeId node) {
  const auto found = peers_.find(node);
  if (found != peers_.end()) return &found->second;
  return peers_.size() < kPeersMax ? &peers_[node] : nullptr;
}

void SettingsNotice::forget(NodeId node) {
  if (peers_.erase(node) != 0) plan();
}

void SettingsNotice::on_other_settings(Instant now, NodeId node) {
  Peer* known = peer(node);
  if (known == nullptr) return;
  outputs_.reason(node, known->line.empty() ? unnamed(node) : known->line);
  if (known->ask_at) return;
  known->questions = 0;
  ask(now, node, *known);
  plan();
}

/// The line about a node whose settings are not known.
std::string SettingsNotice::unnamed(NodeId node) const {
  return incompatible_text({node, 0}, wire::Drop::other_settings, names_);
}

void SettingsNotice::ask(Instant now, NodeId node, Peer& peer) {
  ++peer.questions;
  peer.ask_at = now + kQuestionEvery;
  send(node, true);
}

bool SettingsNotice::on_packet(Instant now, NodeId from, ByteView packet) {
  wire::Header header;
  wire::SettingsFrame theirs;
  if (wire::decode_header(packet, header, checksum_) != wire::Drop::none) return false;
  if (header.kind != wire::FrameKind::settings || header.sender.node != from) return false;
  if (header.cluster >> 32 != cluster_ >> 32) return false;
  if (wire::decode_settings(packet, theirs) != wire::Drop::none) return false;
  Peer* known = peer(from);
  if (known == nullptr) return false;
  known->ask_at.reset();
  if (theirs.asks && now >= known->answer_from) {
    known->answer_from = now + kAnswerEvery;
    send(from, false);
  }
  // If the settings are the same, the packet that led to the question was not of that node, or of
  // an earlier run.
  if (header.cluster != cluster_) {
    known->line = line_about(from, theirs);
    outputs_.reason(from, known->line);
    say(now, *known, known->line);
  }
  plan();
  return true;
}

void SettingsNotice::on_timer(Instant now) {
  for (auto& [node, peer] : peers_) {
    if (peer.ask_at && *peer.ask_at <= now) {
      if (peer.questions < kQuestions) {
        ask(now, node, peer);
      } else {
        peer.ask_at.reset();
        if (peer.line.empty()) say(now, peer, unnamed(node));
      }
    }
    if (!peer.held.empty() && peer.tell_from <= now) {
      say(now, peer, std::exchange(peer.held, {}));
    }
  }
  plan();
}

void SettingsNotice::plan() {
  next_deadline_.reset();
  const auto need = [this](Instant at) {
    if (!next_deadline_ || at < *next_deadline_) next_deadline_ = at;
  };
  for (const auto& [node, peer] : peers_) {
    if (peer.ask_at) need(*peer.ask_at);
    if (!peer.held.empty()) need(peer.tell_from);
  }
}

void SettingsNotice::say(Instant now, Peer& peer, std::string line) {
  peer.held.clear();
  const std::uint64_t digest = digest_of(as_bytes_view(line));
  const bool told = std::find(peer.told.begin(), peer.told.end(), digest) != peer.told.end();
  if (told || peer.told.full()) return;
  if (now < peer.tell_from) {
    peer.held = std::move(line);
    return;
  }
  peer.told.push_back(digest);
  peer.tell_from = now + kLineEvery;
  outputs_.tell(line);
}

void SettingsNotice::send(NodeId to, bool asks) {
  BufferRef packet = frames_.take(0, wire::kSettingsBytesMax);
  if (!packet) return;  // a node that gets no answer asks again
  wire::SettingsFrame frame;
  frame.asks = asks;
  for (const config::ClusterWide& each : own_) {
    if (each.value != each.normal) frame.settings.push_back({each.key, each.value});
  }
  const std::size_t bytes =
      wire::encode_settings({wire::FrameKind::settings, cluster_, outputs_.self(), checksum_},
                            frame, ByteSpan(packet.data(), packet.size()));
  PEAL_ASSERT(bytes != 0);
  packet.truncate(static_cast<std::uint32_t>(bytes));
  outputs_.send(to, packet);
}

std::vector<std::string> SettingsNotice::differences(const wire::SettingsFrame& theirs) const {
  std::vector<std::string> found;
  for (const config::ClusterWide& own : own_) {
    const wire::Setting* sent = find(theirs, own.key);
    const std::string_view value = sent == nullptr ? std::string_view(own.normal) : sent->value;
    if (value == own.value) continue;
    std::string text = difference(own.key, value, own.value);
    // If the engines differ, the other differences are a consequence.
    if (own.key == kOrder) return {std::move(text)};
    found.push_back(std::move(text));
  }
  for (const wire::Setting& each : theirs.settings) {
    const bool known =
        std::any_of(own_.begin(), own_.end(), [&](const auto& own) { return own.key == each.key; });
    if (known) continue;
    // If the key is kDomainsKey, this node has no domains.
    found.push_back(each.key == config::kDomainsKey
                        ? difference(std::string(each.key), each.value, {})
                        : shown(each.key) + " is " + shown(each.value) + " there and unknown here");
  }
  return found;
}

std::string SettingsNotice::line_about(NodeId node, const wire::SettingsFrame& theirs) const {
  const std::string begin = "node " + names_.name(node) + " is ignored: ";
  std::vector<std::string> found = differences(theirs);
  if (found.empty()) {
    return begin +
           "its cluster-wide settings differ, though not in those that both nodes know: run the "
           "same version of Peal on all nodes";
  }
  const std::size_t count = found.size();
  if (count > kNamedMax) {
    found.resize(kNamedMax);
    found.back() += ", and " + std::to_string(count - kNamedMax) + " more";
  }
  return begin + joined(found) + (count == 1 ? "; it" : "; they") +
         " must be the same on all nodes";
}

}  // namespace peal::runtime
