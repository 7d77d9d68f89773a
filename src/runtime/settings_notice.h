// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "base/time.h"
#include "config/cluster_wide.h"
#include "config/settings.h"
#include "trace/names.h"
#include "wire/settings.h"

namespace peal::runtime {

/// Reports which cluster-wide settings of another node differ, and both values. Packets of other
/// kinds show only that some settings differ, and neither node accepts such packets. So the two
/// nodes send each other their settings (wire/settings.h). Everything that arrives may be forged,
/// so work, memory and lines are bounded: for each node at most one answer a second, one line in
/// 10 s, and eight lines until a view has the node. Thread: the loop's.
class SettingsNotice {
 public:
  struct Outputs {
    std::function<MemberId()> self;
    std::function<void(NodeId to, const BufferRef& packet)> send;
    /// Why the node is ignored, for `peal status`; replaces the node's previous line.
    std::function<void(NodeId node, const std::string& line)> reason;
    /// Reports a line of `reason` to a person, each line once.
    std::function<void(const std::string& line)> tell;
  };

  /// `names` and `frames` must outlive the notice. Packets are made in slabs of `frames`.
  SettingsNotice(const config::Settings& settings, const trace::Names& names, BufferPool& frames,
                 Outputs outputs);
  SettingsNotice(const SettingsNotice&) = delete;
  SettingsNotice& operator=(const SettingsNotice&) = delete;

  /// The engine ignores this node because its settings differ: asks the node for its settings. If
  /// the node does not answer (nodes of earlier releases do not), the reported line names all
  /// settings that may differ.
  void on_other_settings(Instant now, NodeId node);
  /// A packet of kind SETTINGS arrived from the address of `from`. Returns true if the packet is
  /// valid and from a node of this cluster. Otherwise give the packet to the engine, which drops it
  /// and counts the reason. A node with the same settings is answered too, and not reported: it was
  /// asked because of a packet that was not its own.
  bool on_packet(Instant now, NodeId from, ByteView packet);
  /// A view has this node, so its settings no longer differ: forgets the node.
  void forget(NodeId node);

  std::optional<Instant> next_deadline() const { return next_deadline_; }
  void on_timer(Instant now);

 private:
  static constexpr std::size_t kLinesMax = 8;

  struct Peer {
    std::uint32_t questions = 0;    ///< sent since the engine reported the node
    std::optional<Instant> ask_at;  ///< time of the next question; none: no question follows
    Instant answer_from{};          ///< no answer before this time
    Instant tell_from{};            ///< no reported line before this time
    std::string line;               ///< the newest line about received settings; empty: none
    std::string held;               ///< a line that waits for `tell_from`; empty: none
    FixedVector<std::uint64_t, kLinesMax> told;  ///< digests of the reported lines
  };

  Peer* peer(NodeId node);
  void ask(Instant now, NodeId node, Peer& peer);
  void send(NodeId to, bool asks);
  void say(Instant now, Peer& peer, std::string line);
  void plan();
  std::string unnamed(NodeId node) const;
  std::string line_about(NodeId node, const wire::SettingsFrame& theirs) const;
  std::vector<std::string> differences(const wire::SettingsFrame& theirs) const;

  std::uint64_t cluster_;
  wire::Checksum checksum_;
  std::vector<config::ClusterWide> own_;  ///< ascending by key
  const trace::Names& names_;
  BufferPool& frames_;
  Outputs outputs_;
  std::map<NodeId, Peer> peers_;
  std::optional<Instant> next_deadline_;
};

}  // namespace peal::runtime
