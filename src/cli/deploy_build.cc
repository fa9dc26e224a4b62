// Bundles go into the home's blobs before the plan is asked for: a plan names them by their digests.
#include "cli/deploy_build.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "bundle/trust/sidecar.h"
#include "cli/bundle_words.h"
#include "cli/opening.h"
#include "cli/signing_key.h"
#include "cli/version.h"
#include "deploy/app_kit.h"
#include "deploy/build_bundle.h"
#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/image_pin.h"
#include "plan/app_manifest.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxSpecBytes = size_t{1} << 20U;

// All that is wrong with a manifest as one error: the first in its own place, the others below it.
Error all_of(const std::vector<Error>& faults) {
  Error error = faults.front();
  for (size_t i = 1; i < faults.size(); ++i) error.message += "\n" + to_string(faults[i]);
  error.code = Code::invalid;
  if (error.next.empty()) error.next = "sluice init --manifest --schema prints what a manifest may say";
  return error;
}

// The @version of a `.concept`.
Result<int64_t> spec_version(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, kMaxSpecBytes);
  if (!text) return text.error();
  constexpr std::string_view kVersion = "@version(";
  const size_t at = text->find(kVersion);
  return at == std::string::npos ? 1 : std::max<int64_t>(1, std::atoll(text->c_str() + at + kVersion.size()));
}

// The texts of a kit, and of the files that its overrides name, as a plan takes them: a JSON object by path. An
// override begins at the manifest's folder; it is taken along where the kit's own files are.
Result<std::string> kit_files(Disk& disk, const std::filesystem::path& folder, const plan::Kit& kit) {
  const std::filesystem::path root = (folder / *kit.path).lexically_normal();
  json::object files;
  size_t bytes = 0;
  auto take = [&](const std::filesystem::path& path, const std::string& as) -> Result<void> {
    auto text = read_file(disk, path.string(), deploy::kMaxAppKitBytes);
    if (!text) return text.error();
    bytes += text->size();
    if (bytes > deploy::kMaxAppKitBytes / 2) {
      return Error{.code = Code::invalid, .message = "its texts have more than 512 kB", .next = "make two kits of it"};
    }
    files[as] = *text;
    return {};
  };
  std::vector<std::string> below = {""};
  while (!below.empty()) {
    const std::string at = std::move(below.back());
    below.pop_back();
    auto entries = disk.list((root / at).string());
    if (!entries) return entries.error();
    for (const FolderEntry& each : *entries) {
      const std::string path = at.empty() ? each.name : at + "/" + each.name;
      if (each.name.starts_with(".")) continue;
      if (each.kind == FileKind::folder) below.push_back(path);
      const std::string ending = std::filesystem::path(each.name).extension().string();
      const bool text = ending == ".concept" || ending == ".sync" || each.name == "suite.yaml";
      if (each.kind != FileKind::file || !text) continue;
      if (auto taken = take(root / path, path); !taken) return taken.error();
    }
  }
  for (const auto& [sync, path] : kit.overrides) {
    const std::string as = deploy::kept_override(path);
    if (auto taken = take(folder / path, as); !taken) return taken.error();
  }
  return write(files);
}

}  // namespace

Result<std::string> manifest_path(Context& context, const std::string& given) {
  std::filesystem::path path = given.empty() ? "." : given;
  auto stat = context.disk.stat(path.string(), FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder) path /= plan::kAppManifestName;
  auto there = context.disk.exists(path.string());
  if (!there) return there.error();
  if (*there) return path.lexically_normal().string();
  const std::string folder = path.parent_path().lexically_normal().string();
  // A single bundle needs no manifest.
  auto single = context.disk.exists((path.parent_path() / bundle::kManifestName).string());
  const bool one = single && *single && path.filename() == plan::kAppManifestName;
  return Error{.code = Code::not_found,
               .message = "there is no " + path.lexically_normal().string(),
               .next = (one ? "sluice up " : "sluice init --manifest ") + (folder.empty() ? "." : folder)};
}

BuiltApp::~BuiltApp() {
  for (const Part& each : parts_) {
    if (!each.made) continue;
    (void)context_.disk.remove(each.path);
    (void)context_.disk.remove(bundle::sidecar_path(each.path));
  }
}

Result<std::unique_ptr<BuiltApp>> BuiltApp::build(Context& context, const std::string& path,
                                                  const std::string& environment) {
  auto text = read_file(context.disk, path, plan::kMaxManifestBytes);
  if (!text) return text.error();
  plan::ParsedManifest parsed =
      plan::parse_app_manifest(*text, path, {.environment = environment, .variable = context.variables});
  if (!parsed.manifest) return all_of(parsed.faults);
  auto resolved = plan::resolve_overlays(parsed.document, environment);
  const plan::AppManifest& manifest = resolved.resolved ? resolved.resolved->manifest : *parsed.manifest;
  const std::vector<std::string> targets =
      context.given.has("target") ? context.given.texts("target") : std::vector<std::string>();
  for (const std::string& each : targets) {
    if (!manifest.components.contains(each) && !manifest.concepts.contains(each)) {
      return Error{.code = Code::usage, .message = "--target: " + path + " has no component " + each};
    }
  }
  std::unique_ptr<BuiltApp> app(new BuiltApp(context));
  app->version_ = manifest.app.version;
  for (const auto* components : {&manifest.components, &manifest.concepts}) {
    for (const auto& [name, component] : *components) {
      if (!component.folder && !component.bundle && !component.image) continue;  // the plan says that it is missing
      if (!targets.empty() && std::ranges::find(targets, name) == targets.end()) continue;
      if (auto added = app->add(name, component, std::filesystem::path(path).parent_path().string()); !added) {
        Error error = added.error();
        error.message = name + ": " + error.message;
        return error;
      }
    }
  }
  json::array kits;
  for (const plan::Kit& kit : manifest.kits) {
    if (!kit.path) continue;
    auto files = kit_files(context.disk, std::filesystem::path(path).parent_path(), kit);
    if (!files && files.error().code == Code::not_found) continue;  // the plan says that it is missing
    if (!files) {
      Error error = files.error();
      error.message = "the kit " + kit.name + ": " + error.message;
      return error;
    }
    kits.push_back(json::object{{"name", kit.name}, {"files", *files}});
  }
  json::array variables;
  for (const auto& [name, value] : parsed.used) variables.push_back(json::object{{"name", name}, {"value", value}});
  app->input_ = {
      {"manifest", *text}, {"environment", environment}, {"file", path}, {"variables", std::move(variables)}};
  if (!kits.empty()) app->input_["kits"] = std::move(kits);
  if (!targets.empty()) app->input_["only"] = to_json(targets);
  return app;
}

