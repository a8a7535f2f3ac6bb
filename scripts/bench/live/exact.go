package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"dragoman/app/client"
)

// exact edits many texts at random, over connections that are broken at random, and compares their final
// translations with those of the same texts at once.
func exact(s settings) error {
	var group errgroup.Group
	group.SetLimit(32)
	var edits, connections, differ atomic.Int64
	const each = 250
	for i := range s.edits / each {
		group.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(i), 5))
			ctx := context.Background()
			l, err := s.client.Live(ctx, client.Request{From: "en", To: "fr"})
			if err != nil {
				return err
			}
			defer func() { _ = l.Close() }()
			all := pages()
			source, text := []rune(all[random.IntN(len(all))]), []rune{}
			at := random.IntN(len(source))
			for range each {
				e := client.LiveEdit{From: client.End}
				from, to := len(text), len(text)
				if random.IntN(4) == 0 {
					from = random.IntN(len(text) + 1)
					to = min(len(text), from+random.IntN(8))
					e.From, e.To = from, to
				}
				n := 1 + random.IntN(6)
				if at+n > len(source) {
					at = 0
				}
				e.Text = string(source[at : at+n])
				at += n
				text = slices.Concat(text[:from], []rune(e.Text), text[to:])
				if err := l.Edit(ctx, e); err != nil {
					return err
				}
				switch random.IntN(50) {
				case 0:
					l.Break()
				case 1:
					if err := l.Next(ctx); err != nil {
						return err
					}
				}
				edits.Add(1)
			}
			if err := l.Finish(ctx); err != nil {
				return err
			}
			for err == nil {
				err = l.Next(ctx)
			}
			if err != io.EOF {
				return err
			}
			connections.Add(int64(l.Connections()))
			plain, err := s.client.Translate(ctx, client.Request{From: "en", To: "fr", Detail: true, Records: []client.Record{{Text: string(text)}}})
			if err != nil {
				return err
			}
			if plain[0].Text != l.Text() {
				differ.Add(1)
				fmt.Printf("%q\n%q\n%q\n", string(text), plain[0].Text, l.Text())
			}
			return nil
		})
	}
	err := group.Wait()
	fmt.Printf("%d edits in %d sessions, %d connections: %d final texts differ\n", edits.Load(), s.edits/each, connections.Load(), differ.Load())
	return err
}
