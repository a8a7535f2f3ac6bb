package client

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
)

func newMemories(t *testing.T) *memory.Service {
	store, err := memorystore.OpenFile(filepath.Join(t.TempDir(), "memories.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return memory.New(memory.Config{Store: store, Limits: memory.Limits{Entries: 5, Bytes: 1 << 20, PerOwner: 2}})
}

func TestContractOfMemories(t *testing.T) {
	c, _ := contract(t, Config{}, access.Config{})
	ctx := t.Context()
	list, err := c.Memories(ctx)
	require.NoError(t, err)
	assert.Empty(t, list)
	made, imported, err := c.PutMemory(ctx, "m", MemoryFile{Format: string(TSV), Content: []byte("cat\tchat\nx\t\n"), From: "en", To: "fr"})
	require.NoError(t, err)
	assert.Equal(t, Imported{1, 1, []string{"line 2: the target is empty"}}, imported)
	assert.Equal(t, []MemoryLanguages{{"en", "fr", 1}}, made.Languages)
	assert.False(t, made.Created.IsZero())
	changed, err := c.AddToMemory(ctx, "m", "en", "fr", MemoryEntry{"dog & co", "chien"}, MemoryEntry{"cat", "minou"})
	require.NoError(t, err)
	assert.Equal(t, 2, changed.Entries)
	found, err := c.Memory(ctx, "m")
	require.NoError(t, err)
	assert.Equal(t, changed, found)
	tmx, err := c.ExportMemory(ctx, "m")
	require.NoError(t, err)
	assert.Contains(t, string(tmx), "<seg>dog &amp; co</seg>")
	copied, _, err := c.PutMemory(ctx, "copy", MemoryFile{Format: TMX, Content: tmx})
	require.NoError(t, err)
	assert.Equal(t, 2, copied.Entries)
	copied, _, err = c.PutMemory(ctx, "copy", MemoryFile{Format: string(TSV), Content: []byte("a\tb\n"), From: "en", To: "fr", Keep: true})
	require.NoError(t, err)
	assert.Equal(t, 3, copied.Entries)
	list, err = c.Memories(ctx)
	require.NoError(t, err)
	assert.Len(t, list, 2)

	_, _, err = c.PutMemory(ctx, "third", MemoryFile{Format: TMX, Content: tmx})
	assert.True(t, IsCode(err, CodeTooManyMemories), err)
	_, _, err = c.PutMemory(ctx, "m", MemoryFile{Format: TMX, Content: []byte("<tmx>")})
	assert.True(t, IsCode(err, CodeInvalidMemory), err)
	_, err = c.AddToMemory(ctx, "m", "en", "xx", MemoryEntry{"a", "b"})
	assert.True(t, IsCode(err, CodeUnknownLanguage), err)
	_, err = c.AddToMemory(ctx, "m", "en", "fr", MemoryEntry{"\xff", "b"})
	assert.ErrorContains(t, err, "cannot be written as JSON")

	require.NoError(t, c.DeleteFromMemory(ctx, "m", "en", "fr", "cat"))
	require.NoError(t, c.DeleteMemory(ctx, "m"))
	_, err = c.Memory(ctx, "m")
	assert.True(t, IsCode(err, CodeUnknownMemory), err)
}
