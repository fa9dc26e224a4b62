package main

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// complete writes the defaults of a kind into an object, as the server does before it keeps or answers it.
func (k *kind) complete(made object, address func() string) {
	metadata := inside(made, "metadata")
	switch k.kindTitle() {
	case "Namespace":
		inside(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"]
		preset(made, "spec", object{"finalizers": words("kubernetes")})
		preset(made, "status", object{"phase": "Active"})
	case "Secret":
		for name, value := range mapped(made, "stringData") {
			inside(made, "data")[name] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(value)))
		}
		delete(made, "stringData")
		preset(made, "type", "Opaque")
	case "ResourceQuota":
		preset(made, "status", object{})
	case "Service":
		completeService(inside(made, "spec"), address)
		preset(made, "status", object{"loadBalancer": object{}})
	case "HorizontalPodAutoscaler.autoscaling":
		spec := inside(made, "spec")
		preset(spec, "minReplicas", int64(1))
		preset(spec, "metrics", []interface{}{parse(`{"type": "Resource", "resource": {"name": "cpu", "target":
			{"type": "Utilization", "averageUtilization": 80}}}`)})
		preset(made, "status", parse(`{"currentMetrics": null, "desiredReplicas": 0}`))
	case "PodDisruptionBudget.policy":
		preset(made, "status", parse(`{"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}`))
	case "NetworkPolicy.networking.k8s.io":
		preset(made, "status", object{})
	case "Ingress.networking.k8s.io":
		preset(made, "status", object{"loadBalancer": object{}})
	case "CustomResourceDefinition.apiextensions.k8s.io":
		completeDefinition(made)
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch":
		completeWorkload(k.name, made)
	case "Pod":
		spec := inside(made, "spec")
		completePod(spec)
		preset(spec, "enableServiceLinks", true)
		status := inside(made, "status")
		preset(status, "phase", "Pending")
		preset(status, "qosClass", quality(spec))
		for _, each := range list(status, "conditions") {
			preset(each.(object), "lastProbeTime", nil)
			preset(each.(object), "lastTransitionTime", nil)
		}
		for _, each := range list(status, "containerStatuses") {
			preset(each.(object), "lastState", object{})
			preset(each.(object), "imageID", "")
		}
	case "Event":
		for name, each := range map[string]interface{}{"eventTime": nil, "reportingComponent": "", "reportingInstance": "",
			"source": object{}, "firstTimestamp": nil, "lastTimestamp": nil} {
			preset(made, name, each)
		}
	case "EndpointSlice.discovery.k8s.io":
		preset(made, "endpoints", nil)
		preset(made, "ports", nil)
	}
}

func completeService(spec object, address func() string) {
	for _, each := range list(spec, "ports") {
		port := each.(object)
		preset(port, "protocol", "TCP")
		preset(port, "targetPort", port["port"])
	}
	preset(spec, "type", "ClusterIP")
	preset(spec, "sessionAffinity", "None")
	if spec["type"] == "ExternalName" {
		return
	}
	if _, has := spec["clusterIP"]; !has {
		spec["clusterIP"] = address()
	}
	preset(spec, "clusterIPs", []interface{}{spec["clusterIP"]})
	preset(spec, "internalTrafficPolicy", "Cluster")
	preset(spec, "ipFamilies", words("IPv4"))
	preset(spec, "ipFamilyPolicy", "SingleStack")
}

func completeDefinition(made object) {
	names := inside(made, "spec", "names")
	preset(names, "listKind", text(names, "kind")+"List")
	preset(inside(made, "spec"), "conversion", object{"strategy": "None"})
	stored := []interface{}{}
	for _, each := range list(made, "spec", "versions") {
		if truth(each, "storage") {
			stored = append(stored, at(each, "name"))
		}
	}
	preset(made, "status", object{"conditions": nil, "acceptedNames": object{"plural": "", "kind": ""}, "storedVersions": stored})
}

