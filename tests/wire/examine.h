// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "wire/frames.h"
#include "wire/paxos.h"
#include "wire/ramcast.h"
#include "wire/settings.h"
#include "wire/toto.h"
#include "wire/trial.h"

// Checks what the decoders guarantee for any bytes. The tests and the fuzzers use these checks.

namespace peal::wire::test {

/// The result of passing one packet to the decoders.
struct Verdict {
  Drop header = Drop::none;
  Drop body = Drop::none;       ///< valid if `header` is none
  const char* wrong = nullptr;  ///< the violated guarantee; null if there is none

  bool accepted() const { return header == Drop::none && body == Drop::none; }
};

/// The protocol that wrote the options and the records of a COMMIT. The packet does not name it.
enum class Records : std::uint8_t { ring, toto };

/// Decodes the header, and the body of the kind that the header names. An accepted frame must obey
/// every rule of its struct, and must encode to the same bytes again.
Verdict examine(ByteView packet, Checksum expected = Checksum::present,
                Records records = Records::ring);

// The rules of the structs, written a second time and more simply than in the codecs. Each function
// returns the broken rule, or null.
const char* broken_rule(const Token& token);
const char* broken_rule(const Data& data);
const char* broken_rule(const Join& join, const MemberId& sender);
const char* broken_rule(const Commit& commit, Records records);
const char* broken_rule(const ProbeFrame& probe);
const char* broken_rule(const HoldCancel& hold_cancel);
const char* broken_rule(const EpochNotice& notice);
const char* broken_rule(const Trial& trial);
const char* broken_rule(const SettingsFrame& frame, ByteView packet);
const char* broken_rule(const ValueFrame& value, PaxosKind kind, ByteView bytes);
const char* broken_rule(const State& state, const MemberId& sender);
const char* broken_rule(const Prepare& prepare);
const char* broken_rule(const Promise& promise);
const char* broken_rule(const Fetch& fetch);
const char* broken_rule(const Fetched& fetched, ByteView bytes);
const char* broken_rule(const Repeat& repeat);
const char* broken_rule(const Recall& recall);
const char* broken_rule(const Word& word, ByteView bytes);
const char* broken_rule(const LinkCheck& check);
const char* broken_rule(const Lacks& lacks);
const char* broken_rule(const Pass& pass);
const char* broken_rule(const Lives& lives);
const char* broken_rule(const LogAnswer& answer);
const char* broken_rule(const Relay& relay, ByteView bytes);
const char* broken_rule(const Checkpoint& checkpoint);
const char* broken_rule(const Node& node, ByteView packet);
const char* broken_rule(const TotoLacks& lacks);
const char* broken_rule(const TotoStatus& status);
const char* broken_rule(const TotoPass& pass);
const char* broken_rule(const MemoryHello& hello);
const char* broken_rule(const Takeover& takeover);
const char* broken_rule(const MemberState& state);
const char* broken_rule(const Nack& nack);
const char* broken_rule(const MessageRelay& relay, ByteView packet);
const char* broken_rule(const AboutMessage& about, RamcastKind kind);
const char* broken_rule(const BacklogRequest& request);
const char* broken_rule(const Backlog& backlog, ByteView packet);
const char* broken_rule(const BacklogView& backlog);

}  // namespace peal::wire::test
