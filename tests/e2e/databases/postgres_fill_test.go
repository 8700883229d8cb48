package databases

import (
	"strings"
	"testing"
)

// With the default replica identity PostgreSQL leaves large values out of updates,
// those of rows that get another key among them. With fill each row is the source's
// all the same, after the pipeline was killed and has forgotten everything, too.
//
// One thing nothing can mend: a row that got another key, and was not written under it
// when the pipeline was killed, while its old row was deleted already. So no row gets
// another key after the last one was acked before a kill.
func TestPostgresFill(t *testing.T) {
	h := postgresHistory(t, true)
	docs := pgDocs()
	docs.full, docs.weight = false, 10
	docs.rule = "    unavailable_values: fill\n    fill: {first_seen: read, hold_for: 10s, max_bytes: 33554432}\n"
	h.tables = []*sourceTable{pgItems(), docs}
	r := h.begin()
	h.harmless = func(l letter) bool {
		if l.stage != "fill" || l.reason != "unavailable_value" {
			return false
		}
		for _, m := range r.services.pubsub.Messages(topic) {
			if m.OrderingKey == l.key && strings.Contains(string(m.Data), `"op":"d"`) {
				return true
			}
		}
		return false
	}
	w, s, capture, n := r.workload, r.services, r.capture, transactions(t)/4

	w.run(n / 10)
	w.commit()
	s.launch()
	capture.start()
	capture.catchUp(h.mark)
	h.source.exec(h.addColumns()...)
	w.altered = true
	w.run(4 * n / 10)
	for i := range 2 {
		docs.still = true
		w.run((5 + 2*i) * n / 10)
		w.commit()
		capture.catchUp(h.mark)
		s.acked()
		w.run((5+2*i)*n/10 + n/20)
		w.commit()
		s.kill()
		s.launch()
		docs.still = false
		if i == 1 {
			capture.kill()
			capture.start()
		}
		w.run((6 + 2*i) * n / 10)
	}
	h.end(r)
}
