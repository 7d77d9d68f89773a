// SPDX-License-Identifier: Apache-2.0
#include "base/assert.h"
#include "order/engine.h"

namespace peal::order {

std::string_view wait_name(WaitReason::Kind kind) {
  switch (kind) {
    case WaitReason::Kind::nothing: return "nothing";
    case WaitReason::Kind::token: return "token";
    case WaitReason::Kind::packet: return "packet";
    case WaitReason::Kind::stability: return "stability";
    case WaitReason::Kind::gathering: return "gathering";
    case WaitReason::Kind::recovering: return "recovering";
    case WaitReason::Kind::slow_application: return "slow_application";
    case WaitReason::Kind::window: return "window";
    case WaitReason::Kind::coordinator: return "coordinator";
    case WaitReason::Kind::quorum: return "quorum";
    case WaitReason::Kind::founding: return "founding";
    case WaitReason::Kind::bound: return "bound";
    case WaitReason::Kind::other_list: return "other_list";
    case WaitReason::Kind::forgotten: return "forgotten";
    case WaitReason::Kind::unheard: return "unheard";
    case WaitReason::Kind::disk: return "disk";
    case WaitReason::Kind::ensemble: return "ensemble";
    case WaitReason::Kind::majority: return "majority";
    case WaitReason::Kind::not_heard: return "not_heard";
  }
  PEAL_ASSERT(false && "unknown wait reason");
}

bool is_without_majority(const WaitReason& reason) {
  using Kind = WaitReason::Kind;
  return reason.kind == Kind::majority || reason.kind == Kind::founding ||
         reason.kind == Kind::bound || reason.kind == Kind::other_list ||
         reason.kind == Kind::forgotten;
}

std::string_view event_name(EventCode code) {
  switch (code) {
    case EventCode::gather_started: return "gather_started";
    case EventCode::consensus_reached: return "consensus_reached";
    case EventCode::commit_started: return "commit_started";
    case EventCode::recovery_started: return "recovery_started";
    case EventCode::view_installed: return "view_installed";
    case EventCode::member_accused: return "member_accused";
    case EventCode::token_lost: return "token_lost";
    case EventCode::token_retransmitted: return "token_retransmitted";
    case EventCode::recovery_guard: return "recovery_guard";
    case EventCode::stall_excluded: return "stall_excluded";
    case EventCode::epoch_corrected: return "epoch_corrected";
    case EventCode::incompatible_peer: return "incompatible_peer";
    case EventCode::nodes_adopted: return "nodes_adopted";
    case EventCode::nodes_not_given: return "nodes_not_given";
    case EventCode::votes_forgotten: return "votes_forgotten";
    case EventCode::acceptor_renewed: return "acceptor_renewed";
    case EventCode::log_put_back: return "log_put_back";
    case EventCode::paused: return "paused";
    case EventCode::owed_dropped: return "owed_dropped";
  }
  PEAL_ASSERT(false && "unknown event");
}

std::string_view gather_reason_name(GatherReason reason) {
  switch (reason) {
    case GatherReason::boot: return "boot";
    case GatherReason::token_loss: return "token_loss";
    case GatherReason::join: return "join";
    case GatherReason::foreign: return "foreign";
    case GatherReason::leave: return "leave";
    case GatherReason::consensus_timeout: return "consensus_timeout";
    case GatherReason::stall: return "stall";
    case GatherReason::guard: return "guard";
    case GatherReason::pause: return "pause";
    case GatherReason::commit_loss: return "commit_loss";
    case GatherReason::sets_grew: return "sets_grew";
    case GatherReason::epoch: return "epoch";
    case GatherReason::nodes: return "nodes";
  }
  PEAL_ASSERT(false && "unknown gather reason");
}

}  // namespace peal::order
