package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A node runs each pod that fits as a process on a loopback address of its own, and reports as a kubelet does. Its file is JSON,
// read again for each container that starts:
//
//	{"images": {"sha256:…": {"command": ["python3", "/app.py", "{ip}"]}}, "capacity": {"cpu": 4}, "backoff_ms": 200}
//
// An image is known by its digest; {ip} becomes the pod's address; with "advertise" another is reported. Probes, environment, exit codes, back-off (doubling from
// backoff_ms, a kubelet's is 10 s), grace periods and logs are as in a cluster; volumes are not mounted.
type node struct {
	cluster *cluster
	name    string
	file    string
	folder  string
	network string
	next    int
	running map[string]*runner // by the uid of the pod
	starts  chan func()        // processes start on one thread, whose end they do not survive
}

func newNode(c *cluster, file, folder string) (*node, error) {
	made := &node{cluster: c, name: "test-node", file: file, folder: filepath.Join(folder, "pods"),
		network: fmt.Sprintf("127.%d.%d", 64+os.Getpid()%128, os.Getpid()/128%250), running: map[string]*runner{}, starts: make(chan func())}
	if _, err := made.settings(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(made.folder, 0o700); err != nil {
		return nil, err
	}
	c.loopback = true
	c.Lock()
	c.write(c.known("", "v1", "nodes"), nil, object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": made.name,
		"labels": object{"kubernetes.io/hostname": made.name}}, "spec": object{}, "status": object{
		"conditions": []interface{}{object{"type": "Ready", "status": "True", "reason": "KubeletReady"}}}})
	c.Unlock()
	go func() {
		runtime.LockOSThread()
		for start := range made.starts {
			start()
		}
	}()
	return made, nil
}

func (n *node) settings() (object, error) {
	raw, err := os.ReadFile(n.file)
	if err != nil {
		return nil, err
	}
	read, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", n.file, err)
	}
	return read.(object), nil
}

func (n *node) owns(pod object) bool { return n != nil && text(pod, "spec", "nodeName") == n.name }

// said is what a pod's process wrote.
func (n *node) said(pod object, previous bool) (string, bool) {
	run := n.running[text(pod, "metadata", "uid")]
	if run == nil {
		return "", false
	}
	run.lock.Lock()
	defer run.lock.Unlock()
	started := run.started
	if previous {
		started--
	}
	raw, err := os.ReadFile(run.log(started))
	return string(raw), err == nil && started > 0
}

// watch looks after all pods whenever something has changed.
func (n *node) watch() {
	c := n.cluster
	for {
		c.Lock()
		woken := c.woken
		for _, pod := range c.sorted("/pods") {
			uid := text(pod, "metadata", "uid")
			switch {
			case text(pod, "spec", "nodeName") == "" && !ended(pod):
				n.schedule(pod)
			case n.owns(pod) && n.running[uid] == nil && !ended(pod):
				n.next++
				run := &runner{node: n, uid: uid, name: text(pod, "metadata", "name"), namespace: text(pod, "metadata", "namespace"),
					address: fmt.Sprintf("%s.%d", n.network, n.next%250+2), ending: make(chan struct{})}
				n.running[uid] = run
				go run.run(copied(pod))
			case n.owns(pod) && ended(pod):
				if run := n.running[uid]; run == nil {
					c.drop(c.known("", "v1", "pods"), pod)
				} else {
					run.once.Do(func() { close(run.ending) })
				}
			}
		}
		for uid, run := range n.running {
			if c.objects["/pods"][place(run.namespace, run.name)] == nil || text(c.objects["/pods"][place(run.namespace, run.name)],
				"metadata", "uid") != uid {
				run.once.Do(func() { close(run.ending) })
			}
		}
		c.Unlock()
		<-woken
	}
}

// cores reads "500m" or 2.
func cores(value interface{}) float64 {
	said := fmt.Sprint(value)
	var count float64
	_, _ = fmt.Sscanf(strings.TrimSuffix(said, "m"), "%g", &count)
	if strings.HasSuffix(said, "m") {
		return count / 1000
	}
	return count
}

func requested(pod object) float64 {
	all := 0.0
	for _, each := range list(pod, "spec", "containers") {
		if cpu := at(each, "resources", "requests", "cpu"); cpu != nil {
			all += cores(cpu)
		}
	}
	return all
}

