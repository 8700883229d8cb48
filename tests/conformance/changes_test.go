package conformance

const orderColumns = "id INTEGER, v STRING"

// changeCases are about what an UPSERT and a DELETE do, and when it is seen.
var changeCases = []testCase{
	{
		name: "the example of upserts and deletes",
		cites: []string{
			"In BigQuery CDC ingestion, the pseudocolumn _CHANGE_TYPE indicates the type of change to be processed for each row.",
			"To use CDC, set _CHANGE_TYPE when you stream row modifications using the Storage Write API (gRPC).",
			"The updated table is now the following:",
			"removes customer 100, replaces customer 101 and adds 105.",
		},
		run: func(r *run) {
			columns := "ID INTEGER, Name STRING, Salary INTEGER"
			r.create("employees", columns, "ID")
			w := r.cdc("employees", columns)
			w.append(
				`{"ID":100,"Name":"Charlie","Salary":2000,"_CHANGE_TYPE":"UPSERT"}`,
				`{"ID":101,"Name":"Tal","Salary":3000,"_CHANGE_TYPE":"UPSERT"}`,
				`{"ID":102,"Name":"Lee","Salary":5000,"_CHANGE_TYPE":"UPSERT"}`)
			r.want("employees", "100 Charlie 2000", "101 Tal 3000", "102 Lee 5000")
			w.append(
				`{"ID":100,"_CHANGE_TYPE":"DELETE"}`,
				`{"ID":101,"Name":"Tal","Salary":8000,"_CHANGE_TYPE":"UPSERT"}`,
				`{"ID":105,"Name":"Izumi","Salary":6000,"_CHANGE_TYPE":"UPSERT"}`)
			r.want("employees", "101 Tal 8000", "102 Lee 5000", "105 Izumi 6000")
		},
	},
	{
		name: "an upsert inserts or replaces the row, a delete removes it",
		cites: []string{
			"Each streamed row carries the pseudocolumn _CHANGE_TYPE, set to UPSERT (insert the row, or replace the row with the same key) or DELETE (remove the row with that key).",
			"The destination table needs a primary key, which tells BigQuery which row a change applies to:",
			"You stream rows marked UPSERT or DELETE through the Storage Write API, and BigQuery merges them into the table by primary key, without you running a MERGE.",
			"You stream each change with a marker saying whether it is an upsert or a delete, and BigQuery applies it to a table keyed by primary key",
		},
		run: func(r *run) {
			columns := "a INTEGER, b STRING, v STRING, w STRING"
			r.create("t", columns, "a", "b")
			w := r.cdc("t", columns)
			w.append(
				`{"a":1,"b":"x","v":"old","w":"kept?","_CHANGE_TYPE":"UPSERT"}`,
				`{"a":1,"b":"y","v":"other","_CHANGE_TYPE":"UPSERT"}`,
				`{"a":2,"b":"x","v":"gone","_CHANGE_TYPE":"UPSERT"}`)
			w.append(`{"a":1,"b":"x","v":"new","_CHANGE_TYPE":"UPSERT"}`, `{"a":2,"b":"x","_CHANGE_TYPE":"DELETE"}`, `{"a":3,"b":"never","_CHANGE_TYPE":"DELETE"}`)
			r.want("t", "1 x new NULL", "1 y other NULL") // the whole row is replaced
		},
	},
	{
		name: "the values of _CHANGE_TYPE",
		cites: []string{
			"The pseudocolumn _CHANGE_TYPE only accepts the values UPSERT and DELETE.",
			"Each row is marked as a change in the _CHANGE_TYPE pseudocolumn, which accepts only UPSERT or DELETE.",
			"_CHANGE_TYPE values UPSERT and DELETE only.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			for _, value := range []string{"REPLACE", "UPDATE", "MERGE", "UPSERT ", "U"} {
				r.wantText(w.refuse(`{"id":2,"v":"b","_CHANGE_TYPE":"`+value+`"}`), "The given value is not a valid CHANGE_TYPE")
			}
			w.append(`{"id":1,"_CHANGE_TYPE":"DELETE"}`)
			r.want("t")
		},
	},
	{
		name: "a bad row keeps its whole request out",
		cites: []string{
			"Mixing rows that have UPSERT or DELETE values for _CHANGE_TYPE with rows that have INSERT or unspecified values for _CHANGE_TYPE in the same connection isn't supported and results in the following validation error: The given value is not a valid CHANGE_TYPE.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			w.refuse(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`, `{"id":3,"v":"c","_CHANGE_TYPE":"INSERT"}`)
			r.want("t", "1 a")
			w.append(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`) // the connection goes on
			r.want("t", "1 a", "2 b")
		},
	},
	{
		name: "plain rows on a connection of changes",
		cites: []string{
			"Mixing rows that have UPSERT or DELETE values for _CHANGE_TYPE with rows that have INSERT or unspecified values for _CHANGE_TYPE in the same connection isn't supported and results in the following validation error: The given value is not a valid CHANGE_TYPE.",
			"Mixing them with plain inserts on the same connection fails.",
			"No mixing: sending CDC rows and plain inserts on the same connection causes a validation error.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.wantText(w.refuse(`{"id":2,"v":"b"}`), "The given value is not a valid CHANGE_TYPE")
			r.wantText(w.refuse(`{"id":2,"v":"b","_CHANGE_TYPE":"INSERT"}`), "The given value is not a valid CHANGE_TYPE")
			r.want("t", "1 a")
		},
	},
	{
		name: "changes on a connection of plain rows",
		cites: []string{
			"Mixing rows that have UPSERT or DELETE values for _CHANGE_TYPE with rows that have INSERT or unspecified values for _CHANGE_TYPE in the same connection isn't supported and results in the following validation error: The given value is not a valid CHANGE_TYPE.",
			"Mixing them with plain inserts on the same connection fails.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a"}`)
			r.wantText(w.refuse(`{"id":1,"v":"b","_CHANGE_TYPE":"UPSERT"}`), "The given value is not a valid CHANGE_TYPE")
			r.want("t", "1 a")
		},
	},
	{
		name: "a query sees the newest",
		cites: []string{
			"By default, every time you run a query, BigQuery returns the most up-to-date results.",
			"To provide the freshest results when querying a table with active CDC, BigQuery must apply each streamed row modification up to the query start time, so that the most up-to-date version of the table is being queried.",
			"Without max_staleness, every query merges all changes not yet applied at query time, so results are always current but each query is slower and costs more.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			for _, v := range []string{"a", "b", "c"} {
				w.append(`{"id":1,"v":"` + v + `","_CHANGE_TYPE":"UPSERT"}`)
				r.want("t", "1 "+v)
			}
			w.append(`{"id":1,"_CHANGE_TYPE":"DELETE"}`)
			r.want("t")
		},
	},
	{
		name: "an acknowledged row is visible",
		cites: []string{
			"Streaming trades that for row-level freshness: once a write is acknowledged, a query can see the row.",
			"Rows are visible as soon as the append is acknowledged.",
			"Exists for every table and needs no creation.",
			"Plain streaming is append-only.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.plain("t", orderColumns)
			w.append(`{"id":1,"v":"a"}`)
			r.want("t", "1 a")
			w.append(`{"id":2,"v":"b"}`, `{"id":3,"v":"c"}`)
			r.want("t", "1 a", "2 b", "3 c")
		},
	},
	{
		name: "the default stream is at least once",
		cites: []string{
			"Semantics are at-least-once: if you retry an append whose response you never saw, the rows may land twice.",
			"Retrying the default stream as if it were exactly-once. An ambiguous timeout followed by a retry can write the batch twice.",
		},
		emulatorOnly: true, // of the real one only "may" is promised
		run: func(r *run) {
			r.create("t", orderColumns)
			w := r.plain("t", orderColumns)
			w.append(`{"id":1,"v":"a"}`)
			w.append(`{"id":1,"v":"a"}`)
			r.want("t", "1 a", "1 a")
		},
	},
	{
		name: "pseudo-columns can't be read",
		cites: []string{
			"Pseudocolumns _CHANGE_TYPE and _CHANGE_SEQUENCE_NUMBER are not queryable columns when performing a table read.",
			"Pseudocolumns are write-only: you cannot query _CHANGE_TYPE or _CHANGE_SEQUENCE_NUMBER from the table.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			r.cdc("t", orderColumns).append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`)
			r.want("t", "1 a")
			r.wantText(r.refuseQuery("SELECT _CHANGE_TYPE FROM {t}"), "_CHANGE_TYPE")
			r.wantText(r.refuseQuery("SELECT _CHANGE_SEQUENCE_NUMBER FROM {t}"), "_CHANGE_SEQUENCE_NUMBER")
			r.wantText(r.refuseQuery("SELECT id FROM {t} WHERE _CHANGE_TYPE = 'UPSERT'"), "_CHANGE_TYPE")
		},
	},
	{
		name: "a writer with an old schema",
		cites: []string{
			"On the gRPC path a writer built with the old schema rejects or drops the new field until it refreshes its schema.",
			"Add columns to the table first, then ship producers.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			wide := orderColumns + ", w STRING"
			ahead := r.cdc("t", wide)
			r.wantText(ahead.refuse(`{"id":1,"v":"a","w":"x","_CHANGE_TYPE":"UPSERT"}`), "extra fields", "extra proto fields", "incompatible fields")
			old := r.cdc("t", orderColumns)
			old.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.addColumn("t", wide)
			r.eventually(func() error { // within minutes, where the table is BigQuery's
				_, err := r.cdc("t", wide).try(-1, `{"id":1,"v":"a","w":"x","_CHANGE_TYPE":"UPSERT"}`)
				return err
			})
			r.want("t", "1 a x")
			response, err := old.try(-1, `{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`)
			r.must(err, "appending with the old schema")
			if r.emulator != nil && len(response.GetUpdatedSchema().GetFields()) != 3 {
				r.errorf("the updated schema in the response is %v, want three columns", response.GetUpdatedSchema())
			}
			r.want("t", "1 a x", "2 b NULL")
		},
	},
	{
		name: "the guide's stream without sequences",
		cites: []string{
			"Without a sequence number, late changes win.",
			"Without it, the most recently ingested change wins.",
			"Order 1 was shipped and later cancelled, but the \"shipped\" change arrived last, so last-arrival-wins left it shipped.",
			"Delivery is often at least once, so duplicates arrive, and changes for the same row can arrive out of order after a retry or a partition rebalance.",
		},
		run: func(r *run) {
			r.create("orders", guideColumns, "id")
			w := r.open("orders", guideColumns+", "+typeOnly, r.toDefault("orders"))
			for _, change := range guideChanges {
				w.append(`{"id":` + change.id + change.status() + `,"_CHANGE_TYPE":"` + change.kind + `"}`)
			}
			r.want("orders", "1 shipped", "2 placed")
		},
	},
	{
		name: "the most recently ingested takes precedence",
		cites: []string{
			"When streaming upserts to BigQuery, the default behavior of ordering records with identical primary keys is determined by the BigQuery system time at which the record was ingested into BigQuery.",
			"In other words, the record most recently ingested with the latest timestamp takes precedence over the record previously ingested with an older timestamp.",
			"By default, when two changes arrive for the same key, the one BigQuery received last wins.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			first, second := r.open("t", orderColumns+", "+typeOnly, r.toDefault("t")), r.open("t", orderColumns+", "+typeOnly, r.toDefault("t"))
			first.append(`{"id":1,"v":"z","_CHANGE_TYPE":"UPSERT"}`)
			second.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.want("t", "1 a")
			first.append(`{"id":1,"_CHANGE_TYPE":"DELETE"}`)
			r.want("t")
			second.append(`{"id":1,"v":"m","_CHANGE_TYPE":"UPSERT"}`)
			r.want("t", "1 m")
		},
	},
}
