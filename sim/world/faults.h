// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace peal::sim {

// Every class of fault that the simulator injects or observes. FaultCounts counts each class.
#define PEAL_FAULTS(X)                                                                      \
  X(loss, "packets lost one by one")                                                        \
  X(burst_loss, "packets lost in bursts")                                                   \
  X(kind_loss, "packets of one kind lost")                                                  \
  X(duplicate, "packets delivered twice")                                                   \
  X(reorder, "packets held back so that later ones overtake them")                          \
  X(long_delay, "packets delayed far beyond the usual")                                     \
  X(bit_flip, "packets with a damaged bit")                                                 \
  X(too_large, "packets larger than the network takes")                                     \
  X(size_delay, "large packets delayed, small ones not")                                    \
  X(partial_multicast, "multicasts that reached some of the nodes")                         \
  X(replay, "old packets delivered again")                                                  \
  X(garbage, "packets of random bytes")                                                     \
  X(filtered, "packets caught by a rule of a scenario")                                     \
  X(socket_full, "packets lost in a full socket")                                           \
  X(port_full, "packets lost in a full port of the switch")                                 \
  X(no_buffer, "packets lost for want of a buffer")                                         \
  X(cut_one_way, "links cut in one direction")                                              \
  X(cut, "links cut in both directions")                                                    \
  X(split, "splits into parts")                                                             \
  X(bridge, "splits into overlapping parts")                                                \
  X(moved, "nodes at another address than others have in their files")                      \
  X(flap, "links that go up and down")                                                      \
  X(heal, "repairs of the network")                                                         \
  X(crash, "nodes crashed")                                                                 \
  X(crash_in_call, "nodes crashed between two sends of one step")                           \
  X(crash_all, "all nodes crashed at once")                                                 \
  X(restart, "nodes restarted")                                                             \
  X(epoch_step_back, "nodes restarted with a clock that was set back")                      \
  X(identity_conflict, "nodes that stopped because their identity was in use")              \
  X(pause, "nodes paused")                                                                  \
  X(slow_node, "nodes made slow")                                                           \
  X(slow_application, "applications made slow")                                             \
  X(leave, "nodes that left")                                                               \
  X(disk_failed, "acceptors that stopped because their disk failed")                        \
  X(disk_slow, "disks made slow")                                                           \
  X(disk_lost, "acceptors that started with an empty disk")                                 \
  X(disk_put_back, "acceptors that started with an older copy of their disk")               \
  X(disk_damaged, "disks with bits that changed, or writes that went astray")               \
  X(disk_full, "disks without room")                                                        \
  X(disk_exchanged, "nodes that were given another node's folder")                          \
  X(start_refused, "starts that were refused for what a folder held")                       \
  X(all_restarted, "starts of all nodes anew, as most acceptors had forgotten their votes") \
  X(list_changed, "files with another list of nodes")                                       \
  X(targeted_split, "splits at a chosen moment of the protocol")                            \
  X(targeted_cut, "one-way cuts at a chosen moment")                                        \
  X(targeted_crash, "crashes at a chosen moment")                                           \
  X(targeted_pause, "pauses at a chosen moment")                                            \
  X(lossy_link, "links that lose more than one packet in twenty")                           \
  X(dead_lane, "links that lose all packets of one lane")                                   \
  X(dead_large, "links that lose all packets above some size")                              \
  X(deaf, "nodes that receive nothing")                                                     \
  X(mute, "nodes that send nothing")                                                        \
  X(disk_hangs, "disks that hang")                                                          \
  X(application_stopped, "applications that take nothing")                                  \
  X(clock_rate, "clocks that run at another rate")                                          \
  X(lasting, "times at which faults stayed while headway was judged")

enum class Fault : std::uint8_t {
#define PEAL_FAULT_ENUM(id, text) id,
  PEAL_FAULTS(PEAL_FAULT_ENUM)
#undef PEAL_FAULT_ENUM
      count
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::count);

std::string_view fault_name(Fault fault);
std::string_view fault_text(Fault fault);

class FaultCounts {
 public:
  void add(Fault fault, std::uint64_t times = 1) {
    counts_[static_cast<std::size_t>(fault)] += times;
  }
  std::uint64_t of(Fault fault) const { return counts_[static_cast<std::size_t>(fault)]; }

 private:
  std::array<std::uint64_t, kFaults> counts_{};
};

}  // namespace peal::sim
