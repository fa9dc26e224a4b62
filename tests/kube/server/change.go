package main

import (
	"fmt"
	"strconv"
	"strings"
)

const applyPatch, mergePatch = "application/apply-patch+yaml", "application/merge-patch+json"
const jsonPatch, strategicPatch = "application/json-patch+json", "application/strategic-merge-patch+json"

func (r *request) dry(options object) bool {
	return r.query.Has("dryRun") || len(list(options, "dryRun")) > 0
}

func (r *request) fieldManager() string {
	if said := r.query.Get("fieldManager"); said != "" {
		return said
	}
	said, _, _ := strings.Cut(r.UserAgent(), "/")
	if said == "" || strings.HasPrefix(said, "Python-urllib") {
		return "unknown"
	}
	return said
}

// change creates, replaces or patches an object.
func (r *request) change() (int, interface{}, error) {
	c, k := r.cluster, r.kind
	how, _, _ := strings.Cut(r.asked("Content-Type"), ";")
	if r.Method == "PATCH" && how != applyPatch && how != mergePatch && how != jsonPatch && how != strategicPatch {
		return 0, nil, refuse(415, "UnsupportedMediaType", "415: Unsupported Media Type", object{})
	}
	read, err := decode(r.raw)
	if how == applyPatch || strings.HasSuffix(how, "yaml") {
		read, err = decodeYAML(r.raw)
	}
	if err != nil {
		return 0, nil, refuse(400, "BadRequest", fmt.Sprintf("error decoding patch: %v", err), nil)
	}
	body, isObject := read.(object)
	if how != jsonPatch && !isObject {
		return 0, nil, refuse(400, "BadRequest", "the body of the request is no object", nil)
	}
	if err := r.space(body); err != nil {
		return 0, nil, err
	}
	if r.Method == "POST" {
		metadata := inside(body, "metadata")
		if text(metadata, "name") == "" && text(metadata, "generateName") != "" {
			metadata["name"] = text(metadata, "generateName") + suffix(5)
		}
		r.name_ = text(metadata, "name")
	}
	live := c.find(k, r.namespace, r.name_)
	if r.Method == "POST" && live != nil {
		return 0, nil, refuse(409, "AlreadyExists", fmt.Sprintf("%s %q already exists", k.title(), r.name_), k.details(r.name_))
	}
	if live == nil && (r.Method == "PUT" || r.Method == "PATCH" && (how != applyPatch || r.subresource != "")) {
		return 0, nil, k.notFound(r.name_)
	}
	if version := text(body, "metadata", "resourceVersion"); live != nil && version != "" &&
		version != text(live, "metadata", "resourceVersion") {
		return 0, nil, k.changed(r.name_)
	}
	var made object
	if how == applyPatch && r.Method == "PATCH" {
		if !r.query.Has("fieldManager") {
			said := "Required value: is required for apply patch"
			return 0, nil, refuse(422, "Invalid", `PatchOptions.meta.k8s.io "" is invalid: fieldManager: `+said, object{
				"group": "meta.k8s.io", "kind": "PatchOptions", "causes": []interface{}{object{
					"reason": "FieldValueRequired", "field": "fieldManager", "message": said}}})
		}
		preset(inside(body, "metadata"), "name", r.name_)
		if live == nil {
			if err := r.allowed("create"); err != nil {
				return 0, nil, err
			}
		}
		made, err = k.apply(live, body, r.query.Get("fieldManager"), r.query.Get("force") == "true")
		if err != nil {
			return 0, nil, err
		}
	} else {
		made, err = r.replaced(how, live, body, read)
		if err != nil {
			return 0, nil, err
		}
		if k.definition == nil {
			made, _ = known(k.type_.Schema, k.type_.TypeRef, made).(object)
		}
		if r.subresource == "status" {
			status := made["status"]
			made = copied(live)
			made["status"] = status
		} else if live != nil && k.hasStatus {
			delete(made, "status")
			if status, has := live["status"]; has {
				made["status"] = clone(status)
			}
		} else if k.hasStatus {
			delete(made, "status")
		}
		made["apiVersion"], made["kind"] = k.apiVersion, k.name
		k.complete(made, c.addressFor(r))
		made = k.update(live, made, r.fieldManager(), r.subresource)
	}
	if k.namespaced {
		inside(made, "metadata")["namespace"] = r.namespace
	}
	return r.store(live, made)
}

// addressFor counts addresses for what is kept only.
func (c *cluster) addressFor(r *request) func() string {
	if r.dry(nil) {
		return func() string { return "10.0.0.1" }
	}
	return c.address
}

// space sees to it that the namespace is there, and is the object's own.
func (r *request) space(body object) error {
	said := text(body, "metadata", "namespace")
	if !r.kind.namespaced {
		return nil
	}
	if said != "" && said != r.namespace {
		return refuse(400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request", nil)
	}
	if r.cluster.objects["/namespaces"][place("", r.namespace)] == nil {
		return refuse(404, "NotFound", fmt.Sprintf("namespaces %q not found", r.namespace), object{"name": r.namespace,
			"kind": "namespaces"})
	}
	return nil
}

// replaced is what an update or a patch makes of a live object.
func (r *request) replaced(how string, live, body object, read interface{}) (object, error) {
	k := r.kind
	if r.Method == "POST" {
		return body, nil
	}
	if r.Method == "PUT" {
		made := body
		for _, name := range []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"} {
			if value := at(live, "metadata", name); value != nil {
				inside(made, "metadata")[name] = value
			}
		}
		inside(made, "metadata")["resourceVersion"] = text(live, "metadata", "resourceVersion")
		return made, nil
	}
	switch how {
	case jsonPatch:
		steps, _ := read.([]interface{})
		made, fine := jsonPatched(clone(live), steps).(object)
		if !fine {
			return nil, refuse(422, "Invalid", "the server rejected our request due to an error in our request", object{})
		}
		return made, nil
	case strategicPatch:
		if k.definition != nil {
			return nil, refuse(415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media "+
				"types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml", object{})
		}
		return strategic(k.type_.Schema, k.type_.TypeRef, clone(live), body).(object), nil
	}
	return overlaid(copied(live), body), nil
}

