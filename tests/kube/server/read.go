package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"
)

// selects says whether an object has the labels and fields that a request asks for.
func (r *request) selects(made object) bool {
	return labelled(mapped(made, "metadata", "labels"), r.query.Get("labelSelector")) && r.fielded(made)
}

func labelled(labels object, selector string) bool {
	for _, each := range splitSelector(selector) {
		each = strings.TrimSpace(each)
		name, rest, set := strings.Cut(each, " ")
		value, has := labels[strings.TrimPrefix(name, "!")]
		switch {
		case set && (strings.HasPrefix(rest, "in ") || strings.HasPrefix(rest, "notin ")):
			among := false
			for _, one := range strings.Split(strings.Trim(rest[strings.Index(rest, "("):], "()"), ",") {
				among = among || has && value == strings.TrimSpace(one)
			}
			if among == strings.HasPrefix(rest, "notin ") {
				return false
			}
		case strings.Contains(each, "!="):
			key, unwanted, _ := strings.Cut(each, "!=")
			if labels[key] == unwanted {
				return false
			}
		case strings.Contains(each, "="):
			key, wanted, _ := strings.Cut(strings.Replace(each, "==", "=", 1), "=")
			if labels[key] != wanted {
				return false
			}
		case has == strings.HasPrefix(name, "!"):
			return false
		}
	}
	return true
}

// splitSelector splits at commas that are not within parentheses.
func splitSelector(selector string) []string {
	made, depth, start := []string{}, 0, 0
	for index, each := range selector {
		switch {
		case each == '(':
			depth++
		case each == ')':
			depth--
		case each == ',' && depth == 0:
			made, start = append(made, selector[start:index]), index+1
		}
	}
	if start < len(selector) {
		made = append(made, selector[start:])
	}
	return made
}

func (r *request) fielded(made object) bool {
	for _, each := range strings.Split(r.query.Get("fieldSelector"), ",") {
		if each == "" {
			continue
		}
		not := strings.Contains(each, "!=")
		name, wanted, _ := strings.Cut(strings.Replace(strings.Replace(each, "!=", "=", 1), "==", "=", 1), "=")
		found := at(made, strings.Split(name, ".")...)
		if found == nil {
			found = ""
		}
		if (fmt.Sprint(found) == wanted) == not {
			return false
		}
	}
	return true
}

func (r *request) partial() bool {
	return strings.Contains(r.asked("Accept"), "as=PartialObjectMetadata")
}

