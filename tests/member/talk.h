// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "members.h"

namespace peal::test {

/// Messages that members sent, and the sites that have them.
///
/// If a member gets no processor time for longer than a timeout of the quorum, a view excludes this
/// member. Then the member lacks messages that the others order. That is no error, so a test waits
/// until all members have all messages, or until a view changes.
class Round {
 public:
  /// Each member sends `count` messages: some share a packet, others take many packets.
  Round(Sites& sites, std::size_t count) : sites_(sites) {
    for (auto& site : sites) {
      before_.push_back(site->got.size());
      views_.push_back(site->views.size());
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (auto& site : sites) {
        auto ticket = site->member->multicast(pattern((i * 401) % 9'000, i), Service::agreed);
        if (!ticket) {
          ADD_FAILURE() << ticket.error().message;
          continue;
        }
        sent_.emplace(site->member->id(), ticket->number);
      }
    }
  }

  /// Waits until all sites have all messages, or until a view changes; fails after a minute.
  /// Returns true if all sites have all messages.
  bool wait() {
    bool all = false;
    read_until(sites_, [&] { return (all = all_have_all()) || view_changed(); });
    return all;
  }
  /// The sent messages that site number `site` has received.
  std::set<std::pair<std::string, std::uint64_t>> got_by(std::size_t site) const {
    std::set<std::pair<std::string, std::uint64_t>> here;
    const auto& got = sites_[site]->got;
    for (std::size_t i = before_[site]; i < got.size(); ++i) {
      const std::pair key{got[i].sender, got[i].number};
      if (sent_.contains(key)) here.insert(key);
    }
    return here;
  }
  bool all_have_all() const {
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (sites_[s]->got.size() - before_[s] < sent_.size()) return false;
      if (got_by(s).size() != sent_.size()) return false;
    }
    return true;
  }
  bool view_changed() const {
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (sites_[s]->views.size() != views_[s]) return true;
    }
    return false;
  }
  /// Checks that each place has the same message at all sites, that no site got a message twice,
  /// and that each sent message is at some site.
  void check_order() const {
    std::map<std::tuple<std::string, std::uint64_t, std::uint32_t>, const Got*> places;
    std::set<std::pair<std::string, std::uint64_t>> anywhere;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      std::set<std::pair<std::string, std::uint64_t>> here;
      const auto& got = sites_[s]->got;
      for (std::size_t i = before_[s]; i < got.size(); ++i) {
        const auto [place, fresh] =
            places.emplace(std::tuple{got[i].view, got[i].position, got[i].index}, &got[i]);
        ASSERT_TRUE(got[i].same_as(*place->second)) << "site " << s << ", " << i;
        ASSERT_TRUE(here.emplace(got[i].sender, got[i].number).second) << "site " << s << ", " << i;
        const bool ascends = i == before_[s] || got[i - 1].view != got[i].view ||
                             std::pair{got[i - 1].position, got[i - 1].index} <
                                 std::pair{got[i].position, got[i].index};
        ASSERT_TRUE(ascends) << "site " << s << ", " << i;
      }
      anywhere.merge(here);
    }
    for (const auto& [sender, number] : sent_) {
      EXPECT_TRUE(anywhere.contains({sender, number})) << sender << " " << number << " is nowhere";
    }
  }

 private:
  Sites& sites_;
  std::vector<std::size_t> before_, views_;
  std::set<std::pair<std::string, std::uint64_t>> sent_;  ///< sender and number of each
};

/// Each member sends `count` messages, and all members deliver all of them in one order. A member
/// that a view excluded has only the messages of its own views, at the same places.
inline void talk(Sites& sites, std::size_t count) {
  Round round(sites, count);
  bool settled = round.wait();
  for (int again = 0; !settled && again < 20 && !::testing::Test::HasFailure(); ++again) {
    read_until(sites, [&] {
      return std::all_of(sites.begin(), sites.end(),
                         [&](const auto& site) { return site->members() == sites.size(); });
    });
    // Once a site has the messages of one more round, it has received all earlier events.
    settled = Round(sites, 1).wait();
  }
  ASSERT_TRUE(settled) << "views changed all the time" << what_came(sites);
  round.check_order();
}

}  // namespace peal::test
