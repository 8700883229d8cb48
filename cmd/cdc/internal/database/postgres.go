package database

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"beamcdc/internal/endpoint"
)

// IsPostgres and IsMySQL tell by a URL's scheme which database it is of.
func IsPostgres(url string) bool { return hasScheme(url, "postgres", "postgresql") }

// IsMySQL is true of MariaDB, too.
func IsMySQL(url string) bool { return hasScheme(url, "mysql", "mariadb") }

func hasScheme(url string, schemes ...string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return slices.Contains(schemes, scheme)
}

// pgConfig reads an address. What it leaves open about TLS is libpq's "prefer", which
// falls back to plain text and verifies nothing: to another machine it is verify-full.
func pgConfig(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil || strings.Contains(dsn, "sslmode") || os.Getenv("PGSSLMODE") != "" {
		return config, err
	}
	host := config.ConnConfig.Host
	if strings.HasPrefix(host, "/") || endpoint.Plain(host, false) == nil { // a socket, or this machine
		return config, nil
	}
	if u, err := url.Parse(dsn); err == nil && u.Scheme != "" {
		query := u.Query()
		query.Set("sslmode", "verify-full")
		u.RawQuery = query.Encode()
		return pgxpool.ParseConfig(u.String())
	}
	return pgxpool.ParseConfig(dsn + " sslmode=verify-full")
}

// OpenPostgres connects by a URL or a connection string, and libpq's environment
// variables. Nothing is written by these connections. The caller closes the pool.
func OpenPostgres(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgConfig(dsn)
	if err != nil {
		return nil, errors.New("the source's address can't be read: write postgres://USER@HOST:PORT/DATABASE, and the password into PGPASSWORD or ~/.pgpass")
	}
	// All values come as the text that their types write, in these settings.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	maps.Copy(config.ConnConfig.RuntimeParams, map[string]string{
		"application_name": "cdc", "client_encoding": "UTF8", "timezone": "UTC", "datestyle": "ISO", "intervalstyle": "iso_8601",
		"extra_float_digits": "3", "bytea_output": "hex", "lc_monetary": "C", "standard_conforming_strings": "on",
		"default_transaction_read_only": "on",
	})
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err == nil {
		if err = pool.Ping(ctx); err != nil {
			pool.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	return pool, nil
}

// QueryPostgres runs a query and calls each with its rows' texts, which hold until it
// returns; nil is NULL. about is what is asked for, in errors.
func QueryPostgres(ctx context.Context, pool *pgxpool.Pool, about, query string, args []any, each func(texts [][]byte) error) error {
	rows, err := pool.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("asking PostgreSQL for %s: %w", about, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.RawValues()); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("asking PostgreSQL for %s: %w", about, err)
	}
	return nil
}
