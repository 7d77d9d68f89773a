// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "oracle/group_core.h"

// G3: clients that went from one view of a group to the next together got the same messages of the
// group in between. Their order is G7's.

namespace peal::oracle {

// Nearly always the lists are equal as they are. Else they are compared as sets, because a message
// that its sender did not want back has no place in its sender's own list.
void GroupCore::check_stretch(Stretch& stretch, Index client, std::vector<Index> messages,
                              const std::string& where, std::int64_t at) {
  if (stretch.clients++ == 0) {
    stretch.first = client;
    stretch.messages = std::move(messages);
    return;
  }
  ++report_.figures.compared;
  if (stretch.messages == messages) return;
  std::vector<Index>& known = stretch.messages;
  std::sort(known.begin(), known.end());
  std::sort(messages.begin(), messages.end());
  const auto report = [&](Index without, Index message, Index with) {
    violate(GroupProperty::g3_same_messages, at, [&] {
      return name(without) + " does not deliver " + message_text(message) + " " + where + ", as " +
             name(with) + " does, which went the same way";
    });
  };

  std::vector<Index> missing;
  std::set_difference(known.begin(), known.end(), messages.begin(), messages.end(),
                      std::back_inserter(missing));
  for (const Index message : missing) {
    if (!may_lack(client, message)) return report(client, message, stretch.first);
  }
  missing.clear();
  std::set_difference(messages.begin(), messages.end(), known.begin(), known.end(),
                      std::back_inserter(missing));
  for (const Index message : missing) {
    const bool only_its_sender = stretch.clients == 2 && may_lack(stretch.first, message);
    if (!only_its_sender) return report(stretch.first, message, client);
  }
  const auto middle = static_cast<std::ptrdiff_t>(known.size());
  known.insert(known.end(), missing.begin(), missing.end());
  std::inplace_merge(known.begin(), known.begin() + middle, known.end());
}

}  // namespace peal::oracle
