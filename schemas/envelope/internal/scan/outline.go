package scan

import (
	"math/bits"
	"strings"

	"beamcdc/schemas/envelope/internal/outcome"
)

// Names is a set of the members' names that tell formats apart.
type Names uint64

// The names, with the kind of their value where that tells something too.
const (
	Op              Names = 1 << iota // a string
	Source                            // an object
	Schema                            // an object or null
	SchemaText                        // "schema", a string
	Payload                           // an object or null
	NullPayload                       // "payload", null
	TSMillis                          // "ts_ms"
	Status                            // a string
	EventCount                        // "event_count"
	DataCollections                   // "data_collections", an array or null
	DDL                               // "ddl"
	TableChanges
	AggregateType  // "aggregate_type"
	AdditionalData // "additional_data", an object or null
	SourceMetadata // an object: "source_metadata"

	SpecVersion       // a string
	DebeziumExtension // any name that begins with "iodebezium"

	Mods      // an array
	TableName // a string, "table_name" too
	ModType   // a string, "mod_type" too

	Type      // a string
	Data      // of any kind
	DataArray // "data", an array
	IsDDL     // "isDdl", true or false
	MySQLType // "mysqlType", an object or null
	Database  // a string
	Table     // a string
	TS        // "ts", a number

	ActionLetter // "action", a string of one byte
	ActionWord   // "action", any other string
	ChangeArray  // "change", an array
	XID
	LSN
	NextLSN
	Timestamp
	Origin
	Prefix  // a string
	Content // a string
	Transactional
	SQL // "sql"

	ColumnArray   // "columns", an array
	IdentityArray // "identity", an array

	Metadata    // an object
	RecordType  // a string: "record-type"
	Control     // an object
	Record      // an object or null
	CommitLSN   // "commit_lsn"
	TableSchema // "table_schema"

	FlatOp      // "__op"
	FlatDeleted // "__deleted"
	FlatPrefix  // any name that begins with "__", the two above too

	ChangeType     // a string: "_CHANGE_TYPE"
	ChangeSequence // "_CHANGE_SEQUENCE_NUMBER"
)

// Has reports whether all of the names are in the set.
func (n Names) Has(all Names) bool { return n&all == all }

// Any reports whether one of the names is in the set.
func (n Names) Any(of Names) bool { return n&of != 0 }

// Count returns how many names are in the set.
func (n Names) Count() int { return bits.OnesCount64(uint64(n)) }

// Members is what is known of one object's members.
type Members struct {
	Names Names
	Count int // of all its members
}

// Outline is what a message's members tell of its format.
type Outline struct {
	Top      Members // the message's own
	Payload  Members // those of its member "payload"
	Metadata Members // those of its member "metadata"
}

// Change returns the members of the object that holds the change: the
// message's, or the payload's where the message is an envelope of Kafka
// Connect's JSON converter.
func (o *Outline) Change() Members {
	if o.Top.Names.Has(Schema | Payload) {
		return o.Payload
	}
	return o.Top
}

// Open checks a message, and enters the object that it is, with an outline that is
// empty. The error is an *outcome.Error.
func (s *Scanner) Open(text string) error {
	s.Outline = Outline{}
	if err := s.Reset(text); err != nil {
		return err
	}
	if !s.Object() {
		return outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object")
	}
	return nil
}

// NextMember returns the name of the message's next member, and notes it. At the
// end it returns false.
func (s *Scanner) NextMember() (name string, more bool) {
	if name, more = s.Member(); more {
		s.Note(name)
	}
	return name, more
}

// Note adds the message's member that the Scanner stands in front of the value
// of. A decoder notes all of them, and passes those that it has no use for by
// Pass: what a message is must show whichever decoder reads it.
func (s *Scanner) Note(name string) {
	kind := s.Peek()
	if name == "action" && kind == '"' {
		s.Outline.Top.Count++
		if rest := s.text[s.at:]; rest[1] != '"' && rest[1] != '\\' && rest[2] == '"' {
			s.Outline.Top.Names |= ActionLetter
		} else {
			s.Outline.Top.Names |= ActionWord
		}
		return
	}
	s.Outline.Top.Note(name, kind)
}

// Pass passes the value of a member of the message, as Value does, and adds that
// value's own members to the outline where they tell something.
func (s *Scanner) Pass(name string) (raw string) {
	switch name {
	case "payload":
		return s.outlined(&s.Outline.Payload)
	case "metadata":
		return s.outlined(&s.Outline.Metadata)
	}
	return s.Value()
}

