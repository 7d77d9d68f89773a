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
#include <vector>

#include "base/ids.h"
#include "order/engine.h"

// Records the names to which messages were sent, separately for each view. When daemons meet in a
// view, they compare these records. So each daemon learns to which names it missed messages. The
// record of a view is a set of messages: all messages up to a place, counted for each name, and
// single messages behind that place. Daemons that meet unite their sets.

namespace peal::group {

/// A message's place in the order of its view.
struct Place {
  Seq seq{};
  std::uint32_t index{};
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

/// Maximum number of names and late messages kept, over all views. Beyond this number, the
/// forgotten views and then the oldest views count as having messages for every name.
inline constexpr std::size_t kTrafficNamesMax = 4'096;
inline constexpr std::size_t kTrafficViewsMax = 256;

/// The known messages of one view: at least one message.
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
  std::vector<Late> late;       ///< empty if every_name; sorted
  friend bool operator==(const ViewTraffic&, const ViewTraffic&) = default;
};

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
  std::vector<ViewTraffic> views;  ///< sorted
  bool empty() const { return forgotten.empty() && views.empty(); }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// Bytes of `traffic` in Tables, without the count of domains.
std::size_t bytes_of(const Traffic& traffic);
/// Removes the names of views, and then whole views, until `traffic` takes at most `bytes_max`
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
    upto_ = place;
    if (every_name_) return;
    if (mark != nullptr && mark->generation == generation_ && mark->domain == known_.domain) {
      ++*mark->messages;
      return;
    }
    count(name, mark);
  }
  /// Like note(), for a message that is delivered in the transitional view.
  void note_late(std::string_view name, const Place& place);

  /// The traffic of all views that have ended.
  const Traffic& known() const { return known_; }
  void adopt(Traffic&& known) { known_ = std::move(known); }
  /// Keeps the traffic of the views `one` and `other`. Of all other views, keeps only the names.
  /// Each daemon that may still join must know all traffic of those other views, or none of it.
  void keep(const ViewId& one, const ViewId& other);

 private:
  void count(std::string_view name, TrafficMark* mark);
  void give_up_names();

  Traffic known_;
  ViewId view_{};  ///< the current view; the fields below are of this view
  Place upto_;
  bool every_name_ = false;
  std::uint64_t late_digest_ = 0;
  Place late_last_;
  std::map<std::string, std::uint64_t, std::less<>> names_;
  std::vector<ViewTraffic::Late> late_;
  std::uint64_t generation_ = 1;
};

}  // namespace peal::group
