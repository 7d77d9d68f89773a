// SPDX-License-Identifier: Apache-2.0
// Commit: the representative's token goes round twice. The first time it collects what every
// member holds of its old view, the second time it tells everyone.

#include <algorithm>

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {

void Membership::create_commit(Instant now, const MemberSet& members, Effects& out) {
  view_number_max_ = std::max(view_number_max_, committed_.number) + 1;
  wire::Commit commit;
  commit.view = ViewId{view_number_max_, self_};
  if (PEAL_MUTANT(m12_id_without_epoch))
    commit.view = ViewId{committed_.number + 1, {self_.node, 1}};
  commit.members = members;
  commit.list = list();
  if (members.size() > wire::kMembersMax) {
    ++tally_.unsendable;
    return;
  }
  enter_commit(now, commit, 0, out);
}

void Membership::on_commit(Instant now, const MemberId& from, wire::Commit& commit, Effects& out) {
  const auto n = static_cast<std::uint32_t>(commit.members.size());
  const auto mine = static_cast<std::uint32_t>(index_in(commit.members, self_));
  if (mine == n || commit.hops % n != mine || commit.members[(mine + n - 1) % n] != from) {
    tally_.drop(wire::Drop::bad_sender);
    return;
  }
  const bool this_attempt = commit.view == agreement_.view || PEAL_MUTANT(phase_two_of_any_attempt);
  switch (state_) {
    case State::gather:
      if (commit.hops == mine && mine > 0 && commit.members == candidates() &&
          commit.list == list() &&
          (commit.view.number > committed_.number || PEAL_MUTANT(stale_commit_accepted)) &&
          (hears_rest_of(commit, mine) || PEAL_MUTANT(commit_unheard))) {
        enter_commit(now, commit, mine, out);
        return;
      }
      PEAL_PROBE("membership.commit_refused");
      break;
    case State::commit:
      if (this_attempt && commit.hops == n + mine) {
        enter_recovery(now, commit, out);
        return;
      }
      break;
    case State::recovery:
      if (this_attempt && commit.hops == 2 * n && mine == 0 &&
          (!led_ || PEAL_MUTANT(second_first_rotation))) {
        led_ = true;
        protocol_.lead_recovery(now, out);
        return;
      }
      break;
    case State::operational: break;
  }
  tally_.drop(wire::Drop::wrong_state);
}

/// I need not have reached consensus myself: whom the token has passed has agreed. But I must hear
/// those whom it has yet to reach. Otherwise an attempt that fails because I cannot reach my
/// successor would begin again before I accuse it, for ever.
bool Membership::hears_rest_of(const wire::Commit& commit, std::uint32_t index) const {
  return std::all_of(commit.members.begin() + index + 1, commit.members.end(),
                     [this](const MemberId& member) { return contains(consensus_, member); });
}

void Membership::enter_commit(Instant now, wire::Commit& commit, std::uint32_t index,
                              Effects& out) {
  wire::OldView* record = nullptr;
  for (wire::OldView& old : commit.old_views) {
    if (old.view == view_) record = &old;
  }
  if (record == nullptr) {
    commit.old_views.push_back({view_, {}, {}});
    record = &commit.old_views.back();
  }
  insert(record->survivors, self_);
  protocol_.freeze(record->record);
  protocol_.fold_options(commit.options);

  timers_.cancel(Timer::join);
  timers_.cancel(Timer::consensus);
  state_ = State::commit;
  ++tally_.commits;
  PEAL_ASSERT(commit.view.number > committed_.number || PEAL_MUTANT(m12_id_without_epoch) ||
              PEAL_MUTANT(m13_committed_restored));
  committed_ = commit.view;
  view_number_max_ = std::max(view_number_max_, commit.view.number);
  agreement_ = Agreement{};
  agreement_.view = commit.view;
  agreement_.members = commit.members;
  agreement_.index = static_cast<std::uint16_t>(index);
  led_ = false;
  note_life(now);
  out.report({&event::commit_started, commit.view, {}, commit.members.size(), 0});
  if (commit.members.size() == 1) {
    enter_recovery(now, commit, out);
    protocol_.install_alone(now, out);
    return;
  }
  forward_commit(now, commit, out);
}

void Membership::forward_commit(Instant now, wire::Commit& commit, Effects& out) {
  ++commit.hops;
  const auto encode = [this](const wire::Header& header, const wire::Commit& in, ByteSpan bytes) {
    return wire::encode_commit(header, in, protocol_.commit_format(), bytes);
  };
  const BufferRef packet = build(wire::FrameKind::commit, commit, encode);
  if (!packet) return;  // the attempt fails by its timeout, and the next one says less
  send_tracked(now, commit.members[commit.hops % commit.members.size()], packet, out);
}

void Membership::enter_recovery(Instant now, const wire::Commit& commit, Effects& out) {
  const wire::OldView* record = nullptr;
  for (const wire::OldView& old : commit.old_views) {
    if (old.view == view_) record = &old;
  }
  const bool usable =
      record != nullptr && contains(record->survivors, self_) && protocol_.accepts(record->record);
  if (!usable) {  // not what I wrote in the first rotation: nonsense from the network
    tally_.drop(wire::Drop::bad_value);
    return;
  }
  state_ = State::recovery;
  agreement_.old_view = *record;
  agreement_.options = commit.options;
  if (PEAL_MUTANT(transitional_by_members)) {
    agreement_.old_view.survivors.clear();
    for (const MemberId& m : commit.members) {
      if (contains(members_, m)) agreement_.old_view.survivors.push_back(m);
    }
  }
  note_life(now);
  protocol_.recover(now, agreement_, out);
  if (commit.members.size() > 1) {
    wire::Commit next = commit;
    forward_commit(now, next, out);
  }
}

}  // namespace peal::order::evs
