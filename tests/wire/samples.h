// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "order/ring/commit_record.h"
#include "wire/frames.h"
#include "wire/settings.h"
#include "wire/trial.h"

// Legal frames for tests: a plain one of each kind, and random ones.

namespace peal::wire::test {

inline constexpr MemberId kSender{{5}, 50};
inline constexpr ViewId kSomeView{9, {{1}, 10}};

// The golden packets and the samples have the commit tokens of rings.
using order::ring::decode_commit;
using order::ring::decode_record;
using order::ring::encode_commit;
using order::ring::kSpanMax;
using order::ring::OldViewRecord;
using order::ring::ViewOptions;

inline Header header_of(FrameKind kind) { return {kind, 0x1122334455667788, kSender}; }

/// Members on the nodes 1 to `count`. Each epoch is 10 times the node's number.
std::vector<MemberId> first_members(std::uint32_t count);

Token plain_token();
Data plain_data();
Join plain_join();
Commit plain_commit();  ///< members 1 to 4: 1 and 2 from one old view, 3 from another

/// A number from 0 to `top`: mostly small, sometimes any number, sometimes near `top`.
std::uint64_t skewed(Random& random, std::uint64_t top);
MemberId random_member(Random& random);
ViewId random_view(Random& random);  ///< its number is at least 1

// Random legal frames, up to the largest sizes; the sender is kSender.
Token random_token(Random& random);
Data random_data(Random& random);
Join random_join(Random& random);
Commit random_commit(Random& random);
ProbeFrame random_probe(Random& random);
HoldCancel random_hold_cancel(Random& random);
EpochNotice random_epoch_notice(Random& random);
Trial random_trial(Random& random);
SettingsFrame random_settings(Random& random);  ///< its keys and values are static texts

}  // namespace peal::wire::test
