package database

import "testing"

// A source on another machine is spoken to with TLS that is verified, and nothing
// else is tried, unless its address says so.
func TestPGConfig(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for dsn, verified := range map[string]bool{
		"postgres://u@db.example.com:5432/shop":                 true,
		"postgres://u@10.0.0.7/shop?application_name=x":         true,
		"host=db.example.com user=u dbname=shop":                true,
		"postgres://u@127.0.0.1:5432/shop":                      false,
		"postgres://u@localhost/shop":                           false,
		"host=/var/run/postgresql user=u":                       false,
		"postgres://u@db.example.com:5432/shop?sslmode=disable": false,
	} {
		config, err := pgConfig(dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		c := config.ConnConfig
		got := c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify && c.TLSConfig.ServerName == c.Host
		for _, f := range c.Fallbacks {
			got = got && f.TLSConfig != nil
		}
		if got != verified {
			t.Errorf("%s: verified %v, want %v", dsn, got, verified)
		}
	}
}
