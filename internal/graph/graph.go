// Package graph writes a pipeline's graph down for people and golden files: a
// transform after the other with its name, what it does, where its elements come
// from and how they are encoded and windowed. Two graphs with one text can replace
// each other in a job that runs: a runner matches them by these names and coders.
package graph

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	v1pb "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx/v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Of returns the graph as it is handed to a runner, for workers in a container.
func Of(p *beam.Pipeline) (*pipepb.Pipeline, error) {
	edges, _, err := p.Build()
	if err != nil {
		return nil, fmt.Errorf("building the graph: %w", err)
	}
	environment, err := graphx.CreateEnvironment(context.Background(), graphx.URNEnvDocker, func(context.Context) string { return "" })
	if err != nil {
		return nil, fmt.Errorf("building the graph: %w", err)
	}
	model, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return nil, fmt.Errorf("building the graph: %w", err)
	}
	return model, nil
}

// Names returns the names of the transforms that do something, in order: what a
// job's update goes by.
func Names(p *pipepb.Pipeline) []string {
	names := make([]string, 0, len(p.GetComponents().GetTransforms()))
	for _, t := range leaves(p) {
		names = append(names, t.GetUniqueName())
	}
	slices.Sort(names)
	return names
}

// Text returns the graph as text. What a transform is configured with is left out,
// so that the graphs of two configurations have one text where they are equal.
func Text(p *pipepb.Pipeline) string {
	c := p.GetComponents()
	made := make(map[string]string, len(c.GetPcollections())) // by what
	order := leaves(p)
	for _, t := range order {
		for tag, id := range t.GetOutputs() {
			name := t.GetUniqueName()
			if len(t.GetOutputs()) > 1 {
				name += "[" + tag + "]"
			}
			made[id] = name
		}
	}
	var text strings.Builder
	for _, t := range order {
		fmt.Fprintf(&text, "%s\n    does %s\n", t.GetUniqueName(), what(t))
		inputs := make([]string, 0, len(t.GetInputs()))
		for _, id := range t.GetInputs() {
			inputs = append(inputs, made[id])
		}
		slices.Sort(inputs)
		for _, input := range inputs {
			fmt.Fprintf(&text, "    from %s\n", input)
		}
		for _, tag := range slices.Sorted(maps.Keys(t.GetOutputs())) {
			collection := c.GetPcollections()[t.GetOutputs()[tag]]
			fmt.Fprintf(&text, "    to   %s: %s\n", tag, coder(c, collection.GetCoderId()))
			if t.GetSpec().GetUrn() == graphx.URNWindow { // others keep what they are given
				fmt.Fprintf(&text, "    in   %s\n", windowing(c.GetWindowingStrategies()[collection.GetWindowingStrategyId()]))
			}
		}
	}
	return text.String()
}

// leaves returns the transforms that hold no others, each after those that it takes from.
func leaves(p *pipepb.Pipeline) []*pipepb.PTransform {
	makers := make(map[string]*pipepb.PTransform)
	var all []*pipepb.PTransform
	for _, t := range p.GetComponents().GetTransforms() {
		if len(t.GetSubtransforms()) > 0 {
			continue
		}
		all = append(all, t)
		for _, id := range t.GetOutputs() {
			makers[id] = t
		}
	}
	slices.SortFunc(all, func(a, b *pipepb.PTransform) int { return cmp.Compare(a.GetUniqueName(), b.GetUniqueName()) })
	ordered := make([]*pipepb.PTransform, 0, len(all))
	done := make(map[*pipepb.PTransform]bool, len(all))
	var visit func(t *pipepb.PTransform)
	visit = func(t *pipepb.PTransform) {
		if t == nil || done[t] {
			return
		}
		done[t] = true
		for _, tag := range slices.Sorted(maps.Keys(t.GetInputs())) {
			visit(makers[t.GetInputs()[tag]])
		}
		ordered = append(ordered, t)
	}
	for _, t := range all {
		visit(t)
	}
	return ordered
}

