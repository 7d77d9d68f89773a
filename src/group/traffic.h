// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "order/engine.h"

// Records the names to which messages were sent, separately for each view. When daemons meet in a
// view, they compare these records. So each daemon learns to which names it missed messages. A
// record is a set of messages: all messages up to a place, counted for each name, and single
// messages behind that place. Daemons that meet unite their sets.
//
// With Traits::companies, members that leave a view apart may have delivered its messages in
// different orders, so a place says nothing about other members' messages. But each member delivers
// the messages of one sender in the order in which they were sent, and none behind a gap. So there
// is a record for each sender, and its places are the numbers of the sender's messages.

namespace peal::group {

/// A message's place in the order of its view. In the record of one sender: the message's number.
struct Place {
  Seq seq{};
  std::uint32_t index{};
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

/// Maximum number of names and late messages kept, over all records. Beyond this number, the
/// forgotten views and then the oldest views count as having messages for every name.
inline constexpr std::size_t kTrafficNamesMax = 4'096;
/// Maximum number of records: enough for two views with a record for each of kMembersMax senders.
inline constexpr std::size_t kTrafficViewsMax = 256;

/// The known messages of one view, or of one sender in the view: at least one message.
struct ViewTraffic {
  /// The number of all messages to `name` up to ViewTraffic::upto.
  struct Name {
    std::string name;
    std::uint64_t messages{};
    friend bool operator==(const Name&, const Name&) = default;
  };
  /// A message to `name` behind ViewTraffic::upto. The message was delivered in a transitional
  /// view, where earlier messages may be missing.
  struct Late {
    Place place;
    std::string name;
    friend auto operator<=>(const Late&, const Late&) = default;
  };
  ViewId view{};
  Place upto;                   ///< all messages up to this place are known; zero: no messages
  bool every_name = false;      ///< too many names: any name may have messages
  std::uint64_t late_digest{};  ///< if every_name: digest of the late messages' places; 0: none
  std::vector<Name> names;      ///< empty if every_name; sorted
  std::vector<Late> late;       ///< empty if every_name, or for one sender; sorted
  MemberId sender{};            ///< whose messages these are; epoch 0: the messages of all senders
  bool of_one_sender() const { return sender.epoch != 0; }
  friend bool operator==(const ViewTraffic&, const ViewTraffic&) = default;
};
/// The order of records.
inline bool comes_before(const ViewTraffic& one, const ViewTraffic& other) {
  return std::tie(one.view, one.sender) < std::tie(other.view, other.sender);
}

/// Views that are no longer kept one by one.
struct Forgotten {
  ViewId upto{};                   ///< the last forgotten view; zero: no views
  std::uint64_t digest{};          ///< sum of the digests of the forgotten views
  bool every_name = false;         ///< too many names: any name may have messages
  std::vector<std::string> names;  ///< names that have messages; empty if every_name; sorted
  bool empty() const { return upto.number == 0; }
  bool is(const Forgotten& other) const { return upto == other.upto && digest == other.digest; }
  friend bool operator==(const Forgotten&, const Forgotten&) = default;
};

/// The known messages of one domain.
struct Traffic {
  order::Domain domain{};
  Forgotten forgotten;
  std::vector<ViewTraffic> views;  ///< sorted by comes_before()
  bool empty() const { return forgotten.empty() && views.empty(); }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// Bytes of `traffic` in Tables, without the count of domains.
std::size_t bytes_of(const Traffic& traffic);
/// Removes the names of records, and then whole views, until `traffic` takes at most `bytes_max`
/// bytes. Begins with the oldest views. `bytes_max` must be enough for traffic without views.
void shrink(Traffic& traffic, std::size_t bytes_max);

/// Names for which messages were missed.
struct Missed {
  bool every_name = false;
  std::set<std::string, std::less<>> names;
  bool contains(std::string_view name) const { return every_name || names.contains(name); }
  bool empty() const { return !every_name && names.empty(); }
};
/// Sets `all` to the union of `parts`, the traffic that several daemons know. Returns the names
/// whose messages the daemon of `parts[own]` missed.
Missed meet(std::vector<Traffic> parts, std::size_t own, Traffic& all);

/// Caches the address of a name's counter, so that the next message to that name needs no lookup.
struct TrafficMark {
  std::uint64_t generation = 0;
  std::uint64_t* messages = nullptr;
  order::Domain domain{};
};

/// One daemon's record of the messages of one domain: messages that the daemon delivered, and
/// messages that other daemons reported.
class TrafficLog {
 public:
  explicit TrafficLog(order::Domain domain) { known_.domain = domain; }
  TrafficLog(const TrafficLog&) = delete;
  TrafficLog& operator=(const TrafficLog&) = delete;
  TrafficLog(TrafficLog&&) = default;

  /// Starts a view. The traffic of the previous view becomes part of known().
  void begin(const ViewId& view);
  /// Records a message to `name`. `place` is not below the place of any earlier message. Call it
  /// once for each name of the message.
  void note(std::string_view name, const Place& place, TrafficMark* mark) {
    all_.upto = place;
    if (all_.every_name) return;
    if (mark != nullptr && mark->generation == generation_ && mark->domain == known_.domain) {
      ++*mark->messages;
      return;
    }
    count(all_, name, mark);
  }
  /// Like note(), for a message that is delivered in the transitional view.
  void note_late(std::string_view name, const Place& place);
  /// Records the message with this number of `sender` to `name`, in the sender's own record. The
  /// number is not below that of any earlier message of the sender. Call it once for each name of
  /// the message.
  void note_of(const MemberId& sender, std::uint64_t number, std::string_view name);

  /// The traffic of all views that have ended.
  const Traffic& known() const { return known_; }
  void adopt(Traffic&& known) { known_ = std::move(known); }
  /// Keeps the traffic of the views `one` and `other`. Of all other views, keeps only the names.
  /// Each daemon that may still join must know all traffic of those other views, or none of it.
  void keep(const ViewId& one, const ViewId& other);

 private:
  /// A record of the current view.
  struct Current {
    Place upto;
    bool every_name = false;
    std::uint64_t late_digest = 0;
    Place late_last;
    std::map<std::string, std::uint64_t, std::less<>> names;
    std::vector<ViewTraffic::Late> late;
  };
  void end(const MemberId& sender, Current& record, std::vector<ViewTraffic>& to) const;
  void count(Current& record, std::string_view name, TrafficMark* mark);
  bool has_room() const { return entries_ < kTrafficNamesMax; }
  void give_up_names(Current& record);

  Traffic known_;
  ViewId view_{};  ///< the current view; the fields below are of this view
  Current all_;    ///< of all senders
  std::map<MemberId, Current> of_senders_;
  std::size_t entries_ = 0;  ///< names and late messages of these records
  std::uint64_t generation_ = 1;
};

}  // namespace peal::group
