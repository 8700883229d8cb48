package scan

// Names is a set of the members' names that tell formats apart.
type Names uint32

// The names, with the kind of their value where that tells something too.
const (
	Op          Names = 1 << iota // a string
	Source                        // an object
	Schema                        // an object or null
	Payload                       // an object or null
	NullPayload                   // "payload", null
	TSMillis                      // "ts_ms"
	Status                        // a string
	EventCount                    // "event_count"
	DDL                           // "ddl"
	TableChanges
	DatabaseName
	AggregateType  // "aggregate_type"
	AdditionalData // "additional_data"
	SourceMetadata // an object: "source_metadata"
)

// Has reports whether all of the names are in the set.
func (n Names) Has(all Names) bool { return n&all == all }

// Members is what is known of one object's members.
type Members struct {
	Names Names
	Count int // of all its members
}

// Outline is what a message's members tell of its format.
type Outline struct {
	Top     Members // the message's own
	Payload Members // those of its member "payload"
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

// Note adds a member, whose value begins with kind.
func (m *Members) Note(name string, kind byte) {
	m.Count++
	switch name {
	case "op":
		m.add(Op, kind == '"')
	case "source":
		m.add(Source, kind == '{')
	case "schema":
		m.add(Schema, kind == '{' || kind == 'n')
	case "payload":
		m.add(Payload, kind == '{' || kind == 'n')
		m.add(NullPayload, kind == 'n')
	case "ts_ms":
		m.add(TSMillis, true)
	case "status":
		m.add(Status, kind == '"')
	case "event_count":
		m.add(EventCount, true)
	case "ddl":
		m.add(DDL, true)
	case "tableChanges":
		m.add(TableChanges, true)
	case "databaseName":
		m.add(DatabaseName, true)
	case "aggregate_type":
		m.add(AggregateType, true)
	case "additional_data":
		m.add(AdditionalData, true)
	case "source_metadata":
		m.add(SourceMetadata, kind == '{')
	}
}

func (m *Members) add(n Names, matches bool) {
	if matches {
		m.Names |= n
	}
}
