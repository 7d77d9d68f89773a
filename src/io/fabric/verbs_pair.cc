// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/fabric/hello.h"

namespace peal::io::fabric {
namespace {

constexpr std::uint32_t kPacketNumbers = 0xff'ffff;
/// A lost packet is sent again after 4.096 us * 2^kTimeout, 67 ms, kRetries times.
constexpr std::uint8_t kTimeout = 14;
constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint8_t kReadsAtOnce = 1;
/// What an end that takes writes lets the other one do. The other one reads the bell only: the
/// regions cannot be read.
constexpr unsigned kRights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

std::uint32_t random_packet_number() {
  return load<std::uint32_t>(ByteView(fresh_bytes())) & kPacketNumbers;
}

}  // namespace

Result<QueuePair, std::string> QueuePair::make(const VerbsDevice& device, ibv_pd* domain,
                                               ibv_cq* completions, const Shape& shape) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = completions;
  wanted.recv_cq = completions;
  wanted.cap.max_send_wr = shape.sends;
  wanted.cap.max_recv_wr = 1;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = shape.inline_bytes;
  wanted.qp_type = IBV_QPT_RC;
  const VerbsLibrary& library = device.library();
  VerbsOwned<ibv_qp> made(library.create_qp(domain, &wanted), library.destroy_qp);
  if (made == nullptr) return unexpected(device.problem_of("make a queue pair", errno));
  QueuePair pair(device, std::move(made), random_packet_number());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device.port().number;
  attributes.qp_access_flags = shape.takes_writes ? kRights : 0;
  if (!pair.modify(attributes,
                   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
    return unexpected(device.problem_of("set up a queue pair", errno));
  }
  return pair;
}

VerbsEnd QueuePair::end() const {
  const VerbsDevice::Port& port = device_->port();
  return {pair_->qp_num, first_packet_, port.lid, port.mtu, port.link};
}

bool QueuePair::connect(const VerbsEnd& other, const Endpoint& peer) {
  const VerbsDevice::Port& port = device_->port();
  if (other.link != port.link) return false;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(other.mtu, port.mtu));
  attributes.dest_qp_num = other.pair;
  attributes.rq_psn = other.first_packet;
  attributes.max_dest_rd_atomic = kReadsAtOnce;
  attributes.min_rnr_timer = 1;
  attributes.ah_attr.port_num = port.number;
  attributes.ah_attr.dlid = other.lid;
  if (port.link == VerbsEnd::Link::roce) {
    // Not an address of the peer's choice: the device could have to look for it.
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.sgid_index = port.gid;
    attributes.ah_attr.grh.hop_limit = kHopLimit;
    std::memcpy(attributes.ah_attr.grh.dgid.raw, peer.ip.data(), peer.ip.size());
  }
  if (!modify(attributes, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
    return false;
  }
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kRetries;
  attributes.sq_psn = first_packet_;
  attributes.max_rd_atomic = kReadsAtOnce;
  return modify(attributes, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

void QueuePair::refuse_writes() {
  ibv_qp_attr attributes{};
  attributes.qp_access_flags = 0;
  modify(attributes, IBV_QP_ACCESS_FLAGS);
}

bool QueuePair::post(ibv_send_wr& work) {
  ibv_send_wr* failed = nullptr;
  return ::ibv_post_send(pair_.get(), &work, &failed) == 0;
}

bool QueuePair::modify(ibv_qp_attr& attributes, int mask) {
  return device_->library().modify_qp(pair_.get(), &attributes, mask) == 0;
}

}  // namespace peal::io::fabric