Result<void> BuiltApp::add(const std::string& name, const plan::Component& component, const std::string& folder) {
  const std::filesystem::path place(folder);
  Part part{.component = name};
  if (component.spec) {
    auto version = spec_version(context_.disk, (place / *component.spec).string());
    if (!version) return version.error();
    part.spec_version = *version;
  }
  if (component.image && bundle::is_layout(*component.image)) {
    return Error{.code = Code::invalid,
                 .message = "the image " + *component.image + " lies in a folder, and a bundle packs such a folder",
                 .next = "name it in a bundle.yaml, and that folder in the deploy manifest"};
  }
  if (component.bundle) {
    part.path = (place / *component.bundle).lexically_normal().string();
    parts_.push_back(std::move(part));
    return {};
  }
  auto home = home_of(context_);
  auto run = home ? home->folder("run") : home.error();
  if (!run) return run.error();
  part.path = (*run / ("deploy-" + std::to_string(::getpid()) + "-" + name + ".bundle")).string();
  part.made = true;
  parts_.push_back(part);
  context_.output.detail("building " + name);
  if (component.image) return pack_image(name, *component.image, part.path);
  return pack((place / *component.folder).lexically_normal().string(), part.path);
}

// An image needs no folder of its own: its bundle says nothing but which one it is. What its tag means now is written
// down in the bundle, so another image under the same tag is another bundle, and a change of the plan.
Result<void> BuiltApp::pack_image(const std::string& name, const std::string& image, const std::string& out) {
  const std::string folder = out + ".d";
  std::error_code failure;
  std::filesystem::remove_all(folder, failure);
  auto made = context_.disk.make_folder(folder, 0700);
  if (!made) return made;
  std::string own = name;  // as bundles are called
  for (char& c : own) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string manifest =
      "name: " + own + "\nversion: " + write(json::value(version_)) + "\nimage: " + write(json::value(image)) + "\n";
  auto packed = write_atomically(context_.disk, folder + "/" + std::string(bundle::kManifestName), manifest, 0600);
  if (packed) packed = pack(folder, out);
  std::filesystem::remove_all(folder, failure);
  return packed;
}

Result<void> BuiltApp::pack(const std::string& folder, const std::string& out) {
  if (!key_) {
    auto key = signing_key(context_);
    if (!key) return key.error();
    key_.emplace(*std::move(key));
  }
  return pack_signed(context_, folder, out, *key_);
}

Result<void> pack_signed(Context& context, const std::string& folder, const std::string& out,
                         const crypto::PrivateKey& key, const std::function<bool()>& stopped, bool update_image) {
  RealClock clock;
  process::RealRunner runner(clock);
  auto built = deploy::build_bundle(
      context.disk, runner, clock,
      {.folder = plain_folder(folder),
       .out = out,
       .environment = deploy::build_environment(context.variables),
       .version_of =
           [&](const std::string& name) {
             return deploy::artifact::version_of_tool(context.disk, name, context.variables);
           },
       .sluice_version = version().number,
       .pin =
           [&](const std::string& image) { return deploy::pin_image(context.disk, clock, context.variables, image); },
       .update_image = update_image},
      {.stopped = stopped, .said = [&](const std::string& line) { context.output.note("  " + line); }});
  if (!built) return built.error();
  for (const std::string& each : built->warnings) context.output.warn(each);
  auto sidecar = bundle::sign_statement(built->statement, {&key, 1});
  if (!sidecar) return sidecar.error();
  return bundle::write_sidecar(context.disk, bundle::sidecar_path(out), *sidecar);
}

Option update_image_option() {
  return {.name = "update-image", .help = "ask the registry again what the image's tag means"};
}

Result<json::object> BuiltApp::put(CommandDoor& door) {
  json::array bundles;
  for (const Part& each : parts_) {
    auto archive = door.put(each.path);
    if (!archive) return archive.error();
    json::object bundle{{"component", each.component}, {"archive", *archive}, {"signature", ""}};
    const std::string sidecar = bundle::sidecar_path(each.path);
    auto there = context_.disk.exists(sidecar);
    if (!there) return there.error();
    if (*there) {
      auto signature = door.put(sidecar);
      if (!signature) return signature.error();
      bundle["signature"] = *signature;
    }
    if (each.spec_version) bundle["specVersion"] = *each.spec_version;
    bundles.push_back(std::move(bundle));
  }
  json::object input = input_;
  input["bundles"] = std::move(bundles);
  return input;
}

}  // namespace sluice::cli
