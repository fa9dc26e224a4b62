"""What the tests' API server knows of kinds: how their fields merge, what they default to, and what is not valid."""

import base64
import re

from fields import ANY, ATOM, BOOL, NUMBER, STRING, Keyed, Map, Set, Struct

LABELS = Map(STRING)
META = Struct({"name": STRING, "generateName": STRING, "namespace": STRING, "labels": LABELS, "annotations": LABELS,
               "uid": STRING, "resourceVersion": STRING, "generation": NUMBER, "creationTimestamp": ANY,
               "deletionTimestamp": ANY, "deletionGracePeriodSeconds": NUMBER, "finalizers": Set(), "selfLink": STRING,
               "managedFields": ATOM, "ownerReferences": Keyed(["uid"], ATOM)})
CONDITIONS = Keyed(["type"], Struct({name: ANY for name in (
    "type", "status", "reason", "message", "lastTransitionTime", "lastUpdateTime", "lastProbeTime", "observedGeneration")}))
PORTS = Keyed(["containerPort", "protocol"], Struct(
    {"containerPort": NUMBER, "protocol": STRING, "name": STRING, "hostPort": NUMBER, "hostIP": STRING}), {"protocol": "TCP"})
CONTAINER = Struct({"name": STRING, "image": STRING, "imagePullPolicy": STRING, "command": ATOM, "args": ATOM,
                    "workingDir": STRING, "ports": PORTS, "env": Keyed(["name"], Struct(
                        {"name": STRING, "value": STRING, "valueFrom": Struct({}, open=True)})), "envFrom": ATOM,
                    "resources": Struct({"limits": Map(ANY), "requests": Map(ANY)}),
                    "volumeMounts": Keyed(["mountPath"], Struct({}, open=True)), "livenessProbe": Struct({}, open=True),
                    "readinessProbe": Struct({}, open=True), "startupProbe": Struct({}, open=True),
                    "lifecycle": Struct({}, open=True), "securityContext": Struct({}, open=True),
                    "terminationMessagePath": STRING, "terminationMessagePolicy": STRING})
POD_SPEC = Struct({"containers": Keyed(["name"], CONTAINER, dotted=False), "initContainers": Keyed(["name"], CONTAINER),
                   "volumes": Keyed(["name"], Struct({}, open=True)), "restartPolicy": STRING, "dnsPolicy": STRING,
                   "schedulerName": STRING, "securityContext": Struct({}, open=True), "nodeName": STRING,
                   "terminationGracePeriodSeconds": NUMBER, "serviceAccountName": STRING, "serviceAccount": STRING,
                   "automountServiceAccountToken": BOOL, "hostNetwork": BOOL, "hostPID": BOOL, "nodeSelector": ATOM,
                   "tolerations": ATOM, "affinity": Struct({}, open=True), "imagePullSecrets": Keyed(["name"], ATOM),
                   "priority": NUMBER, "enableServiceLinks": BOOL, "preemptionPolicy": STRING,
                   "topologySpreadConstraints": ATOM})
TEMPLATE = Struct({"metadata": META, "spec": POD_SPEC})
DEPLOYMENT = Struct({"replicas": NUMBER, "selector": ATOM, "template": TEMPLATE, "strategy": Struct({}, open=True),
                     "minReadySeconds": NUMBER, "revisionHistoryLimit": NUMBER, "paused": BOOL,
                     "progressDeadlineSeconds": NUMBER})
SERVICE = Struct({"ports": Keyed(["port", "protocol"], Struct(
    {"port": NUMBER, "protocol": STRING, "targetPort": ANY, "name": STRING, "nodePort": NUMBER, "appProtocol": STRING}),
    {"protocol": "TCP"}), "selector": ATOM, "type": STRING, "clusterIP": STRING, "clusterIPs": ATOM, "ipFamilies": ATOM,
    "ipFamilyPolicy": STRING, "sessionAffinity": STRING, "internalTrafficPolicy": STRING, "externalName": STRING,
    "publishNotReadyAddresses": BOOL})

