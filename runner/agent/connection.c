/*
 * connection.c
 *		The agent's connection, by which it calls the queue (docs/protocol.md, section 1).
 *
 * Each call is one short statement and its own transaction. None waits for ever: a statement that
 * the server does not answer in time cuts the connection, and the caller is told that it can't know
 * whether the statement took effect. That is harmless, because the queue refuses a result that it
 * has, and because a claim whose answer was lost is taken back by its name.
 */
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "common/clock.h"

/* longer than statement_timeout: the server ends a slow statement, we end a dead connection */
#define CALL_SECONDS	40.0
/* how long a call in flight may hold up a shutdown */
#define LEAVE_SECONDS	5.0
#define LEAVE_TIMEOUT	"5"		/* of a try to connect, in seconds, as libpq reads it */
#define CONNECT_TIMEOUT	"15"
#define MAX_BACKOFF		15.0

static PGconn *connection = NULL;
static char *place = NULL;		/* server, database, extension; NULL before the first connection */
static int	failures = 0;

ConnectionState connection_state;
bool		cudal1_connected = false;

/* Notes what libpq or the server says: a line for each address of a server, and hints. */
static void
note_problem(const char *text)
{
	size_t		length = strlen(text);

	length -= length > 0 && text[length - 1] == '\n';
	snprintf(cudal1_problem, sizeof(cudal1_problem), "%.*s", (int) length, text);
}

void
connection_close(void)
{
	if (connection)
		PQfinish(connection);
	connection = NULL;
	cudal1_connected = false;
}

static Cudal1Call
cut(const char *what)
{
	note_problem(what);
	agent_log("the connection was lost: %s", cudal1_problem);
	connection_close();
	connection_state.retry_at = clock_now() + 0.05;
	return CUDAL1_CALL_CUT;
}

static double
call_limit(double begun)
{
	return begun + (agent_mode == AGENT_LEAVE ? LEAVE_SECONDS : CALL_SECONDS);
}

/* NULL: the connection was cut */
static PGresult *
await_result(void)
{
	double		begun = clock_now();
	const char *why = NULL;
	PGresult   *result = NULL;
	PGresult   *next;
	int			unsent;

	while (!why && ((unsent = PQflush(connection)) != 0 || PQisBusy(connection)))
	{
		if (unsent < 0 || !PQconsumeInput(connection))
			why = PQerrorMessage(connection);
		else if (unsent == 0 && !PQisBusy(connection))
			break;
		else if (clock_now() > call_limit(begun))
			why = "the server did not answer in time";
		else
			agent_wait(PQsocket(connection), unsent ? POLLIN | POLLOUT : POLLIN, false,
					   call_limit(begun));
	}
	while (!why && (next = PQgetResult(connection)) != NULL)
	{
		PQclear(result);
		result = next;
	}
	if (!why && result && PQstatus(connection) != CONNECTION_BAD)
		return result;
	PQclear(result);
	cut(why ? why : PQerrorMessage(connection));
	return NULL;
}

Cudal1Call
cudal1_queue_run(const char *query, int n, const char *const *values, char **columns, int ncolumns)
{
	PGresult   *result;
	Cudal1Call	outcome = CUDAL1_CALL_DONE;

	for (int i = 0; i < ncolumns; i++)
		columns[i] = NULL;
	if (!connection)
		return CUDAL1_CALL_CUT;
	if (!PQsendQueryParams(connection, query, n, NULL, values, NULL, NULL, 0))
		return cut(PQerrorMessage(connection));
	result = await_result();
	if (!result)
		return CUDAL1_CALL_CUT;
	if (PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		connection_state.refused = false;
		for (int i = 0; i < ncolumns && PQntuples(result) > 0 && i < PQnfields(result); i++)
			if (!PQgetisnull(result, 0, i))
				columns[i] = agent_format("%s", PQgetvalue(result, 0, i));
	}
	else if (PQresultStatus(result) != PGRES_COMMAND_OK)
	{
		const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
		const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
		const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

		note_problem(primary ? primary : PQresultErrorMessage(result));
		connection_state.refused = state && strcmp(state, "42501") == 0;
		if (connection_state.refused && !hint)
			agent_log("%s (SQLSTATE %s). The role needs SELECT cudal1_grant('%s', 'agent') there.",
					  cudal1_problem, state, PQuser(connection));
		else
			agent_log("%s (SQLSTATE %s)%s%s", cudal1_problem, state ? state : "none",
					  hint ? ". " : "", hint ? hint : "");
		outcome = state ? cudal1_queue_failed(state) : CUDAL1_CALL_TRANSIENT;
	}
	PQclear(result);
	return outcome;
}

