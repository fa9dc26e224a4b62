package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// Who owns which field: what an object's managedFields say, and what becomes of them when somebody applies or updates it.
// The merging itself is the real server's code; here is what the server wraps around it.
type managed struct {
	fields fieldpath.ManagedFields
	times  map[string]string
}

// A manager by its name, how it writes, in which version, and to which part. Appliers are the same in every version.
type manager struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`
	Version     string `json:"apiVersion,omitempty"`
	Subresource string `json:"subresource,omitempty"`
}

func (m manager) id() string {
	written, _ := json.Marshal(m)
	return string(written)
}

func managerOf(id string) manager {
	var read manager
	_ = json.Unmarshal([]byte(id), &read)
	return read
}

func (m manager) String() string {
	said := fmt.Sprintf("%q", m.Manager)
	if m.Subresource != "" {
		said += fmt.Sprintf(" with subresource %q", m.Subresource)
	}
	if m.Operation == "Update" {
		said += " using " + m.Version
	}
	return said
}

// One object serves every version that it is asked for in: the kinds that have several are stored as they came.
type unconverted struct{}

func (unconverted) Convert(value *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return value, nil
}
func (unconverted) IsMissingVersionError(error) bool { return false }

var stripped = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"), fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"), fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "generation"), fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"), fieldpath.MakePathOrDie("metadata", "deletionTimestamp"),
	fieldpath.MakePathOrDie("metadata", "deletionGracePeriodSeconds"))

func readManaged(value object) managed {
	read := managed{fields: fieldpath.ManagedFields{}, times: map[string]string{}}
	for _, each := range list(value, "metadata", "managedFields") {
		written, _ := json.Marshal(at(each, "fieldsV1"))
		set := &fieldpath.Set{}
		if set.FromJSON(bytes.NewReader(written)) != nil {
			continue
		}
		who := manager{text(each, "manager"), text(each, "operation"), text(each, "apiVersion"), text(each, "subresource")}
		version := who.Version
		if who.Operation == "Apply" {
			who.Version = ""
		}
		read.fields[who.id()] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(version), who.Operation == "Apply")
		if when := text(each, "time"); when != "" {
			read.times[who.id()] = when
		}
	}
	return read
}

// keep writes them into an object, in the order of the real server.
func (m managed) keep(into object) {
	entries := []interface{}{}
	for id, owned := range m.fields {
		set := owned.Set().Difference(stripped)
		if set.Empty() {
			continue
		}
		who := managerOf(id)
		raw, _ := set.ToJSON()
		paths, _ := decode(raw)
		entry := object{"manager": who.Manager, "operation": who.Operation, "apiVersion": string(owned.APIVersion()),
			"fieldsType": "FieldsV1", "fieldsV1": paths}
		if when := m.times[id]; when != "" {
			entry["time"] = when
		}
		if who.Subresource != "" {
			entry["subresource"] = who.Subresource
		}
		entries = append(entries, entry)
	}
	sort.Slice(entries, func(left, right int) bool {
		for _, by := range []string{"operation", "time", "manager", "apiVersion", "subresource"} {
			if one, other := text(entries[left], by), text(entries[right], by); one != other {
				return one < other
			}
		}
		return false
	})
	metadata := inside(into, "metadata")
	delete(metadata, "managedFields")
	if len(entries) > 0 {
		metadata["managedFields"] = entries
	}
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05Z") }

// bare is an object without its managedFields, which never take part in a merge.
func bare(value object) object {
	made := make(object, len(value))
	for name, each := range value {
		made[name] = each
	}
	if metadata := mapped(value, "metadata"); metadata != nil {
		kept := make(object, len(metadata))
		for name, each := range metadata {
			if name != "managedFields" {
				kept[name] = each
			}
		}
		made["metadata"] = kept
	}
	return made
}

func (k *kind) updater(subresource string) *merge.Updater {
	version := fieldpath.APIVersion(k.apiVersion)
	made := &merge.Updater{Converter: unconverted{}}
	switch {
	case subresource == "status":
		made.IgnoredFields = map[fieldpath.APIVersion]*fieldpath.Set{version: fieldpath.NewSet(
			fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))}
	case k.hasStatus && subresource == "":
		made.IgnoredFields = map[fieldpath.APIVersion]*fieldpath.Set{version: fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"))}
	}
	return made
}

// update says who owns what after an object was replaced; made is what will be stored, but for its managedFields.
func (k *kind) update(live, made object, who, subresource string) object {
	owners := readManaged(made)
	if len(owners.fields) == 0 {
		owners = readManaged(live)
	}
	made = bare(made)
	if live != nil && len(owners.fields) == 0 {
		return made
	}
	before := bare(live)
	if live == nil {
		before = k.empty()
	}
	old, err := k.type_.FromUnstructured(before)
	if err == nil {
		var new_ *typed.TypedValue
		if new_, err = k.type_.FromUnstructured(made); err == nil {
			id := manager{who, "Update", k.apiVersion, subresource}.id()
			_, fields, failed := k.updater(subresource).Update(old, new_, fieldpath.APIVersion(k.apiVersion),
				owners.fields.Copy(), "current-operation")
			if err = failed; err == nil {
				if taken, did := fields["current-operation"]; did {
					delete(fields, "current-operation")
					set := taken.Set()
					if before, there := fields[id]; there {
						set = set.Union(before.Set())
					}
					fields[id] = fieldpath.NewVersionedSet(set, taken.APIVersion(), false)
					if !set.Difference(stripped).Empty() {
						owners.times[id] = now()
					}
				}
				owners.fields = fields
			}
		}
	}
	owners.keep(made)
	return made
}

// apply merges a configuration into a live object (nil: there is none).
func (k *kind) apply(live, config object, who string, force bool) (object, error) {
	where := text(config, "metadata", "namespace")
	if k.definition != nil {
		where = ""
	}
	config = bare(config)
	said, err := k.type_.FromUnstructured(config)
	if err != nil {
		return nil, refuse(500, "", fmt.Sprintf("failed to create typed patch object (%s/%s; %s, Kind=%s): %v", where,
			text(config, "metadata", "name"), k.apiVersion, k.name, err), nil)
	}
	owners := readManaged(live)
	before := bare(live)
	if live == nil {
		before = object{"apiVersion": k.apiVersion, "kind": k.name}
	}
	old, err := k.type_.FromUnstructured(before)
	if err != nil {
		return nil, refuse(500, "", fmt.Sprintf("failed to create typed live object: %v", err), nil)
	}
	if live != nil && len(owners.fields) == 0 {
		// What nobody is known to own belongs to somebody who was there before.
		nobody, _ := k.type_.FromUnstructured(object{"apiVersion": k.apiVersion, "kind": k.name})
		id := manager{"before-first-apply", "Update", k.apiVersion, ""}.id()
		_, fields, failed := k.updater("").Update(nobody, old, fieldpath.APIVersion(k.apiVersion), owners.fields, id)
		if failed != nil {
			return nil, failed
		}
		owners.fields, owners.times[id] = fields, now()
	}
	id := manager{Manager: who, Operation: "Apply"}.id()
	merged, fields, err := k.updater("").Apply(old, said, fieldpath.APIVersion(k.apiVersion), owners.fields.Copy(), id, force)
	if conflicts, are := err.(merge.Conflicts); are {
		return nil, conflict(conflicts)
	}
	if err != nil {
		return nil, refuse(500, "", err.Error(), nil)
	}
	made := before
	if merged != nil {
		made = plain(merged.AsValue().Unstructured()).(object)
		owners.times[id] = now()
	} else if !fields.Equals(owners.fields) {
		owners.times[id] = now()
	}
	owners.fields = fields
	made = copied(made)
	owners.keep(made)
	return made, nil
}

func conflict(all merge.Conflicts) *refusal {
	causes := []interface{}{}
	paths := map[string][]string{}
	for _, each := range all {
		causes = append(causes, object{"reason": "FieldManagerConflict", "field": each.Path.String(),
			"message": "conflict with " + managerOf(each.Manager).String()})
		paths[each.Manager] = append(paths[each.Manager], "- "+each.Path.String())
	}
	said := fmt.Sprintf("Apply failed with 1 conflict: conflict with %v: %v", managerOf(all[0].Manager), all[0].Path)
	if len(all) > 1 {
		lines := []string{}
		for id := range paths {
			lines = append(lines, id)
		}
		sort.Strings(lines)
		for index, id := range lines {
			lines[index] = fmt.Sprintf("conflicts with %v:\n%s", managerOf(id), strings.Join(paths[id], "\n"))
		}
		said = fmt.Sprintf("Apply failed with %d conflicts: %s", len(all), strings.Join(lines, "\n"))
	}
	return refuse(409, "Conflict", said, object{"causes": causes})
}
