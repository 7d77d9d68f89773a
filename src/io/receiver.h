// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <time.h>

#include <array>
#include <cstdint>
#include <optional>

#include "base/buffer.h"
#include "base/time.h"
#include "io/fault_injector.h"
#include "io/frame_header.h"
#include "io/loop.h"
#include "io/peers.h"
#include "io/send_batch.h"
#include "io/slab_cursor.h"
#include "io/udp.h"
#include "seal/opener.h"

namespace peal::io {

/// recvmmsg(2), or a test's replacement.
using ReceiveCall = int (*)(int fd, mmsghdr* messages, unsigned count, int flags, timespec* wait);

/// Takes the multicast probes that arrive on the data sockets.
class ProbeTaker {
 public:
  virtual ~ProbeTaker() = default;
  /// `datagram` was sealed as a probe or, if packets are not sealed, starts like a probe.
  virtual void on_probe(Instant now, PeerIndex from, bool by_multicast, ByteView datagram) = 0;
};

/// The receiving side of a transport. Reads its three sockets into slabs, in the order that the
/// node prefers. Hands over each datagram in place. Allocates nothing.
class Receiver {
 public:
  enum Socket : std::size_t { kToken, kData, kGroup };
  static constexpr std::size_t kSockets = 3;
  static constexpr Duration kPoolRetry = milliseconds(1);

  struct Options {
    std::array<int, kSockets> fds{-1, -1, -1};  ///< -1: no such socket
    bool coalescing = false;
    std::uint32_t packet_bytes_max = 1'472;
    std::uint32_t budget = 256;
    FrameHeader header;  ///< written in front of opened data packets
    ReceiveCall call = &::recvmmsg;
  };
  /// `faults` may be null; `opener` is null if packets are not sealed. Reserves one slab of the
  /// pool for tokens, so that data cannot use up all slabs.
  Receiver(const Options& options, BufferPool& pool, const PeerTable& peers, UdpCounters& counters,
           const OwnCopies& own, FaultInjector* faults, seal::Opener* opener);

  /// Notes that the socket may have something to read.
  void mark_readable(Socket socket) { inputs_[socket].readable = true; }
  Progress receive(const Turn& turn, PacketSink& sink, ProbeTaker& probes);
  /// Call it when the peers have new indexes in their table. Drops packets that were read from
  /// nodes that are no longer peers.
  void move_peers(const PeerMap& map);
  /// When to check the pool for a slab again; nothing if reading does not wait for a slab.
  std::optional<Instant> next_deadline() const;

 private:
  static constexpr std::size_t kBatchMax = 16;
  static constexpr std::uint32_t kDatagramMax = 65'536;
  // Maximum number of packets of the token socket beyond the budget.
  static constexpr unsigned kUrgentMax = 16;

  /// A message from the kernel: one datagram, or several of `segment` bytes each.
  struct Message {
    BufferRef bytes;
    std::uint32_t offset = 0;
    std::uint32_t segment = 0;
    PeerIndex from = 0;
  };
  struct Input {
    int fd = -1;
    Lane lane = Lane::data;
    bool by_multicast = false;
    bool readable = true;  ///< the socket may have something to read
    bool starved = false;  ///< not read because no slab was free
    bool unsure = false;   ///< token socket only: data was read after this socket was checked
    SlabCursor* slabs = nullptr;
    std::uint32_t slot_bytes = 0;
    unsigned slots = 0;              ///< messages per system call
    std::uint32_t kernel_drops = 0;  ///< number of the kernel's drops that are counted already
    std::array<Message, kBatchMax> waiting;  ///< read, but not handed over yet
    unsigned first = 0;
    unsigned count = 0;
    bool has_waiting() const { return first < count; }
    bool may_read() const { return fd >= 0 && readable && !starved; }
  };
  struct Control {
    alignas(cmsghdr) std::array<char, 2 * CMSG_SPACE(sizeof(std::uint32_t))> bytes;
  };
  struct Context {
    PacketSink& sink;
    ProbeTaker& probes;
  };

  bool step(const Context& context);
  bool step_token(const Context& context, bool look_again);
  bool step_data(const Context& context);
  bool step_input(Input& input, const Context& context);
  void hand_over(Input& input, const Context& context);
  BufferRef cut(Message& message) const;
  bool is_probe(const Input& input, const BufferRef& packet, Lane sealed_as) const;
  /// Opens `packet` in place; afterwards `packet` is the whole frame. False if the packet was
  /// dropped.
  bool open(const Input& input, const Context& context, BufferRef& packet, NodeId& from,
            Lane& sealed_as);
  bool read(Input& input);
  void prepare(const Input& input, std::byte* room);
  void take_in(Input& input, std::size_t slot);
  void note_dropped(std::uint64_t& counter, const mmsghdr& message, std::uint32_t segment);
  std::uint32_t read_control(Input& input, msghdr& header);
  void note_kernel_drops(Input& input, std::uint32_t drops);
  std::optional<PeerIndex> peer_of(const sockaddr_storage& source, Input& input,
                                   const mmsghdr& message, std::uint32_t segment);
  void retry_starved(Instant now);

  Options options_;
  const PeerTable& peers_;
  UdpCounters& counters_;
  const OwnCopies& own_;
  FaultInjector* faults_;
  seal::Opener* opener_;
  SlabCursor token_slabs_;
  SlabCursor data_slabs_;
  std::array<Input, kSockets> inputs_;
  Socket next_data_ = kGroup;  ///< the data socket to read first
  bool control_next_ = false;  ///< control is read next, while control and data take turns
  std::optional<Instant> pool_retry_;
  Instant now_{};

  std::array<mmsghdr, kBatchMax> messages_{};
  std::array<iovec, kBatchMax> vectors_{};
  std::array<sockaddr_storage, kBatchMax> sources_{};
  std::array<Control, kBatchMax> controls_{};
};

}  // namespace peal::io
