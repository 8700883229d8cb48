package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"

	"beamcdc/internal/endpoint"
)

// OpenMySQL connects by a URL, mysql://USER@HOST:PORT/DATABASE; the password may be
// in MYSQL_PWD. It returns the URL's database as well, "" for none. The caller closes
// the pool.
func OpenMySQL(ctx context.Context, dsn string) (pool *sql.DB, database string, err error) {
	u, err := url.Parse(dsn)
	if err != nil || u.User == nil {
		return nil, "", errors.New("the source's address can't be read: write mysql://USER@HOST:PORT/DATABASE, and the password into MYSQL_PWD")
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", u.Host, u.User.Username()
	if u.Port() == "" {
		config.Addr = u.Hostname() + ":3306"
	}
	config.Passwd, _ = u.User.Password()
	if config.Passwd == "" {
		config.Passwd = os.Getenv("MYSQL_PWD")
	}
	config.TLSConfig = u.Query().Get("tls")
	if config.TLSConfig == "" && endpoint.Plain(u.Host, false) != nil {
		config.TLSConfig = "true" // verified: the password and the rows would be everybody's
	}
	config.InterpolateParams = true // so that values come as texts
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	config.Collation = "utf8mb4_bin"
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, "", fmt.Errorf("the source's address: %w", err)
	}
	pool = sql.OpenDB(connector)
	if err := pool.PingContext(ctx); err != nil {
		_ = pool.Close() // the ping's error tells more
		return nil, "", fmt.Errorf("connecting to MySQL: %w", err)
	}
	return pool, strings.TrimPrefix(u.Path, "/"), nil
}

// QueryMySQL runs a query and calls each with its rows' texts, which hold until it
// returns; nil is NULL. about is what is asked for, in errors.
func QueryMySQL(ctx context.Context, pool *sql.DB, about, query string, args []any, each func(texts [][]byte) error) error {
	failed := func(err error) error { return fmt.Errorf("asking MySQL for %s: %w", about, err) }
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	names, err := rows.Columns()
	if err != nil {
		return failed(err)
	}
	raw := make([]sql.RawBytes, len(names))
	texts, pointers := make([][]byte, len(names)), make([]any, len(names))
	for i := range raw {
		pointers[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return failed(err)
		}
		for i := range raw {
			texts[i] = raw[i]
		}
		if err := each(texts); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	return nil
}
