package table

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// typeNames are the names by which GoogleSQL and BigQuery's REST API call the
// types, aliases included
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types).
var typeNames = map[string]Type{
	"BOOL": Bool, "BOOLEAN": Bool,
	"INT64": Int64, "INTEGER": Int64, "INT": Int64, "SMALLINT": Int64, "BIGINT": Int64, "TINYINT": Int64, "BYTEINT": Int64,
	"FLOAT64": Float64, "FLOAT": Float64,
	"NUMERIC": Numeric, "DECIMAL": Numeric, "BIGNUMERIC": BigNumeric, "BIGDECIMAL": BigNumeric,
	"STRING": String, "BYTES": Bytes, "JSON": JSON, "GEOGRAPHY": Geography,
	"DATE": Date, "TIME": Time, "DATETIME": DateTime, "TIMESTAMP": Timestamp, "INTERVAL": Interval, "RANGE": Range,
	"STRUCT": Struct, "RECORD": Struct,
}

// ParseType reads a type as GoogleSQL writes it: "INT64", "numeric(12, 2)",
// "STRING(10)", "RANGE<DATE>", "ARRAY<STRING>", "STRUCT<city STRING, zip STRING>".
// It returns a Column without a name in which Type and, as far as the text has
// them, Mode, Fields, Element, MaxLength, Precision and Scale are set. "STRUCT"
// alone has no Fields yet, and Mode is "" where the text says neither ARRAY nor
// NOT NULL. The error says what is wrong at which place.
func ParseType(text string) (Column, error) {
	p := typeParser{text: text}
	c, err := p.parse(0)
	if err == nil && p.peek() != "" {
		err = fmt.Errorf("there is %q after it", clip(p.peek()))
	}
	if err != nil {
		return Column{}, fmt.Errorf("type %q, at character %d: %w", clip(text), p.at+1, err)
	}
	return c, nil
}

// typeParser reads words, numbers, backquoted names and punctuation. Its first
// error ends it, at the token in question.
type typeParser struct {
	text string
	at   int // where the next token begins, blanks included
}

// peek returns the next token, "" at the end.
func (p *typeParser) peek() string {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	rest := p.text[p.at:]
	if rest == "" {
		return ""
	}
	if rest[0] == '`' {
		if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
			return rest[:end+2]
		}
		return rest
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isASCIIWord(r) })
	switch end {
	case -1:
		return rest
	case 0:
		return rest[:1]
	}
	return rest[:end]
}

func (p *typeParser) next() string {
	token := p.peek()
	p.at += len(token)
	return token
}

