// A server for `make test-servers` that speaks PostgreSQL's protocol and runs statements in SQLite:
// `psql-wire ADDRESS`. Each database is a file that is deleted at the end. Every login is accepted, so the address must
// be local to this machine.
//
// The protocol is implemented by psql-wire alone. SQLite runs all statements, except those that Assay's suite needs and
// SQLite lacks.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	wire "github.com/jeroenrinzema/psql-wire"
	"github.com/jeroenrinzema/psql-wire/codes"
	psqlerr "github.com/jeroenrinzema/psql-wire/errors"
	"github.com/jeroenrinzema/psql-wire/pkg/types"
	"github.com/mattn/go-sqlite3"
)

// Largest message of a client. Each connection has a buffer of that size.
const largestMessage = 2 << 20

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: psql-wire ADDRESS")
	}
	folder, err := os.MkdirTemp("", "psql-wire")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	all := &databases{folder: folder, open: map[string]*sql.DB{}, sessions: map[int32]*session{}}
	sql.Register("database", &sqlite3.SQLiteDriver{ConnectHook: func(connection *sqlite3.SQLiteConn) error {
		sqlite, _, _ := sqlite3.Version()
		version := func() string { return own() + " on SQLite " + sqlite }
		now := func() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000000") }
		return errors.Join(connection.RegisterFunc("version", version, true), connection.RegisterFunc("now", now, false))
	}})
	server, err := wire.NewServer(parse,
		wire.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))),
		wire.MessageBufferSize(largestMessage),
		wire.SessionMiddleware(all.begin),
		wire.CloseConn(all.end),
		wire.BackendKeyData(func(ctx context.Context) (int32, int32) { return port(ctx), 1 }),
		wire.CancelRequest(all.cancel),
		wire.TxStatus(func(ctx context.Context) types.ServerStatus { return of(ctx).status }))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", arguments[0])
	if err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ended
		listener.Close()
	}()
	fmt.Println("Server ready")
	return server.Serve(listener)
}

// Returns the version of psql-wire.
func own() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "github.com/jeroenrinzema/psql-wire" {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}

// The databases that were used, and the open sessions by the port of their client, which is also their process id.
type databases struct {
	mutex    sync.Mutex
	folder   string
	open     map[string]*sql.DB
	sessions map[int32]*session
}

// A session with its own connection to SQLite.
type session struct {
	connection *sql.Conn
	status     types.ServerStatus
	mutex      sync.Mutex
	cancel     context.CancelFunc
}

type key struct{}

func of(ctx context.Context) *session { return ctx.Value(key{}).(*session) }

func port(ctx context.Context) int32 { return int32(wire.RemoteAddress(ctx).(*net.TCPAddr).Port) }

func (all *databases) begin(ctx context.Context) (context.Context, error) {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	name := filepath.Base(wire.ClientParameters(ctx)[wire.ParamDatabase])
	database := all.open[name]
	if database == nil {
		options := "?_journal_mode=wal&_synchronous=off&_busy_timeout=20000"
		var err error
		if database, err = sql.Open("database", "file:"+filepath.Join(all.folder, name)+options); err != nil {
			return ctx, err
		}
		all.open[name] = database
	}
	connection, err := database.Conn(ctx)
	if err != nil {
		return ctx, err
	}
	of := &session{connection: connection, status: types.ServerIdle, cancel: func() {}}
	all.sessions[port(ctx)] = of
	return context.WithValue(ctx, key{}, of), nil
}

// The connection to SQLite is discarded, which ends a transaction that was left open.
func (all *databases) end(ctx context.Context) error {
	all.mutex.Lock()
	delete(all.sessions, port(ctx))
	all.mutex.Unlock()
	return of(ctx).connection.Raw(func(any) error { return driver.ErrBadConn })
}

func (all *databases) cancel(_ context.Context, process, _ int32) error {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	if session := all.sessions[process]; session != nil {
		session.mutex.Lock()
		defer session.mutex.Unlock()
		session.cancel()
	}
	return nil
}

func failure(code codes.Code, text string) error { return psqlerr.WithCode(errors.New(text), code) }

var near = regexp.MustCompile(`^near ("[^"]*"): syntax error`)

// Returns an error of SQLite with the code and the words of PostgreSQL's error.
func explained(err error) error {
	text := err.Error()
	var found sqlite3.Error
	switch {
	case psqlerr.GetCode(err) != codes.Uncategorized:
		return err
	case errors.Is(err, context.Canceled):
		return failure("57014", "canceling statement due to user request")
	case near.MatchString(text):
		return failure("42601", near.ReplaceAllString(text, "syntax error at or near $1"))
	case strings.HasPrefix(text, "no such table"):
		return failure("42P01", text)
	case strings.HasPrefix(text, "not enough args"):
		return failure("08P01", text)
	case errors.As(err, &found) && found.Code == sqlite3.ErrConstraint:
		return failure("23505", text)
	case errors.As(err, &found) && (found.Code == sqlite3.ErrBusy || found.Code == sqlite3.ErrLocked):
		return failure("55P03", text)
	}
	return failure("42000", text)
}

