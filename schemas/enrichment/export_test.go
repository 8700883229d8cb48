package enrichment

import "beamcdc/schemas/change"

// KeyOf returns the bytes by which an index finds a row.
func KeyOf(r *Reference, values ...change.Value) ([]byte, error) {
	keys, err := newKeyEncoder(r.Key, r.Texts)
	if err != nil {
		return nil, err
	}
	key, _, err := keys.append(nil, values)
	return key, err
}
