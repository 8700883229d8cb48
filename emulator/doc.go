// Package emulator is BigQuery for one machine, with change data capture: a gRPC
// server for the Storage Write API's default stream and a REST server for datasets
// and tables, to which Google's own client libraries talk unchanged. It applies
// UPSERTs and DELETEs as BigQuery documents it: for each key the change with the
// highest _CHANGE_SEQUENCE_NUMBER wins, whatever the order in which they came.
//
//	server, err := emulator.New(emulator.Options{})
//	…
//	client, err := managedwriter.NewClient(ctx, "p", option.WithEndpoint(server.GRPCAddr()), option.WithoutAuthentication(),
//		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
//
// Tables live in DuckDB, in memory or in a file; with a file, what was acknowledged
// survives the process's death. Each file that is named after an RPC or a REST
// collection tells its behavior on top; GAPS.md lists what BigQuery does and this
// doesn't. The package imports nothing else of its module: it shares no code with
// the writers that are tested against it.
package emulator
