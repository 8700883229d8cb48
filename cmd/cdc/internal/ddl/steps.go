package ddl

import (
	"slices"
	"strings"

	"beamcdc/schemas/table"
)

// step is one step of enrich; configured are the rule's columns, whose types count.
func (f *flow) step(s *table.Step, configured []table.Column) {
	for _, r := range s.Rename {
		for i := range f.key {
			if strings.EqualFold(f.key[i], r.From) && !contains(f.key, r.To) {
				f.key = slices.Clone(f.key)
				f.key[i] = r.To
			}
		}
	}
	f.rename(s.Rename)
	for _, name := range s.Drop {
		f.drop(name)
	}
	for _, m := range s.Metadata {
		f.drop(m.Column)
		f.columns = append(f.columns, table.Column{Name: m.Column, Type: m.Of.Type(), Mode: table.Nullable})
	}
	for _, a := range s.Set {
		f.make(a.Column, configured)
	}
	if s.Lookup != nil {
		for _, pair := range s.Lookup.Columns {
			f.make(pair.Column, configured)
		}
	}
	if s.Mask != nil {
		for _, name := range s.Mask.Columns {
			f.mask(name, s.Mask.By)
		}
	}
}

// rename gives columns their new names, all at once: two may change places.
func (f *flow) rename(renamings []table.Renaming) {
	names := make(map[int]string)
	for _, r := range renamings {
		if i := index(f.columns, r.From); i >= 0 {
			names[i] = r.To
		}
	}
	for i, name := range names {
		f.columns[i].Name = name
	}
}

func (f *flow) drop(name string) {
	f.columns = slices.DeleteFunc(f.columns, func(c table.Column) bool { return strings.EqualFold(c.Name, name) })
}

// make notes that a step makes a column, whose type is what the rule says.
func (f *flow) make(name string, configured []table.Column) {
	c := find(f.columns, name)
	if c != nil {
		c.Mode, c.From, c.FromScale = loosened(c.Mode), "", 0 // it may be another value, and NULL
		return
	}
	if own := find(configured, name); own == nil || own.Type == "" {
		f.untyped = append(f.untyped, name)
	}
}

func (f *flow) mask(name, by string) {
	c := find(f.columns, name)
	if c == nil {
		return
	}
	switch by {
	case table.MaskNull:
		c.Mode = loosened(c.Mode)
	case table.MaskSHA256, table.MaskAESSIV:
		c.From, c.FromScale = "", 0
		if c.Type != table.Bytes {
			c.Type, c.Element, c.Fields = table.String, "", nil
		}
	}
}

func loosened(m table.Mode) table.Mode {
	if m == table.Required {
		return table.Nullable
	}
	return m
}
