package main

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func (c *cluster) plainData(which string, found object) object {
	made := object{}
	for name, each := range mapped(found, "data") {
		if which == "/secrets" {
			raw, _ := base64.StdEncoding.DecodeString(fmt.Sprint(each))
			each = string(raw)
		}
		made[name] = each
	}
	return made
}

// run starts a pod's container again and again, until the pod is deleted.
func (r *runner) run(pod object) {
	defer r.node.over(r)
	container := list(pod, "spec", "containers")[0].(object)
	grace := time.Duration(number(pod, "spec", "terminationGracePeriodSeconds")) * time.Second
	pulls := 0
	for {
		settings, err := r.node.settings()
		if err != nil {
			settings = object{}
		}
		if r.wait == 0 {
			r.wait = time.Duration(number(settings, "backoff_ms")) * time.Millisecond
		}
		if r.wait == 0 {
			r.wait = 10 * time.Second
		}
		image := text(container, "image")
		_, digest, _ := strings.Cut(image, "@")
		known := mapped(settings, "images", digest)
		environment, missing := r.node.environment(pod, container, r.address)
		switch {
		case known == nil:
			said := fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: not found", image)
			if pulls++; pulls == 1 {
				r.node.tellPod(pod, "Failed", "Failed to pull image \""+image+"\": "+said)
			}
			reason := "ErrImagePull"
			if pulls > 1 {
				reason, said = "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q", image)
			}
			r.waiting(container, reason, said)
		case missing != "":
			r.waiting(container, "CreateContainerConfigError", missing)
		default:
			done := r.start(container, known, environment)
			if done == nil {
				r.waiting(container, "RunContainerError", "the program cannot be started")
				break
			}
			if r.attend(pod, container, done, grace) {
				return
			}
			r.waiting(container, "CrashLoopBackOff", fmt.Sprintf("back-off %v restarting failed container=%s pod=%s_%s(%s)", r.wait,
				text(container, "name"), r.name, r.namespace, r.uid))
			r.node.tellPod(pod, "BackOff", "Back-off restarting failed container")
		}
		select {
		case <-r.ending:
			return
		case <-time.After(r.wait):
		}
		if r.wait *= 2; r.wait > 5*time.Minute {
			r.wait = 5 * time.Minute
		}
	}
}

func (n *node) tellPod(pod object, reason, message string) {
	n.cluster.Lock()
	defer n.cluster.Unlock()
	n.cluster.tell("Pod", pod, "Warning", reason, message, "kubelet")
}

// start begins a process; what comes back says when it has ended, nil if it cannot be started.
func (r *runner) start(container, known object, environment []string) chan error {
	r.shown = r.address
	if elsewhere := text(known, "advertise"); elsewhere != "" {
		r.shown = elsewhere
	}
	argv := []string{}
	for _, each := range append(append([]interface{}{}, list(known, "command")...), list(container, "args")...) {
		argv = append(argv, strings.ReplaceAll(fmt.Sprint(each), "{ip}", r.address))
	}
	command := exec.Command(argv[0], argv[1:]...)
	command.Env = environment
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := os.Create(r.log(r.started + 1))
	if err != nil {
		return nil
	}
	defer out.Close()
	command.Stdout, command.Stderr = out, out
	began := make(chan error)
	r.node.starts <- func() { began <- command.Start() }
	if err := <-began; err != nil {
		fmt.Fprintln(out, err)
		return nil
	}
	r.lock.Lock()
	r.started++
	r.process = command.Process
	r.lock.Unlock()
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	return done
}

