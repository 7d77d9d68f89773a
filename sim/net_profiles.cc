// SPDX-License-Identifier: Apache-2.0
#include "sim/net_profiles.h"

#include <array>

// Where each number comes from is in docs/papers.md.

namespace peal::sim {
namespace {

using order::ring::PriorityMethod;

constexpr std::uint32_t kKiB = 1024;

constexpr std::array kNets{
    NetKind{"1g", 1'000, microseconds(60), 256 * kKiB, "the papers' 1 Gb/s network"},
    NetKind{"10g", 10'000, microseconds(22), 512 * kKiB, "the papers' 10 Gb/s network"},
    NetKind{"25g", 25'000, microseconds(12), 1'024 * kKiB, "25 Gb/s, a guess"},
    NetKind{"100g", 100'000, microseconds(10), 2'048 * kKiB, "100 Gb/s, a guess"},
};

// A system call for each datagram, and its way through the kernel.
constexpr Duration kKernel = nanoseconds(2'200);
constexpr Duration kKernelFrame = nanoseconds(1'000);
constexpr std::int64_t kCopyPs = 120;

constexpr CpuCosts prototype(Duration ipc, std::int64_t ipc_byte_ps) {
  CpuCosts costs;
  costs.send = {kKernel, kKernelFrame, kCopyPs};
  costs.receive = {kKernel, kKernelFrame, kCopyPs};
  costs.deliver = {ipc, {}, ipc_byte_ps};
  costs.submit = {ipc, {}, ipc_byte_ps};
  return costs;
}

constexpr CpuCosts measured(Duration send, Duration receive, Duration message,
                            std::int64_t copy_ps) {
  CpuCosts costs;
  costs.send = {send, send, copy_ps};
  costs.receive = {receive, receive, copy_ps};
  costs.deliver = {message, {}, copy_ps};
  costs.submit = {message, {}, copy_ps};
  return costs;
}

constexpr std::array kCpus{
    CpuKind{
        "peal", nanoseconds(100),
        measured(nanoseconds(4'440), nanoseconds(730), nanoseconds(300), 120),
        PriorityMethod::careful, 0, 0,
        "Peal on a network card that does not segment: what it takes on its developers' machine"},
    CpuKind{"peal-offload", nanoseconds(100),
            measured(nanoseconds(260), nanoseconds(80), nanoseconds(300), 40),
            PriorityMethod::careful, 0, 0, "Peal with segmentation and receive offload"},
    CpuKind{"library",
            {},
            prototype({}, 0),
            PriorityMethod::aggressive,
            30,
            20,
            "the papers' library prototype: no clients"},
    CpuKind{"daemon",
            {},
            prototype(nanoseconds(900), 150),
            PriorityMethod::aggressive,
            30,
            20,
            "the papers' daemon prototype, with a client for each direction"},
    CpuKind{"spread",
            {},
            prototype(nanoseconds(2'300), 150),
            PriorityMethod::careful,
            30,
            20,
            "Spread 4.4, as in the papers"},
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
