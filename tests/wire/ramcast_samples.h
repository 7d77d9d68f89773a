// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "samples.h"
#include "wire/ramcast.h"

// Legal frames of ramcast.h and records of ramcast_memory.h for tests: plain ones, and random ones.

namespace peal::wire::test {

inline Header header_of(RamcastKind kind) { return header_of(frame_kind(kind)); }

/// A message to the domains 1 and 2, with the indexes 5 and 6.
MessageHead plain_head();
/// Three nodes, of which the first and the third are members.
DomainView plain_domain_view();
MemoryHello plain_hello();
Takeover plain_takeover();
MemberState plain_member_state();  ///< two records
Nack plain_nack();
/// The whole packet of a RELAY.
std::vector<std::byte> packet_of(const MessageRelay& relay, const std::vector<std::byte>& unit);

Slot plain_slot();           ///< index 6 in domain 2
LogEntry plain_log_entry();  ///< a proposal for plain_head()
Cell plain_cell();           ///< an acknowledgement of a leader
Control plain_control_cell();

// Random legal frames and records, up to the largest sizes.
Round random_begun_round(Random& random);
MessageHead random_head(Random& random);
DomainView random_domain_view(Random& random);
MemoryHello random_hello(Random& random);
Takeover random_takeover(Random& random);
MemberState random_member_state(Random& random);
Nack random_nack(Random& random);
MessageRelay random_message_relay(Random& random);
Slot random_slot(Random& random);
LogEntry random_log_entry(Random& random);  ///< not a pad
/// The unit of a random entry: as long as the entry's kind demands.
std::vector<std::byte> random_log_unit(Random& random, LogKind kind);
Cell random_cell(Random& random);
Control random_control(Random& random);

}  // namespace peal::wire::test
