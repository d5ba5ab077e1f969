/*
 * What models send.
 */

CREATE FUNCTION cudal1.parse_response(response text)
RETURNS TABLE (analysis text, design text, code text, reason text)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_parse_response';
COMMENT ON FUNCTION cudal1.parse_response(text) IS 'what cudal1_parse_response() does';

CREATE FUNCTION @extschema@.cudal1_parse_response(response text)
RETURNS TABLE (analysis text, design text, code text, reason text)
LANGUAGE C IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cudal1_parse_response';
COMMENT ON FUNCTION @extschema@.cudal1_parse_response(text) IS
'takes a model''s answer apart into the sections "## Performance Analysis", "## Algorithm Design" and "## Code Implementation"; one row. reason is NULL when all three are there and the code is complete, else says what is missing. Headings may vary in case, hashes, bold marks, numbers and colons; reasoning in <think> tags is skipped. Of several code fences under the last heading the last counts that is at least half as long as the longest; fences labelled as shell, text or output count only where there is no other; without a fence all text under the heading is the code. Never raises on content';
