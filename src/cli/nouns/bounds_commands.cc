// sluice bounds: what an operator lets a router serve, whoever has the control plane. The rules are in
// router/table/bounds.h.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/replaceable.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/public_keys.h"
#include "crypto/dsse.h"
#include "crypto/key_file.h"
#include "host/home.h"
#include "router/state_files.h"
#include "router/table/bounds.h"
#include "router/table/table_document.h"

namespace sluice::cli {
namespace bounds_commands {

constexpr size_t kMaxTableFile = size_t{256} << 20;

// What a router of this home obeys, or what a table file says.
Result<router::TableDocument> table_at_hand(Context& context) {
  if (context.given.has("table")) {
    auto text = read_file(context.disk, context.given.text("table"), kMaxTableFile);
    if (!text) return text.error();
    auto read = router::read_table(*text, context.given.text("table"));
    if (!read) return read.error();
    return std::move(read->document);
  }
  auto home = home_of(context);
  if (!home) return home.error();
  auto routers = home->check("router");
  if (!routers) return routers.error();
  router::StateFiles state(context.disk, (*routers / context.given.text("name")).string());
  auto kept = state.read();
  if (!kept) return kept.error();
  if (!kept->snapshot) {
    return Error{.code = Code::not_found,
                 .message = "the router " + context.given.text("name") + " of this home obeys no table yet",
                 .next = "name a table file: --table FILE"};
  }
  auto read = router::read_table(kept->snapshot->bytes);
  if (!read) return read.error();
  auto& deployments = read->document.deployments;
  for (const router::KeptOrder& each : kept->patches) {
    auto patch = router::read_patch(each.bytes);
    if (!patch || patch->quarantined) continue;
    std::erase_if(deployments, [&](const router::DeploymentDocument& known) { return known.id == patch->deployment; });
    if (patch->document.deployment) deployments.push_back(*std::move(patch->document.deployment));
  }
  return std::move(read->document);
}

// A member that is not said is left out of what people edit.
json::value without_nulls(const json::value& value) {
  if (value.is_array()) {
    json::array array;
    for (const json::value& each : value.get_array()) array.push_back(without_nulls(each));
    return array;
  }
  if (!value.is_object()) return value;
  json::object object;
  for (const auto& [name, each] : value.get_object()) {
    if (!each.is_null()) object.emplace(name, without_nulls(each));
  }
  return object;
}

Result<Code> judge(Context& context, const router::Bounds& bounds, const router::TableDocument& table) {
  auto settings = bounds.check_settings(table);
  json::array beyond;
  Table shown{.columns = {{"DEPLOYMENT"}, {"BUNDLE"}, {"WHY"}}, .empty = "Every deployment is within the bounds."};
  for (const router::DeploymentDocument& each : table.deployments) {
    auto why = bounds.breach(each);
    if (!why) continue;
    beyond.push_back(json::object{{"deployment", each.id}, {"bundle", each.bundle}, {"reason", *why}});
    shown.rows.push_back({{each.id, Style::strong}, {each.bundle}, {*why, Style::bad}});
  }
  const size_t count = beyond.size();
  context.output.print(
      json::object{
          {"version", bounds.document().version},
          {"expires_at", bounds.document().expires_at ? json::value(*bounds.document().expires_at) : json::value()},
          {"deployments", static_cast<int64_t>(table.deployments.size())},
          {"beyond", std::move(beyond)},
          {"settings", settings ? json::value() : json::value(settings.error().message)}},
      [&](const Terminal& terminal) {
        std::string text = render(shown, terminal);
        if (!settings)
          text += terminal.paint(Style::bad, "settings") + "  " + printable(settings.error().message) + "\n";
        return text;
      });
  context.output.note(std::to_string(table.deployments.size() - count) + " of " +
                      std::to_string(table.deployments.size()) + " deployments would be served");
  return settings && count == 0 ? Code::ok : Code::gate_rejected;
}

Result<Code> plan(Context& context) {
  auto table = table_at_hand(context);
  if (!table) return table.error();
  const std::string file = context.given.text("file");
  if (file.empty()) {
    context.output.print_text(write_pretty(without_nulls(to_json(router::bounds_around(*table)))));
    context.output.note("these bounds let pass exactly what is served; edit them, then: sluice bounds sign FILE");
    return Code::ok;
  }
  auto text = read_file(context.disk, file, router::kMaxBoundsBytes);
  if (!text) return text.error();
  auto document = router::parse_bounds(*text, file);
  if (!document) return document.error();
  auto bounds = router::Bounds::compile(*document);
  if (!bounds) return bounds.error();
  return judge(context, *bounds, *table);
}

Result<Code> sign(Context& context) {
  const std::string file = context.given.text("file");
  auto text = read_file(context.disk, file, router::kMaxBoundsBytes);
  if (!text) return text.error();
  auto document = router::parse_bounds(*text, file);
  if (!document) return document.error();
  auto key = crypto::load_private_key(context.disk, context.given.text("key"));
  if (!key) return key.error();
  std::string out = context.given.text("out");
  if (out.empty()) out = file + ".signed";
  if (auto may = check_replaceable(context.disk, out); !may) return may.error();
  auto there = context.disk.exists(out);
  if (!there) return there.error();
  auto made = router::sign_bounds(*document, *key);
  if (!made) return made.error();
  if (*there) {
    auto before = read_file(context.disk, out, router::kMaxBoundsBytes);
    if (!before) return before.error();
    auto known = crypto::parse_envelope(*before, out);
    auto payload = known ? parse_json(known->payload, out) : Result<Document>(known.error());
    const json::object* root = payload ? payload->root.if_object() : nullptr;
    const json::value* version = root != nullptr ? root->if_contains("version") : nullptr;
    if (version != nullptr && version->is_int64() && version->get_int64() >= document->version && *before != *made) {
      return Error{.code = Code::conflict,
                   .message = out + " has version " + std::to_string(version->get_int64()) +
                              ", and routers that obey it would refuse version " + std::to_string(document->version),
                   .next = "raise `version` in " + file};
    }
  }
  if (auto kept = write_atomically(context.disk, out, *made, 0644); !kept) return kept.error();
  context.output.print(
      to_json(outputs::BoundsSigned{.file = out, .version = document->version, .key = key->public_key().key_id()}),
      [&](const Terminal&) { return "signed  " + out + "  version " + std::to_string(document->version) + "\n"; });
  return Code::ok;
}

// What is signed, without asking whether the signature counts.
Result<Code> show(Context& context) {
  const std::string file = context.given.text("file");
  auto text = read_file(context.disk, file, router::kMaxBoundsBytes);
  if (!text) return text.error();
  auto envelope = crypto::parse_envelope(*text, file);
  if (!envelope) return envelope.error();
  if (envelope->payload_type != router::kBoundsType)
    return Error{.code = Code::invalid, .message = file + " is not signed bounds"};
  auto payload = parse_json(envelope->payload, file);
  if (!payload) return payload.error();
  context.output.print_text(write_pretty(without_nulls(payload->root)));
  for (const crypto::EnvelopeSignature& each : envelope->signatures)
    context.output.note("signed by " + each.key_id + ", as it says; sluice bounds verify checks that");
  return Code::ok;
}

Result<Code> verify(Context& context) {
  const std::string file = context.given.text("file");
  auto text = read_file(context.disk, file, router::kMaxBoundsBytes);
  if (!text) return text.error();
  std::vector<crypto::PublicKey> trusted;
  for (const std::string& path : context.given.texts("trust")) {
    auto keys = public_keys_in(context.disk, path);
    if (!keys) return keys.error();
    trusted.insert(trusted.end(), keys->begin(), keys->end());
  }
  if (trusted.empty())
    return Error{.code = Code::usage, .message = "say whose signature counts", .next = "add --trust FILE"};
  auto read = router::read_bounds(*text, trusted);
  if (!read) return read.error();
  const router::BoundsDocument& bounds = read->bounds.document();
  if (read->bounds.has_expired(RealClock().wall_ms()))
    return Error{.code = Code::verification_failed, .message = "the bounds expired at " + *bounds.expires_at};
  outputs::BoundsVerified shown{.version = bounds.version,
                                .environment = bounds.environment,
                                .signers = {read->signers.begin(), read->signers.end()},
                                .digest = read->digest};
  if (bounds.expires_at) shown.expires_at = *bounds.expires_at;
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "verified") + "  version " + std::to_string(bounds.version) + " for " +
           bounds.environment + ", " +
           (bounds.expires_at ? "until " + *bounds.expires_at : std::string("without an end")) + "\n";
  });
  return Code::ok;
}

}  // namespace bounds_commands

