// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/profiles.h"

#include <array>

// docs/papers.md gives the source of each number.

namespace peal::sim {
namespace {

constexpr std::uint32_t kKiB = 1024;

constexpr std::array kNets{
    NetKind{"1g", 1'000, nanoseconds(55'500), 256 * kKiB, "the papers' 1 Gb/s network"},
    NetKind{"10g", 10'000, microseconds(26), 512 * kKiB, "the papers' 10 Gb/s network"},
    NetKind{"25g", 25'000, microseconds(12), 1'024 * kKiB, "25 Gb/s, a guess"},
    NetKind{"100g", 100'000, microseconds(10), 2'048 * kKiB, "100 Gb/s, a guess"},
    NetKind{"bus10", 10, milliseconds(2), 0,
            "one cable of 10 Mb/s for all, as in the ToTo paper: 0.85 ms a message",
            microseconds(850), milliseconds(1)},
    NetKind{"rdma",
            25'000,
            microseconds(50),
            2'048 * kKiB,
            "25 Gb/s with writes into memory, as in the RamCast paper: 1.75 us a write",
            {},
            {},
            nanoseconds(1'750),
            nanoseconds(500)},
};

// Cost of one datagram: a system call and the path through the kernel.
constexpr Duration kKernel = nanoseconds(2'150);
constexpr Duration kKernelFrame = nanoseconds(1'075);
constexpr std::int64_t kCopyPs = 120;

/// Cost of the path between a daemon and its clients.
constexpr WorkCost ipc(Duration each) { return {each, {}, 150}; }

constexpr CpuCosts prototype(const WorkCost& client) {
  constexpr WorkCost kDatagram{kKernel, kKernelFrame, kCopyPs};
  return {kDatagram, kDatagram, client, client};
}

/// Costs of a message in the node and its application, without the network.
constexpr WorkCost kMessage{nanoseconds(300), {}, 40};
constexpr Duration kSendFrame = nanoseconds(7'200);
constexpr Duration kReceiveFrame = nanoseconds(650);

constexpr CpuCosts kPeal{{nanoseconds(4'440), kSendFrame, 120},
                         {nanoseconds(730), kReceiveFrame, 120},
                         kMessage,
                         kMessage};
constexpr CpuCosts kPealOffload{
    {nanoseconds(37), kSendFrame, 180}, {nanoseconds(11), kReceiveFrame, 50}, kMessage, kMessage};

constexpr WorkCost kClient{nanoseconds(300), {}, 0};
constexpr CpuCosts kRamcast{{nanoseconds(4'440), kSendFrame, 120},
                            {nanoseconds(730), kReceiveFrame, 120},
                            {},
                            kClient,
                            {nanoseconds(470), {}, 0},
                            {nanoseconds(2'800), {}, 0}};
constexpr CpuCosts kWbcast{{nanoseconds(536), {}, 0},   {nanoseconds(536), {}, 0}, {}, kClient, {},
                           {nanoseconds(11'430), {}, 0}};

constexpr std::array kCpus{
    CpuKind{"peal", nanoseconds(100), kPeal, "careful", 0, 0, 1'472,
            "Peal as measured by its developers, with a network card that cuts up nothing"},
    CpuKind{"peal-offload", nanoseconds(100), kPealOffload, "careful", 0, 0, 1'472,
            "the same with segmentation and receive offload"},
    CpuKind{"library",
            {},
            prototype({}),
            "aggressive",
            20,
            30,
            9'000,
            "the papers' library prototype: no clients"},
    CpuKind{"daemon",
            {},
            prototype(ipc(nanoseconds(730))),
            "aggressive",
            20,
            30,
            9'000,
            "the papers' daemon prototype, with a client for each direction"},
    CpuKind{"spread",
            {},
            prototype(ipc(nanoseconds(2'280))),
            "careful",
            20,
            30,
            9'000,
            "Spread 4.4, as in the papers"},
    CpuKind{"ramcast", nanoseconds(50), kRamcast, "careful", 0, 0, 9'000,
            "the RamCast paper's prototype: writes into memory"},
    CpuKind{"wbcast",
            {},
            kWbcast,
            "careful",
            0,
            0,
            9'000,
            "the RamCast paper's prototype of white-box multicast: packets"},
};

}  // namespace

std::span<const NetKind> net_kinds() { return kNets; }
std::span<const CpuKind> cpu_kinds() { return kCpus; }

const NetKind* net_kind(std::string_view name) {
  for (const NetKind& kind : kNets) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

const CpuKind* cpu_kind(std::string_view name) {
  for (const CpuKind& kind : kCpus) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace peal::sim
