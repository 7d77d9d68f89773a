// SPDX-License-Identifier: Apache-2.0
#include "daemon/own_address.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "io/clock.h"

namespace peal::daemon {
namespace {

constexpr Duration kLook = milliseconds(20);  ///< between two checks for the answer
constexpr Duration kAgainMin = milliseconds(500);
constexpr Duration kAgainMax = seconds(5);
constexpr std::string_view kHint =
    "the name of this node needs an address of this machine; a headless service of Kubernetes "
    "publishes those of pods that are not ready only with publishNotReadyAddresses: true";

/// Waits until `end`, or until a signal to stop comes. Returns true if the signal came.
bool stopped_until(Instant end, const io::StopSignals& signals) {
  for (Instant now = io::Clock::now(); now < end; now = io::Clock::now()) {
    pollfd descriptor{signals.fd(), POLLIN, 0};
    const std::int64_t left = (end - now).ns / 1'000'000 + 1;
    if (::poll(&descriptor, 1, static_cast<int>(left)) <= 0) continue;
    const int number = signals.take();
    if (number != 0 && number != SIGHUP) return true;
  }
  return false;
}

/// Does one lookup. Returns nothing if a signal to stop came before the answer.
std::optional<io::LookUp::Answer> ask(const config::Settings& settings,
                                      const io::StopSignals& signals) {
  const io::HostPort& name = settings.own().address;
  auto asked =
      settings.question ? io::LookUp::begin(name, settings.question) : io::LookUp::begin(name);
  if (!asked) return unexpected(asked.error());
  while (true) {
    if (auto answer = asked->wait({})) return answer;
    if (stopped_until(io::Clock::now() + kLook, signals)) return std::nullopt;
  }
}

Result<io::Endpoint, io::IoError> choose_own(const config::Settings& settings,
                                             const io::LookUp::Answer& answer) {
  if (!answer) return unexpected(answer.error());
  return config::choose_own(settings, *answer);
}

}  // namespace

std::optional<io::Endpoint> wait_for_own_address(const config::Settings& settings,
                                                 const io::StopSignals& signals, const NodeLog& log,
                                                 const io::Notifier& notifier) {
  const io::HostPort& name = settings.own().address;
  if (const auto number = io::endpoint_of(name)) return number;
  std::string said;
  Duration pause = kAgainMin;
  while (true) {
    const auto answer = ask(settings, signals);
    if (!answer) return std::nullopt;
    const auto own = choose_own(settings, *answer);
    if (own) return *own;
    if (said != own.error().message) {
      said = own.error().message;
      const std::string text = "waits for its own address, " + io::to_string(name);
      log.event("waiting", {{"for", "the own address"},
                            {"name", io::to_string(name)},
                            {"reason", said},
                            {"hint", std::string(kHint)}});
      ignore(notifier.status(text), "a service manager that does not listen is no reason to stop");
    }
    if (stopped_until(io::Clock::now() + pause, signals)) return std::nullopt;
    pause = std::min(pause + pause, kAgainMax);
  }
}

}  // namespace peal::daemon
