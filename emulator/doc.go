// Package emulator is BigQuery for one machine, with change data capture: a gRPC
// server for the Storage Write API and a REST server for datasets, tables, jobs and
// streaming by tabledata.insertAll, to which Google's own client libraries talk
// unchanged. Queries are GoogleSQL. It applies UPSERTs and DELETEs as BigQuery
// documents it: for each key the change with the highest _CHANGE_SEQUENCE_NUMBER wins,
// whatever the order in which they came. Changes wait until a background apply merges
// them into the table's baseline, which is due by max_staleness and Options.Now; a query
// within max_staleness of the last apply sees the baseline, any other one a runtime merge.
//
//	server, err := emulator.New(emulator.Options{})
//	…
//	client, err := managedwriter.NewClient(ctx, "p", option.WithEndpoint(server.GRPCAddr()), option.WithoutAuthentication(),
//		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
//
// Tests move its clock (Clock), apply changes (Server.Apply, Server.ApplyDue) and let calls
// fail (Fault, Server.SetFaults); those in other languages do so by requests, which
// "Make it fail, move its clock" in examples/clients/README.md shows.
//
// Tables live in DuckDB, in memory or in a file; with a file, what was acknowledged
// survives the process's death. Package internal/engine has the tables,
// internal/googlesql translates statements, which internal/query runs,
// internal/writeapi is the gRPC service and internal/rest the REST API: each file there
// that is named after an RPC or a collection tells its behavior on top. GAPS.md
// lists what BigQuery does and this doesn't. The packages import nothing else of
// their module: they share no code with the writers that are tested against them.
package emulator
