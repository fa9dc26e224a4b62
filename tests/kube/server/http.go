package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

const mostBytes = 3145728

// One request, on its way to an answer.
type request struct {
	*cluster
	http.ResponseWriter
	*http.Request
	query            url.Values
	user             user
	raw              []byte
	kind             *kind
	namespace, name_ string
	subresource      string
	quiet            bool // the answer was written
}

func (c *cluster) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	r := &request{cluster: c, ResponseWriter: to, Request: from, query: from.URL.Query()}
	raw, err := io.ReadAll(io.LimitReader(from.Body, mostBytes+1))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, from.Body)
	r.raw = raw
	if strings.HasPrefix(from.URL.Path, "/test/") {
		r.switched()
		return
	}
	if r.fails() {
		return
	}
	code, body, err := r.serve()
	if refused, is := err.(*refusal); is {
		if refused.text != "" {
			r.answerText(refused.code, refused.text, refused.headers)
		} else {
			r.answer(refused.code, refused.body)
		}
	} else if err != nil {
		r.answer(500, refuse(500, "InternalError", err.Error(), nil).body)
	} else if !r.quiet {
		if said, is := body.(string); is {
			r.answerText(code, said, nil)
		} else {
			r.answer(code, body)
		}
	}
}

func (r *request) answer(code int, body interface{}) {
	raw, err := json.Marshal(body)
	if err != nil {
		code, raw = 500, []byte(err.Error())
	}
	r.Header_().Set("Content-Type", "application/json")
	r.Header_().Set("Content-Length", strconv.Itoa(len(raw)))
	r.WriteHeader(code)
	_, _ = r.ResponseWriter.Write(raw)
}

func (r *request) Header_() http.Header { return r.ResponseWriter.Header() }

func (r *request) asked(name string) string { return r.Request.Header.Get(name) }

func (r *request) answerText(code int, said string, headers map[string]string) {
	r.Header_().Set("Content-Type", "text/plain; charset=utf-8")
	for name, each := range headers {
		r.Header_().Set(name, each)
	}
	r.WriteHeader(code)
	_, _ = io.WriteString(r.ResponseWriter, said)
}

// ---- switches of the tests

func (r *request) switched() {
	c, body := r.cluster, object{}
	if read, err := decode(r.raw); err == nil {
		body, _ = read.(object)
	}
	c.Lock()
	defer c.Unlock()
	answer := object{}
	switch r.URL.Path {
	case "/test/fail":
		c.failures = append(c.failures, body)
	case "/test/compact":
		c.compacted = c.version
		if body["watches"] != false {
			c.forgets = c.version
		}
	case "/test/limit":
		c.mostInFlight = number(body, "inflight")
	case "/test/hold":
		c.holds, c.pauses = truth(body, "definitions"), truth(body, "controllers")
		close(c.woken)
		c.woken = make(chan struct{})
	case "/test/step":
		c.pass()
	case "/test/log":
		answer["requests"] = append([]string{}, c.log...)
	case "/test/forget":
		c.log = nil
		if truth(body, "failures") {
			c.failures = nil
		}
	case "/test/calls":
		for user, calls := range c.calls {
			all := []string{}
			for each := range calls {
				all = append(all, each)
			}
			sort.Strings(all)
			answer[user] = all
		}
	case "/test/tokens":
		c.longestToken = number(body, "seconds")
		if truth(body, "end") {
			c.tokens = map[string]issued{}
		}
	case "/test/version":
		answer["version"] = c.version
	case "/test/idle":
		for c.controls && c.idle != c.version {
			woken := c.rested
			c.Unlock()
			<-woken
			c.Lock()
		}
	default:
		r.answerText(404, "no such switch\n", nil)
		return
	}
	r.answer(200, answer)
}

