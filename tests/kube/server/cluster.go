package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A cluster keeps objects in memory, with every change, so that watches can be replayed. All of it is behind one lock; what
// is stored is never changed in place, so that what was read may be written out without it.
type cluster struct {
	sync.Mutex
	version            int64
	compacted, forgets int64 // below these a list cannot go on, and a watch cannot begin
	objects            map[string]map[string]object
	events             []event
	woken              chan struct{} // closed and replaced at each change
	schemas            *schemas
	discovery          object
	kinds              map[string]*kind
	custom             map[string]map[string]*customKind
	addresses          int64
	settles            bool
	controls           bool
	loopback           bool // a node of the tests runs pods on loopback addresses
	log                []string
	failures           []object
	mostInFlight       int64 // negative: any number
	inFlight           int64
	tokens             map[string]issued
	longestToken       int64                      // in seconds; 0: any
	calls              map[string]map[string]bool // by user, "apps/deployments:get"
	node               *node
	idle               int64         // the version at which the controllers had nothing more to do
	holds              bool          // definitions are not established
	pauses             bool          // controllers do nothing by themselves
	rested             chan struct{} // closed and replaced when they have nothing to do
}

type event struct {
	version      int64
	what, kind   string
	made, before object
}

type customKind struct {
	kind     *kind
	singular string
	status   bool
}

func newCluster(discovery string, settles, controls bool) (*cluster, error) {
	raw, err := os.ReadFile(discovery)
	if err != nil {
		return nil, err
	}
	read, err := decode(raw)
	if err != nil {
		return nil, err
	}
	known, err := loadSchemas()
	if err != nil {
		return nil, err
	}
	made := &cluster{version: 200, objects: map[string]map[string]object{}, woken: make(chan struct{}), rested: make(chan struct{}), schemas: known,
		discovery: read.(object), kinds: map[string]*kind{}, custom: map[string]map[string]*customKind{}, settles: settles,
		controls: controls, mostInFlight: -1, tokens: map[string]issued{},
		calls: map[string]map[string]bool{}}
	made.Lock()
	defer made.Unlock()
	for _, name := range []string{"default", "kube-system"} {
		made.write(made.known("", "v1", "namespaces"), nil, object{"apiVersion": "v1", "kind": "Namespace",
			"metadata": object{"name": name}})
	}
	return made, nil
}

// ---- kinds

func (c *cluster) kind(group, version, resource string) (*kind, error) {
	at_ := group + "/" + version
	if found := c.kinds[at_+"/"+resource]; found != nil {
		return found, nil
	}
	if found := c.custom[at_][resource]; found != nil {
		return found.kind, nil
	}
	listed, served := c.resources(group, version)
	for _, each := range listed {
		if text(each, "name") != resource {
			continue
		}
		apiVersion := version
		if group != "" {
			apiVersion = at_
		}
		made := &kind{group: group, version: version, resource: resource, name: text(each, "kind"), apiVersion: apiVersion,
			namespaced: truth(each, "namespaced")}
		made.type_ = c.schemas.of(group, version, made.name)
		for _, other := range listed {
			made.hasStatus = made.hasStatus || text(other, "name") == resource+"/status"
		}
		c.kinds[at_+"/"+resource] = made
		return made, nil
	}
	if !served {
		return nil, pageNotFound()
	}
	return nil, notServed()
}

func (c *cluster) known(group, version, resource string) *kind {
	found, err := c.kind(group, version, resource)
	if err != nil {
		panic(err)
	}
	return found
}

