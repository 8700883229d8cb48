package e2e

// keyCases are those of section B, and what is near to them. Elsewhere are: 27,
// changed keys of formats without a message for each half (formatCases); 28, a table
// that is created without a configured key (TestKeyOfFirstMessage); 29, a
// table without a primary key (launch_world.txt); 31, tombstones that delete
// (TestTombstones_delete); 33 and 34 of soft deletes, which the configuration refuses
// (pipeline's TestValidate_findings); 36, a writer's schema without the two columns
// (rowproto's TestDescriptor, and what the emulator does with them its
// TestRefusal_ChangeTypes); 37, connections of both kinds (its
// TestRefusal_Connections); 38 (TestCompositeKeyOrder).
func keyCases() []eventCase {
	return []eventCase{
		{
			name: "28 no key in the message: the configured one",
			messages: []message{
				pgChange{table: "public.items", op: "c", after: `{"id":$1,"v":"a"}`, lastCommit: 10, lsn: 11}.message(),
				pgChange{table: "public.items", op: "u", after: `{"id":$1,"v":"b"}`, lastCommit: 10, lsn: 12, key: "default"}.message(),
			},
			want: map[int]string{1: `{"v":"b"}`},
		},
		{
			name: "31 tombstones",
			messages: []message{
				item("c", "$1", `,"v":"stays"`, 10, 11),
				{data: "", orderingKey: `{"id":$1}`},
				{data: "null", orderingKey: `{"id":$1}`},
				{data: `{"schema":null,"payload":null}`, orderingKey: `{"id":$1}`},
			},
			want: map[int]string{1: `{"v":"stays"}`},
		},
		{
			name: "32 a delete carries its key alone", table: "shop.typed",
			messages: []message{
				pgChange{table: "public.typed", op: "c", after: `{"id":$1,"day":"2025-03-09","n":"1.5","doc":"{}","at":"2025-03-09T08:07:06Z"}`, lastCommit: 10, lsn: 11}.message(),
				pgChange{table: "public.typed", op: "c", after: `{"id":$2,"day":"2025-03-09","n":"1.5","doc":"{}","at":"2025-03-09T08:07:06Z"}`, lastCommit: 10, lsn: 12}.message(),
				pgChange{table: "public.typed", op: "d", before: `{"id":$1,"day":0,"n":"","doc":"","at":"never"}`, lastCommit: 10, lsn: 20}.message(),
			},
			want: map[int]string{1: "", 2: `{"day":"2025-03-09","n":"1.5","doc":"{}","at":"2025-03-09T08:07:06.000000Z"}`},
		},
		{
			name: "33 a delete whose image holds the zeros of types",
			messages: []message{
				item("c", "$1", `,"qty":3,"v":"BOLT"`, 10, 11), item("c", "$2", `,"qty":3,"v":"BOLT"`, 10, 12),
				pgChange{table: "public.items", op: "d", key: `{"id":$1}`, before: `{"id":$1,"qty":0,"v":"","doc":""}`, lastCommit: 10, lsn: 20}.message(),
			},
			want: map[int]string{1: "", 2: `{"qty":"3","v":"BOLT"}`},
		},
		{
			name:     "34 a delete of what was never seen",
			messages: []message{item("d", "$9", "", 10, 11)},
			want:     map[int]string{9: ""},
		},
		{
			name: "39 a NULL key",
			messages: []message{
				pgChange{table: "public.items", op: "c", after: `{"id":null,"v":"$1"}`, lastCommit: 10, lsn: 11}.message(),
				pgChange{table: "public.items", op: "c", after: `{"v":"$2"}`, lastCommit: 10, lsn: 12}.message(),
			},
			letters: []string{"key/missing_key", "key/missing_key"},
		},
		{
			name:     "41 a value moves from one key to another",
			messages: []message{item("c", "$2", `,"v":"mail"`, 10, 12), item("d", "$1", "", 10, 11), item("c", "$1", `,"v":"mail"`, 5, 6)},
			want:     map[int]string{1: "", 2: `{"v":"mail"}`},
		},
		{
			name: "42 an unchanged large value is not written as what stands for it",
			messages: []message{
				item("c", "$1", `,"qty":1,"doc":"large"`, 10, 11), item("u", "$1", `,"qty":2,"doc":"__debezium_unavailable_value"`, 10, 12),
			},
			want:    map[int]string{1: `{"qty":"1","doc":"large"}`},
			letters: []string{"encode/unavailable_value"},
		},
		{
			name: "44 an unavailable key",
			messages: []message{
				pgChange{table: "public.items", op: "u", after: `{"id":"__debezium_unavailable_value","v":"$1"}`, lastCommit: 10, lsn: 11}.message(),
			},
			letters: []string{"key/unavailable_value"},
		},
		{
			name:     "48 an unknown operation",
			messages: []message{item("c", "$1", `,"v":"a"`, 10, 11), item("p", "$1", `,"v":"b"`, 10, 12)},
			want:     map[int]string{1: `{"v":"a"}`},
			letters:  []string{"decode/unknown_op"},
		},
		{
			name: "keys that are one key: 1, \"1\" and 1.0",
			messages: []message{
				item("c", "$1", `,"v":"number"`, 10, 11), item("u", `"$1"`, `,"v":"text"`, 10, 12), item("u", "$1.0", `,"v":"point"`, 10, 13),
			},
			want: map[int]string{1: `{"v":"point"}`},
		},
		{
			name: "a table that is not configured",
			messages: []message{
				pgChange{table: "public.sessions", op: "c", after: `{"id":$1}`, lastCommit: 10, lsn: 11}.message(),
			},
			letters: []string{"key/unlisted_table"},
		},
		{
			name: "control messages",
			messages: []message{
				{data: `{"ts_ms":1741507626400}`, orderingKey: `{"serverName":"acme"}`},
				{data: `{"status":"BEGIN","id":"901:32777618392","ts_ms":1741507626400,"event_count":null,"data_collections":null}`},
				{data: `{"status":"END","id":"901:32777618640","ts_ms":1741507626400,"event_count":2,"data_collections":[{"data_collection":"public.items","event_count":2}]}`},
				{data: `{"status":"END","id":"901:32777618640","ts_ms":1741507626400,"event_count":2,"data_collections":[{"data_collection":"public.items","event_count":2}]}`},
				{data: `{"source":{"version":"3.4.0.Final","connector":"mysql","name":"acme","db":"shop"},"ts_ms":1741507626400,"databaseName":"shop","schemaName":null,"ddl":"ALTER TABLE items ADD COLUMN color varchar(9)","tableChanges":[]}`},
			},
		},
		{
			name:     "no change at all",
			messages: []message{{data: `{"hello":"$1"}`}, {data: `[$1]`}, {data: `"$1"`}, {data: `{"op":"c","after":{"id":$1}`}},
			letters:  []string{"decode/unknown_format", "decode/unknown_format", "decode/unknown_format", "decode/bad_json"},
		},
	}
}
