// SPDX-License-Identifier: Apache-2.0
#include "io/peer_stream_counters.h"

#include <array>

namespace peal::io {
namespace {

using C = PeerStreamCounters;
constexpr std::array kStreamFields{
    PeerStreamCounterField{"packets_out", &C::packets_out},
    PeerStreamCounterField{"bytes_out", &C::bytes_out},
    PeerStreamCounterField{"packets_in", &C::packets_in},
    PeerStreamCounterField{"bytes_in", &C::bytes_in},
    PeerStreamCounterField{"sealed", &C::sealed},
    PeerStreamCounterField{"write_calls", &C::write_calls},
    PeerStreamCounterField{"read_calls", &C::read_calls},
    PeerStreamCounterField{"connects", &C::connects},
    PeerStreamCounterField{"connected", &C::connected},
    PeerStreamCounterField{"accepted", &C::accepted},
    PeerStreamCounterField{"broken", &C::broken},
    PeerStreamCounterField{"close_unknown_source", &C::close_unknown_source},
    PeerStreamCounterField{"close_bad_length", &C::close_bad_length},
    PeerStreamCounterField{"close_forged", &C::close_forged},
    PeerStreamCounterField{"close_replaced", &C::close_replaced},
    PeerStreamCounterField{"close_ended", &C::close_ended},
    PeerStreamCounterField{"drop_queue_full", &C::drop_queue_full},
    PeerStreamCounterField{"drop_not_connected", &C::drop_not_connected},
    PeerStreamCounterField{"drop_broken", &C::drop_broken},
    PeerStreamCounterField{"drop_too_big", &C::drop_too_big},
    PeerStreamCounterField{"drop_no_room", &C::drop_no_room},
    PeerStreamCounterField{"drop_refused", &C::drop_refused},
    PeerStreamCounterField{"drop_wrong_lane", &C::drop_wrong_lane},
    PeerStreamCounterField{"drop_fault", &C::drop_fault},
    PeerStreamCounterField{"pool_exhausted", &C::pool_exhausted},
};
static_assert(kStreamFields.size() * sizeof(std::uint64_t) == sizeof(PeerStreamCounters),
              "every counter has a name");

}  // namespace

std::span<const PeerStreamCounterField> peer_stream_counter_fields() { return kStreamFields; }

}  // namespace peal::io
