package main

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// A kind of object, as discovery or a CustomResourceDefinition has it.
type kind struct {
	group, version, resource, name string
	apiVersion                     string
	namespaced, hasStatus          bool
	definition                     object // the schema of a custom kind
	type_                          typed.ParseableType
}

func (k *kind) key() string { return k.group + "/" + k.resource }

func (k *kind) title() string { return strings.TrimSuffix(k.resource+"."+k.group, ".") }

func (k *kind) kindTitle() string { return strings.TrimSuffix(k.name+"."+k.group, ".") }

func (k *kind) details(name string) object {
	made := object{"kind": k.resource}
	if name != "" {
		made["name"] = name
	}
	if k.group != "" {
		made["group"] = k.group
	}
	return made
}

func (k *kind) notFound(name string) *refusal {
	return refuse(404, "NotFound", k.title()+` "`+name+`" not found`, k.details(name))
}

func (k *kind) changed(name string) *refusal {
	return refuse(409, "Conflict", `Operation cannot be fulfilled on `+k.title()+` "`+name+`": the object has been modified; `+
		`please apply your changes to the latest version and try again`, k.details(name))
}

// counts says whether metadata.generation counts the changes of the spec.
func (k *kind) counts() bool {
	switch k.name {
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "PodDisruptionBudget", "NetworkPolicy", "Ingress",
		"CustomResourceDefinition", "Job", "CronJob", "EndpointSlice":
		return true
	}
	return k.definition != nil
}

// empty is what the real server's struct of a kind says before anything is read into it; an update is compared with it.
func (k *kind) empty() object {
	made := object{"apiVersion": k.apiVersion, "kind": k.name, "metadata": object{"creationTimestamp": nil}}
	pod := parse(`{"metadata": {"creationTimestamp": null}, "spec": {"containers": null}}`)
	switch k.kindTitle() {
	case "Pod":
		made["spec"], made["status"] = pod["spec"], object{}
	case "Deployment.apps":
		made["spec"], made["status"] = object{"selector": nil, "strategy": object{}, "template": pod}, object{}
	case "ReplicaSet.apps":
		made["spec"], made["status"] = object{"selector": nil, "template": pod}, object{"replicas": int64(0)}
	case "StatefulSet.apps", "DaemonSet.apps":
		made["spec"], made["status"] = object{"selector": nil, "template": pod, "updateStrategy": object{}}, object{}
	case "Service":
		made["spec"], made["status"] = object{}, object{"loadBalancer": object{}}
	case "Event":
		made = overlaid(made, parse(`{"involvedObject": {}, "source": {}, "reportingComponent": "", "reportingInstance": ""}`))
		made["firstTimestamp"], made["lastTimestamp"], made["eventTime"] = nil, nil, nil
	case "EndpointSlice.discovery.k8s.io":
		made["addressType"], made["endpoints"], made["ports"] = "", nil, nil
	}
	return made
}
