// Reaching a config server over the set in force confirms it, and only then is a newer one looked at: so there is never
// a doubt which of two sets did not work.
#include "mesh/agent.h"

#include <boost/json.hpp>
#include <charconv>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "http/outgoing.h"
#include "http/parser.h"
#include "http/socket.h"
#include "mesh/enrolment.h"
#include "mesh/proof.h"

namespace sluice::mesh {
namespace agent {

struct Served {
  std::vector<json::value> artifacts;
  std::optional<std::vector<json::value>> chain;
};
BOOST_DESCRIBE_STRUCT(Served, (), (artifacts, chain))

Result<std::vector<Artifact>> artifacts_in(Disk& disk, const std::string& folder) {
  auto there = disk.exists(folder);
  if (!there) return there.error();
  if (!*there) return std::vector<Artifact>();
  return read_artifacts(disk, folder);
}

}  // namespace agent

Result<Fetched> parse_served(std::string_view text) {
  auto document = parse_json(text, "", {.max_depth = 40, .max_bytes = kMaxServedBytes, .max_nodes = 4'000'000});
  if (!document) return document.error();
  auto served = read<agent::Served>(*document);
  if (!served) return served.error();
  Fetched fetched{.news = true};
  auto artifacts = parse_all(served->artifacts);
  if (!artifacts) return artifacts.error();
  fetched.artifacts = *std::move(artifacts);
  if (!served->chain) return fetched;
  auto chain = parse_all(*served->chain);
  if (!chain) return chain.error();
  fetched.chain = *std::move(chain);
  return fetched;
}

Result<Fetched> FolderSource::fetch(const NodeState& state) {
  Fetched fetched{.news = true};
  const std::string node = folder_ + "/" + state.node;
  for (const char* plane : {"/mgmt", "/ctrl"}) {
    auto some = agent::artifacts_in(disk_, node + plane);
    if (!some) return some.error();
    for (Artifact& each : *some) fetched.artifacts.push_back(std::move(each));
  }
  auto chain = agent::artifacts_in(disk_, node + "/chain");
  if (!chain) return chain.error();
  fetched.chain = *std::move(chain);
  std::ranges::sort(fetched.chain, {}, [](const Artifact& each) { return each.envelope.version; });
  return fetched;
}

// ------------------------------------------------------------------------------------------------- config servers

Result<std::string> ServerSource::identity_file(const std::string& name) const {
  return read_file(disk_, identity_folder_ + "/" + name, 1 << 20);
}

Result<ServerAnswer> ServerSource::ask_with_proof(const NodeState& state, const std::string& method,
                                                  const std::string& target, const std::string& body) {
  const std::string own = "certs/node." + state.node;
  auto certificate = identity_file(own + ".crt");
  if (!certificate) return certificate.error();
  auto pem = identity_file(own + ".key");
  if (!pem) return pem.error();
  auto key = crypto::PrivateKey::from_pem(*pem);
  if (!key) return key.error();
  const Asked asked{.trust_domain = state.marks.trust.trust_domain, .method = method, .target = target, .body = body};
  return ask(state, method, target, body,
             {{std::string(kCertificateHeader), crypto::to_base64(*certificate)},
              {std::string(kProofHeader), prove(asked, *key, clock_.wall_ms())}});
}

// News of one plane are joined with what the server has of the other one: something may have been published in between,
// and what is in force may be older than the marks, after it was taken back.
Result<Fetched> ServerSource::fetch(const NodeState& state) {
  const auto fetch_plane = [&](const std::string& plane, uint64_t have) -> Result<Fetched> {
    const std::string target = "/artifact/" + plane + "/" + state.node + "?have=" + std::to_string(have);
    auto answer = ask_with_proof(state, "GET", target, "");
    if (!answer) return answer.error();
    if (answer->status == 304 || (answer->status == 404 && plane == "ctrl")) return Fetched();
    if (answer->status == 200) return parse_served(answer->body);
    return Error{.code = Code::unavailable, .message = "the config server answered " + std::to_string(answer->status)};
  };
  uint64_t ctrl_mark = 0;
  for (const auto& [vertex, mark] : state.marks.ctrl) ctrl_mark = std::max(ctrl_mark, mark.version);
  auto mgmt = fetch_plane("mgmt", state.marks.mgmt.version);
  if (!mgmt) return mgmt;
  auto ctrl = fetch_plane("ctrl", mgmt->news ? 0 : ctrl_mark);
  if (!ctrl) return ctrl;
  if (ctrl->news && !mgmt->news) mgmt = fetch_plane("mgmt", 0);
  if (!mgmt) return mgmt;
  for (Artifact& each : ctrl->artifacts) mgmt->artifacts.push_back(std::move(each));
  for (Artifact& each : ctrl->chain) mgmt->chain.push_back(std::move(each));
  mgmt->news = mgmt->news || ctrl->news;
  return mgmt;
}

Result<void> ServerSource::report(const NodeState& state) {
  json::object ctrl;
  for (const auto& [vertex, mark] : state.marks.ctrl) ctrl[vertex] = mark.version;
  const std::string body = write(json::object{{"version", state.marks.mgmt.version},
                                              {"ctrl", std::move(ctrl)},
                                              {"active", state.active},
                                              {"pending", state.pending.has_value()},
                                              {"rejected", was_taken_back(state)},
                                              {"trouble", state.trouble}});
  auto answer = ask_with_proof(state, "POST", "/artifact/report/" + state.node, body);
  if (!answer) return answer.error();
  if (answer->status >= 300)
    return Error{.code = Code::unavailable, .message = "the config server answered " + std::to_string(answer->status)};
  return {};
}

Result<ServerAnswer> DirectSource::ask(const NodeState& state, const std::string& method, const std::string& target,
                                       const std::string& body, const std::vector<http::Header>& headers) {
  const std::string& domain = state.marks.trust.trust_domain;
  auto ca = identity_file("ca.crt");
  if (!ca) return ca.error();
  auto cert = identity_file("certs/node." + state.node + ".crt");
  if (!cert) return cert.error();
  auto key = identity_file("certs/node." + state.node + ".key");
  if (!key) return key.error();
  http::Outgoing outgoing({.tls = {.roots_pem = *ca,
                                   .chain_pem = *cert,
                                   .key_pem = *key,
                                   .server_name = "config-server." + domain + ".rete"}},
                          clock_);
  auto answer = outgoing.send({.method = method,
                               .url = url_ + target,
                               .headers = headers,
                               .body = body,
                               .timeout_ms = patience_ms_,
                               .most_bytes = kMaxServedBytes});
  if (!answer) return answer.error();
  return ServerAnswer{answer->status, std::move(answer->body)};
}

Result<ServerAnswer> VertexSource::ask(const NodeState& state, const std::string& method, const std::string& target,
                                       const std::string& body, const std::vector<http::Header>& headers) {
  const int64_t deadline_ns = clock_.monotonic_ns() + patience_ms_ * 1'000'000;
  const std::string host = "config-server." + state.marks.trust.trust_domain + ".rete";
  const auto lost = [&](const std::string& what) {
    return Error{.code = Code::unavailable, .message = "the config server cannot be reached over the set: " + what};
  };
  uint16_t port = 0;
  std::from_chars(socks5_.port().data(), socks5_.port().data() + socks5_.port().size(), port);
  auto socket = http::connect_tcp(std::string(socks5_.host()), port);
  if (!socket) return lost(socket.error().message);
  http::Wire wire(*std::move(socket), clock_);
  std::string in;
  const auto take = [&](size_t count) {
    while (in.size() < count) {
      if (wire.read(in, deadline_ns, -1) != http::Wire::Read::some) return std::string();
    }
    std::string taken = in.substr(0, count);
    in.erase(0, count);
    return taken;
  };
  // RFC 1928: version 5, no authentication; then CONNECT to a name. The port says nothing: a service has one upstream.
  using namespace std::string_literals;
  if (!wire.write("\x05\x01\x00"s, deadline_ns) || take(2) != "\x05\x00"s) return lost("the vertex speaks no SOCKS5");
  if (!wire.write("\x05\x01\x00\x03"s + static_cast<char>(host.size()) + host + "\x00\x50"s, deadline_ns))
    return lost("the vertex closed the connection");
  const std::string head = take(4);
  if (head.size() != 4 || head[1] != 0)
    return lost(head.size() != 4 ? "the vertex did not answer" : "the vertex refused, code " + std::to_string(head[1]));
  size_t rest = head[3] == 1 ? 4 : head[3] == 4 ? 16 : 0;
  if (head[3] == 3) {
    const std::string length = take(1);
    if (length.empty()) return lost("the vertex broke off");
    rest = static_cast<unsigned char>(length[0]);
  }
  if (take(rest + 2).empty()) return lost("the vertex broke off");
  http::Request request{.method = method, .target = target, .headers = {{"Host", host}}, .body = body};
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  if (!wire.write(http::head_of(request) + body, deadline_ns)) return lost("the connection broke");
  http::AnswerParser parser({.head_bytes = 16 << 10, .body_bytes = kMaxServedBytes});
  while (true) {
    auto complete = parser.take(in);
    if (!complete) return complete.error();
    if (*complete) break;
    const auto read = wire.read(in, deadline_ns, -1);
    if (read == http::Wire::Read::late) return lost("it did not answer in " + std::to_string(patience_ms_) + " ms");
    if (read != http::Wire::Read::some) return lost("the connection broke");
  }
  http::Answer answer = parser.answer();
  return ServerAnswer{answer.status, std::move(answer.body)};
}

Result<std::optional<SyncOutcome>> enforce_deadline(NodeStore& store, const Clock& clock) {
  const auto left = store.left_ms(clock);
  if (!left || *left > 0) return std::optional<SyncOutcome>();
  auto back = store.roll_back("nobody confirmed it in time");
  if (!back) return back.error();
  return std::optional<SyncOutcome>(SyncOutcome{Synced::taken_back, *std::move(back)});
}

Result<SyncOutcome> sync(NodeStore& store, ConfigSource& source, const Clock& clock, int64_t confirm_within_ms) {
  auto overdue = enforce_deadline(store, clock);
  if (!overdue) return overdue.error();
  if (*overdue) return **std::move(overdue);
  auto fetched = source.fetch(store.state());
  if (!fetched) {
    if (auto noted = store.note_trouble(fetched.error().message); !noted) return noted.error();
    return fetched.error();
  }
  SyncOutcome outcome;
  if (source.proves_the_set() && store.state().pending) {
    if (auto confirmed = store.confirm(); !confirmed) return confirmed.error();
    outcome.what = Synced::confirmed;
  }
  if (source.is_server()) {
    if (auto noted = store.note_reached(clock.wall_ms()); !noted) return noted.error();
  }
  if (!fetched->news) {
    if (auto noted = store.note_trouble(store.standing_trouble(clock.wall_ms())); !noted) return noted.error();
    return outcome;
  }
  // A config server sends the plane that is news; the other one is what is in force.
  auto active = store.active_set();
  if (!active) return active.error();
  std::vector<Artifact> artifacts = std::move(fetched->artifacts);
  for (const bool ctrl : {false, true}) {
    if (std::ranges::any_of(artifacts, [&](const Artifact& each) { return each.is_ctrl() == ctrl; })) continue;
    for (const Artifact& each : active->artifacts) {
      if (each.is_ctrl() == ctrl) artifacts.push_back(each);
    }
  }
  auto change = store.accept(fetched->chain, std::move(artifacts), clock.wall_ms(), confirm_within_ms);
  if (!change) return change.error();
  if (change->changed) outcome = {Synced::changed, *std::move(change)};
  return outcome;
}

}  // namespace sluice::mesh