func completeWorkload(name string, made object) {
	spec := inside(made, "spec")
	template := inside(spec, "template")
	preset(inside(template, "metadata"), "creationTimestamp", nil)
	completePod(inside(template, "spec"))
	status := object{}
	switch name {
	case "Deployment":
		preset(spec, "replicas", int64(1))
		preset(spec, "revisionHistoryLimit", int64(10))
		preset(spec, "progressDeadlineSeconds", int64(600))
		strategy := inside(spec, "strategy")
		preset(strategy, "type", "RollingUpdate")
		if strategy["type"] == "RollingUpdate" {
			rolling := inside(strategy, "rollingUpdate")
			preset(rolling, "maxSurge", "25%")
			preset(rolling, "maxUnavailable", "25%")
		}
	case "ReplicaSet":
		preset(spec, "replicas", int64(1))
		status["replicas"] = int64(0)
	case "StatefulSet":
		preset(spec, "replicas", int64(1))
		preset(spec, "revisionHistoryLimit", int64(10))
		preset(spec, "podManagementPolicy", "OrderedReady")
		preset(spec, "updateStrategy", parse(`{"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}`))
		status = parse(`{"replicas": 0, "availableReplicas": 0}`)
	case "DaemonSet":
		preset(spec, "revisionHistoryLimit", int64(10))
		preset(spec, "updateStrategy", parse(`{"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}`))
		status = parse(`{"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0}`)
	case "Job":
		preset(spec, "parallelism", int64(1))
		preset(spec, "completions", int64(1))
		preset(spec, "backoffLimit", int64(6))
		preset(spec, "completionMode", "NonIndexed")
		preset(spec, "suspend", false)
	}
	preset(made, "status", status)
}

func completePod(spec object) {
	for name, value := range map[string]interface{}{"dnsPolicy": "ClusterFirst", "restartPolicy": "Always",
		"schedulerName": "default-scheduler", "securityContext": object{}, "terminationGracePeriodSeconds": int64(30)} {
		preset(spec, name, value)
	}
	if account, has := spec["serviceAccountName"]; has {
		preset(spec, "serviceAccount", account)
	}
	for _, each := range append(append([]interface{}{}, list(spec, "containers")...), list(spec, "initContainers")...) {
		container := each.(object)
		image := text(container, "image")
		latest := !strings.Contains(image, "@") && (!strings.Contains(image[strings.LastIndex(image, "/")+1:], ":") ||
			strings.HasSuffix(image, ":latest"))
		preset(container, "imagePullPolicy", map[bool]string{true: "Always", false: "IfNotPresent"}[latest])
		preset(container, "resources", object{})
		preset(container, "terminationMessagePath", "/dev/termination-log")
		preset(container, "terminationMessagePolicy", "File")
		for _, port := range list(container, "ports") {
			preset(port.(object), "protocol", "TCP")
		}
		for _, variable := range list(container, "env") {
			if from := mapped(variable, "valueFrom", "fieldRef"); from != nil {
				preset(from, "apiVersion", "v1")
			}
		}
		for _, which := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			if probe := mapped(container, which); probe != nil {
				for name, value := range map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1,
					"failureThreshold": 3} {
					preset(probe, name, value)
				}
				if get := mapped(probe, "httpGet"); get != nil {
					preset(get, "path", "/")
					preset(get, "scheme", "HTTP")
				}
			}
		}
	}
	for _, each := range list(spec, "volumes") {
		for _, source := range []string{"secret", "configMap", "projected", "downwardAPI"} {
			if volume := mapped(each, source); volume != nil {
				preset(volume, "defaultMode", int64(420))
			}
		}
	}
}

func quality(spec object) string {
	for _, each := range list(spec, "containers") {
		if len(mapped(each, "resources", "requests")) > 0 || len(mapped(each, "resources", "limits")) > 0 {
			if same(at(each, "resources", "requests"), at(each, "resources", "limits")) {
				return "Guaranteed"
			}
			return "Burstable"
		}
	}
	return "BestEffort"
}

var goodName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
var goodLabel = regexp.MustCompile(`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`)

const badName = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
	"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
	`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
const badLabel = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
	"and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
	`'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`

