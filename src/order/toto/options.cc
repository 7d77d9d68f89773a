// SPDX-License-Identifier: Apache-2.0
#include "order/toto/options.h"

#include <array>
#include <string_view>

namespace peal::order::toto {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::string_view kRules[] = {"toto", "all-ack"};

constexpr std::array kFields{
    field<&Options::win>(
        {.key = "toto.win",
         .kind = Option::Kind::fraction,
         .least = 500,
         .most = 1'000,
         .drawn_least = 500,
         .drawn_most = 1'000,
         .cluster_wide = true,
         .help = "share of the members whose votes make a message win over concurrent ones, at "
                 "least a majority. A larger share needs more acknowledgements if few messages are "
                 "concurrent, and fewer if many are"}),
    field<&Options::delivery>(
        {.key = "toto.delivery",
         .words = kRules,
         .cluster_wide = true,
         .help = "with \"all-ack\", a message waits for an acknowledgement of every member: "
                 "simpler, and as slow as the slowest member"}),
    field<&Options::ack_rate>(
        {.key = "toto.ack_rate",
         .least = 1,
         .most = 1'000'000,
         .drawn_least = 500,
         .drawn_most = 50'000,
         .help = "acknowledgements per second that a node without messages of its own sends at "
                 "most"}),
    field<&Options::acks>({.key = "toto.acks",
                           .internal = true,
                           .help = "whether a node without messages of its own acknowledges"}),
    field<&Options::fault>(
        {.key = "toto.fault_ms",
         .least = 20 * kMs,
         .most = 60'000 * kMs,
         .drawn_least = 60 * kMs,
         .drawn_most = 400 * kMs,
         .cluster_wide = true,
         .help =
             "a member that sends nothing for this long, or acknowledges nothing, is excluded"}),
    field<&Options::window>({.key = "toto.window",
                             .least = 4,
                             .most = 2'048,
                             .drawn_least = 8,
                             .drawn_most = 256,
                             .cluster_wide = true,
                             .help = "packets that one member may have under way: sent, and not "
                                     "yet acknowledged by every member"}),
    field<&Options::lacks>({.key = "toto.lacks_ms",
                            .least = kMs / 10,
                            .most = 1'000 * kMs,
                            .drawn_least = kMs / 2,
                            .drawn_most = 4 * kMs,
                            .internal = true,
                            .help = "how long a missing packet may be late before it is asked "
                                    "for"}),
    field<&Options::packet_bytes_max>(packet_bytes_option(256, wire::kPacketBytesMax)),
    field<&Options::primary>(primary_option()),
};

}  // namespace

std::span<const Field<Options>> fields() { return kFields; }

std::span<const Option> all_options() {
  static constexpr auto kOptions = options_of(kFields);
  return kOptions;
}

std::string validate(const Options& options) { return refusal_in(options, fields()); }

}  // namespace peal::order::toto