SPECS = {
    ("", "ConfigMap"): {"data": LABELS, "binaryData": LABELS, "immutable": BOOL},
    ("", "Secret"): {"data": LABELS, "stringData": LABELS, "type": STRING, "immutable": BOOL},
    ("", "Namespace"): {"spec": Struct({"finalizers": ATOM}), "status": Struct({"phase": STRING, "conditions": CONDITIONS})},
    ("", "Service"): {"spec": SERVICE, "status": Struct({"loadBalancer": Struct({}, open=True), "conditions": CONDITIONS})},
    ("", "ServiceAccount"): {"secrets": ATOM, "imagePullSecrets": ATOM, "automountServiceAccountToken": BOOL},
    ("", "ResourceQuota"): {"spec": Struct({"hard": Map(ANY), "scopes": ATOM}),
                            "status": Struct({"hard": Map(ANY), "used": Map(ANY)})},
    ("", "Pod"): {"spec": POD_SPEC, "status": Struct({"conditions": CONDITIONS}, open=True)},
    ("", "PersistentVolumeClaim"): {"spec": Struct({}, open=True), "status": Struct({}, open=True)},
    ("apps", "Deployment"): {"spec": DEPLOYMENT, "status": Struct({"conditions": CONDITIONS}, open=True)},
    ("apps", "StatefulSet"): {"spec": Struct({**DEPLOYMENT.fields, "serviceName": STRING, "updateStrategy": ANY,
                                              "podManagementPolicy": STRING, "volumeClaimTemplates": ATOM}),
                              "status": Struct({"conditions": CONDITIONS}, open=True)},
    ("autoscaling", "HorizontalPodAutoscaler"): {
        "spec": Struct({"maxReplicas": NUMBER, "minReplicas": NUMBER, "metrics": ATOM, "behavior": ANY,
                        "scaleTargetRef": Struct({"apiVersion": STRING, "kind": STRING, "name": STRING})}),
        "status": Struct({"conditions": CONDITIONS}, open=True)},
    ("policy", "PodDisruptionBudget"): {"spec": Struct({"minAvailable": ANY, "maxUnavailable": ANY, "selector": ATOM}),
                                        "status": Struct({"conditions": CONDITIONS}, open=True)},
    ("networking.k8s.io", "NetworkPolicy"): {
        "spec": Struct({"podSelector": ATOM, "policyTypes": ATOM, "ingress": ATOM, "egress": ATOM}), "status": ANY},
    ("networking.k8s.io", "Ingress"): {"spec": Struct({"ingressClassName": STRING, "rules": ATOM, "tls": ATOM,
                                                       "defaultBackend": ANY}), "status": ANY},
    ("apiextensions.k8s.io", "CustomResourceDefinition"): {
        "spec": Struct({"group": STRING, "scope": STRING, "versions": ATOM, "conversion": ANY, "preserveUnknownFields": BOOL,
                        "names": Struct({"plural": STRING, "singular": STRING, "kind": STRING, "listKind": STRING,
                                         "shortNames": ATOM, "categories": ATOM})}),
        "status": Struct({"conditions": Keyed(CONDITIONS.keys, CONDITIONS.of, dotted=False), "storedVersions": ATOM,
                          "acceptedNames": Struct({}, open=True)})},
}
# Kinds whose metadata.generation counts the changes of their spec.
GENERATIONS = {"Deployment", "StatefulSet", "DaemonSet", "PodDisruptionBudget", "NetworkPolicy", "Ingress",
               "CustomResourceDefinition", "Job"}


def type_of(group, kind, definition=None):
    if definition is not None:
        schema = type_of_schema(definition)
        return Struct({**schema.fields, "apiVersion": STRING, "kind": STRING, "metadata": META}, dotted=True)
    known = SPECS.get((group, kind))
    fields = {"apiVersion": STRING, "kind": STRING, "metadata": META}
    return Struct({**fields, **known}) if known else Struct(fields, open=True)


