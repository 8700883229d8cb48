package flat

import (
	"fmt"
	"strings"
)

// DefaultPrefix is add.fields.prefix unless it is configured.
const DefaultPrefix = "__"

// deletedName is the member of the rewrite modes. The prefix isn't its.
const deletedName = "__deleted"

// Names tells metadata from columns.
type Names struct {
	prefix string
	fields map[string]string // by a member's name, Debezium's name of what it holds; nil: by the prefix
}

// ParseNames reads the transformation's add.fields.prefix, which is DefaultPrefix
// where it is "", and its add.fields: "op,table,source.lsn,lsn:SEQ", each a
// field, with its struct in front or not, and with a new name or not. Without
// fields all that has the prefix is metadata.
func ParseNames(prefix, fields string) (Names, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if strings.TrimSpace(fields) == "" {
		return Names{prefix: prefix}, nil
	}
	n := Names{prefix: prefix, fields: make(map[string]string)}
	for field := range strings.SplitSeq(fields, ",") {
		field, renamed, _ := strings.Cut(strings.TrimSpace(field), ":")
		if field == "" {
			return Names{}, fmt.Errorf("add.fields %q has an empty field", fields)
		}
		if renamed == "" {
			renamed = strings.ReplaceAll(field, ".", "_")
		}
		if _, ok := n.fields[prefix+renamed]; ok {
			return Names{}, fmt.Errorf("add.fields %q names %s twice", fields, prefix+renamed)
		}
		n.fields[prefix+renamed] = strings.ReplaceAll(field, ".", "_")
	}
	return n, nil
}

// field returns what a member holds: a field of Debezium's, "source_lsn" or just
// "lsn"; false for a column.
func (n *Names) field(name string) (field string, isMetadata bool) {
	if n.fields != nil {
		field, isMetadata = n.fields[name]
		return field, isMetadata || name == deletedName
	}
	if name == deletedName {
		return "", true
	}
	return strings.CutPrefix(name, n.prefix)
}
