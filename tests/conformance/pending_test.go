package conformance

// pending are the cases that the emulator does not pass yet, by name, each with what
// it lacks. A case that passes in spite of being here fails the test.
var pending = map[string]string{
	"no Storage Read API while queries merge": "there is no Storage Read API to refuse a session",
}