def type_of_schema(schema):
    """The type that an OpenAPI schema of a custom resource stands for."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return Struct({name: type_of_schema(each) for name, each in schema.get("properties", {}).items()}, open=True, dotted=True)
    kind = schema.get("type")
    if kind == "object" and "additionalProperties" in schema:
        return Map(type_of_schema(schema["additionalProperties"]))
    if kind == "object":
        return Struct({name: type_of_schema(each) for name, each in schema.get("properties", {}).items()}, dotted=True)
    if kind == "array":
        how = schema.get("x-kubernetes-list-type", "atomic")
        if how == "map":
            return Keyed(schema["x-kubernetes-list-map-keys"], type_of_schema(schema["items"]))
        return Set() if how == "set" else ATOM
    return {"string": STRING, "integer": NUMBER, "number": NUMBER, "boolean": BOOL}.get(kind, ANY)


def complete(group, kind, made, allocate):
    """Defaults, as the server writes them into what it stores."""
    metadata, spec = made["metadata"], made.get("spec")
    if kind == "Namespace":
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = metadata["name"]
        made.setdefault("spec", {"finalizers": ["kubernetes"]})
        made.setdefault("status", {"phase": "Active"})
    elif kind == "Secret" and group == "":
        for name, text in (made.pop("stringData", None) or {}).items():
            made.setdefault("data", {})[name] = base64.b64encode(text.encode()).decode()
        made.setdefault("type", "Opaque")
    elif kind == "ResourceQuota":
        made.setdefault("status", {})
    elif kind == "Service":
        for port in spec.get("ports", []):
            port.setdefault("protocol", "TCP")
            port.setdefault("targetPort", port["port"])
        spec.setdefault("type", "ClusterIP")
        if "clusterIP" not in spec:
            spec["clusterIP"] = allocate()
            spec["clusterIPs"] = [spec["clusterIP"]]
        for name, value in {"internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
                            "sessionAffinity": "None"}.items():
            spec.setdefault(name, value)
        made.setdefault("status", {"loadBalancer": {}})
    elif kind == "HorizontalPodAutoscaler":
        spec.setdefault("minReplicas", 1)
        spec.setdefault("metrics", [{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}])
        made.setdefault("status", {"currentMetrics": None, "desiredReplicas": 0})
    elif kind == "PodDisruptionBudget":
        made.setdefault("status", dict.fromkeys(("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"), 0))
    elif kind in ("NetworkPolicy", "Ingress"):
        made.setdefault("status", {} if kind == "NetworkPolicy" else {"loadBalancer": {}})
    elif kind == "CustomResourceDefinition":
        spec["names"].setdefault("listKind", spec["names"]["kind"] + "List")
        spec.setdefault("conversion", {"strategy": "None"})
        made.setdefault("status", {"conditions": None, "acceptedNames": {"plural": "", "kind": ""},
                                   "storedVersions": [each["name"] for each in spec["versions"] if each["storage"]]})
    elif kind in ("Deployment", "StatefulSet") and group == "apps":
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        if kind == "Deployment":
            spec.setdefault("progressDeadlineSeconds", 600)
            spec.setdefault("strategy", {"type": "RollingUpdate",
                                         "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})
        template = spec.setdefault("template", {})
        template.setdefault("metadata", {}).setdefault("creationTimestamp", None)
        complete_pod(template.setdefault("spec", {}))
        made.setdefault("status", {} if kind == "Deployment" else {"replicas": 0})
    elif kind == "Pod":
        complete_pod(spec)
        made.setdefault("status", {"phase": "Pending", "qosClass": "BestEffort"})


def complete_pod(spec):
    for name, value in {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                        "securityContext": {}, "terminationGracePeriodSeconds": 30}.items():
        spec.setdefault(name, value)
    for each in spec.get("containers", []) + spec.get("initContainers", []):
        image = each.get("image", "")
        latest = "@" not in image and (":" not in image.rsplit("/", 1)[-1] or image.endswith(":latest"))
        for name, value in {"imagePullPolicy": "Always" if latest else "IfNotPresent", "resources": {},
                            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}.items():
            each.setdefault(name, value)
        for port in each.get("ports", []):
            port.setdefault("protocol", "TCP")


NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
BAD_NAME = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
            "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")


def faults(kind, made, live, definition):
    """What is not valid: (reason, message, field) for each."""
    name = made["metadata"]["name"]
    if not NAME.fullmatch(name):
        yield "FieldValueInvalid", f'Invalid value: "{name}": {BAD_NAME}', "metadata.name"
    if kind == "ConfigMap" and live and live.get("immutable") and live.get("data") != made.get("data"):
        yield "FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set", "data"
    if kind == "Deployment":
        for index, each in enumerate(made["spec"]["template"]["spec"].get("containers", [])):
            if not each.get("image"):
                yield "FieldValueRequired", "Required value", f"spec.template.spec.containers[{index}].image"
        if live and live["spec"]["selector"] != made["spec"]["selector"]:
            labels = ", ".join(f'"{k}":"{v}"' for k, v in made["spec"]["selector"].get("matchLabels", {}).items())
            yield ("FieldValueInvalid", "Invalid value: v1.LabelSelector{MatchLabels:map[string]string{" + labels +
                   "}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable", "spec.selector")
    if definition:
        yield from schema_faults(made.get("spec", {}), definition["properties"].get("spec", {}), "spec")


def schema_faults(value, schema, path):
    if "minimum" in schema and value < schema["minimum"]:
        yield ("FieldValueInvalid",
               f"Invalid value: {value}: {path} in body should be greater than or equal to {schema['minimum']}", path)
    for name in schema.get("required", []):
        if isinstance(value, dict) and name not in value:
            yield "FieldValueRequired", "Required value", f"{path}.{name}"
    for name, inner in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            yield from schema_faults(value[name], inner, f"{path}.{name}")
