package connect

const (
	decimalName = "org.apache.kafka.connect.data.Decimal"
	connectData = "org.apache.kafka.connect.data."
	debeziumT   = "io.debezium.time."
	debeziumD   = "io.debezium.data."
	avroInstant = "avro.timestamp-" // Avro's logical types, which no converter names
)

var (
	integers = []string{"int32", "int64"}
	texts    = []string{"string"}
	structs  = []string{"struct"}
)

// types are the readers by type.
var types = map[string]reader{
	"boolean": readBool,
	"int8":    readInt(8), "int16": readInt(16), "int32": readInt(32), "int64": readInt(64),
	"float32": readFloat, "float64": readFloat,
	"float": readFloat, "double": readFloat, // the converter's words for them
	"string": readString,
	"bytes":  readBytes,
	"array":  readArray,
	"struct": readStruct,
	"map":    readRaw,
}

// names are the readers by name, each with the types that the name is known with.
var names = map[string]struct {
	types []string
	read  reader
}{
	decimalName:               {[]string{"bytes"}, readDecimal},
	connectData + "Date":      {integers, readDays},
	connectData + "Time":      {integers, readTime(millis)},
	connectData + "Timestamp": {integers, readDateTime(millis)},

	debeziumD + "VariableScaleDecimal": {structs, readVariableScaleDecimal},
	debeziumD + "Json":                 {texts, readJSON},
	debeziumD + "geometry.Point":       {structs, readRaw},
	debeziumD + "geometry.Geometry":    {structs, readRaw},
	debeziumD + "geometry.Geography":   {structs, readRaw},
	debeziumD + "geometry.Circle":      {structs, readRaw},
	debeziumD + "geometry.Line":        {structs, readRaw},

	debeziumT + "Date":           {integers, readDays},
	debeziumT + "Time":           {integers, readTime(millis)},
	debeziumT + "MicroTime":      {integers, readTime(micros)},
	debeziumT + "NanoTime":       {integers, readTime(nanos)},
	debeziumT + "Timestamp":      {integers, readDateTime(millis)},
	debeziumT + "MicroTimestamp": {integers, readDateTime(micros)},
	debeziumT + "NanoTimestamp":  {integers, readDateTime(nanos)},
	debeziumT + "ZonedTimestamp": {texts, readZonedTimestamp},
	debeziumT + "ZonedTime":      {texts, readISOTime},
	debeziumT + "IsoDate":        {texts, readISODate},
	debeziumT + "IsoTime":        {texts, readISOTime},
	debeziumT + "IsoTimestamp":   {texts, readISOTimestamp},
	debeziumT + "Interval":       {texts, readInterval},
	debeziumT + "MicroDuration":  {[]string{"int64", "float64"}, readDuration(micros)},
	debeziumT + "NanoDuration":   {[]string{"int64"}, readDuration(nanos)},

	avroInstant + "millis": {integers, readInstant(millis)},
	avroInstant + "micros": {integers, readInstant(micros)},
	avroInstant + "nanos":  {integers, readInstant(nanos)},

	debeziumT + "StructuredDate":           {structs, readStructuredDate},
	debeziumT + "StructuredTime":           {structs, readStructuredTime},
	debeziumT + "StructuredZonedTime":      {structs, readStructuredTime},
	debeziumT + "StructuredTimestamp":      {structs, readStructuredTimestamp},
	debeziumT + "StructuredZonedTimestamp": {structs, readStructuredZonedTimestamp},
	debeziumT + "StructuredDuration":       {structs, readStructuredDuration},
}