// resources are those of a group's version; served says whether that version is there.
func (c *cluster) resources(group, version string) ([]interface{}, bool) {
	path := "/apis/" + group + "/" + version
	if group == "" {
		path = "/api/" + version
	}
	if found := mapped(c.discovery, path); found != nil {
		return list(found, "resources"), true
	}
	for _, each := range list(c.discovery, "/apis", "groups") {
		for _, one := range list(each, "versions") {
			if text(each, "name") == group && text(one, "version") == version {
				return nil, true
			}
		}
	}
	custom, served := c.custom[group+"/"+version]
	made := []interface{}{}
	for name, each := range custom {
		made = append(made, object{"name": name, "singularName": each.singular, "namespaced": each.kind.namespaced,
			"kind": each.kind.name, "storageVersionHash": "x", "verbs": words("delete", "deletecollection", "get", "list",
				"patch", "create", "update", "watch")})
		if each.status {
			made = append(made, object{"name": name + "/status", "singularName": "", "namespaced": each.kind.namespaced,
				"kind": each.kind.name, "verbs": words("get", "patch", "update")})
		}
	}
	return made, served
}

// ---- objects

func place(namespace, name string) string { return namespace + "/" + name }

func (c *cluster) find(k *kind, namespace, name string) object {
	if !k.namespaced {
		namespace = ""
	}
	return c.objects[k.key()][place(namespace, name)]
}

func (c *cluster) all(group, version, resource string) map[string]object {
	return c.objects[group+"/"+resource]
}

func (c *cluster) address() string {
	c.addresses++
	return fmt.Sprintf("10.0.%d.%d", c.addresses/250, c.addresses%250+1)
}

// write keeps an object under the next version. What it is given becomes the cluster's.
func (c *cluster) write(k *kind, live, made object) object {
	k.complete(made, c.address)
	metadata := inside(made, "metadata")
	if live == nil {
		preset(metadata, "uid", newID())
		metadata["creationTimestamp"] = now()
		if k.counts() {
			metadata["generation"] = int64(1)
		}
	} else if k.counts() && (!same(made["spec"], live["spec"]) || k.name == "EndpointSlice" &&
		(!same(made["endpoints"], live["endpoints"]) || !same(made["ports"], live["ports"]))) {
		metadata["generation"] = number(live, "metadata", "generation") + 1
	}
	c.version++
	metadata["resourceVersion"] = fmt.Sprint(c.version)
	if c.objects[k.key()] == nil {
		c.objects[k.key()] = map[string]object{}
	}
	c.objects[k.key()][place(text(metadata, "namespace"), text(metadata, "name"))] = made
	what := "MODIFIED"
	if live == nil {
		what = "ADDED"
	}
	c.record(event{c.version, what, k.key(), made, live})
	c.noticed(k, made)
	return made
}

func (c *cluster) drop(k *kind, made object) {
	delete(c.objects[k.key()], place(text(made, "metadata", "namespace"), text(made, "metadata", "name")))
	c.version++
	gone := copied(made)
	inside(gone, "metadata")["resourceVersion"] = fmt.Sprint(c.version)
	c.record(event{c.version, "DELETED", k.key(), gone, made})
}

func (c *cluster) record(happened event) {
	c.events = append(c.events, happened)
	close(c.woken)
	c.woken = make(chan struct{})
}

// noticed does at once what controllers do to namespaces and definitions; the others come by and by.
func (c *cluster) noticed(k *kind, made object) {
	name := text(made, "metadata", "name")
	switch k.kindTitle() {
	case "Namespace":
		if text(made, "status", "phase") == "Active" && c.objects["/serviceaccounts"][place(name, "default")] == nil {
			c.furnish(name)
		}
	case "CustomResourceDefinition.apiextensions.k8s.io":
		if at(made, "status", "conditions") == nil {
			c.later(50*time.Millisecond, func() { c.establish(k, name) })
		}
	case "Deployment.apps":
		if c.settles {
			c.settle(k, made)
		}
	}
}

func (c *cluster) later(after time.Duration, do func()) {
	time.AfterFunc(after, func() {
		c.Lock()
		defer c.Unlock()
		do()
	})
}

const manyWords = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
	"internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."

// furnish makes what controllers put into every namespace.
func (c *cluster) furnish(name string) {
	account := c.known("", "v1", "serviceaccounts")
	c.controlled(account, object{"kind": "ServiceAccount", "metadata": object{"name": "default", "namespace": name}})
	c.controlled(c.known("", "v1", "configmaps"), object{"kind": "ConfigMap", "metadata": object{"name": "kube-root-ca.crt",
		"namespace": name, "annotations": object{"kubernetes.io/description": manyWords}}, "data": object{"ca.crt": ""}})
}

