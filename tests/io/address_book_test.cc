// SPDX-License-Identifier: Apache-2.0
#include "io/address_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace peal::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Endpoint v4(std::uint8_t last, std::uint16_t port = 4'800) {
  return Endpoint::v4(10, 0, 0, last, port);
}
Endpoint v6(std::uint8_t last) {
  return *parse_endpoint("[fd00::" + std::to_string(last) + "]", 4'800);
}

/// Name servers whose answers a test chooses. Several threads may use them at once.
class NameServers {
 public:
  void set(const std::string& name, std::vector<Endpoint> found) { put(name, std::move(found)); }
  void fail(const std::string& name, Errc code) {
    put(name, unexpected(IoError{code, "no answer for " + name}));
  }
  int asked(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return asked_[name];
  }
  LookUp::Question question() {
    return [this](const HostPort& name) -> LookUp::Answer {
      const std::lock_guard lock(mutex_);
      ++asked_[name.host];
      const auto known = answers_.find(name.host);
      if (known == answers_.end()) return unexpected(IoError{Errc::invalid_option, "nobody"});
      return known->second;
    };
  }

 private:
  void put(const std::string& name, LookUp::Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.insert_or_assign(name, std::move(answer));
  }
  std::mutex mutex_;
  std::map<std::string, LookUp::Answer> answers_;
  std::map<std::string, int> asked_;
};

/// The address book of node 1, at 10.0.0.1. Nodes 2, 3, … have the given names.
class Book {
 public:
  explicit Book(std::vector<std::string> names, const Endpoint& own = v4(1)) {
    std::vector<AddressBook::Entry> entries;
    for (const std::string& name : names) {
      const auto number = static_cast<std::uint32_t>(entries.size() + 2);
      entries.push_back({NodeId{number}, *parse_host_port(name, 4'800), {}, {}});
    }
    book.emplace(own, std::move(entries), servers.question());
  }

  /// Advances to `now`, waits until all queries are answered, and returns the changes.
  std::vector<std::string> at(Instant now) {
    std::vector<std::string> changes;
    do {
      book->on_timer(now, [&](const AddressBook::Change& change) {
        const auto text = [](const Endpoint& at) {
          return at.is_unspecified() ? std::string("nowhere") : to_string(at);
        };
        changes.push_back(std::to_string(change.entry.node.value) + ": " + text(change.before) +
                          " to " + text(change.entry.at));
      });
      ::sched_yield();
    } while (book->waiting() > 0 || book->next_deadline().value_or(now + seconds(1)) <= now);
    std::sort(changes.begin(), changes.end());
    return changes;
  }
  void present(Instant now, std::initializer_list<std::uint32_t> nodes) {
    std::vector<MemberId> members;
    for (const std::uint32_t node : nodes) members.push_back({NodeId{node}, 1});
    book->set_present(now, members);
  }
  const AddressBook::Entry& operator[](std::uint32_t node) const {
    return book->entries()[node - 2];
  }

  NameServers servers;
  std::optional<AddressBook> book;
};

constexpr Instant kStart{1'000'000'000};

TEST(AddressBook, AsksNobodyAboutNumbers) {
  Book book({"10.0.0.2:4800", "10.0.0.3:4800"});
  EXPECT_FALSE(book.book->has_names());
  EXPECT_FALSE(book.book->next_deadline());
  EXPECT_EQ(book[2].at, v4(2));
  EXPECT_THAT(book.at(kStart), IsEmpty());
  book.book->ask_all(kStart);
  EXPECT_FALSE(book.book->next_deadline());
  EXPECT_EQ(book.servers.asked("10.0.0.2"), 0);
}

TEST(AddressBook, FindsAllNamesAtTheStart) {
  Book book({"b", "c", "d", "10.0.0.9:4800", "e"});
  book.servers.set("b", {v4(2)});
  book.servers.set("c", {v4(3)});
  book.servers.set("e", {v4(5)});
  EXPECT_THAT(book.at(kStart),
              ElementsAre("2: nowhere to 10.0.0.2:4800", "3: nowhere to 10.0.0.3:4800",
                          "4: nowhere to nowhere", "6: nowhere to 10.0.0.5:4800"));
  EXPECT_EQ(book[4].problem, "nobody");
  EXPECT_FALSE(book[4].known());
}

TEST(AddressBook, SaysOnceThatANameIsNotFoundAndGoesOnAsking) {
  Book book({"b"});
  EXPECT_THAT(book.at(kStart), ElementsAre("2: nowhere to nowhere"));
  std::vector<std::int64_t> pauses;
  Instant now = kStart;
  for (int i = 0; i < 5; ++i) {
    const Instant next = *book.book->next_deadline();
    pauses.push_back((next - now).ns / 1'000'000'000);
    now = next;
    EXPECT_THAT(book.at(now), IsEmpty());
  }
  EXPECT_THAT(pauses, ElementsAre(5, 10, 20, 30, 30));
  EXPECT_EQ(book.servers.asked("b"), 6);
  book.servers.set("b", {v4(2)});
  EXPECT_THAT(book.at(*book.book->next_deadline()), ElementsAre("2: nowhere to 10.0.0.2:4800"));
}

TEST(AddressBook, LooksForWhomIsNotInTheView) {
  Book book({"b", "c"});
  book.servers.set("b", {v4(2)});
  book.servers.set("c", {v4(3)});
  book.at(kStart);
  book.present(kStart, {1, 2, 3});
  EXPECT_FALSE(book.book->next_deadline());
  // c leaves the view, and comes back at another address.
  const Instant gone = kStart + seconds(100);
  book.present(gone, {1, 2});
  EXPECT_EQ(book.book->next_deadline(), gone);
  EXPECT_THAT(book.at(gone), IsEmpty());
  book.servers.set("c", {v4(33)});
  EXPECT_THAT(book.at(gone + seconds(4)), IsEmpty());
  EXPECT_THAT(book.at(gone + seconds(5)), ElementsAre("3: 10.0.0.3:4800 to 10.0.0.33:4800"));
  EXPECT_EQ(book.servers.asked("b"), 1);
  EXPECT_EQ(book.servers.asked("c"), 3);
}

TEST(AddressBook, StrangersBringTheQuestionForwardButNotBelowItsPause) {
  Book book({"b", "c"});
  book.servers.set("b", {v4(2)});
  book.at(kStart);
  book.present(kStart, {1, 2});
  book.at(kStart + seconds(5));
  book.at(kStart + seconds(15));
  EXPECT_EQ(book.book->next_deadline(), kStart + seconds(35));
  book.book->on_strangers(kStart + seconds(16));
  EXPECT_EQ(book.book->next_deadline(), kStart + seconds(20));
  book.at(kStart + seconds(20));
  book.book->on_strangers(kStart + seconds(24));
  EXPECT_EQ(book.book->next_deadline(), kStart + seconds(25));
  EXPECT_EQ(book.servers.asked("b"), 1);
}

TEST(AddressBook, AsksForAllWhenSomebodyWantsIt) {
  Book book({"b"});
  book.servers.set("b", {v4(2)});
  book.at(kStart);
  book.present(kStart, {1, 2});
  book.servers.set("b", {v4(4)});
  book.book->ask_all(kStart + seconds(1));
  EXPECT_THAT(book.at(kStart + seconds(1)), ElementsAre("2: 10.0.0.2:4800 to 10.0.0.4:4800"));
  EXPECT_FALSE(book.book->next_deadline());  // each name is looked up only once
}

TEST(AddressBook, KeepsWhatItKnowsWhileThereIsNoAnswer) {
  Book book({"b"});
  book.servers.set("b", {v4(2)});
  book.at(kStart);
  book.servers.fail("b", Errc::would_block);
  EXPECT_THAT(book.at(kStart + seconds(5)), IsEmpty());
  EXPECT_EQ(book[2].at, v4(2));
  EXPECT_EQ(book[2].problem, "no answer for b");
  book.servers.set("b", {v4(2)});
  EXPECT_THAT(book.at(kStart + seconds(15)), IsEmpty());
  EXPECT_EQ(book[2].problem, "");
}

TEST(AddressBook, TakesTheFirstOfItsOwnFamilyAndStaysWithIt) {
  Book book({"b"});
  book.servers.set("b", {v6(1), v4(7), v4(5)});
  EXPECT_THAT(book.at(kStart), ElementsAre("2: nowhere to 10.0.0.5:4800"));
  book.servers.set("b", {v4(2), v4(5)});
  EXPECT_THAT(book.at(kStart + seconds(5)), IsEmpty());
  Book six({"b"}, v6(1));
  six.servers.set("b", {v4(7), v6(3)});
  EXPECT_THAT(six.at(kStart), ElementsAre("2: nowhere to [fd00::3]:4800"));
  six.servers.set("b", {v4(7)});
  six.at(kStart + seconds(5));
  EXPECT_EQ(six[2].at, v6(3));
  EXPECT_THAT(six[2].problem, HasSubstr("it is 10.0.0.7: accepted is an IPv6 address"));
}

TEST(AddressBook, RefusesAddressesThatCannotWork) {
  Book book({"b"});
  const std::pair<Endpoint, std::string> rows[] = {
      {Endpoint::v4(127, 0, 1, 1, 4'800), "cannot reach each other"},
      {Endpoint::v4(0, 0, 0, 0, 4'800), "it is 0.0.0.0: accepted is an IPv4 address"},
      {Endpoint::v4(239, 0, 0, 1, 4'800), "it is 239.0.0.1"},
      {v4(1), "is this node's own address"},
      {v4(1, 4'801), "is this node's own address"},
  };
  Instant now = kStart;
  for (const auto& [at, why] : rows) {
    book.servers.set("b", {at});
    book.book->ask_all(now);
    book.at(now);
    EXPECT_FALSE(book[2].known()) << to_string(at);
    EXPECT_THAT(book[2].problem, HasSubstr(why));
    now = now + seconds(1);
  }
  Book local({"b"}, Endpoint::v4(127, 0, 0, 1, 4'800));
  local.servers.set("b", {v4(2)});
  local.at(kStart);
  EXPECT_THAT(local[2].problem, HasSubstr("/etc/hosts"));
}

TEST(AddressBook, AnAddressGoesFromOneNameToAnotherOnceTheFirstHasItNoMore) {
  Book book({"b", "c"});
  book.servers.set("b", {v4(2)});
  book.servers.set("c", {v4(3)});
  book.at(kStart);
  book.present(kStart, {1, 2, 3});
  book.present(kStart + seconds(60), {1});
  // The name b has no address any more. c has returned at b's old address.
  book.servers.fail("b", Errc::invalid_option);
  book.servers.set("c", {v4(2)});
  Instant now = kStart + seconds(60);
  book.at(now);
  EXPECT_EQ(book[3].at, v4(3));
  for (int i = 0; i < 4 && book[3].at != v4(2); ++i) book.at(now = *book.book->next_deadline());
  EXPECT_EQ(book[3].at, v4(2));
  EXPECT_FALSE(book[2].known());
  EXPECT_LE(now, kStart + seconds(75));
}

TEST(AddressBook, TwoNamesDoNotTakeOneAddressFromEachOther) {
  Book book({"b", "c"});
  book.servers.set("b", {v4(2)});
  book.servers.set("c", {v4(2)});
  std::size_t changes = 0;
  Instant now = kStart;
  for (int i = 0; i < 20; ++i) {
    changes += book.at(now).size();
    now = *book.book->next_deadline();
  }
  EXPECT_EQ(changes, 2U);  // one name was found, and the problem of the other was reported
  EXPECT_NE(book[2].known(), book[3].known());
  const auto& without = book[2].known() ? book[3] : book[2];
  EXPECT_THAT(without.problem, HasSubstr("10.0.0.2:4800 is the address of "));
}

TEST(AddressBook, ANodeInTheViewKeepsItsAddress) {
  Book book({"b", "c"});
  book.servers.set("b", {v4(2)});
  book.at(kStart);
  book.present(kStart, {1, 2});
  book.servers.fail("b", Errc::invalid_option);
  book.servers.set("c", {v4(2)});
  for (int i = 0; i < 5; ++i) book.at(*book.book->next_deadline());
  EXPECT_EQ(book[2].at, v4(2));
  EXPECT_FALSE(book[3].known());
}

TEST(AddressBook, AsksAFewAtATimeAndWaitsForNobody) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  const auto ended = std::make_shared<std::atomic<int>>(0);
  std::vector<AddressBook::Entry> entries;
  for (std::uint32_t node = 2; node < 12; ++node) {
    entries.push_back({NodeId{node}, {"n" + std::to_string(node), 1}, {}, {}});
  }
  AddressBook book(v4(1), std::move(entries), [released, ended](const HostPort&) -> LookUp::Answer {
    released.wait();
    ended->fetch_add(1);
    return unexpected(IoError{Errc::would_block, "slow"});
  });
  int found = 0;
  const auto count = [&](const AddressBook::Change&) { ++found; };
  for (int i = 0; i < 100; ++i) {
    book.on_timer(kStart + milliseconds(10 * i), count);
    EXPECT_EQ(book.waiting(), AddressBook::kQuestionsMax);
    EXPECT_GT(*book.next_deadline(), kStart + milliseconds(10 * i));
  }
  EXPECT_EQ(found, 0);
  release.set_value();
  while (found < 10) {
    book.on_timer(kStart + seconds(2), count);
    ::sched_yield();
  }
  while (ended->load() < 10) ::sched_yield();
}

TEST(ChooseOwn, TakesAnAddressOfThisMachine) {
  const HostPort name{"a", 4'800};
  const Endpoint local = Endpoint::v4(127, 0, 0, 9, 4'800);
  EXPECT_EQ(*choose_own(name, {Endpoint::v4(203, 0, 113, 7, 4'800), local}, std::nullopt), local);
  const auto refused = choose_own(name, {Endpoint::v4(203, 0, 113, 7, 4'800)}, std::nullopt);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::invalid_option);
  EXPECT_THAT(refused.error().message, HasSubstr("\"a\" is 203.0.113.7: accepted is a name"));
  const auto six = choose_own(name, {local}, false);
  ASSERT_FALSE(six.has_value());
  EXPECT_THAT(six.error().message, HasSubstr("IPv6"));
}

TEST(AddressBook, AnotherListKeepsWhatIsKnownOfThoseWhoStay) {
  Book book({"b", "c", "d", "10.0.0.9:4800"});
  book.servers.set("b", {v4(2)});
  book.servers.set("c", {v4(3)});
  book.servers.set("d", {v4(4)});
  book.servers.set("e", {v4(5)});
  book.at(kStart);
  book.present(kStart, {1, 2, 3, 4});
  EXPECT_FALSE(book.book->next_deadline());

  // Node 2 is removed, 3 stays, 4 has another name, 5 has another IP address, and 6 is new.
  const Instant later = kStart + seconds(1);
  const auto entry = [](std::uint32_t node, const char* name) {
    return AddressBook::Entry{{node}, *parse_host_port(name, 4'800), {}, {}};
  };
  book.book->set_nodes(later, {entry(3, "c"), entry(4, "dd"), entry(5, "10.0.0.8"), entry(6, "e")});
  ASSERT_EQ(book.book->entries().size(), 4U);
  EXPECT_EQ(book.book->entries()[0].at, v4(3));
  EXPECT_EQ(book.book->entries()[1].at, v4(4)) << "until it is known to be elsewhere";
  EXPECT_EQ(book.book->entries()[2].at, v4(8));
  EXPECT_FALSE(book.book->entries()[3].known());
  book.servers.set("dd", {v4(44)});
  EXPECT_THAT(book.at(later),
              ElementsAre("4: 10.0.0.4:4800 to 10.0.0.44:4800", "6: nowhere to 10.0.0.5:4800"));
  EXPECT_EQ(book.servers.asked("c"), 1);
  EXPECT_EQ(book.servers.asked("b"), 1);
  // Nodes that are not in the view are still looked up.
  book.present(later, {1, 3, 4});
  EXPECT_EQ(book.book->next_deadline(), later + seconds(5));
}

}  // namespace
}  // namespace peal::io
