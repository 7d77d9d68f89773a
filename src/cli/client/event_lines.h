// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "daemon/order_digest.h"
#include "peal/events.h"

namespace peal::cli {

/// Which events of a client are converted to lines, and in which form.
struct LineOptions {
  bool views = false;   ///< also changes of groups, and warnings
  bool json = false;    ///< one object per line
  bool digest = false;  ///< instead of messages, a digest of their order for each view of a group
};

/// Converts a client's events into lines for `peal recv`. Without `json`, lines that are not
/// messages begin with '#'. A gap always gets a line, even without `views`.
class EventLines {
 public:
  explicit EventLines(const LineOptions& options) : options_(options) {}

  /// Adds the lines of an event. True if the event is a message.
  bool take(const v0::ClientEvent& event);
  /// No more events follow: adds the digests of the last views.
  void finish();

  /// The lines added so far; the caller removes them.
  std::string& text() { return text_; }

 private:
  /// A group that this client is in, and its current view.
  struct Group {
    std::string view;  ///< id of the view; empty: none yet
    daemon::OrderDigest digest;
    /// Number of messages without a place, which are not in the digest: members may get them on
    /// different sides of a view.
    std::uint64_t unplaced = 0;
    std::uint64_t missing = 0;  ///< number of messages in gaps
    bool away = false;          ///< further messages are missing, in unknown number
  };

  bool on(const v0::GroupMessage& message);
  bool on(const v0::GroupView& view);
  bool on(const v0::Transitional& over);
  bool on(const v0::Left& left);
  bool on(const v0::Gap& gap);
  bool on(const v0::SlowWarning& warning);
  template <class Other>
  bool on(const Other&) {
    return false;  // such an event does not concern messages or members
  }
  void end_view(std::string_view group, Group& state);
  void line(std::string_view content) { text_.append(content).push_back('\n'); }

  LineOptions options_;
  std::map<std::string, Group, std::less<>> groups_;
  std::string text_;
};

/// The id of a group's view, shortened for a person: without the epoch. "12@1/3" is the view after
/// the third change of groups in view 12 of the nodes, which node 1 formed. "12@1/2.3" is the view
/// after the third change among those members that go to view 12 together from one old view. Node 2
/// is the smallest of these members (see group/group_ids.h).
std::string short_view(std::string_view id);

}  // namespace peal::cli
