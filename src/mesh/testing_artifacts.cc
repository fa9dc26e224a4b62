// As the format's own documents show them, with keys filled in.
#include "mesh/testing_artifacts.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/sha256.h"

namespace sluice::mesh {
namespace {

std::string filled(std::string text) {
  for (std::string name : {"management-plane/primary", "control-plane/primary"}) {
    const std::string mark = "KEY[" + name + "]";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), example_pubkey(name));
  }
  return text;
}

json::object parsed(std::string_view text) { return parse_json_value(filled(std::string(text))).value().as_object(); }

}  // namespace

crypto::PrivateKey example_key(std::string_view name) {
  auto digest = crypto::sha256("mesh example " + std::string(name));
  return crypto::PrivateKey::from_seed(std::span<const uint8_t, 32>(digest.data(), 32));
}

std::string example_pubkey(std::string_view name) { return crypto::to_base64(example_key(name).public_key().raw()); }

Trust example_trust() {
  return {.trust_domain = "acme",
          .mgmt_signers = {{SpiffeId("spiffe://acme/management-plane/primary"),
                            KeyText(example_pubkey("management-plane/primary"))}},
          .ctrl_signers = {
              {SpiffeId("spiffe://acme/control-plane/primary"), KeyText(example_pubkey("control-plane/primary"))}}};
}

json::object example_agent() {
  return parsed(
      R"({"schema_version":"1.0","plane":"mgmt","kind":"agent","version":42,"node":"alpha","name":"agent","generated_at":"2026-06-25T12:00:00Z",
 "payload":{
  "trust":{"ca_cert_path":"ca.crt",
   "authorized_mgmt_signers":[{"spiffe_id":"spiffe://acme/management-plane/primary","pubkey":"KEY[management-plane/primary]"}],
   "authorized_ctrl_signers":[{"spiffe_id":"spiffe://acme/control-plane/primary","pubkey":"KEY[control-plane/primary]"}]},
  "vertices":[{"name":"public","kind":"link"},{"name":"rete","kind":"mesh"}],
  "control_plane":{"principal":"spiffe://acme/node/alpha","config_server":"spiffe://acme/service/config-server","via":{"kind":"socks5","addr":"127.0.0.1:1080"}}}})");
}

json::object example_link() {
  return parsed(
      R"({"schema_version":"1.0","plane":"mgmt","kind":"vertex","version":42,"node":"alpha","name":"public","generated_at":"2026-06-25T12:00:00Z",
 "payload":{"kind":"link","ca_cert_path":"ca.crt","transport_endpoint":{"type":"quic"},
  "connection_manager":{"adapters":[{"name":"wire","type":"udp","listen":"0.0.0.0:4433"}]},
  "workloads":[{"spiffe_id":"spiffe://acme/vertex/alpha/rete","identity":{"cert_path":"cv-alpha.crt","priv_path":"cv-alpha.key"},
    "io":[{"kind":"florio","socket":"/run/flor/acme/vertices/public.sock"}]}],
  "links":[{"type":"enum","members":[{"name":"beta","peer":"spiffe://acme/vertex/beta/rete","via":{"type":"udp","adapter":"wire","addr":"5.6.7.8:4433"}}]}],
  "ingress":[{"target":"spiffe://acme/vertex/alpha/rete","allow":["spiffe://acme/vertex/beta/rete"]}],
  "egress":[{"target":"spiffe://acme/vertex/beta/rete","allow":["spiffe://acme/vertex/alpha/rete"]}]}})");
}

json::object example_mesh() {
  return parsed(
      R"({"schema_version":"1.0","plane":"mgmt","kind":"vertex","version":42,"node":"alpha","name":"rete","generated_at":"2026-06-25T12:00:00Z",
 "payload":{"kind":"mesh","ca_cert_path":"ca.crt","transport_endpoint":{"type":"quic"},
  "connection_manager":{"adapters":[{"name":"via-link","type":"florio","socket":"/run/flor/acme/vertices/public.sock"},{"name":"internal","type":"udp","listen":"10.0.0.5:5544"}]},
  "links":[{"type":"enum","members":[
    {"name":"beta","peer":"spiffe://acme/vertex/beta/rete","via":{"type":"florio","adapter":"via-link"}},
    {"name":"gamma","peer":"spiffe://acme/vertex/gamma/rete","via":{"type":"udp","adapter":"internal","addr":"10.0.0.7:5544"}}]}],
  "workloads":[
    {"spiffe_id":"spiffe://acme/node/alpha","identity":{"cert_path":"alpha.crt","priv_path":"alpha.key"},"io":[{"kind":"socks5","listen":"127.0.0.1:1080"}]},
    {"spiffe_id":"spiffe://acme/service/api","identity":{"cert_path":"api.crt","priv_path":"api.key"},"io":[{"kind":"tcp","upstream":"127.0.0.1:8000"},{"kind":"socks5","listen":"127.0.0.1:18000"}]}],
  "ingress":[{"target":"spiffe://acme/service/api","allow":["spiffe://acme/user/alice"]}],
  "egress":[{"target":"spiffe://acme/service/config-server","allow":["spiffe://acme/node/alpha"]},{"target":"spiffe://acme/service/mongodb","allow":["spiffe://acme/service/api"]}]}})");
}

json::object example_ctrl() {
  return parsed(
      R"({"schema_version":"1.0","plane":{"ctrl":{"obeys_mgmt_version":42}},"kind":"vertex","version":17,"node":"alpha","name":"rete","generated_at":"2026-06-25T12:00:01Z",
 "payload":{"active_links":["beta","gamma"],
  "label_bindings":[
   {"scope":"ingress","target":"spiffe://acme/service/api","initiator":"spiffe://acme/user/alice","in":{"link":"beta","label":9}},
   {"scope":"egress","target":"spiffe://acme/service/mongodb","initiator":"spiffe://acme/service/api","out":{"link":"beta","label":11}},
   {"scope":"egress","target":"spiffe://acme/service/config-server","initiator":"spiffe://acme/node/alpha","out":{"link":"beta","label":12}}],
  "forwarding_table":[
   {"in":{"link":"beta","label":17},"out":{"link":"gamma","label":42}},
   {"in":{"link":"gamma","label":23},"out":{"link":"beta","label":71}}]}})");
}

std::string signed_text(json::object envelope) {
  const std::string name = envelope.at("plane").is_string() ? "management-plane/primary" : "control-plane/primary";
  return write(sign(std::move(envelope), "acme", SpiffeId("spiffe://acme/" + name), example_key(name)).value());
}

Artifact signed_artifact(json::object envelope) { return parse_artifact(signed_text(std::move(envelope))).value(); }

}  // namespace sluice::mesh
