// Package baseline keeps summaries of runs in a database, so that a new run can be held
// against the history of its machine, configuration, engine and model.
//
// The database is a SQLite file or a PostgreSQL server that a team shares. It indexes run
// directories and can be made again from them: nothing is only here. Names and values are
// those of the analysis, such as ttft_p99 in milliseconds.
package baseline