func (r *request) list() (int, interface{}, error) {
	c, k := r.cluster, r.kind
	start, version := "", c.version
	if token := r.query.Get("continue"); token != "" {
		var err error
		if start, version, err = c.readContinue(token); err != nil {
			return 0, nil, err
		}
	}
	if r.query.Get("resourceVersionMatch") == "Exact" {
		if wanted, _ := strconv.ParseInt(r.query.Get("resourceVersion"), 10, 64); wanted <= c.compacted {
			return 0, nil, refuse(410, "Expired", "The resourceVersion for the provided list is too old.", nil)
		}
	}
	keys := []string{}
	for key, made := range c.objects[k.key()] {
		namespace, name, _ := strings.Cut(key, "/")
		if r.namespace != "" && namespace != r.namespace || !r.selects(made) {
			continue
		}
		if r.namespace != "" {
			key = name
		}
		if key+"\x00" > start {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	metadata := object{"resourceVersion": fmt.Sprint(version)}
	if limit, _ := strconv.Atoi(r.query.Get("limit")); limit > 0 && len(keys) > limit {
		metadata["continue"] = continueToken(version, keys[limit-1]+"\x00")
		if r.query.Get("labelSelector") == "" && r.query.Get("fieldSelector") == "" {
			metadata["remainingItemCount"] = int64(len(keys) - limit)
		}
		keys = keys[:limit]
	}
	items := []interface{}{}
	for _, key := range keys {
		if r.namespace != "" {
			key = place(r.namespace, key)
		}
		made := c.objects[k.key()][key]
		switch {
		case r.partial():
			items = append(items, partial(made))
		case k.definition != nil:
			items = append(items, made)
		default:
			item := object{}
			for name, each := range made {
				if name != "kind" && name != "apiVersion" {
					item[name] = each
				}
			}
			items = append(items, item)
		}
	}
	if r.partial() {
		return 200, object{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
			"items": items}, nil
	}
	return 200, object{"kind": k.name + "List", "apiVersion": k.apiVersion, "metadata": metadata, "items": items}, nil
}

func partial(made object) object {
	return object{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
}

type continued struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

func continueToken(version int64, start string) string {
	raw, _ := json.Marshal(continued{"meta.k8s.io/v1", version, start})
	return base64.RawURLEncoding.EncodeToString(raw)
}

const tooOld = "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
	"the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing " +
	"with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the " +
	"time the first chunk was returned and now may show up in the list."

func (c *cluster) readContinue(token string) (string, int64, error) {
	var read continued
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(raw, &read)
	}
	if err != nil {
		return "", 0, refuse(400, "BadRequest", fmt.Sprintf("invalid continue token: continue key is not valid: %v", err), nil)
	}
	if read.Revision >= 0 && read.Revision <= c.compacted {
		refused := refuse(410, "Expired", tooOld, nil)
		refused.body["metadata"] = object{"continue": continueToken(-1, read.Start)}
		return "", 0, refused
	}
	if read.Revision < 0 {
		return read.Start, c.version, nil
	}
	return read.Start, read.Revision, nil
}

// ---- watches

func (r *request) watch() {
	c, k := r.cluster, r.kind
	seconds, err := strconv.ParseFloat(r.query.Get("timeoutSeconds"), 64)
	if err != nil {
		seconds = 1800
	}
	timeout := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timeout.Stop()
	bookmarks := time.NewTicker(time.Second)
	defer bookmarks.Stop()
	if r.query.Get("allowWatchBookmarks") != "true" {
		bookmarks.Stop()
	}
	from, _ := strconv.ParseInt(r.query.Get("resourceVersion"), 10, 64)
	r.Header_().Set("Content-Type", "application/json")
	r.WriteHeader(200)
	r.flush()
	c.Lock()
	if from > 0 && from < c.forgets {
		defer c.Unlock()
		r.send("ERROR", refuse(410, "Expired", fmt.Sprintf("too old resource version: %d (%d)", from, c.forgets), nil).body)
		return
	}
	next, first := 0, []object{}
	if from == 0 {
		next = len(c.events)
		for key, made := range c.objects[k.key()] {
			if namespace, _, _ := strings.Cut(key, "/"); r.namespace == "" || namespace == r.namespace {
				first = append(first, made)
			}
		}
		sort.Slice(first, func(left, right int) bool {
			one, other := first[left], first[right]
			return place(text(one, "metadata", "namespace"), text(one, "metadata", "name")) <
				place(text(other, "metadata", "namespace"), text(other, "metadata", "name"))
		})
	}
	c.Unlock()
	for _, made := range first {
		if r.selects(made) && !r.sendObject("ADDED", made) {
			return
		}
	}
	for {
		c.Lock()
		happened, woken, version := c.events[next:], c.woken, c.version
		next = len(c.events)
		c.Unlock()
		for _, each := range happened {
			if each.kind == k.key() && each.version > from && !r.tell(each) {
				return
			}
		}
		select {
		case <-woken:
		case <-timeout.C:
			return
		case <-r.Request.Context().Done():
			return
		case <-bookmarks.C:
			bookmarks.Reset(time.Minute)
			if !r.send("BOOKMARK", object{"kind": k.name, "apiVersion": k.apiVersion, "metadata": object{
				"resourceVersion": fmt.Sprint(version)}}) {
				return
			}
		}
	}
}

// tell says of a change what the watch must hear: an object that comes into its selector is added, one that leaves it deleted.
func (r *request) tell(happened event) bool {
	made, before := happened.made, happened.before
	if r.namespace != "" && text(made, "metadata", "namespace") != r.namespace {
		return true
	}
	is, was := r.selects(made), before != nil && r.selects(before)
	switch {
	case happened.what == "DELETED":
		return !was || r.sendObject("DELETED", made)
	case is && was:
		return r.sendObject("MODIFIED", made)
	case is:
		return r.sendObject("ADDED", made)
	case was:
		gone := copied(before)
		inside(gone, "metadata")["resourceVersion"] = fmt.Sprint(happened.version)
		return r.sendObject("DELETED", gone)
	}
	return true
}

func (r *request) sendObject(what string, made object) bool {
	if r.partial() {
		made = partial(made)
	}
	return r.send(what, made)
}

func (r *request) send(what string, made object) bool {
	_, err := io.WriteString(r.ResponseWriter, string(written(object{"type": what, "object": made}))+"\n")
	r.flush()
	return err == nil
}

func (r *request) flush() {
	if flusher, can := r.ResponseWriter.(http.Flusher); can {
		flusher.Flush()
	}
}
