// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace peal::sim_hooks {

// Each mutant is one deliberate fault. The simulator must detect every mutant (`peal sim
// --mutants`). This shows that the simulator's seeds and its oracle can find faults.
#define PEAL_MUTANTS(X)                                                                           \
  X(none, "")                                                                                     \
  X(m1_obligation_forgotten, "obligation set not remembered across failed attempts")              \
  X(m2_gap_delivers_only_trans, "after a gap deliver only origins in the transitional view")      \
  X(m3_install_one_short, "install when all members but one are complete")                        \
  X(m4_safe_from_one_rotation, "stability taken from one rotation instead of two")                \
  X(m5_accept_in_commit, "accept old-view packets in Commit, and test possession in zone 1")      \
  X(m6_accept_outside_union, "accept packets outside the union in Recovery, and test possession") \
  X(m7_zone1_own_safe_line, "zone 1 uses the own safe line instead of the maximum")               \
  X(m8_recovered_forgotten, "recovered packets forgotten when an attempt fails")                  \
  X(m9_originate_on_install, "originate in the visit that installs")                              \
  X(m10_gap_delivers_all, "after a gap deliver everything")                                       \
  X(m11_forward_in_gather, "forward tokens of the old view in Gather")                            \
  X(m12_id_without_epoch, "view ids without the incarnation of the representative")               \
  X(m13_committed_restored, "the committed id is restored when an attempt fails")                 \
  X(deliver_safe_early, "deliver safe messages when received, as if they were agreed")            \
  X(skip_own_in_recovery, "leave own packets out of the union")                                   \
  X(deliver_out_of_order, "deliver over a gap in the regular view")                               \
  X(duplicate_not_dropped, "a packet received twice is delivered twice")                          \
  X(discard_too_early, "discard packets when delivered, not when stable")                         \
  X(rtr_last_ignored, "the last request of a section is ignored")                                 \
  X(rtr_never_answered, "requests are never answered")                                            \
  X(aru_never_lowered, "a member that misses packets does not lower the token's aru")             \
  X(aru_raised_by_anyone, "anyone raises an aru that another member lowered")                     \
  X(token_duplicate_accepted, "a duplicated token is processed again")                            \
  X(token_retx_never, "a lost token is never retransmitted, and its loss is never noticed")       \
  X(transitional_by_members, "transitional set by intersecting members instead of by old view")   \
  X(transitional_omitted, "the transitional view is not announced")                               \
  X(restart_same_epoch, "a restarted node reuses its incarnation")                                \
  X(max_gap_ignored, "the maximal gap does not bound new packets")                                \
  X(fragment_tail_kept, "a partial message survives a view change")                               \
  X(fragment_not_restarted, "a half-ordered message is not restarted in the next view")           \
  X(pack_wrong_order, "two small messages of one unit are swapped")                               \
  X(mute_joins, "joins of muted members are ignored")                                             \
  X(hold_forever, "a held token is never released by its timer")                                  \
  X(primary_always, "every view claims to be primary")                                            \
  X(union_without_have, "only the contiguous prefix enters the union")                            \
  X(install_before_deliver, "the regular view is announced before the old view's remainder")      \
  X(checksum_ignored, "packets with a wrong checksum are decoded")                                \
  X(phase_two_of_any_attempt, "the second phase of another attempt's commit token is accepted")   \
  X(stale_commit_accepted, "a commit token of an attempt that is over is accepted")               \
  X(commit_unheard, "a member enters Commit though it does not hear all of its members")          \
  X(second_first_rotation, "a duplicated commit token starts the first rotation again")           \
  X(stale_join_accepted, "a JOIN is accepted though a later one of its sender was")               \
  X(leftover_join_obeyed, "a JOIN that accuses this member ends its view")                        \
  X(one_way_joins, "a JOIN ends a view though its sender does not hear the view")                 \
  X(gather_growth_unheard, "a JOIN that makes sets grow to what it says is no agreement")         \
  X(leave_ignored, "a goodbye is ignored")                                                        \
  X(muted_for_ever, "an excluded member is never invited back")                                   \
  X(damping_absent, "an excluded member is invited back at once")                                 \
  X(trial_skipped, "a member that was left out comes back without a trial of the link")           \
  X(trial_kept, "a trial that passed counts for ever")                                            \
  X(accuser_not_asked, "who was accused comes back though its accuser's link with it is bad")     \
  X(trial_any_lane, "a trial needs echoes on one of the lanes only")                              \
  X(trial_small_only, "a trial needs no echoes of large packets")                                 \
  X(stall_without_trial, "who misses packets is left out, whoever cannot send them")              \
  X(resends_not_counted, "a link is not tried, however often its token is sent again")            \
  X(epoch_not_corrected, "a clock that was set back is not made up for")                          \
  X(px_old_view_counts, "a unit counts in another view than it was proposed for")                 \
  X(px_twice, "a unit that was decided twice is delivered twice")                                 \
  X(px_promise_before_disk, "a promise is sent before it is on disk")                             \
  X(px_patience_grows, "a silence that ended in time doubles patience without a bound")           \
  X(px_pauses_add_up, "each pause puts off suspicion and election once more")                     \
  X(px_rounds_overtake, "a round begins while the promise of the last one waits for the disk")    \
  X(px_vote_before_disk, "a vote is told before it is on disk")                                   \
  X(px_old_round_accepted, "a proposal of a round below the promised one is voted for")           \
  X(px_vote_without_promise, "a vote does not raise the promised round")                          \
  X(px_promises_one_short, "Phase 1 ends with one promise less than a majority")                  \
  X(px_old_promises_count, "a promise of any round counts for the one that is being prepared")    \
  X(px_lowest_vote_wins, "a new coordinator proposes the value of the lowest round")              \
  X(px_recovered_dropped, "a new coordinator fills what others voted for with nothing")           \
  X(px_minority_decides, "one vote less than a majority decides")                                 \
  X(px_rounds_mixed, "votes of different rounds are counted together")                            \
  X(px_any_value_decided, "a value of any round is taken for the one that was decided")           \
  X(px_lists_mixed, "votes for rounds of another list of nodes are counted")                      \
  X(px_beyond_list, "a coordinator goes on in its round behind another list of nodes")            \
  X(px_list_not_logged, "an acceptor votes by a list of nodes that its log may not know")         \
  X(px_amnesiac_votes, "an acceptor that has forgotten its votes votes again")                    \
  X(px_loss_not_seen, "a link that loses most packets counts as one that works")                  \
  X(px_large_not_checked, "a link that loses all data, or all large packets, counts as working")  \
  X(px_links_not_told, "what others say of whom they hear is not believed")                       \
  X(px_parts_alone, "each domain chooses by itself which nodes go on together")                   \
  X(px_disk_not_told, "an acceptor whose disk hangs counts as one whose disk moves")              \
  X(px_stuck_stays, "a member that comes no further stays in the view")                           \
  X(px_words_need_data, "what a node says of itself does not count if its data do not arrive")    \
  X(px_part_fit_alone, "a node unfit for the order of all nodes is fit for a domain's")           \
  X(px_silent_leads, "a coordinator whose control packets do not arrive is not missed")           \
  X(px_hung_member_stays, "a member whose disk hangs keeps others out of the view")               \
  X(px_unfit_leads, "a coordinator that others cannot go on with goes on")                        \
  X(px_one_misses, "one acceptor that misses the coordinator takes over")                         \
  X(px_repairs_one_lane, "what was asked for in vain is sent by the same lane again")             \
  X(px_skip_forgets, "an acceptor that skips instances says that it voted for none of them")      \
  X(px_few_words_count, "what one acceptor voted for is taken for what was decided")              \
  X(px_lowest_word_counts, "of several votes the one of the lowest round is taken for decided")   \
  X(px_founded_alone, "an acceptor in memory begins an order before all others agree")            \
  X(px_refused_state_kept, "what a node said last counts, though what it says now is refused")    \
  X(rd_vote_decides, "an acceptor of a chain says that its own vote decides")                     \
  X(rd_arrival_decides, "a value that comes along a chain is taken for decided")                  \
  X(rd_chain_fixed, "a coordinator has the same chain always, whoever of it is alive")            \
  X(rd_own_oldest, "a unit that comes back without its bytes is taken for the oldest one")        \
  X(rr_proposed_is_decided, "from node to node, all that was proposed before is said decided")    \
  X(re_arrival_merges, "ensembles are merged as their values come")                               \
  X(re_arrival_order, "units of one member are placed as its ensembles bring them")               \
  X(re_old_view_counts, "units for a view of the ensembles that ended are placed")                \
  X(re_skips_at_will, "a member of the view skips what another ensemble ordered")                 \
  X(re_key_not_kept, "who begins with a checkpoint of an ensemble begins its keys anew")          \
  X(re_never_passes, "an ensemble with nothing to order does not say so")                         \
  X(rt_skips_not_counted, "in rotation a node does not count what a coordinator skips")           \
  X(rt_skip_undecided, "a coordinator counts what it skips before that is decided")               \
  X(do_at_once, "a node sends in several domains without waiting for places")                     \
  X(do_skips_all, "a node of one domain skips what is sent to all")                               \
  X(op_told_twice, "some units are told early twice")                                             \
  X(op_not_told, "some units are not told before they are delivered")                             \
  X(op_told_kept, "units of the view before count as told in the next one")                       \
  X(op_guess_claimed, "every guess is said to have been right")                                   \
  X(op_other_message, "what is told early is said to be another message")                         \
  X(op_wrong_order, "two messages of one unit are told early in reverse order")                   \
  X(primary_of_half, "half of the nodes are a majority")                                          \
  X(list_at_own_wish, "a node goes over to its next list of nodes at once")                       \
  X(list_unconfirmed, "a list of nodes is left that no primary view has gone by")                 \
  X(token_of_another_view, "a token of another view is accepted from the predecessor")            \
  X(duplicate_rearms_loss, "a duplicated token counts as a sign of life")                         \
  X(first_holder_answers, "the first holder answers a request every time")                        \
  X(retransmission_agreed, "a retransmission of a safe packet says that it is agreed")            \
  X(union_off_by_one, "what survivors hold is read from the wrong bit")                           \
  X(waits_for_lost, "recovery waits for packets that nobody has")                                 \
  X(incomplete_run_kept, "an incomplete member does not end the run of complete ones")            \
  X(guard_never, "nobody is accused of blocking a recovery")                                      \
  X(guard_one_sided, "nobody is accused of blocking a recovery if all members miss packets")      \
  X(transitional_of_all, "the transitional view names all members of the old view")               \
  X(obligation_kept, "the obligation set is carried into the next view")                          \
  X(gm1_index_per_group, "ids of groups are counted group by group")                              \
  X(gm2_changed_not_merged, "a group that lost members earlier is taken for unchanged")           \
  X(gm3_sends_not_blocked, "clients send while tables are exchanged")                             \
  X(gm4_synced_kept, "who left the view still counts as having an equal table")                   \
  X(gm5_gathered_kept, "tables gathered in an earlier view are used in the next")                 \
  X(gm6_one_set_after_merge, "all members count as having come together after a merge")           \
  X(gm7_parts_share_ids, "parts of a view go on with the same ids of groups")                     \
  X(gm8_one_table_short, "an exchange ends with one member's table missing")                      \
  X(gm9_left_not_told, "who leaves a group is not told that it is out")                           \
  X(gm10_once_per_target, "a message comes once for each of its groups")                          \
  X(gm11_last_data_dropped, "what is left of a view is not given to clients")                     \
  X(gm12_joiner_together, "who joins counts as having been there before")                         \
  X(gm13_traffic_not_carried, "what was sent in earlier views is forgotten")                      \
  X(gm14_traffic_not_merged, "what others say was sent is told, and forgotten")                   \
  X(gm15_gap_after_views, "clients are told of a gap behind the views of a merge")                \
  X(gm16_gap_without_message, "each merge is a gap to all members of groups")                     \
  X(gm17_late_not_known, "what is delivered in a transitional view is not remembered")            \
  X(gm18_private_gap_not_told, "who missed messages to its private name is not told")             \
  X(gm19_traffic_forgotten_early, "what was sent is forgotten before all are known to know")      \
  X(gm20_gap_not_told, "who missed messages is not told")                                         \
  X(gm21_forgotten_not_told, "what all nodes of the list knew is not told to who comes later")    \
  X(gm22_unplaced_misses_last, "the last of several receivers misses a message without a place")  \
  X(gm23_first_domain_only, "a message to groups of several domains goes to the first of them")   \
  X(gm24_every_domain, "a message to groups of some domains goes to all")                         \
  X(gm26_missed_change_lost, "a node that comes back forgets what its clients did meanwhile")     \
  X(gm27_drop_not_told, "clients are not told that what they waited for was dropped")             \
  X(gm25_held_dropped, "what comes during an exchange of tables has no effect")                   \
  X(sm1_settled_early, "a message counts as settled when it comes back, not when all have it")    \
  X(sm2_resume_drops_one, "who goes on with a session misses one event")                          \
  X(sm3_spill_out_of_order, "events pass others that went to the disk")                           \
  X(sm4_gap_forgotten, "messages are left out and no gap says so")                                \
  X(sm5_blocked_forever, "a client whose message found no room is not read again")                \
  X(sm6_taken_twice, "a message that comes a second time is sent again")                          \
  X(sm7_let_go_when_written, "what lies in shared memory is let go before it was seen")           \
  X(sm8_generation_ignored, "who reads shared memory does not look whether it is still there")    \
  X(wm1_no_checksum, "frames of a log are believed whatever their checksum says")                 \
  X(wm2_sync_not_awaited, "records count as durable when they are written, not when synced")      \
  X(wm3_tail_not_cut, "what a crash left behind a log's last record stays there")                 \
  X(wm4_folder_not_synced, "a new segment is used before its name is durable")                    \
  X(wm5_stale_accepted, "checksums of frames do not tell segments apart")                         \
  X(wm6_damage_taken_for_torn, "damage in the newest segment is taken for a write cut off")       \
  X(wm7_trim_not_durable, "segments are removed before the log says that they are not needed")    \
  X(wm8_read_not_synced, "what was read at the start counts as durable without a sync")           \
  X(wm9_removed_at_start, "a start removes segments before what says so is durable")              \
  X(wm10_durable_too_early, "a mark behind the records of a commit calls them durable")           \
  X(wm11_cut_not_noticed, "a segment whose file was cut is taken for one that a crash left")      \
  X(px_copy_votes, "an acceptor votes with an older copy of its log")                             \
  X(px_votes_unasked, "an acceptor votes before most have said what they heard of its log")       \
  X(px_start_not_logged, "an incarnation is not in its log")                                      \
  X(px_log_not_remembered, "an acceptor forgets how long another one's log was")                  \
  X(px_checkpoint_without_promise, "a checkpoint does not say which round is promised")           \
  X(px_decided_not_noted, "what was decided is not written down where the vote was for another")  \
  X(px_noted_before_order, "what was decided is written down before a log knows of the order")    \
  X(px_noted_from_kept, "who becomes an acceptor takes votes of before for what was decided")     \
  X(gather_failed_not_compared, "members agree on who is there, whomever they accuse")            \
  X(gather_old_lives_stay, "incarnations that are over are waited for")                           \
  X(gather_accusations_skipped, "a JOIN that names nobody new is not read for whom it accuses")   \
  X(gather_consensus_not_armed, "who gathers again does not wait for silent ones anew")           \
  X(gather_accuser_trusted, "who accuses this member is not accused")                             \
  X(gather_one_agrees, "a member that is alone for a moment forms a view of its own at once")     \
  X(px_owed_not_kept, "what excluded members are owed is not written, and nothing waits for it")  \
  X(px_owed_not_found, "what excluded members are owed is not read at a start")                   \
  X(px_owed_of_any_order, "what was owed in one order is told in another")                        \
  X(px_owed_unmerged, "what belongs before a view's end is not waited for by checkpoints")        \
  X(px_owed_by_members, "who is in no view keeps nothing for those who are left out of one")      \
  X(wm12_named_before_it_is_long, "a segment has its name before its file has its length")        \
  X(tt_future_above, "a candidate is a source though exactly enough open votes could beat it")    \
  X(tt_win_one_short, "a unit wins with one vote less than the threshold")                        \
  X(tt_no_internal, "units are decided while another candidate is not beaten")                    \
  X(tt_crash_column_finite, "a crashed member votes for every candidate")                         \
  X(tt_safe_at_once, "safe units need no evidence of other members")                              \
  X(tt_never_requests, "missing nodes are never requested")                                       \
  X(tt_union_without_self, "a member leaves its own graph out of the union")                      \
  X(tt_flush_incomplete, "a member is complete though it lacks nodes of the union")               \
  X(tt_install_one_short, "a view is installed when all members but one are complete")            \
  X(tt_open_at_once, "a member sends nodes before all have installed the view")                   \
  X(tt_status_votes, "a STATUS is a vote for what its sender has")                                \
  X(tt_causal_before_past, "a causal unit comes before the units that its past decides")          \
  X(tt_causal_overtakes, "a causal unit comes before an earlier unit of its sender")              \
  X(tt_loss_not_seen, "a link that loses many packets is never tested")                           \
  X(tt_silent_again, "a member whose silence ended the view comes into the next one unheard")     \
  X(rc_checksum_ignored, "records in memory are used whatever their checksums say")               \
  X(rc_active_at_once, "a leader delivers before a quorum has its base")                          \
  X(rc_backlog_forgotten, "nobody retains what a view owes to the members that it excludes")      \
  X(rc_base_has_units, "a base counts as if it had the units of its entries")                     \
  X(rc_base_for_owed, "an excluded member gets a base before it has what its view owes to it")    \
  X(rc_base_skips_unknown, "a member skips what a base takes for past, also unheard-of messages") \
  X(rc_base_skips_view, "a server that a view takes in skips messages behind that view")          \
  X(rc_causes_ignored, "a leader proposes below the key that a message comes behind")             \
  X(rc_clock_lost, "a new leader does not take over the clocks of the members")                   \
  X(rc_clock_not_raised, "a server acknowledges a key without raising its clock")                 \
  X(rc_deaf_leader_stays, "a leader that hears no majority passes for fit")                       \
  X(rc_digests_ignored, "acknowledgements of different timestamps count together")                \
  X(rc_found_in_known_round, "an answer names a round, and its key was found in a later one")     \
  X(rc_full_member_waits, "a member that can keep no more gets no base in a new view")            \
  X(rc_hearsay_counts, "a key of an unknown round counts at once")                                \
  X(rc_incomplete_is_enough, "a message is delivered before all lower timestamps are known")      \
  X(rc_joins_unknowing, "a server is admitted that does not know the present view")               \
  X(rc_later_rounds_count, "a server delivers by keys of rounds that it does not know yet")       \
  X(rc_later_view_owes, "a leader takes members of a view that it has to deliver for excluded")   \
  X(rc_left_behind_for_ever, "a member that has begun to catch up takes no base any more")        \
  X(rc_left_out_forgets, "servers that are not in two views in a row retain nothing")             \
  X(rc_lead_without_units, "a leader begins without the units of its base")                       \
  X(rc_logged_unit_lost, "a unit of the log is lost if no buffer is free")                        \
  X(rc_lost_units_stay, "a base has messages whose units nobody has")                             \
  X(rc_mark_without_clock, "a leader's mark certifies all keys, not only those up to its clock")  \
  X(rc_no_body_no_stamp, "a timestamp without its unit blocks nothing")                           \
  X(rc_no_space_no_stamp, "a base is taken without messages that have no space")                  \
  X(rc_placed_is_held, "an entry in memory counts, though its server cannot take it yet")         \
  X(rc_told_too_early, "a server outside takes from others where messages come that it delivers") \
  X(rc_unfit_for_ever, "a candidate that has heard of a view without it never leads again")       \
  X(rc_units_leave, "a server is replaced that may be one of few with a message's unit")          \
  X(rc_window_ignored, "members get messages for which they have no space")                       \
  X(rc_old_stamps_count, "a base has timestamps of members in older rounds")                      \
  X(rc_one_comes_back, "a view takes in one server at most, whoever else has gone")               \
  X(rc_one_holder_less, "a message is committed with one member less than a majority")            \
  X(rc_orders_mixed, "stamps of a domain's new order replace those of the one that it has lost")  \
  X(rc_outside_never_leads, "a domain stops if none of its living servers is a member")           \
  X(rc_outside_leads_inside, "a server outside leads once a later view has taken it in")          \
  X(rc_overwritten_lost, "what a slot had is not retained for members that a view excludes")      \
  X(rc_own_clock_certifies, "a member takes its own clock for that of its leader")                \
  X(rc_places_out_of_order, "a readmitted node delivers before it knows its earlier places")      \
  X(rc_past_in_base, "a base may have messages that its leader knows to be past")                 \
  X(rc_past_keys_forgotten, "keys of finished incarnations are not told to other domains")        \
  X(rc_past_taken_again, "messages that are past are taken again")                                \
  X(rc_quorum_not_needed, "a candidate leads with the answer of one member less")                 \
  X(rc_relays_in_any_order, "relayed messages are taken before earlier ones of their sender")     \
  X(rc_released_before_view, "messages are released before all members have the view")            \
  X(rc_released_in_other_view, "what is released in one view counts in another one")              \
  X(rc_released_by_one, "messages are released once one member has delivered them")               \
  X(rc_revoke_forgotten, "a member answers a candidate while the old leader may still write")     \
  X(rc_sets_mixed, "a node sends to other domains while its messages wait for their keys")        \
  X(wb_any_index, "a leader takes a sender's messages in any order")                              \
  X(wb_floor_ignored, "a leader gives stamps below what the sender had delivered")                \
  X(wb_tells_all_domains, "a leader tells its stamps to domains that the message is not for")     \
  X(wb_clock_stays, "servers do not raise their clocks to the keys that they acknowledge")        \
  X(wb_minority_commits, "one acknowledgement less than a majority gives a message its key")      \
  X(wb_stamps_skipped, "a leader delivers though a lower stamp may become a lower key")           \
  X(wb_other_one_placed, "a leader ticks off the message it learned of, not the one delivered")   \
  X(wb_any_place, "a follower delivers messages as its leader's packets come")                    \
  X(wb_first_state_counts, "the first state that a new leader reads says which ballot counts")    \
  X(wb_old_states_count, "a new leader proposes what only earlier ballots knew")                  \
  X(wb_new_stamps, "a new leader gives new stamps to what others had acknowledged")               \
  X(wb_retains_for_all, "while a server is dead, the others retain everything")                   \
  X(wb_recovering_acks, "a server that has promised a new ballot still acknowledges in the old")

enum class Mutant : std::uint16_t {
#define PEAL_MUTANT_ENUM(id, text) id,
  PEAL_MUTANTS(PEAL_MUTANT_ENUM)
#undef PEAL_MUTANT_ENUM
      count
};

/// The mutant of the calling thread; `none` unless the simulator chose one.
Mutant active_mutant();
void activate_mutant(Mutant mutant);
std::string_view mutant_name(Mutant mutant);
std::string_view mutant_text(Mutant mutant);

}  // namespace peal::sim_hooks