// controlled is made by a controller.
func (c *cluster) controlled(k *kind, made object) object {
	made["apiVersion"] = k.apiVersion
	k.complete(made, c.address)
	return c.write(k, nil, k.update(nil, made, "kube-controller-manager", ""))
}

func newID() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw)
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	all := hex.EncodeToString(raw)
	return all[:8] + "-" + all[8:12] + "-" + all[12:16] + "-" + all[16:20] + "-" + all[20:]
}

func suffix(length int) string {
	raw := make([]byte, length)
	_, _ = rand.Read(raw)
	for index := range raw {
		raw[index] = "bcdfghjklmnpqrstvwxz2456789"[int(raw[index])%27]
	}
	return string(raw)
}

// ---- definitions of kinds

func (c *cluster) establish(k *kind, name string) {
	live := c.find(k, "", name)
	if c.holds {
		c.later(50*time.Millisecond, func() { c.establish(k, name) })
		return
	}
	if live == nil || at(live, "status", "conditions") != nil {
		return
	}
	made := copied(live)
	names := mapped(made, "spec", "names")
	status := inside(made, "status")
	status["acceptedNames"] = clone(names)
	condition := func(kind, reason, message string) object {
		return object{"type": kind, "status": "True", "lastTransitionTime": now(), "reason": reason, "message": message}
	}
	status["conditions"] = []interface{}{condition("NamesAccepted", "NoConflicts", "no conflicts found"),
		condition("Established", "InitialNamesAccepted", "the initial names have been accepted")}
	made = k.update(live, made, "kube-apiserver", "status")
	c.write(k, live, made)
	c.serve(made)
}

func (c *cluster) serve(definition object) {
	group := text(definition, "spec", "group")
	names := mapped(definition, "spec", "names")
	for _, each := range list(definition, "spec", "versions") {
		if !truth(each, "served") {
			continue
		}
		version := text(each, "name")
		schema := mapped(each, "schema", "openAPIV3Schema")
		_, status := mapped(each, "subresources")["status"]
		at_ := group + "/" + version
		if c.custom[at_] == nil {
			c.custom[at_] = map[string]*customKind{}
		}
		c.custom[at_][text(names, "plural")] = &customKind{singular: text(names, "singular"), status: status, kind: &kind{
			group: group, version: version, resource: text(names, "plural"), name: text(names, "kind"), apiVersion: at_,
			namespaced: text(definition, "spec", "scope") == "Namespaced", hasStatus: status, definition: schema,
			type_: c.schemas.custom(schema)}}
	}
}

// settle makes a Deployment ready as soon as it is seen, unless an annotation says otherwise.
func (c *cluster) settle(k *kind, made object) {
	wanted, generation := number(made, "spec", "replicas"), number(made, "metadata", "generation")
	if number(made, "status", "observedGeneration") == generation {
		return
	}
	done := copied(made)
	status := object{"observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted}
	condition := func(kind, reason, message string) []interface{} {
		return []interface{}{object{"type": kind, "status": "True", "reason": reason, "message": message,
			"lastTransitionTime": now(), "lastUpdateTime": now()}}
	}
	switch text(made, "metadata", "annotations", "test.sluice.dev/status") {
	case "", "ready":
		status["readyReplicas"], status["availableReplicas"] = wanted, wanted
		status["conditions"] = condition("Available", "MinimumReplicasAvailable", "")
	case "quota":
		status = object{"observedGeneration": generation, "unavailableReplicas": wanted,
			"conditions": condition("ReplicaFailure", "FailedCreate", "pods are forbidden: exceeded quota: q")}
	default:
		status["unavailableReplicas"] = wanted
	}
	done["status"] = status
	preset(inside(done, "metadata", "annotations"), "deployment.kubernetes.io/revision", "1")
	c.write(k, made, k.update(made, done, "kube-controller-manager", "status"))
}

func written(value interface{}) []byte {
	made, _ := json.Marshal(value)
	return made
}
