package main

import (
	"fmt"
	"strings"
	"time"

	"dragoman/app/client"
	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
)

// target is the destination of the requests for a model.
type target struct {
	flag string // the flag of url
	url  string
	name string // of the model; "": the service's choice
	ask  string // the model named in requests
}

// targets returns the targets of --models, or the one of --url.
func (o *options) targets() []target {
	if len(o.models) == 0 {
		return []target{{flag: "url", url: o.url}}
	}
	var list []target
	for _, model := range o.models {
		name, url, own := strings.Cut(model, "=")
		if own {
			list = append(list, target{flag: "models", url: url, name: name})
		} else {
			list = append(list, target{flag: "url", url: o.url, name: name, ask: name})
		}
	}
	return list
}

// checkModels checks that models have distinct names.
func (o *options) checkModels() error {
	known := map[string]bool{}
	for _, t := range o.targets() {
		if known[t.name] || t.name == "" && len(o.models) > 0 {
			return fmt.Errorf("--models: %q is there twice, or has no name: use names, or name=URL", t.name)
		}
		known[t.name] = true
	}
	return nil
}

// connect creates a sender for each model.
func (t *test) connect(request client.Request) error {
	for _, target := range t.o.targets() {
		request.Model = target.ask
		s, err := sender.New(sender.Config{URL: target.url, Key: t.o.key, Timeout: time.Duration(t.o.timeout), Request: request,
			AllowEmpty: t.o.allowEmpty, Same: t.o.same, HideTimeout: t.o.hideTimeout, MaxInFlight: t.o.maxInFlight})
		if err != nil {
			t.disconnect()
			return err
		}
		t.senders = append(t.senders, s)
	}
	return nil
}

// disconnect closes the connections.
func (t *test) disconnect() {
	for _, s := range t.senders {
		s.Close()
	}
}

// send sends order number i to its model.
func (t *test) send(i int) (sender.Outcome, error) {
	order := t.deck.Order(i)
	// Not t.sending, which would cut answers off when it ends.
	return t.senders[order.Model].Send(t.waiting, i, order)
}

// nameModels sets the model of each request of a phase, if there are several. first is the number of the phase's first order.
func (t *test) nameModels(p *report.Phase, first int) {
	if len(t.o.models) == 0 {
		return
	}
	for _, target := range t.o.targets() {
		p.Models = append(p.Models, target.name)
	}
	for i, r := range p.Requests {
		p.Requests[i].Value.Model = p.Models[t.deck.Order(first+r.Number).Model]
	}
}