// take reads the token if it is the next one.
func (p *typeParser) take(token string) bool {
	if !strings.EqualFold(p.peek(), token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *typeParser) expect(token string) error {
	if !p.take(token) {
		return fmt.Errorf("it needs a %q", token)
	}
	return nil
}

func (p *typeParser) parse(depth int) (Column, error) {
	word := p.peek()
	if strings.EqualFold(word, "ARRAY") {
		p.next()
		return p.array(depth)
	}
	typ, known := typeNames[strings.ToUpper(word)]
	if !known {
		if word == "" {
			return Column{}, errors.New("a type is missing")
		}
		return Column{}, fmt.Errorf("BigQuery has no type %s", clip(word))
	}
	p.next()
	c := Column{Type: typ}
	switch {
	case typ == Struct:
		return c, p.fields(&c, depth+1)
	case typ == Range:
		return c, p.element(&c)
	case p.peek() == "(":
		return c, p.parameters(&c)
	}
	return c, nil
}

func (p *typeParser) array(depth int) (Column, error) {
	if err := p.expect("<"); err != nil {
		return Column{}, err
	}
	if strings.EqualFold(p.peek(), "ARRAY") {
		return Column{}, errors.New("BigQuery has no array of arrays; put a STRUCT in between")
	}
	c, err := p.parse(depth)
	if err != nil {
		return Column{}, err
	}
	c.Mode = Repeated
	return c, p.expect(">")
}

func (p *typeParser) element(c *Column) error {
	if err := p.expect("<"); err != nil {
		return err
	}
	switch element := typeNames[strings.ToUpper(p.peek())]; element {
	case Date, DateTime, Timestamp:
		c.Element = element
	default:
		return errors.New("a RANGE is of DATE, DATETIME or TIMESTAMP")
	}
	p.next()
	return p.expect(">")
}

func (p *typeParser) fields(c *Column, depth int) error {
	if !p.take("<") {
		return nil // the fields are given elsewhere
	}
	if depth > MaxNesting {
		return fmt.Errorf("BigQuery has STRUCTs in each other %d deep at most", MaxNesting)
	}
	for {
		name := p.peek()
		switch {
		case len(name) > 1 && name[0] == '`' && name[len(name)-1] == '`':
			name = name[1 : len(name)-1]
		case name == "" || !isASCIIWord(rune(name[0])):
			return errors.New("a field's name is missing")
		}
		if err := checkColumnName(name); err != nil {
			return err
		}
		p.next()
		field, err := p.parse(depth)
		if err != nil {
			return err
		}
		field.Name = name
		if p.take("NOT") {
			if err := p.expect("NULL"); err != nil {
				return err
			}
			if field.Mode == Repeated {
				return errors.New("an ARRAY is never NULL in BigQuery; leave NOT NULL out")
			}
			field.Mode = Required
		}
		c.Fields = append(c.Fields, field)
		if !p.take(",") {
			return p.expect(">")
		}
	}
}

func (p *typeParser) parameters(c *Column) error {
	switch c.Type {
	case String, Bytes, Numeric, BigNumeric:
	default:
		return fmt.Errorf("%s takes no parameters", c.Type)
	}
	p.next()
	first, err := p.number()
	if err != nil {
		return err
	}
	second := int64(0)
	if p.take(",") {
		if c.Type == String || c.Type == Bytes {
			return fmt.Errorf("%s takes one parameter, its length", c.Type)
		}
		if second, err = p.number(); err != nil {
			return err
		}
	}
	switch c.Type {
	case String, Bytes:
		c.MaxLength = first
	default:
		c.Precision, c.Scale = first, second
	}
	if err := checkParameters(c); err != nil {
		return err
	}
	if c.MaxLength == 0 && c.Precision == 0 {
		return errors.New("a length or precision is 1 at least")
	}
	return p.expect(")")
}

func (p *typeParser) number() (int64, error) {
	token := p.peek()
	if token == "" || strings.Trim(token, "0123456789") != "" {
		return 0, errors.New("a number is missing")
	}
	n, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		return 0, errors.New("the number is too large")
	}
	p.next()
	return n, nil
}

// checkParameters applies the limits of
// https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#parameterized_data_types.
func checkParameters(c *Column) error {
	maxScale, maxWhole := int64(9), int64(29)
	if c.Type == BigNumeric {
		maxScale, maxWhole = 38, 38
	}
	isText, isDecimal := c.Type == String || c.Type == Bytes, c.Type == Numeric || c.Type == BigNumeric
	switch {
	case c.MaxLength != 0 && !isText:
		return fmt.Errorf("%s has no maximum length", c.Type)
	case c.MaxLength < 0:
		return fmt.Errorf("its maximum length is %d", c.MaxLength)
	case (c.Precision != 0 || c.Scale != 0) && !isDecimal:
		return fmt.Errorf("%s has no precision", c.Type)
	case c.Precision == 0 && c.Scale == 0:
		return nil
	case c.Scale < 0 || c.Scale > maxScale:
		return fmt.Errorf("its scale is %d; %s takes 0 to %d", c.Scale, c.Type, maxScale)
	case c.Precision < max(1, c.Scale) || c.Precision > maxWhole+c.Scale:
		return fmt.Errorf("its precision is %d; with scale %d, %s takes %d to %d",
			c.Precision, c.Scale, c.Type, max(1, c.Scale), maxWhole+c.Scale)
	}
	return nil
}
