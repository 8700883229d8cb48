package googlesql

// The syntax tree. Every node knows the byte offset at which it begins.

type name struct {
	text string
	at   int
}

type expr interface{ offset() int }

type at int

func (a at) offset() int { return int(a) }

type (
	// literal is a constant. Its text is decoded: a string's contents, a number as
	// written, what stands in the quotes of DATE '…'; kind Null has none.
	literal struct {
		at
		kind Kind
		text string
	}
	// pathExpr is a.b.c: a column, a table's column, or fields of either.
	pathExpr struct {
		at
		names []name
	}
	fieldExpr struct {
		at
		of   expr
		name name
	}
	// indexExpr is of[index]; mode is OFFSET, ORDINAL, SAFE_OFFSET, SAFE_ORDINAL or "".
	indexExpr struct {
		at
		of    expr
		mode  string
		index expr
	}
	// parenExpr keeps a path in parentheses from growing by the fields that follow.
	parenExpr struct {
		at
		of *pathExpr
	}
	starExpr  struct{ at } // of COUNT(*)
	paramExpr struct {
		at
		name  string // "" for ?
		index int    // of a ?, from 0
	}
	unaryExpr struct {
		at
		op string // - + ~ NOT
		of expr
	}
	binaryExpr struct {
		at
		op          string
		left, right expr
	}
	// isExpr is of IS [NOT] what, where what is NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM.
	isExpr struct {
		at
		of    expr
		not   bool
		what  string
		right expr
	}
	betweenExpr struct {
		at
		of, low, high expr
		not           bool
	}
	// inExpr has one of list, query and array.
	inExpr struct {
		at
		of    expr
		not   bool
		list  []expr
		query *query
		array expr
	}
	// likeExpr has one pattern, or several after ANY, SOME or ALL.
	likeExpr struct {
		at
		of         expr
		not        bool
		quantifier string
		patterns   []expr
	}
	caseExpr struct {
		at
		of    expr // nil but in CASE of WHEN …
		whens []whenThen
		other expr
	}
	whenThen struct{ when, then expr }
	castExpr struct {
		at
		of   expr
		to   *Type
		safe bool
	}
	extractExpr struct {
		at
		part name
		of   expr
		zone expr
	}
	// intervalExpr is INTERVAL of part, or INTERVAL 'text' part TO to.
	intervalExpr struct {
		at
		of       expr
		part, to string
	}
	arrayExpr struct {
		at
		element *Type // nil if the elements tell
		items   []expr
	}
	structExpr struct {
		at
		fields *Type // nil if the values tell
		items  []selectItem
	}
	// subqueryExpr is a scalar subquery, or ARRAY(…) or EXISTS(…).
	subqueryExpr struct {
		at
		kind  string // "", ARRAY, EXISTS
		query *query
	}
	namedArg struct {
		at
		name name
		of   expr
	}
	callExpr struct {
		at
		name     string // in capitals, with dots: NET.HOST
		safe     bool   // SAFE.name
		args     []expr
		distinct bool
		nulls    string // IGNORE or RESPECT
		having   string // MAX or MIN, of havingOf
		havingOf expr
		orderBy  []orderItem
		limit    expr
		over     *window
	}
	window struct {
		at
		base        string // the window it refers to
		partitionBy []expr
		orderBy     []orderItem
		frame       *frame
	}
	frame struct {
		unit     string // ROWS or RANGE
		from, to bound
	}
	bound struct {
		kind string // UNBOUNDED PRECEDING, n PRECEDING as PRECEDING, CURRENT ROW, …
		n    expr
	}
)

type orderItem struct {
	of    expr
	desc  bool
	nulls string // FIRST or LAST; "" as BigQuery's default
}

type query struct {
	at
	recursive bool
	with      []cte
	body      queryBody
	orderBy   []orderItem
	limit     expr
	skip      expr
}

type cte struct {
	name  name
	query *query
}

// queryBody is a *selectNode, a *setNode or a *query in parentheses.
type queryBody interface{ offset() int }

type setNode struct {
	at
	op          string // UNION ALL, UNION DISTINCT, INTERSECT DISTINCT, EXCEPT DISTINCT
	left, right queryBody
}

type selectNode struct {
	at
	distinct bool
	as       string // STRUCT or VALUE
	items    []selectItem
	from     fromNode
	where    expr
	group    *grouping
	having   expr
	qualify  expr
	windows  []namedWindow
}

type grouping struct {
	at
	all    bool
	rollup bool
	items  []expr
}

type namedWindow struct {
	name   name
	window *window
}

// selectItem is an expression, * or of.*.
type selectItem struct {
	at
	of      expr // nil for a bare *
	star    bool
	alias   string
	except  []name
	replace []selectItem
}

// fromNode is a *TableRef, a *subqueryRef, an *unnestRef or a *joinNode.
type fromNode interface{ offset() int }

type subqueryRef struct {
	at
	query *query
	alias string
}

type unnestRef struct {
	at
	of       expr
	alias    string
	ordinal  bool
	position string // WITH OFFSET's alias
}

type joinNode struct {
	at
	kind        string // INNER, LEFT, RIGHT, FULL, CROSS
	left, right fromNode
	on          expr
	using       []name
}

// TableRef is a table that a statement names in FROM, or as its target.
type TableRef struct {
	at
	// Path is the table's name at its dots: of a dataset and a table, with a project or
	// a region before it, or with INFORMATION_SCHEMA in it.
	Path []string
	// Wildcard says that the last part ends in *, which it does without that: the table
	// is all tables whose names begin so.
	Wildcard bool
	// Function is APPENDS or CHANGES for APPENDS(TABLE …, start, end).
	Function string
	// AsOf is FOR SYSTEM_TIME AS OF's expression; Start and End are a function's
	// arguments. They are DuckDB expressions without columns, "" if absent, and are
	// there only once the statement is translated.
	AsOf, Start, End string

	alias            string
	asOf, start, end expr
}
