// SPDX-License-Identifier: Apache-2.0
#include "sim/world/packet.h"

#include <array>
#include <span>

#include "order/registry/inspection/inspections.h"
#include "sim/baselines/registry.h"
#include "wire/frames.h"
#include "wire/trial.h"

namespace peal::sim {
namespace {

constexpr std::string_view kOther = "other";

struct Row {
  const order::PacketName* name = nullptr;
  const order::Inspection* inspection = nullptr;
};
using Rows = std::array<Row, kPacketKinds>;

/// The packet kinds that the engines name, by kind.
const Rows& rows() {
  static const Rows kRows = [] {
    Rows rows;
    const auto add = [&rows](std::span<const order::Inspection* const> inspections) {
      for (const order::Inspection* each : inspections) {
        for (const order::PacketName& packet : each->packets) {
          Row& row = rows[packet.kind];
          if (row.name == nullptr) row = {&packet, each};
        }
      }
    };
    add(order::inspections());
    add(baseline_inspections());
    return rows;
  }();
  return kRows;
}

const Row& row_of(PacketKind kind) { return rows()[static_cast<std::size_t>(kind)]; }

}  // namespace

bool carries_units(PacketKind kind) {
  const Row& row = row_of(kind);
  return row.name != nullptr && row.name->carries_units;
}

std::string_view packet_kind_name(PacketKind kind) {
  const Row& row = row_of(kind);
  return row.name == nullptr ? kOther : row.name->name;
}

std::optional<PacketKind> packet_kind_of_name(std::string_view name) {
  if (name == kOther) return PacketKind::other;
  for (const Row& row : rows()) {
    if (row.name != nullptr && row.name->name == name) {
      return static_cast<PacketKind>(row.name->kind);
    }
  }
  return std::nullopt;
}

PacketKind packet_kind_of(ByteView bytes) {
  const std::optional<wire::FrameKind> said = wire::frame_kind_of(bytes);
  if (!said) return PacketKind::other;
  const auto kind = static_cast<PacketKind>(*said);
  // A TRIAL on the data lane has the kind DATA on the wire, but carries no unit.
  if (kind == PacketKind::data && wire::is_trial_of_data(bytes)) return PacketKind::other;
  return row_of(kind).name == nullptr ? PacketKind::other : kind;
}

std::string packet_kinds_text() {
  std::string text;
  for (const Row& row : rows()) {
    if (row.name != nullptr) text += std::string(row.name->name) + ", ";
  }
  if (text.empty()) return std::string(kOther);
  text.replace(text.size() - 2, 2, " or ");
  return text + std::string(kOther);
}

order::PacketContent content_of(const Packet& packet) {
  const order::Inspection* inspection = row_of(packet.kind).inspection;
  if (inspection == nullptr || inspection->content == nullptr) return {};
  return inspection->content(inspected(packet));
}

std::string content_text(const Packet& packet) {
  const order::Inspection* inspection = row_of(packet.kind).inspection;
  if (inspection == nullptr || inspection->text == nullptr) return "";
  return inspection->text(inspected(packet));
}

}  // namespace peal::sim
