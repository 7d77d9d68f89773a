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

/// Says in plain words what a node waits for; empty if the node waits for nothing.
std::string wait_text(const order::WaitReason& reason, const trace::Names& names);

/// Says in plain words what new messages wait for: `node` does not accept the data sent to it.
std::string congested_text(NodeId node, const trace::Names& names);
/// Says how data are sent ("datagrams" or "streams"), and to which nodes no stream is open.
std::string data_text(const io::UdpTransport& transport, const trace::Names& names);
/// The message about a node whose port for streams cannot be reached. It also says what to check.
std::string unreached_text(const io::StreamState& state, const trace::Names& names);

/// Says in plain words why a member gave up its view; `event` is a gather_started event. `pause` is
/// the time for which this process was suspended; 0 if it was not. Empty if the event has no
/// reason.
std::string gather_text(const order::Event& event, Duration pause, const trace::Names& names);

/// Says in plain words why a view of `members` ended. `company` are the members that go on to the
/// next view together.
std::string passage_text(std::span<const MemberId> members, std::span<const MemberId> company,
                         const trace::Names& names);

/// Says why the packets of `who` are refused, and what the operator can do.
std::string incompatible_text(const MemberId& who, wire::Drop reason, const trace::Names& names);

/// Says what a node has written into this node's memory that breaks a rule; `event` is a bad_record
/// event.
std::string bad_record_text(const order::Event& event, const trace::Names& names);

/// The message about discarded values: an absent node lacks these values, and there was no space to
/// retain them.
std::string owed_text(const order::Event& event, const trace::Names& names);

/// Says why packets from a node's address could not be opened, and what the operator can do. Empty
/// for reasons that need no action, because such packets occur on every network or come from an
/// attacker.
std::string refused_text(NodeId from, seal::Refusal reason, const trace::Names& names);

/// The message about another node's new address, or about a failed lookup of the address.
std::string address_text(const io::AddressBook::Change& change, const trace::Names& names);

/// The message of an acceptor that found no log in `folder` and created a new log.
std::string new_log_text(const std::string& folder);

/// The message about an acceptor that lost its votes and may vote again. `self`: the acceptor is
/// this node.
std::string renewed_text(NodeId node, bool self, const trace::Names& names);

/// The message about an acceptor whose log is an older copy: node `other`, or this node, whose log
/// is in `folder`.
std::string put_back_text(NodeId other, const trace::Names& names);
std::string put_back_text(const std::string& folder);

/// The warning of a member that starts without keys.
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
