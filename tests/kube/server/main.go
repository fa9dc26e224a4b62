// The tests' Kubernetes API server: what a real one answers, as far as a deployer meets it.
//
//	server --folder DIR [--port 0] [--tls] [--settle | --controllers | --node FILE]
//
// It writes DIR/kubeconfig (a context for each user) and prints its URL. tests/kube/test_recordings.py replays recordings of a
// real server on it; it holds none of their bodies but discovery. Objects live in memory.
//
// --settle makes each Deployment ready as soon as it is seen, unless its annotation test.sluice.dev/status says otherwise
// ("never", "quota"). --controllers runs those of Deployments, ReplicaSets, EndpointSlices and owners. --node FILE runs them
// and a node, which starts each pod as a process on a loopback address of its own (node.go).
//
// Switches over HTTP, for tests: POST /test/fail {"after": n, "status": s | "cut": true, "count": c, "method": "PATCH"}, or with
// {"kill": pid}, which drops the request, too, unless {"done": true}; POST /test/compact {"watches": false}, GET /test/log (the
// requests so far), GET /test/calls (by user, "apps/deployments:get"), POST /test/limit {"inflight": n}, GET /test/idle (answered
// when the controllers have nothing to do), POST /test/hold {"definitions": true} (they are not established) or {"controllers":
// true} (they do what POST /test/step has them do, once), POST /test/tokens {"seconds": n, "end": true} (how long they live; all
// that there are end). A failure may also be {"endless": true}, {"half": "text"} (the beginning of a longer answer), or have a
// "body".
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func main() {
	port := flag.Int("port", 0, "")
	folder := flag.String("folder", "", "")
	encrypted := flag.Bool("tls", false, "")
	settles := flag.Bool("settle", false, "")
	controls := flag.Bool("controllers", false, "")
	nodeFile := flag.String("node", "", "")
	discovery := flag.String("discovery", "", "")
	flag.Parse()
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	cluster, err := newCluster(*discovery, *settles, *controls || *nodeFile != "")
	check(err)
	if *nodeFile != "" {
		cluster.node, err = newNode(cluster, *nodeFile, *folder)
		check(err)
	}
	if cluster.controls {
		go cluster.control()
	}
	if cluster.node != nil {
		go cluster.node.watch()
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	check(err)
	address := "http://" + listener.Addr().String()
	if *encrypted {
		made, err := certificate(*folder)
		check(err)
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{made}, NextProtos: []string{"http/1.1"}})
		address = "https://" + listener.Addr().String()
	}
	check(os.WriteFile(filepath.Join(*folder, "kubeconfig"), kubeconfig(address, *encrypted), 0o600))
	fmt.Println(address)
	server := http.Server{Handler: cluster, ErrorLog: log.New(io.Discard, "", 0)}
	check(server.Serve(listener))
}

// certificate makes an authority (ca.pem) and what it signs for 127.0.0.1.
func certificate(folder string) (tls.Certificate, error) {
	none := tls.Certificate{}
	sign := func(about, parent *x509.Certificate, key, with *ecdsa.PrivateKey) ([]byte, error) {
		about.NotBefore, about.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(48*time.Hour)
		return x509.CreateCertificate(rand.Reader, about, parent, &key.PublicKey, with)
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test ca"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootRaw, err := sign(root, root, rootKey, rootKey)
	if err != nil {
		return none, err
	}
	raw, err := sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, root, key, rootKey)
	if err != nil {
		return none, err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootRaw})
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, os.WriteFile(filepath.Join(folder, "ca.pem"), ca, 0o600)
}
