// YAML into documents, beside libyaml's bare events (what every reader on libyaml pays) and yaml-cpp, on a stream of
// Kubernetes manifests as people write them. Trees are freed outside the times, and yaml-cpp has rounds of its own, as
// the heap that it leaves behind slows down everyone after it.
#include <yaml-cpp/yaml.h>
#include <yaml.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "base/yaml_emit.h"
#include "bench/bench.h"

namespace sluice::bench {
namespace {

// One service; '@' stands for its number.
constexpr std::string_view kManifest = R"(---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-@
  namespace: team-@
  labels:
    app.kubernetes.io/name: service-@
    app.kubernetes.io/part-of: shop
    tier: backend
  annotations:
    deploy.example/checksum: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    deploy.example/note: 'rolled out by the nightly job'
spec:
  replicas: 3
  selector:
    matchLabels:
      app.kubernetes.io/name: service-@
  template:
    spec:
      # Kept short: the gate waits for it.
      terminationGracePeriodSeconds: 30
      containers:
        - name: main
          image: registry.example/shop/service-@:1.14.0
          args: ["--port=8080", "--log-level=info", --metrics]
          ports:
            - {name: http, containerPort: 8080, protocol: TCP}
            - {name: metrics, containerPort: 9090, protocol: TCP}
          env:
            - name: DATABASE_URL
              value: postgres://db.example:5432/service-@
            - name: FEATURE_RATIO
              value: "0.25"
            - name: CACHE_TTL
              valueFrom:
                configMapKeyRef:
                  name: service-@-config
                  key: cache.ttl
          resources:
            requests:
              cpu: 100m
              memory: 128Mi
            limits:
              cpu: 500m
              memory: 256Mi
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
            initialDelaySeconds: 5
            periodSeconds: 10
            failureThreshold: 3
---
apiVersion: v1
kind: Service
metadata:
  name: service-@
spec:
  type: ClusterIP
  selector:
    app.kubernetes.io/name: service-@
  ports:
    - name: http
      port: 80
      targetPort: 8080
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: service-@-config
data:
  cache.ttl: "300"
  app.conf: |
    listen 8080
    workers 4

    upstream {
      server a.example
      server b.example
    }
  enabled: "true"
)";

std::string manifests(size_t bytes) {
  std::string text;
  for (int number = 0; text.size() < bytes; ++number) {
    for (char c : kManifest) {
      if (c == '@') {
        text += std::to_string(number);
      } else {
        text += c;
      }
    }
  }
  return text;
}

size_t count_events(std::string_view text) {
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  size_t events = 0;
  yaml_event_t event;
  for (bool end = false; !end && yaml_parser_parse(&parser, &event) == 1; ++events) {
    end = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return events;
}

// glibc puts freed pieces together at the next large request: here, not in the time of whoever comes next.
void settle_heap() { std::free(std::malloc(size_t{1} << 16)); }

}  // namespace

void yaml_bench(Report& report) {
  const std::string text = manifests(1'500'000);
  Result<std::vector<Document>> ours = std::vector<Document>();
  std::vector<double> times = medians_s({
                                            [&] { ours = parse_yaml_stream(text); },
                                            [&] {
                                              ours = std::vector<Document>();
                                              settle_heap();
                                            },
                                            [&] { keep(count_events(text)); },
                                        },
                                        kRounds, cpu_s);
  double tree_s = times[0];
  double events_s = times[2];
  std::vector<YAML::Node> theirs;
  double yaml_cpp_s = medians_s({
                                    [&] { theirs = YAML::LoadAll(text); },
                                    [&] {
                                      theirs.clear();
                                      settle_heap();
                                    },
                                },
                                kRounds, cpu_s)[0];
  auto mb_per_s = [&](double seconds) { return static_cast<double>(text.size()) / 1e6 / seconds; };
  report.at_least("YAML into documents, 1.5 MB of manifests", mb_per_s(tree_s), 20, "MB/s");
  report.at_least("  beside libyaml's bare events", events_s / tree_s, 0.7, "x");
  report.at_least("  beside yaml-cpp", yaml_cpp_s / tree_s, 5, "x");

  const std::vector<Document> documents = parse_yaml_stream(text).value();
  size_t written = 0;
  double emit_s = median_s(
      [&] {
        written = 0;
        for (const Document& document : documents) written += emit_yaml(document.root).size();
      },
      kRounds, cpu_s);
  report.note("documents into YAML", static_cast<double>(written) / 1e6 / emit_s, "MB/s");
}

}  // namespace sluice::bench
