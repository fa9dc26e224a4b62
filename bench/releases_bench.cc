// Releases: a thousand objects rendered and compared beside `kubectl kustomize`, expressions beside npm's
// @bufbuild/cel, ten thousand releases that share their content, and ten thousand pins at rest. Run from the
// repository's folder, once the tests of tests/render have installed their packages.
#include <fstream>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_wait.h"
#include "base/yaml.h"
#include "bench/programs.h"
#include "deploy/promotion/pin_watch.h"
#include "deploy/testing_views.h"
#include "pin.gen.h"
#include "release.gen.h"
#include "render/cel/program.h"
#include "render/component/component.h"
#include "render/promote/content.h"
#include "render/promote/difference.h"

namespace sluice::bench {
namespace {

namespace pin = deploy::pin;
namespace release = deploy::release;
using deploy::PinWatch;
using deploy::RowsInMemory;

constexpr int kObjects = 1'000, kReleases = 10'000, kPins = 10'000, kCelRounds = 20'000;

std::string name_of(int i) { return "shop-" + std::to_string(i); }

// What a program computed, with all that it has started.
double cpu_of(const std::vector<std::string>& words) {
  const Started program = start(words, {"HOME=/tmp"});
  char piece[65536];
  while (::read(program.said, piece, sizeof piece) > 0) {
  }
  ::close(program.said);
  int status = 0;
  rusage used{};
  must(::wait4(program.pid, &status, 0, &used) > 0 && status == 0, words[0] + " has failed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double kustomize_s(const Folder& folder) {
  std::ofstream list(folder.path("kustomization.yaml"));
  list << "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnameSuffix: -prod\n"
       << "labels: [{pairs: {team: shop}}]\nresources:\n";
  for (int i = 0; i < kObjects; ++i) {
    list << "- " << name_of(i) << ".yaml\n";
    std::ofstream(folder.path(name_of(i) + ".yaml"))
        << "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " << name_of(i)
        << "}\nspec: {replicas: 2, template: {spec: {containers: [{name: main, image: "
           "\"registry.example/shop:1\"}]}}}\n";
  }
  list.close();
  return cpu_of({"kubectl", "kustomize", folder.path("")});
}

// As many components of one type, each with an object.
component::Kinds components() {
  std::string text =
      "apiVersion: openchoreo.dev/v1alpha1\nkind: ComponentTypeDefinition\nmetadata: {name: web}\nspec:\n"
      "  workloadType: deployment\n  schema: {parameters: {replicas: integer | default=1}}\n  resources:\n"
      "    - template:\n        apiVersion: apps/v1\n        kind: Deployment\n        metadata: {name: "
      "\"${metadata.name}\", labels: {team: shop}}\n        spec: {replicas: \"${parameters.replicas}\", template: "
      "{spec: {containers: [{name: main, image: \"${build.image}\"}]}}}\n";
  for (int i = 0; i < kObjects; ++i) {
    text += "---\napiVersion: openchoreo.dev/v1alpha1\nkind: Component\nmetadata: {name: " + name_of(i) +
            "}\nspec: {componentType: deployment/web, parameters: {replicas: 2}}\n---\n"
            "apiVersion: openchoreo.dev/v1alpha1\nkind: Workload\nmetadata: {name: " +
            name_of(i) + "}\nspec: {image: \"registry.example/shop:1\"}\n";
  }
  return component::read_kinds(must(parse_yaml_stream(text, "all.yaml")));
}

// How many differences there are to what ran before.
size_t rendered(const component::Kinds& kinds, int from, int to, const json::value& before) {
  size_t differences = 0;
  for (int i = from; i < to; ++i) {
    const auto made = component::render_component(kinds, {.component = name_of(i), .environment = "prod"});
    must(made.objects.size() == 1, "it does not render");
    differences += promote::differences_of(before, made.objects.front().object).size();
  }
  return differences;
}

const std::vector<std::string> kExpressions = {
    "n * 2 + 1 > 10",
    "s + ' ' + string(n)",
    "[1, 2, 3, 4].filter(x, x % 2 == 0).map(x, x * n)",
    "m.a + m['b'] == 3 && 'a' in m",
    "s.startsWith('he') ? s.upperAscii() : s",
    "[1, 2, 3].exists(x, x == n) || size(s) == 5",
    "has(m.z) ? 1 : n",
};

double cel_s() {
  cel::Environment environment;
  auto& types = environment.types();
  const auto* integer = types.basic(cel::TypeKind::integer);
  environment.declare("n", integer);
  environment.declare("s", types.basic(cel::TypeKind::string));
  environment.declare("m", types.map(types.basic(cel::TypeKind::string), integer));
  std::vector<cel::Program> programs;
  for (const std::string& each : kExpressions) programs.push_back(must(cel::compile(each, environment)));
  cel::Arena kept;
  const json::value map = json::parse(R"({"a": 1, "b": 2})");
  const std::vector<cel::Value> variables{cel::from_json(json::value(7), kept),
                                          cel::from_json(json::value("hello"), kept), cel::from_json(map, kept)};
  const double begun = cpu_s();
  for (int round = 0; round < kCelRounds; ++round) {
    cel::Arena arena;
    for (const auto& program : programs) must(!program.run(variables, arena).failed(), "an expression fails");
  }
  return cpu_s() - begun;
}

double npm_cel_s(const Folder& folder) {
  json::array expressions;
  for (const std::string& each : kExpressions) expressions.emplace_back(each);
  std::ofstream(folder.path("cel.json")) << write(json::object{{"expressions", expressions}, {"rounds", kCelRounds}});
  const Started program = start({"node", "tests/render/measured.mjs", folder.path("cel.json")}, {});
  const double seconds = std::stod(said_after(program, "seconds "));
  must(ended(program) == 0, "node has failed");
  return seconds;
}

// What the rows of releases take: as Release/cut keeps them, of one type, with an image each.
double releases_mb() {
  const auto kinds = components();
  lang::MemoryRows rows;
  release::State state(rows);
  size_t bytes = 0;
  for (int i = 0; i < kReleases; ++i) {
    auto spec = must(promote::freeze(kinds, name_of(0), "registry.example/shop:" + std::to_string(i)));
    const auto content = must(promote::resolve(spec, {}));
    const json::value document = promote::without_content(
        json::object{{"apiVersion", component::kKindsVersion}, {"kind", "Release"}, {"spec", to_json(spec)}},
        [&](promote::Role role, const std::string& name) -> std::string {
          for (const auto& part : content.parts) {
            if (part.role == role && part.name == name) return part.digest;
          }
          return "";
        });
    release::ReleaseRecord record{.component = name_of(0),
                                  .document = write(document),
                                  .documentDigest = promote::identity_of(content),
                                  .identity = promote::identity_of(content),
                                  .image = promote::image_of(content),
                                  .ready = true};
    bytes += write(to_json(record)).size();
    for (const auto& part : content.parts) {
      bytes +=
          write(json::object{{"role", "componentTypeDefinition"}, {"name", part.name}, {"digest", part.digest}}).size();
      const release::ReleaseTId digest(part.digest);
      if (state.has(digest)) continue;
      state.put(digest, {.text = part.text});
      bytes += part.text.size() + part.digest.size();
    }
  }
  return static_cast<double>(bytes) / (1024 * 1024);
}

// What the pins' observer tells of a cluster in which nothing has changed.
double told_at_rest() {
  RowsInMemory rows;
  pin::State state(rows.rows);
  const std::string object = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shop"},"data":{"a":"1"}})";
  for (int i = 0; i < kPins; ++i) {
    state.put(pin::PinId(name_of(i) + "/prod"), {.component = name_of(i),
                                                 .environment = "prod",
                                                 .generation = 1,
                                                 .ready = true,
                                                 .deployment = "cluster",
                                                 .running = "[" + object + "]"});
  }
  ManualClock clock;
  int asked = 0;
  double told = 0;
  {
    PinWatch watch(clock, [&](const json::value&, const std::string&) {
      ++asked;
      return parse_json_value(object);
    });
    const lang::Observer::Tell tell = [&](const std::string&, const json::object&) { ++told; };
    watch.compare(rows, tell);
    clock.advance_ms(PinWatch::kEvery_ns / 1'000'000 + 1);
    watch.look(tell);
    must(eventually([&] { return asked >= kPins; }), "not every pin was looked at");
    watch.look(tell);
  }
  return told;
}

int measure() {
  Folder folder("/tmp");
  Report report;
  const double kustomize = kustomize_s(folder);
  report.note("kubectl kustomize, 1,000 objects", kustomize * 1e3, "ms of CPU");
  const auto kinds = components();
  const auto first = component::render_component(kinds, {.component = name_of(0), .environment = "prod"});
  const json::value before = first.objects.front().object;
  const auto medians = medians_s(
      {[&] { keep(rendered(components(), 0, kObjects, before)); }, [&] { keep(rendered(kinds, 0, 1, before)); }}, 5,
      cpu_s);
  report.at_most("1,000 objects read, rendered and compared", medians[0] / kustomize * 1e3, 20, "‰ of kustomize");
  report.at_most("one of them changed", medians[1] / kustomize * 1e3, 2, "‰ of kustomize");
  const double npm = npm_cel_s(folder);
  report.at_most("expressions of CEL", cel_s() / npm, 0.1, "of @bufbuild/cel");
  report.at_most("10,000 releases that share their content", releases_mb(), 50, "MB");
  report.at_most("records of 10,000 pins at rest", told_at_rest(), 0, "");
  return report.print();
}

}  // namespace
}  // namespace sluice::bench

int main() { return sluice::bench::measure(); }
