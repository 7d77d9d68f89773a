// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <peal/member.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

// Several members in one process, over the loopback interface. This file, and the tests that use
// it, include only public headers of Peal.

namespace peal::test {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// A line of a key file.
inline constexpr const char* kKeyLine =
    "key 56e2d2e0 send   2026-11-22T19:30:35Z "
    "be965831be4b2134ba2daea3b24ef3174db8a112cbfb6ab1b90c9383f0458ee6";

/// A line with another key.
inline constexpr const char* kOtherKeyLine =
    "key 8afd6519 send   2026-11-22T19:51:02Z "
    "2325bef93d7aede259ab04f3cd2a33fdadb3798f6e7268f626c5b23506d8cba7";

/// An address of node `node` on this machine. It contains the process id, because several tests may
/// run at the same time.
inline std::string address(std::uint32_t node) {
  const auto id = static_cast<std::uint32_t>(::getpid());
  return "127." + std::to_string(1 + (id >> 16U) % 250) + "." + std::to_string((id >> 8U) & 255U) +
         "." + std::to_string(id & 255U) + ":" + std::to_string(5'000 + 2 * node);
}

/// A key file of this process alone, as `peal keygen` writes it.
inline const std::string& key_file() {
  static const struct File {
    File() : path(testing::TempDir() + "peal-" + std::to_string(::getpid()) + ".key") {
      const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
      const std::string text = std::string(kKeyLine) + "\n";
      EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      ::close(fd);
    }
    ~File() { ::unlink(path.c_str()); }
    std::string path;
  } file;
  return file.path;
}

/// The configuration of node `self` of the nodes n1, n2, … Its timeouts are long, because views
/// must survive on a machine that runs many tests at once.
inline Config config_of(std::uint32_t self, std::uint32_t count) {
  Config config;
  config.cluster = "test-" + std::to_string(::getpid());
  config.name = "n" + std::to_string(self);
  for (std::uint32_t node = 1; node <= count; ++node) {
    config.nodes.push_back({"n" + std::to_string(node), address(node)});
  }
  config.key_file = key_file();
  config.multicast = Multicast::off;
  if (count > 1) {
    config.order = Ring{.tunables = {{"token_loss_ms", 3'000},
                                     {"consensus_ms", 3'000},
                                     {"stall_ms", 10'000},
                                     {"probe_ms", 100}}};
  }
  return config;
}

/// The settings of one engine. The configuration must use that engine.
inline Ring& ring_of(Config& config) { return std::get<Ring>(config.order); }
inline Paxos& paxos_of(Config& config) { return std::get<Paxos>(config.order); }
inline Ridge& ridge_of(Config& config) { return std::get<Ridge>(config.order); }

/// A received message, with its own copy of all bytes.
struct Got {
  std::string sender;
  std::uint64_t number;
  bool own;
  Service service;
  std::string text;
  std::string domains;  ///< their names, with commas
  std::string view;
  std::uint64_t position;
  std::uint32_t index;
  bool transitional;

  explicit Got(const Message& m)
      : sender(m.sender),
        number(m.number),
        own(m.own),
        service(m.service),
        text(m.text()),
        view(m.view),
        position(m.position),
        index(m.index),
        transitional(m.transitional) {
    for (const std::string_view name : m.domains) {
      domains += domains.empty() ? "" : ",";
      domains += name;
    }
  }
  bool same_as(const Got& other) const {
    return sender == other.sender && number == other.number && service == other.service &&
           text == other.text && view == other.view && position == other.position &&
           index == other.index;
  }
};

/// A member, and the events that the test took from it.
struct Site {
  explicit Site(const Config& config) {
    auto made = Member::embed(config);
    if (made) {
      member = std::make_unique<Member>(std::move(*made));
    } else {
      ADD_FAILURE() << made.error().message;
    }
  }

  /// Takes one event, and waits at most for `patience`. False if no event came.
  bool take(std::chrono::milliseconds patience) {
    auto event = member->wait(patience);
    if (!event) return false;
    if (auto* message = std::get_if<Message>(&*event)) got.emplace_back(*message);
    if (auto* view = std::get_if<View>(&*event)) views.push_back(*view);
    if (auto* warning = std::get_if<Warning>(&*event)) warnings.push_back(warning->message);
    if (auto* end = std::get_if<Closed>(&*event)) closed.push_back(*end);
    return true;
  }
  std::size_t members() const {
    return views.empty() || views.back().transitional ? 0 : views.back().members.size();
  }

  std::unique_ptr<Member> member;
  std::vector<Got> got;
  std::vector<View> views;
  std::vector<std::string> warnings;
  std::vector<Closed> closed;
};

using Sites = std::vector<std::unique_ptr<Site>>;

/// Text for the output of a failed test: how many messages each site received, and its views.
inline std::string what_came(const Sites& sites) {
  std::string text;
  for (const auto& site : sites) {
    text += "\n" + std::to_string(site->got.size()) + " messages; views:";
    for (const View& view : site->views) {
      text += (view.transitional ? " (" : " ") + std::to_string(view.members.size()) +
              (view.transitional ? ")" : "");
    }
    if (site->member != nullptr) text += "\n  waits for " + site->member->status().waits_for;
    for (const std::string& warning : site->warnings) text += "\n  " + warning;
    for (const Closed& end : site->closed) text += "\n  closed: " + end.reason;
  }
  return text;
}

/// Reads events at all sites until `done` returns true; fails after a minute.
inline bool read_until(Sites& sites, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "nothing came of it within a minute" << what_came(sites);
      return false;
    }
    bool any = false;
    for (auto& site : sites) {
      while (site->take(0ms)) any = true;
    }
    if (!any) sites.front()->take(1ms);
  }
  return true;
}

/// Starts the nodes 1 to `count`, and waits until they are in one view.
inline Sites start(
    std::uint32_t count, const std::function<void(Config&)>& change = [](Config&) {}) {
  Sites sites;
  for (std::uint32_t self = 1; self <= count; ++self) {
    Config config = config_of(self, count);
    change(config);
    sites.push_back(std::make_unique<Site>(config));
    if (sites.back()->member == nullptr) return {};
  }
  read_until(sites, [&] {
    for (auto& site : sites) {
      if (site->members() != count) return false;
    }
    return true;
  });
  return sites;
}

inline std::string pattern(std::size_t size, std::uint64_t seed) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>((i * 2'654'435'761U + (i >> 8) + seed * 97) >> 3);
  }
  return text;
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace peal::test