// attend watches over a process until it ends; it says whether that is because the pod was deleted.
func (r *runner) attend(pod, container object, done chan error, grace time.Duration) bool {
	began, fine := now(), at(container, "readinessProbe") == nil
	startup := mapped(container, "startupProbe")
	started := startup == nil
	report := func() {
		r.node.change(r, func(status object) {
			status["phase"], status["hostIP"] = "Running", "127.0.0.1"
			status["podIP"], status["podIPs"] = r.shown, []interface{}{object{"ip": r.shown}}
			preset(status, "startTime", began)
			r.conditions(status, fine && started)
			r.container(status, container, object{"running": object{"startedAt": began}}, fine && started, started)
		})
	}
	report()
	readiness, liveness := probing(container, "readinessProbe"), probing(container, "livenessProbe")
	beginning := probing(container, "startupProbe")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ending := r.ending
	deleted := false
	var kill <-chan time.Time
	for {
		select {
		case err := <-done:
			r.lock.Lock()
			r.process = nil
			r.lock.Unlock()
			code, reason := exitCode(err), "Error"
			if code == 0 {
				reason = "Completed"
			}
			r.previous = object{"exitCode": int64(code), "reason": reason, "startedAt": began, "finishedAt": now()}
			r.restarts++
			return deleted
		case <-ending:
			deleted, ending = true, nil
			r.signal(syscall.SIGTERM)
			kill = time.After(grace)
		case <-kill:
			r.signal(syscall.SIGKILL)
		case <-tick.C:
			if deleted {
				continue
			}
			if !started {
				if verdict, new_ := beginning.look(r.address); new_ && verdict {
					started = true
					report()
				} else if beginning.failed() {
					r.signal(syscall.SIGKILL)
				}
				continue
			}
			if verdict, new_ := readiness.look(r.address); new_ && (verdict || readiness.failed()) && verdict != fine {
				fine = verdict
				report()
			}
			if _, new_ := liveness.look(r.address); new_ && liveness.failed() {
				r.signal(syscall.SIGKILL)
			}
		}
	}
}

func exitCode(err error) int {
	failed, is := err.(*exec.ExitError)
	if !is {
		return 0
	}
	if state, is := failed.Sys().(syscall.WaitStatus); is && state.Signaled() {
		return 128 + int(state.Signal())
	}
	return failed.ExitCode()
}

func (r *runner) waiting(container object, reason, message string) {
	r.node.change(r, func(status object) {
		preset(status, "phase", "Pending")
		r.conditions(status, false)
		r.container(status, container, object{"waiting": object{"reason": reason, "message": message}}, false, false)
	})
}

func (r *runner) conditions(status object, ready bool) {
	state, reason, message := "True", "", ""
	if !ready {
		state, reason, message = "False", "ContainersNotReady", "containers with unready status"
	}
	setPodCondition(status, "Initialized", "True", "", "")
	setPodCondition(status, "Ready", state, reason, message)
	setPodCondition(status, "ContainersReady", state, reason, message)
}

func (r *runner) container(status, container, state object, ready, started bool) {
	made := object{"name": text(container, "name"), "image": text(container, "image"), "imageID": text(container, "image"),
		"ready": ready, "started": started, "restartCount": r.restarts, "state": state, "lastState": object{}}
	if r.previous != nil {
		made["lastState"] = object{"terminated": r.previous}
	}
	status["containerStatuses"] = []interface{}{made}
}

// A prober looks at a process as a probe says, in the background.
type prober struct {
	probe    object
	results  chan bool
	next     time.Time
	looking  bool
	failures int64
}

func probing(container object, which string) *prober {
	probe := mapped(container, which)
	made := &prober{probe: probe, results: make(chan bool, 1)}
	if probe != nil {
		made.next = time.Now().Add(time.Duration(number(probe, "initialDelaySeconds")) * time.Second)
	}
	return made
}

func (p *prober) failed() bool {
	return p.probe != nil && p.failures >= number(p.probe, "failureThreshold")
}

// look is the newest result, and whether there is one since it was asked last.
func (p *prober) look(address string) (bool, bool) {
	if p.probe == nil {
		return true, false
	}
	select {
	case fine := <-p.results:
		p.looking = false
		p.failures++
		if fine {
			p.failures = 0
		}
		return fine, true
	default:
	}
	if !p.looking && time.Now().After(p.next) {
		p.looking = true
		p.next = time.Now().Add(time.Duration(number(p.probe, "periodSeconds")) * time.Second)
		go func() { p.results <- probed(p.probe, address) }()
	}
	return false, false
}

func probed(probe object, address string) bool {
	timeout := time.Duration(number(probe, "timeoutSeconds")) * time.Second
	if get := mapped(probe, "httpGet"); get != nil {
		client := http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}
		answer, err := client.Get(fmt.Sprintf("http://%s:%v%s", address, get["port"], text(get, "path")))
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode >= 200 && answer.StatusCode < 400
	}
	if socket := mapped(probe, "tcpSocket"); socket != nil {
		connection, err := net.DialTimeout("tcp", fmt.Sprintf("%s:%v", address, socket["port"]), timeout)
		if err != nil {
			return false
		}
		connection.Close()
	}
	return true
}
