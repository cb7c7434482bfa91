package api

import (
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/api/view"
	"godwit/node"
	"godwit/owner"
	"godwit/scheduler"
	"godwit/scheduler/message"
)

// TestFieldsAreDescribed: what openapi.yaml says of each answer and request names the fields that the types have, at
// any depth, also those that a node of one task never sends.
func TestFieldsAreDescribed(t *testing.T) {
	d := readDescription(t)
	for name, v := range map[string]any{
		"Status": node.Status{}, "Member": node.Member{}, "Credit": node.Credit{},
		"PoolCredit": node.PoolCredit{}, "AddedPeer": node.NamedPeer{}, "Overlay": node.OverlayStatus{},
		"OverlayDetail": node.OverlayDetail{}, "OverlayRules": node.OverlayRules{}, "Scheduling": scheduler.Scheduling{},
		"Job": message.JobStatus{}, "Why": node.Why{}, "OutputPage": OutputPage{}, "Submission": SubmitRequest{},
		"File": FileReply{}, "Key": KeyReply{}, "JobID": SubmitReply{}, "AddRequest": AddRequest{}, "Added": AddReply{},
		"JobFile":     CheckRequest{},
		"CheckedFile": CheckReply{}, "Session": SessionReply{}, "Home": view.Home{}, "Machine": view.Machine{},
		"RuleRequest": RuleRequest{}, "Preview": view.Preview{}, "JobList": JobList{}, "Grid": message.Grid{},
		"Timeline": view.Timeline{}, "Failures": view.Failures{}, "Stages": view.Stages{}, "Swarm": view.Swarm{},
		"Pool": view.Pool{}, "Research": view.Research{}, "Forecast": node.Forecast{},
	} {
		d.compare(t, name, d.all[name].(map[string]any), reflect.TypeOf(v))
	}
	answer := func(path, method string) map[string]any {
		op := d.paths[path].(map[string]any)[method].(map[string]any)["responses"].(map[string]any)["200"].(map[string]any)
		return op["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
	}
	d.compare(t, "forecast", answer("/v1/peers/{peer}/forecast", "get"), reflect.TypeFor[node.Forecast]())
	d.compare(t, "history", answer("/v1/peers/{peer}/history", "get"), reflect.TypeFor[HistoryReply]())
	d.compare(t, "doctor", answer("/v1/doctor", "get"), reflect.TypeFor[[]owner.Finding]())
}

// compare holds a schema to the type whose JSON it describes.
func (d description) compare(t *testing.T, what string, schema map[string]any, typ reflect.Type) {
	t.Helper()
	schema = d.resolve(schema)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[time.Time](), typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()),
		typ == reflect.TypeFor[[]byte]():
		if schema["type"] != "string" {
			t.Errorf("%s is a text, and is described as %v", what, schema["type"])
		}
	case typ.Kind() == reflect.Slice:
		items, ok := schema["items"].(map[string]any)
		if !ok {
			t.Errorf("%s is a list, and its items are not described", what)
			return
		}
		d.compare(t, what+"[]", items, typ.Elem())
	case typ.Kind() == reflect.Struct:
		d.compareFields(t, what, schema, typ)
	}
}

// compareFields is compare of a struct.
func (d description) compareFields(t *testing.T, what string, schema map[string]any, typ reflect.Type) {
	t.Helper()
	said := d.properties(schema)
	has := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = strings.ToLower(f.Name) // JSON is read whatever its case
		}
		if f.IsExported() && !f.Anonymous && name != "-" {
			has[name] = f.Type
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		below, ok := said[name].(map[string]any)
		if !ok {
			t.Errorf("%s.%s is not described", what, name)
			continue
		}
		d.compare(t, what+"."+name, below, has[name])
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if _, ok := has[name]; !ok {
			t.Errorf("%s.%s is described, and there is none", what, name)
		}
	}
}

// resolve follows a reference to a named schema.
func (d description) resolve(schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		return d.all[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
	}
	return schema
}

// properties lists the properties of a schema and of the parts that it is made of.
func (d description) properties(schema map[string]any) map[string]any {
	out := map[string]any{}
	if p, ok := schema["properties"].(map[string]any); ok {
		maps.Copy(out, p)
	}
	if parts, ok := schema["allOf"].([]any); ok {
		for _, part := range parts {
			maps.Copy(out, d.properties(d.resolve(part.(map[string]any))))
		}
	}
	return out
}
