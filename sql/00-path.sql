/*
 * Names in this script resolve in pg_catalog alone. CREATE EXTENSION would search the target schema, too, whose owner could
 * have made operators and functions there that fit better than those of pg_catalog, and a superuser would call them.
 *
 * No body calls a function of the extension's schema either: roles that may create there could add an overload that makes the
 * call ambiguous or fits it better. What other functions call is in cudal1, where only the extension's owner creates.
 */

SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
BEGIN
	IF pg_catalog.current_setting('standard_conforming_strings') <> 'on' THEN
		RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = 'standard_conforming_strings must be on while cudal1 is installed',
			HINT = 'SET standard_conforming_strings = on, since the script''s texts hold backslashes.';
	END IF;
END
$$;
