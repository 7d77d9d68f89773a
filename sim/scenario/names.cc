// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "sim/world/faults.h"
#include "sim/world/packet.h"
#include "wire/frames.h"
#include "wire/trial.h"

namespace peal::sim {
namespace {

constexpr std::array<std::string_view, kPacketKinds> kKindNames{
    "other",        "token",  "data",    "join",           "commit",     "probe",   "hold_cancel",
    "epoch_notice", "state",  "submit",  "propose",        "prepare",    "promise", "fetch",
    "fetched",      "repeat", "decided", "checkpoint-get", "checkpoint", "relay",   "distribute",
    "lacks",        "pass",   "lives",   "link-check",     "recall",     "word",    "log-heard"};

struct FaultRow {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<FaultRow, kFaults> kFaultRows{{
#define PEAL_FAULT_ROW(id, text) {#id, text},
    PEAL_FAULTS(PEAL_FAULT_ROW)
#undef PEAL_FAULT_ROW
}};

constexpr std::size_t kKindOffset = 3;  // wire: magic u16, version u8, kind u8
constexpr auto kRingKinds = static_cast<std::size_t>(PacketKind::epoch_notice);
constexpr auto kFirstOfQuorums = static_cast<std::size_t>(PacketKind::state);
static_assert(kFirstOfQuorums + wire::kPaxosKinds == kPacketKinds);

}  // namespace

std::string_view packet_kind_name(PacketKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<PacketKind> packet_kind_of_name(std::string_view name) {
  for (std::size_t i = 0; i < kPacketKinds; ++i) {
    if (kKindNames[i] == name) return static_cast<PacketKind>(i);
  }
  return std::nullopt;
}

PacketKind packet_kind_of(ByteView bytes) {
  if (bytes.size() <= kKindOffset) return PacketKind::other;
  const auto kind = static_cast<std::size_t>(bytes[kKindOffset]);
  // A TRIAL on the data lane is DATA on the wire, and carries no unit.
  if (kind == static_cast<std::size_t>(PacketKind::data) && wire::is_trial_of_data(bytes)) {
    return PacketKind::other;
  }
  if (kind <= kRingKinds) return static_cast<PacketKind>(kind);
  if (!wire::is_paxos_kind(static_cast<wire::FrameKind>(kind))) return PacketKind::other;
  const std::size_t index = kind - wire::kPaxosKindFirst;
  return static_cast<PacketKind>(index + kFirstOfQuorums);
}

std::string packet_kinds_text() {
  std::string text;
  for (std::size_t i = 1; i < kPacketKinds; ++i) text += std::string(kKindNames[i]) + ", ";
  text.replace(text.size() - 2, 2, " or ");
  return text + std::string(kKindNames[0]);
}

std::string_view fault_name(Fault fault) {
  return kFaultRows[static_cast<std::size_t>(fault)].name;
}
std::string_view fault_text(Fault fault) {
  return kFaultRows[static_cast<std::size_t>(fault)].text;
}

}  // namespace peal::sim
