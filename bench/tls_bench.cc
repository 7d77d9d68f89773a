// SPDX-License-Identifier: Apache-2.0
// What a client with TLS costs the loop that serves the client: the handshake, and the transfer of
// bytes.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tls_parts.h"

namespace peal::io {
namespace {

/// Processor time of this thread, in seconds.
double spent() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The server's part of one handshake in which the client also sends a certificate. The longest
/// step is the time for which a handshake can delay one turn of a loop. state.range: bits of the
/// server's RSA key, or 0 for ECDSA on P-256.
void tls_handshake_of_server(benchmark::State& state) {
  TlsParts parts;
  CertificateRequest request;
  request.alternative_names = "DNS:node-1.example";
  request.rsa_bits = static_cast<int>(state.range(0));
  parts.write("server", parts.authority.issue(request));
  const auto server = open_server(parts.server_options());
  const auto client = open_client(parts.client_options());
  double longest = 0;
  for (auto _ : state) {
    TlsPair pair(server, client);
    double sum = 0;
    double longest_here = 0;
    while (!pair.both_open()) {
      pair.client_outcome = pair.client->advance();
      const double begin = spent();
      pair.server_outcome = pair.server->advance();
      const double step = spent() - begin;
      sum += step;
      longest_here = std::max(longest_here, step);
      if (pair.server_outcome == StreamOutcome::broken) {
        return state.SkipWithError(pair.server->error().message.c_str());
      }
    }
    state.SetIterationTime(sum);
    longest += longest_here;
  }
  state.counters["longest_step_us"] =
      benchmark::Counter(longest * 1e6, benchmark::Counter::kAvgIterations);
}
BENCHMARK(tls_handshake_of_server)
    ->Arg(0)
    ->Arg(2'048)
    ->Arg(4'096)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

/// Writes messages of 1350 bytes with one call, and reads them. state.range: number of messages.
void tls_write_and_read(benchmark::State& state) {
  const TlsParts parts;
  TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()));
  pair.shake_hands();
  if (!pair.both_open()) return state.SkipWithError("no handshake");
  const std::vector<std::byte> message(1'350, std::byte{'x'});
  const std::vector<ByteView> batch(static_cast<std::size_t>(state.range(0)), message);
  const std::size_t bytes = batch.size() * message.size();
  std::vector<std::byte> buffer(bytes);
  for (auto _ : state) {
    std::size_t taken = pair.server->write(batch).bytes;
    for (std::size_t got = 0; got < bytes && taken == bytes;) {
      got += pair.client->read(ByteSpan(buffer).subspan(got)).bytes;
    }
    if (taken != bytes) return state.SkipWithError("not written");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK(tls_write_and_read)->Arg(1)->Arg(8)->Arg(40);

}  // namespace
}  // namespace peal::io
