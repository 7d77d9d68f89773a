// SPDX-License-Identifier: Apache-2.0
#include "order/evs/attempt.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::evs {

void Attempt::note_number(std::uint64_t number) {
  view_number_max_ = std::max(view_number_max_, number);
}

wire::Commit Attempt::create(const MemberId& self, const MemberSet& members, std::uint64_t list) {
  PEAL_ASSERT(!members.empty() && members.front() == self);
  view_number_max_ = std::max(view_number_max_, committed_.number) + 1;
  wire::Commit commit;
  commit.view = ViewId{view_number_max_, self};
  if (PEAL_MUTANT(m12_id_without_epoch)) {
    commit.view = ViewId{committed_.number + 1, {self.node, 1}};
  }
  commit.members = members;
  commit.list = list;
  return commit;
}

void Attempt::enter(const wire::Commit& commit, std::uint32_t index) {
  PEAL_ASSERT(is_newer(commit.view) || PEAL_MUTANT(m12_id_without_epoch) ||
              PEAL_MUTANT(m13_committed_restored));
  PEAL_ASSERT(index < commit.members.size());
  committed_ = commit.view;
  note_number(commit.view.number);
  agreement_ = Agreement{};
  agreement_.view = commit.view;
  agreement_.members = commit.members;
  agreement_.index = static_cast<std::uint16_t>(index);
  led_ = false;
}

void Attempt::learn(const wire::Commit& commit, wire::OldView record) {
  PEAL_ASSERT(is_at(commit.view) || PEAL_MUTANT(phase_two_of_any_attempt));
  agreement_.old_view = std::move(record);
  agreement_.options = commit.options;
}

bool Attempt::lead() {
  if (led_ && !PEAL_MUTANT(second_first_rotation)) return false;
  led_ = true;
  return true;
}

void Attempt::forget_committed(const ViewId& view) {
  committed_ = view;
  view_number_max_ = view.number;
}

void Attempt::add_to(Digest& digest) const {
  digest.add(committed_.number);
  digest.add(view_number_max_);
}

void Attempt::check_invariants(const ViewId& view) const {
  PEAL_ASSERT(view.number <= committed_.number || view.number == 0);
  PEAL_ASSERT(committed_.number <= view_number_max_);
  PEAL_ASSERT(agreement_.view.number <= view_number_max_ || PEAL_MUTANT(m13_committed_restored));
}

}  // namespace peal::order::evs
