// Package datastream decodes the change events of Google Cloud's Datastream in
// JSON. Datastream writes them to files; this is for those that are forwarded,
// one a message:
//
//	{"read_method": "mysql-cdc-binlog", "source_timestamp": "…", "sort_keys": […],
//	 "source_metadata": {"table": "t", "database": "shop", "primary_keys": ["id"], "change_type": "INSERT", …},
//	 "payload": {"id": 7}}
//
// Nothing types the values. The key is what source_metadata.primary_keys names,
// for SQL Server also replication_index; a table without either has no key.
//
// # Kinds
//
//	INSERT                   create
//	UPDATE, UPDATE-INSERT    update
//	UPDATE-DELETE            delete of the old key, where an update changed it; at the position of its UPDATE-INSERT
//	DELETE                   delete; its payload is a before image, of which the key alone is to be trusted
//	backfill, dump           snapshot row, by the read_method
//
// is_deleted must agree with change_type. Truncates and schema changes don't
// appear.
//
// # Positions
//
//	PostgreSQL  lsn
//	MySQL       log_file and log_position, or binlog_file and binlog_position as they are called with GTIDs
//	SQL Server  lsn
//	Oracle      scn, rs_id and ssn
//	MongoDB     cluster_time, or else sort_keys
//
// PostgreSQL's, SQL Server's and Oracle's are a change's own, not its commit's.
// They are the order of commits for each key all the same, since a row's lock
// lets one transaction write it at a time. The sort_keys are read of MongoDB
// alone: elsewhere they begin with the time of the statement, which is not the
// order of commits (DataflowTemplates#2867).
//
// A backfill's row has its position where it is one of PostgreSQL or MySQL and
// not 0, and else is the lowest in its epoch: any streamed change wins over it.
// Oracle's are always the lowest, since a transaction that was under way has
// older SCNs than the backfill that didn't see it. Raise the epoch for a backfill
// that must win.
package datastream
