package main

import (
	"fmt"
	"strconv"
	"strings"
)

// scale answers and changes the scale subresource, which counts the owner of replicas as a manager of its own.
func (r *request) scale() (int, interface{}, error) {
	c, k := r.cluster, r.kind
	live := c.find(k, r.namespace, r.name_)
	if live == nil {
		return 0, nil, k.notFound(r.name_)
	}
	made := live
	if r.Method != "GET" {
		read, err := decode(r.raw)
		if err != nil || at(read, "spec", "replicas") == nil {
			return 0, nil, refuse(400, "BadRequest", "spec.replicas is missing", nil)
		}
		if version := text(read, "metadata", "resourceVersion"); version != "" && version != text(live, "metadata", "resourceVersion") {
			return 0, nil, k.changed(r.name_)
		}
		made = copied(live)
		inside(made, "spec")["replicas"] = number(read, "spec", "replicas")
		made = k.update(live, made, r.fieldManager(), "scale")
		for _, each := range list(made, "metadata", "managedFields") {
			if text(each, "subresource") == "scale" {
				delete(each.(object), "time")
			}
		}
		if !r.dry(nil) && !same(untimed(made), untimed(live)) {
			owners := readManaged(made)
			owners.keep(made)
			made = c.write(k, live, made)
		}
	}
	pairs := []string{}
	for name, value := range mapped(made, "spec", "selector", "matchLabels") {
		pairs = append(pairs, fmt.Sprintf("%s=%v", name, value))
	}
	metadata := object{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		metadata[name] = at(made, "metadata", name)
	}
	return 200, object{"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
		"spec":   object{"replicas": number(made, "spec", "replicas")},
		"status": object{"replicas": number(made, "status", "replicas"), "selector": strings.Join(pairs, ",")}}, nil
}

// bind does what a scheduler asks for.
func (r *request) bind() (int, interface{}, error) {
	c, k := r.cluster, r.kind
	live := c.find(k, r.namespace, r.name_)
	if live == nil {
		return 0, nil, k.notFound(r.name_)
	}
	read, _ := decode(r.raw)
	c.bound(live, text(read, "target", "name"))
	return 201, object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Success", "code": int64(201)}, nil
}

func (c *cluster) bound(pod object, to string) object {
	made := copied(pod)
	inside(made, "spec")["nodeName"] = to
	setPodCondition(inside(made, "status"), "PodScheduled", "True", "", "")
	return c.write(c.known("", "v1", "pods"), pod, made)
}

func setPodCondition(status object, kind, state, reason, message string) {
	kept, since := []interface{}{}, now()
	place := -1
	for _, each := range list(status, "conditions") {
		if text(each, "type") == kind {
			place = len(kept)
			if text(each, "status") == state {
				since = text(each, "lastTransitionTime")
			}
		}
		kept = append(kept, each)
	}
	made := object{"type": kind, "status": state, "lastProbeTime": nil, "lastTransitionTime": since}
	if reason != "" {
		made["reason"] = reason
	}
	if message != "" {
		made["message"] = message
	}
	if place < 0 {
		kept = append(kept, made)
	} else {
		kept[place] = made
	}
	status["conditions"] = kept
}

func (r *request) logs() (int, interface{}, error) {
	c := r.cluster
	pod := c.find(r.kind, r.namespace, r.name_)
	if pod == nil {
		return 0, nil, r.kind.notFound(r.name_)
	}
	if !c.node.owns(pod) {
		return 0, nil, refuse(500, "", "no preferred addresses found; known addresses: []", nil)
	}
	said, found := c.node.said(pod, r.query.Get("previous") == "true")
	if !found {
		container := text(list(pod, "spec", "containers")[0], "name")
		if r.query.Get("previous") == "true" {
			return 0, nil, refuse(400, "BadRequest", fmt.Sprintf("previous terminated container %q in pod %q not found", container,
				r.name_), nil)
		}
		return 0, nil, refuse(400, "BadRequest", fmt.Sprintf("container %q in pod %q is waiting to start: ContainerCreating",
			container, r.name_), nil)
	}
	if tail, err := strconv.Atoi(r.query.Get("tailLines")); err == nil {
		lines := strings.SplitAfter(strings.TrimSuffix(said, "\n"), "\n")
		if len(lines) > tail {
			said = strings.Join(lines[len(lines)-tail:], "") + "\n"
		}
	}
	r.quiet = true
	r.answerText(200, said, nil)
	return 0, nil, nil
}
