package main

import (
	"fmt"
	"strings"
	"time"
)

func (r *request) delete() (int, interface{}, error) {
	c, k := r.cluster, r.kind
	options := object{}
	if len(r.raw) > 0 {
		read, err := decodeYAML(r.raw)
		if err != nil {
			return 0, nil, refuse(400, "BadRequest", err.Error(), nil)
		}
		options, _ = read.(object)
	}
	if r.name_ == "" {
		code, body, err := r.list()
		if err == nil && !r.dry(options) {
			for key, made := range c.objects[k.key()] {
				if namespace, _, _ := strings.Cut(key, "/"); namespace == r.namespace && r.selects(made) {
					c.remove(k, made, options)
				}
			}
		}
		return code, body, err
	}
	live := c.find(k, r.namespace, r.name_)
	if live == nil {
		return 0, nil, k.notFound(r.name_)
	}
	uid, version := text(options, "preconditions", "uid"), text(options, "preconditions", "resourceVersion")
	if found := text(live, "metadata", "uid"); uid != "" && uid != found {
		return 0, nil, refuse(409, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: the UID in the precondition "+
			"(%s) does not match the UID in record (%s). The object might have been deleted and then recreated", k.name, r.name_,
			uid, found), object{"name": r.name_, "kind": k.name})
	}
	if found := text(live, "metadata", "resourceVersion"); version != "" && version != found {
		return 0, nil, refuse(409, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: the ResourceVersion in the "+
			"precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", k.name,
			r.name_, version, found), object{"name": r.name_, "kind": k.name})
	}
	if !r.dry(options) {
		if left := c.remove(k, live, options); left != nil {
			return 200, left, nil
		}
	}
	details := k.details(r.name_)
	details["uid"] = text(live, "metadata", "uid")
	return 200, object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Success", "details": details}, nil
}

// remove deletes an object, or marks it; it returns the object if something must happen first.
func (c *cluster) remove(k *kind, live, options object) object {
	made := copied(live)
	metadata := inside(made, "metadata")
	if k.kindTitle() == "Namespace" {
		if at(metadata, "deletionTimestamp") != nil {
			return live
		}
		metadata["deletionTimestamp"] = now()
		inside(made, "status")["phase"] = "Terminating"
		name := text(metadata, "name")
		c.later(2*time.Second, func() { c.finishSpace(name) })
		return c.write(k, live, made)
	}
	grace := int64(0)
	if k.kindTitle() == "Pod" && text(live, "spec", "nodeName") != "" && c.node.owns(live) {
		grace = number(live, "spec", "terminationGracePeriodSeconds")
		if said, has := options["gracePeriodSeconds"]; has {
			grace = number(object{"n": said}, "n")
		}
	}
	policy := text(options, "propagationPolicy")
	finalizers := list(metadata, "finalizers")
	if policy == "Foreground" && !holds(finalizers, "foregroundDeletion") {
		finalizers = append(finalizers, "foregroundDeletion")
		metadata["finalizers"] = finalizers
		if !c.controls {
			c.later(100*time.Millisecond, func() {
				if live := c.find(k, text(metadata, "namespace"), text(metadata, "name")); live != nil {
					c.drop(k, live)
				}
			})
		}
	}
	if len(finalizers) > 0 || grace > 0 {
		if at(metadata, "deletionTimestamp") != nil {
			return live
		}
		metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"] = now(), grace
		if _, counted := metadata["generation"]; counted {
			metadata["generation"] = number(metadata, "generation") + 1
		}
		return c.write(k, live, made)
	}
	if policy == "Orphan" {
		c.orphan(text(metadata, "uid"))
	}
	c.drop(k, live)
	return nil
}