// jsonPatched is nil if a step cannot be done.
func jsonPatched(value interface{}, steps []interface{}) interface{} {
	for _, each := range steps {
		names := strings.Split(text(each, "path"), "/")[1:]
		for index := range names {
			names[index] = strings.NewReplacer("~1", "/", "~0", "~").Replace(names[index])
		}
		var done bool
		if value, done = patchedAt(value, names, text(each, "op"), at(each, "value")); !done {
			return nil
		}
	}
	return value
}

func patchedAt(value interface{}, names []string, op string, with interface{}) (interface{}, bool) {
	if len(names) == 0 {
		return with, op != "test" || same(value, with)
	}
	switch under := value.(type) {
	case object:
		inner, has := under[names[0]]
		if len(names) > 1 {
			made, done := patchedAt(inner, names[1:], op, with)
			under[names[0]] = made
			return under, has && done
		}
		switch op {
		case "remove":
			delete(under, names[0])
			return under, has
		case "test":
			return under, same(inner, with)
		}
		under[names[0]] = with
		return under, op == "add" || has
	case []interface{}:
		index, err := strconv.Atoi(names[0])
		if names[0] == "-" {
			index, err = len(under), nil
		}
		if err != nil || index < 0 || index > len(under) || index == len(under) && (op != "add" || len(names) > 1) {
			return value, false
		}
		if len(names) > 1 {
			made, done := patchedAt(under[index], names[1:], op, with)
			under[index] = made
			return under, done
		}
		switch op {
		case "add":
			return append(under[:index], append([]interface{}{with}, under[index:]...)...), true
		case "remove":
			return append(under[:index], under[index+1:]...), true
		case "test":
			return under, same(under[index], with)
		}
		under[index] = with
		return under, true
	}
	return value, false
}

// store keeps what came out of a change, if it is valid and admitted.
func (r *request) store(live, made object) (int, interface{}, error) {
	c, k, name := r.cluster, r.kind, text(made, "metadata", "name")
	k.complete(made, c.addressFor(r))
	if live == nil && k.kindTitle() == "Pod" {
		c.admitPod(made)
	}
	if faults := k.faults(made, live, c.loopback); len(faults) > 0 {
		return 0, nil, invalid(k, name, faults)
	}
	if live == nil {
		if err := c.admitted(k, made); err != nil {
			return 0, nil, err
		}
		if r.dry(nil) {
			metadata := inside(made, "metadata")
			preset(metadata, "uid", newID())
			metadata["creationTimestamp"] = now()
			if k.counts() {
				metadata["generation"] = int64(1)
			}
			return 201, made, nil
		}
		return 201, c.write(k, nil, made), nil
	}
	if same(untimed(made), untimed(live)) {
		return 200, live, nil
	}
	if at(live, "metadata", "deletionTimestamp") != nil && len(list(made, "metadata", "finalizers")) == 0 &&
		at(live, "metadata", "finalizers") != nil {
		if !r.dry(nil) {
			c.drop(k, live)
		}
		return 200, made, nil
	}
	if r.dry(nil) {
		return 200, made, nil
	}
	return 200, c.write(k, live, made), nil
}

// untimed is an object without the times of its managers, which alone are no change.
func untimed(value object) object {
	made := bare(value)
	entries := []interface{}{}
	for _, each := range list(value, "metadata", "managedFields") {
		entry := copied(each)
		delete(entry, "time")
		entries = append(entries, entry)
	}
	mapped(made, "metadata")["managedFields"] = entries
	return made
}

// admitted refuses what a namespace that ends, or a quota, does not let in.
func (c *cluster) admitted(k *kind, made object) error {
	name, namespace := text(made, "metadata", "name"), text(made, "metadata", "namespace")
	space := c.objects["/namespaces"][place("", namespace)]
	if text(space, "status", "phase") == "Terminating" {
		details := k.details(name)
		details["causes"] = []interface{}{object{"reason": "NamespaceTerminating", "field": "metadata.namespace",
			"message": fmt.Sprintf("namespace %s is being terminated", namespace)}}
		return refuse(403, "Forbidden", fmt.Sprintf("%s %q is forbidden: unable to create new content in namespace %s because it "+
			"is being terminated", k.title(), name, namespace), details)
	}
	what := "count/" + k.title()
	if k.kindTitle() == "Pod" {
		what = "pods"
	}
	for key, quota := range c.objects["/resourcequotas"] {
		hard := at(quota, "spec", "hard", what)
		if !strings.HasPrefix(key, namespace+"/") || hard == nil {
			continue
		}
		limit, _ := strconv.Atoi(fmt.Sprint(hard))
		used := 0
		for other := range c.objects[k.key()] {
			if strings.HasPrefix(other, namespace+"/") {
				used++
			}
		}
		if used >= limit {
			return refuse(403, "Forbidden", fmt.Sprintf("%s %q is forbidden: exceeded quota: %s, requested: %s=1, used: %s=%d, "+
				"limited: %s=%v", k.title(), name, text(quota, "metadata", "name"), what, what, used, what, hard), k.details(name))
		}
	}
	return nil
}
