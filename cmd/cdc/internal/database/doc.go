// Package database connects to the databases that changes come from, PostgreSQL and
// MySQL or MariaDB, to read. Sessions are in UTC and write values in forms that don't
// depend on the server's settings.
package database
