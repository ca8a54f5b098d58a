package export

import (
	"embed"
	"io/fs"
)

//go:embed schema/*.schema.json
var schemaFiles embed.FS

// Schemas holds a JSON Schema (draft 2020-12) for each kind of record of a run directory:
// analysis, manifest, request, sample, event and checkpoint, as NAME.schema.json. A later
// version of a schema only adds properties, unless the "schema" number of manifest and
// analysis changes. The files are made from the types and comments of package archive by
// the tests of this package with -update.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemaFiles, "schema")
	if err != nil { // the folder is embedded above
		panic(err)
	}
	return sub
}
