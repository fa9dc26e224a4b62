package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"
)

// Who asks, and what they may: two users of the tests, "admin" with every right and "dev" with those that role bindings give,
// and the service accounts for which tokens were issued.
type user struct {
	name   string
	groups []string
}

type issued struct {
	user  user
	until time.Time
}

var users = map[string]string{"admin-token": "admin", "dev-token": "dev"}

// Rights that every user has.
var everybody = []object{
	parse(`{"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews",
		"selfsubjectrulesreviews"]}`),
	parse(`{"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
		"/openapi/*", "/readyz", "/version", "/version/"]}`),
	parse(`{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"]}`),
}

func (c *cluster) authenticate(said string) (user, error) {
	if said == "" {
		return user{"system:anonymous", []string{"system:unauthenticated"}}, nil
	}
	token := strings.TrimPrefix(said, "Bearer ")
	if name := users[token]; name != "" {
		groups := []string{"system:authenticated"}
		if name == "admin" {
			groups = append(groups, "system:masters")
		}
		return user{name, groups}, nil
	}
	if found, is := c.tokens[token]; is && time.Now().Before(found.until) {
		return found.user, nil
	}
	return user{}, refuse(401, "Unauthorized", "Unauthorized", nil)
}

// rules are those that bindings give a user in a namespace ("" for the whole cluster).
func (c *cluster) rules(who user, namespace string) []object {
	found := []object{}
	bound := func(binding object) bool {
		for _, each := range list(binding, "subjects") {
			name := text(each, "name")
			switch text(each, "kind") {
			case "User":
				if name == who.name {
					return true
				}
			case "Group":
				for _, group := range who.groups {
					if group == name {
						return true
					}
				}
			case "ServiceAccount":
				if who.name == "system:serviceaccount:"+text(each, "namespace")+":"+name {
					return true
				}
			}
		}
		return false
	}
	role := func(binding object) object {
		kind, name := "clusterroles", place("", text(binding, "roleRef", "name"))
		if text(binding, "roleRef", "kind") == "Role" {
			kind, name = "roles", place(text(binding, "metadata", "namespace"), text(binding, "roleRef", "name"))
		}
		return c.all("rbac.authorization.k8s.io", "v1", kind)[name]
	}
	for _, each := range []string{"clusterrolebindings", "rolebindings"} {
		for key, binding := range c.all("rbac.authorization.k8s.io", "v1", each) {
			if (each == "clusterrolebindings" || namespace != "" && strings.HasPrefix(key, namespace+"/")) && bound(binding) {
				for _, rule := range list(role(binding), "rules") {
					found = append(found, rule.(object))
				}
			}
		}
	}
	return found
}

func (c *cluster) may(who user, verb, group, resource, subresource, namespace, name string) bool {
	for _, each := range who.groups {
		if each == "system:masters" {
			return true
		}
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	for _, rule := range append(c.rules(who, namespace), everybody[0]) {
		among := func(field, wanted string) bool {
			all := list(rule, field)
			return holds(all, wanted) || holds(all, "*")
		}
		named := len(list(rule, "resourceNames")) == 0 || holds(list(rule, "resourceNames"), name)
		if among("verbs", verb) && among("apiGroups", group) && among("resources", resource) && named {
			return true
		}
	}
	return false
}

// allowed notes the call, and says whether the user may make it.
func (r *request) allowed(verb string) error {
	k, called := r.kind, r.kind.group+"/"+r.kind.resource
	if r.subresource != "" {
		called += "/" + r.subresource
	}
	if r.cluster.calls[r.user.name] == nil {
		r.cluster.calls[r.user.name] = map[string]bool{}
	}
	r.cluster.calls[r.user.name][called+":"+verb] = true
	if r.cluster.may(r.user, verb, k.group, k.resource, r.subresource, r.namespace, r.name_) {
		return nil
	}
	where := "at the cluster scope"
	if r.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", r.namespace)
	}
	what, asked := k.title(), k.resource
	if r.name_ != "" {
		what += fmt.Sprintf(" %q", r.name_)
	}
	if r.subresource != "" {
		asked += "/" + r.subresource
	}
	return refuse(403, "Forbidden", fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s", what,
		r.user.name, verb, asked, k.group, where), k.details(r.name_))
}

