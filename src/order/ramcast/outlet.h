// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "base/ring_queue.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/parts.h"

namespace peal::order::ramcast {

/// What happens with a message as it is delivered.
class Delivered {
 public:
  virtual ~Delivered() = default;
  /// Called before the delivery.
  virtual void on_delivery(const Record& record, Effects& out) = 0;
  /// False: the message is this node's, and the node does not know yet the keys of earlier messages
  /// of its own, which were ordered while it was outside the view.
  virtual bool may_deliver(const Record& record) const = 0;
  /// Called behind the installation of a view. There may have been views between `before` and this
  /// one, if a base began with it: see DomainView::follows.
  virtual void on_view(const wire::DomainView& before) = 0;
};

/// The order of one domain's messages at this server. A message is delivered once its key is known,
/// no other message of the domain can come before it, and its unit is here.
class Outlet {
 public:
  Outlet(const Parts& parts, DomainState& state, Delivered& delivered)
      : parts_(parts), state_(state), delivered_(delivered) {}

  /// The server has begun a round whose base has nothing but what add() and add_view() tell from
  /// now on. Messages that have their keys stay, except at a server outside the view.
  void begin_round(std::uint64_t clock);
  /// A message or a view with this timestamp may be added: it is above all others.
  bool may_add(Seq stamp) const { return queue_.empty() || queue_.back().stamp < stamp; }
  /// The domain's timestamp of a message, see may_add(). `record.own` is set.
  void add(Record& record);
  /// A view with its key, see may_add(). `known`: it is committed.
  void add_view(const wire::DomainView& view, std::uint64_t entry, bool known);
  /// The message has a key.
  void on_key(Record& record);
  /// Messages that commit with their log entries have their keys, up to this entry.
  void commit_entries(std::uint64_t entry);
  /// The leader had processed `entry`, and its proposals behind that entry are above `clock`.
  void note_mark(std::uint64_t entry, std::uint64_t clock);
  /// The log was read up to `entry`, and the domain's timestamps up to `clock` are known.
  void note_read(std::uint64_t entry, std::uint64_t clock);
  /// The server has been excluded and delivers what others have retained for it, in the order of
  /// the keys. A base follows that begins anew. The unit is here.
  void deliver_retained(Record& record, Seq key, Effects& out);
  void install_retained(const wire::DomainView& view, Effects& out);
  /// Messages of the row have a place here.
  bool refers_to(const Row& row) const;
  /// Delivers what can be delivered. True if anything was.
  bool deliver(Effects& out);
  /// A message that is to be delivered next and whose unit is not here, or null.
  const Record* lacks_body() const { return lacks_body_; }
  bool view_under_way() const { return !views_.empty(); }
  /// Views that are not delivered yet, and whether they are committed.
  struct PendingView {
    wire::DomainView view;
    std::uint64_t entry = 0;
    bool known = false;
  };
  const RingQueue<PendingView>& views() const { return views_; }
  /// The largest key that was delivered.
  Seq delivered() const { return state_.delivered(); }
  /// The application takes nothing at the moment.
  bool held() const { return held_; }
  /// The key below which a message without its final key blocks the order; 0 if there is none.
  Seq blocked_by() const;
  /// The latest view of the synchronized round that is not delivered; null if there is none.
  const wire::DomainView* proposed_view() const {
    return views_.empty() ? nullptr : &views_.back().view;
  }

  void add_to(Digest& digest) const;
  void check_invariants() const;

 private:
  struct Item {
    Seq stamp{};
    Record* record = nullptr;  ///< null: a view
  };
  struct Keyed {
    Seq key{};
    Record* record = nullptr;
  };
  struct Mark {
    std::uint64_t entry = 0, clock = 0;
  };

  static bool later(const Keyed& a, const Keyed& b) { return a.key > b.key; }
  bool is_open(const Item& item) const;
  void forget_keys();
  void drop_keyed_items();
  bool is_complete(Seq key) const;
  void apply_marks();
  bool deliver_next(Effects& out);
  void deliver_record(Record& record, Effects& out);
  void install(const wire::DomainView& view, Effects& out);

  const Parts& parts_;
  DomainState& state_;
  Delivered& delivered_;
  RingQueue<Item> queue_;         ///< by stamp; those in front that have their keys are removed
  std::vector<Keyed> heap_;       ///< messages with keys; the smallest is on top
  RingQueue<PendingView> views_;  ///< by key
  Mark first_mark_, last_mark_;   ///< marks whose entries were not read yet
  const Record* lacks_body_ = nullptr;
  bool held_ = false;
};

}  // namespace peal::order::ramcast
