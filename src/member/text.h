// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/ids.h"
#include "order/engine.h"
#include "trace/names.h"
#include "wire/frames.h"

namespace peal::member {

/// What a node waits for, in plain words; empty if nothing.
std::string wait_text(const order::WaitReason& reason, const trace::Names& names);

/// Why a member gave its view up, in plain words, from an event gather_started. `pause` is how long
/// this process did not run, if it did not.
std::string gather_text(const order::Event& event, Duration pause, const trace::Names& names);

/// Why another process's packets are of no use here, and what to do about it.
std::string incompatible_text(const MemberId& who, wire::Drop reason, const trace::Names& names);

}  // namespace peal::member
