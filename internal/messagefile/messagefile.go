// Package messagefile reads files of messages: JSON Lines, one Pub/Sub message a line.
package messagefile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/internal/spelling"
)

// Open reads the messages of a file, or of stdin where name is "-".
// Its errors name the file and the line.
func Open(name string, stdin io.Reader) ([]*pubsubpb.PubsubMessage, error) {
	if name == "-" {
		return Read("standard input", stdin)
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return Read(name, file)
}

// OpenEither is Open for files that may have the data alone: see [ReadEither].
func OpenEither(name string, stdin io.Reader) ([]*pubsubpb.PubsubMessage, error) {
	if name == "-" {
		return ReadEither("standard input", stdin)
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return ReadEither(name, file)
}

func open(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening the messages: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close() // nothing was read
		return nil, fmt.Errorf("opening the messages: %s is a directory; name its files", name)
	}
	return file, nil
}

// Read reads JSON Lines, one message a line. Blank lines are skipped.
func Read(name string, r io.Reader) ([]*pubsubpb.PubsubMessage, error) {
	var messages []*pubsubpb.PubsubMessage
	err := eachLine(name, r, func(number int, line []byte) error {
		message, err := parseMessage(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		messages = append(messages, message)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return messages, nil
}

// ReadEither reads JSON Lines whose lines are all messages, as Read does, or are all
// the data of one. A file with a line that is a message, or was meant for one, is of
// messages: another line in it is an error, and not taken for data.
func ReadEither(name string, r io.Reader) ([]*pubsubpb.PubsubMessage, error) {
	var messages, data []*pubsubpb.PubsubMessage
	var first error // what is wrong with the first line that is no message
	form := false
	err := eachLine(name, r, func(number int, line []byte) error {
		message, err := parseMessage(line)
		if err == nil {
			form, messages = true, append(messages, message)
		} else {
			form = form || meant(line)
			if first == nil {
				first = fmt.Errorf("%s:%d: %w", name, number, err)
			}
		}
		data = append(data, &pubsubpb.PubsubMessage{Data: bytes.TrimSpace(line)})
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !form:
		return data, nil
	case first != nil:
		return nil, first
	}
	return messages, nil
}

// eachLine calls each with the lines that aren't blank, by their numbers. They are
// each's own.
func eachLine(name string, r io.Reader, each func(number int, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n') // a line has no bound: a message may have ten megabytes
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return fmt.Errorf("%s:%d: reading a message: %w", name, number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := each(number, line); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// members are what a message may have.
var members = []string{"data", "data_base64", "attributes", "ordering_key"}

// meant reports whether a line that is no message was meant for one: as far as it can
// be read it is an object with members of a message's names, or nearly those, alone.
func meant(line []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return false
	}
	found := false
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		if spelling.Nearest(name.String(), members) == "" {
			return false
		}
		found = true
		if d.SkipValue() != nil {
			break
		}
	}
	return found
}

// parseMessage reads one message:
//
//	{"data": <any JSON value>, "attributes": {"name": "value"}, "ordering_key": "…"}
//	{"data_base64": "…", …}
//
// data's bytes are sent exactly as they are written here. Of the two forms of
// the data there must be one; data_base64 "" is the empty message, a tombstone.
func parseMessage(line []byte) (*pubsubpb.PubsubMessage, error) {
	// Names that come twice, and text that is no UTF-8, are for the decoder to
	// judge where they are in data: the bytes go on as they are.
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		if _, err := d.ReadToken(); err != nil {
			return nil, fmt.Errorf("reading a message: %w", err)
		}
		return nil, errors.New("a message is a JSON object with data or data_base64")
	}
	message := new(pubsubpb.PubsubMessage)
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	seen := map[string]bool{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("reading a message: %w", err)
		}
		name := token.String()
		if seen[name] {
			return nil, fmt.Errorf("%q comes twice", name)
		}
		seen[name] = true
		value, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", name, err)
		}
		if err := setMember(message, name, value); err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the message; one line holds one message")
	}
	switch {
	case seen["data"] && seen["data_base64"]:
		return nil, errors.New("it has data and data_base64; one of them is the message's data")
	case !seen["data"] && !seen["data_base64"]:
		return nil, errors.New(`it has neither data nor data_base64; {"data_base64": ""} is an empty message`)
	}
	return message, nil
}

func setMember(message *pubsubpb.PubsubMessage, name string, value jsontext.Value) error {
	if value.Kind() == 'n' && (name == "data_base64" || name == "ordering_key") {
		return nil // what a message hasn't got, as tools write it that always write each member
	}
	switch name {
	case "data":
		message.Data = bytes.Clone(value)
	case "data_base64":
		text, err := stringValue(name, value)
		if err != nil {
			return err
		}
		if message.Data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return fmt.Errorf("decoding data_base64: %w", err)
		}
	case "ordering_key":
		var err error
		message.OrderingKey, err = stringValue(name, value)
		return err
	case "attributes":
		return setAttributes(message, value)
	default:
		if known := spelling.Nearest(name, members); known != "" {
			return fmt.Errorf("unknown member %q; %s is meant", name, known)
		}
		return fmt.Errorf("unknown member %q; a message has data or data_base64, attributes, ordering_key", name)
	}
	return nil
}

func setAttributes(message *pubsubpb.PubsubMessage, value jsontext.Value) error {
	if value.Kind() == 'n' {
		return nil
	}
	if value.Kind() != '{' {
		return errors.New("attributes is no JSON object")
	}
	message.Attributes = map[string]string{}
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		key := name.String()
		var raw jsontext.Value
		if raw, err = d.ReadValue(); err != nil {
			break
		}
		if message.Attributes[key], err = stringValue("attribute "+key, raw); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("reading attributes: %w", err)
	}
	return nil
}

func stringValue(name string, value jsontext.Value) (string, error) {
	if value.Kind() != '"' {
		return "", fmt.Errorf("%s is no JSON string", name)
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return string(text), nil
}
