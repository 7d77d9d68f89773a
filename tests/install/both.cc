// SPDX-License-Identifier: Apache-2.0
// Usage: both PORT. Both libraries in one program: the only member of a cluster receives its own
// message, and a client finds no daemon.

#include <peal/client.h>
#include <peal/member.h>

#include <cstdlib>
#include <iostream>

static int fail(const std::string& what) {
  std::cerr << "both: " << what << '\n';
  return 1;
}

static int run_member(const std::string& port) {
  peal::Config config;
  config.cluster = "both";
  config.name = "a";
  config.insecure = true;
  config.nodes = {{"a", "127.0.0.1:" + port}};
  auto member = peal::Member::embed(config);
  if (!member) return fail(member.error().message);
  if (!member->multicast("hello", peal::Service::safe)) return fail("nothing can be sent");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < end) {
    auto event = member->wait(std::chrono::seconds(1));
    if (!event) continue;
    if (const auto* message = std::get_if<peal::Message>(&*event)) {
      return message->text() == "hello" ? 0 : fail("another message came");
    }
  }
  return fail("no message came");
}

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: both PORT");
  if (const int status = run_member(argv[1]); status != 0) return status;
  peal::ClientOptions options;
  options.daemon = "/no/such/socket";
  const auto client = peal::Client::connect(options);
  if (client.ok() || client.error().code != peal::ErrorCode::unreachable) {
    return fail("a client found a daemon where there is none");
  }
  // This library refuses a header of a later patch version and one of another minor version.
  for (const std::uint32_t header : {PEAL_VERSION + 1, PEAL_VERSION + 1'000}) {
    const auto of_client = peal::Client::connect(options, header);
    const auto of_member = peal::Member::embed({}, header);
    if (of_client.ok() || of_client.error().code != peal::ErrorCode::wrong_version ||
        of_member.ok() || of_member.error().code != peal::ErrorCode::wrong_version) {
      return fail("another version was not refused");
    }
  }
  std::cout << "both: one program, a member and a client\n";
}
