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

// The commit tokens of the golden packets, and of the samples, are those of rings.
using order::ring::decode_commit;
using order::ring::decode_record;
using order::ring::encode_commit;
using order::ring::kSpanMax;
using order::ring::OldViewRecord;
using order::ring::ViewOptions;

inline Header header_of(FrameKind kind) { return {kind, 0x1122334455667788, kSender}; }

/// Members 1 to `count`, each in its incarnation number 10 times its node.
std::vector<MemberId> first_members(std::uint32_t count);

Token plain_token();
Data plain_data();
Join plain_join();
Commit plain_commit();  ///< members 1 to 4, of which 1 and 2 come from one old view, 3 from another

/// Mostly small, sometimes anything up to `top`, sometimes at its edge.
std::uint64_t skewed(Random& random, std::uint64_t top);
MemberId random_member(Random& random);
ViewId random_view(Random& random);  ///< formed

// Random legal frames, up to the largest sizes; the sender is kSender.
Token random_token(Random& random);
Data random_data(Random& random);
Join random_join(Random& random);
Commit random_commit(Random& random);
ProbeFrame random_probe(Random& random);
HoldCancel random_hold_cancel(Random& random);
EpochNotice random_epoch_notice(Random& random);
Trial random_trial(Random& random);
SettingsFrame random_settings(Random& random);  ///< its texts are static

}  // namespace peal::wire::test