var (
	series = regexp.MustCompile(`generate_series\(1, (\d+)\) (\w+)`)
	nap    = regexp.MustCompile(`^select pg_sleep\(([0-9.]+)\)$`)
	copied = regexp.MustCompile(`(?is)^copy (.+?) \((.+)\) from stdin$`)
)

// Returns the statements of a text, with SQLite's placeholders instead of PostgreSQL's.
func split(text string) []string {
	var statements []string
	var one strings.Builder
	for at := 0; at < len(text); at++ {
		rest := text[at:]
		end := 0
		switch {
		case rest[0] == '\'' || rest[0] == '"':
			if end = strings.IndexByte(rest[1:], rest[0]); end >= 0 {
				end++
			}
		case strings.HasPrefix(rest, "--"):
			end = strings.IndexByte(rest, '\n')
		case strings.HasPrefix(rest, "/*"):
			if end = strings.Index(rest, "*/"); end >= 0 {
				end++
			}
		case rest[0] == ';':
			statements = append(statements, one.String())
			one.Reset()
			continue
		case rest[0] == '$' && len(rest) > 1 && rest[1] >= '1' && rest[1] <= '9':
			one.WriteByte('?')
			continue
		}
		if end < 0 {
			end = len(rest) - 1
		}
		one.WriteString(rest[:end+1])
		at += end
	}
	statements = append(statements, one.String())
	kept := statements[:0]
	for _, statement := range statements {
		if statement = strings.TrimSpace(statement); statement != "" {
			kept = append(kept, statement)
		}
	}
	return kept
}

func parse(ctx context.Context, query wire.Query) (wire.PreparedStatements, error) {
	var all wire.PreparedStatements
	for _, text := range split(query.Query) {
		one, err := statement(ctx, text)
		if err != nil {
			return nil, of(ctx).after(err)
		}
		all = append(all, one)
	}
	return all, nil
}

// Marks an open transaction as failed after a failed statement.
func (session *session) after(err error) error {
	if err != nil && session.status == types.ServerTransactionBlock {
		session.status = types.ServerTransactionFailed
	}
	return err
}

