package live

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// IDFile holds a study's id, in its folder.
const IDFile = "id"

// identity is the id of the study in a folder: drawn once, and the same when it goes on.
func identity(dir string) (string, error) {
	path := filepath.Join(dir, IDFile)
	if b, err := os.ReadFile(path); err == nil {
		id := strings.TrimSpace(string(b))
		if id == "" || strings.Trim(id, "0123456789abcdef") != "" {
			return "", fmt.Errorf("%s: %.40q is no study's id; remove the file", path, id)
		}
		return id, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("study folder: %w", err)
	}
	raw := make([]byte, 6)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("study id: %w", err)
	}
	id := hex.EncodeToString(raw)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("study folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(id+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("study folder: %w", err)
	}
	return id, nil
}
