// Package endpoint makes the options of clients for the addresses that a
// configuration or the environment names instead of Google's own, and keeps what
// they send from a network in plain text: TLS with verified certificates goes
// anywhere, plain text to this machine alone, unless the configuration says so.
package endpoint

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Flag is the setting that lets plain text leave this machine, as its user writes it.
const Flag = "allow_plaintext"

// pubsubVariable names an emulator to Pub/Sub's clients, and storageVariable one to
// Cloud Storage's: they speak to it without TLS.
const (
	pubsubVariable  = "PUBSUB_EMULATOR_HOST"
	storageVariable = "STORAGE_EMULATOR_HOST"
)

// Plain returns an error if a client that speaks plain text to the address, host:port
// or a URL, would be heard by others than this machine; allowed says that it may be.
func Plain(address string, allowed bool) error {
	if allowed || isLoopback(hostOf(address)) {
		return nil
	}
	return fmt.Errorf("%.200q is another machine, and would be spoken to without TLS, for everybody on the way to read and to change; use TLS, or set %s for a network that nobody else is on", withoutUser(address), Flag)
}

// hostOf returns the host of host:port, of a URL, or of a name of gRPC's; "" for what
// is none of them.
func hostOf(address string) string {
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		if scheme == "http" || scheme == "https" {
			u, err := url.Parse(address)
			if err != nil {
				return ""
			}
			return u.Hostname()
		}
		server, name, _ := strings.Cut(rest, "/") // "dns:///host:port"
		if server != "" {
			return "" // who tells what the name means
		}
		address = name
	}
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

// withoutUser is an address that can be shown.
func withoutUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	authority, path, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if !ok || at < 0 {
		return address
	}
	return scheme + "://" + authority[at+1:] + "/" + path
}

// isLoopback reports whether a host is this machine. A name that merely resolves to it
// now is none: who answers for the name decides.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// GRPC returns the options of a client of a gRPC service at host:port, "" for Google's
// own. plaintext is without TLS and without credentials.
func GRPC(address string, plaintext, allowed bool) ([]option.ClientOption, error) {
	var options []option.ClientOption
	if address != "" {
		options = append(options, option.WithEndpoint(address))
	}
	if !plaintext {
		return options, nil
	}
	if address == "" {
		return nil, errors.New("plain text needs an address: Google's services speak TLS")
	}
	if err := Plain(address, allowed); err != nil {
		return nil, err
	}
	return append(options,
		option.WithoutAuthentication(),
		option.WithTelemetryDisabled(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))), nil
}

// PubSub is GRPC for Pub/Sub, whose clients go by the environment, too: where
// PUBSUB_EMULATOR_HOST is set, any address of theirs is spoken to in plain text.
func PubSub(address string, plaintext, allowed bool) ([]option.ClientOption, error) {
	if host := os.Getenv(pubsubVariable); host != "" {
		at := host
		if address != "" {
			at = address
		}
		if err := Plain(at, allowed); err != nil {
			return nil, fmt.Errorf("%s: %w", pubsubVariable, err)
		}
	}
	return GRPC(address, plaintext, allowed)
}

// REST returns the options of a client of a REST service at a URL, "" for Google's
// own. One of http:// gets no credentials, one of https:// those of any other service.
func REST(address string, allowed bool) ([]option.ClientOption, error) {
	if address == "" {
		return nil, nil
	}
	options := []option.ClientOption{option.WithEndpoint(address)}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("the address is no URL such as https://HOST or http://127.0.0.1:PORT")
	case u.Scheme == "https":
		return options, nil
	case u.Scheme != "http":
		return nil, fmt.Errorf("the address %.200q begins with neither https:// nor http://", withoutUser(address))
	}
	if err := Plain(address, allowed); err != nil {
		return nil, err
	}
	return append(options, option.WithoutAuthentication(), option.WithHTTPClient(rest())), nil
}

// Environment returns an error if a variable of the environment makes a client speak
// plain text to another machine.
func Environment(allowed bool) error {
	for _, name := range []string{pubsubVariable, storageVariable} {
		address := os.Getenv(name)
		if address == "" || strings.HasPrefix(address, "https://") {
			continue
		}
		if err := Plain(address, allowed); err != nil {
			return fmt.Errorf("the environment's %s: %w", name, err)
		}
	}
	return nil
}
