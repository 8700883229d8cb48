package ddl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/internal/messagefile"
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// OpenMessages reads a file of messages: as cmd/local takes them, or each line a
// message's data. "-" is standard input. A file without a message is an error.
func OpenMessages(file string, stdin io.Reader) ([]*pubsubpb.PubsubMessage, error) {
	messages, err := messagefile.OpenEither(file, stdin)
	switch {
	case err != nil:
		return nil, err
	case len(messages) == 0 && file == "-":
		return nil, errors.New("standard input has no message")
	case len(messages) == 0:
		return nil, fmt.Errorf("%s has no message", file)
	}
	return messages, nil
}

// OpenAll opens some of them.
func OpenAll(names []string, stdin io.Reader) (messages []*pubsubpb.PubsubMessage, err error) {
	for _, name := range names {
		read, err := OpenMessages(name, stdin)
		if err != nil {
			return nil, err
		}
		messages = append(messages, read...)
	}
	return messages, nil
}

// Implied returns the tables that rules imply for messages, by the names that the
// messages' changes have of them, as `cdc ddl -messages` would create them. The notes
// say what is missing of it. Messages of which none can be decoded are a UsageError.
func Implied(messages []*pubsubpb.PubsubMessage, decoder *envelope.Decoder, router *table.Router) (tables map[string]*table.Table, notes []string, err error) {
	told, err := readMessages(messages, decoder, router)
	if err != nil {
		return nil, nil, err
	}
	notes = told.notes
	tables = make(map[string]*table.Table)
	for _, s := range told.sources {
		m, _ := router.Route(s.Name)
		if m.Err != nil {
			notes = append(notes, m.Err.Error())
			continue
		}
		t, _, bad := wanted(m, s, nil, false)
		if bad != nil {
			notes = append(notes, bad.Error())
			continue
		}
		tables[s.Name] = t
	}
	return tables, notes, nil
}

// learned is what messages tell of one table.
type learned struct {
	*Source

	rule    *table.Rule
	schemas map[string]bool // those that were added
	growth  *table.Growth
	grows   bool        // the pipeline would add columns
	table   table.Table // what its rows without a schema need
	plan    *rowproto.Encoder
	nulls   []string // columns that were NULL and nothing else yet
	untyped []string // columns of which some values were
	typed   bool     // some messages had a schema
	refused map[string]bool
}

// readMessages describes the tables whose changes the messages are.
func readMessages(messages []*pubsubpb.PubsubMessage, decoder *envelope.Decoder, router *table.Router) (told, error) {
	byName := map[string]*learned{}
	var all []*learned
	undecoded := map[string]int{}
	var first error // why the first of those can't be
	decoded := 0
	var unlisted others
	for i, m := range messages {
		read := change.Message{ID: fmt.Sprintf("m%d", i+1), Data: m.GetData(), Attributes: m.GetAttributes(), OrderingKey: m.GetOrderingKey()}
		events, _, err := decoder.Decode(read, nil)
		if e, ok := errors.AsType[*envelope.Error](err); ok {
			undecoded[e.Reason]++
			first = cmp.Or(first, err)
			continue
		} else if err != nil {
			return told{}, fmt.Errorf("decoding message %d: %w", i+1, err)
		}
		decoded++
		for k := range events {
			e := &events[k]
			match, ok := router.Route(e.Table)
			if !ok {
				unlisted.add(e.Table, i)
				continue
			}
			l := byName[e.Table]
			if l == nil {
				l = newLearned(strings.Clone(e.Table), match.Rule)
				byName[l.Name] = l
				all = append(all, l)
			}
			if err := l.learn(e); err != nil {
				return told{}, fmt.Errorf("message %d: %w", i+1, err)
			}
		}
	}
	if decoded == 0 && first != nil {
		return told{}, UsageError{fmt.Errorf("none of %s can be decoded; of the first: %w", counted(len(messages), "message"), first)}
	}
	t := told{others: unlisted.names}
	for _, reason := range slices.Sorted(maps.Keys(undecoded)) {
		t.notes = append(t.notes, fmt.Sprintf("%s can't be decoded: %s", counted(undecoded[reason], "message"), reason))
	}
	if len(unlisted.names) > 0 {
		t.notes = append(t.notes, unlisted.note())
	}
	for _, l := range all {
		t.sources = append(t.sources, l.done())
	}
	return t, nil
}

// noColumn stands in a table that has no column yet, since rows can be encoded for
// none without a key. No source has it.
var noColumn = table.Column{Name: "beamcdc key of no source", Type: table.Bool, Mode: table.Nullable}

func newLearned(name string, rule *table.Rule) *learned {
	growth := table.GrowthOf(rule)
	if growth == nil {
		growth = &table.Growth{Untyped: table.UntypedInfer, MaxColumns: table.MaxColumns}
	} else {
		own := *growth
		own.Configured = nil // what the rule says is merged later
		growth = &own
	}
	return &learned{
		Source: &Source{Name: name}, rule: rule, grows: table.GrowthOf(rule) != nil, schemas: map[string]bool{}, growth: growth, refused: map[string]bool{},
		table: table.Table{Name: table.Name{Project: "p", Dataset: "d", Table: "t"}, Columns: []table.Column{noColumn}, PrimaryKey: []string{noColumn.Name}},
	}
}

