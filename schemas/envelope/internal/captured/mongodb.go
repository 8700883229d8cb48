package captured

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// fillDocument makes the change of a document: its columns are _id and the
// fields of its top level. An update without the document has the fields that it
// set, NULL for those that it removed, and nothing of the others.
func (r *Reader) fillDocument(e *change.Event) error {
	e.Partial = true
	key, err := r.documentKey(e.Message.OrderingKey)
	if err != nil {
		return err
	}
	if r.Before, err = r.document("before", r.Before); err != nil {
		return err
	}
	switch {
	case e.Op == change.OpDelete:
		r.After = Image{}
	case r.After.Present:
		r.After, err = r.document("after", r.After)
	case e.Op == change.OpUpdate && (r.updated != "" || r.removed != ""):
		e.AbsentUnavailable = true
		r.After, err = r.setFields(key)
	default:
		err = outcome.Errorf(outcome.MissingImage, "op %s has no after image (position: %s)", r.Op, e.Position)
	}
	if err != nil {
		return err
	}
	r.keep(e, key)
	return nil
}

// documentKey reads {"id": "…"}, which holds the _id as JSON text, or as it is in
// flattened messages.
func (r *Reader) documentKey(orderingKey string) (Image, error) {
	key := r.key(orderingKey)
	id, ok := change.Find(key.of(r.columns), "id")
	if !ok {
		return Image{}, nil
	}
	if kind := id.Kind(); (kind == change.KindText || kind == change.KindString) && r.Scan.Reset(id.Text()) == nil {
		var err error
		if id, err = r.extended(r.Scan.Value()); err != nil {
			return Image{}, outcome.Errorf(outcome.BadValue, "column _id of the key: %w", err)
		}
	}
	img := r.Open(nil)
	r.columns = append(r.columns, change.Column{Name: "_id", Value: id})
	return r.Close(img), nil
}

// document reads an image that is a document's text. What has been read as a
// row already stays so.
func (r *Reader) document(which string, img Image) (Image, error) {
	if img.text == "" {
		return img, nil
	}
	doc := r.Open(nil)
	if err := r.fields(which, img.text, false); err != nil {
		return Image{}, err
	}
	return r.Close(doc), nil
}

// fields reads the fields of a document's text, given as a JSON string. With
// the names of an update they must be whole fields.
func (r *Reader) fields(which, quoted string, ofUpdate bool) error {
	text := quoted
	if quoted[0] == '"' {
		var err error
		if text, err = r.Scan.Arena.Unquote(quoted); err != nil {
			return outcome.Errorf(outcome.BadValue, "%s: %w", which, err)
		}
	}
	s := r.Scan
	if err := s.Reset(text); err != nil {
		return outcome.Errorf(outcome.BadValue, "%s: %w", which, err)
	}
	if !s.Object() {
		return outcome.Errorf(outcome.BadValue, "%s is no document", which)
	}
	for {
		name, more := s.Member()
		if !more {
			return nil
		}
		if ofUpdate && strings.Contains(name, ".") {
			return partOfField(name)
		}
		v, err := r.extended(s.Value())
		if err != nil {
			return outcome.Errorf(outcome.BadValue, "%s: column %s: %w", which, clip(name), err)
		}
		r.columns = append(r.columns, change.Column{Name: name, Value: v})
	}
}

// setFields makes the image of an update that comes without its document.
func (r *Reader) setFields(key Image) (Image, error) {
	if r.truncated != "" && r.truncated[0] == '[' && scan.TrimSpace(r.truncated[1:])[0] != ']' {
		return Image{}, outcome.Errorf(outcome.MissingImage, "the update cuts an array, and the message doesn't hold the rest of it: %s", fullUpdates)
	}
	img := r.Open(nil)
	r.columns = append(r.columns, key.of(r.columns)...)
	if r.updated != "" && r.updated[0] != 'n' {
		if err := r.fields("updatedFields", r.updated, true); err != nil {
			return Image{}, err
		}
	}
	var fault error
	if r.removed != "" && r.removed[0] == '[' {
		scan.EachElement(r.removed, func(element string) bool {
			if element[0] != '"' {
				fault = outcome.Errorf(outcome.BadEnvelope, "removedFields are no names")
				return false
			}
			name, err := r.Scan.Arena.Unquote(element)
			switch {
			case err != nil:
				fault = outcome.Errorf(outcome.BadEnvelope, "removedFields: %w", err)
			case strings.Contains(name, "."):
				fault = partOfField(name)
			default:
				r.columns = append(r.columns, change.Column{Name: name, Value: change.Null()})
			}
			return fault == nil
		})
	}
	if fault != nil {
		return Image{}, fault
	}
	return r.Close(img), nil
}

const fullUpdates = "let the connector's capture.mode be change_streams_update_full"

// partOfField refuses what would leave the rest of a field as it was before.
func partOfField(name string) error {
	field, _, _ := strings.Cut(name, ".")
	return outcome.Errorf(outcome.MissingImage, "the update changes a part of column %s, and the message doesn't hold the rest of it: %s", clip(field), fullUpdates)
}
