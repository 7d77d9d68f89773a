// SPDX-License-Identifier: Apache-2.0
#include "runtime/text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/schema.h"

namespace peal::runtime {

namespace {

/// The awaited members: "b", "b and c" or "b, c and d". Returns `otherwise` if no member is
/// awaited.
std::string awaited_text(const order::WaitReason& reason, const trace::Names& names,
                         std::string_view otherwise) {
  if (reason.all.empty()) {
    return reason.who == MemberId{} ? std::string(otherwise) : names.name(reason.who.node);
  }
  std::string text;
  for (std::size_t i = 0; i < reason.all.size(); ++i) {
    if (i > 0) text += i + 1 == reason.all.size() ? " and " : ", ";
    text += names.name(reason.all[i].node);
  }
  return text;
}

/// Returns a text of order/vocabulary.h with its words in braces replaced by values.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out(text);
  for (const auto& [name, value] : values) {
    for (std::size_t at = 0; (at = out.find(name, at)) != std::string::npos; at += value.size()) {
      out.replace(at, name.size(), value);
    }
  }
  return out;
}

}  // namespace

std::string wait_text(const order::WaitReason& reason, const trace::Names& names) {
  const bool named = reason.who != MemberId{} || !reason.all.empty();
  const bool several = reason.all.size() > 1;
  const std::string_view unnamed = reason.kind->text_of_nobody;
  return filled(named || unnamed.empty() ? reason.kind->text : unnamed,
                {{"{who}", awaited_text(reason, names, "a member")},
                 {"{is}", several ? "are" : "is"},
                 {"{has}", several ? "have" : "has"},
                 {"{seq}", std::to_string(reason.seq)}});
}

std::string congested_text(NodeId node, const trace::Names& names) {
  return names.name(node) + " to take what was sent; its stream is full";
}

std::string data_text(const io::UdpTransport& transport, const trace::Names& names) {
  if (transport.stream_counters() == nullptr) return "datagrams";
  std::string missing;
  for (const io::StreamState& each : transport.streams()) {
    if (each.open) continue;
    missing += (missing.empty() ? "" : "; ") + names.name(each.node);
    if (!each.problem.empty()) missing += " (" + each.problem + ")";
  }
  return missing.empty() ? "streams" : "streams; not connected to " + missing;
}

std::string unreached_text(const io::StreamState& state, const trace::Names& names) {
  return "node " + names.name(state.node) +
         " is there, but data cannot reach it: " + state.problem +
         "; with data = \"streams\" nodes need the TCP port above each other's port";
}

std::string gather_text(const order::Event& event, Duration pause, const trace::Names& names) {
  if (event.reason == nullptr) return {};
  return filled(event.reason->text,
                {{"{who}", event.who == MemberId{} ? "a member" : names.name(event.who.node)},
                 {"{pause_ms}", std::to_string(pause.ns / 1'000'000)}});
}

std::string passage_text(std::span<const MemberId> members, std::span<const MemberId> company,
                         const trace::Names& names) {
  std::string gone;
  for (const MemberId& each : members) {
    if (std::find(company.begin(), company.end(), each) != company.end()) continue;
    gone += (gone.empty() ? "" : ", ") + names.name(each.node);
  }
  return gone.empty() ? "others came" : gone + " left, or was silent for too long";
}

std::string incompatible_text(const MemberId& who, wire::Drop reason, const trace::Names& names) {
  // Packets of another version cannot be decoded, so their sender is unknown.
  if (reason == wire::Drop::bad_version) {
    return "packets that begin like those of another version of Peal are ignored: run the same "
           "version on all nodes, or find which other program sends to these ports";
  }
  const std::string name = names.name(who.node);
  switch (reason) {
    case wire::Drop::other_cluster:
      return "node " + name + " is ignored: it belongs to another cluster; compare the key cluster";
    case wire::Drop::other_settings:
      return "node " + name + " is ignored: its cluster-wide settings differ; compare " +
             joined(config::cluster_wide_texts()) +
             ", which must be the same on all nodes (with acceptors, network.packet_bytes too)";
    case wire::Drop::other_list:
      return "node " + name +
             " is ignored: its list of nodes, or of acceptors, is another one; bring the older "
             "list up to date, and run peal reload there";
    default: return "node " + name + " is ignored: " + std::string(wire::drop_name(reason));
  }
}

std::string bad_record_text(const order::Event& event, const trace::Names& names) {
  const std::string name = names.name(event.who.node);
  const std::string what = event.reason == nullptr ? "a record" : std::string(event.reason->text);
  return "node " + name + " has written " + what + " into this node's memory that breaks a rule (" +
         std::string(wire::drop_name(static_cast<wire::Drop>(event.a))) +
         "): it is ignored, and what needs it waits; run the same version on " + name +
         ", and restart it there";
}

std::string owed_text(const order::Event& event, const trace::Names& names) {
  return "node " + names.name(event.who.node) + " is away, and " + std::to_string(event.a) +
         " values of its last view that it lacks are discarded here, as there are too many to "
         "retain: unless another node still has them, it stops once it is back, and joins again "
         "when it is restarted";
}

std::string refused_text(NodeId from, seal::Refusal reason, const trace::Names& names) {
  // Anyone who can forge a source address can cause this message, once.
  const std::string begin =
      "node " + names.name(from) + " is ignored: packets from its address are ";
  switch (reason) {
    case seal::Refusal::unknown_version:
      return begin +
             "not sealed, or by another version of Peal; give it the key file too, and run "
             "the same version on all nodes";
    case seal::Refusal::unknown_key:
      return begin +
             "sealed with a key that is not in the key file here; bring the same key file to "
             "all nodes";
    case seal::Refusal::bad_badge:
      return begin + "sealed for another cluster; compare the key cluster";
    default: return {};
  }
}

std::string new_log_text(const std::string& folder) {
  return "there was no log in " + folder +
         ", and a new one was made: if this node took part before, it votes again once the others "
         "have "
         "decided to take it in with the new one";
}

std::string renewed_text(NodeId node, bool self, const trace::Names& names) {
  return (self ? std::string("this node") : "node " + quote(names.name(node))) +
         " had lost its votes, and has been taken in as it is now: it votes again";
}

std::string put_back_text(NodeId other, const trace::Names& names) {
  return "the data_dir of node " + quote(names.name(other)) +
         " is an older copy of what it was: others heard of promises and votes that it lacks, so "
         "it does "
         "not vote; stop the node, empty the folder, and start it again";
}

std::string put_back_text(const std::string& folder) {
  return folder +
         " is an older copy of what it was: others heard of promises and votes of this node that "
         "it "
         "lacks, so this node does not vote; stop it, empty the folder, and start it again: it "
         "votes once "
         "the others have decided to take it in with a new log";
}

std::string address_text(const io::AddressBook::Change& change, const trace::Names& names) {
  const io::AddressBook::Entry& entry = change.entry;
  const std::string node = "node " + quote(names.name(entry.node));
  if (!entry.known()) {
    return node + " (" + to_string(entry.name) + ") cannot be reached: " + entry.problem;
  }
  const bool moved = !change.before.is_unspecified();
  return node + " (" + to_string(entry.name) + ") is at " + to_string(entry.at) +
         (moved ? ", no longer at " + to_string(change.before) : "");
}

}  // namespace peal::runtime
