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

// Which names were sent to, view by view, so that daemons that come together can tell who missed
// messages, and for which names. What is known of a view is a set of messages: those up to a
// place, counted for each name, and single ones behind it. Sets are joined when daemons meet.

namespace peal::group {

/// Where a message stands in the order of its view.
struct Place {
  Seq seq{};
  std::uint32_t index{};
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

/// Names and late messages that are remembered of all views together, at most; of more, the oldest
/// views are taken to have messages for every name.
inline constexpr std::size_t kTrafficNamesMax = 4'096;
inline constexpr std::size_t kTrafficViewsMax = 256;

/// What is known of one view's messages: at least one.
struct ViewTraffic {
  /// All messages for this name up to `upto`.
  struct Name {
    std::string name;
    std::uint64_t messages{};
    friend bool operator==(const Name&, const Name&) = default;
  };
  /// A message behind `upto`, for this name: it was delivered in a transitional view, where others
  /// before it may be missing.
  struct Late {
    Place place;
    std::string name;
    friend auto operator<=>(const Late&, const Late&) = default;
  };
  ViewId view{};
  Place upto;                   ///< every message up to here is known; zero: none
  bool every_name = false;      ///< too many names: there may be messages for any
  std::uint64_t late_digest{};  ///< if so: of the places of late messages; 0: there are none
  std::vector<Name> names;      ///< else: sorted
  std::vector<Late> late;       ///< else: sorted
  friend bool operator==(const ViewTraffic&, const ViewTraffic&) = default;
};

/// Views that are not remembered one by one any more.
struct Forgotten {
  ViewId upto{};            ///< the last of them; zero: there are none
  std::uint64_t digest{};   ///< of what was known of them, in whatever order they were forgotten
  bool every_name = false;  ///< too many names: there may be messages for any
  std::vector<std::string> names;  ///< else: those that they have messages for; sorted
  bool empty() const { return upto.number == 0; }
  bool is(const Forgotten& other) const { return upto == other.upto && digest == other.digest; }
  friend bool operator==(const Forgotten&, const Forgotten&) = default;
};

/// What is known of the messages of one domain: those that who is in it learns.
struct Traffic {
  order::Domain domain{};
  Forgotten forgotten;
  std::vector<ViewTraffic> views;  ///< sorted
  bool empty() const { return forgotten.empty() && views.empty(); }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What Tables take for it, besides the number of them.
std::size_t bytes_of(const Traffic& traffic);
/// Forgets names, the oldest first, until it takes no more than so many bytes, which are enough for
/// one without views.
void shrink(Traffic& traffic, std::size_t bytes_max);

/// Names that messages were missed for.
struct Missed {
  bool every_name = false;
  std::set<std::string, std::less<>> names;
  bool contains(std::string_view name) const { return every_name || names.contains(name); }
  bool empty() const { return !every_name && names.empty(); }
};
/// Parts meet: what was missed by the one with this index. `all` is what everybody knows then.
Missed meet(std::vector<Traffic> parts, std::size_t own, Traffic& all);

/// Where the count for a name is, so that the next message for it need not look it up.
struct TrafficMark {
  std::uint64_t generation = 0;
  std::uint64_t* messages = nullptr;
  order::Domain domain{};
};

/// The messages that one daemon delivered, and what it heard of others: of one domain.
class TrafficLog {
 public:
  explicit TrafficLog(order::Domain domain) { known_.domain = domain; }
  TrafficLog(const TrafficLog&) = delete;
  TrafficLog& operator=(const TrafficLog&) = delete;
  TrafficLog(TrafficLog&&) = default;

  /// From now on messages are of this view. What the view before had is known as well.
  void begin(const ViewId& view);
  /// A message for this name, at a higher place than those before; once for each of its names.
  void note(std::string_view name, const Place& place, TrafficMark* mark) {
    upto_ = place;
    if (every_name_) return;
    if (mark != nullptr && mark->generation == generation_ && mark->domain == known_.domain) {
      ++*mark->messages;
      return;
    }
    count(name, mark);
  }
  /// The same in the transitional view.
  void note_late(std::string_view name, const Place& place);

  /// Of all views that have ended.
  const Traffic& known() const { return known_; }
  void adopt(Traffic&& known) { known_ = std::move(known); }
  /// Of other views than these it remembers only which names they had messages for: those who may
  /// come know all of it, or nothing.
  void keep(const ViewId& one, const ViewId& other);

 private:
  void count(std::string_view name, TrafficMark* mark);
  void give_up_names();

  Traffic known_;
  ViewId view_{};  ///< this and the rest: the view at present
  Place upto_;
  bool every_name_ = false;
  std::uint64_t late_digest_ = 0;
  Place late_last_;
  std::map<std::string, std::uint64_t, std::less<>> names_;
  std::vector<ViewTraffic::Late> late_;
  std::uint64_t generation_ = 1;
};

}  // namespace peal::group
