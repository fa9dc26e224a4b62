package main

import "fmt"

// A refusal is an answer that is not what was asked for: a Status, or text where a real server says text.
type refusal struct {
	code    int
	body    object
	text    string
	headers map[string]string
}

func (r *refusal) Error() string { return fmt.Sprint(r.code, " ", text(r.body, "message"), r.text) }

func refuse(code int, reason, message string, details object) *refusal {
	body := object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Failure", "message": message,
		"code": int64(code)}
	if reason != "" {
		body["reason"] = reason
	}
	if details != nil {
		body["details"] = details
	}
	return &refusal{code: code, body: body}
}

func refuseText(code int, said string) *refusal { return &refusal{code: code, text: said} }

func notServed() *refusal {
	return refuse(404, "NotFound", "the server could not find the requested resource", object{})
}

func pageNotFound() *refusal { return refuseText(404, "404 page not found\n") }

func tooMany() *refusal {
	return &refusal{code: 429, text: "Too many requests, please try again later.\n", headers: map[string]string{"Retry-After": "1"}}
}

// A fault is what is not valid in an object.
type fault struct{ reason, message, field string }

func invalid(kind *kind, name string, faults []fault) *refusal {
	causes, said := []interface{}{}, ""
	for index, each := range faults {
		causes = append(causes, object{"reason": each.reason, "message": each.message, "field": each.field})
		if index > 0 {
			said += ", "
		}
		said += each.field + ": " + each.message
	}
	if len(faults) > 1 {
		said = "[" + said + "]"
	}
	details := kind.details(name)
	details["kind"], details["causes"] = kind.name, causes
	return refuse(422, "Invalid", fmt.Sprintf("%s %q is invalid: %s", kind.kindTitle(), name, said), details)
}
