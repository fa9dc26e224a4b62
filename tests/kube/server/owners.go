package main

import (
	"strings"
	"time"
)

func (c *cluster) everything(do func(k *kind, made object)) {
	for key, held := range c.objects {
		group, resource, _ := strings.Cut(key, "/")
		for _, made := range held {
			version := text(made, "apiVersion")
			if k, err := c.kind(group, version[strings.LastIndex(version, "/")+1:], resource); err == nil {
				do(k, made)
			}
		}
	}
}

// collect deletes what has lost its owner, and ends foreground deletions whose dependents are gone.
func (c *cluster) collect() {
	uids, waits := map[string]bool{}, map[string]int{}
	owned := []func(){}
	c.everything(func(_ *kind, made object) { uids[text(made, "metadata", "uid")] = true })
	ending := map[string]bool{}
	c.everything(func(_ *kind, made object) {
		if ended(made) && holds(list(made, "metadata", "finalizers"), "foregroundDeletion") {
			ending[text(made, "metadata", "uid")] = true
		}
	})
	c.everything(func(k *kind, made object) {
		owners, live := list(made, "metadata", "ownerReferences"), false
		for _, each := range owners {
			uid := text(each, "uid")
			live = live || uids[uid] && !ending[uid]
			if ending[uid] {
				waits[uid]++
			}
		}
		if len(owners) > 0 && !live && !ended(made) {
			owned = append(owned, func() { c.remove(k, made, object{}) })
		}
	})
	for _, do := range owned {
		do()
	}
	c.everything(func(k *kind, made object) {
		if uid := text(made, "metadata", "uid"); ending[uid] && waits[uid] == 0 {
			c.unfinalize(k, made, "foregroundDeletion")
		}
	})
}

func (c *cluster) unfinalize(k *kind, live object, finalizer string) {
	made, left := copied(live), []interface{}{}
	for _, each := range list(live, "metadata", "finalizers") {
		if each != finalizer {
			left = append(left, each)
		}
	}
	if len(left) == 0 {
		c.drop(k, live)
		return
	}
	inside(made, "metadata")["finalizers"] = left
	c.write(k, live, made)
}

func (c *cluster) orphan(uid string) {
	c.everything(func(k *kind, live object) {
		left := []interface{}{}
		for _, each := range list(live, "metadata", "ownerReferences") {
			if text(each, "uid") != uid {
				left = append(left, each)
			}
		}
		if len(left) < len(list(live, "metadata", "ownerReferences")) {
			made := copied(live)
			inside(made, "metadata")["ownerReferences"] = left
			c.write(k, live, made)
		}
	})
}

// finishSpace empties a namespace that ends, and ends it when it is empty.
func (c *cluster) finishSpace(name string) {
	left := 0
	c.everything(func(k *kind, made object) {
		if text(made, "metadata", "namespace") == name && c.remove(k, made, object{}) != nil {
			left++
		}
	})
	k := c.known("", "v1", "namespaces")
	if live := c.find(k, "", name); live != nil && left == 0 {
		c.drop(k, live)
	} else if left > 0 {
		c.later(200*time.Millisecond, func() { c.finishSpace(name) })
	}
}