// learn takes in what one change tells.
func (l *learned) learn(e *change.Event) error {
	if l.Key == nil {
		for _, k := range e.Key {
			l.Key = append(l.Key, strings.Clone(k.Name))
		}
	}
	if schema := schemaOf(e.Message.Data); schema != nil {
		l.typed = true
		if text := string(schema); !l.schemas[text] {
			l.schemas[text] = true
			var s connectSchema
			if err := json.Unmarshal(schema, &s); err != nil {
				return fmt.Errorf("reading its schema: %w", withoutValues(err))
			}
			if row := s.row(); row != nil {
				l.add(row)
			}
		}
		return nil
	}
	row := e.After
	if len(row) == 0 {
		row = e.Key
	}
	return l.row(row)
}

// schemaOf returns the schema that a message in Connect's JSON begins with, nil where
// it has none.
func schemaOf(data []byte) json.RawMessage {
	if !bytes.Contains(data[:min(len(data), 64)], []byte(`"schema"`)) && !bytes.Contains(data, []byte(`"payload"`)) {
		return nil
	}
	var m struct {
		Schema  json.RawMessage `json:"schema"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(data, &m) != nil || len(m.Payload) == 0 || len(m.Schema) == 0 || m.Schema[0] != '{' {
		return nil
	}
	return m.Schema
}

// row takes in a row whose message has no schema: what the pipeline would add for it.
func (l *learned) row(row []change.Column) error {
	for _, c := range row {
		switch c.Value.Kind() {
		case change.KindNumber, change.KindText, change.KindRaw:
			if !slices.Contains(l.untyped, c.Name) {
				l.untyped = append(l.untyped, strings.Clone(c.Name))
			}
		case change.KindNull:
			if !slices.Contains(l.nulls, c.Name) {
				l.nulls = append(l.nulls, strings.Clone(c.Name))
			}
		default:
		}
	}
	if l.plan == nil {
		plan, err := rowproto.Compile(&l.table)
		if err != nil {
			return err
		}
		l.plan = plan.NewEncoder()
	}
	asked, err := l.plan.Evolve(row, rowproto.RowOptions{}, l.growth, nil)
	if v, ok := errors.AsType[*rowproto.ValueError](err); ok {
		if column, _, _ := strings.Cut(v.Column, "."); !l.refused[v.Column] && !decided(l.rule, column) {
			l.refused[v.Column] = true
			l.note("column %s: %s: its type is what the other messages told", v.Column, v.Reason)
		}
		return nil
	} else if err != nil {
		return err
	}
	if len(asked.Alterations) > 0 {
		l.table.Columns = table.Altered(l.table.Columns, asked.Alterations)
		l.plan = nil
	}
	return nil
}

// done returns what was learned.
func (l *learned) done() *Source {
	for _, c := range l.table.Columns {
		if c.Name == noColumn.Name {
			continue
		}
		if of := slices.IndexFunc(l.table.Columns, func(o table.Column) bool { return c.IsBeside(o.Name) }); of >= 0 {
			if decided(l.rule, l.table.Columns[of].Name) {
				continue
			}
			l.note("column %s has values of several types, %s and %s among them: the latter go to a column %s with unknown_columns: add, and are bad values else",
				l.table.Columns[of].Name, l.table.Columns[of].SQLType(), c.SQLType(), c.Name)
			if !l.grows {
				continue
			}
		}
		if l.column(c.Name) == nil {
			l.Columns = append(l.Columns, c)
		}
	}
	open := slices.DeleteFunc(l.untyped, func(name string) bool { return decided(l.rule, name) })
	if len(open) > 0 && l.typed {
		l.note("some messages have no schema, and so don't type %s: the other messages' schemas count; which of the numbers and texts of those without are dates, times or decimals the rule's columns have to say", listed(open))
	} else if len(open) > 0 {
		l.note("the messages don't type %s: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells", listed(open))
	}
	unknown := slices.DeleteFunc(l.nulls, func(name string) bool { return l.column(name) != nil || decided(l.rule, name) })
	if len(unknown) > 0 {
		l.note("left out, since they are NULL in all messages and so of no type: %s", listed(unknown))
	}
	return l.Source
}

// decided reports whether a rule says what the values of a source's column are, or that
// they go nowhere, so that nothing need be said of their messages.
func decided(rule *table.Rule, name string) bool {
	for i := range rule.Enrich {
		s := &rule.Enrich[i]
		if contains(s.Drop, name) {
			return true
		}
		if at := slices.IndexFunc(s.Rename, func(r table.Renaming) bool { return strings.EqualFold(r.From, name) }); at >= 0 {
			name = s.Rename[at].To
		}
	}
	c := find(rule.Columns, name)
	if c == nil {
		return len(rule.Columns) > 0 && rule.UnknownColumns == "ignore"
	}
	return c.Type != "" || c.From != ""
}
