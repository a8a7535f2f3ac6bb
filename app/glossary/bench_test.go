package glossary_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/translate"
)

// The cost of a stored glossary for a request, before its translation.
func BenchmarkTerms(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store, err := glossarystore.OpenFile(filepath.Join(b.TempDir(), "glossaries.db"))
			require.NoError(b, err)
			defer func() { require.NoError(b, store.Close()) }()
			s := glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: n, Bytes: 1 << 20, PerOwner: 1}})
			terms := glossary.Terms{Pair: french}
			for i := range n {
				terms.List = append(terms.List, translate.Term{Source: fmt.Sprintf("a source term %d", i), Target: fmt.Sprintf("une traduction %d", i)})
			}
			g, err := s.Create(b.Context(), "", "n", []glossary.Terms{terms})
			require.NoError(b, err)
			for b.Loop() {
				_, err := s.Terms(b.Context(), "", g.ID, []glossary.Pair{french})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "terms/s")
		})
	}
}
