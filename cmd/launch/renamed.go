package main

import (
	"encoding/json"
	"maps"
)

// renamed has, for each transform that had another name in an earlier version, the
// old name and the new: a job that is updated keeps its state by it. Names are never
// taken out, since nobody knows the age of the oldest job. TestRenamed holds it
// against the names of every version, in testdata/names.txt.
var renamed = map[string]string{}

// transformNames returns the mapping for an update: ours, over which the user's goes.
// Dataflow refuses a mapping of a name that the old job lacks, so that ours is left
// out where the user gives one that has no name in it: "{}".
func transformNames(users string) (string, error) {
	if users == "" && len(renamed) == 0 {
		return "", nil
	}
	mapping := make(map[string]string, len(renamed))
	given := make(map[string]string)
	if users != "" {
		if err := json.Unmarshal([]byte(users), &given); err != nil {
			return "", usageErrorf(`--transform_name_mapping is no JSON object of texts, such as {"old name": "new name"}: %v`, err)
		}
	}
	if users == "" || len(given) > 0 {
		maps.Copy(mapping, renamed)
	}
	maps.Copy(mapping, given)
	text, err := json.Marshal(mapping)
	return string(text), err
}
