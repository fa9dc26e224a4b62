package main

import (
	_ "embed"
	"go/build"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// How the fields of each kind merge: the schema in the test data of the merge library, which is an older Kubernetes', with
// newer.yaml laid over it.

//go:embed newer.yaml
var newer string

const schemaFile = "sigs.k8s.io/structured-merge-diff/internal/testdata/k8s-schema.yaml"

type schemas struct{ parser *typed.Parser }

func loadSchemas() (*schemas, error) {
	var raw []byte
	var err error
	for _, root := range filepath.SplitList(build.Default.GOPATH + string(os.PathListSeparator) + "/usr/share/gocode") {
		if raw, err = os.ReadFile(filepath.Join(root, "src", schemaFile)); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	known, err := typed.NewParser(typed.YAMLObject(raw))
	if err != nil {
		return nil, err
	}
	over, err := typed.NewParser(typed.YAMLObject(newer))
	if err != nil {
		return nil, err
	}
	places := map[string]int{}
	for index := range known.Schema.Types {
		places[known.Schema.Types[index].Name] = index
	}
	for _, each := range over.Schema.Types {
		place, there := places[each.Name]
		if !there {
			known.Schema.Types = append(known.Schema.Types, each)
			continue
		}
		known.Schema.Types[place] = laid(known.Schema.Types[place], each)
	}
	return &schemas{parser: known}, nil
}

// laid adds the fields of one type to those of another, or replaces it where the newer one is no map of fields.
func laid(old, over schema.TypeDef) schema.TypeDef {
	if over.Map == nil || old.Map == nil {
		return over
	}
	for _, field := range over.Map.Fields {
		found := false
		for index := range old.Map.Fields {
			if old.Map.Fields[index].Name == field.Name {
				old.Map.Fields[index], found = field, true
			}
		}
		if !found {
			old.Map.Fields = append(old.Map.Fields, field)
		}
	}
	if over.Map.ElementRelationship != "" {
		old.Map.ElementRelationship = over.Map.ElementRelationship
	}
	return old
}

func (s *schemas) of(group, version, name string) typed.ParseableType {
	package_ := "io.k8s.api." + strings.SplitN(group, ".", 2)[0]
	if group == "" {
		package_ = "io.k8s.api.core"
	} else if group == "apiextensions.k8s.io" {
		package_ = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions"
	}
	found := s.parser.Type(package_ + "." + version + "." + name)
	if !found.IsValid() {
		return typed.DeducedParseableType
	}
	return found
}

// custom is the type of what a CustomResourceDefinition defines.
func (s *schemas) custom(definition object) typed.ParseableType {
	atom := atomOf(definition)
	if atom.Map == nil {
		return typed.DeducedParseableType
	}
	meta, scalar := "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", schema.String
	fields := []schema.StructField{{Name: "metadata", Type: schema.TypeRef{NamedType: &meta}}}
	for _, name := range []string{"apiVersion", "kind"} {
		fields = append(fields, schema.StructField{Name: name, Type: schema.TypeRef{Inlined: schema.Atom{Scalar: &scalar}}})
	}
	for _, field := range atom.Map.Fields {
		if field.Name != "metadata" && field.Name != "apiVersion" && field.Name != "kind" {
			fields = append(fields, field)
		}
	}
	atom.Map.Fields = fields
	types := append([]schema.TypeDef{{Name: "custom", Atom: atom}}, s.parser.Schema.Types...)
	name := "custom"
	return typed.ParseableType{Schema: &schema.Schema{Types: types}, TypeRef: schema.TypeRef{NamedType: &name}}
}

func atomOf(definition object) schema.Atom {
	deduced := "__untyped_deduced_"
	scalars := map[string]schema.Scalar{"string": schema.String, "integer": schema.Numeric, "number": schema.Numeric,
		"boolean": schema.Boolean}
	open := truth(definition, "x-kubernetes-preserve-unknown-fields")
	if truth(definition, "x-kubernetes-int-or-string") {
		untyped := schema.Scalar("untyped")
		return schema.Atom{Scalar: &untyped}
	}
	switch kind := text(definition, "type"); {
	case kind == "object":
		made := &schema.Map{ElementRelationship: schema.Separable}
		if text(definition, "x-kubernetes-map-type") == "atomic" {
			made.ElementRelationship = schema.Atomic
		}
		for name, each := range mapped(definition, "properties") {
			inner, _ := each.(object)
			made.Fields = append(made.Fields, schema.StructField{Name: name, Type: schema.TypeRef{Inlined: atomOf(inner)}})
		}
		if inner, is := definition["additionalProperties"].(object); is {
			made.ElementType = schema.TypeRef{Inlined: atomOf(inner)}
		} else if open || definition["additionalProperties"] == true {
			made.ElementType = schema.TypeRef{NamedType: &deduced}
		}
		return schema.Atom{Map: made}
	case kind == "array":
		made := &schema.List{ElementType: schema.TypeRef{Inlined: atomOf(mapped(definition, "items"))},
			ElementRelationship: schema.Atomic}
		if how := text(definition, "x-kubernetes-list-type"); how == "map" || how == "set" {
			made.ElementRelationship = schema.Associative
			for _, key := range list(definition, "x-kubernetes-list-map-keys") {
				made.Keys = append(made.Keys, key.(string))
			}
		}
		return schema.Atom{List: made}
	case scalars[kind] != "":
		scalar := scalars[kind]
		return schema.Atom{Scalar: &scalar}
	}
	untyped := schema.Scalar("untyped")
	return schema.Atom{Scalar: &untyped, List: &schema.List{ElementType: schema.TypeRef{NamedType: &deduced},
		ElementRelationship: schema.Atomic}, Map: &schema.Map{ElementType: schema.TypeRef{NamedType: &deduced},
		ElementRelationship: schema.Separable}}
}

// parts is what a type knows of a value: its fields, or the keys by which its items merge.
func parts(of *schema.Schema, ref schema.TypeRef) schema.Atom {
	found, _ := of.Resolve(ref)
	return found
}

// known drops the fields that a type does not have, as a server does that reads JSON into its own structs.
func known(of *schema.Schema, ref schema.TypeRef, value interface{}) interface{} {
	atom := parts(of, ref)
	switch here := value.(type) {
	case object:
		if atom.Map == nil {
			return value
		}
		for name, each := range here {
			if field, is := atom.Map.FindField(name); is {
				here[name] = known(of, field.Type, each)
			} else if atom.Map.ElementType.NamedType == nil && atom.Map.ElementType.Inlined == (schema.Atom{}) {
				delete(here, name)
			}
		}
	case []interface{}:
		if atom.List != nil {
			for index, each := range here {
				here[index] = known(of, atom.List.ElementType, each)
			}
		}
	}
	return value
}

// strategic lays a strategic merge patch over a value: lists with keys merge by them, as the schema says.
func strategic(of *schema.Schema, ref schema.TypeRef, value, patch interface{}) interface{} {
	atom := parts(of, ref)
	switch said := patch.(type) {
	case object:
		under, is := value.(object)
		if !is {
			under = object{}
		}
		for name, each := range said {
			if each == nil {
				delete(under, name)
				continue
			}
			inner := schema.TypeRef{}
			if atom.Map != nil {
				if field, is := atom.Map.FindField(name); is {
					inner = field.Type
				} else {
					inner = atom.Map.ElementType
				}
			}
			under[name] = strategic(of, inner, under[name], each)
		}
		return under
	case []interface{}:
		under, is := value.([]interface{})
		if !is || atom.List == nil || atom.List.ElementRelationship != schema.Associative {
			return patch
		}
		if len(atom.List.Keys) == 0 {
			for _, each := range said {
				if word, is := each.(string); is && !holds(under, word) {
					under = append(under, word)
				}
			}
			return under
		}
		for _, each := range said {
			// The first key of a list is the one that patches go by: a port's number, without its protocol.
			place := -1
			for index, item := range under {
				if same(at(item, atom.List.Keys[0]), at(each, atom.List.Keys[0])) {
					place = index
				}
			}
			switch {
			case text(each, "$patch") == "delete":
				if place >= 0 {
					under = append(under[:place], under[place+1:]...)
				}
			case place >= 0:
				under[place] = strategic(of, atom.List.ElementType, under[place], each)
			default:
				under = append(under, each)
			}
		}
		return under
	}
	return patch
}
