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

/// That new messages wait for this node, which does not take what is sent to it.
std::string congested_text(NodeId node, const trace::Names& names);
/// How data travel, and which nodes are not reached that way.
std::string data_text(const io::UdpTransport& transport, const trace::Names& names);
/// That a node's port for streams is not reached, and what to look for.
std::string unreached_text(const io::StreamState& state, const trace::Names& names);

/// Why a member gave its view up, in plain words, from an event gather_started. `pause` is how long
/// this process did not run, if it did not.
std::string gather_text(const order::Event& event, Duration pause, const trace::Names& names);

/// Why a view of `members` ended, in plain words, if just `company` goes on together.
std::string passage_text(std::span<const MemberId> members, std::span<const MemberId> company,
                         const trace::Names& names);

/// Why another process's packets are of no use here, and what to do about it.
std::string incompatible_text(const MemberId& who, wire::Drop reason, const trace::Names& names);

/// That there was no room for what a node that is away will lack.
std::string owed_text(const order::Event& event, const trace::Names& names);

/// Why packets from a node's address were not opened, and what to do about it; empty if that is
/// what happens on networks, or to somebody who tries.
std::string refused_text(NodeId from, seal::Refusal reason, const trace::Names& names);

/// Where another node is now, or why nobody knows.
std::string address_text(const io::AddressBook::Change& change, const trace::Names& names);

/// What an acceptor says that had no log in this folder.
std::string new_log_text(const std::string& folder);

/// What a node says of an acceptor that has lost its votes and has been taken in as it is now: of
/// another one, or of itself.
std::string renewed_text(NodeId node, bool self, const trace::Names& names);

/// What a node says of an acceptor whose log was put back: of another one, or of itself, whose log
/// is in this folder.
std::string put_back_text(NodeId other, const trace::Names& names);
std::string put_back_text(const std::string& folder);

/// What a member without a key says when it starts.
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
