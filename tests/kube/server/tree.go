package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"gopkg.in/yaml.v2"
)

// An object is what JSON and YAML say: maps, lists, strings, booleans, int64, float64 and nil.
// What is stored is never changed in place: clone first.
type object = map[string]interface{}

func decode(raw []byte) (interface{}, error) {
	reader := json.NewDecoder(bytes.NewReader(raw))
	reader.UseNumber()
	var read interface{}
	if err := reader.Decode(&read); err != nil {
		return nil, err
	}
	if _, err := reader.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the document")
	}
	return plain(read), nil
}

func decodeYAML(raw []byte) (interface{}, error) {
	if read, err := decode(raw); err == nil {
		return read, nil
	}
	var read interface{}
	if err := yaml.Unmarshal(raw, &read); err != nil {
		return nil, err
	}
	return plain(read), nil
}

// plain makes the few types of an object out of what a decoder makes.
func plain(value interface{}) interface{} {
	switch known := value.(type) {
	case json.Number:
		if whole, err := known.Int64(); err == nil {
			return whole
		}
		number, _ := known.Float64()
		return number
	case int:
		return int64(known)
	case map[string]interface{}:
		for name, each := range known {
			known[name] = plain(each)
		}
		return known
	case map[interface{}]interface{}:
		made := object{}
		for name, each := range known {
			made[fmt.Sprint(name)] = plain(each)
		}
		return made
	case []interface{}:
		for index, each := range known {
			known[index] = plain(each)
		}
		return known
	}
	return value
}

func clone(value interface{}) interface{} {
	switch known := value.(type) {
	case map[string]interface{}:
		made := make(object, len(known))
		for name, each := range known {
			made[name] = clone(each)
		}
		return made
	case []interface{}:
		made := make([]interface{}, len(known))
		for index, each := range known {
			made[index] = clone(each)
		}
		return made
	}
	return value
}

func copied(value interface{}) object {
	if known, is := value.(object); is && known != nil {
		return clone(known).(object)
	}
	return object{}
}

func same(left, right interface{}) bool { return reflect.DeepEqual(left, right) }

func at(value interface{}, path ...string) interface{} {
	for _, name := range path {
		inner, is := value.(object)
		if !is {
			return nil
		}
		value = inner[name]
	}
	return value
}

func text(value interface{}, path ...string) string {
	found, _ := at(value, path...).(string)
	return found
}

func number(value interface{}, path ...string) int64 {
	switch found := at(value, path...).(type) {
	case int64:
		return found
	case float64:
		return int64(found)
	}
	return 0
}

func truth(value interface{}, path ...string) bool {
	found, _ := at(value, path...).(bool)
	return found
}

func list(value interface{}, path ...string) []interface{} {
	found, _ := at(value, path...).([]interface{})
	return found
}

func mapped(value interface{}, path ...string) object {
	found, _ := at(value, path...).(object)
	return found
}

// inside is a map within a map, made if it is not there.
func inside(value object, path ...string) object {
	for _, name := range path {
		inner, is := value[name].(object)
		if !is {
			inner = object{}
			value[name] = inner
		}
		value = inner
	}
	return value
}

func preset(value object, name string, with interface{}) {
	if _, there := value[name]; !there {
		value[name] = with
	}
}

func words(all ...string) []interface{} {
	made := make([]interface{}, len(all))
	for index, each := range all {
		made[index] = each
	}
	return made
}

func holds(all []interface{}, wanted string) bool {
	for _, each := range all {
		if each == wanted {
			return true
		}
	}
	return false
}

// parse reads a literal of this program.
func parse(literal string) object {
	read, err := decode([]byte(literal))
	if err != nil {
		panic(err)
	}
	return read.(object)
}

// overlaid lays a JSON merge patch over a value.
func overlaid(value, patch object) object {
	for name, each := range patch {
		inner, isMap := each.(object)
		if each == nil {
			delete(value, name)
		} else if under, is := value[name].(object); is && isMap {
			value[name] = overlaid(under, inner)
		} else if isMap {
			value[name] = overlaid(object{}, inner)
		} else {
			value[name] = each
		}
	}
	return value
}
