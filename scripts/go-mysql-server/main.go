// A go-mysql-server with one empty database `assay` in memory, for `make test-servers`: `go-mysql-server ADDRESS`.
// Every login is accepted, so the address must be local to this machine.
package main

import (
	"fmt"
	"os"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: go-mysql-server ADDRESS")
	}
	database := memory.NewDatabase("assay")
	database.BaseDatabase.EnablePrimaryKeyIndexes()
	provider := memory.NewDBProvider(database)
	engine := sqle.NewDefault(provider)
	config := server.Config{Protocol: "tcp", Address: arguments[0]}
	sessions := memory.NewSessionBuilder(provider)
	listener, err := server.NewServer(config, engine, sql.NewContext, sessions, nil)
	if err != nil {
		return err
	}
	return listener.Start()
}