func (n *node) schedule(pod object) {
	c, reason := n.cluster, ""
	settings, err := n.settings()
	if err != nil {
		return
	}
	used := requested(pod)
	for _, other := range c.objects["/pods"] {
		if n.owns(other) {
			used += requested(other)
		}
	}
	capacity := 8.0
	if said := at(settings, "capacity", "cpu"); said != nil {
		capacity = cores(said)
	}
	labels := mapped(c.objects["/nodes"][place("", n.name)], "metadata", "labels")
	if selector := mapped(pod, "spec", "nodeSelector"); len(selector) > 0 && !matches(labels, selector) {
		reason = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
	} else if used > capacity {
		reason = "0/1 nodes are available: 1 Insufficient cpu."
	}
	if reason == "" {
		c.bound(pod, n.name)
		return
	}
	made := copied(pod)
	setPodCondition(inside(made, "status"), "PodScheduled", "False", "Unschedulable", reason)
	if !same(made["status"], pod["status"]) {
		c.write(c.known("", "v1", "pods"), pod, made)
		c.tell("Pod", pod, "Warning", "FailedScheduling", reason, "default-scheduler")
	}
}

// change writes a pod's status, if the pod is still the one that runs here.
func (n *node) change(run *runner, do func(status object)) {
	c := n.cluster
	c.Lock()
	defer c.Unlock()
	k := c.known("", "v1", "pods")
	live := c.find(k, run.namespace, run.name)
	if live == nil || text(live, "metadata", "uid") != run.uid {
		return
	}
	made := copied(live)
	do(inside(made, "status"))
	if !same(made["status"], live["status"]) {
		k.complete(made, c.address)
		c.write(k, live, k.update(live, made, "kubelet", "status"))
	}
}

// over forgets a pod whose process has ended after it was deleted.
func (n *node) over(run *runner) {
	c := n.cluster
	c.Lock()
	defer c.Unlock()
	k := c.known("", "v1", "pods")
	if live := c.find(k, run.namespace, run.name); live != nil && text(live, "metadata", "uid") == run.uid {
		if finalizers := list(live, "metadata", "finalizers"); len(finalizers) == 0 {
			c.drop(k, live)
		}
	}
	delete(n.running, run.uid)
}

// environment is what a container's env and envFrom say; what they refer to must be there.
func (n *node) environment(pod, container object, address string) ([]string, string) {
	c := n.cluster
	c.Lock()
	defer c.Unlock()
	namespace := text(pod, "metadata", "namespace")
	made := []string{"PATH=" + os.Getenv("PATH"), "HOSTNAME=" + text(pod, "metadata", "name")}
	value := func(which string, from object) (object, string) {
		found := c.objects[which][place(namespace, text(from, "name"))]
		if found == nil && !truth(from, "optional") {
			return nil, fmt.Sprintf("%s %q not found", strings.TrimSuffix(strings.TrimPrefix(which, "/"), "s"), text(from, "name"))
		}
		return c.plainData(which, found), ""
	}
	for _, each := range list(container, "envFrom") {
		for field, which := range map[string]string{"configMapRef": "/configmaps", "secretRef": "/secrets"} {
			if from := mapped(each, field); from != nil {
				data, missing := value(which, from)
				if missing != "" {
					return nil, missing
				}
				for name, one := range data {
					made = append(made, text(each, "prefix")+name+"="+fmt.Sprint(one))
				}
			}
		}
	}
	for _, each := range list(container, "env") {
		name, said := text(each, "name"), text(each, "value")
		for field, which := range map[string]string{"configMapKeyRef": "/configmaps", "secretKeyRef": "/secrets"} {
			if from := mapped(each, "valueFrom", field); from != nil {
				data, missing := value(which, from)
				if missing != "" {
					return nil, missing
				}
				said = fmt.Sprint(data[text(from, "key")])
			}
		}
		switch path := text(each, "valueFrom", "fieldRef", "fieldPath"); path {
		case "":
		case "status.podIP":
			said = address
		default:
			said = fmt.Sprint(at(pod, strings.Split(path, ".")...))
		}
		made = append(made, name+"="+said)
	}
	return made, ""
}

// A runner keeps one pod's process.
type runner struct {
	node      *node
	uid, name string
	namespace string
	address   string
	shown     string // the address that is reported, which may be another
	ending    chan struct{}
	once      sync.Once
	lock      sync.Mutex
	started   int
	process   *os.Process
	restarts  int64
	previous  object
	wait      time.Duration
}

func (r *runner) log(started int) string {
	return filepath.Join(r.node.folder, fmt.Sprintf("%s-%d.log", r.uid, started))
}

func (r *runner) signal(which syscall.Signal) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.process != nil {
		_ = syscall.Kill(-r.process.Pid, which)
	}
}
