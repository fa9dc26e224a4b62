package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"sort"
	"strconv"
	"strings"
)

// The controller of Deployments: a ReplicaSet for each template, and pods moved from the old ones to the newest, within what
// the strategy allows.
const revisionNote = "deployment.kubernetes.io/revision"
const desiredNote, mostNote = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"

func (c *cluster) deploy(live object) {
	if ended(live) {
		return
	}
	sets := []object{}
	revision := int64(0)
	for _, each := range c.sorted("apps/replicasets") {
		if controllerOf(each) == text(live, "metadata", "uid") {
			sets = append(sets, each)
			if own, _ := strconv.ParseInt(note(each, revisionNote), 10, 64); own > revision {
				revision = own
			}
		}
	}
	hash := templateHash(mapped(live, "spec", "template"))
	var newest object
	for _, each := range sets {
		if text(each, "metadata", "labels", "pod-template-hash") == hash {
			newest = each
		}
	}
	wanted := number(live, "spec", "replicas")
	if own := note(newest, revisionNote); newest != nil && own != fmt.Sprint(revision) && len(sets) > 1 && !c.newestIs(newest, sets) {
		// A template that was there before becomes the newest again.
		revision++
		c.annotate(newest, object{revisionNote: fmt.Sprint(revision)}, nil)
		made := copied(live)
		inside(made, "metadata", "annotations")[revisionNote] = fmt.Sprint(revision)
		k := c.known("apps", "v1", "deployments")
		c.write(k, live, k.update(live, made, "kube-controller-manager", "status"))
		return
	}
	for _, each := range sets {
		if number(each, "spec", "replicas") > 0 && note(each, desiredNote) != fmt.Sprint(wanted) {
			c.rescale(live, sets, newest, wanted)
			return
		}
	}
	if newest == nil {
		c.newSet(live, sets, hash, revision+1, wanted)
		return
	}
	if !c.rollNew(live, sets, newest, wanted) {
		c.rollOld(live, sets, newest, wanted)
	}
	c.status(live, newest)
}

func note(of object, name string) string { return text(of, "metadata", "annotations", name) }

func templateHash(template object) string {
	hash := fnv.New32a()
	_, _ = hash.Write(written(template))
	made := ""
	for _, digit := range fmt.Sprint(hash.Sum32()) {
		made += string("bcdfghjklm"[digit-'0'])
	}
	return made
}

func (c *cluster) newestIs(set object, sets []object) bool {
	own, _ := strconv.Atoi(note(set, revisionNote))
	for _, each := range sets {
		if other, _ := strconv.Atoi(note(each, revisionNote)); other > own {
			return false
		}
	}
	return true
}

// part reads "25%" or a number, of a whole.
func part(value interface{}, whole int64, up bool) int64 {
	said, is := value.(string)
	if !is {
		return number(object{"n": value}, "n")
	}
	percent, _ := strconv.ParseFloat(strings.TrimSuffix(said, "%"), 64)
	exact := percent * float64(whole) / 100
	if up {
		return int64(math.Ceil(exact))
	}
	return int64(math.Floor(exact))
}

