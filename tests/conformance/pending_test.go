package conformance

// pending are the cases that the emulator does not pass yet, by name, each with what
// it lacks. A case that passes in spite of being here fails the test.
var pending = map[string]string{}