// fails makes a request fail that a test wants to fail, and notes every request.
func (r *request) fails() bool {
	c := r.cluster
	c.Lock()
	c.log = append(c.log, r.Method+" "+r.RequestURI)
	var chosen object
	for index, each := range c.failures {
		if method := text(each, "method"); method != "" && method != r.Method || !strings.Contains(r.URL.Path, text(each, "path")) {
			continue
		}
		if after := number(each, "after"); after > 0 {
			each["after"] = after - 1
			continue
		}
		preset(each, "count", int64(1))
		each["count"] = number(each, "count") - 1
		if number(each, "count") <= 0 {
			c.failures = append(append([]object{}, c.failures[:index]...), c.failures[index+1:]...)
		}
		chosen = each
		break
	}
	c.Unlock()
	if chosen == nil {
		return false
	}
	if pid := number(chosen, "kill"); pid > 0 {
		syscall.Kill(int(pid), syscall.SIGKILL)
		if truth(chosen, "done") {
			return false // what was asked for happens all the same
		}
	}
	if truth(chosen, "endless") {
		r.Header_().Set("Content-Type", "application/json")
		r.WriteHeader(200)
		for piece := []byte(strings.Repeat(" ", 1<<16)); ; {
			if _, err := r.ResponseWriter.Write(piece); err != nil {
				return true
			}
		}
	}
	if half := text(chosen, "half"); half != "" {
		if taken, _, err := r.ResponseWriter.(http.Hijacker).Hijack(); err == nil {
			fmt.Fprintf(taken, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n%s", half)
			taken.Close()
		}
		return true
	}
	code := int(number(chosen, "status"))
	switch body := chosen["body"].(type) {
	case string:
		r.answerText(code, body, texts(chosen, "headers"))
		return true
	case object:
		for name, each := range texts(chosen, "headers") {
			r.Header_().Set(name, each)
		}
		r.answer(code, body)
		return true
	}
	if truth(chosen, "cut") || number(chosen, "kill") > 0 {
		if taken, _, err := r.ResponseWriter.(http.Hijacker).Hijack(); err == nil {
			taken.Close()
		}
	} else if code == 429 {
		r.answerText(429, tooMany().text, tooMany().headers)
	} else {
		for name, each := range texts(chosen, "headers") {
			r.Header_().Set(name, each)
		}
		r.answer(code, refuse(code, "", "a failure of the test", nil).body)
	}
	return true
}

func texts(value object, name string) map[string]string {
	made := map[string]string{}
	for key, each := range mapped(value, name) {
		made[key] = fmt.Sprint(each)
	}
	return made
}

// ---- routes

func (r *request) serve() (int, interface{}, error) {
	c := r.cluster
	path := r.URL.Path
	c.Lock()
	full := c.mostInFlight >= 0 && c.inFlight >= c.mostInFlight
	user, err := c.authenticate(r.asked("Authorization"))
	c.Unlock()
	if err != nil {
		return 0, nil, err
	}
	r.user = user
	if full {
		return 0, nil, tooMany()
	}
	if len(r.raw) > mostBytes {
		return 0, nil, refuse(413, "RequestEntityTooLarge", fmt.Sprintf("Request entity too large: limit is %d", mostBytes), nil)
	}
	if path == "/readyz" || path == "/healthz" || path == "/livez" {
		return 200, "ok", nil
	}
	c.Lock()
	recorded := mapped(c.discovery, path)
	c.Unlock()
	if recorded != nil && r.Method == "GET" {
		if path == "/apis" {
			c.Lock()
			defer c.Unlock()
			return 200, c.withCustomGroups(recorded), nil
		}
		return 200, recorded, nil
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var group, version string
	switch {
	case parts[0] == "api" && len(parts) >= 2:
		version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) >= 3:
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return 0, nil, pageNotFound()
	}
	if len(parts) == 0 {
		return r.listed(group, version)
	}
	if group == "authorization.k8s.io" || group == "authentication.k8s.io" {
		return r.review(group, version, parts[0])
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		r.namespace, parts = parts[1], parts[2:]
	}
	c.Lock()
	r.kind, err = c.kind(group, version, parts[0])
	c.Unlock()
	if err != nil {
		return 0, nil, err
	}
	if len(parts) > 1 {
		r.name_ = parts[1]
	}
	if len(parts) > 2 {
		r.subresource = parts[2]
	}
	if !acceptable(r.asked("Accept")) {
		return 0, nil, refuse(406, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: application/json, "+
			"application/yaml, application/vnd.kubernetes.protobuf", object{})
	}
	c.Lock()
	err = r.allowed(r.verb())
	c.Unlock()
	if err != nil {
		return 0, nil, err
	}
	if r.verb() == "watch" {
		r.quiet = true
		r.watch()
		return 0, nil, nil
	}
	c.Lock()
	c.inFlight++
	defer func() {
		c.inFlight--
		c.Unlock()
	}()
	switch {
	case r.verb() == "list":
		return r.list()
	case r.subresource == "log":
		return r.logs()
	case r.subresource == "scale":
		return r.scale()
	case r.subresource == "token" && r.Method == "POST":
		return r.token()
	case r.subresource == "binding" && r.Method == "POST":
		return r.bind()
	case r.Method == "GET":
		found := c.find(r.kind, r.namespace, r.name_)
		if found == nil {
			return 0, nil, r.kind.notFound(r.name_)
		}
		return 200, found, nil
	case r.Method == "DELETE":
		return r.delete()
	}
	return r.change()
}

func (r *request) listed(group, version string) (int, interface{}, error) {
	if r.Method != "GET" {
		return 0, nil, refuse(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", object{})
	}
	r.cluster.Lock()
	defer r.cluster.Unlock()
	resources, served := r.cluster.resources(group, version)
	if !served {
		return 0, nil, pageNotFound()
	}
	if resources == nil {
		resources = []interface{}{}
	}
	return 200, object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group + "/" + version,
		"resources": resources}, nil
}

func (c *cluster) withCustomGroups(recorded object) object {
	groups := append([]interface{}{}, list(recorded, "groups")...)
	for served := range c.custom {
		name, version, _ := strings.Cut(served, "/")
		one := object{"groupVersion": served, "version": version}
		groups = append(groups, object{"name": name, "versions": []interface{}{one}, "preferredVersion": one})
	}
	made := object{}
	for name, each := range recorded {
		made[name] = each
	}
	made["groups"] = groups
	return made
}

func acceptable(said string) bool {
	if said == "" {
		return true
	}
	for _, each := range []string{"json", "yaml", "*/*", "protobuf", "application/*"} {
		if strings.Contains(said, each) {
			return true
		}
	}
	return false
}

func (r *request) verb() string {
	switch r.Method {
	case "GET":
		if r.name_ != "" {
			return "get"
		}
		if each := r.query.Get("watch"); each == "1" || each == "true" {
			return "watch"
		}
		return "list"
	case "POST":
		return "create"
	case "PUT":
		return "update"
	case "PATCH":
		return "patch"
	}
	if r.name_ == "" {
		return "deletecollection"
	}
	return "delete"
}
