"""The connection of the programs in Python: psycopg, with what a schema of others must not change.

Names resolve in pg_catalog alone, whatever the database's search_path is, so that nothing of
another role's is called. A text reaches the server as a parameter, or quoted by psycopg.
"""
import collections
import os
import re
import sys

# the distribution's packages for another python3, whose own go first
sys.path.append("/usr/lib/python3/dist-packages")

# of files with code, by their task's language
ENDINGS = {"c": ".c", "cuda": ".cu", "pytorch": ".py"}
MISSING = "psycopg is missing: apt install python3-psycopg, or pip install 'psycopg[binary]'"


class Refused(Exception):
    """A statement that the server refused: what it said, and its hint."""


def ending(program, work, interrupted=0):
    """The exit status of a program whose work was done, interrupted or refused."""
    try:
        status = work()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return interrupted
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return interrupted
    except (ConnectionError, Refused, OSError) as e:
        where = getattr(e, "filename", None)
        print(f"{program}: {f'{where}: {e.strerror}' if where else e}", file=sys.stderr)
        return 2 if where else 3


class Database:
    def __init__(self, dbname=None, name="cudal1"):
        try:
            import psycopg
            from psycopg import conninfo, sql
        except ImportError:
            raise ConnectionError(MISSING) from None
        self.psycopg, self.sql, self.notices = psycopg, sql, collections.Counter()
        # -d NAME as psql reads it: a name, a connection string or an address
        asked = dbname or ""
        if asked and "=" not in asked and not asked.startswith(("postgresql://", "postgres://")):
            asked = conninfo.make_conninfo(dbname=asked)
        try:
            given = conninfo.conninfo_to_dict(asked).get("options") or os.environ.get(
                "PGOPTIONS", "")
            self.connection = psycopg.connect(
                asked, autocommit=True, prepare_threshold=None, client_encoding="utf8",
                application_name=name, options=given + " -c search_path=pg_catalog,pg_temp -c"
                " standard_conforming_strings=on -c timezone=UTC")
        except psycopg.Error as e:
            server = getattr(e, "pgconn", None)
            where = server and f"server {server.host.decode()}, port {server.port.decode()}: "
            raise ConnectionError(f"{where or ''}{e}".strip()) from None
        self.connection.add_notice_handler(self.notice)
        # the schema of the functions, quoted
        self.home = self.value("SELECT pg_catalog.quote_ident(n.nspname)"
                               " FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace"
                               " AS n ON n.oid = e.extnamespace WHERE e.extname = 'cudal1'")
        if self.home is None:
            raise ConnectionError("the database has no extension cudal1: run CREATE EXTENSION"
                                  " cudal1 there")

    def notice(self, d):
        line = f"{d.severity}: " + ". ".join(filter(None, (d.message_primary, d.message_hint)))
        self.notices[line] += 1

    def tell(self):
        """Notices on standard error, each once."""
        for line, times in self.notices.items():
            print(line + (f" ({times} times)" if times > 1 else ""), file=sys.stderr)

    def query(self, text, *values):
        """The rows of one statement, as tuples."""
        try:
            done = self.connection.execute(text, values or None)
            return done.fetchall() if done.description else []
        except UnicodeEncodeError:
            raise Refused("contains half of a surrogate pair, which is no character") from None
        except self.psycopg.Error as e:
            if self.connection.closed:
                raise ConnectionError(str(e).strip()) from None
            if not e.diag.message_primary:
                raise Refused(str(e).strip()) from None
            hint = e.diag.message_hint
            if e.sqlstate == "42501" and not hint:
                hint = (f"Role {self.connection.info.user} needs what cudal1_grant() gives, in this"
                        " database; --help names the kind")
            raise Refused(". ".join(filter(None, (e.diag.message_primary, hint)))) from None

    def value(self, text, *values):
        rows = self.query(text, *values)
        return rows[0][0] if rows else None

    def rows(self, text):
        """The rows of one query as dictionaries, of JSON's types."""
        return [r[0] for r in self.query(f"SELECT pg_catalog.row_to_json(q) FROM ({text}) AS q")]

    def literal(self, value):
        """A value as SQL, for where no parameter can stand."""
        return self.sql.Literal(value).as_string(self.connection)


def gist(detail):
    """The line of a detail that says what is wrong: of a compiler's words its first error."""
    lines = (detail or "").split("\n")
    return next((line for line in lines if "error: " in line), lines[0])


def clean(text):
    """Text of others without what a terminal would obey, as text_clean() of the runner."""
    return re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]", "\ufffd",
                  text)
