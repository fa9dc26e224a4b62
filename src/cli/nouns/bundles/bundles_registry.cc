// Both speak to the registry from here, with the logins of the person who calls; an environment's own are used by the
// server that runs it (registry_commands.cc).
#include "cli/nouns/bundles/bundles_registry.h"

#include <boost/json.hpp>

#include "base/progress.h"
#include "bundle/trust/sidecar.h"
#include "cli/context.h"
#include "cli/nouns/bundles/bundles_reading.h"
#include "cli/outputs.h"
#include "deploy/registry_bundles.h"

namespace sluice::cli {
namespace bundles_registry {

// A registry that the command line names, and how far its bytes have come.
class Visit {
 public:
  Visit(Context& context, oci::Reference reference, std::optional<oci::Login> login, const std::string& doing)
      : doing_(doing), outgoing_(deploy::way_to(context.variables, reference.host), clock_) {
    const Output::Settings& settings = context.output.settings();
    if (!settings.quiet) progress_.emplace(context.output.progress_stream(), settings.err, clock_, doing);
    registry_.emplace(outgoing_, std::move(reference), std::move(login),
                      oci::Watch{.cancelled = [this] { return interruption_.stopped(); },
                                 .moved = [this](uint64_t bytes) { moved(bytes); }});
  }
  oci::Registry& registry() { return *registry_; }
  void done() { progress_.reset(); }

 private:
  void moved(uint64_t bytes) {
    bytes_ += bytes;
    if (!progress_) return;
    progress_->now_doing(doing_ + ", " + std::to_string(bytes_ >> 20U) + " MB");
    progress_->tick();
  }

