// A flow as people ask for it: found by an id that may be short, read into a History, told in sentences. The views of
// flows (host/flows/flow_views.h) are made of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/terminal.h"
#include "base/ulid.h"
#include "engine/journal/history.h"
#include "engine/rules/near_miss.h"
#include "host/flow_rows.h"
#include "store/store.h"

namespace sluice::host {

// --- finding ------------------------------------------------------------------------------------------------------

// The shortest beginning or end of an id that is looked for. Ids of one hour begin alike, so ends are what people use.
inline constexpr size_t kShortestId = 6;
inline constexpr std::string_view kLatest = "latest";

// A flow by its id, by a beginning or an end of it that no other flow has, or as "latest". Case does not matter.
Result<store::FlowRow> find_flow(store::Snapshot& snapshot, std::string_view text);

// The same for an invocation, with its flow.
struct FoundInvocation {
  store::FlowRow flow;
  Ulid invocation;
};
Result<FoundInvocation> find_invocation(store::Snapshot& snapshot, std::string_view text);

// The end of an id, long enough to be typed in its place.
std::string short_id(const Ulid& id);

// --- telling ------------------------------------------------------------------------------------------------------

struct FlowView {
  store::FlowRow row;
  engine::History history;
  std::vector<std::pair<Ulid, std::string>> follow_ups;  // child flows and their states
  size_t pending = 0;                                    // of these, how many have not settled
  std::optional<std::vector<engine::NearMiss>> misses;   // if the syncs are known
  // Likewise, by invocation that is open: the syncs that go on from how it ends, with the pattern by which they do.
  std::map<size_t, std::vector<engine::NearMiss>> awaited_by;
  std::string kit;                 // the folder of its kit, or of the one that ran last
  std::string other_kit;           // its kit's folder, if another kit ran last
  std::vector<std::string> notes;  // what could not be told, and why
};

Result<FlowView> view_flow(store::Snapshot& snapshot, const store::FlowRow& row);

// The state in words: "settled, 2 follow-ups pending", "failed: Till/pay => declined".
std::string state_text(const FlowView& flow);

// "ok", "engine.fault"; for what is open what it waits for: "runs", "waits for an answer".
std::string outcome_text(const engine::PastInvocation& one);
Style style_of(const engine::PastInvocation& one);

// What holds the flow up: open invocations with nothing open beneath them, each as a sentence.
struct Wait {
  size_t invocation = 0;
  std::string text;
};
std::vector<Wait> waits_of(const engine::History& history);

// "Send waits for Timer/wait: [ name: "packing" ] => ok[]", a line a sync that goes on from how an open one ends.
std::vector<std::string> awaiting_texts(const FlowView& flow, size_t invocation);

// What made the flow fail; none if it has not, or if that is no invocation.
std::optional<size_t> failure_of(const FlowView& flow);

// What a program said last that the flow could not start; empty if there is none. Whoever passes such a failure on
// passes the same lines on, so they are those of the first.
std::vector<std::string> last_lines_of(const engine::History& history);

// Why it, or one of its invocations, is as it is, a sentence each. `rules` names the syncs and guards that decided it.
std::vector<std::string> why_sentences(const FlowView& flow, bool rules);
std::vector<std::string> why_sentences(const FlowView& flow, size_t invocation, bool rules);

}  // namespace sluice::host
