// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/buffer.h"
#include "io/endpoint.h"
#include "io/error.h"
#include "io/fd.h"
#include "io/sender.h"
#include "io/udp.h"

namespace peal::io {

/// The sockets of one transport, opened and set up.
struct UdpSockets {
  Fd token;  ///< tokens and control, both ways
  Fd data;   ///< data by unicast, both ways, and sends data by multicast
  Fd group;  ///< receives data by multicast; empty if there is no multicast
  Endpoint group_at;
  std::string multicast_status;
  bool segmentation = false;
  bool coalescing = false;
  Endpoint own_data;  ///< where this node multicasts from
  bool shared_machine = false;
  bool own_filtered = false;  ///< the group socket drops what this node multicasts itself
  std::uint32_t receive_buffer_bytes{};
  std::uint32_t datagram_bytes_max{};  ///< that leaves the interface in one piece
};

/// Opens the sockets of `config`, which has been checked. Without multicast mode `group`, a group
/// that cannot be joined is no error: data then goes by unicast, and `multicast_status` says why.
Result<UdpSockets, IoError> open_udp_sockets(const UdpConfig& config);

/// Another node is on this machine after all: from now on it gets copies of what is multicast here,
/// and `own` counts those that come back.
void share_machine(UdpSockets& sockets, OwnCopies& own);

/// The group and port that follow from a cluster's hash: 239.192.0.0/16, ports 20000 to 29999.
Endpoint derived_group(std::uint64_t cluster);

/// Checks everything that can be checked without the operating system. Errors: invalid_option.
Result<void, IoError> check_udp_config(const UdpConfig& config, const BufferPool& receive_pool);

}  // namespace peal::io
