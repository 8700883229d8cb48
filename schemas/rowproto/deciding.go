package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// deciding returns the policies under which the field would take a value that it
// has refused. It tries them, since what a policy does for the type need not help
// with this value: nothing is nearest to a text that is no number.
func (e *Encoder) deciding(f *field, v *change.Value) []table.Policy {
	if f.key {
		return nil
	}
	var policies []table.Policy
	for _, p := range table.Policies {
		if p.Effect(f.column) == "" {
			continue
		}
		if p == table.PolicyNull || e.takes(f, v, p) {
			policies = append(policies, p)
		}
	}
	return policies
}

// takes reports whether the field takes the value under a policy.
func (e *Encoder) takes(f *field, v *change.Value, p table.Policy) bool {
	under := *f
	under.policy, under.clamp = p, p == table.PolicyClamp
	if f.bound != nil {
		bound := *f.bound
		bound.policy, bound.clamp = under.policy, under.clamp
		under.bound = &bound
	}
	adjusted := len(e.adjusted)
	var err *ValueError
	if f.repeated {
		_, err = e.appendArray(nil, &under, v)
	} else {
		_, err = f.append(e, &under, nil, v)
	}
	e.adjusted = e.adjusted[:adjusted]
	return err == nil
}
