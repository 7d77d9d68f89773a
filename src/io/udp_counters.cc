// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "io/udp.h"

namespace peal::io {
namespace {

constexpr std::array kFields{
    CounterField{"token_packets_out", &UdpCounters::token_packets_out},
    CounterField{"token_bytes_out", &UdpCounters::token_bytes_out},
    CounterField{"control_packets_out", &UdpCounters::control_packets_out},
    CounterField{"control_bytes_out", &UdpCounters::control_bytes_out},
    CounterField{"data_packets_out", &UdpCounters::data_packets_out},
    CounterField{"data_bytes_out", &UdpCounters::data_bytes_out},
    CounterField{"data_multicast_out", &UdpCounters::data_multicast_out},
    CounterField{"token_packets_in", &UdpCounters::token_packets_in},
    CounterField{"token_bytes_in", &UdpCounters::token_bytes_in},
    CounterField{"data_packets_in", &UdpCounters::data_packets_in},
    CounterField{"data_bytes_in", &UdpCounters::data_bytes_in},
    CounterField{"data_multicast_in", &UdpCounters::data_multicast_in},
    CounterField{"send_calls", &UdpCounters::send_calls},
    CounterField{"send_messages", &UdpCounters::send_messages},
    CounterField{"segmented_messages", &UdpCounters::segmented_messages},
    CounterField{"segmented_packets", &UdpCounters::segmented_packets},
    CounterField{"receive_calls", &UdpCounters::receive_calls},
    CounterField{"receive_empty", &UdpCounters::receive_empty},
    CounterField{"coalesced_messages", &UdpCounters::coalesced_messages},
    CounterField{"coalesced_packets", &UdpCounters::coalesced_packets},
    CounterField{"drop_queue_full", &UdpCounters::drop_queue_full},
    CounterField{"drop_send_error", &UdpCounters::drop_send_error},
    CounterField{"drop_too_big", &UdpCounters::drop_too_big},
    CounterField{"drop_unknown_peer", &UdpCounters::drop_unknown_peer},
    CounterField{"drop_no_address", &UdpCounters::drop_no_address},
    CounterField{"drop_unknown_source", &UdpCounters::drop_unknown_source},
    CounterField{"drop_own", &UdpCounters::drop_own},
    CounterField{"drop_truncated", &UdpCounters::drop_truncated},
    CounterField{"drop_wrong_lane", &UdpCounters::drop_wrong_lane},
    CounterField{"drop_kernel", &UdpCounters::drop_kernel},
    CounterField{"drop_fault_in", &UdpCounters::drop_fault_in},
    CounterField{"drop_fault_out", &UdpCounters::drop_fault_out},
    CounterField{"send_blocked", &UdpCounters::send_blocked},
    CounterField{"pool_exhausted", &UdpCounters::pool_exhausted},
    CounterField{"segmentation_refused", &UdpCounters::segmentation_refused},
    CounterField{"probe_hello_out", &UdpCounters::probe_hello_out},
    CounterField{"probe_hello_in", &UdpCounters::probe_hello_in},
    CounterField{"probe_ack_out", &UdpCounters::probe_ack_out},
    CounterField{"probe_ack_in", &UdpCounters::probe_ack_in},
    CounterField{"probe_bad", &UdpCounters::probe_bad},
    CounterField{"probe_limited", &UdpCounters::probe_limited},
};
static_assert(kFields.size() * sizeof(std::uint64_t) == sizeof(UdpCounters),
              "every counter has a name");

}  // namespace

std::span<const CounterField> udp_counter_fields() { return kFields; }

}  // namespace peal::io
