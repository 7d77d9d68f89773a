// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/buffer.h"
#include "io/endpoint.h"
#include "io/error.h"
#include "io/fd.h"
#include "io/send_batch.h"
#include "io/udp.h"

namespace peal::io {

/// The sockets of one transport, opened and set up.
struct UdpSockets {
  Fd token;  ///< sends and receives tokens and control
  Fd data;   ///< sends all data; receives unicast data
  Fd group;  ///< receives multicast data; empty if there is no multicast
  Endpoint group_at;
  std::string multicast_status;
  bool segmentation = false;
  bool coalescing = false;
  Endpoint own_data;  ///< the address from which this node multicasts
  bool shared_machine = false;
  bool own_filtered = false;  ///< the group socket drops this node's own multicasts
  std::uint32_t receive_buffer_bytes{};
  /// The longest datagram that is not fragmented, or the limit in UdpConfig if that is lower.
  std::uint32_t datagram_bytes_max{};
};

/// Opens the sockets of `config`, which must have passed check_udp_config(). Except with multicast
/// mode `group`, a failure to join the group is no error: data is then sent by unicast, and
/// `multicast_status` says why.
Result<UdpSockets, IoError> open_udp_sockets(const UdpConfig& config);

/// Call it when another node is on this machine: that node then gets copies of this node's
/// multicasts, and `own` counts the copies that come back to this node.
void share_machine(UdpSockets& sockets, OwnCopies& own);

/// The group and port that follow from a cluster's hash: 239.192.0.0/16, ports 20000 to 29999.
Endpoint derived_group(std::uint64_t cluster);

/// Checks everything in `config` that needs no system call, and the size of the pool. Errors:
/// invalid_option.
Result<void, IoError> check_udp_config(const UdpConfig& config, const BufferPool& receive_pool);

}  // namespace peal::io