// Checks a statement and describes its columns, without running it.
func statement(ctx context.Context, text string) (*wire.PreparedStatement, error) {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	if parts := copied.FindStringSubmatch(text); parts != nil {
		names := strings.Split(parts[2], ",")
		columns := make(wire.Columns, len(names))
		for place, name := range names {
			columns[place] = wire.Column{Name: strings.TrimSpace(name), Oid: pgtype.TextOID, Width: -1}
		}
		insert := fmt.Sprintf("insert into %s (%s) values (?%s)", parts[1], parts[2], strings.Repeat(", ?", len(names)-1))
		return run(word, func(ctx context.Context, writer wire.DataWriter, _ []any) (string, error) {
			return of(ctx).copy(ctx, writer, insert, len(names))
		}, columns, 0), nil
	}
	switch {
	case word == "begin" || word == "commit" || word == "rollback":
		return run(word, func(ctx context.Context, _ wire.DataWriter, _ []any) (string, error) {
			return of(ctx).transaction(ctx, word)
		}, nil, 0), nil
	case strings.HasPrefix(text, "create database "):
		return run(word, func(context.Context, wire.DataWriter, []any) (string, error) {
			return "CREATE DATABASE", nil
		}, nil, 0), nil
	case nap.MatchString(text):
		seconds, _ := strconv.ParseFloat(nap.FindStringSubmatch(text)[1], 64)
		column := wire.Columns{{Name: "pg_sleep", Oid: pgtype.TextOID, Width: -1}}
		return run(word, func(ctx context.Context, writer wire.DataWriter, _ []any) (string, error) {
			select {
			case <-time.After(time.Duration(seconds * float64(time.Second))):
				return "SELECT 1", writer.Row([]any{""})
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}, column, 0), nil
	case text == "select 1 / 0":
		return run(word, func(context.Context, wire.DataWriter, []any) (string, error) {
			return "", failure("22012", "division by zero")
		}, wire.Columns{{Name: "quotient", Oid: pgtype.TextOID, Width: -1}}, 0), nil
	case text == "select pg_terminate_backend(pg_backend_pid())":
		return nil, psqlerr.WithSeverity(failure("57P01", "terminating connection"), psqlerr.LevelFatal)
	}
	text = series.ReplaceAllString(text,
		"(with recursive s ($2) as (select 1 union all select $2 + 1 from s where $2 < $1) select $2 from s) $2")
	parameters, names, err := of(ctx).described(ctx, word, text)
	if err != nil {
		return nil, explained(err)
	}
	columns := make(wire.Columns, len(names))
	for place, name := range names {
		columns[place] = wire.Column{Name: name, Oid: pgtype.TextOID, Width: -1}
	}
	return run(word, func(ctx context.Context, writer wire.DataWriter, values []any) (string, error) {
		if len(columns) > 0 {
			return of(ctx).query(ctx, writer, text, values)
		}
		return of(ctx).execute(ctx, word, text, values)
	}, columns, parameters), nil
}

// Returns the number of a statement's parameters and the names of its columns. SQLite names the columns only of a
// statement that is run, so only queries are run here.
func (session *session) described(ctx context.Context, word, text string) (int, []string, error) {
	parameters := 0
	err := session.connection.Raw(func(connection any) error {
		prepared, err := connection.(*sqlite3.SQLiteConn).Prepare(text)
		if err != nil {
			return err
		}
		parameters = prepared.NumInput()
		return prepared.Close()
	})
	if err != nil || (word != "select" && word != "with" && word != "values") {
		return parameters, nil, err
	}
	rows, err := session.connection.QueryContext(ctx, text, make([]any, parameters)...)
	if err != nil {
		return parameters, nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	return parameters, names, err
}

// A function that runs a statement and returns its command tag.
type runner func(context.Context, wire.DataWriter, []any) (string, error)

// Returns a statement that calls a function; `word` is the first word of its text.
func run(word string, do runner, columns wire.Columns, parameters int) *wire.PreparedStatement {
	kinds := make([]uint32, parameters)
	for place := range kinds {
		kinds[place] = pgtype.TextOID
	}
	return wire.NewStatement(func(ctx context.Context, writer wire.DataWriter, given []wire.Parameter) error {
		session := of(ctx)
		if len(given) != parameters {
			return session.after(failure("08P01", fmt.Sprintf("bind message supplies %d parameters, but the statement "+
				"requires %d", len(given), parameters)))
		}
		if session.status == types.ServerTransactionFailed && word != "commit" && word != "rollback" {
			return failure("25P02", "current transaction is aborted, commands ignored until end of transaction block")
		}
		values := make([]any, len(given))
		for place, parameter := range given {
			if parameter.Value() != nil {
				values[place] = string(parameter.Value())
			}
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		session.mutex.Lock()
		session.cancel = cancel
		session.mutex.Unlock()
		tag, err := do(ctx, writer, values)
		if err != nil {
			return session.after(explained(err))
		}
		return writer.Complete(tag)
	}, wire.WithColumns(columns), wire.WithParameters(kinds))
}

// Begins or ends a transaction. A failed transaction can only be rolled back.
func (session *session) transaction(ctx context.Context, word string) (string, error) {
	text, status := word, types.ServerStatus(types.ServerIdle)
	switch {
	case word == "begin":
		text, status = "begin immediate", types.ServerTransactionBlock
	case session.status == types.ServerTransactionFailed:
		text = "rollback"
	}
	if _, err := session.connection.ExecContext(ctx, text); err != nil {
		return "", err
	}
	session.status = status
	return strings.ToUpper(strings.Fields(text)[0]), nil
}

func (session *session) query(ctx context.Context, writer wire.DataWriter, text string, values []any) (string, error) {
	rows, err := session.connection.QueryContext(ctx, text, values...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	row := make([]any, len(writer.Columns()))
	found := make([]sql.NullString, len(row))
	places := make([]any, len(row))
	for place := range places {
		places[place] = &found[place]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return "", err
		}
		for place, value := range found {
			if row[place] = nil; value.Valid {
				row[place] = value.String
			}
		}
		if err := writer.Row(row); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("SELECT %d", writer.Written()), rows.Err()
}

func (session *session) execute(ctx context.Context, word, text string, values []any) (string, error) {
	result, err := session.connection.ExecContext(ctx, text, values...)
	if err != nil {
		return "", err
	}
	changed, err := result.RowsAffected()
	switch word {
	case "insert":
		return fmt.Sprintf("INSERT 0 %d", changed), err
	case "update", "delete":
		return fmt.Sprintf("%s %d", strings.ToUpper(word), changed), err
	}
	words := strings.Fields(strings.ToUpper(text))
	return strings.Join(words[:min(2, len(words))], " "), nil
}

// Stores the rows of a COPY in its text format, in one transaction.
func (session *session) copy(ctx context.Context, writer wire.DataWriter, insert string, columns int) (string, error) {
	reader, err := writer.CopyIn(wire.TextFormat)
	if err != nil {
		return "", err
	}
	transaction, err := session.connection.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer transaction.Rollback()
	prepared, err := transaction.PrepareContext(ctx, insert)
	if err != nil {
		return "", err
	}
	rows, left := 0, ""
	for {
		if err := reader.Read(ctx); err == io.EOF {
			return fmt.Sprintf("COPY %d", rows), transaction.Commit()
		} else if err != nil {
			return "", err
		}
		left += string(reader.Msg)
		for {
			line, after, whole := strings.Cut(left, "\n")
			if !whole {
				break
			}
			left = after
			fields := strings.Split(line, "\t")
			if len(fields) != columns {
				return "", failure("22P04", fmt.Sprintf("a row of COPY has %d columns in place of %d", len(fields), columns))
			}
			values := make([]any, columns)
			for place, field := range fields {
				if field != `\N` {
					values[place] = unescaped.Replace(field)
				}
			}
			if _, err := prepared.ExecContext(ctx, values...); err != nil {
				return "", err
			}
			rows++
		}
	}
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r", `\b`, "\b", `\f`, "\f", `\v`, "\v")
