// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

namespace peal::order {

namespace event {

inline constexpr EventKind token_lost{"token_lost"};                    ///< view
inline constexpr EventKind token_retransmitted{"token_retransmitted"};  ///< view; who = receiver
inline constexpr EventKind stall_excluded{"stall_excluded"};            ///< who = accused member

}  // namespace event

namespace gather {

inline constexpr GatherReason boot{"boot", "this node has started"};
inline constexpr GatherReason join{"join", "{who} asked for a new view"};
inline constexpr GatherReason foreign{"foreign", "{who} was found outside the view"};
inline constexpr GatherReason leave{"leave", "{who} left"};
inline constexpr GatherReason consensus_timeout{"consensus_timeout",
                                                "membership consensus timed out"};
inline constexpr GatherReason pause{"pause", "this node did not run for {pause_ms} ms"};
inline constexpr GatherReason commit_loss{"commit_loss", "an attempt at a view failed"};
inline constexpr GatherReason sets_grew{"sets_grew", "{who} named other members"};
inline constexpr GatherReason epoch{"epoch", "an earlier incarnation of this node was still known"};
inline constexpr GatherReason nodes{"nodes", "the list of nodes has changed"};

inline constexpr GatherReason token_loss{"token_loss", "no token came for the time of token_loss"};
inline constexpr GatherReason stall{"stall", "{who} no longer received anything"};

}  // namespace gather

}  // namespace peal::order
