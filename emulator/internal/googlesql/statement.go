package googlesql

// Statement is one of the statements below. A Table's Path is as it was written: it is
// for the caller to add the default project and dataset.
type Statement interface {
	// Type is the statement's type as a query job shows it: SELECT, CREATE_TABLE, …
	Type() string
}

// Query is a SELECT.
type Query struct {
	text   string
	end    int // where the query ends in text
	query  *query
	tables []*TableRef
}

// DML is an INSERT, UPDATE, DELETE or MERGE.
type DML struct {
	Target *TableRef
	text   string
	kind   string // INSERT, UPDATE, DELETE or MERGE

	insert *insertClause // of INSERT
	query  *query        // of INSERT … SELECT
	set    []assignment  // of UPDATE
	from   fromNode      // of UPDATE, and MERGE's USING
	where  expr          // of UPDATE and DELETE; MERGE's ON
	whens  []mergeWhen
	tables []*TableRef
}

type assignment struct {
	path  []name
	value expr // nil for DEFAULT
}

type insertClause struct {
	at
	columns []name
	rows    [][]expr // a nil expr is DEFAULT
	row     bool     // INSERT ROW
}

type mergeWhen struct {
	at
	match  string // MATCHED, NOT MATCHED BY TARGET, NOT MATCHED BY SOURCE
	and    expr
	action string // INSERT, UPDATE, DELETE
	insert *insertClause
	set    []assignment
}

// ColumnDefinition is a column that CREATE TABLE or ADD COLUMN describes.
type ColumnDefinition struct {
	Name    string
	Type    *Type
	NotNull bool
	Default string // its expression's text; "" if there is none
	Options []Option
}

// PrimaryKey lists a key's columns. BigQuery's keys are NOT ENFORCED.
type PrimaryKey struct{ Columns []string }

// Partitioning is what PARTITION BY says.
type Partitioning struct {
	Column string // _PARTITIONTIME or _PARTITIONDATE by the time of ingestion
	// Unit is HOUR, DAY, MONTH or YEAR; "" by a range of integers from Start to End
	// (exclusive) in steps of Interval.
	Unit                 string
	Start, End, Interval int64
}

// CreateTable is CREATE TABLE in all its forms. Of Columns, As, Like, Copy and Clone at
// most Columns and As are both there.
type CreateTable struct {
	Table                  *TableRef
	OrReplace, IfNotExists bool
	Temporary, Snapshot    bool // CREATE TEMP TABLE, CREATE SNAPSHOT TABLE
	Columns                []ColumnDefinition
	PrimaryKey             *PrimaryKey
	PartitionBy            string // the expression's text
	Partitioning           *Partitioning
	ClusterBy              []string
	Options                []Option
	As                     *Query
	Like, Copy, Clone      *TableRef // Clone is a snapshot's source too
}

// CreateView is CREATE VIEW; the query's text is kept as BigQuery shows it.
type CreateView struct {
	Table                  *TableRef
	OrReplace, IfNotExists bool
	Columns                []string
	Options                []Option
	As                     *Query
}

// Drop is DROP of a TABLE, VIEW, SCHEMA, SNAPSHOT TABLE, SEARCH INDEX, ASSIGNMENT or RESERVATION.
type Drop struct {
	Kind     string
	Name     *TableRef
	IfExists bool
	Cascade  bool      // of a SCHEMA
	On       *TableRef // of a SEARCH INDEX
}

// CreateSchema is CREATE SCHEMA: a dataset.
type CreateSchema struct {
	Name        *TableRef
	IfNotExists bool
	Options     []Option
}

// AlterSchema is ALTER SCHEMA … SET OPTIONS.
type AlterSchema struct {
	Name     *TableRef
	IfExists bool
	Options  []Option
}

// AlterTable is ALTER TABLE or ALTER VIEW, with its actions in order.
type AlterTable struct {
	Table    *TableRef
	View     bool
	IfExists bool
	Actions  []AlterAction
}

// AlterAction is one action of ALTER TABLE.
type AlterAction struct {
	// Kind is SET OPTIONS, ADD COLUMN, DROP COLUMN, RENAME COLUMN, RENAME TO, SET DEFAULT,
	// DROP DEFAULT, DROP NOT NULL, SET DATA TYPE, COLUMN SET OPTIONS, ADD PRIMARY KEY or
	// DROP PRIMARY KEY.
	Kind                  string
	IfNotExists, IfExists bool
	Column                string           // but of ADD COLUMN
	Definition            ColumnDefinition // of ADD COLUMN; SET DATA TYPE's type, SET DEFAULT's default
	To                    string           // of RENAME COLUMN and RENAME TO
	Options               []Option
	PrimaryKey            *PrimaryKey
}

// Truncate is TRUNCATE TABLE.
type Truncate struct{ Table *TableRef }

// CreateSearchIndex is CREATE SEARCH INDEX. Columns is empty for ALL COLUMNS.
type CreateSearchIndex struct {
	Name        string
	Table       *TableRef
	IfNotExists bool
	Columns     []string
	Options     []Option
}

// CreateReservation is CREATE RESERVATION, CREATE ASSIGNMENT or CREATE CAPACITY.
type CreateReservation struct {
	Kind    string // RESERVATION, ASSIGNMENT or CAPACITY
	Name    *TableRef
	Options []Option
}

// ExportData is EXPORT DATA.
type ExportData struct {
	Options []Option
	As      *Query
}

// Type of a query job.
func (*Query) Type() string { return "SELECT" }

// Type of a query job.
func (d *DML) Type() string { return d.kind }

// Type of a query job.
func (c *CreateTable) Type() string {
	switch {
	case c.Snapshot:
		return "CREATE_SNAPSHOT_TABLE"
	case c.As != nil:
		return "CREATE_TABLE_AS_SELECT"
	}
	return "CREATE_TABLE"
}

// Type of a query job.
func (*CreateView) Type() string { return "CREATE_VIEW" }

// Type of a query job.
func (d *Drop) Type() string { return "DROP_" + underscored(d.Kind) }

// Type of a query job.
func (*CreateSchema) Type() string { return "CREATE_SCHEMA" }

// Type of a query job.
func (*AlterSchema) Type() string { return "ALTER_SCHEMA" }

// Type of a query job.
func (a *AlterTable) Type() string {
	if a.View {
		return "ALTER_VIEW"
	}
	return "ALTER_TABLE"
}

// Type of a query job.
func (*Truncate) Type() string { return "TRUNCATE_TABLE" }

// Type of a query job.
func (*CreateSearchIndex) Type() string { return "CREATE_SEARCH_INDEX" }

// Type of a query job.
func (c *CreateReservation) Type() string { return "CREATE_" + c.Kind }

// Type of a query job.
func (*ExportData) Type() string { return "EXPORT_DATA" }
