package rowproto

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"beamcdc/schemas/table"
)

// show writes what a reader of a row found as BigQuery shows it. It shares no code
// with the encoder.
func show(c *table.Column, v any) string {
	if list, ok := v.([]any); ok {
		element := *c
		element.Mode = table.Nullable
		shown := make([]string, len(list))
		for i := range list {
			shown[i] = show(&element, list[i])
		}
		return "[" + strings.Join(shown, ", ") + "]"
	}
	switch c.Type {
	case table.Date:
		return time.Unix(int64(v.(int32))*86400, 0).UTC().Format(time.DateOnly)
	case table.Timestamp:
		return time.UnixMicro(v.(int64)).UTC().Format("2006-01-02 15:04:05.999999") + "+00"
	case table.Time:
		return showFraction(v.(string))
	case table.DateTime:
		return showFraction(v.(string))
	case table.Float64:
		text := strconv.FormatFloat(v.(float64), 'g', -1, 64)
		return strings.NewReplacer("+Inf", "Infinity", "-Inf", "-Infinity").Replace(text)
	case table.Bytes:
		return fmt.Sprintf("0x%X", v)
	case table.String:
		return strconv.Quote(v.(string))
	case table.Range:
		bounds := v.(map[string]any)
		bound := func(name string) string {
			if v, ok := bounds[name]; ok {
				return show(&table.Column{Type: c.Element}, v)
			}
			return "UNBOUNDED"
		}
		return "[" + bound("start") + ", " + bound("end") + ")"
	case table.Struct:
		var shown []string
		for i := range c.Fields {
			f := &c.Fields[i]
			if v, ok := v.(map[string]any)[f.Name]; ok {
				shown = append(shown, f.Name+": "+show(f, v))
			}
		}
		return "{" + strings.Join(shown, ", ") + "}"
	default:
		return fmt.Sprint(v)
	}
}

// showFraction shows three or six digits of a fraction.
func showFraction(text string) string {
	return strings.TrimSuffix(text, "000")
}
