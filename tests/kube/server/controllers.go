package main

import (
	"fmt"
	"sort"
	"time"
)

// The controllers that a deployer meets, each level-triggered: a pass looks at everything and does the next step of each, until
// a pass changes nothing.
func (c *cluster) control() {
	for {
		c.Lock()
		woken, before := c.woken, c.version
		if !c.pauses {
			c.pass()
		}
		idle := before == c.version
		if idle {
			c.idle = before
			close(c.rested)
			c.rested = make(chan struct{})
		}
		c.Unlock()
		if idle {
			<-woken
		}
	}
}

func (c *cluster) pass() {
	for _, each := range c.sorted("apps/deployments") {
		c.deploy(each)
	}
	for _, each := range c.sorted("apps/replicasets") {
		c.replicate(each)
	}
	for _, each := range c.sorted("/services") {
		c.slice(each)
	}
	c.collect()
}

func (c *cluster) sorted(key string) []object {
	keys := []string{}
	for name := range c.objects[key] {
		keys = append(keys, name)
	}
	sort.Strings(keys)
	found := []object{}
	for _, name := range keys {
		found = append(found, c.objects[key][name])
	}
	return found
}

func ended(made object) bool { return at(made, "metadata", "deletionTimestamp") != nil }

func controllerOf(made object) string {
	for _, each := range list(made, "metadata", "ownerReferences") {
		if truth(each, "controller") {
			return text(each, "uid")
		}
	}
	return ""
}

func ownedBy(kind string, owner object) []interface{} {
	return []interface{}{object{"apiVersion": text(owner, "apiVersion"), "kind": kind, "name": text(owner, "metadata", "name"),
		"uid": text(owner, "metadata", "uid"), "controller": true, "blockOwnerDeletion": true}}
}

// matches says whether labels are those of a selector with matchLabels alone.
func matches(labels, selector object) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// ---- ReplicaSets

func (c *cluster) podsOf(set object) []object {
	found := []object{}
	for _, pod := range c.sorted("/pods") {
		phase := text(pod, "status", "phase")
		if controllerOf(pod) == text(set, "metadata", "uid") && !ended(pod) && phase != "Failed" && phase != "Succeeded" {
			found = append(found, pod)
		}
	}
	return found
}

func ready(pod object) bool {
	for _, each := range list(pod, "status", "conditions") {
		if text(each, "type") == "Ready" {
			return text(each, "status") == "True"
		}
	}
	return false
}

var retries = map[string]time.Time{}

func (c *cluster) replicate(set object) {
	k := c.known("apps", "v1", "replicasets")
	if ended(set) {
		return
	}
	pods := c.podsOf(set)
	wanted := int(number(set, "spec", "replicas"))
	failure := ""
	for _, each := range list(set, "status", "conditions") {
		if text(each, "type") == "ReplicaFailure" {
			failure = text(each, "message")
		}
	}
	switch uid := text(set, "metadata", "uid"); {
	case len(pods) < wanted && time.Now().After(retries[uid]):
		if said := c.makePods(set, wanted-len(pods)); said != "" {
			failure = said
			retries[uid] = time.Now().Add(2 * time.Second)
			c.later(2100*time.Millisecond, func() { close(c.woken); c.woken = make(chan struct{}) })
		} else {
			failure = ""
		}
	case len(pods) > wanted:
		c.endPods(pods, len(pods)-wanted)
		failure = ""
	case len(pods) == wanted:
		failure = ""
	}
	count := 0
	for _, pod := range pods {
		if ready(pod) {
			count++
		}
	}
	status := object{"replicas": int64(len(pods)), "observedGeneration": number(set, "metadata", "generation")}
	if len(pods) > 0 {
		status["fullyLabeledReplicas"] = int64(len(pods))
	}
	if count > 0 {
		status["readyReplicas"], status["availableReplicas"] = int64(count), int64(count)
	}
	if failure != "" {
		status["conditions"] = list(set, "status", "conditions")
		if len(list(status, "conditions")) == 0 {
			status["conditions"] = []interface{}{object{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
				"message": failure, "lastTransitionTime": now()}}
		}
	}
	c.setStatus(k, set, status)
}

