// The words and sizes of the wire: for api/service.cc and host/remote_door.cc.
#pragma once

#include <array>
#include <string_view>

#include "engine/engine.h"

namespace sluice::host {

// A page of rows has at most so many of them, and goes not far beyond so many bytes.
inline constexpr size_t kPageRows = 1000;
inline constexpr size_t kPageBytes = size_t{1} << 20U;

// The kit that a caller needs the server to run, and what the caller does: "traffic show".
inline constexpr std::string_view kKitHeader = "Sluice-Kit";
inline constexpr std::string_view kPurposeHeader = "Sluice-For";

// Beside an answer that is the same however often it is asked for: how its flow stands now, as members of that answer.
inline constexpr std::string_view kFlowNowHeader = "Sluice-Flow-Now";

// What one replica of a control plane says to the one that leads: the certificate, in base64, that its caller has
// shown. It is believed along with the replica's own token alone, which begins like this.
inline constexpr std::string_view kCertificateHeader = "Sluice-Client-Certificate";
inline constexpr std::string_view kReplicaTokenPrefix = "slp_";

// What is waited for: "quiet", "settled", "all".
constexpr std::string_view name_of(engine::Engine::Until until) {
  constexpr std::array<std::string_view, 3> kNames = {"quiet", "settled", "all"};
  return kNames[static_cast<size_t>(until)];
}

// "cancel", "resolve", "retry", "drop", "move", "correct-clock".
constexpr std::string_view name_of(engine::Decision::Kind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"cancel", "resolve", "retry", "drop", "move", "correct-clock"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace sluice::host
