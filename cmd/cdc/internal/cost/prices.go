package cost

import (
	"bytes"
	_ "embed" // of the list prices
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"
)

//go:embed prices.yaml
var listPrices []byte

// Prices are what a month's bytes cost.
type Prices struct {
	Currency string  `yaml:"currency"`
	Region   string  `yaml:"region"`
	Hours    float64 `yaml:"hours_per_month"`

	Write struct {
		PerGiB  float64 `yaml:"per_gib"`
		FreeGiB float64 `yaml:"free_gib_per_month"`
		Origin  `yaml:",inline"`
	} `yaml:"storage_write_api"`
	OnDemand struct {
		PerTiB  float64 `yaml:"per_tib"`
		FreeTiB float64 `yaml:"free_tib_per_month"`
		Origin  `yaml:",inline"`
	} `yaml:"on_demand"`
}

// Origin is where a price is from.
type Origin struct {
	Source string `yaml:"source"`
	AsOf   string `yaml:"as_of"`
}

const (
	gib = 1 << 30
	tib = 1 << 40
)

// readPrices reads a file of prices; "" is the list prices'.
func readPrices(file string) (Prices, error) {
	text, name := listPrices, "the list prices"
	if file != "" {
		var err error
		name = file
		if text, err = os.ReadFile(file); err != nil {
			return Prices{}, fmt.Errorf("opening the prices: %w", err)
		}
	}
	var p Prices
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&p); err != nil {
		return Prices{}, located(name, err)
	}
	for _, n := range []float64{p.Write.PerGiB, p.Write.FreeGiB, p.OnDemand.PerTiB, p.OnDemand.FreeTiB, p.Hours} {
		if !(n >= 0) || math.IsInf(n, 0) {
			return Prices{}, fmt.Errorf("%s: a price, a free amount or hours_per_month is negative or no number", name)
		}
	}
	if p.Hours <= 0 || p.Currency == "" {
		return Prices{}, errors.New(name + ": currency or hours_per_month is missing; cdc cost -print_prices shows what belongs into it")
	}
	return p, nil
}

// located is an error of reading YAML as file, line and what is wrong, without the names
// of Go's types.
func located(name string, err error) error {
	var of yaml.Error
	if !errors.As(err, &of) || of.GetToken() == nil {
		return fmt.Errorf("%s: it is no YAML of prices; cdc cost -print_prices shows what belongs into it", name)
	}
	problem := of.GetMessage()
	if typed, ok := errors.AsType[*yaml.TypeError](err); ok {
		problem = fmt.Sprintf("%q is no %s", of.GetToken().Value, map[reflect.Kind]string{reflect.Float64: "number", reflect.String: "text"}[typed.DstType.Kind()])
	}
	return fmt.Errorf("%s:%d: %s; cdc cost -print_prices shows what belongs into it", name, of.GetToken().Position.Line, problem)
}

// write is what so many bytes of rows cost, less what is free.
func (p *Prices) write(bytes float64) float64 {
	return max(0, bytes/gib-p.Write.FreeGiB) * p.Write.PerGiB
}

// process is what so many processed bytes cost, less what is free.
func (p *Prices) process(bytes float64) float64 {
	return max(0, bytes/tib-p.OnDemand.FreeTiB) * p.OnDemand.PerTiB
}