func (s *Scanner) outlined(m *Members) (raw string) {
	if s.Peek() != '{' {
		return s.Value()
	}
	start := s.at
	s.Object()
	for {
		name, more := s.Member()
		if !more {
			return s.text[start:s.at]
		}
		m.Note(name, s.Peek())
		s.Skip()
	}
}

// Note adds a member, whose value begins with kind. Of an "action" it can't tell
// the kinds apart: that is for the Scanner's Note.
func (m *Members) Note(name string, kind byte) {
	m.Count++
	switch name {
	case "op":
		m.add(Op, kind == '"')
	case "source":
		m.add(Source, kind == '{')
	case "schema":
		m.add(Schema, kind == '{' || kind == 'n')
		m.add(SchemaText, kind == '"')
	case "payload":
		m.add(Payload, kind == '{' || kind == 'n')
		m.add(NullPayload, kind == 'n')
	case "ts_ms":
		m.add(TSMillis, true)
	case "status":
		m.add(Status, kind == '"')
	case "event_count":
		m.add(EventCount, true)
	case "data_collections":
		m.add(DataCollections, kind == '[' || kind == 'n')
	case "ddl":
		m.add(DDL, true)
	case "tableChanges":
		m.add(TableChanges, true)
	case "aggregate_type":
		m.add(AggregateType, true)
	case "additional_data":
		m.add(AdditionalData, kind == '{' || kind == 'n')
	case "source_metadata":
		m.add(SourceMetadata, kind == '{')
	default:
		m.noteOther(name, kind)
	}
}

// noteOther notes the names of formats other than Debezium's and Datastream's.
func (m *Members) noteOther(name string, kind byte) {
	switch name {
	case "specversion":
		m.add(SpecVersion, kind == '"')
	case "mods":
		m.add(Mods, kind == '[')
	case "tableName", "table_name":
		m.add(TableName, kind == '"')
	case "modType", "mod_type":
		m.add(ModType, kind == '"')
	case "type":
		m.add(Type, kind == '"')
	case "data":
		m.add(Data, true)
		m.add(DataArray, kind == '[')
	case "isDdl":
		m.add(IsDDL, kind == 't' || kind == 'f')
	case "mysqlType":
		m.add(MySQLType, kind == '{' || kind == 'n')
	case "database":
		m.add(Database, kind == '"')
	case "table":
		m.add(Table, kind == '"')
	case "ts":
		m.add(TS, kind == '-' || ('0' <= kind && kind <= '9'))
	case "change":
		m.add(ChangeArray, kind == '[')
	case "xid":
		m.add(XID, true)
	case "lsn":
		m.add(LSN, true)
	case "nextlsn":
		m.add(NextLSN, true)
	case "timestamp":
		m.add(Timestamp, true)
	case "origin":
		m.add(Origin, true)
	case "prefix":
		m.add(Prefix, kind == '"')
	case "content":
		m.add(Content, kind == '"')
	case "transactional":
		m.add(Transactional, true)
	case "columns":
		m.add(ColumnArray, kind == '[')
	case "identity":
		m.add(IdentityArray, kind == '[')
	case "sql":
		m.add(SQL, true)
	case "metadata":
		m.add(Metadata, kind == '{')
	case "record-type":
		m.add(RecordType, kind == '"')
	case "control":
		m.add(Control, kind == '{')
	case "record":
		m.add(Record, kind == '{' || kind == 'n')
	case "commit_lsn":
		m.add(CommitLSN, true)
	case "table_schema":
		m.add(TableSchema, true)
	default:
		m.notePrefix(name, kind)
	}
}

// notePrefix notes the names that begin with an underscore, and those of
// CloudEvents' extensions.
func (m *Members) notePrefix(name string, kind byte) {
	switch {
	case len(name) < 3:
	case name[0] == '_' && name[1] == '_':
		m.add(FlatPrefix, true)
		m.add(FlatOp, name == "__op")
		m.add(FlatDeleted, name == "__deleted")
	case name == "_CHANGE_TYPE":
		m.add(ChangeType, kind == '"')
	case name == "_CHANGE_SEQUENCE_NUMBER":
		m.add(ChangeSequence, true)
	case name[0] == 'i' && strings.HasPrefix(name, "iodebezium"):
		m.add(DebeziumExtension, true)
	}
}

func (m *Members) add(n Names, matches bool) {
	if matches {
		m.Names |= n
	}
}