  std::string doing_;
  Interruption interruption_;
  RealClock clock_;
  std::optional<Progress> progress_;
  uint64_t bytes_ = 0;
  http::Outgoing outgoing_;
  std::optional<oci::Registry> registry_;
};

Result<std::unique_ptr<Visit>> visit(Context& context, const std::string& doing) {
  auto reference = oci::parse_reference(context.given.text("reference"));
  if (!reference) return reference.error();
  auto login = oci::login_of_file(context.disk, context.variables, reference->host);
  if (!login) return login.error();
  return std::make_unique<Visit>(context, *std::move(reference), *std::move(login), doing);
}

Error told(Error error, const std::string& host) {
  if (error.code == Code::unauthenticated && error.next.empty()) {
    error.next = "keep a login for " + host + " in the file that REGISTRY_AUTH_FILE names, or in ~/.docker/config.json";
  }
  return error;
}

Result<Code> push(Context& context) {
  return push_to_registry(context, [&](oci::Registry& registry, const std::string& file) {
    return deploy::push_bundle(context.disk, registry, file);
  });
}

Result<Code> pull(Context& context) {
  return pull_from_registry(context, deploy::kBundleType, "sluice bundles verify");
}

}  // namespace bundles_registry

Arg registry_reference() { return {.name = "reference", .help = "oci://HOST/REPOSITORY:TAG, or @DIGEST"}; }

std::vector<Option> pulled_options() {
  return {{.name = "out", .value = "FILE", .help = "the archive; else NAME.bundle here", .kind = Kind::path},
          {.name = "force", .help = "replace a file that is there already"}};
}

Result<Code> push_to_registry(Context& context, const PushTo& push) {
  using namespace bundles_registry;
  auto registry = visit(context, "pushing");
  if (!registry) return registry.error();
  const std::string file = context.given.text("file");
  const oci::Reference& reference = (*registry)->registry().reference();
  auto pushed = push((*registry)->registry(), file);
  (*registry)->done();
  if (!pushed) return told(pushed.error(), reference.host);
  oci::Reference pinned = reference;
  pinned.digest = pushed->digest;
  context.output.print(to_json(outputs::BundlePushed{.file = file,
                                                     .bundle = pushed->bundle,
                                                     .version = pushed->version,
                                                     .reference = "oci://" + to_string(reference),
                                                     .digest = pushed->digest,
                                                     .onlySignatures = pushed->signatures}),
                       [&](const Terminal& terminal) {
                         return terminal.paint(Style::good, "pushed") + "  " +
                                (pushed->signatures ? "the signatures of " : "") + pushed->bundle + " " +
                                pushed->version + "  oci://" + to_string(pinned) + "\n";
                       });
  return Code::ok;
}

Result<Code> pull_from_registry(Context& context, std::string_view type, const std::string& next) {
  using namespace bundles_registry;
  auto registry = visit(context, "pulling");
  if (!registry) return registry.error();
  const oci::Reference& reference = (*registry)->registry().reference();
  const std::string& repository = reference.repository;
  std::string out = context.given.text("out");
  if (out.empty()) out = repository.substr(repository.rfind('/') + 1) + ".bundle";
  auto there = context.disk.exists(out);
  if (!there) return there.error();
  if (*there && !context.given.flag("force")) {
    return Error{.code = Code::conflict,
                 .message = out + " is there already; nothing was fetched",
                 .next = "name another file with --out, or replace this one with --force"};
  }
  const std::string unfinished = out + ".unfinished";
  auto pulled = [&]() -> Result<deploy::PulledBundle> {
    auto file = context.disk.open(unfinished, {.write = true, .create = true, .truncate = true, .mode = 0644});
    if (!file) return file.error();
    auto got = deploy::pull_bundle((*registry)->registry(), **file, type);
    if (!got) return got;
    if (auto synced = (*file)->sync(SyncWhat::all); !synced) return synced.error();
    return got;
  }();
  (*registry)->done();
  if (!pulled) {
    (void)context.disk.remove(unfinished);
    return told(pulled.error(), reference.host);
  }
  auto envelope = pulled->sidecar.empty() ? Result<crypto::Envelope>(crypto::Envelope{})
                                          : bundle::parse_sidecar(pulled->sidecar, bundle::sidecar_path(out));
  if (envelope && !pulled->sidecar.empty()) {
    auto written = bundle::write_sidecar(context.disk, bundle::sidecar_path(out), *envelope);
    if (!written) envelope = written.error();
  }
  if (auto named = envelope ? context.disk.rename(unfinished, out) : Result<void>(envelope.error()); !named) {
    (void)context.disk.remove(unfinished);
    return named.error();
  }
  oci::Reference pinned = reference;
  pinned.digest = pulled->digest;
  context.output.print(to_json(outputs::BundlePulled{.file = out,
                                                     .reference = "oci://" + to_string(reference),
                                                     .digest = pulled->digest,
                                                     .archive = pulled->archive,
                                                     .signatures = envelope->signatures.size()}),
                       [&](const Terminal& terminal) {
                         return terminal.paint(Style::good, "pulled") + "  oci://" + to_string(pinned) + "  " + out +
                                "\n";
                       });
  context.output.note("next: " + next + " " + out);
  return Code::ok;
}

Command bundles_push_command() {
  using namespace bundles_registry;
  return {.name = "bundles push",
          .summary = "Send a signed archive to an OCI registry",
          .details =
              "The archive and its sidecar become one artifact, which any registry keeps and any tool copies. To "
              "a reference with a digest, which must be of the same archive, only the sidecar's signatures are "
              "added.\n\nThe login is that of REGISTRY_AUTH_FILE or of Docker's config.json. Plain HTTP is "
              "spoken on this machine's loopback alone.\n\nFor instance: sluice bundles push shop.bundle "
              "oci://registry.example/team/shop:1.4",
          .args = {{.name = "file", .help = "the archive", .kind = Kind::path}, registry_reference()},
          .example = "sluice bundles push hello.bundle oci://127.0.0.1:5000/team/hello:1.0",
          .run = push};
}

Command bundles_pull_command() {
  using namespace bundles_registry;
  return {.name = "bundles pull",
          .summary = "Fetch an archive and its signatures from an OCI registry",
          .details =
              "Every byte is verified by its digest; whether the signatures count is for `bundles verify` to "
              "say.\n\nFor instance: sluice bundles pull oci://registry.example/team/shop:1.4 --out shop.bundle",
          .args = {registry_reference()},
          .options = pulled_options(),
          .example = "sluice bundles pull oci://127.0.0.1:5000/team/hello:1.0 --out pulled.bundle",
          .run = pull};
}

}  // namespace sluice::cli
