// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/consumer.h"

#include <vector>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/member_set.h"
#include "order/paxos/ensemble.h"

namespace peal::order::paxos {

Consumer::Consumer(const Parts& parts, OwnUnits& own, EarlyUnits& early)
    : p_(parts), own_(own), early_(early), visiting_(p_.config.merger != nullptr) {}

OrderState::Outcome Consumer::apply(const Value& value) {
  const wire::ValueHead& head = value.head;
  const bool nothing = head.kind == wire::ValueKind::nothing;
  std::uint64_t stamp = stamp_of(head, value.bytes.view(), p_.config.merger != nullptr);
  if (nothing && p_.config.self.node.value % 2 == 0 && PEAL_MUTANT(rt_skips_not_counted)) stamp = 0;
  const Instance instance = p_.state.next();
  const OrderState::Outcome outcome = p_.state.apply(head, value.bytes.view(), stamp);
  PEAL_ASSERT(p_.state.next() == instance + 1);
  if (outcome == OrderState::Outcome::ignored) ++ignored_;
  if (p_.config.merger != nullptr) p_.config.merger->on_key(p_.state.key(), nothing);
  return outcome;
}

bool Consumer::deliver(Instant now, const Value& value, bool member, Effects& out) {
  const bool own = member && value.head.origin == p_.config.self;
  // Units of one sender are placed in the order in which it sent them.
  if (own && !own_.is_next(value.head.number)) return false;
  ++seq_;
  const Seq guess = early_.is_on() ? early_.place(value, seq_, out) : 0;
  if (own) {
    out.originate(view_, seq_);
    own_.place(now);
  }
  ++delivered_;
  Delivery delivery;
  delivery.view = view_;
  delivery.seq = seq_;
  delivery.guess = guess;
  delivery.origin = value.head.origin;
  delivery.service = value.head.service;
  delivery.unit = value.bytes;
  out.deliver(delivery);
  return true;
}

bool Consumer::change_view(Effects& out) {
  own_.begin_view();
  if (early_.is_on()) early_.begin_view();
  if (p_.joined()) {
    install(out);
    return true;
  }
  if (p_.config.merger != nullptr) {
    // Outside the view, this node may take a checkpoint and skip values. So it is not ready until
    // the merger calls set_ready() again.
    visiting_ = true;
    p_.config.merger->on_left_out();
  }
  return false;
}

// The transitional view has the members whose last view is also this node's last view.
void Consumer::install(Effects& out) {
  PEAL_ASSERT(p_.state.view().number > view_.number && "views never go back");
  MemberSet all;
  MemberSet survived;
  for (const wire::ViewMember& each : p_.state.members()) {
    all.push_back(each.member);
    if (each.came_from == view_.number) survived.push_back(each.member);
  }
  if (view_.number != 0) {
    View transition;
    transition.transitional = true;
    transition.id = p_.state.view();
    transition.old = view_;
    transition.members = survived;
    transition.primary = Primary::yes;
    out.install(transition);
  }
  view_ = p_.state.view();
  seq_ = 0;
  ++views_;
  View view;
  view.id = view_;
  view.members = all;
  view.primary = Primary::yes;
  out.install(view);
  out.report({&event::view_installed, view_, {}, all.size(), 0});
}

void Consumer::check_invariants() const {
  PEAL_ASSERT(!p_.joined() || view_ == p_.state.view());
  PEAL_ASSERT(from_ <= p_.state.key());
  PEAL_ASSERT(p_.config.merger != nullptr || !visiting_);
}

void Consumer::add_to(Digest& digest) const {
  digest.add(view_.number);
  digest.add(seq_);
  digest.add(visiting_ ? 1 : 0);
}

}  // namespace peal::order::paxos
