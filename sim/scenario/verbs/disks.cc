// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

void harm(NodeLog& folder, std::string_view what, Duration time) {
  if (what == "lost") folder.lose();
  if (what == "copied") folder.copy();
  if (what == "put-back") folder.put_back();
  if (what == "hangs") folder.hang();
  if (what == "full") folder.fill();
  if (what == "rots") folder.damage(NodeLog::Damage::rot);
  if (what == "stray") folder.damage(NodeLog::Damage::stray);
  if (what == "slow") folder.slow(time);
}

/// After `lost`, the node's next start finds an empty disk. After `put-back`, the next start finds
/// the last copy of the disk. The words `votes` and `owed` choose one of the disk's two logs.
/// `owed` is the log of retained values.
void do_disk(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const bool one = words.peek() == "votes" || words.peek() == "owed";
  const std::string only = one ? words.take("votes or owed") : std::string();
  constexpr std::array<std::string_view, 11> kWhat{"fails", "slow",   "hangs",    "mended",
                                                   "lost",  "copied", "put-back", "rots",
                                                   "stray", "full",   "of"};
  const std::string accepted =
      "fails, slow, hangs, mended, lost, copied, put-back, rots, stray, full or of";
  const std::string what = words.take(accepted);
  if (std::find(kWhat.begin(), kWhat.end(), what) == kWhat.end()) {
    words.fail("'" + what + "': accepted is " + accepted);
  }
  const bool ends = what == "slow" || (what == "hangs" && !words.at_end());
  const Duration time = ends ? words.duration() : Duration{};
  const NodeId other = what == "of" ? words.node() : NodeId{};
  if (!context.acting(words)) return;
  Disks& disks = context.world().disks();
  FaultCounts& faults = context.faults();
  for (const NodeId node : nodes) {
    NodeLog* disk = disks.of(node);
    if (disk == nullptr) continue;  // the engine has no logs
    if (what == "of") {
      faults.add(Fault::disk_exchanged);
      disk->give(*disks.of(other));
      continue;
    }
    if (what == "fails") (only == "owed" ? disk->owed() : disk)->fail();
    if (only != "owed") harm(*disk, what, time);
    if (only != "votes") harm(*disk->owed(), what, time);
    if (what == "mended") disks.mend(node);
    if (ends && what == "hangs") {
      context.world().plan(context.now() + time, [&disks, node] { disks.end_hang(node); });
    }
    if (what == "full") faults.add(Fault::disk_full);
    if (what == "rots" || what == "stray") faults.add(Fault::disk_damaged);
    if (only == "owed") continue;  // the log of retained values has no votes
    if (what == "lost") faults.add(Fault::disk_lost);
    if (what == "put-back" && disk->is_put_back()) faults.add(Fault::disk_put_back);
    if (what == "hangs") faults.add(Fault::disk_hangs);
    if (what == "slow") faults.add(Fault::disk_slow);
  }
}

constexpr std::array kDiskVerbs{
    Verb{"disk", do_disk,
         "disk NODES [votes|owed] fails|slow 200ms|hangs "
         "[10s]|mended|lost|copied|put-back|rots|stray|full, or disk NODES of n2"},
};

}  // namespace

std::span<const Verb> disk_verbs() { return kDiskVerbs; }

}  // namespace peal::sim