void add_bounds_commands(Commands& commands) {
  using namespace bounds_commands;
  Arg file{.name = "file", .help = "the bounds", .kind = Kind::path};
  Arg optional_file = file;
  optional_file.optional = true;
  commands.add_noun({.name = "bounds",
                     .group = Group::operate,
                     .summary = "Bound what a router may serve, whoever has the control plane"});
  commands.add(
      {.name = "bounds plan",
       .summary = "Show what bounds would keep a router from serving",
       .details =
           "Without a file it prints bounds that let pass exactly what is served now, to begin with. With one it "
           "shows every deployment that would be quarantined, and settings that would refuse the whole order "
           "(exit code 7). It asks a router of this home, or a table file.",
       .args = {optional_file},
       .options = {{.name = "table", .value = "FILE", .help = "a table to judge", .kind = Kind::path},
                   {.name = "name", .value = "NAME", .help = "which router of this home", .fallback = "main"}},
       .example = "sluice bounds plan --table examples/mesh/table.json",
       .run = plan});
  commands.add({.name = "bounds sign",
                .summary = "Sign bounds with a key that the control plane does not have",
                .details = "openssl genpkey -algorithm ed25519 -out KEY makes one; keep it on another machine. A file "
                           "that has a newer version already is not replaced.",
                .args = {file},
                .options = {{.name = "key", .value = "FILE", .help = "the private key, as PEM", .kind = Kind::path},
                            {.name = "out", .value = "FILE", .help = "where to; else FILE.signed", .kind = Kind::path}},
                .example = "sluice bounds sign examples/mesh/bounds.yaml --key bounds.pem --out bounds.signed",
                .run = sign});
  commands.add({.name = "bounds show",
                .summary = "Print what signed bounds say",
                .args = {file},
                .example = "sluice bounds show bounds.signed",
                .run = show});
  commands.add({.name = "bounds verify",
                .summary = "Verify who signed bounds, and that they have not expired",
                .args = {file},
                .options = {{.name = "trust",
                             .value = "FILE",
                             .help = "whose signature counts: public keys as PEM",
                             .kind = Kind::path,
                             .repeated = true}},
                .example = "sluice bounds verify bounds.signed --trust bounds.pub",
                .run = verify});
}

}  // namespace sluice::cli
