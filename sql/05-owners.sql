/*
 * Names in this script resolve in pg_catalog alone. CREATE EXTENSION would search the target
 * schema, too, whose owner could have made operators and functions there that fit better than those
 * of pg_catalog, and a superuser would call them.
 *
 * No body calls a function of the extension's schema either: roles that may create there could add
 * an overload that makes the call ambiguous or fits it better. What other functions call is in
 * cudal1, where only the extension's owner creates.
 */

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA cudal1;
COMMENT ON SCHEMA cudal1 IS 'CUDA-L1: tasks, candidates, measurements, exemplars and prompts';

CREATE FUNCTION cudal1.raise_if(wrong boolean, state text, message text, hint text DEFAULT NULL,
	detail text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
	IF wrong AND hint IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message;
	ELSIF wrong AND detail IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, HINT = hint;
	ELSIF wrong THEN
		RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message, DETAIL = detail, HINT = hint;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.raise_if IS
'an error of that SQLSTATE where something is wrong; NULL is not wrong. A detail needs a hint';

SELECT cudal1.raise_if(current_setting('standard_conforming_strings') <> 'on', '55000',
	'standard_conforming_strings must be on while cudal1 is installed',
	'SET standard_conforming_strings = on, since the script''s texts hold backslashes.');

CREATE FUNCTION cudal1.caller()
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN current_setting('role') = 'none' THEN SESSION_USER::text
	ELSE current_setting('role') END;
COMMENT ON FUNCTION cudal1.caller IS
'the role of SET ROLE, else of the session: to it belongs what it makes';

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
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN has_function_privilege(cudal1.caller()::name, 'cudal1.is_operator()', 'EXECUTE');
COMMENT ON FUNCTION cudal1.is_operator IS
'whether the calling role may use what belongs to others, as cudal1_grant() lets operators';

CREATE FUNCTION cudal1.owns(owner text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN owner = cudal1.caller() THEN true
	-- NULL where that role was dropped
	WHEN pg_has_role(cudal1.caller()::name, to_regrole(quote_ident(owner))::oid, 'USAGE') THEN true
	ELSE cudal1.is_operator() END;
COMMENT ON FUNCTION cudal1.owns IS
'whether the calling role is that role, has its privileges, or is an operator';

CREATE FUNCTION cudal1.check_owner(subject text, owner text, hint text DEFAULT NULL)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
RETURN cudal1.raise_if(NOT cudal1.owns(owner), '42501',
	format('%s belongs to %s', subject, coalesce('role "' || owner || '"', 'the operators')),
	coalesce(hint, CASE WHEN owner IS NULL THEN 'Operators alone may use it.'
		ELSE 'That role, its members and operators may use it.' END));
COMMENT ON FUNCTION cudal1.check_owner IS
'error 42501 where the calling role may not use a subject of that owner';
