// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "io/address_book.h"
#include "io/udp.h"
#include "order/engine.h"
#include "seal/packet.h"
#include "trace/names.h"
#include "wire/frames.h"

namespace peal::runtime {

/// What a node waits for, in plain words; empty if nothing.
std::string wait_text(const order::WaitReason& reason, const trace::Names& names);

/// What new messages wait for, in plain words: `node` does not accept what is sent to it.
std::string congested_text(NodeId node, const trace::Names& names);
/// How data travel, and which nodes cannot be reached that way.
std::string data_text(const io::UdpTransport& transport, const trace::Names& names);
/// The message that a node's port for streams cannot be reached, and what to check.
std::string unreached_text(const io::StreamState& state, const trace::Names& names);

/// Why a member gave its view up, in plain words; `event` is a gather_started. `pause` is the time
/// for which this process was suspended, if it was. Empty if the event has no reason.
std::string gather_text(const order::Event& event, Duration pause, const trace::Names& names);

/// Why a view of `members` ended, in plain words, if only `company` continues together.
std::string passage_text(std::span<const MemberId> members, std::span<const MemberId> company,
                         const trace::Names& names);

/// Why the packets of `who` are refused, and what to do about it.
std::string incompatible_text(const MemberId& who, wire::Drop reason, const trace::Names& names);

/// The message about discarded values: an absent node lacks them, and there was no space to retain
/// them.
std::string owed_text(const order::Event& event, const trace::Names& names);

/// Why packets from a node's address were not opened, and what to do about it; empty if such
/// packets are normal on networks, or an attack.
std::string refused_text(NodeId from, seal::Refusal reason, const trace::Names& names);

/// The new address of another node, or why it is unknown.
std::string address_text(const io::AddressBook::Change& change, const trace::Names& names);

/// The message of an acceptor that had no log in this folder.
std::string new_log_text(const std::string& folder);

/// The message about an acceptor that lost its votes and may vote again. `self`: the acceptor is
/// this node.
std::string renewed_text(NodeId node, bool self, const trace::Names& names);

/// The message about an acceptor whose log is an older copy: node `other`, or this node, whose log
/// is in `folder`.
std::string put_back_text(NodeId other, const trace::Names& names);
std::string put_back_text(const std::string& folder);

/// The warning of a member without keys when it starts.
inline constexpr std::string_view kInsecureText =
    "insecure = true: packets between nodes are neither encrypted nor authenticated, and whoever "
    "reaches the network can read and forge everything; see key_file";

inline constexpr std::string_view kForgottenText =
    "this node has lost its votes, which were in memory or in a data_dir that is gone: it votes "
    "again "
    "once the others have decided to take it in as it is now, which they do by themselves as long "
    "as "
    "most acceptors kept theirs";

}  // namespace peal::runtime