// faults lists what is not valid. Loopback addresses are no endpoints, but for the tests' node.
func (k *kind) faults(made, live object, loopback bool) []fault {
	found := []fault{}
	say := func(reason, message, field string) { found = append(found, fault{reason, message, field}) }
	name := text(made, "metadata", "name")
	if k.group != "rbac.authorization.k8s.io" && (len(name) > 253 || !goodName.MatchString(name)) {
		say("FieldValueInvalid", fmt.Sprintf("Invalid value: %q: %s", name, badName), "metadata.name")
	}
	for _, value := range mapped(made, "metadata", "labels") {
		word, _ := value.(string)
		if !goodLabel.MatchString(word) {
			say("FieldValueInvalid", fmt.Sprintf("Invalid value: %q: %s", word, badLabel), "metadata.labels")
		} else if len(word) > 63 {
			say("FieldValueInvalid", fmt.Sprintf("Invalid value: %q: must be no more than 63 characters", word), "metadata.labels")
		}
	}
	switch k.kindTitle() {
	case "ConfigMap", "Secret":
		if truth(live, "immutable") && !same(live["data"], made["data"]) {
			say("FieldValueForbidden", "Forbidden: field is immutable when `immutable` is set", "data")
		}
	case "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps":
		for index, each := range list(made, "spec", "template", "spec", "containers") {
			if text(each, "image") == "" {
				say("FieldValueRequired", "Required value", fmt.Sprintf("spec.template.spec.containers[%d].image", index))
			}
		}
		if live != nil && !same(at(live, "spec", "selector"), at(made, "spec", "selector")) {
			say("FieldValueInvalid", fmt.Sprintf("Invalid value: v1.LabelSelector{MatchLabels:%#v, "+
				"MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable",
				strings_(mapped(made, "spec", "selector", "matchLabels"))), "spec.selector")
		} else if selector := mapped(made, "spec", "selector", "matchLabels"); live == nil {
			labels := mapped(made, "spec", "template", "metadata", "labels")
			for key, value := range selector {
				if labels[key] != value {
					say("FieldValueInvalid", fmt.Sprintf("Invalid value: %#v: `selector` does not match template `labels`",
						strings_(labels)), "spec.template.metadata.labels")
					break
				}
			}
		}
	case "EndpointSlice.discovery.k8s.io":
		for index, each := range list(made, "endpoints") {
			for place, address := range list(each, "addresses") {
				if strings.HasPrefix(address.(string), "127.") && !loopback {
					say("FieldValueInvalid", fmt.Sprintf("Invalid value: %q: may not be in the loopback range (127.0.0.0/8, ::1/128)",
						address), fmt.Sprintf("endpoints[%d].addresses[%d]", index, place))
				}
			}
		}
	}
	if k.definition != nil {
		found = append(found, schemaFaults(made["spec"], mapped(k.definition, "properties", "spec"), "spec")...)
	}
	return found
}

func strings_(labels object) map[string]string {
	made := map[string]string{}
	for name, each := range labels {
		made[name] = fmt.Sprint(each)
	}
	return made
}

func schemaFaults(value interface{}, schema object, path string) []fault {
	found := []fault{}
	if least, has := schema["minimum"]; has && value != nil && number(object{"n": value}, "n") < number(object{"n": least}, "n") {
		found = append(found, fault{"FieldValueInvalid", fmt.Sprintf("Invalid value: %v: %s in body should be greater than or "+
			"equal to %v", value, path, least), path})
	}
	if of, has := value.(object); has {
		for _, each := range list(schema, "required") {
			if _, there := of[each.(string)]; !there {
				found = append(found, fault{"FieldValueRequired", "Required value", path + "." + each.(string)})
			}
		}
		for name, inner := range mapped(schema, "properties") {
			if each, there := of[name]; there {
				found = append(found, schemaFaults(each, inner.(object), path+"."+name)...)
			}
		}
	}
	for index, each := range list(object{"l": value}, "l") {
		found = append(found, schemaFaults(each, mapped(schema, "items"), fmt.Sprintf("%s[%d]", path, index))...)
	}
	return found
}