func (c *cluster) setStatus(k *kind, live, status object) {
	if same(live["status"], status) {
		return
	}
	made := copied(live)
	made["status"] = status
	c.write(k, live, k.update(live, made, "kube-controller-manager", "status"))
}

// makePods makes one, then two, then four at once, and stops at the first that are refused.
func (c *cluster) makePods(set object, missing int) string {
	k := c.known("", "v1", "pods")
	for batch := 1; missing > 0; batch *= 2 {
		said := ""
		for index := 0; index < batch && missing > 0; index++ {
			missing--
			base := text(set, "metadata", "name") + "-"
			template := copied(mapped(set, "spec", "template"))
			metadata := mapped(template, "metadata")
			delete(metadata, "creationTimestamp")
			pod := object{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
			metadata["generateName"], metadata["name"] = base, base+suffix(5)
			metadata["namespace"] = text(set, "metadata", "namespace")
			metadata["ownerReferences"] = ownedBy("ReplicaSet", set)
			k.complete(pod, c.address)
			pod = k.update(nil, pod, "kube-controller-manager", "")
			c.admitPod(pod)
			if err := c.admitted(k, pod); err != nil {
				said = text(err.(*refusal).body, "message")
				c.tell("ReplicaSet", set, "Warning", "FailedCreate", "Error creating: "+said, "replicaset-controller")
				continue
			}
			c.write(k, nil, pod)
		}
		if said != "" {
			return said
		}
	}
	return ""
}

// endPods deletes first what matters least: what is not bound, then what is not ready, then what is younger.
func (c *cluster) endPods(pods []object, count int) {
	rank := func(pod object) int {
		switch {
		case text(pod, "spec", "nodeName") == "":
			return 0
		case !ready(pod):
			return 1
		}
		return 2
	}
	sort.SliceStable(pods, func(i, j int) bool {
		if one, other := rank(pods[i]), rank(pods[j]); one != other {
			return one < other
		}
		return text(pods[i], "metadata", "creationTimestamp") > text(pods[j], "metadata", "creationTimestamp")
	})
	for _, pod := range pods[:count] {
		c.remove(c.known("", "v1", "pods"), pod, object{})
	}
}

// admitPod adds what the server's own admission does.
func (c *cluster) admitPod(pod object) {
	spec := inside(pod, "spec")
	preset(spec, "serviceAccountName", "default")
	spec["serviceAccount"] = spec["serviceAccountName"]
	account := c.objects["/serviceaccounts"][place(text(pod, "metadata", "namespace"), text(spec, "serviceAccountName"))]
	mounts, set := spec["automountServiceAccountToken"]
	if !set {
		mounts, set = account["automountServiceAccountToken"]
	}
	if !set || mounts == true {
		name := "kube-api-access-" + suffix(5)
		spec["volumes"] = append(list(spec, "volumes"), parse(`{"name": "`+name+`", "projected": {"defaultMode": 420, "sources": [
			{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
			{"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
			{"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}}`))
		for _, each := range list(spec, "containers") {
			container := each.(object)
			container["volumeMounts"] = append(list(container, "volumeMounts"), object{"name": name, "readOnly": true,
				"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"})
		}
	}
	if _, has := spec["tolerations"]; !has {
		tolerations := []interface{}{}
		for _, key := range []string{"not-ready", "unreachable"} {
			tolerations = append(tolerations, object{"key": "node.kubernetes.io/" + key, "operator": "Exists",
				"effect": "NoExecute", "tolerationSeconds": int64(300)})
		}
		spec["tolerations"] = tolerations
	}
	preset(spec, "priority", int64(0))
	preset(spec, "preemptionPolicy", "PreemptLowerPriority")
}

// tell writes an event about an object.
func (c *cluster) tell(kind string, about object, how, reason, message, by string) {
	metadata := mapped(about, "metadata")
	namespace := text(metadata, "namespace")
	for _, each := range c.objects["/events"] {
		if text(each, "involvedObject", "uid") == text(metadata, "uid") && text(each, "message") == message {
			return
		}
	}
	c.controlled(c.known("", "v1", "events"), object{"kind": "Event", "metadata": object{"namespace": namespace,
		"name": fmt.Sprintf("%s.%x", text(metadata, "name"), time.Now().UnixNano())},
		"involvedObject": object{"kind": kind, "namespace": namespace, "name": text(metadata, "name"),
			"uid": text(metadata, "uid"), "apiVersion": text(about, "apiVersion"),
			"resourceVersion": text(metadata, "resourceVersion")},
		"reason": reason, "message": message, "source": object{"component": by}, "firstTimestamp": now(),
		"lastTimestamp": now(), "count": int64(1), "type": how})
}

// ---- EndpointSlices

func (c *cluster) slice(service object) {
	selector := mapped(service, "spec", "selector")
	if len(selector) == 0 || ended(service) {
		return
	}
	k := c.known("discovery.k8s.io", "v1", "endpointslices")
	name, namespace := text(service, "metadata", "name"), text(service, "metadata", "namespace")
	endpoints, ports := []interface{}{}, []interface{}{}
	for _, pod := range c.sorted("/pods") {
		address := text(pod, "status", "podIP")
		if text(pod, "metadata", "namespace") != namespace || address == "" || !matches(mapped(pod, "metadata", "labels"), selector) {
			continue
		}
		if phase := text(pod, "status", "phase"); phase == "Failed" || phase == "Succeeded" {
			continue
		}
		serving := ready(pod)
		endpoints = append(endpoints, object{"addresses": words(address), "nodeName": text(pod, "spec", "nodeName"),
			"conditions": object{"ready": serving && !ended(pod), "serving": serving, "terminating": ended(pod)},
			"targetRef": object{"kind": "Pod", "namespace": namespace, "name": text(pod, "metadata", "name"),
				"uid": text(pod, "metadata", "uid")}})
		if len(ports) == 0 {
			for _, each := range list(service, "spec", "ports") {
				ports = append(ports, object{"name": text(each, "name"), "protocol": text(each, "protocol"),
					"port": targetPort(at(each, "targetPort"), pod)})
			}
		}
	}
	var live object
	for _, each := range c.sorted("discovery.k8s.io/endpointslices") {
		if text(each, "metadata", "labels", "kubernetes.io/service-name") == name && text(each, "metadata", "namespace") == namespace {
			live = each
		}
	}
	made := copied(live)
	if live == nil {
		made = object{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": object{
			"name": name + "-" + suffix(5), "generateName": name + "-", "namespace": namespace, "labels": object{
				"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io", "kubernetes.io/service-name": name},
			"ownerReferences": ownedBy("Service", service)}}
	}
	// The labels of the Service are those of its slices, too.
	for label, value := range mapped(service, "metadata", "labels") {
		inside(made, "metadata", "labels")[label] = value
	}
	made["endpoints"], made["ports"] = nil, nil
	if len(endpoints) > 0 {
		made["endpoints"], made["ports"] = endpoints, ports
	}
	if live != nil && same(made["endpoints"], live["endpoints"]) && same(made["ports"], live["ports"]) {
		return
	}
	inside(made, "metadata", "annotations")["endpoints.kubernetes.io/last-change-trigger-time"] = now()
	if len(k.faults(made, live, c.loopback)) == 0 {
		c.write(k, live, k.update(live, made, "kube-controller-manager", ""))
	}
}

func targetPort(wanted interface{}, pod object) interface{} {
	if name, is := wanted.(string); is {
		for _, container := range list(pod, "spec", "containers") {
			for _, port := range list(container, "ports") {
				if text(port, "name") == name {
					return at(port, "containerPort")
				}
			}
		}
	}
	return wanted
}