// leeway is how many pods there may be more, and how many available ones less, than are wanted.
func leeway(live object, wanted int64) (int64, int64) {
	rolling := mapped(live, "spec", "strategy", "rollingUpdate")
	if rolling == nil || wanted == 0 {
		return 0, 0
	}
	surge, unavailable := part(rolling["maxSurge"], wanted, true), part(rolling["maxUnavailable"], wanted, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

func sum(sets []object, path ...string) int64 {
	all := int64(0)
	for _, each := range sets {
		all += number(each, path...)
	}
	return all
}

// room is the size that the newest set may have now.
func room(live object, sets []object, own, wanted int64) int64 {
	if text(live, "spec", "strategy", "type") == "Recreate" {
		return wanted
	}
	surge, _ := leeway(live, wanted)
	free := wanted + surge - sum(sets, "spec", "replicas")
	if free <= 0 {
		return own
	}
	if free > wanted-own {
		free = wanted - own
	}
	return own + free
}

func (c *cluster) newSet(live object, sets []object, hash string, revision, wanted int64) {
	if text(live, "spec", "strategy", "type") == "Recreate" {
		busy := false
		for _, each := range sets {
			if number(each, "spec", "replicas") > 0 {
				c.resize(live, each, 0)
				busy = true
			}
			busy = busy || c.hasPods(each)
		}
		if busy {
			return
		}
	}
	surge, _ := leeway(live, wanted)
	name := text(live, "metadata", "name") + "-" + hash
	template := copied(mapped(live, "spec", "template"))
	inside(template, "metadata", "labels")["pod-template-hash"] = hash
	selector := copied(mapped(live, "spec", "selector"))
	inside(selector, "matchLabels")["pod-template-hash"] = hash
	c.controlled(c.known("apps", "v1", "replicasets"), object{"kind": "ReplicaSet", "metadata": object{"name": name,
		"namespace": text(live, "metadata", "namespace"), "labels": clone(at(template, "metadata", "labels")),
		"annotations": object{revisionNote: fmt.Sprint(revision), desiredNote: fmt.Sprint(wanted),
			mostNote: fmt.Sprint(wanted + surge)}, "ownerReferences": ownedBy("Deployment", live)},
		"spec": object{"replicas": room(live, sets, 0, wanted), "selector": selector, "template": template}})
	k := c.known("apps", "v1", "deployments")
	made := copied(live)
	inside(made, "metadata", "annotations")[revisionNote] = fmt.Sprint(revision)
	condition(inside(made, "status"), "Progressing", "True", "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", name))
	c.write(k, live, k.update(live, made, "kube-controller-manager", "status"))
}

func (c *cluster) hasPods(set object) bool {
	for _, pod := range c.objects["/pods"] {
		if controllerOf(pod) == text(set, "metadata", "uid") {
			return true
		}
	}
	return false
}

func (c *cluster) annotate(set, notes object, replicas *int64) {
	k := c.known("apps", "v1", "replicasets")
	made := copied(set)
	for name, value := range notes {
		inside(made, "metadata", "annotations")[name] = value
	}
	if replicas != nil {
		inside(made, "spec")["replicas"] = *replicas
	}
	c.write(k, set, k.update(set, made, "kube-controller-manager", ""))
}

func (c *cluster) resize(live, set object, size int64) {
	wanted := number(live, "spec", "replicas")
	surge, _ := leeway(live, wanted)
	c.annotate(set, object{desiredNote: fmt.Sprint(wanted), mostNote: fmt.Sprint(wanted + surge)}, &size)
}

// rescale spreads another number of replicas over the sets that have pods, each in proportion to its size.
func (c *cluster) rescale(live object, sets []object, newest object, wanted int64) {
	active := []object{}
	for _, each := range sets {
		if number(each, "spec", "replicas") > 0 {
			active = append(active, each)
		}
	}
	if len(active) == 1 {
		c.resize(live, active[0], wanted)
		return
	}
	surge, _ := leeway(live, wanted)
	most := wanted + surge
	if wanted == 0 {
		most = 0
	}
	missing := most - sum(active, "spec", "replicas")
	sort.SliceStable(active, func(i, j int) bool {
		one, other := number(active[i], "spec", "replicas"), number(active[j], "spec", "replicas")
		if one != other {
			return one > other
		}
		return (text(active[i], "metadata", "uid") == text(newest, "metadata", "uid")) == (missing > 0)
	})
	sizes, added := make([]int64, len(active)), int64(0)
	for index, each := range active {
		size := number(each, "spec", "replicas")
		before, _ := strconv.ParseFloat(note(each, mostNote), 64)
		share := int64(math.Round(float64(size*most)/math.Max(before, 1))) - size
		if left := missing - added; missing > 0 && share > left || missing < 0 && share < left {
			share = left
		}
		if missing == 0 || missing > 0 && share < 0 || missing < 0 && share > 0 {
			share = 0
		}
		sizes[index], added = size+share, added+share
	}
	sizes[0] += missing - added
	for index, each := range active {
		if sizes[index] < 0 {
			sizes[index] = 0
		}
		c.resize(live, each, sizes[index])
	}
}

func (c *cluster) rollNew(live object, sets []object, newest object, wanted int64) bool {
	own := number(newest, "spec", "replicas")
	size := room(live, sets, own, wanted)
	if own > wanted {
		size = wanted
	}
	if size != own {
		c.resize(live, newest, size)
	}
	return size != own
}

func (c *cluster) rollOld(live object, sets []object, newest object, wanted int64) {
	old := []object{}
	for _, each := range sets {
		if text(each, "metadata", "uid") != text(newest, "metadata", "uid") && number(each, "spec", "replicas") > 0 {
			old = append(old, each)
		}
	}
	_, unavailable := leeway(live, wanted)
	least := wanted - unavailable
	starting := number(newest, "spec", "replicas") - number(newest, "status", "availableReplicas")
	most := sum(sets, "spec", "replicas") - least - starting
	if len(old) == 0 || most <= 0 {
		return
	}
	sort.SliceStable(old, func(i, j int) bool {
		one, _ := strconv.Atoi(note(old[i], revisionNote))
		other, _ := strconv.Atoi(note(old[j], revisionNote))
		return one < other
	})
	spare := sum(sets, "status", "availableReplicas") - least
	for _, each := range old {
		size, available := number(each, "spec", "replicas"), number(each, "status", "availableReplicas")
		gone := size - available
		if gone > most {
			gone = most
		}
		most -= gone
		if extra := spare; extra > 0 && available > 0 && gone == size-available {
			if extra > available {
				extra = available
			}
			gone, spare = gone+extra, spare-extra
		}
		if gone > 0 {
			c.resize(live, each, size-gone)
		}
	}
}

// ---- status

// condition sets one; what did not change stays where it is.
func condition(status object, kind, state, reason, message string) {
	kept, since := []interface{}{}, now()
	for _, each := range list(status, "conditions") {
		if text(each, "type") != kind {
			kept = append(kept, each)
			continue
		}
		if text(each, "status") == state && text(each, "reason") == reason {
			return
		}
		if text(each, "status") == state {
			since = text(each, "lastTransitionTime")
		}
	}
	status["conditions"] = append(kept, object{"type": kind, "status": state, "lastUpdateTime": now(), "lastTransitionTime": since,
		"reason": reason, "message": message})
}

func (c *cluster) status(live, newest object) {
	k := c.known("apps", "v1", "deployments")
	live = c.find(k, text(live, "metadata", "namespace"), text(live, "metadata", "name"))
	sets := []object{}
	for _, each := range c.sorted("apps/replicasets") {
		if controllerOf(each) == text(live, "metadata", "uid") {
			sets = append(sets, each)
		}
		if text(each, "metadata", "uid") == text(newest, "metadata", "uid") {
			newest = each
		}
	}
	status := object{"observedGeneration": number(live, "metadata", "generation")}
	wanted := number(live, "spec", "replicas")
	available := sum(sets, "status", "availableReplicas")
	for name, count := range map[string]int64{"replicas": sum(sets, "status", "replicas"),
		"updatedReplicas": number(newest, "status", "replicas"), "readyReplicas": sum(sets, "status", "readyReplicas"),
		"availableReplicas": available, "unavailableReplicas": sum(sets, "spec", "replicas") - available} {
		if count > 0 {
			status[name] = count
		}
	}
	if conditions := list(live, "status", "conditions"); conditions != nil {
		status["conditions"] = clone(conditions)
	}
	if _, unavailable := leeway(live, wanted); available >= wanted-unavailable {
		condition(status, "Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		condition(status, "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	name, before := text(newest, "metadata", "name"), mapped(live, "status")
	updated := number(status, "updatedReplicas")
	complete := updated == wanted && number(status, "replicas") == wanted && available == wanted
	progressed := updated > number(before, "updatedReplicas") ||
		number(status, "replicas")-updated < number(before, "replicas")-number(before, "updatedReplicas") ||
		available > number(before, "availableReplicas") || number(status, "readyReplicas") > number(before, "readyReplicas")
	done := false
	for _, each := range list(before, "conditions") {
		done = done || text(each, "reason") == "NewReplicaSetAvailable" && number(status, "replicas") == updated
	}
	switch {
	case done:
	case complete:
		condition(status, "Progressing", "True", "NewReplicaSetAvailable",
			fmt.Sprintf("ReplicaSet %q has successfully progressed.", name))
	case progressed:
		condition(status, "Progressing", "True", "ReplicaSetUpdated", fmt.Sprintf("ReplicaSet %q is progressing.", name))
	}
	failure := object{}
	for _, each := range list(newest, "status", "conditions") {
		if text(each, "type") == "ReplicaFailure" {
			failure = each.(object)
		}
	}
	if len(failure) > 0 {
		condition(status, "ReplicaFailure", "True", text(failure, "reason"), text(failure, "message"))
	} else {
		kept := []interface{}{}
		for _, each := range list(status, "conditions") {
			if text(each, "type") != "ReplicaFailure" {
				kept = append(kept, each)
			}
		}
		status["conditions"] = kept
	}
	c.setStatus(k, live, status)
}
