// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "wire/client.h"

namespace peal::wire::test {

/// The result of the decoders of the client protocol for one record, and whether they kept their
/// guarantees.
struct ClientVerdict {
  Drop drop = Drop::none;
  const char* wrong = nullptr;  ///< the violated guarantee, if any
};
/// Examines the bytes of one record, header included.
ClientVerdict examine_record(ByteView bytes);
/// Cuts the bytes of a stream into records, and examines each record.
ClientVerdict examine_stream(ByteView bytes);

}  // namespace peal::wire::test