// what returns the kind of a transform, and what of ours it calls.
func what(t *pipepb.PTransform) string {
	kind := strings.TrimSuffix(strings.TrimPrefix(t.GetSpec().GetUrn(), "beam:transform:"), ":v1")
	switch t.GetSpec().GetUrn() {
	case graphx.URNParDo:
		var pardo pipepb.ParDoPayload
		_ = proto.Unmarshal(t.GetSpec().GetPayload(), &pardo) // empty then
		parts := []string{kind + function(pardo.GetDoFn().GetPayload())}
		for _, name := range slices.Sorted(maps.Keys(pardo.GetStateSpecs())) {
			parts = append(parts, "state "+name)
		}
		for _, name := range slices.Sorted(maps.Keys(pardo.GetTimerFamilySpecs())) {
			parts = append(parts, "timer "+name)
		}
		if pardo.GetRestrictionCoderId() != "" {
			parts = append(parts, "splittable")
		}
		return strings.Join(parts, ", ")
	case graphx.URNCombinePerKey:
		var combine pipepb.CombinePayload
		_ = proto.Unmarshal(t.GetSpec().GetPayload(), &combine)
		return kind + function(combine.GetCombineFn().GetPayload())
	}
	return kind
}

// function returns " " and the name of the function or of the DoFn's type in a
// payload, or nothing.
func function(payload []byte) string {
	data, err := base64.StdEncoding.DecodeString(string(payload))
	var transform v1pb.TransformPayload
	if err != nil || proto.Unmarshal(data, &transform) != nil {
		return ""
	}
	fn := transform.GetEdge().GetFn()
	if name := cmp.Or(fn.GetFn().GetName(), typeName(fn.GetType())); name != "" {
		return " " + name
	}
	return ""
}

func typeName(t *v1pb.Type) string {
	for t.GetExternalKey() == "" && t.GetElement() != nil {
		t = t.GetElement()
	}
	return t.GetExternalKey()
}

// coder returns how elements are encoded: "kv<bytes,beamcdc/schemas/change.Row>".
func coder(c *pipepb.Components, id string) string {
	of := c.GetCoders()[id]
	urn := of.GetSpec().GetUrn()
	var parts []string
	for _, component := range of.GetComponentCoderIds() {
		parts = append(parts, coder(c, component))
	}
	switch urn {
	case "beam:coder:length_prefix:v1": // where a runner must cut what it can't read
		return parts[0]
	case "beam:go:coder:custom:v1":
		data, err := base64.StdEncoding.DecodeString(string(of.GetSpec().GetPayload()))
		var custom v1pb.CustomCoder
		if err == nil && proto.Unmarshal(data, &custom) == nil {
			return cmp.Or(typeName(custom.GetType()), custom.GetName())
		}
	}
	name := strings.TrimSuffix(strings.TrimPrefix(urn, "beam:coder:"), ":v1")
	if len(parts) == 0 {
		return name
	}
	return name + "<" + strings.Join(parts, ",") + ">"
}

// windowing returns a windowing strategy on one line.
func windowing(w *pipepb.WindowingStrategy) string {
	text := strings.TrimSuffix(strings.TrimPrefix(w.GetWindowFn().GetUrn(), "beam:window_fn:"), ":v1")
	if payload := w.GetWindowFn().GetPayload(); w.GetWindowFn().GetUrn() == graphx.URNFixedWindowsWindowFn {
		var fixed pipepb.FixedWindowsPayload
		_ = proto.Unmarshal(payload, &fixed)
		text += " of " + fixed.GetSize().AsDuration().String()
	}
	if w.GetTrigger().GetDefault() == nil {
		// protojson adds a blank here and there, at random.
		trigger := strings.ReplaceAll(protojson.MarshalOptions{}.Format(w.GetTrigger()), " ", "")
		text += ", trigger " + trigger
	}
	if w.GetAllowedLateness() > 0 {
		text += ", lateness " + (time.Duration(w.GetAllowedLateness()) * time.Millisecond).String()
	}
	return text
}
