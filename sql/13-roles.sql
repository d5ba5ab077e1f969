/*
 * Whose is what. A prompt, a proposal with its keys, a request, a campaign with its groups and the
 * name of a method belong to the role that made them. Another role may use them if it has that
 * role's privileges: shared work is a role that several are members of, and that they SET ROLE to
 * where what they make shall belong to it. Operators may use everything. A code has no owner: it is
 * one candidate, measured once.
 *
 * cudal1.caller() alone says which role calls. The functions for users run as their owner, so
 * CURRENT_USER says nothing there.
 */

CREATE FUNCTION cudal1.is_operator()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.has_function_privilege(cudal1.caller()::name, 'cudal1.is_operator()',
											 'EXECUTE');
END;
COMMENT ON FUNCTION cudal1.is_operator() IS
'whether the calling role may use what belongs to others: a superuser, the extension''s owner, or a
role that may execute this function, as cudal1_grant() lets operators';

CREATE FUNCTION cudal1.owns(owner text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN owner = cudal1.caller() THEN true
				-- NULL where that role was dropped
				WHEN pg_catalog.pg_has_role(cudal1.caller()::name,
						pg_catalog.to_regrole(pg_catalog.quote_ident(owner))::oid, 'USAGE')
					THEN true
				ELSE cudal1.is_operator() END;
END;
COMMENT ON FUNCTION cudal1.owns(text) IS
'whether the calling role may use what belongs to a role: it is that role, has its privileges, or is
an operator. What belongs to no role (NULL) is the operators''';

CREATE FUNCTION cudal1.check_owner(subject text, owner text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT cudal1.owns(owner) THEN
		RAISE EXCEPTION USING ERRCODE = '42501',
			MESSAGE = format('%s belongs to %s', subject,
							 coalesce(format('role "%s"', owner), 'the operators')),
			HINT = 'That role, its members and operators may use it.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_owner(text, text) IS
'error 42501 where the calling role may not use a subject of that owner';

CREATE TABLE cudal1.method (
	name				text PRIMARY KEY CHECK (name <> ''),
	owner				text,
	is_open				boolean NOT NULL DEFAULT false,
	shipped				boolean NOT NULL DEFAULT false,
	created_at			timestamptz NOT NULL DEFAULT now(),
	CHECK (NOT is_open OR owner IS NULL)
);
COMMENT ON TABLE cudal1.method IS 'whose name a method is: of the role that used it first';
COMMENT ON COLUMN cudal1.method.owner IS
'the role that proposes by it, with its members; NULL: operators, and what the extension names so';
COMMENT ON COLUMN cudal1.method.is_open IS 'every role may propose by it';
COMMENT ON COLUMN cudal1.method.shipped IS 'part of the extension, not of dumps';

INSERT INTO cudal1.method (name, is_open, shipped) VALUES
	('manual', true, true), ('model', true, true), ('contrastive', true, true),
	('ablation', false, true), ('techniques', false, true), ('a/a', false, true);

CREATE FUNCTION cudal1.take_method(method text, owner text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $$
BEGIN
	INSERT INTO cudal1.method (name, owner) VALUES (take_method.method, take_method.owner)
		ON CONFLICT DO NOTHING;
EXCEPTION WHEN lock_not_available THEN
	RAISE EXCEPTION USING ERRCODE = '55P03',
		MESSAGE = format('method "%s" is being taken by a transaction that has not ended',
						 take_method.method),
		HINT = 'Try again when it has ended, or use another name.';
END
$$;
COMMENT ON FUNCTION cudal1.take_method(text, text) IS
'gives a method that has no owner to a role (NULL: the operators); waits a second at most for
another transaction that does so, else error 55P03';

CREATE FUNCTION cudal1.use_method(method text, owner text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	m		cudal1.method;
	kept	boolean;
BEGIN
	SELECT x.* INTO m FROM cudal1.method AS x WHERE x.name = use_method.method;
	IF NOT FOUND THEN
		-- the names that requests and campaigns use where they are given no method stay for them
		kept := EXISTS (SELECT FROM cudal1.model AS x
						WHERE use_method.method IN (x.name, 'vanilla: ' || x.name,
								'augment: ' || x.name, 'self_supervised: ' || x.name,
								'evolve: ' || x.name, 'contrastive: ' || x.name));
		IF kept AND NOT cudal1.is_operator() THEN
			RAISE EXCEPTION USING ERRCODE = '42501',
				MESSAGE = format('method "%s" is the default of a model''s requests',
								 use_method.method),
				HINT = 'Propose by a name of your own.';
		END IF;
		PERFORM cudal1.take_method(use_method.method,
								   CASE WHEN NOT kept THEN use_method.owner END);
		SELECT x.* INTO STRICT m FROM cudal1.method AS x WHERE x.name = use_method.method;
	END IF;
	IF NOT m.is_open AND m.owner IS DISTINCT FROM use_method.owner THEN
		PERFORM cudal1.check_owner(format('method "%s"', m.name), m.owner);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.use_method(text, text) IS
'takes a method for a role at its first use; error 42501 where it is another role''s';

CREATE FUNCTION cudal1.use_default_method(method text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	m		cudal1.method;
BEGIN
	SELECT x.* INTO m FROM cudal1.method AS x WHERE x.name = use_default_method.method;
	IF m.owner IS NOT NULL THEN
		PERFORM cudal1.check_owner(format('method "%s"', m.name), m.owner);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.use_default_method(text) IS
'error 42501 where another role has taken the name that requests or a campaign have without one of
their own';