/* ---- connection ---- */

static void
take_notice(void *unused, const char *message)
{
	agent_log("%.*s", (int) strcspn(message, "\n"), message);
}

static bool
establish(void)
{
	/* Words before dbname are defaults for the connection string, those behind it are fixed. */
	static const char *const keywords[] = {"fallback_application_name", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "tcp_user_timeout", "dbname",
		"client_encoding", "connect_timeout", NULL};
	const char *const values[] = {"cudal1-agent", "30", "10", "3", "30000", agent_settings.conninfo,
		"UTF8", agent_mode == AGENT_LEAVE ? LEAVE_TIMEOUT : CONNECT_TIMEOUT, NULL};

	connection = PQconnectdbParams(keywords, values, 1);
	if (!connection)
		return false;
	PQsetNoticeProcessor(connection, take_notice, NULL);
	if (PQstatus(connection) != CONNECTION_OK)
	{
		note_problem(PQerrorMessage(connection));
		return false;
	}
	return PQsetnonblocking(connection, 1) == 0;
}

/* releases that differ in the last number only speak the same protocol */
static bool
same_protocol(const char *theirs)
{
	static const char ours[] = CUDAL1_VERSION;

	return strncmp(theirs, ours, (size_t) (strrchr(ours, '.') + 1 - ours)) == 0;
}

static const char identity[] =
	"SELECT s.system_identifier || '-' || d.oid || '-' || e.oid, "
	"pg_catalog.pg_is_in_recovery(), e.extversion"
	" FROM pg_catalog.pg_control_system() AS s, pg_catalog.pg_database AS d, "
	"pg_catalog.pg_extension AS e"
	" WHERE d.datname = pg_catalog.current_database() AND e.extname = 'cudal1'";

bool
connection_check_database(void)
{
	char	   *columns[3];
	bool		good = cudal1_queue_run(identity, 0, NULL, columns, 3) == CUDAL1_CALL_DONE;
	bool		primary = good && columns[0] && strcmp(columns[1], "t") != 0;
	bool		was = connection_state.mismatch;

	if (good && !primary)
		note_problem(columns[0] ? "the server is a standby"
					 : "the database has no extension cudal1");
	connection_state.moved = primary && place && strcmp(place, columns[0]) != 0;
	connection_state.mismatch = primary ? !same_protocol(columns[2]) : connection_state.mismatch;
	if (primary && connection_state.mismatch)
	{
		snprintf(cudal1_problem, sizeof(cudal1_problem), "the database has version %s of the "
				 "extension cudal1, this agent is of version " CUDAL1_VERSION ": install the same "
				 "on both", columns[2]);
		if (!was && place)
			agent_log("%s; nothing more is claimed", cudal1_problem);
	}
	/* an upgrade under an agent that runs: what it has measured is still welcome */
	good = primary && !connection_state.moved && (!connection_state.mismatch || place);
	if (good && !place)
		place = agent_format("%s", columns[0]);
	for (int i = 0; i < 3; i++)
		free(columns[i]);
	return good;
}

static bool
prepare_session(void)
{
	static const char *const settings =
		"SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false), "
		"pg_catalog.set_config('lock_timeout', '10s', false),"
		" pg_catalog.set_config('statement_timeout', '30s', false), "
		"pg_catalog.set_config('idle_session_timeout', '0', false),"
		" pg_catalog.set_config('default_transaction_isolation', 'read committed', false),"
		" pg_catalog.set_config('jit', 'off', false)";

	return cudal1_queue_run(settings, 0, NULL, NULL, 0) == CUDAL1_CALL_DONE
		&& connection_check_database();
}

bool
connection_open(bool at_once)
{
	if (connection)
		return true;
	if (!at_once && clock_now() < connection_state.retry_at)
		return false;
	if (establish() && prepare_session())
	{
		agent_log("connected");
		failures = 0;
		cudal1_connected = true;
		return true;
	}
	connection_close();
	if (!connection_state.moved && !connection_state.mismatch
		&& (failures++ == 0 || failures % 10 == 0))
		agent_log("no connection: %s", cudal1_problem);
	/* Spread the tries of a cluster's agents. */
	connection_state.retry_at = clock_now() + (failures < 7 ? 0.2 * (1 << failures) : MAX_BACKOFF)
		* (0.75 + 0.5 * drand48());
	return false;
}
