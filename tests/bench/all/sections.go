package main

// section is one of docs/benchmarks.md.
type section struct {
	name, title string
	commands    []command
}

// command is words with a blank between them, variables of the environment first; none
// are quoted.
type command struct {
	full, short string // "" where there is no smaller form
	chart       *chart // nil for none
}

// sections come in the order of docs/benchmarks.md.
var sections = []section{
	{"codec", "Decode and encode", []command{
		{"go test -run=^$ -bench=Codec -benchtime=500x ./tests/bench", "go test -run=^$ -bench=Codec -benchtime=100x ./tests/bench", &chart{
			file: "codec.svg", title: "Decode, key and encode: processor time as a multiple of tokenizing", function: "Codec", column: "tokenize-times", target: 1.3, targetText: "target: 1.3",
		}},
	}},
	{"schema", "The schema envelope", []command{
		{"go test -run=^$ -bench=SchemaEnvelope -benchtime=2000x ./tests/bench", "go test -run=^$ -bench=SchemaEnvelope -benchtime=500x ./tests/bench", nil},
		{"go test -run=^$ -bench=Ratio ./schemas/envelope", "go test -run=^$ -bench=Ratio -benchtime=0.5s ./schemas/envelope", nil},
	}},
	{"write", "The write path", []command{
		{"go test -run=^$ -bench=Write -benchtime=20x ./tests/bench", "go test -run=^$ -bench=Write -benchtime=10x ./tests/bench", nil},
	}},
	{"worker", "The worker path", []command{
		{"go test -run=^$ -bench=Worker -benchtime=20x -timeout=0 ./tests/bench", "go test -run=^$ -bench=Worker -benchtime=10x -timeout=0 ./tests/bench", &chart{
			file: "worker.svg", title: "Worker path: processor time as a multiple of tokenizing", function: "Worker", column: "tokenize-times", target: 2, targetText: "target: 2",
		}},
	}},
	{"graph", "The whole graph", []command{
		{"go test -run=^$ -bench=Graph -benchtime=10x -timeout=0 ./tests/bench", "BEAMCDC_BENCH_MESSAGES=20000 go test -run=^$ -bench=Graph -benchtime=10x -timeout=0 ./tests/bench", nil},
		{"go test -run=^$ -bench=Growth -benchtime=1x -timeout=0 ./tests/bench", "BEAMCDC_BENCH_GROWTH=200000,400000,800000 go test -run=^$ -bench=Growth -benchtime=1x -timeout=0 ./tests/bench", nil},
	}},
	{"peers", "Beside other programs", []command{
		{"go run ./tests/bench/peers", "go run ./tests/bench/peers -messages 30000", &chart{
			file: "peers.svg", title: "Processor time a message, µs", column: "processor time a message",
		}},
		{"go run ./tests/bench/peers -emulator -programs ours,plain,java,python -messages 30000", "go run ./tests/bench/peers -emulator -programs ours,plain,java,python -messages 10000", nil},
		{"go run ./tests/bench/peers -programs ours,java-pubsub -rounds 10", "go run ./tests/bench/peers -programs ours,java-pubsub -rounds 3 -warmup 1 -messages 20000", nil},
	}},
	{"coalesce", "Coalescing", []command{
		{"go test -run=^$ -bench=Coalesce -benchtime=20x -timeout=0 ./tests/bench", "go test -run=^$ -bench=Coalesce -benchtime=10x -timeout=0 ./tests/bench", nil},
	}},
	{"latency", "Latency", []command{
		{"go test -run=^$ -bench=Latency -benchtime=20x -timeout=0 ./tests/bench", "go test -run=^$ -bench=Latency -benchtime=10x -timeout=0 ./tests/bench", nil},
	}},
	{"start", "Start", []command{
		{"go run ./tests/bench/peers -start -programs ours,plain,java,python", "go run ./tests/bench/peers -start -programs ours,plain,java,python", nil},
	}},
	{"gate", "The gate", []command{
		{"go test -count=1 -run=TestGate -v ./tests/bench", "go test -count=1 -run=TestGate -v ./tests/bench", nil},
	}},
	{"formats", "The other formats", []command{
		{"go test -run=^$ -bench=Formats|Avro -benchtime=3000x ./schemas/envelope", "go test -run=^$ -bench=Formats|Avro -benchtime=300x ./schemas/envelope", nil},
		{"go test -run=^$ -bench=Datastream -benchtime=2000x ./schemas/envelope/avro", "go test -run=^$ -bench=Datastream -benchtime=1000x ./schemas/envelope/avro", nil},
	}},
	{"enrichment", "Enrichment", []command{
		{"go test -run=^$ -bench=Row|Find|Map_lookup -count=5 ./schemas/enrichment", "go test -run=^$ -bench=Row|Find|Map_lookup -benchtime=0.3s ./schemas/enrichment", nil},
	}},
	{"emulator", "The emulator", []command{
		{"go test -run=^$ -bench=Append -benchtime=20x -timeout=0 ./emulator", "go test -run=^$ -bench=Append -benchtime=10x -timeout=0 ./emulator", nil},
		{"go test -run=^$ -bench=Merge -benchtime=5x -timeout=0 ./emulator/internal/engine", "", nil},
	}},
	{"load", "Under load", []command{
		{"go run ./tests/load -scenario big,many,hot,wide -duration 25s -idle 15s", "go run ./tests/load -scenario hot -duration 10s -idle 5s", nil},
		{"go run ./tests/load -scenario slow -duration 12m -slow 10m -rate 1000 -interval 15s", "", nil},
		{"go run ./tests/load -scenario soak -duration 1h -rate 1500 -idle 1m", "", nil},
	}},
}

func names() []string {
	list := make([]string, len(sections))
	for i := range sections {
		list[i] = sections[i].name
	}
	return list
}