// review answers what somebody asks about rights and tokens.
func (r *request) review(group, version, what string) (int, interface{}, error) {
	read, err := decode(r.raw)
	body, is := read.(object)
	if err != nil || !is {
		return 0, nil, refuse(400, "BadRequest", "the body of the request is no object", nil)
	}
	c := r.cluster
	c.Lock()
	defer c.Unlock()
	spec := mapped(body, "spec")
	made := object{"kind": body["kind"], "apiVersion": group + "/" + version, "metadata": object{"creationTimestamp": nil},
		"spec": spec}
	switch what {
	case "selfsubjectaccessreviews":
		wanted := mapped(spec, "resourceAttributes")
		made["status"] = object{"allowed": c.may(r.user, text(wanted, "verb"), text(wanted, "group"), text(wanted, "resource"),
			text(wanted, "subresource"), text(wanted, "namespace"), text(wanted, "name"))}
	case "selfsubjectrulesreviews":
		made["spec"] = object{}
		resources, others := []interface{}{}, []interface{}{}
		for _, rule := range append(append([]object{}, everybody...), c.rules(r.user, text(spec, "namespace"))...) {
			if _, has := rule["nonResourceURLs"]; has {
				others = append(others, rule)
			} else {
				resources = append(resources, rule)
			}
		}
		made["status"] = object{"incomplete": false, "resourceRules": resources, "nonResourceRules": others}
		return 201, made, nil
	case "tokenreviews":
		who, err := c.authenticate(text(spec, "token"))
		if err != nil {
			made["status"] = object{"user": object{}, "error": "invalid bearer token"}
		} else {
			made["status"] = object{"authenticated": true, "user": object{"username": who.name, "groups": words(who.groups...)}}
		}
	default:
		return 0, nil, notServed()
	}
	made["metadata"].(object)["managedFields"] = []interface{}{object{"manager": r.fieldManager(), "operation": "Update",
		"apiVersion": group + "/" + version, "time": now(), "fieldsType": "FieldsV1", "fieldsV1": object{"f:spec": said(spec)}}}
	return 201, made, nil
}

// said lists the fields of what was sent; of a map within it also the map itself.
func said(spec object) object {
	made := object{}
	for name, each := range spec {
		inner, is := each.(object)
		if !is {
			made["f:"+name] = object{}
			continue
		}
		made["f:"+name] = said(inner)
		made["f:"+name].(object)["."] = object{}
	}
	return made
}

// token issues one for a service account; it is signed by nobody, and known to this server alone.
func (r *request) token() (int, interface{}, error) {
	c := r.cluster
	if c.find(r.kind, r.namespace, r.name_) == nil {
		return 0, nil, r.kind.notFound(r.name_)
	}
	read, _ := decode(r.raw)
	seconds := number(read, "spec", "expirationSeconds")
	if seconds == 0 {
		seconds = 3600
	}
	if longest := c.longestToken; longest > 0 && seconds > longest {
		seconds = longest // an administrator may allow less than what is asked for
	}
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	name := "system:serviceaccount:" + r.namespace + ":" + r.name_
	part := func(value object) string { return base64.RawURLEncoding.EncodeToString(written(value)) }
	token := part(object{"alg": "none"}) + "." + part(object{"sub": name, "exp": until.Unix(), "jti": newID()}) + "." + suffix(12)
	c.tokens[token] = issued{user{name, []string{"system:serviceaccounts", "system:serviceaccounts:" + r.namespace,
		"system:authenticated"}}, until}
	return 201, object{"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": object{"name": r.name_,
		"namespace": r.namespace, "creationTimestamp": now(), "managedFields": []interface{}{object{"manager": r.fieldManager(),
			"operation": "Update", "apiVersion": "authentication.k8s.io/v1", "time": now(), "fieldsType": "FieldsV1",
			"fieldsV1": object{"f:spec": object{"f:expirationSeconds": object{}}}, "subresource": "token"}}},
		"spec":   object{"audiences": words("https://kubernetes.default.svc"), "expirationSeconds": seconds, "boundObjectRef": nil},
		"status": object{"token": token, "expirationTimestamp": until.UTC().Format("2006-01-02T15:04:05Z")}}, nil
}

// ---- the file that clients read

func kubeconfig(address string, ca bool) []byte {
	server := object{"server": address}
	if ca {
		server["certificate-authority"] = "ca.pem"
	}
	accounts, contexts := []object{}, []object{}
	for token, name := range users {
		accounts = append(accounts, object{"name": name, "user": object{"token": token}})
		contexts = append(contexts, object{"name": name, "context": object{"cluster": "test", "user": name, "namespace": "default"}})
	}
	by := func(all []object) {
		sort.Slice(all, func(i, j int) bool { return text(all[i], "name") < text(all[j], "name") })
	}
	by(accounts)
	by(contexts)
	raw, _ := json.MarshalIndent(object{"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []object{{"name": "test", "cluster": server}}, "users": accounts, "contexts": contexts}, "", "  ")
	return append(raw, '\n')
}
