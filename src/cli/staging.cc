// Answers are read as their questions want them: the manifest is at hand.
#include "cli/staging.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "bundle/archive/inspect.h"
#include "deploy/pack_config.h"
#include "deploy/views/names.h"

namespace sluice::cli {
namespace {

Error no_pair(const std::string& option, const std::string& word) {
  return {.code = Code::usage, .message = "--" + option + " is name=value, not '" + printable(word) + "'"};
}

// A text for questions that want one, else JSON.
Result<json::value> answer_from(const bundle::Manifest& manifest, const std::string& name, const std::string& text) {
  auto question = std::ranges::find_if(manifest.config, [&](const auto& each) { return each.name.text == name; });
  if (question == manifest.config.end() || question->type == bundle::AnswerType::string) return json::value(text);
  auto parsed = parse_json(text);
  if (!parsed) return Error{.code = Code::usage, .message = "--set " + name + ": " + parsed.error().message};
  return parsed->root;
}

}  // namespace

std::vector<Option> staging_options() {
  return {{.name = "set", .value = "NAME=VALUE", .help = "an answer to what the bundle asks", .repeated = true},
          {.name = "runtime-ref",
           .value = "NAME=REF",
           .help = "runtime://ENV/discovered/… by which it is told",
           .repeated = true},
          {.name = "drain-seconds", .value = "N", .help = "how long it may drain", .kind = Kind::count}};
}

Result<ArchiveToStage> archive_to_stage(Context& context) {
  return archive_to_stage(context, context.given.text("file"));
}

Result<ArchiveToStage> archive_to_stage(Context& context, const std::string& file) {
  std::error_code ignored;
  ArchiveToStage archive{.path = std::filesystem::absolute(file, ignored).lexically_normal().string()};
  auto stat = context.disk.stat(archive.path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder) {
    return Error{.code = Code::invalid,
                 .message = file + " is a folder; what is staged is a signed archive",
                 .next = "sluice bundles build " + file + " --out NAME.bundle"};
  }
  auto inspected = bundle::inspect_archive(context.disk, archive.path);
  if (!inspected) return inspected.error();
  auto manifest = bundle::manifest_of(*inspected, file);
  if (!manifest) return manifest.error();
  archive.bundle = manifest->name.text;
  archive.tree = "sha256:" + inspected->tree.digest();
  archive.manifest = *manifest;
  json::object answers, references;
  for (const std::string& word : context.given.texts("set")) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) return no_pair("set", word);
    auto answer = answer_from(*manifest, word.substr(0, equals), word.substr(equals + 1));
    if (!answer) return answer.error();
    answers[word.substr(0, equals)] = *std::move(answer);
  }
  for (const std::string& word : context.given.texts("runtime-ref")) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) return no_pair("runtime-ref", word);
    references[word.substr(0, equals)] = word.substr(equals + 1);
  }
  archive.config = write(json::object{{"non_secret", std::move(answers)}, {"runtime_refs", std::move(references)}});
  return archive;
}

Result<void> check_config(const ArchiveToStage& archive, const std::string& environment, const std::string& overrides,
                          const std::string& config) {
  auto resolved = deploy::resolve_config(archive.manifest, {environment, config, overrides});
  if (resolved) return {};
  Error error = resolved.error();
  error.message = "runtime-config: " + error.message + "; nothing was changed";
  error.next = "sluice bundles inspect " + archive.path;
  return error;
}

Result<Code> stage_archive(Context& context, Objects& objects, const deploy::deployment::DeploymentFound& deployment,
                           const ArchiveToStage& archive, std::string_view part) {
  json::object input{{"deployment", deployment.id.text()},
                     {"environment", deployment.record.environment},
                     {"bundle", deployment.record.bundle},
                     {"source", archive.path},
                     {"config", archive.config}};
  if (auto seconds = context.given.number("drain-seconds")) input["drainSeconds"] = *seconds;
  if (part.empty()) expect_generation_as(context, "deploymentGeneration", input);
  // Of several calls of one command the answers are the first one's.
  auto full = part.empty() ? with_answers(context, std::move(input)) : std::move(input);
  if (!full) return full.error();
  if (const json::value* config = full->if_contains("config");
      part.empty() && config != nullptr && config->is_string()) {
    auto sound = check_config(archive, deployment.record.environment, deployment.record.configOverrides,
                              std::string(config->get_string()));
    if (!sound) return sound.error();
  }
  auto answer = objects.change("Revision/stage", *full, part);
  if (!answer) return answer.error();
  if (auto settled = objects.settle(); !settled) return settled.error();
  const std::string& environment = deployment.record.environment;
  if (answer->code != Code::ok) {
    const std::string revision = answer->text("revision");
    return refusal_in_words(
        *answer, revision.empty() ? "" : "mend it, then: sluice revisions retry " + environment + " " + revision);
  }
  const std::string name = deployment.record.bundle + "@" + write(answer->fields.at("sequence"));
  json::object shown = answer->fields;
  shown["deployment"] = deployment.id.text();
  shown["flow"] = to_string(*answer->flow);
  context.output.print(shown, [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "staged") + "  " + name + " (" + answer->text("revision") + ") of " +
           deployment.id.text() + "\n";
  });
  if (answer->text("signature") != "verified") {
    context.output.warn(name + " is not verified: " + answer->text("signature"));
  }
  const bool unique = deploy::views::find_revision(objects.states(), environment, name).has_value();
  context.output.note("next: sluice revisions warm " + environment + " " + (unique ? name : answer->text("revision")));
  return Code::ok;
}

}  // namespace sluice::cli
