--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: contacts; Type: SCHEMA; Schema: -; Owner: contacts_owner
--

CREATE SCHEMA contacts;


ALTER SCHEMA contacts OWNER TO contacts_owner;

--
-- Name: SCHEMA contacts; Type: COMMENT; Schema: -; Owner: contacts_owner
--

COMMENT ON SCHEMA contacts IS 'The tables of service contacts. No other service writes here.';


--
-- Name: notifications; Type: SCHEMA; Schema: -; Owner: notifications_owner
--

CREATE SCHEMA notifications;


ALTER SCHEMA notifications OWNER TO notifications_owner;

--
-- Name: SCHEMA notifications; Type: COMMENT; Schema: -; Owner: notifications_owner
--

COMMENT ON SCHEMA notifications IS 'The tables of service notifications. No other service writes here.';


--
-- Name: session; Type: SCHEMA; Schema: -; Owner: session_owner
--

CREATE SCHEMA session;


ALTER SCHEMA session OWNER TO session_owner;

--
-- Name: SCHEMA session; Type: COMMENT; Schema: -; Owner: session_owner
--

COMMENT ON SCHEMA session IS 'The tables of service session. No other service writes here.';


--
-- Name: session_client; Type: SCHEMA; Schema: -; Owner: session_client_owner
--

CREATE SCHEMA session_client;


ALTER SCHEMA session_client OWNER TO session_client_owner;

--
-- Name: SCHEMA session_client; Type: COMMENT; Schema: -; Owner: session_client_owner
--

COMMENT ON SCHEMA session_client IS 'The tables of service session_client. No other service writes here.';


--
-- Name: batch_messages; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.batch_messages AS integer
	CONSTRAINT batch_messages_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN contacts.batch_messages OWNER TO contacts_owner;

--
-- Name: DOMAIN batch_messages; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.batch_messages IS 'How many messages a batch handled.';


--
-- Name: batch_number; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.batch_number AS bigint
	CONSTRAINT batch_number_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN contacts.batch_number OWNER TO contacts_owner;

--
-- Name: DOMAIN batch_number; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.batch_number IS 'The number of a batch, from 1.';


--
-- Name: batch_position; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.batch_position AS bigint
	CONSTRAINT batch_position_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN contacts.batch_position OWNER TO contacts_owner;

--
-- Name: DOMAIN batch_position; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.batch_position IS 'The last position that a batch handled; 0 before the first message.';


--
-- Name: message_body; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_body AS json
	CONSTRAINT body_is_at_most_64_kb CHECK ((octet_length((VALUE)::text) <= 65536));


ALTER DOMAIN contacts.message_body OWNER TO contacts_owner;

--
-- Name: DOMAIN message_body; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_body IS 'A JSON object of at most 64 kB.';


--
-- Name: message_key; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_key AS text
	CONSTRAINT key_is_short CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 128)));


ALTER DOMAIN contacts.message_key OWNER TO contacts_owner;

--
-- Name: DOMAIN message_key; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_key IS 'The key of a message, 1 to 128 bytes. Messages with one key are handled in order.';


--
-- Name: message_kind; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_kind AS text
	CONSTRAINT kind_is_known CHECK ((VALUE = ANY (ARRAY['command'::text, 'event'::text, 'outcome'::text])));


ALTER DOMAIN contacts.message_kind OWNER TO contacts_owner;

--
-- Name: DOMAIN message_kind; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_kind IS 'The kind of a message: command, event, or outcome (of a command that caused no event).';


--
-- Name: message_outcome; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_outcome AS text
	CONSTRAINT outcome_is_known CHECK ((VALUE = ANY (ARRAY['accepted'::text, 'rejected'::text, 'failed'::text])));


ALTER DOMAIN contacts.message_outcome OWNER TO contacts_owner;

--
-- Name: DOMAIN message_outcome; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_outcome IS 'How a command ended: accepted, rejected or failed.';


--
-- Name: message_position; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_position AS bigint
	CONSTRAINT position_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN contacts.message_position OWNER TO contacts_owner;

--
-- Name: DOMAIN message_position; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_position IS 'A position in a log''s partition, from 1.';


--
-- Name: message_type; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_type AS text
	CONSTRAINT type_is_a_name CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 100)));


ALTER DOMAIN contacts.message_type OWNER TO contacts_owner;

--
-- Name: DOMAIN message_type; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_type IS 'The name of a body''s type.';


--
-- Name: message_version; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.message_version AS smallint
	CONSTRAINT version_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN contacts.message_version OWNER TO contacts_owner;

--
-- Name: DOMAIN message_version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.message_version IS 'The version of a body''s type, from 1.';


--
-- Name: trace_parent; Type: DOMAIN; Schema: contacts; Owner: contacts_owner
--

CREATE DOMAIN contacts.trace_parent AS text
	CONSTRAINT trace_parent_is_short CHECK ((length(VALUE) <= 55));


ALTER DOMAIN contacts.trace_parent OWNER TO contacts_owner;

--
-- Name: DOMAIN trace_parent; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON DOMAIN contacts.trace_parent IS 'W3C trace context (traceparent), at most 55 characters.';


--
-- Name: batch_messages; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.batch_messages AS integer
	CONSTRAINT batch_messages_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN notifications.batch_messages OWNER TO notifications_owner;

--
-- Name: DOMAIN batch_messages; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.batch_messages IS 'How many messages a batch handled.';


--
-- Name: batch_number; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.batch_number AS bigint
	CONSTRAINT batch_number_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN notifications.batch_number OWNER TO notifications_owner;

--
-- Name: DOMAIN batch_number; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.batch_number IS 'The number of a batch, from 1.';


--
-- Name: batch_position; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.batch_position AS bigint
	CONSTRAINT batch_position_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN notifications.batch_position OWNER TO notifications_owner;

--
-- Name: DOMAIN batch_position; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.batch_position IS 'The last position that a batch handled; 0 before the first message.';


--
-- Name: message_body; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_body AS json
	CONSTRAINT body_is_at_most_64_kb CHECK ((octet_length((VALUE)::text) <= 65536));


ALTER DOMAIN notifications.message_body OWNER TO notifications_owner;

--
-- Name: DOMAIN message_body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_body IS 'A JSON object of at most 64 kB.';


--
-- Name: message_key; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_key AS text
	CONSTRAINT key_is_short CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 128)));


ALTER DOMAIN notifications.message_key OWNER TO notifications_owner;

--
-- Name: DOMAIN message_key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_key IS 'The key of a message, 1 to 128 bytes. Messages with one key are handled in order.';


--
-- Name: message_kind; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_kind AS text
	CONSTRAINT kind_is_known CHECK ((VALUE = ANY (ARRAY['command'::text, 'event'::text, 'outcome'::text])));


ALTER DOMAIN notifications.message_kind OWNER TO notifications_owner;

--
-- Name: DOMAIN message_kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_kind IS 'The kind of a message: command, event, or outcome (of a command that caused no event).';


--
-- Name: message_outcome; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_outcome AS text
	CONSTRAINT outcome_is_known CHECK ((VALUE = ANY (ARRAY['accepted'::text, 'rejected'::text, 'failed'::text])));


ALTER DOMAIN notifications.message_outcome OWNER TO notifications_owner;

--
-- Name: DOMAIN message_outcome; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_outcome IS 'How a command ended: accepted, rejected or failed.';


--
-- Name: message_position; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_position AS bigint
	CONSTRAINT position_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN notifications.message_position OWNER TO notifications_owner;

--
-- Name: DOMAIN message_position; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_position IS 'A position in a log''s partition, from 1.';


--
-- Name: message_type; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_type AS text
	CONSTRAINT type_is_a_name CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 100)));


ALTER DOMAIN notifications.message_type OWNER TO notifications_owner;

--
-- Name: DOMAIN message_type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_type IS 'The name of a body''s type.';


--
-- Name: message_version; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.message_version AS smallint
	CONSTRAINT version_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN notifications.message_version OWNER TO notifications_owner;

--
-- Name: DOMAIN message_version; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.message_version IS 'The version of a body''s type, from 1.';


--
-- Name: trace_parent; Type: DOMAIN; Schema: notifications; Owner: notifications_owner
--

CREATE DOMAIN notifications.trace_parent AS text
	CONSTRAINT trace_parent_is_short CHECK ((length(VALUE) <= 55));


ALTER DOMAIN notifications.trace_parent OWNER TO notifications_owner;

--
-- Name: DOMAIN trace_parent; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON DOMAIN notifications.trace_parent IS 'W3C trace context (traceparent), at most 55 characters.';


--
-- Name: batch_messages; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.batch_messages AS integer
	CONSTRAINT batch_messages_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN session.batch_messages OWNER TO session_owner;

--
-- Name: DOMAIN batch_messages; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.batch_messages IS 'How many messages a batch handled.';


--
-- Name: batch_number; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.batch_number AS bigint
	CONSTRAINT batch_number_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN session.batch_number OWNER TO session_owner;

--
-- Name: DOMAIN batch_number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.batch_number IS 'The number of a batch, from 1.';


--
-- Name: batch_position; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.batch_position AS bigint
	CONSTRAINT batch_position_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN session.batch_position OWNER TO session_owner;

--
-- Name: DOMAIN batch_position; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.batch_position IS 'The last position that a batch handled; 0 before the first message.';


--
-- Name: message_body; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_body AS json
	CONSTRAINT body_is_at_most_64_kb CHECK ((octet_length((VALUE)::text) <= 65536));


ALTER DOMAIN session.message_body OWNER TO session_owner;

--
-- Name: DOMAIN message_body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_body IS 'A JSON object of at most 64 kB.';


--
-- Name: message_key; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_key AS text
	CONSTRAINT key_is_short CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 128)));


ALTER DOMAIN session.message_key OWNER TO session_owner;

--
-- Name: DOMAIN message_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_key IS 'The key of a message, 1 to 128 bytes. Messages with one key are handled in order.';


--
-- Name: message_kind; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_kind AS text
	CONSTRAINT kind_is_known CHECK ((VALUE = ANY (ARRAY['command'::text, 'event'::text, 'outcome'::text])));


ALTER DOMAIN session.message_kind OWNER TO session_owner;

--
-- Name: DOMAIN message_kind; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_kind IS 'The kind of a message: command, event, or outcome (of a command that caused no event).';


--
-- Name: message_outcome; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_outcome AS text
	CONSTRAINT outcome_is_known CHECK ((VALUE = ANY (ARRAY['accepted'::text, 'rejected'::text, 'failed'::text])));


ALTER DOMAIN session.message_outcome OWNER TO session_owner;

--
-- Name: DOMAIN message_outcome; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_outcome IS 'How a command ended: accepted, rejected or failed.';


--
-- Name: message_position; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_position AS bigint
	CONSTRAINT position_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN session.message_position OWNER TO session_owner;

--
-- Name: DOMAIN message_position; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_position IS 'A position in a log''s partition, from 1.';


--
-- Name: message_type; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_type AS text
	CONSTRAINT type_is_a_name CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 100)));


ALTER DOMAIN session.message_type OWNER TO session_owner;

--
-- Name: DOMAIN message_type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_type IS 'The name of a body''s type.';


--
-- Name: message_version; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.message_version AS smallint
	CONSTRAINT version_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN session.message_version OWNER TO session_owner;

--
-- Name: DOMAIN message_version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.message_version IS 'The version of a body''s type, from 1.';


--
-- Name: trace_parent; Type: DOMAIN; Schema: session; Owner: session_owner
--

CREATE DOMAIN session.trace_parent AS text
	CONSTRAINT trace_parent_is_short CHECK ((length(VALUE) <= 55));


ALTER DOMAIN session.trace_parent OWNER TO session_owner;

--
-- Name: DOMAIN trace_parent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON DOMAIN session.trace_parent IS 'W3C trace context (traceparent), at most 55 characters.';


--
-- Name: batch_messages; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.batch_messages AS integer
	CONSTRAINT batch_messages_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN session_client.batch_messages OWNER TO session_client_owner;

--
-- Name: DOMAIN batch_messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.batch_messages IS 'How many messages a batch handled.';


--
-- Name: batch_number; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.batch_number AS bigint
	CONSTRAINT batch_number_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN session_client.batch_number OWNER TO session_client_owner;

--
-- Name: DOMAIN batch_number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.batch_number IS 'The number of a batch, from 1.';


--
-- Name: batch_position; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.batch_position AS bigint
	CONSTRAINT batch_position_is_not_negative CHECK ((VALUE >= 0));


ALTER DOMAIN session_client.batch_position OWNER TO session_client_owner;

--
-- Name: DOMAIN batch_position; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.batch_position IS 'The last position that a batch handled; 0 before the first message.';


--
-- Name: message_body; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_body AS json
	CONSTRAINT body_is_at_most_64_kb CHECK ((octet_length((VALUE)::text) <= 65536));


ALTER DOMAIN session_client.message_body OWNER TO session_client_owner;

--
-- Name: DOMAIN message_body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_body IS 'A JSON object of at most 64 kB.';


--
-- Name: message_key; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_key AS text
	CONSTRAINT key_is_short CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 128)));


ALTER DOMAIN session_client.message_key OWNER TO session_client_owner;

--
-- Name: DOMAIN message_key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_key IS 'The key of a message, 1 to 128 bytes. Messages with one key are handled in order.';


--
-- Name: message_kind; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_kind AS text
	CONSTRAINT kind_is_known CHECK ((VALUE = ANY (ARRAY['command'::text, 'event'::text, 'outcome'::text])));


ALTER DOMAIN session_client.message_kind OWNER TO session_client_owner;

--
-- Name: DOMAIN message_kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_kind IS 'The kind of a message: command, event, or outcome (of a command that caused no event).';


--
-- Name: message_outcome; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_outcome AS text
	CONSTRAINT outcome_is_known CHECK ((VALUE = ANY (ARRAY['accepted'::text, 'rejected'::text, 'failed'::text])));


ALTER DOMAIN session_client.message_outcome OWNER TO session_client_owner;

--
-- Name: DOMAIN message_outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_outcome IS 'How a command ended: accepted, rejected or failed.';


--
-- Name: message_position; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_position AS bigint
	CONSTRAINT position_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN session_client.message_position OWNER TO session_client_owner;

--
-- Name: DOMAIN message_position; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_position IS 'A position in a log''s partition, from 1.';


--
-- Name: message_type; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_type AS text
	CONSTRAINT type_is_a_name CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 100)));


ALTER DOMAIN session_client.message_type OWNER TO session_client_owner;

--
-- Name: DOMAIN message_type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_type IS 'The name of a body''s type.';


--
-- Name: message_version; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.message_version AS smallint
	CONSTRAINT version_begins_at_one CHECK ((VALUE > 0));


ALTER DOMAIN session_client.message_version OWNER TO session_client_owner;

--
-- Name: DOMAIN message_version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.message_version IS 'The version of a body''s type, from 1.';


--
-- Name: trace_parent; Type: DOMAIN; Schema: session_client; Owner: session_client_owner
--

CREATE DOMAIN session_client.trace_parent AS text
	CONSTRAINT trace_parent_is_short CHECK ((length(VALUE) <= 55));


ALTER DOMAIN session_client.trace_parent OWNER TO session_client_owner;

--
-- Name: DOMAIN trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON DOMAIN session_client.trace_parent IS 'W3C trace context (traceparent), at most 55 characters.';


--
-- Name: accept_truncation(text, text, uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.accept_truncation(of_source text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    place   record;
    skipped bigint := 0;
    base    bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM contacts.lease AS l WHERE l.source = of_source) THEN
        RAISE EXCEPTION 'contacts reads no log named %', of_source
            USING HINT = 'SELECT DISTINCT source FROM contacts.lease lists its logs.', ERRCODE = 'no_data_found';
    END IF;
    FOR place IN
        SELECT l.partition, b.number, b.position, b.given_time
          FROM contacts.lease AS l
         CROSS JOIN LATERAL (SELECT n.number, n.position, n.given_time FROM contacts.batch AS n
                              WHERE n.source = l.source AND n.partition = l.partition ORDER BY n.number DESC LIMIT 1) AS b
         WHERE l.source = of_source
    LOOP
        EXECUTE format('SELECT base_position FROM %I.%I WHERE partition = $1',
                       split_part(of_source, '.', 1), split_part(of_source, '.', 2) || '_partition')
           INTO base USING place.partition;
        CONTINUE WHEN base <= place.position;
        -- A batch without messages, which fences a worker that builds on the batch before it.
        INSERT INTO contacts.batch (source, partition, number, position, owner, epoch, given_time, messages)
        VALUES (of_source, place.partition, place.number + 1, base, '00000000-0000-0000-0000-000000000000', 0,
                greatest(place.given_time, clock_timestamp()), 0);
        skipped := skipped + base - place.position;
    END LOOP;
    PERFORM contacts.record_act(
        'accept_truncation', json_build_object('source', of_source, 'skipped', skipped), why, with_key);
    RETURN skipped;
END
$_$;


ALTER FUNCTION contacts.accept_truncation(of_source text, why text, with_key uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.accept_truncation(of_source text, why text, with_key uuid) IS 'For operators, when retention has deleted messages that contacts hadn''t handled: goes on where the log now begins. Returns how many messages contacts will never handle.';


--
-- Name: delete_old_batches(interval, integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.delete_old_batches(keep interval, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT l.source, l.partition,
               (SELECT b.number FROM contacts.batch AS b
                 WHERE b.source = l.source AND b.partition = l.partition ORDER BY b.number DESC LIMIT 1) AS number
          FROM contacts.lease AS l
    ), old AS (
        SELECT b.source, b.partition, b.number
          FROM newest AS n
         CROSS JOIN LATERAL (SELECT o.source, o.partition, o.number
                               FROM contacts.batch AS o
                              WHERE o.source = n.source AND o.partition = n.partition AND o.number < n.number
                                AND o.given_time < clock_timestamp() - keep
                              ORDER BY o.number
                              LIMIT at_most) AS b
    )
    DELETE FROM contacts.batch AS b USING old AS o
     WHERE b.source = o.source AND b.partition = o.partition AND b.number = o.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION contacts.delete_old_batches(keep interval, at_most integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.delete_old_batches(keep interval, at_most integer) IS 'Deletes batches older than the interval, at most at_most per partition and never the newest. Returns how many.';


--
-- Name: delete_old_outcomes(integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.delete_old_outcomes(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- Ids begin with their time, so the primary key finds the oldest.
    DELETE FROM contacts.outcome AS o
     WHERE o.command_id IN (
        SELECT old.command_id FROM contacts.outcome AS old
         WHERE old.command_id < (SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp() - r.keep) * 1000)::bigint), 12, '0')
                                         || '00000000000000000000')::uuid
                                   FROM contacts.retention AS r WHERE r.subject = 'outcome')
         ORDER BY old.command_id LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM contacts.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM contacts.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;


ALTER FUNCTION contacts.delete_old_outcomes(at_most integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION delete_old_outcomes(at_most integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.delete_old_outcomes(at_most integer) IS 'Deletes outcomes, at most at_most, and dead letters that are older than contacts.retention says. Returns how many.';


--
-- Name: discard_parked(text, text, text, uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.discard_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE contacts.parked AS p SET is_discarded = true, retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM contacts.record_act(
            'discard_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('contacts.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION contacts.discard_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.discard_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: gives up the parked message of this source and key, which becomes a dead letter; the next message of the key is tried. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: empty_failed_secrets(integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.empty_failed_secrets(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM contacts.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('session_client.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    UPDATE contacts.dead_letter AS d SET body = '{}'
     WHERE d.message_id IN (SELECT o.message_id FROM contacts.dead_letter AS o
                             WHERE o.died_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
                             ORDER BY o.died_at LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    UPDATE contacts.parked AS p SET body = '{}'
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM contacts.parked AS o
         WHERE o.recorded_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
         LIMIT at_most);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN emptied + parked;
END
$$;


ALTER FUNCTION contacts.empty_failed_secrets(at_most integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.empty_failed_secrets(at_most integer) IS 'Empties dead letters and parked commands that carry secrets and are older than contacts.retention says, at most at_most of each. Returns how many.';


--
-- Name: log_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM contacts.log_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM contacts.log AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM contacts.log_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO contacts.log
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION contacts.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO contacts_owner;

--
-- Name: FUNCTION log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: log_delete_old(integer, integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.log_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM contacts.retention AS r WHERE r.subject = 'log';
    SELECT p.base_position INTO base FROM contacts.log_partition AS p WHERE p.partition = of_partition;
    handled := contacts.log_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM contacts.log AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM contacts.log_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM contacts.log AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM contacts.log AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE contacts.log_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION contacts.log_delete_old(of_partition integer, at_most integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION log_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.log_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than contacts.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: log_handled(integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.log_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM session_client.lease AS l WHERE l.source = 'contacts.log') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM session_client.batch AS b
     WHERE b.source = 'contacts.log' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION contacts.log_handled(of_partition integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION log_handled(of_partition integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.log_handled(of_partition integer) IS 'The position up to which session_client has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: log_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM contacts.log AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM contacts.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM contacts.open_redaction AS r)));
END
$$;


ALTER FUNCTION contacts.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO contacts_owner;

--
-- Name: FUNCTION log_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: log_partition; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.log_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT log_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT log_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT log_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE contacts.log_partition OWNER TO contacts_owner;

--
-- Name: TABLE log_partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.log_partition IS 'The partitions of contacts.log. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN log_partition.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN log_partition.base_position; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN log_partition.lock; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: log_partition_of(text); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.log_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM contacts.log_partition));
END;


ALTER FUNCTION contacts.log_partition_of(key text) OWNER TO contacts_owner;

--
-- Name: FUNCTION log_partition_of(key text); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.log_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: log_redact(integer, integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.log_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  contacts.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM contacts.redaction_pass AS p
     WHERE p.log = 'log' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM contacts.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM contacts.log_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM contacts.log AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), contacts.log_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE contacts.log AS l SET body = '{}', type = 'Redacted', version = 1
          FROM contacts.log_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM contacts.log AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE contacts.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'log' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION contacts.log_redact(of_partition integer, at_most integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION log_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.log_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: microseconds(timestamp with time zone); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.microseconds(at timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((EXTRACT(epoch FROM at) * (1000000)::numeric))::bigint;


ALTER FUNCTION contacts.microseconds(at timestamp with time zone) OWNER TO contacts_owner;

--
-- Name: FUNCTION microseconds(at timestamp with time zone); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.microseconds(at timestamp with time zone) IS 'A time as published states have it: whole microseconds since 1970-01-01 00:00 UTC.';


--
-- Name: operator_act; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.operator_act (
    number bigint NOT NULL,
    act text NOT NULL,
    subject json NOT NULL,
    reason text NOT NULL,
    acted_as text DEFAULT SESSION_USER NOT NULL,
    with_key uuid,
    acted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT operator_act_has_a_reason CHECK (((btrim(reason) <> ''::text) AND (length(reason) <= 1000)))
);


ALTER TABLE contacts.operator_act OWNER TO contacts_owner;

--
-- Name: TABLE operator_act; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.operator_act IS 'The audit: what operators did, who, when and why. Nothing deletes it.';


--
-- Name: COLUMN operator_act.number; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.number IS 'Numbers the acts of this schema.';


--
-- Name: COLUMN operator_act.act; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.act IS 'The function that was called.';


--
-- Name: COLUMN operator_act.subject; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.subject IS 'Its arguments, and what it did.';


--
-- Name: COLUMN operator_act.reason; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.reason IS 'Why, in the operator''s words.';


--
-- Name: COLUMN operator_act.acted_as; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.acted_as IS 'The role that logged in.';


--
-- Name: COLUMN operator_act.with_key; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.with_key IS 'The operator''s API key; null at psql.';


--
-- Name: COLUMN operator_act.acted_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.operator_act.acted_at IS 'When it was done.';


--
-- Name: record_act(text, json, text, uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.record_act(act text, subject json, reason text, with_key uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO contacts.operator_act (act, subject, reason, with_key)
   VALUES (record_act.act, record_act.subject, COALESCE(record_act.reason, ''::text), record_act.with_key);
END;


ALTER FUNCTION contacts.record_act(act text, subject json, reason text, with_key uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.record_act(act text, subject json, reason text, with_key uuid) IS 'Adds a row to the audit. Called by the functions for operators alone, as the schema''s owner.';


--
-- Name: record_outcome(); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.record_outcome() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO contacts.outcome (command_id, account, command_hash, outcome, partition, position, type, body)
    SELECT a.command_id, a.account, a.command_hash, a.outcome, a.partition, a.position, a.type, a.body
      FROM appended AS a
     WHERE a.outcome IS NOT NULL;
    RETURN NULL;
END
$$;


ALTER FUNCTION contacts.record_outcome() OWNER TO contacts_owner;

--
-- Name: FUNCTION record_outcome(); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.record_outcome() IS 'Records the outcomes that log rows carry in contacts.outcome, at most one per command.';


--
-- Name: redact_failed(); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.redact_failed() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    UPDATE contacts.dead_letter AS d SET body = '{}'
     WHERE d.body::text <> '{}'
       AND (d.account IN (SELECT r.account FROM contacts.open_redaction AS r)
            OR d.key IN (SELECT 'account/' || r.account FROM contacts.open_redaction AS r));
    -- A closed account's command can only be rejected, whatever its body says. An event still concerns other accounts.
    UPDATE contacts.parked AS p SET body = '{}'
     WHERE p.kind = 'command' AND p.body::text <> '{}'
       AND (p.account IN (SELECT r.account FROM contacts.open_redaction AS r)
            OR p.key IN (SELECT 'account/' || r.account FROM contacts.open_redaction AS r));
$$;


ALTER FUNCTION contacts.redact_failed() OWNER TO contacts_owner;

--
-- Name: FUNCTION redact_failed(); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.redact_failed() IS 'Empties the dead letters and parked commands of accounts with an unfinished redaction.';


--
-- Name: redact_outcomes(integer); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.redact_outcomes(at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  contacts.redaction_pass;
    began timestamptz := clock_timestamp();
    last  uuid;
    count bigint;
BEGIN
    SELECT * INTO pass FROM contacts.redaction_pass AS p WHERE p.log = 'outcome' FOR NO KEY UPDATE;
    IF pass.is_whole THEN
        -- Ids aren't in order of time, so late outcomes need another pass.
        IF began <= pass.begun_at + pass.rows * interval '1 millisecond'
           OR NOT EXISTS (SELECT FROM contacts.open_redaction AS r
                           WHERE r.noticed_at > pass.begun_at
                              OR (r.late_until > pass.begun_at AND r.late_until < began)) THEN
            RETURN false;
        END IF;
        pass.begun_at := began;
        pass.rows := 0;
        pass.command_id := '00000000-0000-0000-0000-000000000000';
        pass.passed_until := '-infinity';
    END IF;
    SELECT o.command_id, o.number INTO last, count
      FROM (SELECT n.command_id, row_number() OVER (ORDER BY n.command_id) AS number
              FROM contacts.outcome AS n WHERE n.command_id > pass.command_id
             ORDER BY n.command_id LIMIT at_most) AS o
     ORDER BY o.number DESC LIMIT 1;
    pass.is_whole := last IS NULL;
    IF pass.is_whole THEN
        pass.passed_until := pass.begun_at;
    ELSE
        UPDATE contacts.outcome AS o SET body = '{}'
         WHERE o.command_id > pass.command_id AND o.command_id <= last AND o.body::text <> '{}'
           AND o.account IN (SELECT r.account FROM contacts.open_redaction AS r);
        pass.rows := pass.rows + count;
        pass.command_id := last;
    END IF;
    UPDATE contacts.redaction_pass AS p
       SET begun_at = pass.begun_at, command_id = pass.command_id, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'outcome';
    RETURN NOT pass.is_whole;
END
$$;


ALTER FUNCTION contacts.redact_outcomes(at_most integer) OWNER TO contacts_owner;

--
-- Name: FUNCTION redact_outcomes(at_most integer); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.redact_outcomes(at_most integer) IS 'Continues the redaction_pass of outcomes: searches at most at_most and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: retry_parked(text, text, text, uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.retry_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE contacts.parked AS p SET retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- The operator vouches that the message won't crash its owner again.
    DELETE FROM contacts.attempt AS a
     USING contacts.parked AS p
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0
       AND a.source = p.source AND a.partition = p.partition AND a.position = p.position;
    IF changed > 0 THEN
        PERFORM contacts.record_act(
            'retry_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('contacts.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION contacts.retry_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.retry_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: retries the parked message of this source and key now. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: set_retention(text, interval, interval, text, uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE contacts.retention AS r
       SET keep = to_keep, truncate_after = to_truncate_after, changed_at = clock_timestamp(), changed_by = session_user
     WHERE r.subject = of_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'contacts has no retention for %', of_subject
            USING HINT = 'SELECT * FROM contacts.retention lists the subjects.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM contacts.record_act(
        'set_retention',
        json_build_object('subject', of_subject, 'keep', to_keep, 'truncate_after', to_truncate_after), why, with_key);
END
$$;


ALTER FUNCTION contacts.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) IS 'For operators: sets how long rows of a table are kept, and after how long they are deleted even if a consumer hasn''t handled them (null: never).';


--
-- Name: accept_truncation(text, text, uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.accept_truncation(of_source text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    place   record;
    skipped bigint := 0;
    base    bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM notifications.lease AS l WHERE l.source = of_source) THEN
        RAISE EXCEPTION 'notifications reads no log named %', of_source
            USING HINT = 'SELECT DISTINCT source FROM notifications.lease lists its logs.', ERRCODE = 'no_data_found';
    END IF;
    FOR place IN
        SELECT l.partition, b.number, b.position, b.given_time
          FROM notifications.lease AS l
         CROSS JOIN LATERAL (SELECT n.number, n.position, n.given_time FROM notifications.batch AS n
                              WHERE n.source = l.source AND n.partition = l.partition ORDER BY n.number DESC LIMIT 1) AS b
         WHERE l.source = of_source
    LOOP
        EXECUTE format('SELECT base_position FROM %I.%I WHERE partition = $1',
                       split_part(of_source, '.', 1), split_part(of_source, '.', 2) || '_partition')
           INTO base USING place.partition;
        CONTINUE WHEN base <= place.position;
        -- A batch without messages, which fences a worker that builds on the batch before it.
        INSERT INTO notifications.batch (source, partition, number, position, owner, epoch, given_time, messages)
        VALUES (of_source, place.partition, place.number + 1, base, '00000000-0000-0000-0000-000000000000', 0,
                greatest(place.given_time, clock_timestamp()), 0);
        skipped := skipped + base - place.position;
    END LOOP;
    PERFORM notifications.record_act(
        'accept_truncation', json_build_object('source', of_source, 'skipped', skipped), why, with_key);
    RETURN skipped;
END
$_$;


ALTER FUNCTION notifications.accept_truncation(of_source text, why text, with_key uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.accept_truncation(of_source text, why text, with_key uuid) IS 'For operators, when retention has deleted messages that notifications hadn''t handled: goes on where the log now begins. Returns how many messages notifications will never handle.';


--
-- Name: delete_old_batches(interval, integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.delete_old_batches(keep interval, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT l.source, l.partition,
               (SELECT b.number FROM notifications.batch AS b
                 WHERE b.source = l.source AND b.partition = l.partition ORDER BY b.number DESC LIMIT 1) AS number
          FROM notifications.lease AS l
    ), old AS (
        SELECT b.source, b.partition, b.number
          FROM newest AS n
         CROSS JOIN LATERAL (SELECT o.source, o.partition, o.number
                               FROM notifications.batch AS o
                              WHERE o.source = n.source AND o.partition = n.partition AND o.number < n.number
                                AND o.given_time < clock_timestamp() - keep
                              ORDER BY o.number
                              LIMIT at_most) AS b
    )
    DELETE FROM notifications.batch AS b USING old AS o
     WHERE b.source = o.source AND b.partition = o.partition AND b.number = o.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION notifications.delete_old_batches(keep interval, at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.delete_old_batches(keep interval, at_most integer) IS 'Deletes batches older than the interval, at most at_most per partition and never the newest. Returns how many.';


--
-- Name: delete_old_outcomes(integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.delete_old_outcomes(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- Ids begin with their time, so the primary key finds the oldest.
    DELETE FROM notifications.outcome AS o
     WHERE o.command_id IN (
        SELECT old.command_id FROM notifications.outcome AS old
         WHERE old.command_id < (SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp() - r.keep) * 1000)::bigint), 12, '0')
                                         || '00000000000000000000')::uuid
                                   FROM notifications.retention AS r WHERE r.subject = 'outcome')
         ORDER BY old.command_id LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM notifications.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM notifications.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;


ALTER FUNCTION notifications.delete_old_outcomes(at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION delete_old_outcomes(at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.delete_old_outcomes(at_most integer) IS 'Deletes outcomes, at most at_most, and dead letters that are older than notifications.retention says. Returns how many.';


--
-- Name: discard_parked(text, text, text, uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.discard_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE notifications.parked AS p SET is_discarded = true, retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM notifications.record_act(
            'discard_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('notifications.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION notifications.discard_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.discard_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: gives up the parked message of this source and key, which becomes a dead letter; the next message of the key is tried. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: due_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM notifications.due_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM notifications.due AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM notifications.due_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO notifications.due
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION notifications.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO notifications_owner;

--
-- Name: FUNCTION due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: due_delete_old(integer, integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.due_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM notifications.retention AS r WHERE r.subject = 'due';
    SELECT p.base_position INTO base FROM notifications.due_partition AS p WHERE p.partition = of_partition;
    handled := notifications.due_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM notifications.due AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM notifications.due_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM notifications.due AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM notifications.due AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE notifications.due_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION notifications.due_delete_old(of_partition integer, at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION due_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.due_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than notifications.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: due_handled(integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.due_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM notifications.lease AS l WHERE l.source = 'notifications.due') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM notifications.batch AS b
     WHERE b.source = 'notifications.due' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION notifications.due_handled(of_partition integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION due_handled(of_partition integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.due_handled(of_partition integer) IS 'The position up to which notifications has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: due_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM notifications.due AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM notifications.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM notifications.open_redaction AS r)));
END
$$;


ALTER FUNCTION notifications.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO notifications_owner;

--
-- Name: FUNCTION due_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';


--
-- Name: due_partition; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.due_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT due_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT due_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT due_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE notifications.due_partition OWNER TO notifications_owner;

--
-- Name: TABLE due_partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.due_partition IS 'The partitions of notifications.due. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN due_partition.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN due_partition.base_position; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN due_partition.lock; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: due_partition_of(text); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.due_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM notifications.due_partition));
END;


ALTER FUNCTION notifications.due_partition_of(key text) OWNER TO notifications_owner;

--
-- Name: FUNCTION due_partition_of(key text); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.due_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: due_redact(integer, integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.due_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  notifications.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM notifications.redaction_pass AS p
     WHERE p.log = 'due' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM notifications.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM notifications.due_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM notifications.due AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), notifications.due_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE notifications.due AS l SET body = '{}', type = 'Redacted', version = 1
          FROM notifications.due_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM notifications.due AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE notifications.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'due' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION notifications.due_redact(of_partition integer, at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION due_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.due_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: empty_failed_secrets(integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.empty_failed_secrets(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM notifications.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('session_client.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    UPDATE notifications.dead_letter AS d SET body = '{}'
     WHERE d.message_id IN (SELECT o.message_id FROM notifications.dead_letter AS o
                             WHERE o.died_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
                             ORDER BY o.died_at LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    UPDATE notifications.parked AS p SET body = '{}'
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM notifications.parked AS o
         WHERE o.recorded_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
         LIMIT at_most);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN emptied + parked;
END
$$;


ALTER FUNCTION notifications.empty_failed_secrets(at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.empty_failed_secrets(at_most integer) IS 'Empties dead letters and parked commands that carry secrets and are older than notifications.retention says, at most at_most of each. Returns how many.';


--
-- Name: log_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM notifications.log_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM notifications.log AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM notifications.log_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO notifications.log
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION notifications.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO notifications_owner;

--
-- Name: FUNCTION log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: log_delete_old(integer, integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.log_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM notifications.retention AS r WHERE r.subject = 'log';
    SELECT p.base_position INTO base FROM notifications.log_partition AS p WHERE p.partition = of_partition;
    handled := notifications.log_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM notifications.log AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM notifications.log_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM notifications.log AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM notifications.log AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE notifications.log_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION notifications.log_delete_old(of_partition integer, at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION log_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.log_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than notifications.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: log_handled(integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.log_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM session_client.lease AS l WHERE l.source = 'notifications.log') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM session_client.batch AS b
     WHERE b.source = 'notifications.log' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION notifications.log_handled(of_partition integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION log_handled(of_partition integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.log_handled(of_partition integer) IS 'The position up to which session_client has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: log_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM notifications.log AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM notifications.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM notifications.open_redaction AS r)));
END
$$;


ALTER FUNCTION notifications.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO notifications_owner;

--
-- Name: FUNCTION log_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';


--
-- Name: log_partition; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.log_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT log_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT log_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT log_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE notifications.log_partition OWNER TO notifications_owner;

--
-- Name: TABLE log_partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.log_partition IS 'The partitions of notifications.log. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN log_partition.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN log_partition.base_position; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN log_partition.lock; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: log_partition_of(text); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.log_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM notifications.log_partition));
END;


ALTER FUNCTION notifications.log_partition_of(key text) OWNER TO notifications_owner;

--
-- Name: FUNCTION log_partition_of(key text); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.log_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: log_redact(integer, integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.log_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  notifications.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM notifications.redaction_pass AS p
     WHERE p.log = 'log' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM notifications.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM notifications.log_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM notifications.log AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), notifications.log_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE notifications.log AS l SET body = '{}', type = 'Redacted', version = 1
          FROM notifications.log_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM notifications.log AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE notifications.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'log' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION notifications.log_redact(of_partition integer, at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION log_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.log_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: microseconds(timestamp with time zone); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.microseconds(at timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((EXTRACT(epoch FROM at) * (1000000)::numeric))::bigint;


ALTER FUNCTION notifications.microseconds(at timestamp with time zone) OWNER TO notifications_owner;

--
-- Name: FUNCTION microseconds(at timestamp with time zone); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.microseconds(at timestamp with time zone) IS 'A time as published states have it: whole microseconds since 1970-01-01 00:00 UTC.';


--
-- Name: operator_act; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.operator_act (
    number bigint NOT NULL,
    act text NOT NULL,
    subject json NOT NULL,
    reason text NOT NULL,
    acted_as text DEFAULT SESSION_USER NOT NULL,
    with_key uuid,
    acted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT operator_act_has_a_reason CHECK (((btrim(reason) <> ''::text) AND (length(reason) <= 1000)))
);


ALTER TABLE notifications.operator_act OWNER TO notifications_owner;

--
-- Name: TABLE operator_act; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.operator_act IS 'The audit: what operators did, who, when and why. Nothing deletes it.';


--
-- Name: COLUMN operator_act.number; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.number IS 'Numbers the acts of this schema.';


--
-- Name: COLUMN operator_act.act; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.act IS 'The function that was called.';


--
-- Name: COLUMN operator_act.subject; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.subject IS 'Its arguments, and what it did.';


--
-- Name: COLUMN operator_act.reason; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.reason IS 'Why, in the operator''s words.';


--
-- Name: COLUMN operator_act.acted_as; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.acted_as IS 'The role that logged in.';


--
-- Name: COLUMN operator_act.with_key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.with_key IS 'The operator''s API key; null at psql.';


--
-- Name: COLUMN operator_act.acted_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.operator_act.acted_at IS 'When it was done.';


--
-- Name: record_act(text, json, text, uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.record_act(act text, subject json, reason text, with_key uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO notifications.operator_act (act, subject, reason, with_key)
   VALUES (record_act.act, record_act.subject, COALESCE(record_act.reason, ''::text), record_act.with_key);
END;


ALTER FUNCTION notifications.record_act(act text, subject json, reason text, with_key uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.record_act(act text, subject json, reason text, with_key uuid) IS 'Adds a row to the audit. Called by the functions for operators alone, as the schema''s owner.';


--
-- Name: record_outcome(); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.record_outcome() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO notifications.outcome (command_id, account, command_hash, outcome, partition, position, type, body)
    SELECT a.command_id, a.account, a.command_hash, a.outcome, a.partition, a.position, a.type, a.body
      FROM appended AS a
     WHERE a.outcome IS NOT NULL;
    RETURN NULL;
END
$$;


ALTER FUNCTION notifications.record_outcome() OWNER TO notifications_owner;

--
-- Name: FUNCTION record_outcome(); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.record_outcome() IS 'Records the outcomes that log rows carry in notifications.outcome, at most one per command.';


--
-- Name: redact_failed(); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.redact_failed() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    UPDATE notifications.dead_letter AS d SET body = '{}'
     WHERE d.body::text <> '{}'
       AND (d.account IN (SELECT r.account FROM notifications.open_redaction AS r)
            OR d.key IN (SELECT 'account/' || r.account FROM notifications.open_redaction AS r));
    -- A closed account's command can only be rejected, whatever its body says. An event still concerns other accounts.
    UPDATE notifications.parked AS p SET body = '{}'
     WHERE p.kind = 'command' AND p.body::text <> '{}'
       AND (p.account IN (SELECT r.account FROM notifications.open_redaction AS r)
            OR p.key IN (SELECT 'account/' || r.account FROM notifications.open_redaction AS r));
$$;


ALTER FUNCTION notifications.redact_failed() OWNER TO notifications_owner;

--
-- Name: FUNCTION redact_failed(); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.redact_failed() IS 'Empties the dead letters and parked commands of accounts with an unfinished redaction.';


--
-- Name: redact_outcomes(integer); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.redact_outcomes(at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  notifications.redaction_pass;
    began timestamptz := clock_timestamp();
    last  uuid;
    count bigint;
BEGIN
    SELECT * INTO pass FROM notifications.redaction_pass AS p WHERE p.log = 'outcome' FOR NO KEY UPDATE;
    IF pass.is_whole THEN
        -- Ids aren't in order of time, so late outcomes need another pass.
        IF began <= pass.begun_at + pass.rows * interval '1 millisecond'
           OR NOT EXISTS (SELECT FROM notifications.open_redaction AS r
                           WHERE r.noticed_at > pass.begun_at
                              OR (r.late_until > pass.begun_at AND r.late_until < began)) THEN
            RETURN false;
        END IF;
        pass.begun_at := began;
        pass.rows := 0;
        pass.command_id := '00000000-0000-0000-0000-000000000000';
        pass.passed_until := '-infinity';
    END IF;
    SELECT o.command_id, o.number INTO last, count
      FROM (SELECT n.command_id, row_number() OVER (ORDER BY n.command_id) AS number
              FROM notifications.outcome AS n WHERE n.command_id > pass.command_id
             ORDER BY n.command_id LIMIT at_most) AS o
     ORDER BY o.number DESC LIMIT 1;
    pass.is_whole := last IS NULL;
    IF pass.is_whole THEN
        pass.passed_until := pass.begun_at;
    ELSE
        UPDATE notifications.outcome AS o SET body = '{}'
         WHERE o.command_id > pass.command_id AND o.command_id <= last AND o.body::text <> '{}'
           AND o.account IN (SELECT r.account FROM notifications.open_redaction AS r);
        pass.rows := pass.rows + count;
        pass.command_id := last;
    END IF;
    UPDATE notifications.redaction_pass AS p
       SET begun_at = pass.begun_at, command_id = pass.command_id, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'outcome';
    RETURN NOT pass.is_whole;
END
$$;


ALTER FUNCTION notifications.redact_outcomes(at_most integer) OWNER TO notifications_owner;

--
-- Name: FUNCTION redact_outcomes(at_most integer); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.redact_outcomes(at_most integer) IS 'Continues the redaction_pass of outcomes: searches at most at_most and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: retry_parked(text, text, text, uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.retry_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE notifications.parked AS p SET retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- The operator vouches that the message won't crash its owner again.
    DELETE FROM notifications.attempt AS a
     USING notifications.parked AS p
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0
       AND a.source = p.source AND a.partition = p.partition AND a.position = p.position;
    IF changed > 0 THEN
        PERFORM notifications.record_act(
            'retry_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('notifications.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION notifications.retry_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.retry_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: retries the parked message of this source and key now. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: set_retention(text, interval, interval, text, uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE notifications.retention AS r
       SET keep = to_keep, truncate_after = to_truncate_after, changed_at = clock_timestamp(), changed_by = session_user
     WHERE r.subject = of_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'notifications has no retention for %', of_subject
            USING HINT = 'SELECT * FROM notifications.retention lists the subjects.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM notifications.record_act(
        'set_retention',
        json_build_object('subject', of_subject, 'keep', to_keep, 'truncate_after', to_truncate_after), why, with_key);
END
$$;


ALTER FUNCTION notifications.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) IS 'For operators: sets how long rows of a table are kept, and after how long they are deleted even if a consumer hasn''t handled them (null: never).';


--
-- Name: accept_truncation(text, text, uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.accept_truncation(of_source text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    place   record;
    skipped bigint := 0;
    base    bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM session.lease AS l WHERE l.source = of_source) THEN
        RAISE EXCEPTION 'session reads no log named %', of_source
            USING HINT = 'SELECT DISTINCT source FROM session.lease lists its logs.', ERRCODE = 'no_data_found';
    END IF;
    FOR place IN
        SELECT l.partition, b.number, b.position, b.given_time
          FROM session.lease AS l
         CROSS JOIN LATERAL (SELECT n.number, n.position, n.given_time FROM session.batch AS n
                              WHERE n.source = l.source AND n.partition = l.partition ORDER BY n.number DESC LIMIT 1) AS b
         WHERE l.source = of_source
    LOOP
        EXECUTE format('SELECT base_position FROM %I.%I WHERE partition = $1',
                       split_part(of_source, '.', 1), split_part(of_source, '.', 2) || '_partition')
           INTO base USING place.partition;
        CONTINUE WHEN base <= place.position;
        -- A batch without messages, which fences a worker that builds on the batch before it.
        INSERT INTO session.batch (source, partition, number, position, owner, epoch, given_time, messages)
        VALUES (of_source, place.partition, place.number + 1, base, '00000000-0000-0000-0000-000000000000', 0,
                greatest(place.given_time, clock_timestamp()), 0);
        skipped := skipped + base - place.position;
    END LOOP;
    PERFORM session.record_act(
        'accept_truncation', json_build_object('source', of_source, 'skipped', skipped), why, with_key);
    RETURN skipped;
END
$_$;


ALTER FUNCTION session.accept_truncation(of_source text, why text, with_key uuid) OWNER TO session_owner;

--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.accept_truncation(of_source text, why text, with_key uuid) IS 'For operators, when retention has deleted messages that session hadn''t handled: goes on where the log now begins. Returns how many messages session will never handle.';


--
-- Name: delete_old_attachments(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_attachments(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    unfinished bigint;
    deleted bigint;
BEGIN
    -- An attachment whose chunks are being adopted is locked, and isn't old any more afterwards.
    WITH old AS (
        SELECT o.content FROM session.attachment AS o
         WHERE o.completed_at IS NULL
           AND o.renewed_at < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'unfinished_attachment')
         ORDER BY o.renewed_at LIMIT at_most FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM session.attachment AS a WHERE a.content IN (SELECT o.content FROM old AS o) RETURNING a.content)
    INSERT INTO session.deleted_content (content) SELECT g.content FROM gone AS g;
    GET DIAGNOSTICS unfinished = ROW_COUNT;
    -- At most 4 MiB in one transaction.
    DELETE FROM session.attachment_chunk AS c
     WHERE (c.content, c.number) IN (
        SELECT k.content, k.number
          FROM session.deleted_content AS d JOIN session.attachment_chunk AS k ON k.content = d.content
         LIMIT least(at_most, 64));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted = 0 THEN
        DELETE FROM session.deleted_content AS d
         WHERE d.content IN (SELECT o.content FROM session.deleted_content AS o
                              WHERE NOT EXISTS (SELECT FROM session.attachment_chunk AS k WHERE k.content = o.content)
                              LIMIT at_most);
        GET DIAGNOSTICS deleted = ROW_COUNT;
    END IF;
    RETURN unfinished + deleted;
END
$$;


ALTER FUNCTION session.delete_old_attachments(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_attachments(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_attachments(at_most integer) IS 'Deletes attachments that were never finished, and a piece of the bytes of those that are gone. Returns how many rows.';


--
-- Name: delete_old_attempts(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_attempts(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.sign_in_attempt AS a
     WHERE (a.subject, a.source) IN (
        SELECT o.subject, o.source FROM session.sign_in_attempt AS o
         WHERE o.counted_since < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'sign_in_attempt')
         ORDER BY o.counted_since LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION session.delete_old_attempts(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_attempts(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_attempts(at_most integer) IS 'Deletes attempts that are older than session.retention says, at most at_most rows. Returns how many.';


--
-- Name: delete_old_batches(interval, integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_batches(keep interval, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT l.source, l.partition,
               (SELECT b.number FROM session.batch AS b
                 WHERE b.source = l.source AND b.partition = l.partition ORDER BY b.number DESC LIMIT 1) AS number
          FROM session.lease AS l
    ), old AS (
        SELECT b.source, b.partition, b.number
          FROM newest AS n
         CROSS JOIN LATERAL (SELECT o.source, o.partition, o.number
                               FROM session.batch AS o
                              WHERE o.source = n.source AND o.partition = n.partition AND o.number < n.number
                                AND o.given_time < clock_timestamp() - keep
                              ORDER BY o.number
                              LIMIT at_most) AS b
    )
    DELETE FROM session.batch AS b USING old AS o
     WHERE b.source = o.source AND b.partition = o.partition AND b.number = o.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION session.delete_old_batches(keep interval, at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_batches(keep interval, at_most integer) IS 'Deletes batches older than the interval, at most at_most per partition and never the newest. Returns how many.';


--
-- Name: delete_old_checkpoints(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_checkpoints(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    -- Where the next stretch begins before history does, no position that can still be asked for needs this one.
    DELETE FROM session.group_stretch AS s
     WHERE s.ctid = ANY (ARRAY(
        SELECT old.ctid
          FROM session.log_partition AS p
         CROSS JOIN LATERAL (SELECT o.ctid FROM session.group_stretch AS o
                              WHERE o.partition = p.partition AND o.until <= p.base_position
                              ORDER BY o.until LIMIT at_most) AS old
         LIMIT at_most));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION session.delete_old_checkpoints(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_checkpoints(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_checkpoints(at_most integer) IS 'Forgets at most so many stretches of group sessions whose events retention has deleted, with their checkpoints. A session''s last stretch stays. Returns how many.';


--
-- Name: delete_old_groups(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_groups(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.group_session AS g
     WHERE g.group_id IN (
        SELECT o.group_id FROM session.group_session AS o
         WHERE o.ended_at < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'group_session')
           AND NOT EXISTS (SELECT FROM session.attachment AS a WHERE a.group_id = o.group_id)
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION session.delete_old_groups(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_groups(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_groups(at_most integer) IS 'Forgets at most so many group sessions that ended longer ago than session.retention says. Returns how many.';


--
-- Name: delete_old_messages(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_messages(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    deleted bigint;
    over    bigint := 0;
    emptied bigint;
BEGIN
    DELETE FROM session.group_message AS m
     USING (SELECT o.group_id, o.number
              FROM session.message_history AS h
              JOIN session.group_message AS o ON o.group_id = h.group_id
             WHERE h.is_over
             LIMIT at_most) AS g
     WHERE m.group_id = g.group_id AND m.number = g.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted < at_most THEN
        -- Not those of a session that ended just now: their messages would all go with them.
        DELETE FROM session.message_history AS h
         WHERE h.group_id IN (
            SELECT o.group_id FROM session.message_history AS o
             WHERE o.is_over AND NOT EXISTS (SELECT FROM session.group_message AS m WHERE m.group_id = o.group_id)
             LIMIT at_most);
        GET DIAGNOSTICS over = ROW_COUNT;
    END IF;
    UPDATE session.group_message AS m
       SET type = NULL, data = NULL, recipients = NULL
      FROM (SELECT o.group_id, o.number
              FROM session.open_redaction AS r
              JOIN session.group_message AS o ON o.sender = r.account AND o.type IS NOT NULL
             LIMIT at_most) AS c
     WHERE m.group_id = c.group_id AND m.number = c.number;
    GET DIAGNOSTICS emptied = ROW_COUNT;
    RETURN deleted + over + emptied;
END
$$;


ALTER FUNCTION session.delete_old_messages(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_messages(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_messages(at_most integer) IS 'Deletes at most so many messages of group sessions that are over, at most so many histories whose messages are gone, and empties at most so many messages of closed accounts. Returns how many.';


--
-- Name: delete_old_outcomes(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.delete_old_outcomes(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- Ids begin with their time, so the primary key finds the oldest.
    DELETE FROM session.outcome AS o
     WHERE o.command_id IN (
        SELECT old.command_id FROM session.outcome AS old
         WHERE old.command_id < (SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp() - r.keep) * 1000)::bigint), 12, '0')
                                         || '00000000000000000000')::uuid
                                   FROM session.retention AS r WHERE r.subject = 'outcome')
         ORDER BY old.command_id LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM session.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;


ALTER FUNCTION session.delete_old_outcomes(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION delete_old_outcomes(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.delete_old_outcomes(at_most integer) IS 'Deletes outcomes, at most at_most, and dead letters that are older than session.retention says. Returns how many.';


--
-- Name: discard_parked(text, text, text, uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.discard_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE session.parked AS p SET is_discarded = true, retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM session.record_act(
            'discard_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('session.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION session.discard_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO session_owner;

--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.discard_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: gives up the parked message of this source and key, which becomes a dead letter; the next message of the key is tried. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: due_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM session.due_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM session.due AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM session.due_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO session.due
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION session.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO session_owner;

--
-- Name: FUNCTION due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: due_delete_old(integer, integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.due_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM session.retention AS r WHERE r.subject = 'due';
    SELECT p.base_position INTO base FROM session.due_partition AS p WHERE p.partition = of_partition;
    handled := session.due_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM session.due AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM session.due_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM session.due AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM session.due AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE session.due_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION session.due_delete_old(of_partition integer, at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION due_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.due_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than session.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: due_handled(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.due_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM session.lease AS l WHERE l.source = 'session.due') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM session.batch AS b
     WHERE b.source = 'session.due' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION session.due_handled(of_partition integer) OWNER TO session_owner;

--
-- Name: FUNCTION due_handled(of_partition integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.due_handled(of_partition integer) IS 'The position up to which session has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: due_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM session.due AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM session.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM session.open_redaction AS r)));
END
$$;


ALTER FUNCTION session.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO session_owner;

--
-- Name: FUNCTION due_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';


--
-- Name: due_partition; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.due_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT due_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT due_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT due_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session.due_partition OWNER TO session_owner;

--
-- Name: TABLE due_partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.due_partition IS 'The partitions of session.due. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN due_partition.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN due_partition.base_position; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN due_partition.lock; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: due_partition_of(text); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.due_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM session.due_partition));
END;


ALTER FUNCTION session.due_partition_of(key text) OWNER TO session_owner;

--
-- Name: FUNCTION due_partition_of(key text); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.due_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: due_redact(integer, integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.due_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM session.redaction_pass AS p
     WHERE p.log = 'due' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM session.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM session.due_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM session.due AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), session.due_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE session.due AS l SET body = '{}', type = 'Redacted', version = 1
          FROM session.due_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM session.due AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE session.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'due' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION session.due_redact(of_partition integer, at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION due_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.due_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: empty_failed_secrets(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.empty_failed_secrets(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('session_client.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    UPDATE session.dead_letter AS d SET body = '{}'
     WHERE d.message_id IN (SELECT o.message_id FROM session.dead_letter AS o
                             WHERE o.died_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
                             ORDER BY o.died_at LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    UPDATE session.parked AS p SET body = '{}'
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM session.parked AS o
         WHERE o.recorded_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
         LIMIT at_most);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN emptied + parked;
END
$$;


ALTER FUNCTION session.empty_failed_secrets(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.empty_failed_secrets(at_most integer) IS 'Empties dead letters and parked commands that carry secrets and are older than session.retention says, at most at_most of each. Returns how many.';


--
-- Name: group_at(uuid, bigint); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.group_at(of_group uuid, at_position bigint) RETURNS TABLE("position" bigint, state json, type text, version smallint, body json)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    WITH stretch AS MATERIALIZED (
        SELECT s.partition, s.since, s.positions, s.last,
               s.last <= at_position
                   AND NOT EXISTS (SELECT FROM session.group_stretch AS n WHERE n.group_id = of_group AND n.since > s.since)
                   AS is_newest
          FROM (SELECT h.*, coalesce(h.positions[cardinality(h.positions)], h.since) AS last
                  FROM session.group_stretch AS h
                 WHERE h.group_id = of_group AND h.since <= at_position
                 ORDER BY h.since DESC
                 LIMIT 1) AS s
    )
    SELECT CASE WHEN s.is_newest THEN s.last ELSE s.since END,
           CASE WHEN s.is_newest THEN (SELECT g.state FROM session.group_state AS g WHERE g.group_id = of_group)
                ELSE (SELECT c.state FROM session.group_checkpoint AS c
                       WHERE c.group_id = of_group AND c.position = s.since) END,
           NULL, NULL, NULL
      FROM stretch AS s
     UNION ALL
    SELECT e.position, NULL, l.type, l.version, l.body
      FROM stretch AS s
     CROSS JOIN LATERAL unnest(s.positions) AS e(position)
      LEFT JOIN session.log AS l ON l.partition = s.partition AND l.position = e.position
     WHERE NOT s.is_newest AND e.position <= at_position
     ORDER BY 1
$$;


ALTER FUNCTION session.group_at(of_group uuid, at_position bigint) OWNER TO session_owner;

--
-- Name: FUNCTION group_at(of_group uuid, at_position bigint); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.group_at(of_group uuid, at_position bigint) IS 'What gives a group session''s state at a position of its partition: first a row with the state (NULL before its first event) at an earlier position, then the events to fold. An event without a body is one that retention has deleted; without any row, all of it is gone.';


--
-- Name: log_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM session.log_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM session.log AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM session.log_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO session.log
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION session.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO session_owner;

--
-- Name: FUNCTION log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: log_delete_old(integer, integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.log_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM session.retention AS r WHERE r.subject = 'log';
    SELECT p.base_position INTO base FROM session.log_partition AS p WHERE p.partition = of_partition;
    handled := session.log_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM session.log AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM session.log_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM session.log AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM session.log AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE session.log_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION session.log_delete_old(of_partition integer, at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION log_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.log_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than session.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: log_handled(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.log_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM session_client.lease AS l WHERE l.source = 'session.log') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM session_client.batch AS b
     WHERE b.source = 'session.log' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION session.log_handled(of_partition integer) OWNER TO session_owner;

--
-- Name: FUNCTION log_handled(of_partition integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.log_handled(of_partition integer) IS 'The position up to which session_client has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: log_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM session.log AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM session.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM session.open_redaction AS r)));
END
$$;


ALTER FUNCTION session.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO session_owner;

--
-- Name: FUNCTION log_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';


--
-- Name: log_partition; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.log_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT log_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT log_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT log_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session.log_partition OWNER TO session_owner;

--
-- Name: TABLE log_partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.log_partition IS 'The partitions of session.log. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN log_partition.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN log_partition.base_position; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN log_partition.lock; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: log_partition_of(text); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.log_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM session.log_partition));
END;


ALTER FUNCTION session.log_partition_of(key text) OWNER TO session_owner;

--
-- Name: FUNCTION log_partition_of(key text); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.log_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: log_redact(integer, integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.log_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM session.redaction_pass AS p
     WHERE p.log = 'log' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM session.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM session.log_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM session.log AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), session.log_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE session.log AS l SET body = '{}', type = 'Redacted', version = 1
          FROM session.log_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM session.log AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE session.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'log' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION session.log_redact(of_partition integer, at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION log_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.log_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: microseconds(timestamp with time zone); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.microseconds(at timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((EXTRACT(epoch FROM at) * (1000000)::numeric))::bigint;


ALTER FUNCTION session.microseconds(at timestamp with time zone) OWNER TO session_owner;

--
-- Name: FUNCTION microseconds(at timestamp with time zone); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.microseconds(at timestamp with time zone) IS 'A time as published states have it: whole microseconds since 1970-01-01 00:00 UTC.';


--
-- Name: operator_act; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.operator_act (
    number bigint NOT NULL,
    act text NOT NULL,
    subject json NOT NULL,
    reason text NOT NULL,
    acted_as text DEFAULT SESSION_USER NOT NULL,
    with_key uuid,
    acted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT operator_act_has_a_reason CHECK (((btrim(reason) <> ''::text) AND (length(reason) <= 1000)))
);


ALTER TABLE session.operator_act OWNER TO session_owner;

--
-- Name: TABLE operator_act; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.operator_act IS 'The audit: what operators did, who, when and why. Nothing deletes it.';


--
-- Name: COLUMN operator_act.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.number IS 'Numbers the acts of this schema.';


--
-- Name: COLUMN operator_act.act; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.act IS 'The function that was called.';


--
-- Name: COLUMN operator_act.subject; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.subject IS 'Its arguments, and what it did.';


--
-- Name: COLUMN operator_act.reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.reason IS 'Why, in the operator''s words.';


--
-- Name: COLUMN operator_act.acted_as; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.acted_as IS 'The role that logged in.';


--
-- Name: COLUMN operator_act.with_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.with_key IS 'The operator''s API key; null at psql.';


--
-- Name: COLUMN operator_act.acted_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.operator_act.acted_at IS 'When it was done.';


--
-- Name: record_act(text, json, text, uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.record_act(act text, subject json, reason text, with_key uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO session.operator_act (act, subject, reason, with_key)
   VALUES (record_act.act, record_act.subject, COALESCE(record_act.reason, ''::text), record_act.with_key);
END;


ALTER FUNCTION session.record_act(act text, subject json, reason text, with_key uuid) OWNER TO session_owner;

--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.record_act(act text, subject json, reason text, with_key uuid) IS 'Adds a row to the audit. Called by the functions for operators alone, as the schema''s owner.';


--
-- Name: record_group_events(); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.record_group_events() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    news    record;
    is_full boolean;
BEGIN
    FOR news IN
        SELECT substr(a.key, 7)::uuid AS group_id, a.partition, max(a.position)::bigint AS last,
               array_agg(a.position::bigint ORDER BY a.position) AS positions, sum(octet_length(a.body::text)) AS size
          FROM appended AS a
         WHERE a.kind = 'event' AND a.key LIKE 'group/%' AND a.type <> 'GroupMessageSent'
         GROUP BY a.key, a.partition
    LOOP
        UPDATE session.group_stretch AS s SET positions = s.positions || news.positions, size = s.size + news.size
         WHERE s.group_id = news.group_id
           AND s.since = (SELECT n.since FROM session.group_stretch AS n
                           WHERE n.group_id = news.group_id ORDER BY n.since DESC LIMIT 1)
        RETURNING cardinality(s.positions) >= 64 OR s.size >= 262144 INTO is_full;
        IF NOT FOUND THEN
            INSERT INTO session.group_stretch (group_id, since, partition, positions, size)
            VALUES (news.group_id, 0, news.partition, news.positions, news.size);
        ELSIF is_full THEN
            UPDATE session.group_stretch AS s SET until = news.last WHERE s.group_id = news.group_id AND s.until IS NULL;
            INSERT INTO session.group_stretch (group_id, since, partition, positions, size)
            VALUES (news.group_id, news.last, news.partition, '{}', 0);
            INSERT INTO session.group_checkpoint (group_id, position, state)
            SELECT g.group_id, news.last, g.state FROM session.group_state AS g WHERE g.group_id = news.group_id;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;


ALTER FUNCTION session.record_group_events() OWNER TO session_owner;

--
-- Name: FUNCTION record_group_events(); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.record_group_events() IS 'Keeps the positions of group sessions'' events in session.group_stretch, and their states now and then in session.group_checkpoint.';


--
-- Name: record_outcome(); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.record_outcome() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO session.outcome (command_id, account, command_hash, outcome, partition, position, type, body)
    SELECT a.command_id, a.account, a.command_hash, a.outcome, a.partition, a.position, a.type, a.body
      FROM appended AS a
     WHERE a.outcome IS NOT NULL;
    RETURN NULL;
END
$$;


ALTER FUNCTION session.record_outcome() OWNER TO session_owner;

--
-- Name: FUNCTION record_outcome(); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.record_outcome() IS 'Records the outcomes that log rows carry in session.outcome, at most one per command.';


--
-- Name: redact_failed(); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.redact_failed() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    UPDATE session.dead_letter AS d SET body = '{}'
     WHERE d.body::text <> '{}'
       AND (d.account IN (SELECT r.account FROM session.open_redaction AS r)
            OR d.key IN (SELECT 'account/' || r.account FROM session.open_redaction AS r));
    -- A closed account's command can only be rejected, whatever its body says. An event still concerns other accounts.
    UPDATE session.parked AS p SET body = '{}'
     WHERE p.kind = 'command' AND p.body::text <> '{}'
       AND (p.account IN (SELECT r.account FROM session.open_redaction AS r)
            OR p.key IN (SELECT 'account/' || r.account FROM session.open_redaction AS r));
$$;


ALTER FUNCTION session.redact_failed() OWNER TO session_owner;

--
-- Name: FUNCTION redact_failed(); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.redact_failed() IS 'Empties the dead letters and parked commands of accounts with an unfinished redaction.';


--
-- Name: redact_outcomes(integer); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.redact_outcomes(at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session.redaction_pass;
    began timestamptz := clock_timestamp();
    last  uuid;
    count bigint;
BEGIN
    SELECT * INTO pass FROM session.redaction_pass AS p WHERE p.log = 'outcome' FOR NO KEY UPDATE;
    IF pass.is_whole THEN
        -- Ids aren't in order of time, so late outcomes need another pass.
        IF began <= pass.begun_at + pass.rows * interval '1 millisecond'
           OR NOT EXISTS (SELECT FROM session.open_redaction AS r
                           WHERE r.noticed_at > pass.begun_at
                              OR (r.late_until > pass.begun_at AND r.late_until < began)) THEN
            RETURN false;
        END IF;
        pass.begun_at := began;
        pass.rows := 0;
        pass.command_id := '00000000-0000-0000-0000-000000000000';
        pass.passed_until := '-infinity';
    END IF;
    SELECT o.command_id, o.number INTO last, count
      FROM (SELECT n.command_id, row_number() OVER (ORDER BY n.command_id) AS number
              FROM session.outcome AS n WHERE n.command_id > pass.command_id
             ORDER BY n.command_id LIMIT at_most) AS o
     ORDER BY o.number DESC LIMIT 1;
    pass.is_whole := last IS NULL;
    IF pass.is_whole THEN
        pass.passed_until := pass.begun_at;
    ELSE
        UPDATE session.outcome AS o SET body = '{}'
         WHERE o.command_id > pass.command_id AND o.command_id <= last AND o.body::text <> '{}'
           AND o.account IN (SELECT r.account FROM session.open_redaction AS r);
        pass.rows := pass.rows + count;
        pass.command_id := last;
    END IF;
    UPDATE session.redaction_pass AS p
       SET begun_at = pass.begun_at, command_id = pass.command_id, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'outcome';
    RETURN NOT pass.is_whole;
END
$$;


ALTER FUNCTION session.redact_outcomes(at_most integer) OWNER TO session_owner;

--
-- Name: FUNCTION redact_outcomes(at_most integer); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.redact_outcomes(at_most integer) IS 'Continues the redaction_pass of outcomes: searches at most at_most and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: retry_parked(text, text, text, uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.retry_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE session.parked AS p SET retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- The operator vouches that the message won't crash its owner again.
    DELETE FROM session.attempt AS a
     USING session.parked AS p
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0
       AND a.source = p.source AND a.partition = p.partition AND a.position = p.position;
    IF changed > 0 THEN
        PERFORM session.record_act(
            'retry_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('session.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION session.retry_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO session_owner;

--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.retry_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: retries the parked message of this source and key now. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: set_retention(text, interval, interval, text, uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE session.retention AS r
       SET keep = to_keep, truncate_after = to_truncate_after, changed_at = clock_timestamp(), changed_by = session_user
     WHERE r.subject = of_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'session has no retention for %', of_subject
            USING HINT = 'SELECT * FROM session.retention lists the subjects.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM session.record_act(
        'set_retention',
        json_build_object('subject', of_subject, 'keep', to_keep, 'truncate_after', to_truncate_after), why, with_key);
END
$$;


ALTER FUNCTION session.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) OWNER TO session_owner;

--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) IS 'For operators: sets how long rows of a table are kept, and after how long they are deleted even if a consumer hasn''t handled them (null: never).';


--
-- Name: with_member(json, text, json); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.with_member(object json, name text, value json) RETURNS json
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (value IS NULL) THEN object ELSE (((((("left"((object)::text, '-1'::integer) || ','::text) || (to_json(name))::text) || ':'::text) || (value)::text) || '}'::text))::json END;


ALTER FUNCTION session.with_member(object json, name text, value json) OWNER TO session_owner;

--
-- Name: FUNCTION with_member(object json, name text, value json); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.with_member(object json, name text, value json) IS 'An object that has members, with one more, unless that is NULL. The value stays as it is: json_strip_nulls() would change what apps wrote.';


--
-- Name: accept_truncation(text, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.accept_truncation(of_source text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    place   record;
    skipped bigint := 0;
    base    bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM session_client.lease AS l WHERE l.source = of_source) THEN
        RAISE EXCEPTION 'session_client reads no log named %', of_source
            USING HINT = 'SELECT DISTINCT source FROM session_client.lease lists its logs.', ERRCODE = 'no_data_found';
    END IF;
    FOR place IN
        SELECT l.partition, b.number, b.position, b.given_time
          FROM session_client.lease AS l
         CROSS JOIN LATERAL (SELECT n.number, n.position, n.given_time FROM session_client.batch AS n
                              WHERE n.source = l.source AND n.partition = l.partition ORDER BY n.number DESC LIMIT 1) AS b
         WHERE l.source = of_source
    LOOP
        EXECUTE format('SELECT base_position FROM %I.%I WHERE partition = $1',
                       split_part(of_source, '.', 1), split_part(of_source, '.', 2) || '_partition')
           INTO base USING place.partition;
        CONTINUE WHEN base <= place.position;
        -- A batch without messages, which fences a worker that builds on the batch before it.
        INSERT INTO session_client.batch (source, partition, number, position, owner, epoch, given_time, messages)
        VALUES (of_source, place.partition, place.number + 1, base, '00000000-0000-0000-0000-000000000000', 0,
                greatest(place.given_time, clock_timestamp()), 0);
        skipped := skipped + base - place.position;
    END LOOP;
    PERFORM session_client.record_act(
        'accept_truncation', json_build_object('source', of_source, 'skipped', skipped), why, with_key);
    RETURN skipped;
END
$_$;


ALTER FUNCTION session_client.accept_truncation(of_source text, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.accept_truncation(of_source text, why text, with_key uuid) IS 'For operators, when retention has deleted messages that session_client hadn''t handled: goes on where the log now begins. Returns how many messages session_client will never handle.';


--
-- Name: alarm_begun(uuid, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid) RETURNS TABLE(person uuid, kind text, due_at timestamp with time zone, noticed_at timestamp with time zone, in_partition integer, at_position bigint, appended_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    place record;
BEGIN
    FOR place IN
        SELECT h.partition, session_client.position_before(h.log, h.partition, session_client.time_of(of_alarm)) AS before
          FROM session_client.heads AS h
         WHERE h.log = 'session.log'
           AND (of_person IS NULL OR h.partition = session.log_partition_of('account/' || of_person))
    LOOP
        RETURN QUERY
        SELECT (m.body ->> 'account')::uuid, CASE m.type WHEN 'CheckInMissed' THEN 'missedCheckIn' ELSE 'alert' END,
               timestamptz 'epoch' + (m.body ->> 'deadline')::bigint * interval '1 microsecond',
               timestamptz 'epoch' + (m.body ->> 'at')::bigint * interval '1 microsecond',
               m.partition, m.position, m.recorded_at
          FROM session_client.messages AS m
         WHERE m.log = 'session.log' AND m.partition = place.partition
           AND m.position > place.before AND m.position <= place.before + 2000
           AND m.kind = 'event' AND m.type IN ('CheckInMissed', 'AlertRaised') AND m.body ->> 'alarm' = of_alarm::text;
        IF FOUND THEN RETURN; END IF;
    END LOOP;
END
$$;


ALTER FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION alarm_begun(of_alarm uuid, of_person uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid) IS 'The event that began an alarm: whose it is, when the check-in was due (null for an alert), when that was noticed, and where the event is in session.log. Searches 2,000 rows from the time in the alarm''s id: of the person''s partition, or of each if the person isn''t known (null). No row if retention deleted it.';


--
-- Name: batch_before(text, text, integer, timestamp with time zone); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    low    bigint;
    high   bigint;
    middle bigint;
    given  timestamptz;
BEGIN
    SELECT b.number - 1 INTO low FROM session_client.batches AS b
     WHERE b.consumer = of_consumer AND b.source = of_source AND b.partition = of_partition ORDER BY b.number LIMIT 1;
    SELECT b.number INTO high FROM session_client.batches AS b
     WHERE b.consumer = of_consumer AND b.source = of_source AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT b.given_time INTO given FROM session_client.batches AS b
         WHERE b.consumer = of_consumer AND b.source = of_source AND b.partition = of_partition AND b.number = middle;
        IF given < before THEN low := middle; ELSE high := middle - 1; END IF;
    END LOOP;
    RETURN low;
END
$$;


ALTER FUNCTION session_client.batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone) OWNER TO session_client_owner;

--
-- Name: FUNCTION batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone) IS 'The number of a partition''s last batch whose given time is before this one. If all kept batches are later, the number before the oldest; null if there are none. A binary search finds it.';


--
-- Name: carries_secrets(text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.carries_secrets(type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (type = ANY (ARRAY['SignUp'::text, 'SignIn'::text, 'RefreshDevice'::text, 'ChangePassword'::text, 'ResetPassword'::text, 'ConfirmIdentity'::text, 'RequestSignInCode'::text, 'SignInByPhone'::text, 'RequestPhoneChange'::text, 'ChangePhone'::text, 'RenamePhone'::text, 'MakeRecoveryCodes'::text, 'SignInByRecoveryCode'::text, 'ConfirmByRecoveryCode'::text, 'UndoSecurityChanges'::text, 'RegisterPush'::text]));


ALTER FUNCTION session_client.carries_secrets(type text) OWNER TO session_client_owner;

--
-- Name: FUNCTION carries_secrets(type text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.carries_secrets(type text) IS 'Whether commands of this type carry a proof of identity or a push token. This is the only list of such types.';


--
-- Name: contacts_commands_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM session_client.contacts_commands_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM session_client.contacts_commands AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM session_client.contacts_commands_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO session_client.contacts_commands
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION session_client.contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO session_client_owner;

--
-- Name: FUNCTION contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: contacts_commands_delete_old(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.contacts_commands_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM session_client.retention AS r WHERE r.subject = 'contacts_commands';
    SELECT p.base_position INTO base FROM session_client.contacts_commands_partition AS p WHERE p.partition = of_partition;
    handled := session_client.contacts_commands_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM session_client.contacts_commands AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM session_client.contacts_commands_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM session_client.contacts_commands AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM session_client.contacts_commands AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE session_client.contacts_commands_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION session_client.contacts_commands_delete_old(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION contacts_commands_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.contacts_commands_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than session_client.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: contacts_commands_handled(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.contacts_commands_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM contacts.lease AS l WHERE l.source = 'session_client.contacts_commands') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM contacts.batch AS b
     WHERE b.source = 'session_client.contacts_commands' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION session_client.contacts_commands_handled(of_partition integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION contacts_commands_handled(of_partition integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.contacts_commands_handled(of_partition integer) IS 'The position up to which contacts has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: contacts_commands_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.contacts_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- A command without an account, such as a sign-in, belongs to the account in its outcome.
    RETURN QUERY
    SELECT l.position::bigint FROM session_client.contacts_commands AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM session_client.open_redaction AS r)
            OR coalesce(l.account, (SELECT o.account FROM contacts.outcome AS o WHERE o.command_id = l.command_id))
               IN (SELECT r.account FROM session_client.open_redaction AS r));
END
$$;


ALTER FUNCTION session_client.contacts_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION contacts_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.contacts_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of commands of accounts with an unfinished redaction.';


--
-- Name: contacts_commands_partition; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.contacts_commands_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT contacts_commands_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT contacts_commands_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT contacts_commands_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session_client.contacts_commands_partition OWNER TO session_client_owner;

--
-- Name: TABLE contacts_commands_partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.contacts_commands_partition IS 'The partitions of session_client.contacts_commands. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN contacts_commands_partition.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN contacts_commands_partition.base_position; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN contacts_commands_partition.lock; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: contacts_commands_partition_of(text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.contacts_commands_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM session_client.contacts_commands_partition));
END;


ALTER FUNCTION session_client.contacts_commands_partition_of(key text) OWNER TO session_client_owner;

--
-- Name: FUNCTION contacts_commands_partition_of(key text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.contacts_commands_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: contacts_commands_redact(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.contacts_commands_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session_client.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM session_client.redaction_pass AS p
     WHERE p.log = 'contacts_commands' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM session_client.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM session_client.contacts_commands_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM session_client.contacts_commands AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), session_client.contacts_commands_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE session_client.contacts_commands AS l SET body = '{}', type = 'Redacted', version = 1
          FROM session_client.contacts_commands_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM session_client.contacts_commands AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE session_client.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'contacts_commands' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION session_client.contacts_commands_redact(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION contacts_commands_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.contacts_commands_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: create_union_view(text, text[], text, text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.create_union_view(view_name text, names text[], like_table text, branch text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    col record;
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW session_client.%I WITH (security_invoker = true) AS %s', view_name,
                   (SELECT string_agg(format(branch, n.name), ' UNION ALL ' ORDER BY n.number)
                      FROM unnest(names) WITH ORDINALITY AS n (name, number)));
    FOR col IN
        SELECT v.attname AS name, coalesce(col_description(t.attrelid, t.attnum), CASE v.attname
                   WHEN 'log' THEN 'The log, as schema.table.'
                   WHEN 'service' THEN 'The service, by its schema.'
                   WHEN 'consumer' THEN 'The service that handles the messages, by its schema.' END) AS comment
          FROM pg_attribute AS v
          LEFT JOIN pg_attribute AS t ON t.attrelid = like_table::regclass AND t.attname = v.attname AND t.attnum > 0
         WHERE v.attrelid = format('session_client.%I', view_name)::regclass AND v.attnum > 0
           AND col_description(v.attrelid, v.attnum) IS NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN session_client.%I.%I IS %L', view_name, col.name, col.comment);
    END LOOP;
END
$$;


ALTER FUNCTION session_client.create_union_view(view_name text, names text[], like_table text, branch text) OWNER TO session_client_owner;

--
-- Name: FUNCTION create_union_view(view_name text, names text[], like_table text, branch text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.create_union_view(view_name text, names text[], like_table text, branch text) IS 'Creates a view that joins one SELECT per name by UNION ALL; %1$s in the SELECT stands for the name. Columns without a comment get the one of like_table''s column of that name.';


--
-- Name: create_union_views(); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.create_union_views() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    logs      text[] := ARRAY(SELECT l.log FROM session_client.logs AS l ORDER BY l.log);
    services  text[] := ARRAY(SELECT DISTINCT split_part(l.log, '.', 1) FROM session_client.logs AS l ORDER BY 1);
    with_outcomes text[] := ARRAY(SELECT s FROM unnest(services) AS s WHERE to_regclass(s || '.outcome') IS NOT NULL);
    with_timers   text[] := ARRAY(SELECT s FROM unnest(services) AS s WHERE to_regclass(s || '.timer') IS NOT NULL);
BEGIN
    PERFORM session_client.create_union_view('messages', logs, 'session.log', $branch$
        SELECT '%1$s' AS log, m.partition, m.position::bigint AS position, m.recorded_at, m.kind::text AS kind,
               m.type::text AS type, m.key::text AS key, m.account, m.outcome::text AS outcome, m.message_id, m.command_id,
               m.correlation_id, m.causation_id, m.body::json AS body
          FROM %1$s AS m $branch$);
    PERFORM session_client.create_union_view('heads', logs, 'session.log', $branch$
        SELECT '%1$s' AS log, p.partition, p.base_position AS base, coalesce(m.position, p.base_position) AS head,
               m.recorded_at
          FROM %1$s_partition AS p
          LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM %1$s AS m
                              WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true $branch$);
    PERFORM session_client.create_union_view('batches', services, 'session.batch', $branch$
        SELECT '%1$s' AS consumer, b.source, b.partition, b.number::bigint AS number, b.position::bigint AS position,
               b.owner, b.epoch, b.given_time, b.messages::int AS messages
          FROM %1$s.batch AS b $branch$);
    PERFORM session_client.create_union_view('all_outcomes', with_outcomes, 'session.outcome', $branch$
        SELECT '%1$s' AS consumer, o.command_id, o.account, o.outcome::text AS outcome, o.type::text AS type, o.body,
               o.recorded_at, o.partition, o.position
          FROM %1$s.outcome AS o $branch$);
    PERFORM session_client.create_union_view('all_leases', services, 'session.lease', $branch$
        SELECT '%1$s' AS consumer, l.* FROM %1$s.lease AS l $branch$);
    PERFORM session_client.create_union_view('all_members', services, 'session.member', $branch$
        SELECT '%1$s' AS consumer, m.* FROM %1$s.member AS m $branch$);
    PERFORM session_client.create_union_view('all_parked', services, 'session.parked', $branch$
        SELECT '%1$s' AS consumer, p.* FROM %1$s.parked AS p $branch$);
    PERFORM session_client.create_union_view('all_dead_letters', services, 'session.dead_letter', $branch$
        SELECT '%1$s' AS consumer, d.* FROM %1$s.dead_letter AS d $branch$);
    PERFORM session_client.create_union_view('all_retention', services, 'session.retention', $branch$
        SELECT '%1$s' AS service, r.* FROM %1$s.retention AS r $branch$);
    PERFORM session_client.create_union_view('all_operator_acts', services, 'session.operator_act', $branch$
        SELECT '%1$s' AS service, a.* FROM %1$s.operator_act AS a $branch$);
    PERFORM session_client.create_union_view('all_timers', with_timers, 'session.timer', $branch$
        SELECT '%1$s' AS service, t.* FROM %1$s.timer AS t $branch$);
END
$_$;


ALTER FUNCTION session_client.create_union_views() OWNER TO session_client_owner;

--
-- Name: FUNCTION create_union_views(); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.create_union_views() IS 'Creates the views that show the same table of several logs or services as one. For migrations: after a change of session_client.logs.';


--
-- Name: delete_old_batches(interval, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.delete_old_batches(keep interval, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT l.source, l.partition,
               (SELECT b.number FROM session_client.batch AS b
                 WHERE b.source = l.source AND b.partition = l.partition ORDER BY b.number DESC LIMIT 1) AS number
          FROM session_client.lease AS l
    ), old AS (
        SELECT b.source, b.partition, b.number
          FROM newest AS n
         CROSS JOIN LATERAL (SELECT o.source, o.partition, o.number
                               FROM session_client.batch AS o
                              WHERE o.source = n.source AND o.partition = n.partition AND o.number < n.number
                                AND o.given_time < clock_timestamp() - keep
                              ORDER BY o.number
                              LIMIT at_most) AS b
    )
    DELETE FROM session_client.batch AS b USING old AS o
     WHERE b.source = o.source AND b.partition = o.partition AND b.number = o.number;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION session_client.delete_old_batches(keep interval, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.delete_old_batches(keep interval, at_most integer) IS 'Deletes batches older than the interval, at most at_most per partition and never the newest. Returns how many.';


--
-- Name: delete_old_sagas(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.delete_old_sagas(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- The steps are deleted by their foreign key.
    DELETE FROM session_client.saga AS s
     WHERE s.id IN (
        SELECT o.id FROM session_client.saga AS o
         WHERE o.state <> 'running'
           AND o.ended_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'saga')
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM session_client.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;


ALTER FUNCTION session_client.delete_old_sagas(at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION delete_old_sagas(at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.delete_old_sagas(at_most integer) IS 'Deletes ended sagas with their steps, at most at_most, and dead letters that are older than session_client.retention says. Returns how many.';


--
-- Name: delete_old_stream_tokens(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.delete_old_stream_tokens(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session_client.stream_token AS t
     WHERE t.stream IN (
        SELECT o.stream FROM session_client.stream_token AS o
         WHERE o.expires_at < clock_timestamp() ORDER BY o.expires_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;


ALTER FUNCTION session_client.delete_old_stream_tokens(at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION delete_old_stream_tokens(at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.delete_old_stream_tokens(at_most integer) IS 'Deletes the tokens of streams that have ended, at most at_most. Returns how many.';


--
-- Name: delete_old_uploads(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.delete_old_uploads(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    oldest session_client.upload;
    chunks bigint;
BEGIN
    -- One whose next chunk is arriving is locked, and isn't old any more afterwards.
    SELECT u.* INTO oldest FROM session_client.upload AS u
     WHERE u.renewed_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'upload')
     ORDER BY u.renewed_at LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN 0; END IF;
    -- At most 4 MiB in one transaction.
    DELETE FROM session_client.upload_chunk AS c
     WHERE c.account = oldest.account AND c.hash = oldest.hash
       AND c.number IN (SELECT k.number FROM session_client.upload_chunk AS k
                         WHERE k.account = oldest.account AND k.hash = oldest.hash LIMIT least(at_most, 64));
    GET DIAGNOSTICS chunks = ROW_COUNT;
    IF chunks = 0 THEN
        DELETE FROM session_client.upload AS u WHERE u.account = oldest.account AND u.hash = oldest.hash;
    END IF;
    RETURN greatest(chunks, 1);
END
$$;


ALTER FUNCTION session_client.delete_old_uploads(at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION delete_old_uploads(at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.delete_old_uploads(at_most integer) IS 'Deletes at most so many chunks of the oldest upload, if that is older than session_client.retention says, and at last the upload. Returns how many rows.';


--
-- Name: discard_dead_letter(uuid, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.discard_dead_letter(dead uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    letter record;
BEGIN
    SELECT found.type, found.key INTO letter
      FROM (SELECT d.type, d.key FROM session.dead_letter AS d WHERE d.message_id = dead
             UNION ALL
            SELECT d.type, d.key FROM contacts.dead_letter AS d WHERE d.message_id = dead
             UNION ALL
            SELECT d.type, d.key FROM notifications.dead_letter AS d WHERE d.message_id = dead
             UNION ALL
            SELECT d.type, d.key FROM session_client.dead_letter AS d WHERE d.message_id = dead) AS found;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no dead letter with the message_id %', dead
            USING HINT = 'SELECT message_id, type, error FROM session_client.dead_letters lists them.', ERRCODE = 'no_data_found';
    END IF;
    INSERT INTO session_client.dead_letter_decision (message_id, decision, reason) VALUES (dead, 'discarded', why);
    PERFORM session_client.record_act(
        'discard_dead_letter', json_build_object('message', dead, 'type', letter.type, 'key', letter.key), why, with_key);
END
$$;


ALTER FUNCTION session_client.discard_dead_letter(dead uuid, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION discard_dead_letter(dead uuid, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.discard_dead_letter(dead uuid, why text, with_key uuid) IS 'For operators: records that nothing will be done about a dead letter, and why. The letter stays until retention deletes it.';


--
-- Name: discard_parked(text, text, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.discard_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE session_client.parked AS p SET is_discarded = true, retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM session_client.record_act(
            'discard_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('session_client.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION session_client.discard_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.discard_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: gives up the parked message of this source and key, which becomes a dead letter; the next message of the key is tried. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: empty_failed_secrets(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.empty_failed_secrets(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    parked  bigint;
BEGIN
    IF to_regprocedure('session_client.carries_secrets(text)') IS NULL THEN RETURN 0; END IF;
    UPDATE session_client.dead_letter AS d SET body = '{}'
     WHERE d.message_id IN (SELECT o.message_id FROM session_client.dead_letter AS o
                             WHERE o.died_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
                             ORDER BY o.died_at LIMIT at_most);
    GET DIAGNOSTICS emptied = ROW_COUNT;
    -- By now the command has expired and will be rejected, whatever its body says.
    UPDATE session_client.parked AS p SET body = '{}'
     WHERE (p.source, p.partition, p.position) IN (
        SELECT o.source, o.partition, o.position FROM session_client.parked AS o
         WHERE o.recorded_at < too_old AND o.body::text <> '{}' AND session_client.carries_secrets(o.type)
         LIMIT at_most);
    GET DIAGNOSTICS parked = ROW_COUNT;
    RETURN emptied + parked;
END
$$;


ALTER FUNCTION session_client.empty_failed_secrets(at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.empty_failed_secrets(at_most integer) IS 'Empties dead letters and parked commands that carry secrets and are older than session_client.retention says, at most at_most of each. Returns how many.';


--
-- Name: empty_secrets(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.empty_secrets(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    tokens  bigint;
BEGIN
    -- Outcomes are kept elsewhere, so a command that is sent again still gets its outcome.
    UPDATE session_client.session_commands AS l SET body = '{}', type = 'Redacted', version = 1
      FROM (SELECT c.partition, c.position FROM session_client.session_commands AS c
             WHERE session_client.carries_secrets(c.type) AND c.recorded_at < too_old
               AND c.position <= session_client.session_commands_handled(c.partition)
             ORDER BY c.recorded_at LIMIT at_most) AS o
     WHERE l.partition = o.partition AND l.position = o.position;
    GET DIAGNOSTICS emptied = ROW_COUNT;
    UPDATE session_client.notifications_commands AS l SET body = '{}', type = 'Redacted', version = 1
      FROM (SELECT c.partition, c.position FROM session_client.notifications_commands AS c
             WHERE session_client.carries_secrets(c.type) AND c.recorded_at < too_old
               AND c.position <= session_client.notifications_commands_handled(c.partition)
             ORDER BY c.recorded_at LIMIT at_most) AS o
     WHERE l.partition = o.partition AND l.position = o.position;
    GET DIAGNOSTICS tokens = ROW_COUNT;
    RETURN emptied + tokens;
END
$$;


ALTER FUNCTION session_client.empty_secrets(at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION empty_secrets(at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.empty_secrets(at_most integer) IS 'Empties handled commands that carry secrets and are older than session_client.retention says, at most at_most of each log. Returns how many.';


--
-- Name: event_after(text, text, text, timestamp with time zone, text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text) RETURNS TABLE(in_partition integer, at_position bigint, appended_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    place  int := CASE of_log WHEN 'session.log' THEN session.log_partition_of(of_key)
                              WHEN 'contacts.log' THEN contacts.log_partition_of(of_key)
                              WHEN 'notifications.log' THEN notifications.log_partition_of(of_key) END;
    before bigint := session_client.position_before(of_log, place, since);
BEGIN
    RETURN QUERY
    SELECT m.partition, m.position, m.recorded_at
      FROM session_client.messages AS m
     WHERE m.log = of_log AND m.partition = place AND m.position > before AND m.position <= before + 2000
       AND m.kind = 'event' AND m.type = of_type AND m.key = of_key AND strpos(m.body::text, mentioning) > 0
     ORDER BY m.position
     LIMIT 1;
END
$$;


ALTER FUNCTION session_client.event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text) OWNER TO session_client_owner;

--
-- Name: FUNCTION event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text) IS 'The first event of a type in a key''s stream that mentions an id, among the 2,000 rows of the key''s partition from a time on. A binary search finds the time.';


--
-- Name: last_story(bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.last_story(at_most bigint DEFAULT 50000) RETURNS TABLE(at timestamp with time zone, since_start interval, tree text, log text, partition integer, "position" bigint, kind text, outcome text, took interval, body text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    request uuid;
BEGIN
    SELECT m.correlation_id INTO request
      FROM session_client.heads AS h
     CROSS JOIN LATERAL (SELECT m.correlation_id, m.recorded_at FROM session_client.messages AS m
                          WHERE m.log = h.log AND m.partition = h.partition AND m.position > h.head - 1000
                            AND m.position <= h.head AND m.causation_id IS NULL AND m.correlation_id IS NOT NULL
                          ORDER BY m.position DESC LIMIT 1) AS m
     ORDER BY m.recorded_at DESC
     LIMIT 1;
    IF request IS NOT NULL THEN
        RETURN QUERY SELECT s.* FROM session_client.story(request, at_most) AS s;
    END IF;
END
$$;


ALTER FUNCTION session_client.last_story(at_most bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION last_story(at_most bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.last_story(at_most bigint) IS 'session_client.story of the newest request: the one of the newest message without a cause, among the newest 1,000 of each partition.';


--
-- Name: operator_act; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.operator_act (
    number bigint NOT NULL,
    act text NOT NULL,
    subject json NOT NULL,
    reason text NOT NULL,
    acted_as text DEFAULT SESSION_USER NOT NULL,
    with_key uuid,
    acted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT operator_act_has_a_reason CHECK (((btrim(reason) <> ''::text) AND (length(reason) <= 1000)))
);


ALTER TABLE session_client.operator_act OWNER TO session_client_owner;

--
-- Name: TABLE operator_act; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.operator_act IS 'The audit: what operators did, who, when and why. Nothing deletes it.';


--
-- Name: COLUMN operator_act.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.number IS 'Numbers the acts of this schema.';


--
-- Name: COLUMN operator_act.act; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.act IS 'The function that was called.';


--
-- Name: COLUMN operator_act.subject; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.subject IS 'Its arguments, and what it did.';


--
-- Name: COLUMN operator_act.reason; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.reason IS 'Why, in the operator''s words.';


--
-- Name: COLUMN operator_act.acted_as; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.acted_as IS 'The role that logged in.';


--
-- Name: COLUMN operator_act.with_key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.with_key IS 'The operator''s API key; null at psql.';


--
-- Name: COLUMN operator_act.acted_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_act.acted_at IS 'When it was done.';


--
-- Name: record_act(text, json, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.record_act(act text, subject json, reason text, with_key uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO session_client.operator_act (act, subject, reason, with_key)
   VALUES (record_act.act, record_act.subject, COALESCE(record_act.reason, ''::text), record_act.with_key);
END;


ALTER FUNCTION session_client.record_act(act text, subject json, reason text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.record_act(act text, subject json, reason text, with_key uuid) IS 'Adds a row to the audit. Called by the functions for operators alone, as the schema''s owner.';


--
-- Name: operator_key; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.operator_key (
    id uuid NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    hash bytea NOT NULL,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT operator_key_has_a_name CHECK ((name ~ '^[A-Za-z0-9._@-]{1,100}$'::text)),
    CONSTRAINT operator_key_hash_is_sha256 CHECK ((octet_length(hash) = 32)),
    CONSTRAINT operator_key_role_is_known CHECK ((role = ANY (ARRAY['read'::text, 'act'::text])))
);


ALTER TABLE session_client.operator_key OWNER TO session_client_owner;

--
-- Name: TABLE operator_key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.operator_key IS 'The API keys that open /v1/operator. `session-client keys` makes, lists and revokes them; the role session_client can''t even read them.';


--
-- Name: COLUMN operator_key.id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_key.id IS 'The key''s id. The audit (operator_act.with_key) names it.';


--
-- Name: COLUMN operator_key.name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_key.name IS 'Whose key it is, or what it is for.';


--
-- Name: COLUMN operator_key.role; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_key.role IS 'read (looks at everything, changes nothing) or act (may retry, discard and set retention besides).';


--
-- Name: COLUMN operator_key.hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_key.hash IS 'SHA-256 of the key''s secret, 32 random bytes. Only the operator''s function sees it.';


--
-- Name: COLUMN operator_key.made_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_key.made_at IS 'When it was made.';


--
-- Name: COLUMN operator_key.revoked_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_key.revoked_at IS 'When it was revoked; null while it is in use.';


--
-- Name: make_operator_key(uuid, text, text, bytea, text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO session_client.operator_key (id, name, role, hash)
   VALUES (make_operator_key.of_id, make_operator_key.of_name, make_operator_key.of_role, make_operator_key.of_hash);
 SELECT session_client.record_act('make_operator_key'::text, json_build_object('key', of_id, 'name', of_name, 'role', of_role), why, NULL::uuid) AS record_act;
END;


ALTER FUNCTION session_client.make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text) OWNER TO session_client_owner;

--
-- Name: FUNCTION make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text) IS 'For operators, by `session-client keys make`: adds an API key, of which it is given the hash.';


--
-- Name: messages_of(uuid, timestamp with time zone, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.messages_of(of_id uuid, since timestamp with time zone, at_most bigint) RETURNS TABLE(in_log text, in_partition integer, at_position bigint, of_request uuid, appended_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    place record;
BEGIN
    FOR place IN
        SELECT h.log, h.partition,
               CASE WHEN since IS NULL THEN greatest(h.head - at_most, h.base)
                    ELSE session_client.position_before(h.log, h.partition, since) END AS after
          FROM session_client.heads AS h
    LOOP
        RETURN QUERY
        SELECT m.log, m.partition, m.position, m.correlation_id, m.recorded_at
          FROM session_client.messages AS m
         WHERE m.log = place.log AND m.partition = place.partition
           AND m.position > place.after AND m.position <= place.after + at_most
           AND of_id IN (m.message_id, m.command_id, m.correlation_id);
    END LOOP;
END
$$;


ALTER FUNCTION session_client.messages_of(of_id uuid, since timestamp with time zone, at_most bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION messages_of(of_id uuid, since timestamp with time zone, at_most bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.messages_of(of_id uuid, since timestamp with time zone, at_most bigint) IS 'Finds the messages with this message_id, command_id or correlation_id among the first at_most rows of each partition of each log since a time, or among the newest if the time is null. For ids that no index knows.';


--
-- Name: log; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.log (
    partition integer NOT NULL,
    "position" contacts.message_position NOT NULL,
    kind contacts.message_kind NOT NULL,
    type contacts.message_type NOT NULL,
    version contacts.message_version NOT NULL,
    key contacts.message_key NOT NULL,
    account uuid,
    body contacts.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome contacts.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent contacts.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE contacts.log OWNER TO contacts_owner;

--
-- Name: TABLE log; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.log IS 'Messages from contacts to session_client, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN log.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.partition IS 'The partition, which follows from the key (log_partition_of).';


--
-- Name: COLUMN log."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN log.kind; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN log.type; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN log.version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN log.key; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN log.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN log.body; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN log.message_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN log.command_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN log.outcome; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN log.command_hash; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN log.correlation_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN log.causation_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN log.trace_parent; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN log.expires_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN log.recorded_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.log.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: due; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.due (
    partition integer NOT NULL,
    "position" notifications.message_position NOT NULL,
    kind notifications.message_kind NOT NULL,
    type notifications.message_type NOT NULL,
    version notifications.message_version NOT NULL,
    key notifications.message_key NOT NULL,
    account uuid,
    body notifications.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome notifications.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent notifications.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT due_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE notifications.due OWNER TO notifications_owner;

--
-- Name: TABLE due; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.due IS 'Messages from notifications to notifications, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN due.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.partition IS 'The partition, which follows from the key (due_partition_of).';


--
-- Name: COLUMN due."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN due.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN due.type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN due.version; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN due.key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN due.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN due.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN due.message_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN due.command_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN due.outcome; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN due.command_hash; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN due.correlation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN due.causation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN due.trace_parent; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN due.expires_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN due.recorded_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.due.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: log; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.log (
    partition integer NOT NULL,
    "position" notifications.message_position NOT NULL,
    kind notifications.message_kind NOT NULL,
    type notifications.message_type NOT NULL,
    version notifications.message_version NOT NULL,
    key notifications.message_key NOT NULL,
    account uuid,
    body notifications.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome notifications.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent notifications.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE notifications.log OWNER TO notifications_owner;

--
-- Name: TABLE log; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.log IS 'Messages from notifications to session_client, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN log.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.partition IS 'The partition, which follows from the key (log_partition_of).';


--
-- Name: COLUMN log."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN log.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN log.type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN log.version; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN log.key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN log.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN log.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN log.message_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN log.command_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN log.outcome; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN log.command_hash; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN log.correlation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN log.causation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN log.trace_parent; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN log.expires_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN log.recorded_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.log.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: due; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.due (
    partition integer NOT NULL,
    "position" session.message_position NOT NULL,
    kind session.message_kind NOT NULL,
    type session.message_type NOT NULL,
    version session.message_version NOT NULL,
    key session.message_key NOT NULL,
    account uuid,
    body session.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome session.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent session.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT due_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session.due OWNER TO session_owner;

--
-- Name: TABLE due; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.due IS 'Messages from session to session, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN due.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.partition IS 'The partition, which follows from the key (due_partition_of).';


--
-- Name: COLUMN due."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN due.kind; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN due.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN due.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN due.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN due.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN due.body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN due.message_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN due.command_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN due.outcome; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN due.command_hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN due.correlation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN due.causation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN due.trace_parent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN due.expires_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN due.recorded_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.due.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: log; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.log (
    partition integer NOT NULL,
    "position" session.message_position NOT NULL,
    kind session.message_kind NOT NULL,
    type session.message_type NOT NULL,
    version session.message_version NOT NULL,
    key session.message_key NOT NULL,
    account uuid,
    body session.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome session.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent session.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session.log OWNER TO session_owner;

--
-- Name: TABLE log; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.log IS 'Messages from session to session_client, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN log.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.partition IS 'The partition, which follows from the key (log_partition_of).';


--
-- Name: COLUMN log."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN log.kind; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN log.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN log.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN log.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN log.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN log.body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN log.message_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN log.command_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN log.outcome; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN log.command_hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN log.correlation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN log.causation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN log.trace_parent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN log.expires_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN log.recorded_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.log.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: contacts_commands; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.contacts_commands (
    partition integer NOT NULL,
    "position" session_client.message_position NOT NULL,
    kind session_client.message_kind NOT NULL,
    type session_client.message_type NOT NULL,
    version session_client.message_version NOT NULL,
    key session_client.message_key NOT NULL,
    account uuid,
    body session_client.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome session_client.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent session_client.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT contacts_commands_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session_client.contacts_commands OWNER TO session_client_owner;

--
-- Name: TABLE contacts_commands; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.contacts_commands IS 'Messages from session_client to contacts, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN contacts_commands.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.partition IS 'The partition, which follows from the key (contacts_commands_partition_of).';


--
-- Name: COLUMN contacts_commands."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN contacts_commands.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN contacts_commands.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN contacts_commands.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN contacts_commands.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN contacts_commands.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN contacts_commands.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN contacts_commands.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN contacts_commands.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN contacts_commands.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN contacts_commands.command_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN contacts_commands.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN contacts_commands.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN contacts_commands.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN contacts_commands.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN contacts_commands.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.contacts_commands.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: notifications_commands; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.notifications_commands (
    partition integer NOT NULL,
    "position" session_client.message_position NOT NULL,
    kind session_client.message_kind NOT NULL,
    type session_client.message_type NOT NULL,
    version session_client.message_version NOT NULL,
    key session_client.message_key NOT NULL,
    account uuid,
    body session_client.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome session_client.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent session_client.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT notifications_commands_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session_client.notifications_commands OWNER TO session_client_owner;

--
-- Name: TABLE notifications_commands; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.notifications_commands IS 'Messages from session_client to notifications, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN notifications_commands.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.partition IS 'The partition, which follows from the key (notifications_commands_partition_of).';


--
-- Name: COLUMN notifications_commands."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN notifications_commands.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN notifications_commands.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN notifications_commands.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN notifications_commands.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN notifications_commands.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN notifications_commands.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN notifications_commands.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN notifications_commands.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN notifications_commands.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN notifications_commands.command_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN notifications_commands.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN notifications_commands.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN notifications_commands.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN notifications_commands.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN notifications_commands.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: operations; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.operations (
    partition integer NOT NULL,
    "position" session_client.message_position NOT NULL,
    kind session_client.message_kind NOT NULL,
    type session_client.message_type NOT NULL,
    version session_client.message_version NOT NULL,
    key session_client.message_key NOT NULL,
    account uuid,
    body session_client.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome session_client.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent session_client.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT operations_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session_client.operations OWNER TO session_client_owner;

--
-- Name: TABLE operations; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.operations IS 'Messages from session_client to session_client, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN operations.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.partition IS 'The partition, which follows from the key (operations_partition_of).';


--
-- Name: COLUMN operations."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN operations.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN operations.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN operations.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN operations.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN operations.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN operations.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN operations.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN operations.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN operations.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN operations.command_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN operations.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN operations.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN operations.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN operations.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN operations.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: session_commands; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.session_commands (
    partition integer NOT NULL,
    "position" session_client.message_position NOT NULL,
    kind session_client.message_kind NOT NULL,
    type session_client.message_type NOT NULL,
    version session_client.message_version NOT NULL,
    key session_client.message_key NOT NULL,
    account uuid,
    body session_client.message_body NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome session_client.message_outcome,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent session_client.trace_parent,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT session_commands_row_is_whole CHECK (
CASE
    WHEN (outcome IS NULL) THEN (((kind)::text <> 'outcome'::text) AND (((kind)::text = 'event'::text) OR (command_id IS NOT NULL)))
    ELSE ((command_id IS NOT NULL) AND (command_hash IS NOT NULL))
END)
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session_client.session_commands OWNER TO session_client_owner;

--
-- Name: TABLE session_commands; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.session_commands IS 'Messages from session_client to session, in their final order. Append-only: the writer may INSERT and SELECT, nothing else.';


--
-- Name: COLUMN session_commands.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.partition IS 'The partition, which follows from the key (session_commands_partition_of).';


--
-- Name: COLUMN session_commands."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN session_commands.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN session_commands.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN session_commands.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.version IS 'Version of the type. The meaning of a version never changes.';


--
-- Name: COLUMN session_commands.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN session_commands.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN session_commands.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: COLUMN session_commands.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN session_commands.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN session_commands.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN session_commands.command_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.command_hash IS 'Hash of the command whose outcome the row carries, which tells a waiting sender whether that was its body.';


--
-- Name: COLUMN session_commands.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN session_commands.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN session_commands.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.trace_parent IS 'W3C trace context (traceparent).';


--
-- Name: COLUMN session_commands.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN session_commands.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: messages; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.messages WITH (security_invoker='true') AS
 SELECT 'contacts.log'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM contacts.log m
UNION ALL
 SELECT 'notifications.due'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM notifications.due m
UNION ALL
 SELECT 'notifications.log'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM notifications.log m
UNION ALL
 SELECT 'session.due'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM session.due m
UNION ALL
 SELECT 'session.log'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM session.log m
UNION ALL
 SELECT 'session_client.contacts_commands'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM session_client.contacts_commands m
UNION ALL
 SELECT 'session_client.notifications_commands'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM session_client.notifications_commands m
UNION ALL
 SELECT 'session_client.operations'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM session_client.operations m
UNION ALL
 SELECT 'session_client.session_commands'::text AS log,
    m.partition,
    (m."position")::bigint AS "position",
    m.recorded_at,
    (m.kind)::text AS kind,
    (m.type)::text AS type,
    (m.key)::text AS key,
    m.account,
    (m.outcome)::text AS outcome,
    m.message_id,
    m.command_id,
    m.correlation_id,
    m.causation_id,
    (m.body)::json AS body
   FROM session_client.session_commands m;


ALTER TABLE session_client.messages OWNER TO session_client_owner;

--
-- Name: VIEW messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.messages IS 'The rows of all logs. Ask for a correlation_id, or for a log, a partition and a few positions up to heads.head; anything else reads all rows.';


--
-- Name: COLUMN messages.log; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.log IS 'The log, as schema.table.';


--
-- Name: COLUMN messages.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.partition IS 'The partition, which follows from the key (log_partition_of).';


--
-- Name: COLUMN messages."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages."position" IS 'Gap-free number in the partition, in commit order.';


--
-- Name: COLUMN messages.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.recorded_at IS 'When the row was appended, by the database''s clock.';


--
-- Name: COLUMN messages.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.kind IS 'command, event, or outcome (of a command that caused no event).';


--
-- Name: COLUMN messages.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.type IS 'Name of the body''s type, for example AddContact or ContactAdded.';


--
-- Name: COLUMN messages.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.key IS 'Messages with one key are handled in the order of their positions.';


--
-- Name: COLUMN messages.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.account IS 'The account that asked; null if none did.';


--
-- Name: COLUMN messages.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.outcome IS 'How the command ended. One row carries it: the command''s first event, or a row of kind outcome.';


--
-- Name: COLUMN messages.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.message_id IS 'The row''s own id (UUIDv7).';


--
-- Name: COLUMN messages.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.command_id IS 'The command''s id; for an event or outcome, that of the command that led to it.';


--
-- Name: COLUMN messages.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.correlation_id IS 'Shared by everything that one request led to.';


--
-- Name: COLUMN messages.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.causation_id IS 'The message_id of the row that caused this one.';


--
-- Name: COLUMN messages.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.messages.body IS 'The message itself, a JSON object of at most 64 kB.';


--
-- Name: messages_since(timestamp with time zone, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.messages_since(since timestamp with time zone, at_most bigint) RETURNS SETOF session_client.messages
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    SELECT n.*
      FROM (SELECT m.*
              FROM session_client.heads AS h
             CROSS JOIN LATERAL (SELECT m.* FROM session_client.messages AS m
                                  WHERE m.log = h.log AND m.partition = h.partition AND m.position > h.head - at_most
                                    AND m.position <= h.head AND m.recorded_at > since
                                  ORDER BY m.position DESC LIMIT at_most) AS m
             WHERE h.recorded_at > since
             ORDER BY m.recorded_at DESC LIMIT at_most) AS n
     ORDER BY n.recorded_at, n.log, n.partition, n.position;
$$;


ALTER FUNCTION session_client.messages_since(since timestamp with time zone, at_most bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION messages_since(since timestamp with time zone, at_most bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.messages_since(since timestamp with time zone, at_most bigint) IS 'The messages of all logs that were recorded after a time, oldest first; of more than at_most, the newest. Transactions may commit in another order than they recorded, so ask for the last second or two again.';


--
-- Name: milliseconds(interval); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.milliseconds(of_time interval) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN round(((1000)::numeric * EXTRACT(epoch FROM of_time)), 1);


ALTER FUNCTION session_client.milliseconds(of_time interval) OWNER TO session_client_owner;

--
-- Name: FUNCTION milliseconds(of_time interval); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.milliseconds(of_time interval) IS 'An interval in milliseconds, to a tenth.';


--
-- Name: new_id(); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.new_id() RETURNS uuid
    LANGUAGE sql
    RETURN (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid;


ALTER FUNCTION session_client.new_id() OWNER TO session_client_owner;

--
-- Name: FUNCTION new_id(); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.new_id() IS 'A new id that begins with the time (UUIDv7, RFC 9562).';


--
-- Name: newest_messages(bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.newest_messages(at_most bigint) RETURNS SETOF session_client.messages
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    WITH newest AS (
        -- A command that was appended again, after a lost connection or at its sender's request, is handled where it
        -- came first.
        SELECT DISTINCT ON (m.log, m.kind, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END) m.*
          FROM session_client.heads AS h
         CROSS JOIN LATERAL (SELECT m.* FROM session_client.messages AS m
                              WHERE m.log = h.log AND m.partition = h.partition AND m.position > h.head - at_most
                                AND m.position <= h.head
                              ORDER BY m.position DESC LIMIT at_most) AS m
         ORDER BY m.log, m.kind, CASE m.kind WHEN 'command' THEN m.command_id ELSE m.message_id END, m.position
    )
    SELECT n.* FROM newest AS n ORDER BY n.recorded_at DESC, n.log, n.partition, n.position DESC LIMIT at_most;
$$;


ALTER FUNCTION session_client.newest_messages(at_most bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION newest_messages(at_most bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.newest_messages(at_most bigint) IS 'The newest messages of all logs, newest first, at most at_most. A command that is in its log twice is shown once, where it came first, if both rows are among the newest at_most of their partition.';


--
-- Name: notifications_commands_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM session_client.notifications_commands_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM session_client.notifications_commands AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM session_client.notifications_commands_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO session_client.notifications_commands
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION session_client.notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO session_client_owner;

--
-- Name: FUNCTION notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: notifications_commands_delete_old(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.notifications_commands_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM session_client.retention AS r WHERE r.subject = 'notifications_commands';
    SELECT p.base_position INTO base FROM session_client.notifications_commands_partition AS p WHERE p.partition = of_partition;
    handled := session_client.notifications_commands_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM session_client.notifications_commands AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM session_client.notifications_commands_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM session_client.notifications_commands AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM session_client.notifications_commands AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE session_client.notifications_commands_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION session_client.notifications_commands_delete_old(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION notifications_commands_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.notifications_commands_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than session_client.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: notifications_commands_handled(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.notifications_commands_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM notifications.lease AS l WHERE l.source = 'session_client.notifications_commands') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM notifications.batch AS b
     WHERE b.source = 'session_client.notifications_commands' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION session_client.notifications_commands_handled(of_partition integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION notifications_commands_handled(of_partition integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.notifications_commands_handled(of_partition integer) IS 'The position up to which notifications has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: notifications_commands_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.notifications_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- A command without an account, such as a sign-in, belongs to the account in its outcome.
    RETURN QUERY
    SELECT l.position::bigint FROM session_client.notifications_commands AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM session_client.open_redaction AS r)
            OR coalesce(l.account, (SELECT o.account FROM notifications.outcome AS o WHERE o.command_id = l.command_id))
               IN (SELECT r.account FROM session_client.open_redaction AS r));
END
$$;


ALTER FUNCTION session_client.notifications_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION notifications_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.notifications_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of commands of accounts with an unfinished redaction.';


--
-- Name: notifications_commands_partition; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.notifications_commands_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT notifications_commands_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT notifications_commands_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT notifications_commands_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session_client.notifications_commands_partition OWNER TO session_client_owner;

--
-- Name: TABLE notifications_commands_partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.notifications_commands_partition IS 'The partitions of session_client.notifications_commands. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN notifications_commands_partition.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN notifications_commands_partition.base_position; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN notifications_commands_partition.lock; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.notifications_commands_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: notifications_commands_partition_of(text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.notifications_commands_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM session_client.notifications_commands_partition));
END;


ALTER FUNCTION session_client.notifications_commands_partition_of(key text) OWNER TO session_client_owner;

--
-- Name: FUNCTION notifications_commands_partition_of(key text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.notifications_commands_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: notifications_commands_redact(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.notifications_commands_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session_client.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM session_client.redaction_pass AS p
     WHERE p.log = 'notifications_commands' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM session_client.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM session_client.notifications_commands_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM session_client.notifications_commands AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), session_client.notifications_commands_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE session_client.notifications_commands AS l SET body = '{}', type = 'Redacted', version = 1
          FROM session_client.notifications_commands_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM session_client.notifications_commands AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE session_client.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'notifications_commands' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION session_client.notifications_commands_redact(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION notifications_commands_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.notifications_commands_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: operations_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM session_client.operations_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM session_client.operations AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM session_client.operations_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO session_client.operations
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION session_client.operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: operations_delete_old(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM session_client.retention AS r WHERE r.subject = 'operations';
    SELECT p.base_position INTO base FROM session_client.operations_partition AS p WHERE p.partition = of_partition;
    handled := session_client.operations_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM session_client.operations AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM session_client.operations_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM session_client.operations AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM session_client.operations AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE session_client.operations_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION session_client.operations_delete_old(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than session_client.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: operations_handled(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM session_client.lease AS l WHERE l.source = 'session_client.operations') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM session_client.batch AS b
     WHERE b.source = 'session_client.operations' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION session_client.operations_handled(of_partition integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_handled(of_partition integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_handled(of_partition integer) IS 'The position up to which session_client has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: operations_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- An event in another account's stream belongs to that account even if a closed one caused it: a client that
    -- resumes there must find it, and it carries ids only. An event of a group session belongs to everyone in it, and the
    -- session's state follows from it; the activity and the game states that apps put into it stay until retention
    -- deletes them. Nothing follows from a message, so those that a closed account sent are emptied.
    RETURN QUERY
    SELECT l.position::bigint FROM session_client.operations AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM session_client.open_redaction AS r)
            OR (l.key NOT LIKE 'account/%' AND NOT (l.key LIKE 'group/%' AND l.kind = 'event' AND l.type <> 'GroupMessageSent')
                AND l.account IN (SELECT r.account FROM session_client.open_redaction AS r)));
END
$$;


ALTER FUNCTION session_client.operations_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of rows of accounts with an unfinished redaction.';


--
-- Name: operations_partition; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.operations_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT operations_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT operations_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT operations_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session_client.operations_partition OWNER TO session_client_owner;

--
-- Name: TABLE operations_partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.operations_partition IS 'The partitions of session_client.operations. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN operations_partition.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN operations_partition.base_position; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN operations_partition.lock; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operations_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: operations_partition_of(text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM session_client.operations_partition));
END;


ALTER FUNCTION session_client.operations_partition_of(key text) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_partition_of(key text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: operations_redact(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session_client.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM session_client.redaction_pass AS p
     WHERE p.log = 'operations' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM session_client.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM session_client.operations_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM session_client.operations AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), session_client.operations_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE session_client.operations AS l SET body = '{}', type = 'Redacted', version = 1
          FROM session_client.operations_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM session_client.operations AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE session_client.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'operations' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION session_client.operations_redact(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: saga; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.saga (
    id uuid NOT NULL,
    type text NOT NULL,
    account uuid NOT NULL,
    lane text DEFAULT 'account'::text NOT NULL,
    number bigint NOT NULL,
    body json NOT NULL,
    body_hash uuid NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    result json,
    owner uuid,
    owned_until timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_error text,
    correlation_id uuid NOT NULL,
    trace_parent text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT lane_is_a_name CHECK (((length(lane) >= 1) AND (length(lane) <= 50))),
    CONSTRAINT saga_ends_once CHECK (((state = 'running'::text) = (ended_at IS NULL))),
    CONSTRAINT saga_of_an_owner_has_an_end CHECK (((owner IS NULL) OR (owned_until IS NOT NULL))),
    CONSTRAINT saga_state_is_known CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'rejected'::text, 'failed'::text]))),
    CONSTRAINT saga_type_is_a_name CHECK (((length(type) >= 1) AND (length(type) <= 100)))
);


ALTER TABLE session_client.saga OWNER TO session_client_owner;

--
-- Name: TABLE saga; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.saga IS 'Requests that wait for the outcomes of several services.';


--
-- Name: COLUMN saga.id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.id IS 'The operation''s id, derived from the account and the request''s id. So a request that is sent again is the same saga.';


--
-- Name: COLUMN saga.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.type IS 'The type of saga, for example ClearAllReceivedPings.';


--
-- Name: COLUMN saga.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.account IS 'The account that asked.';


--
-- Name: COLUMN saga.lane; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.lane IS 'Sagas of one account and lane run one after the other, in the order of their numbers.';


--
-- Name: COLUMN saga.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.number IS 'The saga''s order among its account''s, whatever the clock says: assigned while the account is locked.';


--
-- Name: COLUMN saga.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.body IS 'The request.';


--
-- Name: COLUMN saga.body_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.body_hash IS 'Hash of the request. The same id with another body is rejected.';


--
-- Name: COLUMN saga.state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.state IS 'running, done, rejected (because its deciding step was) or failed.';


--
-- Name: COLUMN saga.result; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.result IS 'The result, or why the saga was rejected.';


--
-- Name: COLUMN saga.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.owner IS 'The process that runs the saga.';


--
-- Name: COLUMN saga.owned_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.owned_until IS 'Until when it owns the saga, unless renewed. After that any replica continues from the recorded steps.';


--
-- Name: COLUMN saga.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.attempts IS 'How often a run was started.';


--
-- Name: COLUMN saga.next_attempt; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.next_attempt IS 'The earliest time of the next run, after an error.';


--
-- Name: COLUMN saga.last_error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.last_error IS 'Why the last run didn''t finish.';


--
-- Name: COLUMN saga.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.correlation_id IS 'Shared by everything that the saga leads to.';


--
-- Name: COLUMN saga.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.trace_parent IS 'W3C trace context of the request.';


--
-- Name: COLUMN saga.started_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.started_at IS 'When the saga was requested.';


--
-- Name: COLUMN saga.ended_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga.ended_at IS 'When the saga ended.';


--
-- Name: operations_state(uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operations_state(of_account uuid) RETURNS json
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN json_build_object('account', of_account, 'operations', COALESCE((SELECT json_agg(json_strip_nulls(json_build_object('id', s.id, 'type', s.type, 'state', s.state, 'result', s.result, 'started', ((EXTRACT(epoch FROM s.started_at) * (1000000)::numeric))::bigint, 'ended', ((EXTRACT(epoch FROM s.ended_at) * (1000000)::numeric))::bigint)) ORDER BY s.started_at DESC, s.id DESC) AS json_agg FROM (SELECT o.id, o.type, o.account, o.lane, o.number, o.body, o.body_hash, o.state, o.result, o.owner, o.owned_until, o.attempts, o.next_attempt, o.last_error, o.correlation_id, o.trace_parent, o.started_at, o.ended_at FROM session_client.saga o WHERE (o.account = operations_state.of_account) ORDER BY o.started_at DESC, o.id DESC LIMIT 50) s), '[]'::json));


ALTER FUNCTION session_client.operations_state(of_account uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION operations_state(of_account uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operations_state(of_account uuid) IS 'The state of the stream operations/<account>: the newest 50 operations. Read it together with the log''s position, in one statement.';


--
-- Name: operator_key_of(uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.operator_key_of(of_id uuid) RETURNS TABLE(name text, role text, hash bytea)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT k.name,
     k.role,
     k.hash
    FROM session_client.operator_key k
   WHERE ((k.id = operator_key_of.of_id) AND (k.revoked_at IS NULL));
END;


ALTER FUNCTION session_client.operator_key_of(of_id uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION operator_key_of(of_id uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.operator_key_of(of_id uuid) IS 'The API key of an id, if it is in use, for /v1/operator to compare the secret with its hash.';


--
-- Name: position_before(text, integer, timestamp with time zone); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.position_before(of_log text, of_partition integer, before timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    low      bigint;
    high     bigint;
    middle   bigint;
    recorded timestamptz;
BEGIN
    SELECT h.base, h.head INTO low, high FROM session_client.heads AS h
     WHERE h.log = of_log AND h.partition = of_partition;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT m.recorded_at INTO recorded FROM session_client.messages AS m
         WHERE m.log = of_log AND m.partition = of_partition AND m.position = middle;
        IF recorded < before THEN low := middle; ELSE high := middle - 1; END IF;
    END LOOP;
    RETURN low;
END
$$;


ALTER FUNCTION session_client.position_before(of_log text, of_partition integer, before timestamp with time zone) OWNER TO session_client_owner;

--
-- Name: FUNCTION position_before(of_log text, of_partition integer, before timestamp with time zone); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.position_before(of_log text, of_partition integer, before timestamp with time zone) IS 'The last position of a log''s partition that was recorded before a time. Positions are in order of time, so a binary search finds it in some twenty reads.';


--
-- Name: redact_failed(); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.redact_failed() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    UPDATE session_client.dead_letter AS d SET body = '{}'
     WHERE d.body::text <> '{}'
       AND (d.account IN (SELECT r.account FROM session_client.open_redaction AS r)
            OR d.key IN (SELECT 'account/' || r.account FROM session_client.open_redaction AS r));
    -- A closed account's command can only be rejected, whatever its body says. An event still concerns other accounts.
    UPDATE session_client.parked AS p SET body = '{}'
     WHERE p.kind = 'command' AND p.body::text <> '{}'
       AND (p.account IN (SELECT r.account FROM session_client.open_redaction AS r)
            OR p.key IN (SELECT 'account/' || r.account FROM session_client.open_redaction AS r));
$$;


ALTER FUNCTION session_client.redact_failed() OWNER TO session_client_owner;

--
-- Name: FUNCTION redact_failed(); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.redact_failed() IS 'Empties the dead letters and parked commands of accounts with an unfinished redaction.';


--
-- Name: request_of(uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.request_of(of_id uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN coalesce(
        (SELECT m.correlation_id FROM session_client.messages AS m WHERE m.correlation_id = of_id LIMIT 1),
        (SELECT s.correlation_id FROM session_client.saga AS s WHERE s.id = of_id),
        (SELECT m.correlation_id
           FROM session_client.all_outcomes AS o
           JOIN session_client.messages AS m ON m.log = o.consumer || '.log' AND m.partition = o.partition
                                            AND m.position = o.position
          WHERE o.command_id = of_id
          LIMIT 1),
        (SELECT d.correlation_id FROM session_client.all_dead_letters AS d WHERE d.message_id = of_id LIMIT 1));
END
$$;


ALTER FUNCTION session_client.request_of(of_id uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION request_of(of_id uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.request_of(of_id uuid) IS 'The request (correlation_id) that this is the id of, or that an operation, a command with an outcome or a dead letter belongs to. Null for other ids.';


--
-- Name: retry_contacts_commands(uuid, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.retry_contacts_commands(dead uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    letter record; -- not the table's row type: the reader's schema may be created after this one
    fresh  uuid := session_client.new_id();
BEGIN
    SELECT * INTO letter FROM contacts.dead_letter AS d WHERE d.message_id = dead;
    IF NOT FOUND OR letter.kind <> 'command' THEN
        RAISE EXCEPTION 'contacts has no dead letter of a command with the message_id %', dead
            USING HINT = 'SELECT message_id, type, error FROM contacts.dead_letter lists them.', ERRCODE = 'no_data_found';
    END IF;
    INSERT INTO session_client.dead_letter_decision (message_id, decision, command_id, reason) VALUES (dead, 'retried', fresh, why);
    PERFORM session_client.record_act(
        'retry_dead_letter', json_build_object('message', dead, 'type', letter.type, 'key', letter.key, 'command', fresh),
        why, with_key);
    PERFORM session_client.contacts_commands_append(
        ARRAY[session_client.contacts_commands_partition_of(letter.key)], ARRAY[1], ARRAY[1], ARRAY['command'], ARRAY[letter.type],
        ARRAY[letter.version], ARRAY[letter.key], ARRAY[letter.account], ARRAY[letter.body],
        ARRAY[session_client.new_id()], ARRAY[fresh], ARRAY[NULL::text], ARRAY[NULL::uuid],
        ARRAY[letter.correlation_id], ARRAY[dead], ARRAY[letter.trace_parent], ARRAY[NULL::bigint]);
    PERFORM pg_notify('session_client.contacts_commands', session_client.contacts_commands_partition_of(letter.key)::text);
    RETURN fresh;
END
$$;


ALTER FUNCTION session_client.retry_contacts_commands(dead uuid, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION retry_contacts_commands(dead uuid, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.retry_contacts_commands(dead uuid, why text, with_key uuid) IS 'For operators: sends a dead letter of contacts again, once, as a new command caused by the dead one. Returns the new command''s id.';


--
-- Name: retry_dead_letter(uuid, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.retry_dead_letter(dead uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM session.dead_letter AS d WHERE d.message_id = dead) THEN
        RETURN session_client.retry_session_commands(dead, why, with_key);
    ELSIF EXISTS (SELECT FROM contacts.dead_letter AS d WHERE d.message_id = dead) THEN
        RETURN session_client.retry_contacts_commands(dead, why, with_key);
    ELSE
        RETURN session_client.retry_notifications_commands(dead, why, with_key);
    END IF;
END
$$;


ALTER FUNCTION session_client.retry_dead_letter(dead uuid, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION retry_dead_letter(dead uuid, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.retry_dead_letter(dead uuid, why text, with_key uuid) IS 'For operators: sends a dead letter of any service again, once, as a new command. Returns the new command''s id.';


--
-- Name: retry_notifications_commands(uuid, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.retry_notifications_commands(dead uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    letter record; -- not the table's row type: the reader's schema may be created after this one
    fresh  uuid := session_client.new_id();
BEGIN
    SELECT * INTO letter FROM notifications.dead_letter AS d WHERE d.message_id = dead;
    IF NOT FOUND OR letter.kind <> 'command' THEN
        RAISE EXCEPTION 'notifications has no dead letter of a command with the message_id %', dead
            USING HINT = 'SELECT message_id, type, error FROM notifications.dead_letter lists them.', ERRCODE = 'no_data_found';
    END IF;
    INSERT INTO session_client.dead_letter_decision (message_id, decision, command_id, reason) VALUES (dead, 'retried', fresh, why);
    PERFORM session_client.record_act(
        'retry_dead_letter', json_build_object('message', dead, 'type', letter.type, 'key', letter.key, 'command', fresh),
        why, with_key);
    PERFORM session_client.notifications_commands_append(
        ARRAY[session_client.notifications_commands_partition_of(letter.key)], ARRAY[1], ARRAY[1], ARRAY['command'], ARRAY[letter.type],
        ARRAY[letter.version], ARRAY[letter.key], ARRAY[letter.account], ARRAY[letter.body],
        ARRAY[session_client.new_id()], ARRAY[fresh], ARRAY[NULL::text], ARRAY[NULL::uuid],
        ARRAY[letter.correlation_id], ARRAY[dead], ARRAY[letter.trace_parent], ARRAY[NULL::bigint]);
    PERFORM pg_notify('session_client.notifications_commands', session_client.notifications_commands_partition_of(letter.key)::text);
    RETURN fresh;
END
$$;


ALTER FUNCTION session_client.retry_notifications_commands(dead uuid, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION retry_notifications_commands(dead uuid, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.retry_notifications_commands(dead uuid, why text, with_key uuid) IS 'For operators: sends a dead letter of notifications again, once, as a new command caused by the dead one. Returns the new command''s id.';


--
-- Name: retry_parked(text, text, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.retry_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE session_client.parked AS p SET retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- The operator vouches that the message won't crash its owner again.
    DELETE FROM session_client.attempt AS a
     USING session_client.parked AS p
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0
       AND a.source = p.source AND a.partition = p.partition AND a.position = p.position;
    IF changed > 0 THEN
        PERFORM session_client.record_act(
            'retry_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('session_client.member', of_source);
    RETURN changed;
END
$$;


ALTER FUNCTION session_client.retry_parked(of_source text, of_key text, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.retry_parked(of_source text, of_key text, why text, with_key uuid) IS 'For operators: retries the parked message of this source and key now. Returns how many messages that concerns; if none, it leaves no row in operator_act.';


--
-- Name: retry_session_commands(uuid, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.retry_session_commands(dead uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    letter record; -- not the table's row type: the reader's schema may be created after this one
    fresh  uuid := session_client.new_id();
BEGIN
    SELECT * INTO letter FROM session.dead_letter AS d WHERE d.message_id = dead;
    IF NOT FOUND OR letter.kind <> 'command' THEN
        RAISE EXCEPTION 'session has no dead letter of a command with the message_id %', dead
            USING HINT = 'SELECT message_id, type, error FROM session.dead_letter lists them.', ERRCODE = 'no_data_found';
    END IF;
    INSERT INTO session_client.dead_letter_decision (message_id, decision, command_id, reason) VALUES (dead, 'retried', fresh, why);
    PERFORM session_client.record_act(
        'retry_dead_letter', json_build_object('message', dead, 'type', letter.type, 'key', letter.key, 'command', fresh),
        why, with_key);
    PERFORM session_client.session_commands_append(
        ARRAY[session_client.session_commands_partition_of(letter.key)], ARRAY[1], ARRAY[1], ARRAY['command'], ARRAY[letter.type],
        ARRAY[letter.version], ARRAY[letter.key], ARRAY[letter.account], ARRAY[letter.body],
        ARRAY[session_client.new_id()], ARRAY[fresh], ARRAY[NULL::text], ARRAY[NULL::uuid],
        ARRAY[letter.correlation_id], ARRAY[dead], ARRAY[letter.trace_parent], ARRAY[NULL::bigint]);
    PERFORM pg_notify('session_client.session_commands', session_client.session_commands_partition_of(letter.key)::text);
    RETURN fresh;
END
$$;


ALTER FUNCTION session_client.retry_session_commands(dead uuid, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION retry_session_commands(dead uuid, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.retry_session_commands(dead uuid, why text, with_key uuid) IS 'For operators: sends a dead letter of session again, once, as a new command caused by the dead one. Returns the new command''s id.';


--
-- Name: revoke_operator_key(text, text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.revoke_operator_key(of_name text, why text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    revoked uuid;
BEGIN
    UPDATE session_client.operator_key AS k SET revoked_at = clock_timestamp()
     WHERE k.name = of_name AND k.revoked_at IS NULL
    RETURNING k.id INTO revoked;
    IF revoked IS NULL THEN
        RAISE EXCEPTION 'no API key named % is in use', of_name
            USING HINT = 'session-client keys list shows them.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM session_client.record_act(
        'revoke_operator_key', json_build_object('key', revoked, 'name', of_name), why, NULL);
    RETURN revoked;
END
$$;


ALTER FUNCTION session_client.revoke_operator_key(of_name text, why text) OWNER TO session_client_owner;

--
-- Name: FUNCTION revoke_operator_key(of_name text, why text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.revoke_operator_key(of_name text, why text) IS 'For operators, by `session-client keys revoke`: from now on the API key of this name opens nothing. Returns its id.';


--
-- Name: session_commands_append(integer[], integer[], integer[], text[], text[], smallint[], text[], uuid[], json[], uuid[], uuid[], text[], uuid[], uuid[], uuid[], text[], bigint[]); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    heads bigint[];
BEGIN
    PERFORM FROM session_client.session_commands_partition AS p
      WHERE p.partition = ANY (into_partitions)
      ORDER BY p.partition
        FOR NO KEY UPDATE;

    -- A partition without a row gives NULL, which the position's NOT NULL refuses.
    heads := ARRAY(
        SELECT (SELECT p.base_position + greatest(coalesce((SELECT l.position
                                                              FROM session_client.session_commands AS l
                                                             WHERE l.partition = p.partition
                                                             ORDER BY l.position DESC
                                                             LIMIT 1), 0) - p.base_position, 0)
                  FROM session_client.session_commands_partition AS p
                 WHERE p.partition = i.partition)
          FROM unnest(into_partitions) WITH ORDINALITY AS i(partition, slot)
         ORDER BY i.slot);

    INSERT INTO session_client.session_commands
           (partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
            command_hash, correlation_id, causation_id, trace_parent, expires_at)
    SELECT into_partitions[u.slot], heads[u.slot] + u.ordinal,
           u.kind, u.type, u.version, u.key, u.account, u.body, u.message_id, u.command_id, u.outcome,
           u.command_hash, u.correlation_id, u.causation_id, u.trace_parent,
           clock_timestamp() + u.time_to_live * interval '1 microsecond'
      FROM unnest(slots, ordinals, kinds, types, versions, keys, accounts, bodies, message_ids, command_ids, outcomes,
                  command_hashes, correlation_ids, causation_ids, trace_parents, times_to_live)
           AS u(slot, ordinal, kind, type, version, key, account, body, message_id, command_id, outcome, command_hash,
                correlation_id, causation_id, trace_parent, time_to_live);
    RETURN heads;
END
$$;


ALTER FUNCTION session_client.session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) OWNER TO session_client_owner;

--
-- Name: FUNCTION session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) IS 'Appends rows. into_partitions is distinct and ascending; each row has a slot, the index of its partition there, an ordinal among the partition''s rows, from 1, and a time to live in microseconds from now. Returns, per partition, the position before the first new row. Call it last in a transaction: it locks the partitions until the end.';


--
-- Name: session_commands_delete_old(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.session_commands_delete_old(of_partition integer, at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    rule    record;
    base    bigint;
    newest  bigint;
    handled bigint;
    up_to   bigint;
    deleted bigint;
BEGIN
    SELECT r.keep, r.truncate_after INTO rule FROM session_client.retention AS r WHERE r.subject = 'session_commands';
    SELECT p.base_position INTO base FROM session_client.session_commands_partition AS p WHERE p.partition = of_partition;
    handled := session_client.session_commands_handled(of_partition);
    -- Positions are in order of time, so the old rows are at the beginning.
    SELECT max(old.position) INTO up_to
      FROM (SELECT l.position, l.recorded_at FROM session_client.session_commands AS l
             WHERE l.partition = of_partition AND l.position > base ORDER BY l.position LIMIT at_most) AS old
     WHERE (old.recorded_at < clock_timestamp() - rule.keep AND old.position <= handled)
        OR old.recorded_at < clock_timestamp() - rule.truncate_after;
    IF up_to IS NULL THEN RETURN 0; END IF;

    PERFORM FROM session_client.session_commands_partition AS p WHERE p.partition = of_partition FOR NO KEY UPDATE;
    -- The newest row always stays: numbers continue from it, and finding it never walks over dead index entries.
    SELECT l.position INTO newest FROM session_client.session_commands AS l
     WHERE l.partition = of_partition ORDER BY l.position DESC LIMIT 1;
    up_to := least(up_to, newest - 1);
    DELETE FROM session_client.session_commands AS l
     WHERE l.partition = of_partition AND l.position > base AND l.position <= up_to;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
        UPDATE session_client.session_commands_partition AS p SET base_position = greatest(p.base_position, up_to)
         WHERE p.partition = of_partition;
    END IF;
    RETURN deleted;
END
$$;


ALTER FUNCTION session_client.session_commands_delete_old(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION session_commands_delete_old(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.session_commands_delete_old(of_partition integer, at_most integer) IS 'Deletes at most at_most of a partition''s rows that are handled and older than session_client.retention says, or older than it waits for a consumer. Never deletes the newest row. Returns how many.';


--
-- Name: session_commands_handled(integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.session_commands_handled(of_partition integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    handled bigint;
BEGIN
    -- A consumer that has never run has no leases, and isn't waited for.
    IF NOT EXISTS (SELECT FROM session.lease AS l WHERE l.source = 'session_client.session_commands') THEN
        RETURN 9223372036854775807;
    END IF;
    SELECT b.position INTO handled FROM session.batch AS b
     WHERE b.source = 'session_client.session_commands' AND b.partition = of_partition ORDER BY b.number DESC LIMIT 1;
    RETURN coalesce(handled, 0);
END
$$;


ALTER FUNCTION session_client.session_commands_handled(of_partition integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION session_commands_handled(of_partition integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.session_commands_handled(of_partition integer) IS 'The position up to which session has handled or parked a partition''s messages; the greatest bigint if it never read this log.';


--
-- Name: session_commands_of_redacted(integer, bigint, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.session_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    -- A command without an account, such as a sign-in, belongs to the account in its outcome.
    RETURN QUERY
    SELECT l.position::bigint FROM session_client.session_commands AS l
     WHERE l.partition = of_partition AND l.position > after_position AND l.position <= to_position
       AND l.type <> 'Redacted'
       AND (l.key::text IN (SELECT 'account/' || r.account FROM session_client.open_redaction AS r)
            OR coalesce(l.account, (SELECT o.account FROM session.outcome AS o WHERE o.command_id = l.command_id))
               IN (SELECT r.account FROM session_client.open_redaction AS r));
END
$$;


ALTER FUNCTION session_client.session_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION session_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.session_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) IS 'The positions, after one and up to another, of commands of accounts with an unfinished redaction.';


--
-- Name: session_commands_partition; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.session_commands_partition (
    partition integer NOT NULL,
    base_position bigint DEFAULT 0 NOT NULL,
    lock boolean,
    CONSTRAINT session_commands_base_position_is_not_negative CHECK ((base_position >= 0)),
    CONSTRAINT session_commands_lock_is_never_written CHECK ((lock IS NULL)),
    CONSTRAINT session_commands_partition_is_not_negative CHECK ((partition >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session_client.session_commands_partition OWNER TO session_client_owner;

--
-- Name: TABLE session_commands_partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.session_commands_partition IS 'The partitions of session_client.session_commands. An append locks the partition''s row until its transaction ends, so positions have no gaps and become visible in order.';


--
-- Name: COLUMN session_commands_partition.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands_partition.partition IS 'The partition''s number, from 0. The number of rows is the number of partitions.';


--
-- Name: COLUMN session_commands_partition.base_position; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands_partition.base_position IS 'Where history begins: retention deleted the positions up to this one.';


--
-- Name: COLUMN session_commands_partition.lock; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.session_commands_partition.lock IS 'Always null. The right to UPDATE it is the right to lock the row, and no other.';


--
-- Name: session_commands_partition_of(text); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.session_commands_partition_of(key text) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((((('x'::text || encode(substr(sha256(convert_to(key, 'UTF8'::name)), 1, 4), 'hex'::text)))::bit(32))::bigint & '4294967295'::bigint) % ( SELECT count(*) AS count
            FROM session_client.session_commands_partition));
END;


ALTER FUNCTION session_client.session_commands_partition_of(key text) OWNER TO session_client_owner;

--
-- Name: FUNCTION session_commands_partition_of(key text); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.session_commands_partition_of(key text) IS 'The partition of a key: the first four bytes of the key''s SHA-256, unsigned, modulo the number of partitions.';


--
-- Name: session_commands_redact(integer, integer); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.session_commands_redact(of_partition integer, at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    pass  session_client.redaction_pass;
    began timestamptz := clock_timestamp();
    last  bigint;
    found boolean;
BEGIN
    SELECT * INTO pass FROM session_client.redaction_pass AS p
     WHERE p.log = 'session_commands' AND p.partition = of_partition FOR NO KEY UPDATE;
    IF pass.is_whole AND began > pass.begun_at + pass.rows * interval '1 millisecond'
       AND EXISTS (SELECT FROM session_client.open_redaction AS r WHERE r.noticed_at > pass.begun_at) THEN
        pass.begun_at := began;
        pass.is_whole := false;
        pass.rows := 0;
        SELECT p.base_position INTO pass.position FROM session_client.session_commands_partition AS p WHERE p.partition = of_partition;
    END IF;
    SELECT max(n.position) INTO last
      FROM (SELECT l.position FROM session_client.session_commands AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT at_most) AS n;
    last := least(coalesce(last, pass.position), session_client.session_commands_handled(of_partition));
    found := last > pass.position;
    IF found THEN
        UPDATE session_client.session_commands AS l SET body = '{}', type = 'Redacted', version = 1
          FROM session_client.session_commands_of_redacted(of_partition, pass.position, last) AS r(position)
         WHERE l.partition = of_partition AND l.position = r.position;
        -- Rows after the end don't count: they would postpone the next pass without limit.
        IF NOT pass.is_whole THEN pass.rows := pass.rows + last - pass.position; END IF;
        pass.position := last;
    ELSE
        pass.is_whole := true;
    END IF;
    SELECT least(min(n.recorded_at), began) INTO pass.passed_until
      FROM (SELECT l.recorded_at FROM session_client.session_commands AS l
             WHERE l.partition = of_partition AND l.position > pass.position
             ORDER BY l.position LIMIT 1) AS n;
    UPDATE session_client.redaction_pass AS p
       SET begun_at = pass.begun_at, position = pass.position, is_whole = pass.is_whole,
           passed_until = pass.passed_until, rows = pass.rows
     WHERE p.log = 'session_commands' AND p.partition = of_partition;
    RETURN found;
END
$$;


ALTER FUNCTION session_client.session_commands_redact(of_partition integer, at_most integer) OWNER TO session_client_owner;

--
-- Name: FUNCTION session_commands_redact(of_partition integer, at_most integer); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.session_commands_redact(of_partition integer, at_most integer) IS 'Continues a partition''s redaction_pass: searches at most at_most handled rows and empties those of closed accounts. Returns whether there may be more.';


--
-- Name: set_retention(text, interval, interval, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    UPDATE session_client.retention AS r
       SET keep = to_keep, truncate_after = to_truncate_after, changed_at = clock_timestamp(), changed_by = session_user
     WHERE r.subject = of_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'session_client has no retention for %', of_subject
            USING HINT = 'SELECT * FROM session_client.retention lists the subjects.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM session_client.record_act(
        'set_retention',
        json_build_object('subject', of_subject, 'keep', to_keep, 'truncate_after', to_truncate_after), why, with_key);
END
$$;


ALTER FUNCTION session_client.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) IS 'For operators: sets how long rows of a table are kept, and after how long they are deleted even if a consumer hasn''t handled them (null: never).';


--
-- Name: story(uuid, bigint); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.story(of_id uuid, at_most bigint DEFAULT 50000) RETURNS TABLE(at timestamp with time zone, since_start interval, tree text, log text, partition integer, "position" bigint, kind text, outcome text, took interval, body text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    at_first   CONSTANT bigint := least(at_most, 2000);
    slack      CONSTANT interval := interval '5 seconds'; -- ids may come from another clock than the database's
    since      timestamptz := session_client.time_of(of_id) - slack;
    request    uuid := session_client.request_of(of_id);
    logs       text[];
    partitions int[];
    positions  bigint[];
BEGIN
    IF request IS NULL THEN
        -- Indexes find the outcome of a command that nobody asked for, and a dead letter. The command's events follow its
        -- outcome, and the command has the same key, so the same partition of its log.
        SELECT array_agg(k.log), array_agg(k.partition), array_agg(k.position)
          INTO logs, partitions, positions
          FROM (SELECT m.log, m.partition, m.position
                  FROM session_client.all_outcomes AS o
                 CROSS JOIN LATERAL (SELECT m.log, m.partition, m.position FROM session_client.messages AS m
                                      WHERE m.log = o.consumer || '.log' AND m.partition = o.partition
                                        AND m.position >= o.position AND m.position < o.position + at_first
                                        AND m.command_id = of_id) AS m
                 WHERE o.command_id = of_id
                 UNION
                SELECT m.log, m.partition, m.position
                  FROM session_client.all_outcomes AS o
                  JOIN session_client.logs AS l ON l.consumer = o.consumer
                 CROSS JOIN LATERAL (SELECT session_client.position_before(l.log, o.partition, since) AS before) AS b
                 CROSS JOIN LATERAL (SELECT m.log, m.partition, m.position FROM session_client.messages AS m
                                      WHERE m.log = l.log AND m.partition = o.partition
                                        AND m.position > b.before AND m.position <= b.before + at_first
                                        AND m.command_id = of_id) AS m
                 WHERE o.command_id = of_id
                 UNION
                SELECT d.source, d.partition, d.position
                  FROM session_client.all_dead_letters AS d
                 WHERE d.message_id = of_id) AS k;
        -- Most messages are appended soon after their id was made. Commands of an app that was offline are not.
        FOR attempt IN 1..3 LOOP
            EXIT WHEN logs IS NOT NULL;
            CONTINUE WHEN since IS NULL AND attempt < 3 OR attempt = 2 AND at_most = at_first;
            SELECT min(m.of_request::text)::uuid, array_agg(m.in_log), array_agg(m.in_partition), array_agg(m.at_position)
              INTO request, logs, partitions, positions
              FROM session_client.messages_of(of_id, CASE WHEN attempt < 3 THEN since END,
                                              CASE attempt WHEN 1 THEN at_first ELSE at_most END) AS m;
        END LOOP;
        IF logs IS NULL THEN
            RAISE NOTICE 'no message, command, request or operation with the id % in the rows that were searched', of_id
                USING HINT = 'The comment on session_client.story says which rows are searched.';
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    WITH RECURSIVE found AS (
        (SELECT m.log, m.partition, m.position, m.recorded_at, m.kind, m.type, m.outcome, m.message_id, m.command_id,
                m.causation_id, left(m.body::text, 80) AS body
           FROM session_client.messages AS m
          WHERE m.correlation_id = request
          ORDER BY m.recorded_at
          LIMIT at_most)
         UNION ALL
        -- What nobody asked for belongs to no request.
        SELECT m.log, m.partition, m.position, m.recorded_at, m.kind, m.type, m.outcome, m.message_id, m.command_id,
               m.causation_id, left(m.body::text, 80)
          FROM unnest(logs, partitions, positions) AS p (in_log, in_partition, at_position)
          JOIN session_client.messages AS m ON m.log = p.in_log AND m.partition = p.in_partition
                                           AND m.position = p.at_position
         WHERE request IS NULL
    ), once AS (
        -- A command that was appended again was handled where it came first.
        SELECT DISTINCT ON (f.log, f.kind, CASE f.kind WHEN 'command' THEN f.command_id ELSE f.message_id END) f.*
          FROM found AS f
         ORDER BY f.log, f.kind, CASE f.kind WHEN 'command' THEN f.command_id ELSE f.message_id END, f.position
    ), said AS MATERIALIZED (
        SELECT o.*, row_number() OVER (ORDER BY o.recorded_at, o.log, o.partition, o.position) AS number
          FROM once AS o
    ), cause AS (
        SELECT DISTINCT ON (s.message_id) s.message_id, s.number, s.recorded_at
          FROM said AS s
         ORDER BY s.message_id, s.number
    ), caused AS MATERIALIZED (
        SELECT s.*, c.number AS cause, s.recorded_at - c.recorded_at AS took
          FROM said AS s
          LEFT JOIN cause AS c ON c.message_id = s.causation_id AND c.number <> s.number
    ), branch AS (
        SELECT c.number, ARRAY[c.number] AS path FROM caused AS c WHERE c.cause IS NULL
         UNION ALL
        SELECT c.number, b.path || c.number FROM branch AS b JOIN caused AS c ON c.cause = b.number
    )
    SELECT c.recorded_at, c.recorded_at - min(c.recorded_at) OVER (),
           repeat('  ', cardinality(b.path) - 1) || CASE WHEN cardinality(b.path) > 1 THEN '└ ' ELSE '' END || c.type,
           c.log, c.partition, c.position, c.kind, c.outcome, c.took, c.body
      FROM branch AS b
      JOIN caused AS c ON c.number = b.number
     ORDER BY b.path;
END
$$;


ALTER FUNCTION session_client.story(of_id uuid, at_most bigint) OWNER TO session_client_owner;

--
-- Name: FUNCTION story(of_id uuid, at_most bigint); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.story(of_id uuid, at_most bigint) IS 'Everything that one request led to, as a tree of causes; of more than at_most messages, the first. Takes the id of the request (correlation_id), of any message or command in it, or of an operation. Columns: when; how long after the first message; the type, under its cause; log, partition and position; kind; how the command ended; how long after its cause; the first 80 characters of the body. The id of a message that isn''t a dead letter, or of a command without an outcome, is searched for among at_most rows of each partition from the time in the id on, then among the newest; 50,000 may take seconds.';


--
-- Name: time_of(uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.time_of(id uuid) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN (substr((id)::text, 15, 1) = ANY (ARRAY['7'::text, '8'::text])) THEN to_timestamp(((((((('x'::text || substr((id)::text, 1, 8)) || substr((id)::text, 10, 4)))::bit(48))::bigint)::numeric / 1000.0))::double precision) ELSE NULL::timestamp with time zone END;


ALTER FUNCTION session_client.time_of(id uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION time_of(id uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.time_of(id uuid) IS 'The time in an id, to the millisecond. Null if it has none: only versions 7 and 8 do.';


--
-- Name: told(uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.told(of_alarm uuid) RETURNS json
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    WITH receipt AS MATERIALIZED (
        SELECT r.*, r.notified_at - r.notified_after AS since
          FROM session_client.alarm_receipts AS r
         WHERE r.alarm = of_alarm
    ), begun AS MATERIALIZED (
        SELECT b.person, b.kind, b.due_at, b.noticed_at,
               json_build_object('log', 'session.log', 'partition', b.in_partition, 'position', b.at_position,
                                 'recorded', b.appended_at) AS event
          FROM session_client.alarm_begun(of_alarm, (SELECT r.person FROM receipt AS r LIMIT 1)) AS b
         UNION ALL
        -- The log is no longer kept, but the notifications are: those of the alarm itself say when it was noticed, an
        -- all-clear doesn't.
        SELECT r.person, CASE WHEN r.due_at IS NULL THEN 'alert' ELSE 'missedCheckIn' END, r.due_at, r.happened_at, NULL
          FROM (SELECT * FROM receipt
                 ORDER BY kind IN ('checkInMissed', 'dependentCheckInMissed', 'alertRaised', 'dependentAlertRaised') DESC,
                          notified_at
                 LIMIT 1) AS r
         LIMIT 1
    ), recipient AS (
        SELECT r.recipient AS account FROM receipt AS r
         UNION
        SELECT a.responder FROM begun AS b JOIN contacts.alarm_recipient AS a ON a.account = b.person AND a.alarm = of_alarm
    ), delivery AS (
        SELECT r.recipient, r.notified_at, json_build_object(
                   'id', r.notification, 'kind', r.kind, 'repetition', r.repetition, 'happened', r.happened_at,
                   'notified', r.notified_at, 'notifiedMs', session_client.milliseconds(r.notified_after),
                   'event', (SELECT json_build_object('log', 'notifications.log', 'partition', e.in_partition,
                                                      'position', e.at_position, 'recorded', e.appended_at)
                               FROM session_client.event_after('notifications.log', 'account/' || r.recipient,
                                        'NotificationDelivered', r.notified_at, r.notification::text) AS e),
                   'pushes', (SELECT coalesce(json_agg(json_build_object(
                                         'device', p.device, 'platform', d.platform, 'attempt', p.attempt, 'began', p.began_at,
                                         'afterMs', session_client.milliseconds(p.began_at + p.took - r.since),
                                         'tookMs', session_client.milliseconds(p.took),
                                         'result', p.result, 'answer', p.answer) ORDER BY p.began_at), '[]')
                                FROM notifications.push_attempt AS p
                                LEFT JOIN notifications.push_device AS d ON d.account = p.account AND d.device = p.device
                               WHERE p.account = r.recipient AND p.notification = r.notification),
                   'shown', (SELECT coalesce(json_agg(json_build_object(
                                        'device', s.device, 'shown', s.shown_at, 'reported', s.recorded_at,
                                        'afterMs', session_client.milliseconds(s.shown_at - r.since)) ORDER BY s.shown_at), '[]')
                               FROM notifications.shown AS s
                              WHERE s.account = r.recipient AND s.notification = r.notification),
                   'read', r.read_at, 'readMs', session_client.milliseconds(r.read_after)) AS document
          FROM receipt AS r
    )
    SELECT json_build_object(
               'alarm', of_alarm, 'kind', b.kind,
               'person', json_build_object('account', b.person, 'handle', (SELECT h.handle FROM session.handle AS h
                                                                            WHERE h.account = b.person)),
               'due', b.due_at, 'noticed', b.noticed_at,
               'noticedMs', session_client.milliseconds(b.noticed_at - b.due_at), 'event', b.event,
               'recipients',
               (SELECT coalesce(json_agg(json_build_object(
                           'account', p.account, 'handle', h.handle, 'isPerson', p.account = b.person,
                           'notifications', (SELECT coalesce(json_agg(d.document ORDER BY d.notified_at), '[]')
                                               FROM delivery AS d WHERE d.recipient = p.account))
                           ORDER BY p.account = b.person, h.handle), '[]')
                  FROM recipient AS p LEFT JOIN session.handle AS h ON h.account = p.account))
      FROM begun AS b;
$$;


ALTER FUNCTION session_client.told(of_alarm uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION told(of_alarm uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.told(of_alarm uuid) IS 'Was she told? For one alarm, as JSON: when the check-in was due and when that was noticed; for each responder when they were notified, each attempt to push, on which device it was shown and when it was read; how late each was, in milliseconds; and where the events are in the logs. Null if neither the log nor a notification knows the alarm.';


--
-- Name: account; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.account (
    account uuid NOT NULL,
    code uuid,
    is_approval_required boolean DEFAULT false NOT NULL,
    closed_at timestamp with time zone,
    CONSTRAINT closed_account_has_no_code CHECK (((closed_at IS NULL) OR (code IS NULL)))
);


ALTER TABLE contacts.account OWNER TO contacts_owner;

--
-- Name: TABLE account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.account IS 'Every account that contacts knows. Closed accounts stay, so that a late command can''t reopen one.';


--
-- Name: COLUMN account.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.account.account IS 'The account.';


--
-- Name: COLUMN account.code; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.account.code IS 'The contact code: random and replaceable. Others need it to add the account. Null once the account is closed.';


--
-- Name: COLUMN account.is_approval_required; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.account.is_approval_required IS 'Whether people who have the code must ask before they become contacts.';


--
-- Name: COLUMN account.closed_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.account.closed_at IS 'When the account was closed, which is permanent.';


--
-- Name: alarm; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.alarm (
    account uuid NOT NULL,
    kind text NOT NULL,
    alarm uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    deadline timestamp with time zone,
    CONSTRAINT deadline_is_a_missed_check_ins CHECK (((deadline IS NULL) OR (kind = 'missedCheckIn'::text))),
    CONSTRAINT kind_is_known CHECK ((kind = ANY (ARRAY['alert'::text, 'missedCheckIn'::text])))
);


ALTER TABLE contacts.alarm OWNER TO contacts_owner;

--
-- Name: TABLE alarm; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.alarm IS 'Missed check-ins and raised alerts that responders are alarmed about.';


--
-- Name: COLUMN alarm.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm.account IS 'The account.';


--
-- Name: COLUMN alarm.kind; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm.kind IS 'alert or missedCheckIn.';


--
-- Name: COLUMN alarm.alarm; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm.alarm IS 'The alarm''s id, given by session. Everything that is sent because of the alarm carries it.';


--
-- Name: COLUMN alarm.occurred_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm.occurred_at IS 'When the alarm began.';


--
-- Name: COLUMN alarm.deadline; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm.deadline IS 'The deadline that was missed; null for an alert.';


--
-- Name: alarm_recipient; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.alarm_recipient (
    account uuid NOT NULL,
    alarm uuid NOT NULL,
    responder uuid NOT NULL,
    alerted_at timestamp with time zone NOT NULL,
    CONSTRAINT nobody_is_alerted_to_oneself CHECK ((account <> responder))
);


ALTER TABLE contacts.alarm_recipient OWNER TO contacts_owner;

--
-- Name: TABLE alarm_recipient; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.alarm_recipient IS 'The responders who were alarmed, and so will be told when the alarm ends.';


--
-- Name: COLUMN alarm_recipient.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm_recipient.account IS 'The account with the alarm.';


--
-- Name: COLUMN alarm_recipient.alarm; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm_recipient.alarm IS 'The alarm''s id.';


--
-- Name: COLUMN alarm_recipient.responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm_recipient.responder IS 'The responder''s account.';


--
-- Name: COLUMN alarm_recipient.alerted_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.alarm_recipient.alerted_at IS 'When the responder was first alarmed.';


--
-- Name: attempt; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.attempt (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    epoch bigint NOT NULL,
    owner uuid NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='70');


ALTER TABLE contacts.attempt OWNER TO contacts_owner;

--
-- Name: TABLE attempt; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.attempt IS 'Messages that a worker is about to handle, recorded in a transaction of its own before the attempt: after a lease that wasn''t given back, and for parked messages. The row is deleted when the message is handled or fails. A message whose handling ended three leases in a row isn''t tried a fourth time.';


--
-- Name: COLUMN attempt.source; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.attempt.source IS 'The log, as schema.table.';


--
-- Name: COLUMN attempt.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.attempt.partition IS 'The log''s partition.';


--
-- Name: COLUMN attempt."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.attempt."position" IS 'The message''s position there.';


--
-- Name: COLUMN attempt.epoch; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.attempt.epoch IS 'The epoch of the worker''s lease. If the partition''s lease has a later epoch, this lease ended during the attempt.';


--
-- Name: COLUMN attempt.owner; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.attempt.owner IS 'The worker that held the lease.';


--
-- Name: COLUMN attempt.began_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.attempt.began_at IS 'When the attempt began.';


--
-- Name: batch; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.batch (
    source text NOT NULL,
    partition integer NOT NULL,
    number contacts.batch_number NOT NULL,
    "position" contacts.batch_position NOT NULL,
    owner uuid NOT NULL,
    epoch bigint NOT NULL,
    given_time timestamp with time zone NOT NULL,
    messages contacts.batch_messages NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE contacts.batch OWNER TO contacts_owner;

--
-- Name: TABLE batch; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.batch IS 'One row per transaction that handled messages of a partition. The newest one says how far contacts has come; the others are its throughput history.';


--
-- Name: COLUMN batch.source; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.source IS 'The log, as schema.table.';


--
-- Name: COLUMN batch.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.partition IS 'The log''s partition.';


--
-- Name: COLUMN batch.number; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.number IS 'The previous batch''s number plus one.';


--
-- Name: COLUMN batch."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch."position" IS 'Everything up to this position of the log is handled.';


--
-- Name: COLUMN batch.owner; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.owner IS 'The worker that committed the batch.';


--
-- Name: COLUMN batch.epoch; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.epoch IS 'The epoch of the worker''s lease.';


--
-- Name: COLUMN batch.given_time; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.given_time IS 'The time that the rules were given; never less than in the previous batch.';


--
-- Name: COLUMN batch.messages; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.batch.messages IS 'How many messages the batch handled.';


--
-- Name: block; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.block (
    blocker uuid NOT NULL,
    blocked uuid NOT NULL,
    blocked_at timestamp with time zone NOT NULL,
    CONSTRAINT nobody_blocks_oneself CHECK ((blocker <> blocked))
);


ALTER TABLE contacts.block OWNER TO contacts_owner;

--
-- Name: TABLE block; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.block IS 'Which account blocks which. The blocked account doesn''t learn of it.';


--
-- Name: COLUMN block.blocker; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.block.blocker IS 'The account that blocks.';


--
-- Name: COLUMN block.blocked; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.block.blocked IS 'The account that is blocked.';


--
-- Name: COLUMN block.blocked_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.block.blocked_at IS 'When it was blocked.';


--
-- Name: blocking; Type: VIEW; Schema: contacts; Owner: contacts_owner
--

CREATE VIEW contacts.blocking AS
 SELECT b.blocker AS account,
    b.blocked AS contact
   FROM contacts.block b;


ALTER TABLE contacts.blocking OWNER TO contacts_owner;

--
-- Name: VIEW blocking; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON VIEW contacts.blocking IS 'Which account blocks which, so that the edge can answer a blocked account''s look-up of a code as if there were no such code.';


--
-- Name: COLUMN blocking.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.blocking.account IS 'The account that blocks.';


--
-- Name: COLUMN blocking.contact; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.blocking.contact IS 'The account that is blocked.';


--
-- Name: relation; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.relation (
    low uuid NOT NULL,
    high uuid NOT NULL,
    low_is_responder boolean NOT NULL,
    low_nickname text NOT NULL,
    low_notes text NOT NULL,
    low_send_pings boolean NOT NULL,
    low_receive_pings boolean NOT NULL,
    low_notify_on_check_in boolean NOT NULL,
    low_notify_on_missed_check_in boolean NOT NULL,
    low_pinged_at timestamp with time zone,
    low_last_ping_at timestamp with time zone,
    low_role_requested_at timestamp with time zone,
    low_version bigint NOT NULL,
    low_updated_at timestamp with time zone NOT NULL,
    high_is_responder boolean NOT NULL,
    high_nickname text NOT NULL,
    high_notes text NOT NULL,
    high_send_pings boolean NOT NULL,
    high_receive_pings boolean NOT NULL,
    high_notify_on_check_in boolean NOT NULL,
    high_notify_on_missed_check_in boolean NOT NULL,
    high_pinged_at timestamp with time zone,
    high_last_ping_at timestamp with time zone,
    high_role_requested_at timestamp with time zone,
    high_version bigint NOT NULL,
    high_updated_at timestamp with time zone NOT NULL,
    added_at timestamp with time zone NOT NULL,
    CONSTRAINT high_nickname_is_short CHECK ((char_length(high_nickname) <= 400)),
    CONSTRAINT high_notes_are_short CHECK ((char_length(high_notes) <= 8000)),
    CONSTRAINT high_version_begins_at_one CHECK ((high_version > 0)),
    CONSTRAINT low_nickname_is_short CHECK ((char_length(low_nickname) <= 400)),
    CONSTRAINT low_notes_are_short CHECK ((char_length(low_notes) <= 8000)),
    CONSTRAINT low_version_begins_at_one CHECK ((low_version > 0)),
    CONSTRAINT no_responder_asks_to_be_one CHECK (((NOT (low_is_responder AND (low_role_requested_at IS NOT NULL))) AND (NOT (high_is_responder AND (high_role_requested_at IS NOT NULL))))),
    CONSTRAINT only_a_responder_pings CHECK ((((low_pinged_at IS NULL) OR low_is_responder) AND ((high_pinged_at IS NULL) OR high_is_responder))),
    CONSTRAINT relation_has_a_role CHECK ((low_is_responder OR high_is_responder)),
    CONSTRAINT relation_is_between_two CHECK ((low < high))
)
WITH (fillfactor='80');


ALTER TABLE contacts.relation OWNER TO contacts_owner;

--
-- Name: TABLE relation; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.relation IS 'The relation of two accounts: one row for both sides, so that they change together.';


--
-- Name: COLUMN relation.low; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low IS 'The lesser of the two account ids.';


--
-- Name: COLUMN relation.high; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high IS 'The greater of the two account ids.';


--
-- Name: COLUMN relation.low_is_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_is_responder IS 'Whether the lesser side is the other''s responder.';


--
-- Name: COLUMN relation.low_nickname; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_nickname IS 'The lesser side''s nickname for the other.';


--
-- Name: COLUMN relation.low_notes; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_notes IS 'The lesser side''s notes about the other.';


--
-- Name: COLUMN relation.low_send_pings; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_send_pings IS 'Whether the lesser side wants to be able to ping.';


--
-- Name: COLUMN relation.low_receive_pings; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_receive_pings IS 'Whether the lesser side lets the other ping.';


--
-- Name: COLUMN relation.low_notify_on_check_in; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_notify_on_check_in IS 'Whether to notify the lesser side of the other''s check-ins.';


--
-- Name: COLUMN relation.low_notify_on_missed_check_in; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_notify_on_missed_check_in IS 'Whether to notify the lesser side of the other''s missed check-ins.';


--
-- Name: COLUMN relation.low_pinged_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_pinged_at IS 'When the lesser side pinged the other; null once that is answered.';


--
-- Name: COLUMN relation.low_last_ping_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_last_ping_at IS 'When the lesser side last pinged the other, answered or not.';


--
-- Name: COLUMN relation.low_role_requested_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_role_requested_at IS 'When the lesser side asked to become the other''s responder; null once that is answered.';


--
-- Name: COLUMN relation.low_version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_version IS 'How often the lesser side''s fields were set, not counting pings and requests.';


--
-- Name: COLUMN relation.low_updated_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.low_updated_at IS 'When they were last set.';


--
-- Name: COLUMN relation.high_is_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_is_responder IS 'Whether the greater side is the other''s responder.';


--
-- Name: COLUMN relation.high_nickname; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_nickname IS 'The greater side''s nickname for the other.';


--
-- Name: COLUMN relation.high_notes; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_notes IS 'The greater side''s notes about the other.';


--
-- Name: COLUMN relation.high_send_pings; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_send_pings IS 'Whether the greater side wants to be able to ping.';


--
-- Name: COLUMN relation.high_receive_pings; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_receive_pings IS 'Whether the greater side lets the other ping.';


--
-- Name: COLUMN relation.high_notify_on_check_in; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_notify_on_check_in IS 'Whether to notify the greater side of the other''s check-ins.';


--
-- Name: COLUMN relation.high_notify_on_missed_check_in; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_notify_on_missed_check_in IS 'Whether to notify the greater side of the other''s missed check-ins.';


--
-- Name: COLUMN relation.high_pinged_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_pinged_at IS 'When the greater side pinged the other; null once that is answered.';


--
-- Name: COLUMN relation.high_last_ping_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_last_ping_at IS 'When the greater side last pinged the other, answered or not.';


--
-- Name: COLUMN relation.high_role_requested_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_role_requested_at IS 'When the greater side asked to become the other''s responder; null once that is answered.';


--
-- Name: COLUMN relation.high_version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_version IS 'How often the greater side''s fields were set, not counting pings and requests.';


--
-- Name: COLUMN relation.high_updated_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.high_updated_at IS 'When they were last set.';


--
-- Name: COLUMN relation.added_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.relation.added_at IS 'When the two became contacts.';


--
-- Name: contact; Type: VIEW; Schema: contacts; Owner: contacts_owner
--

CREATE VIEW contacts.contact AS
 SELECT r.low AS account,
    r.high AS contact,
    r.low_nickname AS nickname,
    r.low_notes AS notes,
    r.high_is_responder AS is_my_responder,
    r.low_is_responder AS i_am_responder,
    r.low_send_pings AS send_pings,
    r.low_receive_pings AS receive_pings,
    r.low_notify_on_check_in AS notify_on_check_in,
    r.low_notify_on_missed_check_in AS notify_on_missed_check_in,
    r.low_pinged_at AS outgoing_ping_at,
    r.high_pinged_at AS incoming_ping_at,
    r.low_role_requested_at AS outgoing_role_request_at,
    r.high_role_requested_at AS incoming_role_request_at,
    r.added_at,
    r.low_updated_at AS updated_at,
    r.low_version AS version
   FROM contacts.relation r
UNION ALL
 SELECT r.high AS account,
    r.low AS contact,
    r.high_nickname AS nickname,
    r.high_notes AS notes,
    r.low_is_responder AS is_my_responder,
    r.high_is_responder AS i_am_responder,
    r.high_send_pings AS send_pings,
    r.high_receive_pings AS receive_pings,
    r.high_notify_on_check_in AS notify_on_check_in,
    r.high_notify_on_missed_check_in AS notify_on_missed_check_in,
    r.high_pinged_at AS outgoing_ping_at,
    r.low_pinged_at AS incoming_ping_at,
    r.high_role_requested_at AS outgoing_role_request_at,
    r.low_role_requested_at AS incoming_role_request_at,
    r.added_at,
    r.high_updated_at AS updated_at,
    r.high_version AS version
   FROM contacts.relation r;


ALTER TABLE contacts.contact OWNER TO contacts_owner;

--
-- Name: VIEW contact; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON VIEW contacts.contact IS 'Each relation as each of its two sides sees it.';


--
-- Name: COLUMN contact.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.account IS 'The account whose view this is.';


--
-- Name: COLUMN contact.contact; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.contact IS 'The other account.';


--
-- Name: COLUMN contact.nickname; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.nickname IS 'This side''s nickname for the other.';


--
-- Name: COLUMN contact.notes; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.notes IS 'This side''s notes about the other.';


--
-- Name: COLUMN contact.is_my_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.is_my_responder IS 'Whether the other is this side''s responder.';


--
-- Name: COLUMN contact.i_am_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.i_am_responder IS 'Whether this side is the other''s responder, and so may see the other''s check-ins and alerts.';


--
-- Name: COLUMN contact.send_pings; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.send_pings IS 'Whether this side wants to be able to ping.';


--
-- Name: COLUMN contact.receive_pings; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.receive_pings IS 'Whether this side lets the other ping it.';


--
-- Name: COLUMN contact.notify_on_check_in; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.notify_on_check_in IS 'Whether to notify this side of the other''s check-ins.';


--
-- Name: COLUMN contact.notify_on_missed_check_in; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.notify_on_missed_check_in IS 'Whether to notify this side of the other''s missed check-ins.';


--
-- Name: COLUMN contact.outgoing_ping_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.outgoing_ping_at IS 'When this side pinged the other; null once that is answered.';


--
-- Name: COLUMN contact.incoming_ping_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.incoming_ping_at IS 'When the other pinged this side; null once that is answered.';


--
-- Name: COLUMN contact.outgoing_role_request_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.outgoing_role_request_at IS 'When this side asked to become the other''s responder; null once that is answered.';


--
-- Name: COLUMN contact.incoming_role_request_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.incoming_role_request_at IS 'When the other asked to become this side''s responder; null once that is answered.';


--
-- Name: COLUMN contact.added_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.added_at IS 'When the two became contacts.';


--
-- Name: COLUMN contact.updated_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.updated_at IS 'When this side''s fields were last set.';


--
-- Name: COLUMN contact.version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact.version IS 'How often they were set, not counting pings and requests.';


--
-- Name: contact_code; Type: VIEW; Schema: contacts; Owner: contacts_owner
--

CREATE VIEW contacts.contact_code AS
 SELECT a.code,
    a.account
   FROM contacts.account a
  WHERE (a.code IS NOT NULL);


ALTER TABLE contacts.contact_code OWNER TO contacts_owner;

--
-- Name: VIEW contact_code; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON VIEW contacts.contact_code IS 'The account of each contact code.';


--
-- Name: COLUMN contact_code.code; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact_code.code IS 'The contact code.';


--
-- Name: COLUMN contact_code.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contact_code.account IS 'The account that has the code now.';


--
-- Name: request; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.request (
    asker uuid NOT NULL,
    asked uuid NOT NULL,
    is_my_responder boolean NOT NULL,
    i_am_responder boolean NOT NULL,
    nickname text NOT NULL,
    is_stranger boolean NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    CONSTRAINT request_has_a_role CHECK ((is_my_responder OR i_am_responder)),
    CONSTRAINT request_is_between_two CHECK ((asker <> asked)),
    CONSTRAINT request_nickname_is_short CHECK ((char_length(nickname) <= 400))
);


ALTER TABLE contacts.request OWNER TO contacts_owner;

--
-- Name: TABLE request; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.request IS 'Requests to become contacts that aren''t answered yet.';


--
-- Name: COLUMN request.asker; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.asker IS 'The account that asked.';


--
-- Name: COLUMN request.asked; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.asked IS 'The account that is to answer.';


--
-- Name: COLUMN request.is_my_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.is_my_responder IS 'Whether the asked account would be the asker''s responder.';


--
-- Name: COLUMN request.i_am_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.i_am_responder IS 'Whether the asked account would be the asker''s dependent.';


--
-- Name: COLUMN request.nickname; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.nickname IS 'The nickname that the asker chose for the other.';


--
-- Name: COLUMN request.is_stranger; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.is_stranger IS 'Whether the two had no contact in common. When too many requests wait, the oldest of these is dropped.';


--
-- Name: COLUMN request.requested_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.request.requested_at IS 'When it was requested.';


--
-- Name: contacts_state; Type: VIEW; Schema: contacts; Owner: contacts_owner
--

CREATE VIEW contacts.contacts_state AS
 SELECT a.account,
    json_strip_nulls(json_build_object('account', a.account, 'code', a.code, 'isApprovalRequired', a.is_approval_required, 'isClosed', (a.closed_at IS NOT NULL), 'contacts', COALESCE(( SELECT json_agg(json_build_object('account', c.contact, 'nickname', c.nickname, 'notes', c.notes, 'isMyResponder', c.is_my_responder, 'iAmResponder', c.i_am_responder, 'sendPings', c.send_pings, 'receivePings', c.receive_pings, 'notifyOnCheckIn', c.notify_on_check_in, 'notifyOnMissedCheckIn', c.notify_on_missed_check_in, 'outgoingPing', contacts.microseconds(c.outgoing_ping_at), 'incomingPing', contacts.microseconds(c.incoming_ping_at), 'outgoingRoleRequest', contacts.microseconds(c.outgoing_role_request_at), 'incomingRoleRequest', contacts.microseconds(c.incoming_role_request_at), 'added', contacts.microseconds(c.added_at), 'updated', contacts.microseconds(c.updated_at), 'version', c.version) ORDER BY c.contact) AS json_agg
           FROM contacts.contact c
          WHERE (c.account = a.account)), '[]'::json), 'requests', COALESCE(( SELECT json_agg(json_build_object('account', w.contact, 'direction', w.direction, 'isMyResponder', w.is_my_responder, 'iAmResponder', w.i_am_responder, 'requested', contacts.microseconds(w.requested_at)) ORDER BY w.contact) AS json_agg
           FROM ( SELECT r.asked AS contact,
                    'outgoing'::text AS direction,
                    r.is_my_responder,
                    r.i_am_responder,
                    r.requested_at
                   FROM contacts.request r
                  WHERE (r.asker = a.account)
                UNION ALL
                 SELECT r.asker,
                    'incoming'::text AS direction,
                    r.i_am_responder,
                    r.is_my_responder,
                    r.requested_at
                   FROM contacts.request r
                  WHERE (r.asked = a.account)) w), '[]'::json), 'blocked', COALESCE(( SELECT json_agg(b.blocked ORDER BY b.blocked) AS json_agg
           FROM contacts.block b
          WHERE (b.blocker = a.account)), '[]'::json))) AS state
   FROM contacts.account a;


ALTER TABLE contacts.contacts_state OWNER TO contacts_owner;

--
-- Name: VIEW contacts_state; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON VIEW contacts.contacts_state IS 'The state of the stream contacts/<account>, as JSON. Read it together with the log''s position, in one statement.';


--
-- Name: COLUMN contacts_state.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contacts_state.account IS 'The account.';


--
-- Name: COLUMN contacts_state.state; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.contacts_state.state IS 'ContactsState of the contract, with times in microseconds.';


--
-- Name: dead_letter; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.dead_letter (
    message_id uuid NOT NULL,
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    command_id uuid,
    correlation_id uuid,
    trace_parent text,
    code text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    died_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dead_letter_code_is_known CHECK ((code = ANY (ARRAY['error'::text, 'crashed'::text, 'discarded'::text])))
);


ALTER TABLE contacts.dead_letter OWNER TO contacts_owner;

--
-- Name: TABLE dead_letter; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.dead_letter IS 'Messages that kept failing, set aside with their error. The outcome of such a command is failed; session_client can send it again.';


--
-- Name: COLUMN dead_letter.message_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.message_id IS 'The message''s id.';


--
-- Name: COLUMN dead_letter.source; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.source IS 'The log, as schema.table.';


--
-- Name: COLUMN dead_letter.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.partition IS 'The log''s partition.';


--
-- Name: COLUMN dead_letter."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter."position" IS 'The message''s position there.';


--
-- Name: COLUMN dead_letter.kind; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.kind IS 'command, or event (of a policy, discarded by an operator).';


--
-- Name: COLUMN dead_letter.type; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.type IS 'Name of the body''s type.';


--
-- Name: COLUMN dead_letter.version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.version IS 'Version of the type.';


--
-- Name: COLUMN dead_letter.key; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.key IS 'The message''s key.';


--
-- Name: COLUMN dead_letter.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.account IS 'The account that asked.';


--
-- Name: COLUMN dead_letter.body; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.body IS 'The message as it was.';


--
-- Name: COLUMN dead_letter.command_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.command_id IS 'The command''s id; its outcome is failed.';


--
-- Name: COLUMN dead_letter.correlation_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.correlation_id IS 'The request that the message belonged to.';


--
-- Name: COLUMN dead_letter.trace_parent; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN dead_letter.code; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator).';


--
-- Name: COLUMN dead_letter.error; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.error IS 'The last error.';


--
-- Name: COLUMN dead_letter.attempts; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.attempts IS 'How often it was tried.';


--
-- Name: COLUMN dead_letter.died_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.dead_letter.died_at IS 'When it was given up.';


--
-- Name: lease; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.lease (
    source text NOT NULL,
    partition integer NOT NULL,
    owner uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    released boolean DEFAULT true NOT NULL,
    needs text[] DEFAULT '{}'::text[] NOT NULL,
    trouble text,
    resting_since timestamp with time zone,
    CONSTRAINT lease_of_a_resting_partition_says_why CHECK (((trouble IS NULL) = (resting_since IS NULL))),
    CONSTRAINT lease_of_an_owner_ends CHECK (((owner IS NULL) OR (lease_until IS NOT NULL)))
)
WITH (fillfactor='50');


ALTER TABLE contacts.lease OWNER TO contacts_owner;

--
-- Name: TABLE lease; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.lease IS 'Which worker handles which partition. Leases make the work efficient; the constraint batch_has_one_successor makes it safe.';


--
-- Name: COLUMN lease.source; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.source IS 'The log, as schema.table.';


--
-- Name: COLUMN lease.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.partition IS 'The log''s partition.';


--
-- Name: COLUMN lease.owner; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.owner IS 'The worker that holds the lease, by an id that is new at each start; null if the lease is free.';


--
-- Name: COLUMN lease.epoch; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.epoch IS 'How often the lease was taken.';


--
-- Name: COLUMN lease.lease_until; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.lease_until IS 'When the lease ends unless it is renewed, by the database''s clock.';


--
-- Name: COLUMN lease.released; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';


--
-- Name: COLUMN lease.needs; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.needs IS 'What a message of the partition needed and a replica didn''t know: a type with its version, or an enum value. The partition goes to replicas that may know it, if there are any.';


--
-- Name: COLUMN lease.trouble; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.trouble IS 'Why the partition rests: every attempt failed, and is repeated every few seconds. Null while it doesn''t rest.';


--
-- Name: COLUMN lease.resting_since; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.lease.resting_since IS 'When the partition began to rest.';


--
-- Name: limits; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.limits (
    only_row boolean DEFAULT true NOT NULL,
    contact_limit integer DEFAULT 1000 NOT NULL,
    CONSTRAINT contact_limit_is_at_most_ten_thousand CHECK (((contact_limit >= 1) AND (contact_limit <= 10000))),
    CONSTRAINT only_row_is_true CHECK (only_row)
);


ALTER TABLE contacts.limits OWNER TO contacts_owner;

--
-- Name: TABLE limits; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.limits IS 'Numbers in the rules that can be set. One row, which `contacts migrate` writes.';


--
-- Name: COLUMN limits.only_row; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.limits.only_row IS 'Keeps the table at one row.';


--
-- Name: COLUMN limits.contact_limit; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.limits.contact_limit IS 'How many contacts an account may have.';


--
-- Name: member; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.member (
    source text NOT NULL,
    owner uuid NOT NULL,
    slot integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    alive_until timestamp with time zone NOT NULL,
    cannot text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT member_slot_is_not_negative CHECK ((slot >= 0))
)
WITH (fillfactor='50');


ALTER TABLE contacts.member OWNER TO contacts_owner;

--
-- Name: TABLE member; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.member IS 'The running workers of contacts. The live workers of a source, sorted by slot and owner, share its partitions.';


--
-- Name: COLUMN member.source; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.member.source IS 'The log that the worker reads, as schema.table.';


--
-- Name: COLUMN member.owner; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.member.owner IS 'The worker''s id, new at each start; the same as in lease.owner and pg_stat_activity.application_name.';


--
-- Name: COLUMN member.slot; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.member.slot IS 'The worker''s number within its process. Sorting by it first gives processes equal shares.';


--
-- Name: COLUMN member.started_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.member.started_at IS 'When the worker started.';


--
-- Name: COLUMN member.alive_until; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.member.alive_until IS 'When the worker stops counting as alive, unless it sends another heartbeat.';


--
-- Name: COLUMN member.cannot; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.member.cannot IS 'What the worker met and couldn''t read: types with their versions, or enum values. Compared with lease.needs.';


--
-- Name: migration; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.migration (
    number integer NOT NULL,
    file text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL,
    duration interval NOT NULL
);


ALTER TABLE contacts.migration OWNER TO contacts_owner;

--
-- Name: TABLE migration; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.migration IS 'The migrations applied to this schema.';


--
-- Name: COLUMN migration.number; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.migration.number IS 'The number at the beginning of the file''s name.';


--
-- Name: COLUMN migration.file; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.migration.file IS 'The file''s name.';


--
-- Name: COLUMN migration.checksum; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.migration.checksum IS 'SHA-256 of the applied text, with its includes.';


--
-- Name: COLUMN migration.applied_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.migration.applied_at IS 'When it was applied.';


--
-- Name: COLUMN migration.applied_by; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.migration.applied_by IS 'The role that logged in to apply it.';


--
-- Name: COLUMN migration.duration; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.migration.duration IS 'How long it took.';


--
-- Name: redaction; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.redaction (
    account uuid NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    late_until timestamp with time zone DEFAULT (clock_timestamp() + '00:10:00'::interval) NOT NULL,
    noticed_at timestamp with time zone,
    done_at timestamp with time zone,
    CONSTRAINT redaction_is_noticed_before_it_is_done CHECK (((done_at IS NULL) OR (done_at >= noticed_at)))
);


ALTER TABLE contacts.redaction OWNER TO contacts_owner;

--
-- Name: TABLE redaction; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.redaction IS 'Accounts whose messages are to be emptied, and whether all of them are.';


--
-- Name: COLUMN redaction.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction.account IS 'The account.';


--
-- Name: COLUMN redaction.requested_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction.requested_at IS 'When the redaction was requested.';


--
-- Name: COLUMN redaction.late_until; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction.late_until IS 'Until when late messages may arrive: by then, commands are handled or expired.';


--
-- Name: COLUMN redaction.noticed_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction.noticed_at IS 'When the service first saw it. A pass that begins later empties all rows of the account.';


--
-- Name: COLUMN redaction.done_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction.done_at IS 'When all rows from before requested_at were emptied; after late_until, when the late ones were too. Null while some wait, for example for a consumer to handle them.';


--
-- Name: open_redaction; Type: VIEW; Schema: contacts; Owner: contacts_owner
--

CREATE VIEW contacts.open_redaction AS
 SELECT r.account,
    r.late_until,
    r.noticed_at
   FROM contacts.redaction r
  WHERE ((r.done_at IS NULL) OR (r.done_at < r.late_until));


ALTER TABLE contacts.open_redaction OWNER TO contacts_owner;

--
-- Name: VIEW open_redaction; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON VIEW contacts.open_redaction IS 'Redactions that aren''t finished.';


--
-- Name: COLUMN open_redaction.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.open_redaction.account IS 'The account.';


--
-- Name: COLUMN open_redaction.late_until; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.open_redaction.late_until IS 'Until when late messages may arrive.';


--
-- Name: COLUMN open_redaction.noticed_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.open_redaction.noticed_at IS 'When the service first saw the redaction.';


--
-- Name: operator_act_number_seq; Type: SEQUENCE; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE contacts.operator_act ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME contacts.operator_act_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: outcome; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.outcome (
    command_id uuid NOT NULL,
    account uuid,
    command_hash uuid NOT NULL,
    outcome contacts.message_outcome NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    type contacts.message_type NOT NULL,
    body json NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE contacts.outcome OWNER TO contacts_owner;

--
-- Name: TABLE outcome; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.outcome IS 'How each command ended, recorded once and kept for 30 days. A command that is sent again gets this outcome and does nothing else.';


--
-- Name: COLUMN outcome.command_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.command_id IS 'The command''s id. Its first 48 bits are the time it was made, in milliseconds.';


--
-- Name: COLUMN outcome.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.account IS 'The account that asked.';


--
-- Name: COLUMN outcome.command_hash; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.command_hash IS 'Hash of the command. The same id with another hash is rejected.';


--
-- Name: COLUMN outcome.outcome; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.outcome IS 'accepted, rejected (body says why) or failed (body says the error).';


--
-- Name: COLUMN outcome.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.partition IS 'Partition of the row of contacts.log that carries the outcome.';


--
-- Name: COLUMN outcome."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome."position" IS 'Position of that row. A reader that has come this far has seen what the command changed.';


--
-- Name: COLUMN outcome.type; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.type IS 'Type of that row: the first event, or Rejected, Failed, Accepted.';


--
-- Name: COLUMN outcome.body; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.body IS 'Body of that row: the command''s result.';


--
-- Name: COLUMN outcome.recorded_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.outcome.recorded_at IS 'When the outcome was recorded.';


--
-- Name: parked; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.parked (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome text,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent text,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    cause text,
    attempts integer NOT NULL,
    failing_since timestamp with time zone,
    retry_at timestamp with time zone,
    error text,
    needs text,
    is_discarded boolean DEFAULT false NOT NULL,
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT parked_attempts_are_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT parked_cause_is_known CHECK ((cause = ANY (ARRAY['error'::text, 'trouble'::text, 'unknown'::text, 'crashed'::text]))),
    CONSTRAINT parked_failed_or_waits CHECK (((num_nulls(cause, failing_since, retry_at, error) = ANY (ARRAY[0, 4])) AND ((attempts = 0) = (cause IS NULL)))),
    CONSTRAINT parked_needs_what_is_unknown CHECK (((needs IS NOT NULL) = COALESCE((cause = 'unknown'::text), false))),
    CONSTRAINT parked_position_begins_at_one CHECK (("position" > 0))
)
WITH (fillfactor='70');


ALTER TABLE contacts.parked OWNER TO contacts_owner;

--
-- Name: TABLE parked; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.parked IS 'Messages that failed and will be retried, and the later messages of the same key, which wait behind them. Other keys go on meanwhile. A row holds the whole message, so the log may delete it.';


--
-- Name: COLUMN parked.source; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.source IS 'The log, as schema.table.';


--
-- Name: COLUMN parked.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.partition IS 'The log''s partition.';


--
-- Name: COLUMN parked."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked."position" IS 'The message''s position there.';


--
-- Name: COLUMN parked.kind; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.kind IS 'command, or event (of a policy).';


--
-- Name: COLUMN parked.type; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.type IS 'Name of the body''s type.';


--
-- Name: COLUMN parked.version; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.version IS 'Version of the type.';


--
-- Name: COLUMN parked.key; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.key IS 'The message''s key. Only the first message of a key is retried.';


--
-- Name: COLUMN parked.account; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.account IS 'The account that asked.';


--
-- Name: COLUMN parked.body; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.body IS 'The message as it was.';


--
-- Name: COLUMN parked.message_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.message_id IS 'The message''s id.';


--
-- Name: COLUMN parked.command_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.command_id IS 'The command''s id; for an event, that of the command that led to it.';


--
-- Name: COLUMN parked.outcome; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.outcome IS 'As in the log.';


--
-- Name: COLUMN parked.command_hash; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.command_hash IS 'As in the log.';


--
-- Name: COLUMN parked.correlation_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.correlation_id IS 'The request that the message belongs to.';


--
-- Name: COLUMN parked.causation_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.causation_id IS 'The message_id of the message that caused this one.';


--
-- Name: COLUMN parked.trace_parent; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN parked.expires_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN parked.recorded_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.recorded_at IS 'When the message was appended to its log.';


--
-- Name: COLUMN parked.cause; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners). Null while it only waits behind another message.';


--
-- Name: COLUMN parked.attempts; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.attempts IS 'How often in a row the message failed for this cause; 0 while it only waits.';


--
-- Name: COLUMN parked.failing_since; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.failing_since IS 'When it began to fail for this cause.';


--
-- Name: COLUMN parked.retry_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.retry_at IS 'When it is retried; retry_parked makes that now.';


--
-- Name: COLUMN parked.error; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.error IS 'The latest error.';


--
-- Name: COLUMN parked.needs; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.needs IS 'What a replica has to know before it can handle the message: this type and version, or this enum value.';


--
-- Name: COLUMN parked.is_discarded; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.is_discarded IS 'Whether an operator called discard_parked: the message isn''t retried and becomes a dead letter.';


--
-- Name: COLUMN parked.parked_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.parked.parked_at IS 'When it was parked.';


--
-- Name: redaction_pass; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.redaction_pass (
    log text NOT NULL,
    partition integer NOT NULL,
    begun_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    command_id uuid,
    is_whole boolean DEFAULT true NOT NULL,
    passed_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    rows bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


ALTER TABLE contacts.redaction_pass OWNER TO contacts_owner;

--
-- Name: TABLE redaction_pass; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.redaction_pass IS 'How far each partition has been searched for rows of accounts in contacts.redaction. A pass searches it once from the beginning for all accounts noticed by then, and then follows new rows until no late ones can arrive.';


--
-- Name: COLUMN redaction_pass.log; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.log IS 'The log''s table, or outcome.';


--
-- Name: COLUMN redaction_pass.partition; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.partition IS 'The log''s partition; 0 for outcome.';


--
-- Name: COLUMN redaction_pass.begun_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.begun_at IS 'When the pass began at the first row.';


--
-- Name: COLUMN redaction_pass."position"; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass."position" IS 'The last position searched.';


--
-- Name: COLUMN redaction_pass.command_id; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.command_id IS 'For outcome, the last command searched.';


--
-- Name: COLUMN redaction_pass.is_whole; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.is_whole IS 'Whether the pass has reached the end. From then on it follows new rows until the next pass begins.';


--
-- Name: COLUMN redaction_pass.passed_until; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.passed_until IS 'All rows recorded before this time were searched in this pass.';


--
-- Name: COLUMN redaction_pass.rows; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.redaction_pass.rows IS 'How many rows the pass searched before it reached the end. The next pass begins at least as many milliseconds after this one, so that closing accounts costs little in big logs.';


--
-- Name: retention; Type: TABLE; Schema: contacts; Owner: contacts_owner
--

CREATE TABLE contacts.retention (
    subject text NOT NULL,
    keep interval NOT NULL,
    truncate_after interval,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_by text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT retention_keeps_a_minute CHECK ((keep >= '00:01:00'::interval)),
    CONSTRAINT retention_truncates_after_keeping CHECK ((truncate_after >= keep))
);


ALTER TABLE contacts.retention OWNER TO contacts_owner;

--
-- Name: TABLE retention; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON TABLE contacts.retention IS 'How long each table''s rows are kept. Change it with contacts.set_retention.';


--
-- Name: COLUMN retention.subject; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.retention.subject IS 'The table''s name.';


--
-- Name: COLUMN retention.keep; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';


--
-- Name: COLUMN retention.truncate_after; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.retention.truncate_after IS 'Older rows of a log are deleted even if a consumer hasn''t handled them; the consumer then finds the log truncated. Null: retention waits for consumers without limit.';


--
-- Name: COLUMN retention.changed_at; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.retention.changed_at IS 'When this was last set.';


--
-- Name: COLUMN retention.changed_by; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON COLUMN contacts.retention.changed_by IS 'The role that set it.';


--
-- Name: account; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.account (
    account uuid NOT NULL,
    unread integer NOT NULL,
    total integer NOT NULL,
    forget_at timestamp with time zone,
    closed_at timestamp with time zone,
    CONSTRAINT closed_account_has_no_history CHECK (((closed_at IS NULL) OR (total = 0))),
    CONSTRAINT unread_is_not_negative CHECK ((unread >= 0)),
    CONSTRAINT unread_ones_are_in_the_history CHECK ((unread <= total))
)
WITH (fillfactor='70');


ALTER TABLE notifications.account OWNER TO notifications_owner;

--
-- Name: TABLE account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.account IS 'Every account that notifications knows. Closed accounts stay, so that a late command can''t reopen one.';


--
-- Name: COLUMN account.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.account.account IS 'The account.';


--
-- Name: COLUMN account.unread; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.account.unread IS 'How many of its notifications are neither read nor cleared. This is the only place where they are counted.';


--
-- Name: COLUMN account.total; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.account.total IS 'How many notifications its history has.';


--
-- Name: COLUMN account.forget_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.account.forget_at IS 'When its history is next checked for notifications older than 30 days; null while it is empty.';


--
-- Name: COLUMN account.closed_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.account.closed_at IS 'When the account was closed, which is permanent.';


--
-- Name: attempt; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.attempt (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    epoch bigint NOT NULL,
    owner uuid NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='70');


ALTER TABLE notifications.attempt OWNER TO notifications_owner;

--
-- Name: TABLE attempt; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.attempt IS 'Messages that a worker is about to handle, recorded in a transaction of its own before the attempt: after a lease that wasn''t given back, and for parked messages. The row is deleted when the message is handled or fails. A message whose handling ended three leases in a row isn''t tried a fourth time.';


--
-- Name: COLUMN attempt.source; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.attempt.source IS 'The log, as schema.table.';


--
-- Name: COLUMN attempt.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.attempt.partition IS 'The log''s partition.';


--
-- Name: COLUMN attempt."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.attempt."position" IS 'The message''s position there.';


--
-- Name: COLUMN attempt.epoch; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.attempt.epoch IS 'The epoch of the worker''s lease. If the partition''s lease has a later epoch, this lease ended during the attempt.';


--
-- Name: COLUMN attempt.owner; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.attempt.owner IS 'The worker that held the lease.';


--
-- Name: COLUMN attempt.began_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.attempt.began_at IS 'When the attempt began.';


--
-- Name: batch; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.batch (
    source text NOT NULL,
    partition integer NOT NULL,
    number notifications.batch_number NOT NULL,
    "position" notifications.batch_position NOT NULL,
    owner uuid NOT NULL,
    epoch bigint NOT NULL,
    given_time timestamp with time zone NOT NULL,
    messages notifications.batch_messages NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE notifications.batch OWNER TO notifications_owner;

--
-- Name: TABLE batch; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.batch IS 'One row per transaction that handled messages of a partition. The newest one says how far notifications has come; the others are its throughput history.';


--
-- Name: COLUMN batch.source; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.source IS 'The log, as schema.table.';


--
-- Name: COLUMN batch.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.partition IS 'The log''s partition.';


--
-- Name: COLUMN batch.number; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.number IS 'The previous batch''s number plus one.';


--
-- Name: COLUMN batch."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch."position" IS 'Everything up to this position of the log is handled.';


--
-- Name: COLUMN batch.owner; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.owner IS 'The worker that committed the batch.';


--
-- Name: COLUMN batch.epoch; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.epoch IS 'The epoch of the worker''s lease.';


--
-- Name: COLUMN batch.given_time; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.given_time IS 'The time that the rules were given; never less than in the previous batch.';


--
-- Name: COLUMN batch.messages; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.batch.messages IS 'How many messages the batch handled.';


--
-- Name: dead_letter; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.dead_letter (
    message_id uuid NOT NULL,
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    command_id uuid,
    correlation_id uuid,
    trace_parent text,
    code text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    died_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dead_letter_code_is_known CHECK ((code = ANY (ARRAY['error'::text, 'crashed'::text, 'discarded'::text])))
);


ALTER TABLE notifications.dead_letter OWNER TO notifications_owner;

--
-- Name: TABLE dead_letter; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.dead_letter IS 'Messages that kept failing, set aside with their error. The outcome of such a command is failed; session_client can send it again.';


--
-- Name: COLUMN dead_letter.message_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.message_id IS 'The message''s id.';


--
-- Name: COLUMN dead_letter.source; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.source IS 'The log, as schema.table.';


--
-- Name: COLUMN dead_letter.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.partition IS 'The log''s partition.';


--
-- Name: COLUMN dead_letter."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter."position" IS 'The message''s position there.';


--
-- Name: COLUMN dead_letter.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.kind IS 'command, or event (of a policy, discarded by an operator).';


--
-- Name: COLUMN dead_letter.type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.type IS 'Name of the body''s type.';


--
-- Name: COLUMN dead_letter.version; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.version IS 'Version of the type.';


--
-- Name: COLUMN dead_letter.key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.key IS 'The message''s key.';


--
-- Name: COLUMN dead_letter.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.account IS 'The account that asked.';


--
-- Name: COLUMN dead_letter.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.body IS 'The message as it was.';


--
-- Name: COLUMN dead_letter.command_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.command_id IS 'The command''s id; its outcome is failed.';


--
-- Name: COLUMN dead_letter.correlation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.correlation_id IS 'The request that the message belonged to.';


--
-- Name: COLUMN dead_letter.trace_parent; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN dead_letter.code; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator).';


--
-- Name: COLUMN dead_letter.error; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.error IS 'The last error.';


--
-- Name: COLUMN dead_letter.attempts; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.attempts IS 'How often it was tried.';


--
-- Name: COLUMN dead_letter.died_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.dead_letter.died_at IS 'When it was given up.';


--
-- Name: held; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.held (
    account uuid NOT NULL,
    pace text NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    subject uuid,
    details json NOT NULL,
    due_at timestamp with time zone NOT NULL
);


ALTER TABLE notifications.held OWNER TO notifications_owner;

--
-- Name: TABLE held; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.held IS 'Notifications held back because of their rate limit: the newest of each group, delivered soon.';


--
-- Name: COLUMN held.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.account IS 'The account that will be notified.';


--
-- Name: COLUMN held.pace; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.pace IS 'The group whose rate is limited together.';


--
-- Name: COLUMN held.id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.id IS 'The notification''s id, derived from its cause.';


--
-- Name: COLUMN held.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.kind IS 'What the notification will say.';


--
-- Name: COLUMN held.subject; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.subject IS 'The other account that the notification is about.';


--
-- Name: COLUMN held.details; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.details IS 'NotificationDetails of the contract.';


--
-- Name: COLUMN held.due_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.held.due_at IS 'When it is delivered.';


--
-- Name: lease; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.lease (
    source text NOT NULL,
    partition integer NOT NULL,
    owner uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    released boolean DEFAULT true NOT NULL,
    needs text[] DEFAULT '{}'::text[] NOT NULL,
    trouble text,
    resting_since timestamp with time zone,
    CONSTRAINT lease_of_a_resting_partition_says_why CHECK (((trouble IS NULL) = (resting_since IS NULL))),
    CONSTRAINT lease_of_an_owner_ends CHECK (((owner IS NULL) OR (lease_until IS NOT NULL)))
)
WITH (fillfactor='50');


ALTER TABLE notifications.lease OWNER TO notifications_owner;

--
-- Name: TABLE lease; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.lease IS 'Which worker handles which partition. Leases make the work efficient; the constraint batch_has_one_successor makes it safe.';


--
-- Name: COLUMN lease.source; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.source IS 'The log, as schema.table.';


--
-- Name: COLUMN lease.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.partition IS 'The log''s partition.';


--
-- Name: COLUMN lease.owner; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.owner IS 'The worker that holds the lease, by an id that is new at each start; null if the lease is free.';


--
-- Name: COLUMN lease.epoch; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.epoch IS 'How often the lease was taken.';


--
-- Name: COLUMN lease.lease_until; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.lease_until IS 'When the lease ends unless it is renewed, by the database''s clock.';


--
-- Name: COLUMN lease.released; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';


--
-- Name: COLUMN lease.needs; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.needs IS 'What a message of the partition needed and a replica didn''t know: a type with its version, or an enum value. The partition goes to replicas that may know it, if there are any.';


--
-- Name: COLUMN lease.trouble; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.trouble IS 'Why the partition rests: every attempt failed, and is repeated every few seconds. Null while it doesn''t rest.';


--
-- Name: COLUMN lease.resting_since; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.lease.resting_since IS 'When the partition began to rest.';


--
-- Name: limits; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.limits (
    only_row boolean DEFAULT true NOT NULL,
    burst integer DEFAULT 6 NOT NULL,
    CONSTRAINT burst_is_at_most_a_thousand CHECK (((burst >= 0) AND (burst <= 1000))),
    CONSTRAINT only_row_is_true CHECK (only_row)
);


ALTER TABLE notifications.limits OWNER TO notifications_owner;

--
-- Name: TABLE limits; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.limits IS 'Numbers in the rules that can be set. One row, which `notifications migrate` writes.';


--
-- Name: COLUMN limits.only_row; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.limits.only_row IS 'Keeps the table at one row.';


--
-- Name: COLUMN limits.burst; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.limits.burst IS 'How many notifications of a group are delivered at once within ten minutes. After that, one a minute is. 0: no limit.';


--
-- Name: member; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.member (
    source text NOT NULL,
    owner uuid NOT NULL,
    slot integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    alive_until timestamp with time zone NOT NULL,
    cannot text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT member_slot_is_not_negative CHECK ((slot >= 0))
)
WITH (fillfactor='50');


ALTER TABLE notifications.member OWNER TO notifications_owner;

--
-- Name: TABLE member; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.member IS 'The running workers of notifications. The live workers of a source, sorted by slot and owner, share its partitions.';


--
-- Name: COLUMN member.source; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.member.source IS 'The log that the worker reads, as schema.table.';


--
-- Name: COLUMN member.owner; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.member.owner IS 'The worker''s id, new at each start; the same as in lease.owner and pg_stat_activity.application_name.';


--
-- Name: COLUMN member.slot; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.member.slot IS 'The worker''s number within its process. Sorting by it first gives processes equal shares.';


--
-- Name: COLUMN member.started_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.member.started_at IS 'When the worker started.';


--
-- Name: COLUMN member.alive_until; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.member.alive_until IS 'When the worker stops counting as alive, unless it sends another heartbeat.';


--
-- Name: COLUMN member.cannot; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.member.cannot IS 'What the worker met and couldn''t read: types with their versions, or enum values. Compared with lease.needs.';


--
-- Name: migration; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.migration (
    number integer NOT NULL,
    file text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL,
    duration interval NOT NULL
);


ALTER TABLE notifications.migration OWNER TO notifications_owner;

--
-- Name: TABLE migration; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.migration IS 'The migrations applied to this schema.';


--
-- Name: COLUMN migration.number; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.migration.number IS 'The number at the beginning of the file''s name.';


--
-- Name: COLUMN migration.file; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.migration.file IS 'The file''s name.';


--
-- Name: COLUMN migration.checksum; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.migration.checksum IS 'SHA-256 of the applied text, with its includes.';


--
-- Name: COLUMN migration.applied_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.migration.applied_at IS 'When it was applied.';


--
-- Name: COLUMN migration.applied_by; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.migration.applied_by IS 'The role that logged in to apply it.';


--
-- Name: COLUMN migration.duration; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.migration.duration IS 'How long it took.';


--
-- Name: notification; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.notification (
    account uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    category text NOT NULL,
    pace text,
    subject uuid,
    details json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    read_at timestamp with time zone,
    cleared_at timestamp with time zone,
    alarm uuid GENERATED ALWAYS AS (((details ->> 'alarm'::text))::uuid) STORED
)
WITH (fillfactor='80');


ALTER TABLE notifications.notification OWNER TO notifications_owner;

--
-- Name: TABLE notification; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.notification IS 'The notifications of the last 30 days, including cleared ones.';


--
-- Name: COLUMN notification.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.account IS 'The account that was notified.';


--
-- Name: COLUMN notification.id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.id IS 'The notification''s id, derived from its cause.';


--
-- Name: COLUMN notification.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.kind IS 'What the notification says.';


--
-- Name: COLUMN notification.category; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.category IS 'The category that people filter by; follows from the kind.';


--
-- Name: COLUMN notification.pace; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.pace IS 'The group whose rate is limited together; null if there is no limit. Follows from kind and subject.';


--
-- Name: COLUMN notification.subject; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.subject IS 'The other account that the notification is about.';


--
-- Name: COLUMN notification.details; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.details IS 'NotificationDetails of the contract.';


--
-- Name: COLUMN notification.created_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.created_at IS 'When the notification was delivered.';


--
-- Name: COLUMN notification.read_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.read_at IS 'When it was read.';


--
-- Name: COLUMN notification.cleared_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.cleared_at IS 'When it was cleared.';


--
-- Name: COLUMN notification.alarm; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notification.alarm IS 'The alarm that it belongs to. All notifications about an alarm, up to its all-clear, have the same one.';


--
-- Name: push_device; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.push_device (
    account uuid NOT NULL,
    device uuid NOT NULL,
    token text NOT NULL,
    platform text NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    is_leaving boolean DEFAULT false NOT NULL,
    CONSTRAINT platform_is_known CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text, 'web'::text, 'other'::text]))),
    CONSTRAINT token_is_printable CHECK (((token ~ '^[!-~]+$'::text) AND (octet_length(token) <= 4096)))
);


ALTER TABLE notifications.push_device OWNER TO notifications_owner;

--
-- Name: TABLE push_device; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.push_device IS 'The devices that get an account''s push messages. Only notifications reads the tokens.';


--
-- Name: COLUMN push_device.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_device.account IS 'The account.';


--
-- Name: COLUMN push_device.device; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_device.device IS 'The device.';


--
-- Name: COLUMN push_device.token; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_device.token IS 'The push service''s token for the app on the device. Anyone who has it can push to the device.';


--
-- Name: COLUMN push_device.platform; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_device.platform IS 'The kind of push service.';


--
-- Name: COLUMN push_device.registered_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_device.registered_at IS 'When the device was registered with this token.';


--
-- Name: COLUMN push_device.is_leaving; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_device.is_leaving IS 'Whether the device was signed out. It then only gets the pushes that already wait and are about the account, such as why it was signed out, and is deleted after the last of them.';


--
-- Name: scheduled; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.scheduled (
    account uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    subject uuid,
    details json NOT NULL,
    due_at timestamp with time zone NOT NULL
);


ALTER TABLE notifications.scheduled OWNER TO notifications_owner;

--
-- Name: TABLE scheduled; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.scheduled IS 'Notifications that will be delivered later.';


--
-- Name: COLUMN scheduled.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.scheduled.account IS 'The account that will be notified.';


--
-- Name: COLUMN scheduled.id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.scheduled.id IS 'The notification''s id.';


--
-- Name: COLUMN scheduled.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.scheduled.kind IS 'What the notification will say.';


--
-- Name: COLUMN scheduled.subject; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.scheduled.subject IS 'The other account that the notification is about.';


--
-- Name: COLUMN scheduled.details; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.scheduled.details IS 'NotificationDetails of the contract.';


--
-- Name: COLUMN scheduled.due_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.scheduled.due_at IS 'When it is delivered.';


--
-- Name: notifications_state; Type: VIEW; Schema: notifications; Owner: notifications_owner
--

CREATE VIEW notifications.notifications_state AS
 SELECT a.account,
    json_strip_nulls(json_build_object('account', a.account, 'unread', a.unread, 'isClosed', (a.closed_at IS NOT NULL), 'notifications', COALESCE(( SELECT json_agg(json_build_object('id', n.id, 'kind', n.kind, 'subject', n.subject, 'details', n.details, 'created', notifications.microseconds(n.created_at), 'read', notifications.microseconds(n.read_at), 'cleared', notifications.microseconds(n.cleared_at)) ORDER BY n.created_at DESC, n.id DESC) AS json_agg
           FROM ( SELECT h.account,
                    h.id,
                    h.kind,
                    h.category,
                    h.pace,
                    h.subject,
                    h.details,
                    h.created_at,
                    h.read_at,
                    h.cleared_at,
                    h.alarm
                   FROM notifications.notification h
                  WHERE (h.account = a.account)
                  ORDER BY h.created_at DESC, h.id DESC
                 LIMIT 200) n), '[]'::json), 'scheduled', COALESCE(( SELECT json_agg(json_build_object('id', s.id, 'kind', s.kind, 'subject', s.subject, 'details', s.details, 'due', notifications.microseconds(s.due_at)) ORDER BY s.id) AS json_agg
           FROM notifications.scheduled s
          WHERE (s.account = a.account)), '[]'::json), 'pushDevices', COALESCE(( SELECT json_agg(d.device ORDER BY d.device) AS json_agg
           FROM notifications.push_device d
          WHERE ((d.account = a.account) AND (NOT d.is_leaving))), '[]'::json))) AS state
   FROM notifications.account a;


ALTER TABLE notifications.notifications_state OWNER TO notifications_owner;

--
-- Name: VIEW notifications_state; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON VIEW notifications.notifications_state IS 'The state of the stream notifications/<account>, as JSON, with the newest 200 notifications. Read it together with the log''s position, in one statement. For older ones, read notifications.notification by (created_at, id).';


--
-- Name: COLUMN notifications_state.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notifications_state.account IS 'The account.';


--
-- Name: COLUMN notifications_state.state; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.notifications_state.state IS 'NotificationsState of the contract, with times in microseconds.';


--
-- Name: redaction; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.redaction (
    account uuid NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    late_until timestamp with time zone DEFAULT (clock_timestamp() + '00:10:00'::interval) NOT NULL,
    noticed_at timestamp with time zone,
    done_at timestamp with time zone,
    CONSTRAINT redaction_is_noticed_before_it_is_done CHECK (((done_at IS NULL) OR (done_at >= noticed_at)))
);


ALTER TABLE notifications.redaction OWNER TO notifications_owner;

--
-- Name: TABLE redaction; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.redaction IS 'Accounts whose messages are to be emptied, and whether all of them are.';


--
-- Name: COLUMN redaction.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction.account IS 'The account.';


--
-- Name: COLUMN redaction.requested_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction.requested_at IS 'When the redaction was requested.';


--
-- Name: COLUMN redaction.late_until; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction.late_until IS 'Until when late messages may arrive: by then, commands are handled or expired.';


--
-- Name: COLUMN redaction.noticed_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction.noticed_at IS 'When the service first saw it. A pass that begins later empties all rows of the account.';


--
-- Name: COLUMN redaction.done_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction.done_at IS 'When all rows from before requested_at were emptied; after late_until, when the late ones were too. Null while some wait, for example for a consumer to handle them.';


--
-- Name: open_redaction; Type: VIEW; Schema: notifications; Owner: notifications_owner
--

CREATE VIEW notifications.open_redaction AS
 SELECT r.account,
    r.late_until,
    r.noticed_at
   FROM notifications.redaction r
  WHERE ((r.done_at IS NULL) OR (r.done_at < r.late_until));


ALTER TABLE notifications.open_redaction OWNER TO notifications_owner;

--
-- Name: VIEW open_redaction; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON VIEW notifications.open_redaction IS 'Redactions that aren''t finished.';


--
-- Name: COLUMN open_redaction.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.open_redaction.account IS 'The account.';


--
-- Name: COLUMN open_redaction.late_until; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.open_redaction.late_until IS 'Until when late messages may arrive.';


--
-- Name: COLUMN open_redaction.noticed_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.open_redaction.noticed_at IS 'When the service first saw the redaction.';


--
-- Name: operator_act_number_seq; Type: SEQUENCE; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE notifications.operator_act ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME notifications.operator_act_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: outcome; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.outcome (
    command_id uuid NOT NULL,
    account uuid,
    command_hash uuid NOT NULL,
    outcome notifications.message_outcome NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    type notifications.message_type NOT NULL,
    body json NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE notifications.outcome OWNER TO notifications_owner;

--
-- Name: TABLE outcome; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.outcome IS 'How each command ended, recorded once and kept for 30 days. A command that is sent again gets this outcome and does nothing else.';


--
-- Name: COLUMN outcome.command_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.command_id IS 'The command''s id. Its first 48 bits are the time it was made, in milliseconds.';


--
-- Name: COLUMN outcome.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.account IS 'The account that asked.';


--
-- Name: COLUMN outcome.command_hash; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.command_hash IS 'Hash of the command. The same id with another hash is rejected.';


--
-- Name: COLUMN outcome.outcome; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.outcome IS 'accepted, rejected (body says why) or failed (body says the error).';


--
-- Name: COLUMN outcome.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.partition IS 'Partition of the row of notifications.log that carries the outcome.';


--
-- Name: COLUMN outcome."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome."position" IS 'Position of that row. A reader that has come this far has seen what the command changed.';


--
-- Name: COLUMN outcome.type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.type IS 'Type of that row: the first event, or Rejected, Failed, Accepted.';


--
-- Name: COLUMN outcome.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.body IS 'Body of that row: the command''s result.';


--
-- Name: COLUMN outcome.recorded_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.outcome.recorded_at IS 'When the outcome was recorded.';


--
-- Name: parked; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.parked (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome text,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent text,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    cause text,
    attempts integer NOT NULL,
    failing_since timestamp with time zone,
    retry_at timestamp with time zone,
    error text,
    needs text,
    is_discarded boolean DEFAULT false NOT NULL,
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT parked_attempts_are_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT parked_cause_is_known CHECK ((cause = ANY (ARRAY['error'::text, 'trouble'::text, 'unknown'::text, 'crashed'::text]))),
    CONSTRAINT parked_failed_or_waits CHECK (((num_nulls(cause, failing_since, retry_at, error) = ANY (ARRAY[0, 4])) AND ((attempts = 0) = (cause IS NULL)))),
    CONSTRAINT parked_needs_what_is_unknown CHECK (((needs IS NOT NULL) = COALESCE((cause = 'unknown'::text), false))),
    CONSTRAINT parked_position_begins_at_one CHECK (("position" > 0))
)
WITH (fillfactor='70');


ALTER TABLE notifications.parked OWNER TO notifications_owner;

--
-- Name: TABLE parked; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.parked IS 'Messages that failed and will be retried, and the later messages of the same key, which wait behind them. Other keys go on meanwhile. A row holds the whole message, so the log may delete it.';


--
-- Name: COLUMN parked.source; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.source IS 'The log, as schema.table.';


--
-- Name: COLUMN parked.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.partition IS 'The log''s partition.';


--
-- Name: COLUMN parked."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked."position" IS 'The message''s position there.';


--
-- Name: COLUMN parked.kind; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.kind IS 'command, or event (of a policy).';


--
-- Name: COLUMN parked.type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.type IS 'Name of the body''s type.';


--
-- Name: COLUMN parked.version; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.version IS 'Version of the type.';


--
-- Name: COLUMN parked.key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.key IS 'The message''s key. Only the first message of a key is retried.';


--
-- Name: COLUMN parked.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.account IS 'The account that asked.';


--
-- Name: COLUMN parked.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.body IS 'The message as it was.';


--
-- Name: COLUMN parked.message_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.message_id IS 'The message''s id.';


--
-- Name: COLUMN parked.command_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.command_id IS 'The command''s id; for an event, that of the command that led to it.';


--
-- Name: COLUMN parked.outcome; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.outcome IS 'As in the log.';


--
-- Name: COLUMN parked.command_hash; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.command_hash IS 'As in the log.';


--
-- Name: COLUMN parked.correlation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.correlation_id IS 'The request that the message belongs to.';


--
-- Name: COLUMN parked.causation_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.causation_id IS 'The message_id of the message that caused this one.';


--
-- Name: COLUMN parked.trace_parent; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN parked.expires_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN parked.recorded_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.recorded_at IS 'When the message was appended to its log.';


--
-- Name: COLUMN parked.cause; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners). Null while it only waits behind another message.';


--
-- Name: COLUMN parked.attempts; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.attempts IS 'How often in a row the message failed for this cause; 0 while it only waits.';


--
-- Name: COLUMN parked.failing_since; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.failing_since IS 'When it began to fail for this cause.';


--
-- Name: COLUMN parked.retry_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.retry_at IS 'When it is retried; retry_parked makes that now.';


--
-- Name: COLUMN parked.error; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.error IS 'The latest error.';


--
-- Name: COLUMN parked.needs; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.needs IS 'What a replica has to know before it can handle the message: this type and version, or this enum value.';


--
-- Name: COLUMN parked.is_discarded; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.is_discarded IS 'Whether an operator called discard_parked: the message isn''t retried and becomes a dead letter.';


--
-- Name: COLUMN parked.parked_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.parked.parked_at IS 'When it was parked.';


--
-- Name: push; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.push (
    account uuid NOT NULL,
    device uuid NOT NULL,
    notification uuid NOT NULL,
    body json NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_error text,
    CONSTRAINT push_attempts_are_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT push_error_is_short CHECK ((length(last_error) <= 500)),
    CONSTRAINT push_failed_in_an_attempt CHECK (((last_error IS NULL) OR (attempts > 0)))
)
WITH (fillfactor='70');


ALTER TABLE notifications.push OWNER TO notifications_owner;

--
-- Name: TABLE push; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.push IS 'Push messages to be sent. Written in the transaction that delivers the notification; deleted when sent or given up.';


--
-- Name: COLUMN push.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.account IS 'The account that was notified.';


--
-- Name: COLUMN push.device; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.device IS 'The device that the push goes to.';


--
-- Name: COLUMN push.notification; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.notification IS 'The notification.';


--
-- Name: COLUMN push.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.body IS 'The message to send, with the id that each attempt uses. The device''s token is added when it is sent.';


--
-- Name: COLUMN push.created_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.created_at IS 'When the push was created. It is given up a day later.';


--
-- Name: COLUMN push.attempts; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.attempts IS 'How often it was sent, including an attempt in progress.';


--
-- Name: COLUMN push.next_attempt_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.next_attempt_at IS 'When it is sent next. During an attempt: when another replica may try.';


--
-- Name: COLUMN push.last_error; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push.last_error IS 'Why the last attempt failed.';


--
-- Name: push_attempt; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.push_attempt (
    account uuid NOT NULL,
    notification uuid NOT NULL,
    device uuid NOT NULL,
    attempt integer NOT NULL,
    began_at timestamp with time zone NOT NULL,
    took interval NOT NULL,
    result text NOT NULL,
    answer text NOT NULL,
    CONSTRAINT attempts_count_from_one CHECK ((attempt > 0)),
    CONSTRAINT push_answer_is_short CHECK ((length(answer) <= 500)),
    CONSTRAINT result_is_known CHECK ((result = ANY (ARRAY['done'::text, 'retried'::text, 'gone'::text, 'refused'::text, 'expired'::text])))
);


ALTER TABLE notifications.push_attempt OWNER TO notifications_owner;

--
-- Name: TABLE push_attempt; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.push_attempt IS 'Each attempt to push a notification to a device, kept as long as the notification. An attempt whose process was killed isn''t recorded.';


--
-- Name: COLUMN push_attempt.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.account IS 'The account that was notified.';


--
-- Name: COLUMN push_attempt.notification; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.notification IS 'The notification.';


--
-- Name: COLUMN push_attempt.device; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.device IS 'The device.';


--
-- Name: COLUMN push_attempt.attempt; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.attempt IS 'The attempt''s number, from 1.';


--
-- Name: COLUMN push_attempt.began_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.began_at IS 'When the attempt began.';


--
-- Name: COLUMN push_attempt.took; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.took IS 'How long the attempt took.';


--
-- Name: COLUMN push_attempt.result; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.result IS 'How the attempt ended: done, retried (another follows), gone (the device no longer exists), refused, or expired (given up unsent).';


--
-- Name: COLUMN push_attempt.answer; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.push_attempt.answer IS 'The push service''s answer, or why it wasn''t asked.';


--
-- Name: redaction_pass; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.redaction_pass (
    log text NOT NULL,
    partition integer NOT NULL,
    begun_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    command_id uuid,
    is_whole boolean DEFAULT true NOT NULL,
    passed_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    rows bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


ALTER TABLE notifications.redaction_pass OWNER TO notifications_owner;

--
-- Name: TABLE redaction_pass; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.redaction_pass IS 'How far each partition has been searched for rows of accounts in notifications.redaction. A pass searches it once from the beginning for all accounts noticed by then, and then follows new rows until no late ones can arrive.';


--
-- Name: COLUMN redaction_pass.log; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.log IS 'The log''s table, or outcome.';


--
-- Name: COLUMN redaction_pass.partition; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.partition IS 'The log''s partition; 0 for outcome.';


--
-- Name: COLUMN redaction_pass.begun_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.begun_at IS 'When the pass began at the first row.';


--
-- Name: COLUMN redaction_pass."position"; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass."position" IS 'The last position searched.';


--
-- Name: COLUMN redaction_pass.command_id; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.command_id IS 'For outcome, the last command searched.';


--
-- Name: COLUMN redaction_pass.is_whole; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.is_whole IS 'Whether the pass has reached the end. From then on it follows new rows until the next pass begins.';


--
-- Name: COLUMN redaction_pass.passed_until; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.passed_until IS 'All rows recorded before this time were searched in this pass.';


--
-- Name: COLUMN redaction_pass.rows; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.redaction_pass.rows IS 'How many rows the pass searched before it reached the end. The next pass begins at least as many milliseconds after this one, so that closing accounts costs little in big logs.';


--
-- Name: retention; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.retention (
    subject text NOT NULL,
    keep interval NOT NULL,
    truncate_after interval,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_by text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT retention_keeps_a_minute CHECK ((keep >= '00:01:00'::interval)),
    CONSTRAINT retention_truncates_after_keeping CHECK ((truncate_after >= keep))
);


ALTER TABLE notifications.retention OWNER TO notifications_owner;

--
-- Name: TABLE retention; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.retention IS 'How long each table''s rows are kept. Change it with notifications.set_retention.';


--
-- Name: COLUMN retention.subject; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.retention.subject IS 'The table''s name.';


--
-- Name: COLUMN retention.keep; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';


--
-- Name: COLUMN retention.truncate_after; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.retention.truncate_after IS 'Older rows of a log are deleted even if a consumer hasn''t handled them; the consumer then finds the log truncated. Null: retention waits for consumers without limit.';


--
-- Name: COLUMN retention.changed_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.retention.changed_at IS 'When this was last set.';


--
-- Name: COLUMN retention.changed_by; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.retention.changed_by IS 'The role that set it.';


--
-- Name: shown; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.shown (
    account uuid NOT NULL,
    notification uuid NOT NULL,
    device uuid NOT NULL,
    shown_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT shown_before_it_is_recorded CHECK ((shown_at <= recorded_at))
);


ALTER TABLE notifications.shown OWNER TO notifications_owner;

--
-- Name: TABLE shown; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.shown IS 'Which notifications apps reported as shown, and on which device. Kept as long as the notification.';


--
-- Name: COLUMN shown.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.shown.account IS 'The account.';


--
-- Name: COLUMN shown.notification; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.shown.notification IS 'The notification.';


--
-- Name: COLUMN shown.device; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.shown.device IS 'The device.';


--
-- Name: COLUMN shown.shown_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.shown.shown_at IS 'When it was shown, by the device''s clock, but not later than recorded_at.';


--
-- Name: COLUMN shown.recorded_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.shown.recorded_at IS 'When the app''s report was recorded.';


--
-- Name: timer; Type: TABLE; Schema: notifications; Owner: notifications_owner
--

CREATE TABLE notifications.timer (
    key text NOT NULL,
    name text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    body json NOT NULL,
    CONSTRAINT timer_has_a_name CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT timer_key_is_short CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 128))),
    CONSTRAINT timer_type_is_a_name CHECK (((length(type) >= 1) AND (length(type) <= 100))),
    CONSTRAINT timer_version_begins_at_one CHECK ((version > 0))
)
WITH (fillfactor='70');


ALTER TABLE notifications.timer OWNER TO notifications_owner;

--
-- Name: TABLE timer; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON TABLE notifications.timer IS 'Commands that notifications sends itself when they are due. The transaction that changes the state sets its timers; the one that appends the command to notifications.due deletes the timer.';


--
-- Name: COLUMN timer.key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.timer.key IS 'The command''s key.';


--
-- Name: COLUMN timer.name; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.timer.name IS 'The timer''s name. Setting a timer with the same key and name replaces it.';


--
-- Name: COLUMN timer.due_at; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.timer.due_at IS 'When the command is sent.';


--
-- Name: COLUMN timer.type; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.timer.type IS 'Name of the command''s type.';


--
-- Name: COLUMN timer.version; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.timer.version IS 'Version of the type.';


--
-- Name: COLUMN timer.body; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.timer.body IS 'The command. It says what it was set for, so one that is out of date changes nothing.';


--
-- Name: unread; Type: VIEW; Schema: notifications; Owner: notifications_owner
--

CREATE VIEW notifications.unread AS
 SELECT a.account,
    a.unread
   FROM notifications.account a
  WHERE (a.closed_at IS NULL);


ALTER TABLE notifications.unread OWNER TO notifications_owner;

--
-- Name: VIEW unread; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON VIEW notifications.unread IS 'How many unread notifications each account has.';


--
-- Name: COLUMN unread.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.unread.account IS 'The account.';


--
-- Name: COLUMN unread.unread; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.unread.unread IS 'How many notifications are neither read nor cleared.';


--
-- Name: wrong_count; Type: VIEW; Schema: notifications; Owner: notifications_owner
--

CREATE VIEW notifications.wrong_count AS
 SELECT a.account,
    a.unread,
    a.total,
    n.unread AS unread_rows,
    n.total AS total_rows
   FROM (notifications.account a
     CROSS JOIN LATERAL ( SELECT count(*) FILTER (WHERE ((n_1.read_at IS NULL) AND (n_1.cleared_at IS NULL))) AS unread,
            count(*) AS total
           FROM notifications.notification n_1
          WHERE (n_1.account = a.account)) n)
  WHERE ((a.unread IS DISTINCT FROM n.unread) OR (a.total IS DISTINCT FROM n.total));


ALTER TABLE notifications.wrong_count OWNER TO notifications_owner;

--
-- Name: VIEW wrong_count; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON VIEW notifications.wrong_count IS 'Accounts whose counts differ from their rows. Should always be empty. Reads all notifications.';


--
-- Name: COLUMN wrong_count.account; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.wrong_count.account IS 'The account.';


--
-- Name: COLUMN wrong_count.unread; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.wrong_count.unread IS 'The stored count of unread notifications.';


--
-- Name: COLUMN wrong_count.total; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.wrong_count.total IS 'The stored count of notifications.';


--
-- Name: COLUMN wrong_count.unread_rows; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.wrong_count.unread_rows IS 'How many notifications are unread.';


--
-- Name: COLUMN wrong_count.total_rows; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON COLUMN notifications.wrong_count.total_rows IS 'How many notifications there are.';


--
-- Name: account; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.account (
    account uuid NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    handle text,
    skeleton text,
    name text,
    emergency_note text NOT NULL,
    profile_version bigint NOT NULL,
    avatar json,
    phone text,
    phone_region text,
    phone_id uuid,
    phone_key text,
    is_single_device boolean NOT NULL,
    is_confirmation_required boolean NOT NULL,
    oldest_change_at timestamp with time zone,
    check_in_interval interval NOT NULL,
    reminds_two_hours boolean NOT NULL,
    reminds_thirty_minutes boolean NOT NULL,
    last_check_in_at timestamp with time zone,
    due_at timestamp with time zone,
    reminded text,
    missed_alarm uuid,
    missed_last_alarm_at timestamp with time zone,
    missed_repetitions integer NOT NULL,
    alert_raised_at timestamp with time zone,
    alert_alarm uuid,
    alert_last_alarm_at timestamp with time zone,
    alert_repetitions integer NOT NULL,
    alert_waits_until timestamp with time zone,
    alert_counted_since timestamp with time zone,
    alert_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT alert_count_is_not_negative CHECK ((alert_count >= 0)),
    CONSTRAINT alert_was_told_or_waits CHECK (
CASE
    WHEN (alert_raised_at IS NULL) THEN ((alert_last_alarm_at IS NULL) AND (alert_waits_until IS NULL))
    ELSE ((alert_last_alarm_at IS NULL) = (alert_waits_until IS NOT NULL))
END),
    CONSTRAINT check_in_interval_is_a_second_to_a_week CHECK (((check_in_interval >= '00:00:01'::interval) AND (check_in_interval <= '7 days'::interval))),
    CONSTRAINT closed_account_has_no_avatar CHECK (((closed_at IS NULL) OR (avatar IS NULL))),
    CONSTRAINT closed_account_has_no_changes CHECK (((closed_at IS NULL) OR (oldest_change_at IS NULL))),
    CONSTRAINT closed_account_has_no_phone CHECK (((closed_at IS NULL) OR (phone IS NULL))),
    CONSTRAINT closed_account_holds_nothing_of_the_person CHECK (((closed_at IS NULL) OR ((name IS NULL) AND (emergency_note = ''::text) AND (last_check_in_at IS NULL) AND (due_at IS NULL) AND (alert_raised_at IS NULL)))),
    CONSTRAINT deadline_follows_a_check_in CHECK (((due_at IS NULL) OR (due_at > last_check_in_at))),
    CONSTRAINT emergency_note_is_short CHECK ((char_length(emergency_note) <= 8000)),
    CONSTRAINT handle_has_a_skeleton CHECK (((handle IS NULL) = (skeleton IS NULL))),
    CONSTRAINT missed_check_in_was_told CHECK (((missed_alarm IS NULL) = (missed_last_alarm_at IS NULL))),
    CONSTRAINT only_a_deadline_is_missed CHECK (((missed_alarm IS NULL) OR (due_at IS NOT NULL))),
    CONSTRAINT open_account_has_a_deadline CHECK (((closed_at IS NULL) = (due_at IS NOT NULL))),
    CONSTRAINT open_account_has_a_handle CHECK (((closed_at IS NOT NULL) OR (handle IS NOT NULL))),
    CONSTRAINT phone_has_a_name CHECK ((((phone IS NULL) = (phone_id IS NULL)) AND ((phone IS NULL) = (phone_key IS NULL)))),
    CONSTRAINT phone_is_e164 CHECK ((phone ~ '^\+[1-9][0-9]{6,14}$'::text)),
    CONSTRAINT phone_key_is_a_version CHECK ((phone_key ~ '^[0-9a-f]{8}$'::text)),
    CONSTRAINT phone_region_is_two_letters CHECK ((phone_region ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT raised_alert_is_an_alarm CHECK (((alert_raised_at IS NULL) = (alert_alarm IS NULL))),
    CONSTRAINT region_is_a_phones CHECK (((phone_region IS NULL) OR (phone IS NOT NULL)))
)
WITH (fillfactor='70');


ALTER TABLE session.account OWNER TO session_owner;

--
-- Name: TABLE account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.account IS 'Every account. A closed one keeps its id permanently and its handle for a month, but no personal data.';


--
-- Name: COLUMN account.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.account IS 'The account.';


--
-- Name: COLUMN account.opened_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.opened_at IS 'When the account was opened.';


--
-- Name: COLUMN account.closed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.closed_at IS 'When the account was closed, which is permanent.';


--
-- Name: COLUMN account.handle; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.handle IS 'The unique name by which others find the account.';


--
-- Name: COLUMN account.skeleton; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.skeleton IS 'The handle''s appearance: handles that could be mistaken for each other have the same skeleton.';


--
-- Name: COLUMN account.name; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.name IS 'The person''s name; null until the account has a profile.';


--
-- Name: COLUMN account.emergency_note; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.emergency_note IS 'What responders should know in an emergency.';


--
-- Name: COLUMN account.profile_version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.profile_version IS 'How often the profile was set.';


--
-- Name: COLUMN account.avatar; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.avatar IS 'The person''s picture: Avatar of the contract. Its bytes are in session.avatar_chunk.';


--
-- Name: COLUMN account.phone; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.phone IS 'The phone number that signs in this account, in E.164 form; confirmed by a code.';


--
-- Name: COLUMN account.phone_region; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.phone_region IS 'The region in which the phone was entered: ISO 3166-1 alpha-2.';


--
-- Name: COLUMN account.phone_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.phone_id IS 'The edge''s id for the phone number, made under a key of the server so that it can''t be turned back into the number.';


--
-- Name: COLUMN account.phone_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.phone_key IS 'The version of the key under which phone_id was made. The edge replaces the id by one made under the current key.';


--
-- Name: COLUMN account.is_single_device; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.is_single_device IS 'Whether a sign-in signs out the other devices.';


--
-- Name: COLUMN account.is_confirmation_required; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.is_confirmation_required IS 'Whether sensitive actions need the password again.';


--
-- Name: COLUMN account.oldest_change_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.oldest_change_at IS 'When the oldest change in session.security_change was made. The timer that forgets it is set from this.';


--
-- Name: COLUMN account.check_in_interval; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.check_in_interval IS 'How often to check in.';


--
-- Name: COLUMN account.reminds_two_hours; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.reminds_two_hours IS 'Whether to remind two hours before the deadline.';


--
-- Name: COLUMN account.reminds_thirty_minutes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.reminds_thirty_minutes IS 'Whether to remind thirty minutes before the deadline.';


--
-- Name: COLUMN account.last_check_in_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.last_check_in_at IS 'When the last check-in was.';


--
-- Name: COLUMN account.due_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.due_at IS 'The deadline of the next check-in, or the one that was missed. The first deadline is one interval after the account was opened.';


--
-- Name: COLUMN account.reminded; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.reminded IS 'The latest reminder that was given for this deadline.';


--
-- Name: COLUMN account.missed_alarm; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.missed_alarm IS 'The alarm of the missed check-in; null if none was missed.';


--
-- Name: COLUMN account.missed_last_alarm_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.missed_last_alarm_at IS 'When responders were last alarmed about the missed check-in. Repetitions count from here, so an outage causes one and not several at once.';


--
-- Name: COLUMN account.missed_repetitions; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.missed_repetitions IS 'How often the alarm about the missed check-in was repeated.';


--
-- Name: COLUMN account.alert_raised_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_raised_at IS 'When the alert was raised; null if there is none.';


--
-- Name: COLUMN account.alert_alarm; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_alarm IS 'The alert''s alarm.';


--
-- Name: COLUMN account.alert_last_alarm_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_last_alarm_at IS 'When responders were last alarmed about the alert; null while that waits.';


--
-- Name: COLUMN account.alert_repetitions; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_repetitions IS 'How often the alarm about the alert was repeated.';


--
-- Name: COLUMN account.alert_waits_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_waits_until IS 'When responders will be alarmed about the alert, if it was delayed because too many were raised before it.';


--
-- Name: COLUMN account.alert_counted_since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_counted_since IS 'When the current count of raised alerts began.';


--
-- Name: COLUMN account.alert_count; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account.alert_count IS 'How many alerts since then alarmed responders at once.';


--
-- Name: device; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.device (
    account uuid NOT NULL,
    device uuid NOT NULL,
    name text NOT NULL,
    signed_in_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    token bytea NOT NULL,
    earlier_tokens bytea NOT NULL,
    confirmed_until timestamp with time zone,
    is_confirmed_by_password boolean DEFAULT false NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    blocked_until timestamp with time zone,
    signed_out_at timestamp with time zone,
    reason text,
    CONSTRAINT earlier_tokens_are_hashes CHECK (((octet_length(earlier_tokens) % 32) = 0)),
    CONSTRAINT failures_are_not_negative CHECK ((failures >= 0)),
    CONSTRAINT signed_out_device_is_told_why CHECK (((signed_out_at IS NULL) = (reason IS NULL))),
    CONSTRAINT token_is_a_hash CHECK ((octet_length(token) = 32))
)
WITH (fillfactor='80');


ALTER TABLE session.device OWNER TO session_owner;

--
-- Name: TABLE device; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.device IS 'Devices that signed in. The latest signed-out ones are kept, so that each can be told why it was signed out. Only session reads it.';


--
-- Name: COLUMN device.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.account IS 'The account.';


--
-- Name: COLUMN device.device; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.device IS 'The device''s id, new at each sign-in.';


--
-- Name: COLUMN device.name; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.name IS 'The name in the person''s list of devices.';


--
-- Name: COLUMN device.signed_in_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.signed_in_at IS 'When the device signed in.';


--
-- Name: COLUMN device.last_seen_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.last_seen_at IS 'When the device last refreshed its token.';


--
-- Name: COLUMN device.token; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.token IS 'The hash of the device''s refresh token.';


--
-- Name: COLUMN device.earlier_tokens; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.earlier_tokens IS 'The hashes of its earlier refresh tokens, 32 bytes each, the latest last. Using one of them shows that the token was copied.';


--
-- Name: COLUMN device.confirmed_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.confirmed_until IS 'Until when the device may do what needs a confirmation.';


--
-- Name: COLUMN device.is_confirmed_by_password; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.is_confirmed_by_password IS 'Whether it was confirmed by the password; otherwise by a code sent to the phone.';


--
-- Name: COLUMN device.failures; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.failures IS 'How many wrong passwords in a row were given on this device while signed in. Others are counted in session.sign_in_attempt.';


--
-- Name: COLUMN device.blocked_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.blocked_until IS 'Until when no password is checked on this device.';


--
-- Name: COLUMN device.signed_out_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.signed_out_at IS 'When the device was signed out.';


--
-- Name: COLUMN device.reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device.reason IS 'Why it was signed out.';


--
-- Name: recovery; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.recovery (
    account uuid NOT NULL,
    hashes bytea NOT NULL,
    made_at timestamp with time zone NOT NULL,
    CONSTRAINT recovery_codes_are_at_most_ten_hashes CHECK ((((octet_length(hashes) % 32) = 0) AND (octet_length(hashes) <= 320)))
)
WITH (fillfactor='80');


ALTER TABLE session.recovery OWNER TO session_owner;

--
-- Name: TABLE recovery; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.recovery IS 'The recovery codes that are still valid. Only session reads it.';


--
-- Name: COLUMN recovery.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.recovery.account IS 'The account.';


--
-- Name: COLUMN recovery.hashes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.recovery.hashes IS 'SHA-256 of each code''s proof, 32 bytes each. The hash of a used code is removed.';


--
-- Name: COLUMN recovery.made_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.recovery.made_at IS 'When the codes were made.';


--
-- Name: account_state; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.account_state AS
 SELECT a.account,
        CASE
            WHEN (a.closed_at IS NULL) THEN json_strip_nulls(json_build_object('account', a.account, 'handle', a.handle, 'name', a.name, 'emergencyNote', a.emergency_note, 'profileVersion', a.profile_version, 'phone',
            CASE
                WHEN (a.phone IS NOT NULL) THEN json_build_object('number', a.phone, 'region', a.phone_region)
                ELSE NULL::json
            END, 'avatar', a.avatar, 'onboarding',
            CASE
                WHEN (a.name IS NULL) THEN 'needsProfile'::text
                ELSE 'done'::text
            END, 'isSingleDevice', a.is_single_device, 'isConfirmationRequired', a.is_confirmation_required, 'recoveryCodes', COALESCE(( SELECT (octet_length(r.hashes) / 32)
               FROM session.recovery r
              WHERE (r.account = a.account)), 0), 'checkIn', json_build_object('interval', ((EXTRACT(epoch FROM a.check_in_interval) * (1000000)::numeric))::bigint, 'reminders', array_remove(ARRAY[
            CASE
                WHEN a.reminds_two_hours THEN 'twoHours'::text
                ELSE NULL::text
            END,
            CASE
                WHEN a.reminds_thirty_minutes THEN 'thirtyMinutes'::text
                ELSE NULL::text
            END], NULL::text), 'last', session.microseconds(a.last_check_in_at), 'due', session.microseconds(a.due_at), 'missed', (a.missed_alarm IS NOT NULL), 'alarm', a.missed_alarm), 'alertRaised', session.microseconds(a.alert_raised_at), 'alertAlarm', a.alert_alarm, 'devices', COALESCE(( SELECT json_agg(json_build_object('id', d.device, 'name', d.name, 'signedIn', session.microseconds(d.signed_in_at), 'lastSeen', session.microseconds(d.last_seen_at)) ORDER BY d.device) AS json_agg
               FROM session.device d
              WHERE ((d.account = a.account) AND (d.signed_out_at IS NULL))), '[]'::json), 'isClosed', false))
            ELSE json_build_object('account', a.account, 'emergencyNote', '', 'profileVersion', 0, 'isSingleDevice', false, 'isConfirmationRequired', false, 'recoveryCodes', 0, 'checkIn', json_build_object('interval', '86400000000'::bigint, 'reminders', ARRAY['twoHours'::text, 'thirtyMinutes'::text], 'missed', false), 'devices', '[]'::json, 'isClosed', true)
        END AS state
   FROM session.account a;


ALTER TABLE session.account_state OWNER TO session_owner;

--
-- Name: VIEW account_state; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.account_state IS 'The state of the stream account/<account>, as JSON, without secrets. Read it together with the log''s position, in one statement.';


--
-- Name: COLUMN account_state.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account_state.account IS 'The account.';


--
-- Name: COLUMN account_state.state; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.account_state.state IS 'AccountState of the contract, with times in microseconds.';


--
-- Name: attachment; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.attachment (
    group_id uuid NOT NULL,
    account uuid NOT NULL,
    hash bytea NOT NULL,
    content uuid NOT NULL,
    size integer NOT NULL,
    renewed_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    CONSTRAINT hash_is_a_sha_256 CHECK ((octet_length(hash) = 32)),
    CONSTRAINT size_is_at_most_a_hundred_megabytes CHECK (((size >= 1) AND (size <= 104857600)))
)
WITH (fillfactor='80');


ALTER TABLE session.attachment OWNER TO session_owner;

--
-- Name: TABLE attachment; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.attachment IS 'Attachments of group sessions, those that are being uploaded too. Gone when the session is over; their bytes follow.';


--
-- Name: COLUMN attachment.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.group_id IS 'The session.';


--
-- Name: COLUMN attachment.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.account IS 'The uploader, who may have left.';


--
-- Name: COLUMN attachment.hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.hash IS 'Its id: the SHA-256 of the hashes of its chunks.';


--
-- Name: COLUMN attachment.content; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.content IS 'Names its bytes in attachment_chunk.';


--
-- Name: COLUMN attachment.size; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.size IS 'In bytes.';


--
-- Name: COLUMN attachment.renewed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.renewed_at IS 'When it was begun, or when chunks were adopted last.';


--
-- Name: COLUMN attachment.completed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment.completed_at IS 'Since when others see it; NULL while it is being uploaded.';


--
-- Name: attachment_chunk; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.attachment_chunk (
    content uuid NOT NULL,
    number integer NOT NULL,
    hash bytea NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT chunk_is_small CHECK (((octet_length(bytes) >= 1) AND (octet_length(bytes) <= 65536))),
    CONSTRAINT hash_is_that_of_the_bytes CHECK ((hash = sha256(bytes))),
    CONSTRAINT number_is_zero_to_1599 CHECK (((number >= 0) AND (number <= 1599)))
);
ALTER TABLE ONLY session.attachment_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;


ALTER TABLE session.attachment_chunk OWNER TO session_owner;

--
-- Name: TABLE attachment_chunk; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.attachment_chunk IS 'The bytes of attachments, copied from session_client.upload_chunk.';


--
-- Name: COLUMN attachment_chunk.content; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_chunk.content IS 'Whose bytes: attachment.content.';


--
-- Name: COLUMN attachment_chunk.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_chunk.number IS 'The chunk''s number, from 0.';


--
-- Name: COLUMN attachment_chunk.hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_chunk.hash IS 'SHA-256 of the chunk.';


--
-- Name: COLUMN attachment_chunk.bytes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_chunk.bytes IS '64 KiB, or what is left.';


--
-- Name: attachment_description; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.attachment_description (
    group_id uuid NOT NULL,
    account uuid NOT NULL,
    hash bytea NOT NULL,
    name text NOT NULL,
    content_type text NOT NULL,
    metadata json,
    CONSTRAINT content_type_is_short CHECK (((octet_length(content_type) >= 3) AND (octet_length(content_type) <= 127))),
    CONSTRAINT metadata_is_an_object CHECK ((json_typeof(metadata) = 'object'::text)),
    CONSTRAINT metadata_is_at_most_four_kilobytes CHECK ((octet_length((metadata)::text) <= 4096)),
    CONSTRAINT name_is_at_most_255_bytes CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 255)))
);


ALTER TABLE session.attachment_description OWNER TO session_owner;

--
-- Name: TABLE attachment_description; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.attachment_description IS 'What complete attachments are. Written once.';


--
-- Name: COLUMN attachment_description.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_description.group_id IS 'The session.';


--
-- Name: COLUMN attachment_description.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_description.account IS 'The uploader.';


--
-- Name: COLUMN attachment_description.hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_description.hash IS 'The attachment''s id.';


--
-- Name: COLUMN attachment_description.name; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_description.name IS 'The file''s name.';


--
-- Name: COLUMN attachment_description.content_type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_description.content_type IS 'Its media type, as its uploader says.';


--
-- Name: COLUMN attachment_description.metadata; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attachment_description.metadata IS 'Whatever the app says about it.';


--
-- Name: attempt; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.attempt (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    epoch bigint NOT NULL,
    owner uuid NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='70');


ALTER TABLE session.attempt OWNER TO session_owner;

--
-- Name: TABLE attempt; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.attempt IS 'Messages that a worker is about to handle, recorded in a transaction of its own before the attempt: after a lease that wasn''t given back, and for parked messages. The row is deleted when the message is handled or fails. A message whose handling ended three leases in a row isn''t tried a fourth time.';


--
-- Name: COLUMN attempt.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attempt.source IS 'The log, as schema.table.';


--
-- Name: COLUMN attempt.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attempt.partition IS 'The log''s partition.';


--
-- Name: COLUMN attempt."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attempt."position" IS 'The message''s position there.';


--
-- Name: COLUMN attempt.epoch; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attempt.epoch IS 'The epoch of the worker''s lease. If the partition''s lease has a later epoch, this lease ended during the attempt.';


--
-- Name: COLUMN attempt.owner; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attempt.owner IS 'The worker that held the lease.';


--
-- Name: COLUMN attempt.began_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.attempt.began_at IS 'When the attempt began.';


--
-- Name: avatar_chunk; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.avatar_chunk (
    account uuid NOT NULL,
    number integer NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT chunk_is_small CHECK (((octet_length(bytes) >= 1) AND (octet_length(bytes) <= 65536))),
    CONSTRAINT number_begins_at_zero CHECK ((number >= 0))
);
ALTER TABLE ONLY session.avatar_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;


ALTER TABLE session.avatar_chunk OWNER TO session_owner;

--
-- Name: TABLE avatar_chunk; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.avatar_chunk IS 'The bytes of people''s pictures, copied from session_client.upload.';


--
-- Name: COLUMN avatar_chunk.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.avatar_chunk.account IS 'The account.';


--
-- Name: COLUMN avatar_chunk.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.avatar_chunk.number IS 'The chunk''s number, from 0.';


--
-- Name: COLUMN avatar_chunk.bytes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.avatar_chunk.bytes IS 'At most 64 KiB of the picture.';


--
-- Name: batch; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.batch (
    source text NOT NULL,
    partition integer NOT NULL,
    number session.batch_number NOT NULL,
    "position" session.batch_position NOT NULL,
    owner uuid NOT NULL,
    epoch bigint NOT NULL,
    given_time timestamp with time zone NOT NULL,
    messages session.batch_messages NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session.batch OWNER TO session_owner;

--
-- Name: TABLE batch; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.batch IS 'One row per transaction that handled messages of a partition. The newest one says how far session has come; the others are its throughput history.';


--
-- Name: COLUMN batch.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.source IS 'The log, as schema.table.';


--
-- Name: COLUMN batch.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.partition IS 'The log''s partition.';


--
-- Name: COLUMN batch.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.number IS 'The previous batch''s number plus one.';


--
-- Name: COLUMN batch."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch."position" IS 'Everything up to this position of the log is handled.';


--
-- Name: COLUMN batch.owner; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.owner IS 'The worker that committed the batch.';


--
-- Name: COLUMN batch.epoch; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.epoch IS 'The epoch of the worker''s lease.';


--
-- Name: COLUMN batch.given_time; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.given_time IS 'The time that the rules were given; never less than in the previous batch.';


--
-- Name: COLUMN batch.messages; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.batch.messages IS 'How many messages the batch handled.';


--
-- Name: credential; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.credential (
    account uuid NOT NULL,
    key text NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT hash_is_a_sha_256 CHECK ((octet_length(hash) = 32)),
    CONSTRAINT key_is_a_version CHECK ((key ~ '^[0-9a-f]{8}$'::text))
);


ALTER TABLE session.credential OWNER TO session_owner;

--
-- Name: TABLE credential; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.credential IS 'Verifiers of passwords. Only session reads it.';


--
-- Name: COLUMN credential.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.credential.account IS 'The account.';


--
-- Name: COLUMN credential.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.credential.key IS 'The version of the server''s key under which the verifier was made. It is made again under the current key when the person next gives the password.';


--
-- Name: COLUMN credential.hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.credential.hash IS 'SHA-256 of the key that the edge derived from the password.';


--
-- Name: dead_letter; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.dead_letter (
    message_id uuid NOT NULL,
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    command_id uuid,
    correlation_id uuid,
    trace_parent text,
    code text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    died_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dead_letter_code_is_known CHECK ((code = ANY (ARRAY['error'::text, 'crashed'::text, 'discarded'::text])))
);


ALTER TABLE session.dead_letter OWNER TO session_owner;

--
-- Name: TABLE dead_letter; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.dead_letter IS 'Messages that kept failing, set aside with their error. The outcome of such a command is failed; session_client can send it again.';


--
-- Name: COLUMN dead_letter.message_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.message_id IS 'The message''s id.';


--
-- Name: COLUMN dead_letter.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.source IS 'The log, as schema.table.';


--
-- Name: COLUMN dead_letter.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.partition IS 'The log''s partition.';


--
-- Name: COLUMN dead_letter."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter."position" IS 'The message''s position there.';


--
-- Name: COLUMN dead_letter.kind; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.kind IS 'command, or event (of a policy, discarded by an operator).';


--
-- Name: COLUMN dead_letter.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.type IS 'Name of the body''s type.';


--
-- Name: COLUMN dead_letter.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.version IS 'Version of the type.';


--
-- Name: COLUMN dead_letter.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.key IS 'The message''s key.';


--
-- Name: COLUMN dead_letter.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.account IS 'The account that asked.';


--
-- Name: COLUMN dead_letter.body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.body IS 'The message as it was.';


--
-- Name: COLUMN dead_letter.command_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.command_id IS 'The command''s id; its outcome is failed.';


--
-- Name: COLUMN dead_letter.correlation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.correlation_id IS 'The request that the message belonged to.';


--
-- Name: COLUMN dead_letter.trace_parent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN dead_letter.code; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator).';


--
-- Name: COLUMN dead_letter.error; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.error IS 'The last error.';


--
-- Name: COLUMN dead_letter.attempts; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.attempts IS 'How often it was tried.';


--
-- Name: COLUMN dead_letter.died_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.dead_letter.died_at IS 'When it was given up.';


--
-- Name: deleted_content; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.deleted_content (
    content uuid NOT NULL,
    deleted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


ALTER TABLE session.deleted_content OWNER TO session_owner;

--
-- Name: TABLE deleted_content; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.deleted_content IS 'Bytes of attachments that are gone. Retention deletes them in pieces.';


--
-- Name: COLUMN deleted_content.content; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.deleted_content.content IS 'Names them in attachment_chunk.';


--
-- Name: COLUMN deleted_content.deleted_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.deleted_content.deleted_at IS 'When the attachment was removed.';


--
-- Name: device_status; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.device_status AS
 SELECT d.account,
    d.device,
    (d.signed_out_at IS NULL) AS active,
    d.reason
   FROM session.device d;


ALTER TABLE session.device_status OWNER TO session_owner;

--
-- Name: VIEW device_status; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.device_status IS 'Whether a device is signed in. A device that isn''t listed isn''t signed in.';


--
-- Name: COLUMN device_status.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device_status.account IS 'The account.';


--
-- Name: COLUMN device_status.device; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device_status.device IS 'The device.';


--
-- Name: COLUMN device_status.active; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device_status.active IS 'Whether the device is signed in.';


--
-- Name: COLUMN device_status.reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.device_status.reason IS 'Why the device was signed out.';


--
-- Name: edge; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.edge (
    edge uuid NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    reconsidered_at timestamp with time zone
)
WITH (fillfactor='50');


ALTER TABLE session.edge OWNER TO session_owner;

--
-- Name: TABLE edge; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.edge IS 'Edge processes that say which participants are connected. One whose lease ended goes with its last connection.';


--
-- Name: COLUMN edge.edge; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.edge.edge IS 'The process, another id at each start.';


--
-- Name: COLUMN edge.lease_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.edge.lease_until IS 'When its lease ends, unless it is renewed.';


--
-- Name: COLUMN edge.ended_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.edge.ended_at IS 'When the lease ended.';


--
-- Name: COLUMN edge.reconsidered_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.edge.reconsidered_at IS 'Not before then is it decided again that the lease ended: a command that waited may have renewed it. NULL unless one waited.';


--
-- Name: game; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.game (
    group_id uuid NOT NULL,
    number integer NOT NULL,
    version bigint NOT NULL,
    author uuid NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    turn_field text,
    state json NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT each_game_has_a_version CHECK ((version >= number)),
    CONSTRAINT game_number_begins_at_one CHECK ((number > 0)),
    CONSTRAINT state_is_an_object CHECK ((json_typeof(state) = 'object'::text)),
    CONSTRAINT state_is_at_most_thirty_two_kilobytes CHECK ((octet_length((state)::text) <= 32768)),
    CONSTRAINT turn_field_is_short CHECK (((octet_length(turn_field) >= 1) AND (octet_length(turn_field) <= 64)))
)
WITH (fillfactor='70');


ALTER TABLE session.game OWNER TO session_owner;

--
-- Name: TABLE game; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.game IS 'The game that is played in a group session, or was played last. Gone when the session is over.';


--
-- Name: COLUMN game.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.group_id IS 'The session.';


--
-- Name: COLUMN game.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.number IS 'Counts the games of the session.';


--
-- Name: COLUMN game.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.version IS 'Counts every start, move and end in the session, without gaps.';


--
-- Name: COLUMN game.author; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.author IS 'Who made this version.';


--
-- Name: COLUMN game.updated_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.updated_at IS 'When this version was made.';


--
-- Name: COLUMN game.starts_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.starts_at IS 'From when on moves are taken.';


--
-- Name: COLUMN game.turn_field; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.turn_field IS 'The member of the state that names the account whose turn it is.';


--
-- Name: COLUMN game.state; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.state IS 'Whatever the game keeps.';


--
-- Name: COLUMN game.finished_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.game.finished_at IS 'When it was finished.';


--
-- Name: group_activity; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.group_activity (
    group_id uuid NOT NULL,
    activity json NOT NULL,
    CONSTRAINT activity_is_at_most_forty_kilobytes CHECK ((octet_length((activity)::text) <= 40960))
);


ALTER TABLE session.group_activity OWNER TO session_owner;

--
-- Name: TABLE group_activity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.group_activity IS 'What group sessions are for. Written once.';


--
-- Name: COLUMN group_activity.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_activity.group_id IS 'The session.';


--
-- Name: COLUMN group_activity.activity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_activity.activity IS 'Activity of the contract.';


--
-- Name: group_attachment; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.group_attachment AS
 SELECT t.group_id,
    t.hash,
    t.content,
    t.size,
    d.name,
    d.content_type
   FROM (session.attachment t
     JOIN session.attachment_description d ON (((d.group_id = t.group_id) AND (d.account = t.account) AND (d.hash = t.hash))))
  WHERE (t.completed_at IS NOT NULL);


ALTER TABLE session.group_attachment OWNER TO session_owner;

--
-- Name: VIEW group_attachment; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.group_attachment IS 'Complete attachments of group sessions, to download.';


--
-- Name: COLUMN group_attachment.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_attachment.group_id IS 'The session.';


--
-- Name: COLUMN group_attachment.hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_attachment.hash IS 'Its id: the SHA-256 of the hashes of its chunks.';


--
-- Name: COLUMN group_attachment.content; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_attachment.content IS 'Names its bytes in attachment_chunk.';


--
-- Name: COLUMN group_attachment.size; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_attachment.size IS 'In bytes.';


--
-- Name: COLUMN group_attachment.name; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_attachment.name IS 'The file''s name.';


--
-- Name: COLUMN group_attachment.content_type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_attachment.content_type IS 'Its media type, as its uploader says.';


--
-- Name: group_checkpoint; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.group_checkpoint (
    group_id uuid NOT NULL,
    "position" bigint NOT NULL,
    state json NOT NULL
);


ALTER TABLE session.group_checkpoint OWNER TO session_owner;

--
-- Name: TABLE group_checkpoint; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.group_checkpoint IS 'The states of group sessions at the positions where stretches begin.';


--
-- Name: COLUMN group_checkpoint.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_checkpoint.group_id IS 'The session.';


--
-- Name: COLUMN group_checkpoint."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_checkpoint."position" IS 'The position in the partition of session.log.';


--
-- Name: COLUMN group_checkpoint.state; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_checkpoint.state IS 'What session.group_state published at this position.';


--
-- Name: group_connection; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.group_connection (
    group_id uuid NOT NULL,
    connection uuid NOT NULL,
    account uuid NOT NULL,
    edge uuid NOT NULL
)
WITH (fillfactor='80');


ALTER TABLE session.group_connection OWNER TO session_owner;

--
-- Name: TABLE group_connection; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.group_connection IS 'Connections by which participants follow group sessions. A participant without one is away.';


--
-- Name: COLUMN group_connection.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_connection.group_id IS 'The session.';


--
-- Name: COLUMN group_connection.connection; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_connection.connection IS 'Which connection of the edge process.';


--
-- Name: COLUMN group_connection.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_connection.account IS 'The participant.';


--
-- Name: COLUMN group_connection.edge; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_connection.edge IS 'The edge process that has it.';


--
-- Name: group_message; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.group_message (
    group_id uuid NOT NULL,
    number bigint NOT NULL,
    sender uuid NOT NULL,
    recipients json,
    type text,
    data json,
    sent_at timestamp with time zone NOT NULL,
    byte_offset bigint NOT NULL,
    CONSTRAINT data_is_at_most_forty_five_thousand_bytes CHECK ((octet_length((data)::text) <= 45000)),
    CONSTRAINT emptied_message_has_nothing CHECK (((type IS NOT NULL) OR ((data IS NULL) AND (recipients IS NULL)))),
    CONSTRAINT message_number_begins_at_one CHECK ((number > 0)),
    CONSTRAINT offset_begins_at_zero CHECK ((byte_offset >= 0)),
    CONSTRAINT recipients_are_an_array CHECK ((json_typeof(recipients) = 'array'::text)),
    CONSTRAINT type_is_a_name CHECK ((type ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'::text))
);


ALTER TABLE session.group_message OWNER TO session_owner;

--
-- Name: TABLE group_message; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.group_message IS 'The messages that group sessions keep. Numbers have no gaps between the oldest and the newest one.';


--
-- Name: COLUMN group_message.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.group_id IS 'The session.';


--
-- Name: COLUMN group_message.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.number IS 'Counts the messages of the session, from 1.';


--
-- Name: COLUMN group_message.sender; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.sender IS 'The sender.';


--
-- Name: COLUMN group_message.recipients; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.recipients IS 'The accounts that may read it besides the sender. NULL if everyone in the session may.';


--
-- Name: COLUMN group_message.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.type IS 'What it is. NULL if it was emptied because its sender''s account was closed.';


--
-- Name: COLUMN group_message.data; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.data IS 'The content, as the app sent it.';


--
-- Name: COLUMN group_message.sent_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.sent_at IS 'When.';


--
-- Name: COLUMN group_message.byte_offset; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_message.byte_offset IS 'How many bytes the session''s earlier messages had. Tells which ones are too old to be kept.';


--
-- Name: participant; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.participant (
    group_id uuid NOT NULL,
    account uuid NOT NULL,
    activity text NOT NULL,
    status text NOT NULL,
    since timestamp with time zone NOT NULL,
    reason text,
    invited_by uuid,
    ordinal integer NOT NULL,
    seat integer,
    dropped_at timestamp with time zone,
    is_drop_announced boolean NOT NULL,
    reconsidered_at timestamp with time zone,
    version bigint NOT NULL,
    is_ready boolean NOT NULL,
    suspended_at timestamp with time zone,
    suspended_until timestamp with time zone,
    suspension_reason text,
    suspension_limit integer,
    CONSTRAINT announced_drop_has_a_time CHECK (((NOT is_drop_announced) OR (dropped_at IS NOT NULL))),
    CONSTRAINT invitation_has_an_inviter CHECK (((status <> 'waiting'::text) OR (invited_by IS NOT NULL))),
    CONSTRAINT only_who_can_be_ready_is_waited_for CHECK (((suspended_at IS NULL) OR is_ready)),
    CONSTRAINT only_who_is_away_is_reconsidered CHECK (((reconsidered_at IS NULL) OR (dropped_at IS NOT NULL))),
    CONSTRAINT only_who_is_in_can_be_away CHECK (((dropped_at IS NULL) OR (status = 'joined'::text))),
    CONSTRAINT only_who_is_in_can_be_ready CHECK (((NOT is_ready) OR (status = 'joined'::text))),
    CONSTRAINT only_who_is_in_has_a_seat CHECK (((seat IS NULL) OR (status = 'joined'::text))),
    CONSTRAINT only_who_left_may_return CHECK (((invited_by IS NULL) OR (reason IS NULL) OR (reason = ANY (ARRAY['left'::text, 'dropped'::text])))),
    CONSTRAINT ordinal_is_not_negative CHECK ((ordinal >= 0)),
    CONSTRAINT reason_is_known CHECK ((reason = ANY (ARRAY['left'::text, 'removed'::text, 'dropped'::text, 'ended'::text, 'accountClosed'::text]))),
    CONSTRAINT seat_is_a_number CHECK (((seat >= 0) AND (seat <= 31))),
    CONSTRAINT status_is_known CHECK ((status = ANY (ARRAY['waiting'::text, 'joined'::text, 'invalidated'::text]))),
    CONSTRAINT suspension_has_an_end_and_a_reason CHECK ((num_nulls(suspended_at, suspended_until, suspension_reason) = ANY (ARRAY[0, 3]))),
    CONSTRAINT suspension_has_no_limit_without_a_reason CHECK (((suspension_limit IS NULL) OR (suspension_reason IS NOT NULL))),
    CONSTRAINT suspension_lasts_thirty_seconds_at_most CHECK (((suspended_until > suspended_at) AND (suspended_until <= (suspended_at + '00:00:30'::interval)))),
    CONSTRAINT suspension_limit_is_one_to_a_hundred CHECK (((suspension_limit >= 1) AND (suspension_limit <= 100))),
    CONSTRAINT suspension_reason_is_known CHECK ((suspension_reason = ANY (ARRAY['stalled'::text, 'scrubbing'::text, 'choosing'::text, 'interrupted'::text, 'interstitial'::text, 'actionNeeded'::text, 'unavailable'::text]))),
    CONSTRAINT version_is_not_negative CHECK ((version >= 0)),
    CONSTRAINT who_is_in_has_joined CHECK (((status <> 'joined'::text) OR (ordinal > 0))),
    CONSTRAINT who_is_out_knows_why CHECK (((status = 'invalidated'::text) = (reason IS NOT NULL)))
)
WITH (fillfactor='80');


ALTER TABLE session.participant OWNER TO session_owner;

--
-- Name: TABLE participant; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.participant IS 'Who is in a group session, was in it, or is invited. An account has one row in a session, however often it joins.';


--
-- Name: COLUMN participant.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.group_id IS 'The session.';


--
-- Name: COLUMN participant.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.account IS 'Who.';


--
-- Name: COLUMN participant.activity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.activity IS 'The session''s activity.';


--
-- Name: COLUMN participant.status; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.status IS 'Whether they are invited (waiting), in (joined), or neither any more (invalidated).';


--
-- Name: COLUMN participant.since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.since IS 'Since when.';


--
-- Name: COLUMN participant.reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.reason IS 'Why they aren''t in or invited any more.';


--
-- Name: COLUMN participant.invited_by; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.invited_by IS 'By whose invitation they may enter, now or again: the host who invited or let them in, or the creator themselves. NULL for who would need another invitation.';


--
-- Name: COLUMN participant.ordinal; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.ordinal IS 'The number of their joining among all of the session. 0 before they joined.';


--
-- Name: COLUMN participant.seat; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.seat IS 'Their seat.';


--
-- Name: COLUMN participant.dropped_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.dropped_at IS 'Since when no connection of theirs is known. NULL while there is one.';


--
-- Name: COLUMN participant.is_drop_announced; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.is_drop_announced IS 'Whether others were told.';


--
-- Name: COLUMN participant.reconsidered_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.reconsidered_at IS 'Not before then is it decided again that they are away: a command that waited may have said that they are back. NULL unless one waited.';


--
-- Name: COLUMN participant.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.version IS 'How often their name or picture changed since they joined.';


--
-- Name: COLUMN participant.is_ready; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.is_ready IS 'Whether they said that they can be ready, so that the group waits if they ask.';


--
-- Name: COLUMN participant.suspended_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.suspended_at IS 'Since when the group waits for them. NULL if it doesn''t.';


--
-- Name: COLUMN participant.suspended_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.suspended_until IS 'When it stops waiting.';


--
-- Name: COLUMN participant.suspension_reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.suspension_reason IS 'Why it waits.';


--
-- Name: COLUMN participant.suspension_limit; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.participant.suspension_limit IS 'It waits while at most so many people are in it; NULL for any number.';


--
-- Name: group_participant; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.group_participant AS
 SELECT p.group_id,
    p.account,
    p.status,
    p.since,
    p.reason
   FROM session.participant p;


ALTER TABLE session.group_participant OWNER TO session_owner;

--
-- Name: VIEW group_participant; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.group_participant IS 'How accounts stand to group sessions: decides who may read one.';


--
-- Name: COLUMN group_participant.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_participant.group_id IS 'The session.';


--
-- Name: COLUMN group_participant.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_participant.account IS 'Who.';


--
-- Name: COLUMN group_participant.status; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_participant.status IS 'Whether they are invited (waiting), in (joined), or neither any more (invalidated).';


--
-- Name: COLUMN group_participant.since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_participant.since IS 'Since when.';


--
-- Name: COLUMN group_participant.reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_participant.reason IS 'Why they aren''t in or invited any more.';


--
-- Name: group_session; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.group_session (
    group_id uuid NOT NULL,
    creator uuid NOT NULL,
    activity text NOT NULL,
    capacity integer NOT NULL,
    seats integer NOT NULL,
    is_open_to_contacts boolean NOT NULL,
    host uuid,
    joins integer NOT NULL,
    empty_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    end_reason text,
    ended_by uuid,
    CONSTRAINT activity_is_a_name CHECK ((activity ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'::text)),
    CONSTRAINT capacity_is_one_to_a_hundred CHECK (((capacity >= 1) AND (capacity <= 100))),
    CONSTRAINT creator_joined CHECK ((joins > 0)),
    CONSTRAINT end_has_a_reason CHECK (((ended_at IS NULL) = (end_reason IS NULL))),
    CONSTRAINT end_reason_is_known CHECK ((end_reason = ANY (ARRAY['ended'::text, 'expired'::text]))),
    CONSTRAINT seats_are_at_most_thirty_two CHECK (((seats >= 0) AND (seats <= 32))),
    CONSTRAINT session_has_a_host_while_somebody_is_in_it CHECK (((host IS NULL) = ((empty_since IS NOT NULL) OR (ended_at IS NOT NULL)))),
    CONSTRAINT session_of_one_is_open_to_nobody CHECK (((capacity > 1) OR (NOT is_open_to_contacts))),
    CONSTRAINT session_that_is_over_waits_for_nobody CHECK (((ended_at IS NULL) OR (empty_since IS NULL))),
    CONSTRAINT somebody_ended_it CHECK (((NOT (end_reason IS DISTINCT FROM 'ended'::text)) = (ended_by IS NOT NULL)))
)
WITH (fillfactor='80');


ALTER TABLE session.group_session OWNER TO session_owner;

--
-- Name: TABLE group_session; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.group_session IS 'Group sessions. One that is over is kept for a while, so that late commands are refused with the reason.';


--
-- Name: COLUMN group_session.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.group_id IS 'Its id, derived from the command that created it.';


--
-- Name: COLUMN group_session.creator; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.creator IS 'The creator.';


--
-- Name: COLUMN group_session.activity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.activity IS 'The app''s identifier of the activity.';


--
-- Name: COLUMN group_session.capacity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.capacity IS 'The most participants. 1 for a person''s own devices.';


--
-- Name: COLUMN group_session.seats; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.seats IS 'The number of seats, numbered from 0.';


--
-- Name: COLUMN group_session.is_open_to_contacts; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.is_open_to_contacts IS 'Whether contacts of the host may join without an invitation.';


--
-- Name: COLUMN group_session.host; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.host IS 'The participant who is the host; NULL while nobody is in it.';


--
-- Name: COLUMN group_session.joins; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.joins IS 'The number of joins so far.';


--
-- Name: COLUMN group_session.empty_since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.empty_since IS 'When the last participant left; NULL while someone is in it.';


--
-- Name: COLUMN group_session.created_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.created_at IS 'When it began.';


--
-- Name: COLUMN group_session.ended_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.ended_at IS 'When it ended.';


--
-- Name: COLUMN group_session.end_reason; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.end_reason IS 'Why it ended.';


--
-- Name: COLUMN group_session.ended_by; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_session.ended_by IS 'The account that ended it; NULL if it expired.';


--
-- Name: playback; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.playback (
    group_id uuid NOT NULL,
    version bigint NOT NULL,
    author uuid NOT NULL,
    item json,
    is_playing boolean NOT NULL,
    is_waiting boolean NOT NULL,
    rate integer NOT NULL,
    "position" interval NOT NULL,
    anchor timestamp with time zone NOT NULL,
    CONSTRAINT current_item_is_at_most_two_kilobytes CHECK ((octet_length((item)::text) <= 2048)),
    CONSTRAINT only_an_item_plays CHECK (((item IS NOT NULL) OR (NOT is_playing))),
    CONSTRAINT playback_version_begins_at_one CHECK ((version > 0)),
    CONSTRAINT position_is_at_most_thirty_days CHECK ((("position" >= '00:00:00'::interval) AND ("position" <= '30 days'::interval))),
    CONSTRAINT rate_is_a_quarter_to_four CHECK (((rate >= 250) AND (rate <= 4000)))
)
WITH (fillfactor='70');


ALTER TABLE session.playback OWNER TO session_owner;

--
-- Name: TABLE playback; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.playback IS 'What group sessions play, and where everybody is in it. A session has a row once something was played.';


--
-- Name: COLUMN playback.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.group_id IS 'The session.';


--
-- Name: COLUMN playback.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.version IS 'Counts every change, without gaps.';


--
-- Name: COLUMN playback.author; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.author IS 'Who made this version.';


--
-- Name: COLUMN playback.item; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.item IS 'The current item: PlaybackItem of the contract. NULL for none.';


--
-- Name: COLUMN playback.is_playing; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.is_playing IS 'Whether the group wants it to play.';


--
-- Name: COLUMN playback.is_waiting; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.is_waiting IS 'Whether it stands still because of a suspension.';


--
-- Name: COLUMN playback.rate; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.rate IS 'How fast, in thousandths of the normal speed.';


--
-- Name: COLUMN playback."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback."position" IS 'The position in the item until the anchor.';


--
-- Name: COLUMN playback.anchor; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.playback.anchor IS 'From when on the position moves, if it does.';


--
-- Name: queue_item; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.queue_item (
    group_id uuid NOT NULL,
    item_id uuid NOT NULL,
    rank bigint NOT NULL,
    item json NOT NULL,
    CONSTRAINT queued_item_is_at_most_two_kilobytes CHECK ((octet_length((item)::text) <= 2048)),
    CONSTRAINT rank_is_far_from_overflow CHECK ((abs(rank) < '9007199254740992'::bigint))
);


ALTER TABLE session.queue_item OWNER TO session_owner;

--
-- Name: TABLE queue_item; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.queue_item IS 'What group sessions play next: at most 100 items each.';


--
-- Name: COLUMN queue_item.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.queue_item.group_id IS 'The session.';


--
-- Name: COLUMN queue_item.item_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.queue_item.item_id IS 'The item''s id, given by whoever added it.';


--
-- Name: COLUMN queue_item.rank; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.queue_item.rank IS 'The least plays next. Ranks have gaps, and may be negative.';


--
-- Name: COLUMN queue_item.item; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.queue_item.item IS 'PlaybackItem of the contract.';


--
-- Name: group_state; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.group_state AS
 SELECT g.group_id,
    session.with_member(session.with_member(session.with_member(json_strip_nulls(json_build_object('group', g.group_id, 'creator', g.creator, 'capacity', g.capacity, 'seats', g.seats, 'isOpenToContacts', g.is_open_to_contacts, 'host', g.host, 'participants', COALESCE(( SELECT json_agg(json_build_object('id', p.account, 'ordinal', p.ordinal, 'joined', session.microseconds(p.since), 'awaySince',
                CASE
                    WHEN p.is_drop_announced THEN session.microseconds(p.dropped_at)
                    ELSE NULL::bigint
                END, 'seat', p.seat, 'version', p.version, 'isReady', p.is_ready, 'suspension',
                CASE
                    WHEN (p.suspended_at IS NOT NULL) THEN json_build_object('reason', p.suspension_reason, 'since', session.microseconds(p.suspended_at), 'until', session.microseconds(p.suspended_until), 'participantLimit', p.suspension_limit)
                    ELSE NULL::json
                END) ORDER BY p.account) AS json_agg
           FROM session.participant p
          WHERE ((p.group_id = g.group_id) AND (p.status = 'joined'::text))), '[]'::json), 'invited', COALESCE(( SELECT json_agg(json_build_object('id', p.account, 'at', session.microseconds(p.since)) ORDER BY p.account) AS json_agg
           FROM session.participant p
          WHERE ((p.group_id = g.group_id) AND (p.status = 'waiting'::text))), '[]'::json), 'playback', ( SELECT json_build_object('version', b.version, 'author', b.author, 'item', b.item, 'isPlaying', b.is_playing, 'isWaiting', b.is_waiting, 'rate', trim_scale(((b.rate)::numeric / 1000.0)), 'position', ((EXTRACT(epoch FROM b."position") * (1000000)::numeric))::bigint, 'anchor', session.microseconds(b.anchor)) AS json_build_object
           FROM session.playback b
          WHERE (b.group_id = g.group_id)), 'queue', COALESCE(( SELECT json_agg(q.item ORDER BY q.rank) AS json_agg
           FROM session.queue_item q
          WHERE (q.group_id = g.group_id)), '[]'::json), 'created', session.microseconds(g.created_at), 'end',
        CASE
            WHEN (g.ended_at IS NOT NULL) THEN json_build_object('reason', g.end_reason, 'by', g.ended_by, 'at', session.microseconds(g.ended_at))
            ELSE NULL::json
        END)), 'activity'::text, a.activity), 'game'::text, ( SELECT session.with_member(json_strip_nulls(json_build_object('number', m.number, 'version', m.version, 'author', m.author, 'updated', session.microseconds(m.updated_at), 'starts', session.microseconds(m.starts_at), 'turnField', m.turn_field, 'finished', session.microseconds(m.finished_at))), 'state'::text, m.state) AS with_member
           FROM session.game m
          WHERE (m.group_id = g.group_id))), 'attachments'::text, COALESCE(( SELECT json_agg(session.with_member(json_build_object('id', encode(t.hash, 'hex'::text), 'account', t.account, 'name', d.name, 'contentType', d.content_type, 'size', t.size, 'added', session.microseconds(t.completed_at)), 'metadata'::text, d.metadata) ORDER BY t.hash) AS json_agg
           FROM (session.attachment t
             JOIN session.attachment_description d ON (((d.group_id = t.group_id) AND (d.account = t.account) AND (d.hash = t.hash))))
          WHERE ((t.group_id = g.group_id) AND (t.completed_at IS NOT NULL))), '[]'::json)) AS state
   FROM (session.group_session g
     JOIN session.group_activity a ON ((a.group_id = g.group_id)));


ALTER TABLE session.group_state OWNER TO session_owner;

--
-- Name: VIEW group_state; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.group_state IS 'The state of the stream group/<group session>, as JSON; read it together with the log''s position, in one statement. It names accounts by their ids alone.';


--
-- Name: COLUMN group_state.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_state.group_id IS 'The session.';


--
-- Name: COLUMN group_state.state; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_state.state IS 'GroupState of the contract; times in microseconds.';


--
-- Name: group_stretch; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.group_stretch (
    group_id uuid NOT NULL,
    since bigint NOT NULL,
    until bigint,
    partition integer NOT NULL,
    positions bigint[] NOT NULL,
    size bigint NOT NULL,
    CONSTRAINT events_come_after_its_beginning CHECK ((positions[1] > since)),
    CONSTRAINT since_is_not_negative CHECK ((since >= 0)),
    CONSTRAINT size_is_not_negative CHECK ((size >= 0)),
    CONSTRAINT stretch_ends_with_its_last_event CHECK ((until = positions[cardinality(positions)]))
)
WITH (fillfactor='50');


ALTER TABLE session.group_stretch OWNER TO session_owner;

--
-- Name: TABLE group_stretch; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.group_stretch IS 'Where the events of group sessions are in session.log. The trigger record_group_events adds them to a session''s last stretch, and begins another one after 64 events or 256 KiB.';


--
-- Name: COLUMN group_stretch.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_stretch.group_id IS 'The session.';


--
-- Name: COLUMN group_stretch.since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_stretch.since IS 'The position that the stretch begins after. The first one of a session begins at 0, before the session did.';


--
-- Name: COLUMN group_stretch.until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_stretch.until IS 'Its last position, where the next stretch begins. NULL for a session''s last stretch.';


--
-- Name: COLUMN group_stretch.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_stretch.partition IS 'The partition of session.log.';


--
-- Name: COLUMN group_stretch.positions; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_stretch.positions IS 'The positions of its events there, ascending.';


--
-- Name: COLUMN group_stretch.size; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.group_stretch.size IS 'Bytes in the bodies of these events.';


--
-- Name: handle; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.handle AS
 SELECT a.handle,
    a.account
   FROM session.account a
  WHERE (a.closed_at IS NULL);


ALTER TABLE session.handle OWNER TO session_owner;

--
-- Name: VIEW handle; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.handle IS 'The account of each handle. Look handles up in the form of the contract''s Handle.';


--
-- Name: COLUMN handle.handle; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.handle.handle IS 'The handle.';


--
-- Name: COLUMN handle.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.handle.account IS 'The account.';


--
-- Name: message_history; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.message_history (
    group_id uuid NOT NULL,
    sent bigint NOT NULL,
    bytes bigint NOT NULL,
    first_kept bigint NOT NULL,
    is_over boolean NOT NULL,
    CONSTRAINT each_message_has_bytes CHECK ((bytes >= sent)),
    CONSTRAINT history_begins_with_a_message CHECK ((sent > 0)),
    CONSTRAINT kept_messages_are_the_newest CHECK (((first_kept >= 1) AND (first_kept <= (sent + 1))))
)
WITH (fillfactor='50');


ALTER TABLE session.message_history OWNER TO session_owner;

--
-- Name: TABLE message_history; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.message_history IS 'What was sent in each group session so far, and what is kept of it.';


--
-- Name: COLUMN message_history.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_history.group_id IS 'The session.';


--
-- Name: COLUMN message_history.sent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_history.sent IS 'The number of messages; also the number of the last one.';


--
-- Name: COLUMN message_history.bytes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_history.bytes IS 'The bytes of all of them, types and data.';


--
-- Name: COLUMN message_history.first_kept; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_history.first_kept IS 'The number of the oldest message that is kept.';


--
-- Name: COLUMN message_history.is_over; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_history.is_over IS 'Whether the session ended. Nobody sees its messages any more, and they are deleted soon.';


--
-- Name: kept_message; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.kept_message AS
 SELECT m.group_id,
    m.number,
    m.sender,
    m.recipients,
    m.type,
    m.data,
    m.sent_at
   FROM (session.group_message m
     JOIN session.message_history h ON ((h.group_id = m.group_id)))
  WHERE ((NOT h.is_over) AND (m.type IS NOT NULL));


ALTER TABLE session.kept_message OWNER TO session_owner;

--
-- Name: VIEW kept_message; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.kept_message IS 'The messages that group sessions keep. The reader shows each to its sender and its recipients only.';


--
-- Name: COLUMN kept_message.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.group_id IS 'The session.';


--
-- Name: COLUMN kept_message.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.number IS 'Counts the messages of the session, from 1.';


--
-- Name: COLUMN kept_message.sender; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.sender IS 'The sender.';


--
-- Name: COLUMN kept_message.recipients; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.recipients IS 'The accounts that may read it besides the sender. NULL if everyone in the session may.';


--
-- Name: COLUMN kept_message.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.type IS 'What it is.';


--
-- Name: COLUMN kept_message.data; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.data IS 'The content, as the app sent it.';


--
-- Name: COLUMN kept_message.sent_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.kept_message.sent_at IS 'When.';


--
-- Name: lease; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.lease (
    source text NOT NULL,
    partition integer NOT NULL,
    owner uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    released boolean DEFAULT true NOT NULL,
    needs text[] DEFAULT '{}'::text[] NOT NULL,
    trouble text,
    resting_since timestamp with time zone,
    CONSTRAINT lease_of_a_resting_partition_says_why CHECK (((trouble IS NULL) = (resting_since IS NULL))),
    CONSTRAINT lease_of_an_owner_ends CHECK (((owner IS NULL) OR (lease_until IS NOT NULL)))
)
WITH (fillfactor='50');


ALTER TABLE session.lease OWNER TO session_owner;

--
-- Name: TABLE lease; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.lease IS 'Which worker handles which partition. Leases make the work efficient; the constraint batch_has_one_successor makes it safe.';


--
-- Name: COLUMN lease.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.source IS 'The log, as schema.table.';


--
-- Name: COLUMN lease.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.partition IS 'The log''s partition.';


--
-- Name: COLUMN lease.owner; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.owner IS 'The worker that holds the lease, by an id that is new at each start; null if the lease is free.';


--
-- Name: COLUMN lease.epoch; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.epoch IS 'How often the lease was taken.';


--
-- Name: COLUMN lease.lease_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.lease_until IS 'When the lease ends unless it is renewed, by the database''s clock.';


--
-- Name: COLUMN lease.released; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';


--
-- Name: COLUMN lease.needs; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.needs IS 'What a message of the partition needed and a replica didn''t know: a type with its version, or an enum value. The partition goes to replicas that may know it, if there are any.';


--
-- Name: COLUMN lease.trouble; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.trouble IS 'Why the partition rests: every attempt failed, and is repeated every few seconds. Null while it doesn''t rest.';


--
-- Name: COLUMN lease.resting_since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.lease.resting_since IS 'When the partition began to rest.';


--
-- Name: limits; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.limits (
    only_row boolean DEFAULT true NOT NULL,
    check_in_cooldown interval DEFAULT '00:05:00'::interval NOT NULL,
    least_check_in_interval interval DEFAULT '01:00:00'::interval NOT NULL,
    alarm_repetitions integer DEFAULT 3 NOT NULL,
    alarm_repetition_interval interval DEFAULT '00:30:00'::interval NOT NULL,
    alert_burst integer DEFAULT 3 NOT NULL,
    alert_window interval DEFAULT '00:10:00'::interval NOT NULL,
    alert_pause interval DEFAULT '00:01:00'::interval NOT NULL,
    undo_window interval DEFAULT '72:00:00'::interval NOT NULL,
    phone_rest interval DEFAULT '24:00:00'::interval NOT NULL,
    drop_notice interval DEFAULT '00:00:05'::interval NOT NULL,
    drop_grace interval DEFAULT '00:00:30'::interval NOT NULL,
    edge_lease interval DEFAULT '00:00:15'::interval NOT NULL,
    empty_group_rest interval DEFAULT '00:10:00'::interval NOT NULL,
    CONSTRAINT alarm_repetition_interval_is_a_second_to_a_day CHECK (((alarm_repetition_interval >= '00:00:01'::interval) AND (alarm_repetition_interval <= '1 day'::interval))),
    CONSTRAINT alarm_repetitions_are_few CHECK (((alarm_repetitions >= 0) AND (alarm_repetitions <= 100))),
    CONSTRAINT alert_burst_is_one_to_ten_thousand CHECK (((alert_burst >= 1) AND (alert_burst <= 10000))),
    CONSTRAINT alert_pause_is_at_most_an_hour CHECK (((alert_pause >= '00:00:00'::interval) AND (alert_pause <= '01:00:00'::interval))),
    CONSTRAINT alert_window_is_a_second_to_a_day CHECK (((alert_window >= '00:00:01'::interval) AND (alert_window <= '1 day'::interval))),
    CONSTRAINT check_in_cooldown_is_at_most_a_day CHECK (((check_in_cooldown >= '00:00:00'::interval) AND (check_in_cooldown <= '1 day'::interval))),
    CONSTRAINT drop_grace_is_five_seconds_to_five_minutes CHECK (((drop_grace >= '00:00:05'::interval) AND (drop_grace <= '00:05:00'::interval))),
    CONSTRAINT drop_notice_is_at_most_a_minute CHECK (((drop_notice >= '00:00:00'::interval) AND (drop_notice <= '00:01:00'::interval))),
    CONSTRAINT edge_lease_is_a_second_to_five_minutes CHECK (((edge_lease >= '00:00:01'::interval) AND (edge_lease <= '00:05:00'::interval))),
    CONSTRAINT empty_group_rest_is_a_second_to_a_day CHECK (((empty_group_rest >= '00:00:01'::interval) AND (empty_group_rest <= '1 day'::interval))),
    CONSTRAINT least_check_in_interval_is_a_second_to_a_day CHECK (((least_check_in_interval >= '00:00:01'::interval) AND (least_check_in_interval <= '1 day'::interval))),
    CONSTRAINT only_row_is_true CHECK (only_row),
    CONSTRAINT phone_rest_is_at_most_thirty_days CHECK (((phone_rest >= '00:00:00'::interval) AND (phone_rest <= '30 days'::interval))),
    CONSTRAINT undo_window_is_a_second_to_thirty_days CHECK (((undo_window >= '00:00:01'::interval) AND (undo_window <= '30 days'::interval)))
);


ALTER TABLE session.limits OWNER TO session_owner;

--
-- Name: TABLE limits; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.limits IS 'Numbers in the rules that can be set. One row, which `session migrate` writes.';


--
-- Name: COLUMN limits.only_row; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.only_row IS 'Keeps the table at one row.';


--
-- Name: COLUMN limits.check_in_cooldown; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.check_in_cooldown IS 'How long after a check-in the next one may come.';


--
-- Name: COLUMN limits.least_check_in_interval; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.least_check_in_interval IS 'The shortest check-in interval that an account may choose.';


--
-- Name: COLUMN limits.alarm_repetitions; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.alarm_repetitions IS 'How often an alarm that goes on is repeated to responders.';


--
-- Name: COLUMN limits.alarm_repetition_interval; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.alarm_repetition_interval IS 'The time between repetitions.';


--
-- Name: COLUMN limits.alert_burst; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.alert_burst IS 'How many alerts of an account within a window alarm responders at once.';


--
-- Name: COLUMN limits.alert_window; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.alert_window IS 'How long such a window is.';


--
-- Name: COLUMN limits.alert_pause; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.alert_pause IS 'How long each further alert waits before it alarms responders.';


--
-- Name: COLUMN limits.undo_window; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.undo_window IS 'How long a change of an account''s security can be undone by a device that it signed out.';


--
-- Name: COLUMN limits.phone_rest; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.phone_rest IS 'How long a phone that replaced another one can''t sign in, unless the change was confirmed by the password.';


--
-- Name: COLUMN limits.drop_notice; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.drop_notice IS 'How long a participant of a group session can be without a connection before that is announced.';


--
-- Name: COLUMN limits.drop_grace; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.drop_grace IS 'How long a participant without a connection stays in a group session.';


--
-- Name: COLUMN limits.edge_lease; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.edge_lease IS 'How long an edge process counts as alive after it renewed its lease.';


--
-- Name: COLUMN limits.empty_group_rest; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.limits.empty_group_rest IS 'How long a group session without participants stays open.';


--
-- Name: member; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.member (
    source text NOT NULL,
    owner uuid NOT NULL,
    slot integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    alive_until timestamp with time zone NOT NULL,
    cannot text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT member_slot_is_not_negative CHECK ((slot >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session.member OWNER TO session_owner;

--
-- Name: TABLE member; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.member IS 'The running workers of session. The live workers of a source, sorted by slot and owner, share its partitions.';


--
-- Name: COLUMN member.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.member.source IS 'The log that the worker reads, as schema.table.';


--
-- Name: COLUMN member.owner; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.member.owner IS 'The worker''s id, new at each start; the same as in lease.owner and pg_stat_activity.application_name.';


--
-- Name: COLUMN member.slot; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.member.slot IS 'The worker''s number within its process. Sorting by it first gives processes equal shares.';


--
-- Name: COLUMN member.started_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.member.started_at IS 'When the worker started.';


--
-- Name: COLUMN member.alive_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.member.alive_until IS 'When the worker stops counting as alive, unless it sends another heartbeat.';


--
-- Name: COLUMN member.cannot; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.member.cannot IS 'What the worker met and couldn''t read: types with their versions, or enum values. Compared with lease.needs.';


--
-- Name: message_range; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.message_range AS
 SELECT h.group_id,
    h.first_kept,
    h.sent
   FROM session.message_history h
  WHERE (NOT h.is_over);


ALTER TABLE session.message_range OWNER TO session_owner;

--
-- Name: VIEW message_range; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.message_range IS 'Which messages group sessions keep. Has no row for a session that is over or without messages.';


--
-- Name: COLUMN message_range.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_range.group_id IS 'The session.';


--
-- Name: COLUMN message_range.first_kept; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_range.first_kept IS 'The number of the oldest message that is kept.';


--
-- Name: COLUMN message_range.sent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.message_range.sent IS 'The number of the newest message.';


--
-- Name: migration; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.migration (
    number integer NOT NULL,
    file text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL,
    duration interval NOT NULL
);


ALTER TABLE session.migration OWNER TO session_owner;

--
-- Name: TABLE migration; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.migration IS 'The migrations applied to this schema.';


--
-- Name: COLUMN migration.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.migration.number IS 'The number at the beginning of the file''s name.';


--
-- Name: COLUMN migration.file; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.migration.file IS 'The file''s name.';


--
-- Name: COLUMN migration.checksum; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.migration.checksum IS 'SHA-256 of the applied text, with its includes.';


--
-- Name: COLUMN migration.applied_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.migration.applied_at IS 'When it was applied.';


--
-- Name: COLUMN migration.applied_by; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.migration.applied_by IS 'The role that logged in to apply it.';


--
-- Name: COLUMN migration.duration; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.migration.duration IS 'How long it took.';


--
-- Name: open_group; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.open_group AS
 SELECT g.group_id,
    g.host,
    g.is_open_to_contacts,
    g.capacity,
    a.activity,
    g.created_at,
    ( SELECT count(*) AS count
           FROM session.participant p
          WHERE ((p.group_id = g.group_id) AND (p.status = 'joined'::text))) AS participants
   FROM (session.group_session g
     JOIN session.group_activity a ON ((a.group_id = g.group_id)))
  WHERE (g.ended_at IS NULL);


ALTER TABLE session.open_group OWNER TO session_owner;

--
-- Name: VIEW open_group; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.open_group IS 'Group sessions that go on, as those see them who may join.';


--
-- Name: COLUMN open_group.group_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.group_id IS 'The session.';


--
-- Name: COLUMN open_group.host; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.host IS 'The host. NULL while nobody is in it.';


--
-- Name: COLUMN open_group.is_open_to_contacts; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.is_open_to_contacts IS 'Whether contacts of the host may join without an invitation.';


--
-- Name: COLUMN open_group.capacity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.capacity IS 'How many people may be in it.';


--
-- Name: COLUMN open_group.activity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.activity IS 'What it is for: Activity of the contract.';


--
-- Name: COLUMN open_group.created_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.created_at IS 'When it began.';


--
-- Name: COLUMN open_group.participants; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_group.participants IS 'How many people are in it.';


--
-- Name: redaction; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.redaction (
    account uuid NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    late_until timestamp with time zone DEFAULT (clock_timestamp() + '00:10:00'::interval) NOT NULL,
    noticed_at timestamp with time zone,
    done_at timestamp with time zone,
    CONSTRAINT redaction_is_noticed_before_it_is_done CHECK (((done_at IS NULL) OR (done_at >= noticed_at)))
);


ALTER TABLE session.redaction OWNER TO session_owner;

--
-- Name: TABLE redaction; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.redaction IS 'Accounts whose messages are to be emptied, and whether all of them are.';


--
-- Name: COLUMN redaction.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction.account IS 'The account.';


--
-- Name: COLUMN redaction.requested_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction.requested_at IS 'When the redaction was requested.';


--
-- Name: COLUMN redaction.late_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction.late_until IS 'Until when late messages may arrive: by then, commands are handled or expired.';


--
-- Name: COLUMN redaction.noticed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction.noticed_at IS 'When the service first saw it. A pass that begins later empties all rows of the account.';


--
-- Name: COLUMN redaction.done_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction.done_at IS 'When all rows from before requested_at were emptied; after late_until, when the late ones were too. Null while some wait, for example for a consumer to handle them.';


--
-- Name: open_redaction; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.open_redaction AS
 SELECT r.account,
    r.late_until,
    r.noticed_at
   FROM session.redaction r
  WHERE ((r.done_at IS NULL) OR (r.done_at < r.late_until));


ALTER TABLE session.open_redaction OWNER TO session_owner;

--
-- Name: VIEW open_redaction; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.open_redaction IS 'Redactions that aren''t finished.';


--
-- Name: COLUMN open_redaction.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_redaction.account IS 'The account.';


--
-- Name: COLUMN open_redaction.late_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_redaction.late_until IS 'Until when late messages may arrive.';


--
-- Name: COLUMN open_redaction.noticed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.open_redaction.noticed_at IS 'When the service first saw the redaction.';


--
-- Name: operator_act_number_seq; Type: SEQUENCE; Schema: session; Owner: session_owner
--

ALTER TABLE session.operator_act ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME session.operator_act_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: outcome; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.outcome (
    command_id uuid NOT NULL,
    account uuid,
    command_hash uuid NOT NULL,
    outcome session.message_outcome NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    type session.message_type NOT NULL,
    body json NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session.outcome OWNER TO session_owner;

--
-- Name: TABLE outcome; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.outcome IS 'How each command ended, recorded once and kept for 30 days. A command that is sent again gets this outcome and does nothing else.';


--
-- Name: COLUMN outcome.command_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.command_id IS 'The command''s id. Its first 48 bits are the time it was made, in milliseconds.';


--
-- Name: COLUMN outcome.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.account IS 'The account that asked.';


--
-- Name: COLUMN outcome.command_hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.command_hash IS 'Hash of the command. The same id with another hash is rejected.';


--
-- Name: COLUMN outcome.outcome; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.outcome IS 'accepted, rejected (body says why) or failed (body says the error).';


--
-- Name: COLUMN outcome.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.partition IS 'Partition of the row of session.log that carries the outcome.';


--
-- Name: COLUMN outcome."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome."position" IS 'Position of that row. A reader that has come this far has seen what the command changed.';


--
-- Name: COLUMN outcome.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.type IS 'Type of that row: the first event, or Rejected, Failed, Accepted.';


--
-- Name: COLUMN outcome.body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.body IS 'Body of that row: the command''s result.';


--
-- Name: COLUMN outcome.recorded_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.outcome.recorded_at IS 'When the outcome was recorded.';


--
-- Name: parked; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.parked (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome text,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent text,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    cause text,
    attempts integer NOT NULL,
    failing_since timestamp with time zone,
    retry_at timestamp with time zone,
    error text,
    needs text,
    is_discarded boolean DEFAULT false NOT NULL,
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT parked_attempts_are_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT parked_cause_is_known CHECK ((cause = ANY (ARRAY['error'::text, 'trouble'::text, 'unknown'::text, 'crashed'::text]))),
    CONSTRAINT parked_failed_or_waits CHECK (((num_nulls(cause, failing_since, retry_at, error) = ANY (ARRAY[0, 4])) AND ((attempts = 0) = (cause IS NULL)))),
    CONSTRAINT parked_needs_what_is_unknown CHECK (((needs IS NOT NULL) = COALESCE((cause = 'unknown'::text), false))),
    CONSTRAINT parked_position_begins_at_one CHECK (("position" > 0))
)
WITH (fillfactor='70');


ALTER TABLE session.parked OWNER TO session_owner;

--
-- Name: TABLE parked; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.parked IS 'Messages that failed and will be retried, and the later messages of the same key, which wait behind them. Other keys go on meanwhile. A row holds the whole message, so the log may delete it.';


--
-- Name: COLUMN parked.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.source IS 'The log, as schema.table.';


--
-- Name: COLUMN parked.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.partition IS 'The log''s partition.';


--
-- Name: COLUMN parked."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked."position" IS 'The message''s position there.';


--
-- Name: COLUMN parked.kind; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.kind IS 'command, or event (of a policy).';


--
-- Name: COLUMN parked.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.type IS 'Name of the body''s type.';


--
-- Name: COLUMN parked.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.version IS 'Version of the type.';


--
-- Name: COLUMN parked.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.key IS 'The message''s key. Only the first message of a key is retried.';


--
-- Name: COLUMN parked.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.account IS 'The account that asked.';


--
-- Name: COLUMN parked.body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.body IS 'The message as it was.';


--
-- Name: COLUMN parked.message_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.message_id IS 'The message''s id.';


--
-- Name: COLUMN parked.command_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.command_id IS 'The command''s id; for an event, that of the command that led to it.';


--
-- Name: COLUMN parked.outcome; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.outcome IS 'As in the log.';


--
-- Name: COLUMN parked.command_hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.command_hash IS 'As in the log.';


--
-- Name: COLUMN parked.correlation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.correlation_id IS 'The request that the message belongs to.';


--
-- Name: COLUMN parked.causation_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.causation_id IS 'The message_id of the message that caused this one.';


--
-- Name: COLUMN parked.trace_parent; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN parked.expires_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN parked.recorded_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.recorded_at IS 'When the message was appended to its log.';


--
-- Name: COLUMN parked.cause; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners). Null while it only waits behind another message.';


--
-- Name: COLUMN parked.attempts; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.attempts IS 'How often in a row the message failed for this cause; 0 while it only waits.';


--
-- Name: COLUMN parked.failing_since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.failing_since IS 'When it began to fail for this cause.';


--
-- Name: COLUMN parked.retry_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.retry_at IS 'When it is retried; retry_parked makes that now.';


--
-- Name: COLUMN parked.error; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.error IS 'The latest error.';


--
-- Name: COLUMN parked.needs; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.needs IS 'What a replica has to know before it can handle the message: this type and version, or this enum value.';


--
-- Name: COLUMN parked.is_discarded; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.is_discarded IS 'Whether an operator called discard_parked: the message isn''t retried and becomes a dead letter.';


--
-- Name: COLUMN parked.parked_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.parked.parked_at IS 'When it was parked.';


--
-- Name: phone; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.phone AS
 SELECT a.phone_id,
    a.account,
    a.phone_key AS key
   FROM session.account a
  WHERE ((a.closed_at IS NULL) AND (a.phone_id IS NOT NULL));


ALTER TABLE session.phone OWNER TO session_owner;

--
-- Name: VIEW phone; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.phone IS 'The account of each phone, by the edge''s id for the number. The number itself isn''t shown.';


--
-- Name: COLUMN phone.phone_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone.phone_id IS 'The edge''s id for the phone number.';


--
-- Name: COLUMN phone.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone.account IS 'The account that the phone signs in.';


--
-- Name: COLUMN phone.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone.key IS 'The version of the server''s key under which phone_id was made.';


--
-- Name: phone_code; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.phone_code (
    account uuid NOT NULL,
    purpose text NOT NULL,
    source uuid NOT NULL,
    code uuid NOT NULL,
    phone_id uuid NOT NULL,
    phone text,
    phone_region text,
    signs_in_from timestamp with time zone,
    key text NOT NULL,
    hash bytea NOT NULL,
    attempts integer NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT attempts_are_few CHECK (((attempts >= 0) AND (attempts <= 5))),
    CONSTRAINT hash_is_a_sha_256 CHECK ((octet_length(hash) = 32)),
    CONSTRAINT key_is_a_version CHECK ((key ~ '^[0-9a-f]{8}$'::text)),
    CONSTRAINT phone_change_is_one CHECK (((purpose = 'signIn'::text) OR (source = '00000000-0000-0000-0000-000000000000'::uuid))),
    CONSTRAINT phone_change_names_the_phone CHECK (((purpose = 'phoneChange'::text) = (phone IS NOT NULL))),
    CONSTRAINT purpose_is_known CHECK ((purpose = ANY (ARRAY['signIn'::text, 'phoneChange'::text])))
)
WITH (fillfactor='80');


ALTER TABLE session.phone_code OWNER TO session_owner;

--
-- Name: TABLE phone_code; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.phone_code IS 'The latest code that was sent to a phone, for each purpose and source. Only session reads it.';


--
-- Name: COLUMN phone_code.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.account IS 'The account.';


--
-- Name: COLUMN phone_code.purpose; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.purpose IS 'What the code is for: signing in, or changing the phone.';


--
-- Name: COLUMN phone_code.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.source IS 'Where a sign-in code was requested: the edge''s id for a network address, or a device that was signed in before. So a code that a stranger requests doesn''t replace others.';


--
-- Name: COLUMN phone_code.code; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.code IS 'The code''s id. The edge derives the digits from it under the server''s key.';


--
-- Name: COLUMN phone_code.phone_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.phone_id IS 'The edge''s id for the phone number that the code was sent to.';


--
-- Name: COLUMN phone_code.phone; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.phone IS 'The phone number that the account gets.';


--
-- Name: COLUMN phone_code.phone_region; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.phone_region IS 'The phone number''s region.';


--
-- Name: COLUMN phone_code.signs_in_from; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.signs_in_from IS 'When the phone that the account gets by this code may first sign in; null: as soon as it is changed.';


--
-- Name: COLUMN phone_code.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.key IS 'The version of the server''s key under which digits and phone_id were made.';


--
-- Name: COLUMN phone_code.hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.hash IS 'SHA-256 of the proof that the edge, and only the edge, derives from the digits.';


--
-- Name: COLUMN phone_code.attempts; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.attempts IS 'How often wrong digits were given; the fifth voids the code.';


--
-- Name: COLUMN phone_code.issued_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.issued_at IS 'When the code was sent.';


--
-- Name: COLUMN phone_code.expires_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.phone_code.expires_at IS 'Until when the code is valid; once used, the time of its use.';


--
-- Name: profile; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.profile AS
 SELECT a.account,
    a.handle,
    a.name,
    a.emergency_note,
    a.profile_version AS version
   FROM session.account a
  WHERE (a.closed_at IS NULL);


ALTER TABLE session.profile OWNER TO session_owner;

--
-- Name: VIEW profile; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.profile IS 'What other people may see of a person. The edge decides which columns each of them sees.';


--
-- Name: COLUMN profile.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.profile.account IS 'The account.';


--
-- Name: COLUMN profile.handle; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.profile.handle IS 'The handle: visible to everyone who found it, and to people this person asked to become contacts.';


--
-- Name: COLUMN profile.name; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.profile.name IS 'The name: visible to contacts, to people who have the contact code, and to people this person asked to become contacts.';


--
-- Name: COLUMN profile.emergency_note; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.profile.emergency_note IS 'What responders should know in an emergency: visible to responders.';


--
-- Name: COLUMN profile.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.profile.version IS 'How often the profile was set.';


--
-- Name: redaction_pass; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.redaction_pass (
    log text NOT NULL,
    partition integer NOT NULL,
    begun_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    command_id uuid,
    is_whole boolean DEFAULT true NOT NULL,
    passed_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    rows bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


ALTER TABLE session.redaction_pass OWNER TO session_owner;

--
-- Name: TABLE redaction_pass; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.redaction_pass IS 'How far each partition has been searched for rows of accounts in session.redaction. A pass searches it once from the beginning for all accounts noticed by then, and then follows new rows until no late ones can arrive.';


--
-- Name: COLUMN redaction_pass.log; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.log IS 'The log''s table, or outcome.';


--
-- Name: COLUMN redaction_pass.partition; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.partition IS 'The log''s partition; 0 for outcome.';


--
-- Name: COLUMN redaction_pass.begun_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.begun_at IS 'When the pass began at the first row.';


--
-- Name: COLUMN redaction_pass."position"; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass."position" IS 'The last position searched.';


--
-- Name: COLUMN redaction_pass.command_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.command_id IS 'For outcome, the last command searched.';


--
-- Name: COLUMN redaction_pass.is_whole; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.is_whole IS 'Whether the pass has reached the end. From then on it follows new rows until the next pass begins.';


--
-- Name: COLUMN redaction_pass.passed_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.passed_until IS 'All rows recorded before this time were searched in this pass.';


--
-- Name: COLUMN redaction_pass.rows; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.redaction_pass.rows IS 'How many rows the pass searched before it reached the end. The next pass begins at least as many milliseconds after this one, so that closing accounts costs little in big logs.';


--
-- Name: retention; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.retention (
    subject text NOT NULL,
    keep interval NOT NULL,
    truncate_after interval,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_by text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT retention_keeps_a_minute CHECK ((keep >= '00:01:00'::interval)),
    CONSTRAINT retention_truncates_after_keeping CHECK ((truncate_after >= keep))
);


ALTER TABLE session.retention OWNER TO session_owner;

--
-- Name: TABLE retention; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.retention IS 'How long each table''s rows are kept. Change it with session.set_retention.';


--
-- Name: COLUMN retention.subject; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.retention.subject IS 'The table''s name.';


--
-- Name: COLUMN retention.keep; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';


--
-- Name: COLUMN retention.truncate_after; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.retention.truncate_after IS 'Older rows of a log are deleted even if a consumer hasn''t handled them; the consumer then finds the log truncated. Null: retention waits for consumers without limit.';


--
-- Name: COLUMN retention.changed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.retention.changed_at IS 'When this was last set.';


--
-- Name: COLUMN retention.changed_by; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.retention.changed_by IS 'The role that set it.';


--
-- Name: security_change; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.security_change (
    account uuid NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    device uuid,
    device_signed_in_at timestamp with time zone NOT NULL,
    password_hash bytea NOT NULL,
    password_key text NOT NULL,
    phone text,
    phone_region text,
    phone_id uuid,
    phone_key text,
    is_single_device boolean NOT NULL,
    is_confirmation_required boolean NOT NULL,
    recovery_hashes bytea,
    recovery_made_at timestamp with time zone,
    CONSTRAINT device_signed_in_before CHECK ((device_signed_in_at <= changed_at)),
    CONSTRAINT kind_is_known CHECK ((kind = ANY (ARRAY['password'::text, 'phone'::text, 'settings'::text, 'recoveryCodes'::text]))),
    CONSTRAINT number_begins_at_one CHECK ((number > 0)),
    CONSTRAINT password_hash_is_a_sha_256 CHECK ((octet_length(password_hash) = 32)),
    CONSTRAINT password_key_is_a_version CHECK ((password_key ~ '^[0-9a-f]{8}$'::text)),
    CONSTRAINT phone_has_a_name CHECK ((((phone IS NULL) = (phone_id IS NULL)) AND ((phone IS NULL) = (phone_key IS NULL)))),
    CONSTRAINT phone_key_is_a_version CHECK ((phone_key ~ '^[0-9a-f]{8}$'::text)),
    CONSTRAINT recovery_codes_are_at_most_ten_hashes CHECK ((((octet_length(recovery_hashes) % 32) = 0) AND (octet_length(recovery_hashes) <= 320))),
    CONSTRAINT recovery_codes_were_made CHECK (((recovery_hashes IS NULL) = (recovery_made_at IS NULL)))
)
WITH (fillfactor='80');


ALTER TABLE session.security_change OWNER TO session_owner;

--
-- Name: TABLE security_change; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.security_change IS 'Changes of accounts'' security that can be undone, each with the state before it. A timer forgets them. Only session reads it.';


--
-- Name: COLUMN security_change.account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.account IS 'The account.';


--
-- Name: COLUMN security_change.number; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.number IS 'The changes'' order.';


--
-- Name: COLUMN security_change.kind; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.kind IS 'What was changed: the password, the phone, the settings or the recovery codes.';


--
-- Name: COLUMN security_change.changed_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.changed_at IS 'When it was changed.';


--
-- Name: COLUMN security_change.device; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.device IS 'The device that changed it.';


--
-- Name: COLUMN security_change.device_signed_in_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.device_signed_in_at IS 'When that device signed in. A device that signed in later may not undo the change.';


--
-- Name: COLUMN security_change.password_hash; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.password_hash IS 'The password''s hash before the change, as in session.credential.';


--
-- Name: COLUMN security_change.password_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.password_key IS 'The version of the server''s key under which that was made.';


--
-- Name: COLUMN security_change.phone; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.phone IS 'The phone before the change.';


--
-- Name: COLUMN security_change.phone_region; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.phone_region IS 'That phone''s region.';


--
-- Name: COLUMN security_change.phone_id; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.phone_id IS 'The edge''s id for that phone''s number.';


--
-- Name: COLUMN security_change.phone_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.phone_key IS 'The version of the server''s key under which phone_id was made.';


--
-- Name: COLUMN security_change.is_single_device; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.is_single_device IS 'Whether a sign-in signed out the other devices before the change.';


--
-- Name: COLUMN security_change.is_confirmation_required; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.is_confirmation_required IS 'Whether sensitive actions needed the password again before the change.';


--
-- Name: COLUMN security_change.recovery_hashes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.recovery_hashes IS 'The recovery codes before the change, as in session.recovery, without those used since.';


--
-- Name: COLUMN security_change.recovery_made_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.security_change.recovery_made_at IS 'When those codes were made.';


--
-- Name: server_key; Type: VIEW; Schema: session; Owner: session_owner
--

CREATE VIEW session.server_key AS
 SELECT u.key,
    (sum(u.passwords))::bigint AS passwords,
    (sum(u.phones))::bigint AS phones
   FROM ( SELECT c.key,
            count(*) AS passwords,
            0 AS phones
           FROM session.credential c
          GROUP BY c.key
        UNION ALL
         SELECT a.phone_key,
            0,
            count(*) AS count
           FROM session.account a
          WHERE (a.phone_key IS NOT NULL)
          GROUP BY a.phone_key) u
  GROUP BY u.key;


ALTER TABLE session.server_key OWNER TO session_owner;

--
-- Name: VIEW server_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON VIEW session.server_key IS 'How much was made under each of the server''s keys. Dropping a key voids the passwords that are counted for it.';


--
-- Name: COLUMN server_key.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.server_key.key IS 'The key''s version; session-client logs the versions it has at its start.';


--
-- Name: COLUMN server_key.passwords; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.server_key.passwords IS 'Accounts whose password was last given under this key.';


--
-- Name: COLUMN server_key.phones; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.server_key.phones IS 'Accounts whose phone_id was made under this key.';


--
-- Name: sign_in_attempt; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.sign_in_attempt (
    subject text NOT NULL,
    source uuid NOT NULL,
    counted_since timestamp with time zone NOT NULL,
    failures integer NOT NULL,
    blocked_until timestamp with time zone,
    codes_since timestamp with time zone,
    last_code_at timestamp with time zone,
    codes integer NOT NULL,
    CONSTRAINT codes_have_their_times CHECK ((((codes > 0) = (codes_since IS NOT NULL)) AND ((codes > 0) = (last_code_at IS NOT NULL)))),
    CONSTRAINT failures_are_not_negative CHECK ((failures >= 0))
)
WITH (fillfactor='80');


ALTER TABLE session.sign_in_attempt OWNER TO session_owner;

--
-- Name: TABLE sign_in_attempt; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.sign_in_attempt IS 'Attempts of the last day to sign in, whether or not the account exists: both are counted alike. Only session reads it.';


--
-- Name: COLUMN sign_in_attempt.subject; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.subject IS 'The key of the handle or phone that was tried, or of the account that requests a code for its new phone.';


--
-- Name: COLUMN sign_in_attempt.source; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.source IS 'Where the attempts came from: the edge''s id for a network address, or a device that was signed in before; 0 for all sources together.';


--
-- Name: COLUMN sign_in_attempt.counted_since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.counted_since IS 'When the first attempt was counted. A day later all are forgotten.';


--
-- Name: COLUMN sign_in_attempt.failures; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.failures IS 'How many wrong passwords or digits were given.';


--
-- Name: COLUMN sign_in_attempt.blocked_until; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.blocked_until IS 'Until when no password or digits are checked.';


--
-- Name: COLUMN sign_in_attempt.codes_since; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.codes_since IS 'When the current count of codes began; it lasts an hour.';


--
-- Name: COLUMN sign_in_attempt.last_code_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.last_code_at IS 'When the last code was requested.';


--
-- Name: COLUMN sign_in_attempt.codes; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.sign_in_attempt.codes IS 'How many codes were requested since codes_since.';


--
-- Name: timer; Type: TABLE; Schema: session; Owner: session_owner
--

CREATE TABLE session.timer (
    key text NOT NULL,
    name text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    body json NOT NULL,
    CONSTRAINT timer_has_a_name CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT timer_key_is_short CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 128))),
    CONSTRAINT timer_type_is_a_name CHECK (((length(type) >= 1) AND (length(type) <= 100))),
    CONSTRAINT timer_version_begins_at_one CHECK ((version > 0))
)
WITH (fillfactor='70');


ALTER TABLE session.timer OWNER TO session_owner;

--
-- Name: TABLE timer; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON TABLE session.timer IS 'Commands that session sends itself when they are due. The transaction that changes the state sets its timers; the one that appends the command to session.due deletes the timer.';


--
-- Name: COLUMN timer.key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.timer.key IS 'The command''s key.';


--
-- Name: COLUMN timer.name; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.timer.name IS 'The timer''s name. Setting a timer with the same key and name replaces it.';


--
-- Name: COLUMN timer.due_at; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.timer.due_at IS 'When the command is sent.';


--
-- Name: COLUMN timer.type; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.timer.type IS 'Name of the command''s type.';


--
-- Name: COLUMN timer.version; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.timer.version IS 'Version of the type.';


--
-- Name: COLUMN timer.body; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON COLUMN session.timer.body IS 'The command. It says what it was set for, so one that is out of date changes nothing.';


--
-- Name: alarm_receipts; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.alarm_receipts WITH (security_invoker='true') AS
 SELECT n.alarm,
    COALESCE(n.subject, n.account) AS person,
    n.account AS recipient,
    n.kind,
    ((n.details ->> 'count'::text))::integer AS repetition,
    n.id AS notification,
    h.due_at,
    h.happened_at,
    n.created_at AS notified_at,
    p.attempts AS push_attempts,
    p.pushed_at,
    p.answer AS push_answer,
    s.shown_at,
    n.read_at,
    (n.created_at - h.since) AS notified_after,
    (p.pushed_at - h.since) AS pushed_after,
    (s.shown_at - h.since) AS shown_after,
    (n.read_at - h.since) AS read_after
   FROM ((((notifications.notification n
     CROSS JOIN LATERAL ( SELECT ('1970-01-01 00:00:00+00'::timestamp with time zone + ((((n.details ->> 'deadline'::text))::bigint)::double precision * '00:00:00.000001'::interval)) AS due_at,
            ('1970-01-01 00:00:00+00'::timestamp with time zone + ((((n.details ->> 'at'::text))::bigint)::double precision * '00:00:00.000001'::interval)) AS happened_at) t)
     CROSS JOIN LATERAL ( SELECT t.due_at,
            t.happened_at,
                CASE
                    WHEN (n.kind = ANY (ARRAY['checkInMissed'::text, 'dependentCheckInMissed'::text])) THEN COALESCE(t.due_at, t.happened_at)
                    ELSE t.happened_at
                END AS since) h)
     LEFT JOIN LATERAL ( SELECT count(*) AS attempts,
            min((a.began_at + a.took)) FILTER (WHERE (a.result = 'done'::text)) AS pushed_at,
            (array_agg(((a.result || ': '::text) || a.answer) ORDER BY a.began_at DESC))[1] AS answer
           FROM notifications.push_attempt a
          WHERE ((a.account = n.account) AND (a.notification = n.id))) p ON (true))
     LEFT JOIN LATERAL ( SELECT min(s_1.shown_at) AS shown_at
           FROM notifications.shown s_1
          WHERE ((s_1.account = n.account) AND (s_1.notification = n.id))) s ON (true))
  WHERE (n.alarm IS NOT NULL);


ALTER TABLE session_client.alarm_receipts OWNER TO session_client_owner;

--
-- Name: VIEW alarm_receipts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.alarm_receipts IS 'Who was notified of an alarm and of its end, and when each notification reached them. Ask for one alarm, which an index finds.';


--
-- Name: COLUMN alarm_receipts.alarm; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.alarm IS 'The alarm.';


--
-- Name: COLUMN alarm_receipts.person; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.person IS 'The account with the alarm.';


--
-- Name: COLUMN alarm_receipts.recipient; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.recipient IS 'The account that was notified: the person''s own, or a responder''s.';


--
-- Name: COLUMN alarm_receipts.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.kind IS 'The kind of notification.';


--
-- Name: COLUMN alarm_receipts.repetition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.repetition IS 'The number of the repetition; null for the first notification.';


--
-- Name: COLUMN alarm_receipts.notification; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.notification IS 'The notification.';


--
-- Name: COLUMN alarm_receipts.due_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.due_at IS 'The deadline that was missed; null for an alert.';


--
-- Name: COLUMN alarm_receipts.happened_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.happened_at IS 'When the missed check-in was noticed, the alert raised, or the alarm ended.';


--
-- Name: COLUMN alarm_receipts.notified_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.notified_at IS 'When the notification was delivered, and so reached open streams.';


--
-- Name: COLUMN alarm_receipts.push_attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.push_attempts IS 'How often a push to the recipient''s devices was tried.';


--
-- Name: COLUMN alarm_receipts.pushed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.pushed_at IS 'When the push service first accepted a push.';


--
-- Name: COLUMN alarm_receipts.push_answer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.push_answer IS 'How the last push ended.';


--
-- Name: COLUMN alarm_receipts.shown_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.shown_at IS 'When an app first showed the notification.';


--
-- Name: COLUMN alarm_receipts.read_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.read_at IS 'When the notification was read.';


--
-- Name: COLUMN alarm_receipts.notified_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.notified_after IS 'Delay from the deadline, or from happened_at, to notified_at.';


--
-- Name: COLUMN alarm_receipts.pushed_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.pushed_after IS 'Delay to pushed_at.';


--
-- Name: COLUMN alarm_receipts.shown_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.shown_after IS 'Delay to shown_at.';


--
-- Name: COLUMN alarm_receipts.read_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.alarm_receipts.read_after IS 'Delay to read_at.';


--
-- Name: dead_letter; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.dead_letter (
    message_id uuid NOT NULL,
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    command_id uuid,
    correlation_id uuid,
    trace_parent text,
    code text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    died_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dead_letter_code_is_known CHECK ((code = ANY (ARRAY['error'::text, 'crashed'::text, 'discarded'::text])))
);


ALTER TABLE session_client.dead_letter OWNER TO session_client_owner;

--
-- Name: TABLE dead_letter; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.dead_letter IS 'Messages that kept failing, set aside with their error. The outcome of such a command is failed; session_client can send it again.';


--
-- Name: COLUMN dead_letter.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.message_id IS 'The message''s id.';


--
-- Name: COLUMN dead_letter.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.source IS 'The log, as schema.table.';


--
-- Name: COLUMN dead_letter.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.partition IS 'The log''s partition.';


--
-- Name: COLUMN dead_letter."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter."position" IS 'The message''s position there.';


--
-- Name: COLUMN dead_letter.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.kind IS 'command, or event (of a policy, discarded by an operator).';


--
-- Name: COLUMN dead_letter.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.type IS 'Name of the body''s type.';


--
-- Name: COLUMN dead_letter.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.version IS 'Version of the type.';


--
-- Name: COLUMN dead_letter.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.key IS 'The message''s key.';


--
-- Name: COLUMN dead_letter.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.account IS 'The account that asked.';


--
-- Name: COLUMN dead_letter.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.body IS 'The message as it was.';


--
-- Name: COLUMN dead_letter.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.command_id IS 'The command''s id; its outcome is failed.';


--
-- Name: COLUMN dead_letter.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.correlation_id IS 'The request that the message belonged to.';


--
-- Name: COLUMN dead_letter.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN dead_letter.code; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator).';


--
-- Name: COLUMN dead_letter.error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.error IS 'The last error.';


--
-- Name: COLUMN dead_letter.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.attempts IS 'How often it was tried.';


--
-- Name: COLUMN dead_letter.died_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter.died_at IS 'When it was given up.';


--
-- Name: all_dead_letters; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_dead_letters WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS consumer,
    d.message_id,
    d.source,
    d.partition,
    d."position",
    d.kind,
    d.type,
    d.version,
    d.key,
    d.account,
    d.body,
    d.command_id,
    d.correlation_id,
    d.trace_parent,
    d.code,
    d.error,
    d.attempts,
    d.died_at
   FROM contacts.dead_letter d
UNION ALL
 SELECT 'notifications'::text AS consumer,
    d.message_id,
    d.source,
    d.partition,
    d."position",
    d.kind,
    d.type,
    d.version,
    d.key,
    d.account,
    d.body,
    d.command_id,
    d.correlation_id,
    d.trace_parent,
    d.code,
    d.error,
    d.attempts,
    d.died_at
   FROM notifications.dead_letter d
UNION ALL
 SELECT 'session'::text AS consumer,
    d.message_id,
    d.source,
    d.partition,
    d."position",
    d.kind,
    d.type,
    d.version,
    d.key,
    d.account,
    d.body,
    d.command_id,
    d.correlation_id,
    d.trace_parent,
    d.code,
    d.error,
    d.attempts,
    d.died_at
   FROM session.dead_letter d
UNION ALL
 SELECT 'session_client'::text AS consumer,
    d.message_id,
    d.source,
    d.partition,
    d."position",
    d.kind,
    d.type,
    d.version,
    d.key,
    d.account,
    d.body,
    d.command_id,
    d.correlation_id,
    d.trace_parent,
    d.code,
    d.error,
    d.attempts,
    d.died_at
   FROM session_client.dead_letter d;


ALTER TABLE session_client.all_dead_letters OWNER TO session_client_owner;

--
-- Name: VIEW all_dead_letters; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_dead_letters IS 'The dead letters of all consumers, as they are stored; see session_client.dead_letters.';


--
-- Name: COLUMN all_dead_letters.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.consumer IS 'The service that handles the messages, by its schema.';


--
-- Name: COLUMN all_dead_letters.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.message_id IS 'The message''s id.';


--
-- Name: COLUMN all_dead_letters.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.source IS 'The log, as schema.table.';


--
-- Name: COLUMN all_dead_letters.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.partition IS 'The log''s partition.';


--
-- Name: COLUMN all_dead_letters."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters."position" IS 'The message''s position there.';


--
-- Name: COLUMN all_dead_letters.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.kind IS 'command, or event (of a policy, discarded by an operator).';


--
-- Name: COLUMN all_dead_letters.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.type IS 'Name of the body''s type.';


--
-- Name: COLUMN all_dead_letters.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.version IS 'Version of the type.';


--
-- Name: COLUMN all_dead_letters.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.key IS 'The message''s key.';


--
-- Name: COLUMN all_dead_letters.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.account IS 'The account that asked.';


--
-- Name: COLUMN all_dead_letters.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.body IS 'The message as it was.';


--
-- Name: COLUMN all_dead_letters.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.command_id IS 'The command''s id; its outcome is failed.';


--
-- Name: COLUMN all_dead_letters.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.correlation_id IS 'The request that the message belonged to.';


--
-- Name: COLUMN all_dead_letters.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN all_dead_letters.code; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator).';


--
-- Name: COLUMN all_dead_letters.error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.error IS 'The last error.';


--
-- Name: COLUMN all_dead_letters.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.attempts IS 'How often it was tried.';


--
-- Name: COLUMN all_dead_letters.died_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_dead_letters.died_at IS 'When it was given up.';


--
-- Name: lease; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.lease (
    source text NOT NULL,
    partition integer NOT NULL,
    owner uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    released boolean DEFAULT true NOT NULL,
    needs text[] DEFAULT '{}'::text[] NOT NULL,
    trouble text,
    resting_since timestamp with time zone,
    CONSTRAINT lease_of_a_resting_partition_says_why CHECK (((trouble IS NULL) = (resting_since IS NULL))),
    CONSTRAINT lease_of_an_owner_ends CHECK (((owner IS NULL) OR (lease_until IS NOT NULL)))
)
WITH (fillfactor='50');


ALTER TABLE session_client.lease OWNER TO session_client_owner;

--
-- Name: TABLE lease; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.lease IS 'Which worker handles which partition. Leases make the work efficient; the constraint batch_has_one_successor makes it safe.';


--
-- Name: COLUMN lease.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.source IS 'The log, as schema.table.';


--
-- Name: COLUMN lease.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.partition IS 'The log''s partition.';


--
-- Name: COLUMN lease.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.owner IS 'The worker that holds the lease, by an id that is new at each start; null if the lease is free.';


--
-- Name: COLUMN lease.epoch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.epoch IS 'How often the lease was taken.';


--
-- Name: COLUMN lease.lease_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.lease_until IS 'When the lease ends unless it is renewed, by the database''s clock.';


--
-- Name: COLUMN lease.released; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';


--
-- Name: COLUMN lease.needs; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.needs IS 'What a message of the partition needed and a replica didn''t know: a type with its version, or an enum value. The partition goes to replicas that may know it, if there are any.';


--
-- Name: COLUMN lease.trouble; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.trouble IS 'Why the partition rests: every attempt failed, and is repeated every few seconds. Null while it doesn''t rest.';


--
-- Name: COLUMN lease.resting_since; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lease.resting_since IS 'When the partition began to rest.';


--
-- Name: all_leases; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_leases WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS consumer,
    l.source,
    l.partition,
    l.owner,
    l.epoch,
    l.lease_until,
    l.released,
    l.needs,
    l.trouble,
    l.resting_since
   FROM contacts.lease l
UNION ALL
 SELECT 'notifications'::text AS consumer,
    l.source,
    l.partition,
    l.owner,
    l.epoch,
    l.lease_until,
    l.released,
    l.needs,
    l.trouble,
    l.resting_since
   FROM notifications.lease l
UNION ALL
 SELECT 'session'::text AS consumer,
    l.source,
    l.partition,
    l.owner,
    l.epoch,
    l.lease_until,
    l.released,
    l.needs,
    l.trouble,
    l.resting_since
   FROM session.lease l
UNION ALL
 SELECT 'session_client'::text AS consumer,
    l.source,
    l.partition,
    l.owner,
    l.epoch,
    l.lease_until,
    l.released,
    l.needs,
    l.trouble,
    l.resting_since
   FROM session_client.lease l;


ALTER TABLE session_client.all_leases OWNER TO session_client_owner;

--
-- Name: VIEW all_leases; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_leases IS 'The leases of all consumers, as they are stored; see session_client.leases.';


--
-- Name: COLUMN all_leases.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.consumer IS 'The service that handles the messages, by its schema.';


--
-- Name: COLUMN all_leases.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.source IS 'The log, as schema.table.';


--
-- Name: COLUMN all_leases.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.partition IS 'The log''s partition.';


--
-- Name: COLUMN all_leases.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.owner IS 'The worker that holds the lease, by an id that is new at each start; null if the lease is free.';


--
-- Name: COLUMN all_leases.epoch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.epoch IS 'How often the lease was taken.';


--
-- Name: COLUMN all_leases.lease_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.lease_until IS 'When the lease ends unless it is renewed, by the database''s clock.';


--
-- Name: COLUMN all_leases.released; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';


--
-- Name: COLUMN all_leases.needs; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.needs IS 'What a message of the partition needed and a replica didn''t know: a type with its version, or an enum value. The partition goes to replicas that may know it, if there are any.';


--
-- Name: COLUMN all_leases.trouble; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.trouble IS 'Why the partition rests: every attempt failed, and is repeated every few seconds. Null while it doesn''t rest.';


--
-- Name: COLUMN all_leases.resting_since; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_leases.resting_since IS 'When the partition began to rest.';


--
-- Name: member; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.member (
    source text NOT NULL,
    owner uuid NOT NULL,
    slot integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    alive_until timestamp with time zone NOT NULL,
    cannot text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT member_slot_is_not_negative CHECK ((slot >= 0))
)
WITH (fillfactor='50');


ALTER TABLE session_client.member OWNER TO session_client_owner;

--
-- Name: TABLE member; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.member IS 'The running workers of session_client. The live workers of a source, sorted by slot and owner, share its partitions.';


--
-- Name: COLUMN member.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.member.source IS 'The log that the worker reads, as schema.table.';


--
-- Name: COLUMN member.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.member.owner IS 'The worker''s id, new at each start; the same as in lease.owner and pg_stat_activity.application_name.';


--
-- Name: COLUMN member.slot; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.member.slot IS 'The worker''s number within its process. Sorting by it first gives processes equal shares.';


--
-- Name: COLUMN member.started_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.member.started_at IS 'When the worker started.';


--
-- Name: COLUMN member.alive_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.member.alive_until IS 'When the worker stops counting as alive, unless it sends another heartbeat.';


--
-- Name: COLUMN member.cannot; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.member.cannot IS 'What the worker met and couldn''t read: types with their versions, or enum values. Compared with lease.needs.';


--
-- Name: all_members; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_members WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS consumer,
    m.source,
    m.owner,
    m.slot,
    m.started_at,
    m.alive_until,
    m.cannot
   FROM contacts.member m
UNION ALL
 SELECT 'notifications'::text AS consumer,
    m.source,
    m.owner,
    m.slot,
    m.started_at,
    m.alive_until,
    m.cannot
   FROM notifications.member m
UNION ALL
 SELECT 'session'::text AS consumer,
    m.source,
    m.owner,
    m.slot,
    m.started_at,
    m.alive_until,
    m.cannot
   FROM session.member m
UNION ALL
 SELECT 'session_client'::text AS consumer,
    m.source,
    m.owner,
    m.slot,
    m.started_at,
    m.alive_until,
    m.cannot
   FROM session_client.member m;


ALTER TABLE session_client.all_members OWNER TO session_client_owner;

--
-- Name: VIEW all_members; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_members IS 'The workers of all consumers, as they are stored; see session_client.workers.';


--
-- Name: COLUMN all_members.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.consumer IS 'The service that handles the messages, by its schema.';


--
-- Name: COLUMN all_members.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.source IS 'The log that the worker reads, as schema.table.';


--
-- Name: COLUMN all_members.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.owner IS 'The worker''s id, new at each start; the same as in lease.owner and pg_stat_activity.application_name.';


--
-- Name: COLUMN all_members.slot; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.slot IS 'The worker''s number within its process. Sorting by it first gives processes equal shares.';


--
-- Name: COLUMN all_members.started_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.started_at IS 'When the worker started.';


--
-- Name: COLUMN all_members.alive_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.alive_until IS 'When the worker stops counting as alive, unless it sends another heartbeat.';


--
-- Name: COLUMN all_members.cannot; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_members.cannot IS 'What the worker met and couldn''t read: types with their versions, or enum values. Compared with lease.needs.';


--
-- Name: all_operator_acts; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_operator_acts WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS service,
    a.number,
    a.act,
    a.subject,
    a.reason,
    a.acted_as,
    a.with_key,
    a.acted_at
   FROM contacts.operator_act a
UNION ALL
 SELECT 'notifications'::text AS service,
    a.number,
    a.act,
    a.subject,
    a.reason,
    a.acted_as,
    a.with_key,
    a.acted_at
   FROM notifications.operator_act a
UNION ALL
 SELECT 'session'::text AS service,
    a.number,
    a.act,
    a.subject,
    a.reason,
    a.acted_as,
    a.with_key,
    a.acted_at
   FROM session.operator_act a
UNION ALL
 SELECT 'session_client'::text AS service,
    a.number,
    a.act,
    a.subject,
    a.reason,
    a.acted_as,
    a.with_key,
    a.acted_at
   FROM session_client.operator_act a;


ALTER TABLE session_client.all_operator_acts OWNER TO session_client_owner;

--
-- Name: VIEW all_operator_acts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_operator_acts IS 'The audits of all services, as they are stored; see session_client.operator_acts.';


--
-- Name: COLUMN all_operator_acts.service; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.service IS 'The service, by its schema.';


--
-- Name: COLUMN all_operator_acts.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.number IS 'Numbers the acts of this schema.';


--
-- Name: COLUMN all_operator_acts.act; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.act IS 'The function that was called.';


--
-- Name: COLUMN all_operator_acts.subject; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.subject IS 'Its arguments, and what it did.';


--
-- Name: COLUMN all_operator_acts.reason; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.reason IS 'Why, in the operator''s words.';


--
-- Name: COLUMN all_operator_acts.acted_as; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.acted_as IS 'The role that logged in.';


--
-- Name: COLUMN all_operator_acts.with_key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.with_key IS 'The operator''s API key; null at psql.';


--
-- Name: COLUMN all_operator_acts.acted_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_operator_acts.acted_at IS 'When it was done.';


--
-- Name: all_outcomes; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_outcomes WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS consumer,
    o.command_id,
    o.account,
    (o.outcome)::text AS outcome,
    (o.type)::text AS type,
    o.body,
    o.recorded_at,
    o.partition,
    o."position"
   FROM contacts.outcome o
UNION ALL
 SELECT 'notifications'::text AS consumer,
    o.command_id,
    o.account,
    (o.outcome)::text AS outcome,
    (o.type)::text AS type,
    o.body,
    o.recorded_at,
    o.partition,
    o."position"
   FROM notifications.outcome o
UNION ALL
 SELECT 'session'::text AS consumer,
    o.command_id,
    o.account,
    (o.outcome)::text AS outcome,
    (o.type)::text AS type,
    o.body,
    o.recorded_at,
    o.partition,
    o."position"
   FROM session.outcome o;


ALTER TABLE session_client.all_outcomes OWNER TO session_client_owner;

--
-- Name: VIEW all_outcomes; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_outcomes IS 'The outcomes of all services'' commands.';


--
-- Name: COLUMN all_outcomes.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.consumer IS 'The service that handles the messages, by its schema.';


--
-- Name: COLUMN all_outcomes.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.command_id IS 'The command''s id. Its first 48 bits are the time it was made, in milliseconds.';


--
-- Name: COLUMN all_outcomes.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.account IS 'The account that asked.';


--
-- Name: COLUMN all_outcomes.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.outcome IS 'accepted, rejected (body says why) or failed (body says the error).';


--
-- Name: COLUMN all_outcomes.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.type IS 'Type of that row: the first event, or Rejected, Failed, Accepted.';


--
-- Name: COLUMN all_outcomes.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.body IS 'Body of that row: the command''s result.';


--
-- Name: COLUMN all_outcomes.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.recorded_at IS 'When the outcome was recorded.';


--
-- Name: COLUMN all_outcomes.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes.partition IS 'Partition of the row of session.log that carries the outcome.';


--
-- Name: COLUMN all_outcomes."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_outcomes."position" IS 'Position of that row. A reader that has come this far has seen what the command changed.';


--
-- Name: parked; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.parked (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    version smallint NOT NULL,
    key text NOT NULL,
    account uuid,
    body json NOT NULL,
    message_id uuid NOT NULL,
    command_id uuid,
    outcome text,
    command_hash uuid,
    correlation_id uuid,
    causation_id uuid,
    trace_parent text,
    expires_at timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    cause text,
    attempts integer NOT NULL,
    failing_since timestamp with time zone,
    retry_at timestamp with time zone,
    error text,
    needs text,
    is_discarded boolean DEFAULT false NOT NULL,
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT parked_attempts_are_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT parked_cause_is_known CHECK ((cause = ANY (ARRAY['error'::text, 'trouble'::text, 'unknown'::text, 'crashed'::text]))),
    CONSTRAINT parked_failed_or_waits CHECK (((num_nulls(cause, failing_since, retry_at, error) = ANY (ARRAY[0, 4])) AND ((attempts = 0) = (cause IS NULL)))),
    CONSTRAINT parked_needs_what_is_unknown CHECK (((needs IS NOT NULL) = COALESCE((cause = 'unknown'::text), false))),
    CONSTRAINT parked_position_begins_at_one CHECK (("position" > 0))
)
WITH (fillfactor='70');


ALTER TABLE session_client.parked OWNER TO session_client_owner;

--
-- Name: TABLE parked; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.parked IS 'Messages that failed and will be retried, and the later messages of the same key, which wait behind them. Other keys go on meanwhile. A row holds the whole message, so the log may delete it.';


--
-- Name: COLUMN parked.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.source IS 'The log, as schema.table.';


--
-- Name: COLUMN parked.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.partition IS 'The log''s partition.';


--
-- Name: COLUMN parked."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked."position" IS 'The message''s position there.';


--
-- Name: COLUMN parked.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.kind IS 'command, or event (of a policy).';


--
-- Name: COLUMN parked.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.type IS 'Name of the body''s type.';


--
-- Name: COLUMN parked.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.version IS 'Version of the type.';


--
-- Name: COLUMN parked.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.key IS 'The message''s key. Only the first message of a key is retried.';


--
-- Name: COLUMN parked.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.account IS 'The account that asked.';


--
-- Name: COLUMN parked.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.body IS 'The message as it was.';


--
-- Name: COLUMN parked.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.message_id IS 'The message''s id.';


--
-- Name: COLUMN parked.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.command_id IS 'The command''s id; for an event, that of the command that led to it.';


--
-- Name: COLUMN parked.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.outcome IS 'As in the log.';


--
-- Name: COLUMN parked.command_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.command_hash IS 'As in the log.';


--
-- Name: COLUMN parked.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.correlation_id IS 'The request that the message belongs to.';


--
-- Name: COLUMN parked.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.causation_id IS 'The message_id of the message that caused this one.';


--
-- Name: COLUMN parked.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN parked.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN parked.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.recorded_at IS 'When the message was appended to its log.';


--
-- Name: COLUMN parked.cause; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners). Null while it only waits behind another message.';


--
-- Name: COLUMN parked.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.attempts IS 'How often in a row the message failed for this cause; 0 while it only waits.';


--
-- Name: COLUMN parked.failing_since; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.failing_since IS 'When it began to fail for this cause.';


--
-- Name: COLUMN parked.retry_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.retry_at IS 'When it is retried; retry_parked makes that now.';


--
-- Name: COLUMN parked.error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.error IS 'The latest error.';


--
-- Name: COLUMN parked.needs; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.needs IS 'What a replica has to know before it can handle the message: this type and version, or this enum value.';


--
-- Name: COLUMN parked.is_discarded; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.is_discarded IS 'Whether an operator called discard_parked: the message isn''t retried and becomes a dead letter.';


--
-- Name: COLUMN parked.parked_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked.parked_at IS 'When it was parked.';


--
-- Name: all_parked; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_parked WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS consumer,
    p.source,
    p.partition,
    p."position",
    p.kind,
    p.type,
    p.version,
    p.key,
    p.account,
    p.body,
    p.message_id,
    p.command_id,
    p.outcome,
    p.command_hash,
    p.correlation_id,
    p.causation_id,
    p.trace_parent,
    p.expires_at,
    p.recorded_at,
    p.cause,
    p.attempts,
    p.failing_since,
    p.retry_at,
    p.error,
    p.needs,
    p.is_discarded,
    p.parked_at
   FROM contacts.parked p
UNION ALL
 SELECT 'notifications'::text AS consumer,
    p.source,
    p.partition,
    p."position",
    p.kind,
    p.type,
    p.version,
    p.key,
    p.account,
    p.body,
    p.message_id,
    p.command_id,
    p.outcome,
    p.command_hash,
    p.correlation_id,
    p.causation_id,
    p.trace_parent,
    p.expires_at,
    p.recorded_at,
    p.cause,
    p.attempts,
    p.failing_since,
    p.retry_at,
    p.error,
    p.needs,
    p.is_discarded,
    p.parked_at
   FROM notifications.parked p
UNION ALL
 SELECT 'session'::text AS consumer,
    p.source,
    p.partition,
    p."position",
    p.kind,
    p.type,
    p.version,
    p.key,
    p.account,
    p.body,
    p.message_id,
    p.command_id,
    p.outcome,
    p.command_hash,
    p.correlation_id,
    p.causation_id,
    p.trace_parent,
    p.expires_at,
    p.recorded_at,
    p.cause,
    p.attempts,
    p.failing_since,
    p.retry_at,
    p.error,
    p.needs,
    p.is_discarded,
    p.parked_at
   FROM session.parked p
UNION ALL
 SELECT 'session_client'::text AS consumer,
    p.source,
    p.partition,
    p."position",
    p.kind,
    p.type,
    p.version,
    p.key,
    p.account,
    p.body,
    p.message_id,
    p.command_id,
    p.outcome,
    p.command_hash,
    p.correlation_id,
    p.causation_id,
    p.trace_parent,
    p.expires_at,
    p.recorded_at,
    p.cause,
    p.attempts,
    p.failing_since,
    p.retry_at,
    p.error,
    p.needs,
    p.is_discarded,
    p.parked_at
   FROM session_client.parked p;


ALTER TABLE session_client.all_parked OWNER TO session_client_owner;

--
-- Name: VIEW all_parked; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_parked IS 'The parked messages of all consumers, as they are stored; see session_client.parked_messages.';


--
-- Name: COLUMN all_parked.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.consumer IS 'The service that handles the messages, by its schema.';


--
-- Name: COLUMN all_parked.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.source IS 'The log, as schema.table.';


--
-- Name: COLUMN all_parked.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.partition IS 'The log''s partition.';


--
-- Name: COLUMN all_parked."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked."position" IS 'The message''s position there.';


--
-- Name: COLUMN all_parked.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.kind IS 'command, or event (of a policy).';


--
-- Name: COLUMN all_parked.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.type IS 'Name of the body''s type.';


--
-- Name: COLUMN all_parked.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.version IS 'Version of the type.';


--
-- Name: COLUMN all_parked.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.key IS 'The message''s key. Only the first message of a key is retried.';


--
-- Name: COLUMN all_parked.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.account IS 'The account that asked.';


--
-- Name: COLUMN all_parked.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.body IS 'The message as it was.';


--
-- Name: COLUMN all_parked.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.message_id IS 'The message''s id.';


--
-- Name: COLUMN all_parked.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.command_id IS 'The command''s id; for an event, that of the command that led to it.';


--
-- Name: COLUMN all_parked.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.outcome IS 'As in the log.';


--
-- Name: COLUMN all_parked.command_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.command_hash IS 'As in the log.';


--
-- Name: COLUMN all_parked.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.correlation_id IS 'The request that the message belongs to.';


--
-- Name: COLUMN all_parked.causation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.causation_id IS 'The message_id of the message that caused this one.';


--
-- Name: COLUMN all_parked.trace_parent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.trace_parent IS 'W3C trace context of that request.';


--
-- Name: COLUMN all_parked.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.expires_at IS 'A command handled later than this is rejected as expired.';


--
-- Name: COLUMN all_parked.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.recorded_at IS 'When the message was appended to its log.';


--
-- Name: COLUMN all_parked.cause; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners). Null while it only waits behind another message.';


--
-- Name: COLUMN all_parked.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.attempts IS 'How often in a row the message failed for this cause; 0 while it only waits.';


--
-- Name: COLUMN all_parked.failing_since; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.failing_since IS 'When it began to fail for this cause.';


--
-- Name: COLUMN all_parked.retry_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.retry_at IS 'When it is retried; retry_parked makes that now.';


--
-- Name: COLUMN all_parked.error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.error IS 'The latest error.';


--
-- Name: COLUMN all_parked.needs; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.needs IS 'What a replica has to know before it can handle the message: this type and version, or this enum value.';


--
-- Name: COLUMN all_parked.is_discarded; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.is_discarded IS 'Whether an operator called discard_parked: the message isn''t retried and becomes a dead letter.';


--
-- Name: COLUMN all_parked.parked_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_parked.parked_at IS 'When it was parked.';


--
-- Name: retention; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.retention (
    subject text NOT NULL,
    keep interval NOT NULL,
    truncate_after interval,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_by text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT retention_keeps_a_minute CHECK ((keep >= '00:01:00'::interval)),
    CONSTRAINT retention_truncates_after_keeping CHECK ((truncate_after >= keep))
);


ALTER TABLE session_client.retention OWNER TO session_client_owner;

--
-- Name: TABLE retention; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.retention IS 'How long each table''s rows are kept. Change it with session_client.set_retention.';


--
-- Name: COLUMN retention.subject; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention.subject IS 'The table''s name.';


--
-- Name: COLUMN retention.keep; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';


--
-- Name: COLUMN retention.truncate_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention.truncate_after IS 'Older rows of a log are deleted even if a consumer hasn''t handled them; the consumer then finds the log truncated. Null: retention waits for consumers without limit.';


--
-- Name: COLUMN retention.changed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention.changed_at IS 'When this was last set.';


--
-- Name: COLUMN retention.changed_by; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention.changed_by IS 'The role that set it.';


--
-- Name: all_retention; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_retention WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS service,
    r.subject,
    r.keep,
    r.truncate_after,
    r.changed_at,
    r.changed_by
   FROM contacts.retention r
UNION ALL
 SELECT 'notifications'::text AS service,
    r.subject,
    r.keep,
    r.truncate_after,
    r.changed_at,
    r.changed_by
   FROM notifications.retention r
UNION ALL
 SELECT 'session'::text AS service,
    r.subject,
    r.keep,
    r.truncate_after,
    r.changed_at,
    r.changed_by
   FROM session.retention r
UNION ALL
 SELECT 'session_client'::text AS service,
    r.subject,
    r.keep,
    r.truncate_after,
    r.changed_at,
    r.changed_by
   FROM session_client.retention r;


ALTER TABLE session_client.all_retention OWNER TO session_client_owner;

--
-- Name: VIEW all_retention; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_retention IS 'How long each service keeps what; see session_client.retention_state.';


--
-- Name: COLUMN all_retention.service; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_retention.service IS 'The service, by its schema.';


--
-- Name: COLUMN all_retention.subject; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_retention.subject IS 'The table''s name.';


--
-- Name: COLUMN all_retention.keep; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';


--
-- Name: COLUMN all_retention.truncate_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_retention.truncate_after IS 'Older rows of a log are deleted even if a consumer hasn''t handled them; the consumer then finds the log truncated. Null: retention waits for consumers without limit.';


--
-- Name: COLUMN all_retention.changed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_retention.changed_at IS 'When this was last set.';


--
-- Name: COLUMN all_retention.changed_by; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_retention.changed_by IS 'The role that set it.';


--
-- Name: all_timers; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.all_timers WITH (security_invoker='true') AS
 SELECT 'notifications'::text AS service,
    t.key,
    t.name,
    t.due_at,
    t.type,
    t.version,
    t.body
   FROM notifications.timer t
UNION ALL
 SELECT 'session'::text AS service,
    t.key,
    t.name,
    t.due_at,
    t.type,
    t.version,
    t.body
   FROM session.timer t;


ALTER TABLE session_client.all_timers OWNER TO session_client_owner;

--
-- Name: VIEW all_timers; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.all_timers IS 'The timers of all services, as they are stored; see session_client.timers.';


--
-- Name: COLUMN all_timers.service; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.service IS 'The service, by its schema.';


--
-- Name: COLUMN all_timers.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.key IS 'The command''s key.';


--
-- Name: COLUMN all_timers.name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.name IS 'The timer''s name. Setting a timer with the same key and name replaces it.';


--
-- Name: COLUMN all_timers.due_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.due_at IS 'When the command is sent.';


--
-- Name: COLUMN all_timers.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.type IS 'Name of the command''s type.';


--
-- Name: COLUMN all_timers.version; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.version IS 'Version of the type.';


--
-- Name: COLUMN all_timers.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.all_timers.body IS 'The command. It says what it was set for, so one that is out of date changes nothing.';


--
-- Name: attempt; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.attempt (
    source text NOT NULL,
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    epoch bigint NOT NULL,
    owner uuid NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='70');


ALTER TABLE session_client.attempt OWNER TO session_client_owner;

--
-- Name: TABLE attempt; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.attempt IS 'Messages that a worker is about to handle, recorded in a transaction of its own before the attempt: after a lease that wasn''t given back, and for parked messages. The row is deleted when the message is handled or fails. A message whose handling ended three leases in a row isn''t tried a fourth time.';


--
-- Name: COLUMN attempt.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.attempt.source IS 'The log, as schema.table.';


--
-- Name: COLUMN attempt.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.attempt.partition IS 'The log''s partition.';


--
-- Name: COLUMN attempt."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.attempt."position" IS 'The message''s position there.';


--
-- Name: COLUMN attempt.epoch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.attempt.epoch IS 'The epoch of the worker''s lease. If the partition''s lease has a later epoch, this lease ended during the attempt.';


--
-- Name: COLUMN attempt.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.attempt.owner IS 'The worker that held the lease.';


--
-- Name: COLUMN attempt.began_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.attempt.began_at IS 'When the attempt began.';


--
-- Name: batch; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.batch (
    source text NOT NULL,
    partition integer NOT NULL,
    number session_client.batch_number NOT NULL,
    "position" session_client.batch_position NOT NULL,
    owner uuid NOT NULL,
    epoch bigint NOT NULL,
    given_time timestamp with time zone NOT NULL,
    messages session_client.batch_messages NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='1', autovacuum_analyze_threshold='1000000');


ALTER TABLE session_client.batch OWNER TO session_client_owner;

--
-- Name: TABLE batch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.batch IS 'One row per transaction that handled messages of a partition. The newest one says how far session_client has come; the others are its throughput history.';


--
-- Name: COLUMN batch.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.source IS 'The log, as schema.table.';


--
-- Name: COLUMN batch.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.partition IS 'The log''s partition.';


--
-- Name: COLUMN batch.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.number IS 'The previous batch''s number plus one.';


--
-- Name: COLUMN batch."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch."position" IS 'Everything up to this position of the log is handled.';


--
-- Name: COLUMN batch.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.owner IS 'The worker that committed the batch.';


--
-- Name: COLUMN batch.epoch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.epoch IS 'The epoch of the worker''s lease.';


--
-- Name: COLUMN batch.given_time; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.given_time IS 'The time that the rules were given; never less than in the previous batch.';


--
-- Name: COLUMN batch.messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batch.messages IS 'How many messages the batch handled.';


--
-- Name: batches; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.batches WITH (security_invoker='true') AS
 SELECT 'contacts'::text AS consumer,
    b.source,
    b.partition,
    (b.number)::bigint AS number,
    (b."position")::bigint AS "position",
    b.owner,
    b.epoch,
    b.given_time,
    (b.messages)::integer AS messages
   FROM contacts.batch b
UNION ALL
 SELECT 'notifications'::text AS consumer,
    b.source,
    b.partition,
    (b.number)::bigint AS number,
    (b."position")::bigint AS "position",
    b.owner,
    b.epoch,
    b.given_time,
    (b.messages)::integer AS messages
   FROM notifications.batch b
UNION ALL
 SELECT 'session'::text AS consumer,
    b.source,
    b.partition,
    (b.number)::bigint AS number,
    (b."position")::bigint AS "position",
    b.owner,
    b.epoch,
    b.given_time,
    (b.messages)::integer AS messages
   FROM session.batch b
UNION ALL
 SELECT 'session_client'::text AS consumer,
    b.source,
    b.partition,
    (b.number)::bigint AS number,
    (b."position")::bigint AS "position",
    b.owner,
    b.epoch,
    b.given_time,
    (b.messages)::integer AS messages
   FROM session_client.batch b;


ALTER TABLE session_client.batches OWNER TO session_client_owner;

--
-- Name: VIEW batches; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.batches IS 'The batches of all consumers: each is one transaction. Ask for a consumer, a source and a partition.';


--
-- Name: COLUMN batches.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.consumer IS 'The service that handles the messages, by its schema.';


--
-- Name: COLUMN batches.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.source IS 'The log, as schema.table.';


--
-- Name: COLUMN batches.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.partition IS 'The log''s partition.';


--
-- Name: COLUMN batches.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.number IS 'The previous batch''s number plus one.';


--
-- Name: COLUMN batches."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches."position" IS 'Everything up to this position of the log is handled.';


--
-- Name: COLUMN batches.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.owner IS 'The worker that committed the batch.';


--
-- Name: COLUMN batches.epoch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.epoch IS 'The epoch of the worker''s lease.';


--
-- Name: COLUMN batches.given_time; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.given_time IS 'The time that the rules were given; never less than in the previous batch.';


--
-- Name: COLUMN batches.messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.batches.messages IS 'How many messages the batch handled.';


--
-- Name: heads; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.heads WITH (security_invoker='true') AS
 SELECT 'contacts.log'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (contacts.log_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM contacts.log m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'notifications.due'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (notifications.due_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM notifications.due m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'notifications.log'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (notifications.log_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM notifications.log m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'session.due'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (session.due_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM session.due m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'session.log'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (session.log_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM session.log m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'session_client.contacts_commands'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (session_client.contacts_commands_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM session_client.contacts_commands m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'session_client.notifications_commands'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (session_client.notifications_commands_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM session_client.notifications_commands m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'session_client.operations'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (session_client.operations_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM session_client.operations m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true))
UNION ALL
 SELECT 'session_client.session_commands'::text AS log,
    p.partition,
    p.base_position AS base,
    COALESCE((m."position")::bigint, p.base_position) AS head,
    m.recorded_at
   FROM (session_client.session_commands_partition p
     LEFT JOIN LATERAL ( SELECT m_1."position",
            m_1.recorded_at
           FROM session_client.session_commands m_1
          WHERE (m_1.partition = p.partition)
          ORDER BY m_1."position" DESC
         LIMIT 1) m ON (true));


ALTER TABLE session_client.heads OWNER TO session_client_owner;

--
-- Name: VIEW heads; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.heads IS 'Where each partition of each log begins and ends.';


--
-- Name: COLUMN heads.log; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.heads.log IS 'The log, as schema.table.';


--
-- Name: COLUMN heads.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.heads.partition IS 'The partition, which follows from the key (log_partition_of).';


--
-- Name: COLUMN heads.base; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.heads.base IS 'Retention deleted the positions up to this one.';


--
-- Name: COLUMN heads.head; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.heads.head IS 'The newest position; 0 if there is none.';


--
-- Name: COLUMN heads.recorded_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.heads.recorded_at IS 'When the newest row was appended.';


--
-- Name: biggest_keys; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.biggest_keys WITH (security_invoker='true') AS
 SELECT h.log,
    h.partition,
    m.key,
    count(DISTINCT m.id) AS messages,
    round(((100.0 * (count(DISTINCT m.id))::numeric) / (LEAST((h.head - h.base), (250)::bigint))::numeric), 1) AS percent,
    max(m.recorded_at) AS newest
   FROM (session_client.heads h
     CROSS JOIN LATERAL ( SELECT m_1.key,
            m_1.recorded_at,
                CASE m_1.kind
                    WHEN 'command'::text THEN m_1.command_id
                    ELSE m_1.message_id
                END AS id
           FROM session_client.messages m_1
          WHERE ((m_1.log = h.log) AND (m_1.partition = h.partition) AND (m_1."position" > (h.head - 250)) AND (m_1."position" <= h.head))
          ORDER BY m_1."position" DESC
         LIMIT 250) m)
  GROUP BY h.log, h.partition, h.head, h.base, m.key;


ALTER TABLE session_client.biggest_keys OWNER TO session_client_owner;

--
-- Name: VIEW biggest_keys; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.biggest_keys IS 'How many of the newest 250 messages of each partition of each log belong to which key. A key''s messages are handled one after the other, so a big key holds up its partition.';


--
-- Name: COLUMN biggest_keys.log; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.biggest_keys.log IS 'The log, as schema.table.';


--
-- Name: COLUMN biggest_keys.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.biggest_keys.partition IS 'The key''s partition.';


--
-- Name: COLUMN biggest_keys.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.biggest_keys.key IS 'The key.';


--
-- Name: COLUMN biggest_keys.messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.biggest_keys.messages IS 'How many of the partition''s newest 250 messages have this key; a command that was appended again counts once.';


--
-- Name: COLUMN biggest_keys.percent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.biggest_keys.percent IS 'The same, as a percentage of those messages.';


--
-- Name: COLUMN biggest_keys.newest; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.biggest_keys.newest IS 'When the key''s newest message was appended.';


--
-- Name: logs; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.logs AS
 SELECT l.log,
    l.consumer
   FROM ( VALUES ('session.log'::text,'session_client'::text), ('session.due'::text,'session'::text), ('contacts.log'::text,'session_client'::text), ('notifications.log'::text,NULL::text), ('notifications.due'::text,'notifications'::text), ('session_client.session_commands'::text,'session'::text), ('session_client.contacts_commands'::text,'contacts'::text), ('session_client.notifications_commands'::text,'notifications'::text), ('session_client.operations'::text,NULL::text)) l(log, consumer);


ALTER TABLE session_client.logs OWNER TO session_client_owner;

--
-- Name: VIEW logs; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.logs IS 'Every log and the service that handles it.';


--
-- Name: COLUMN logs.log; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.logs.log IS 'The log, as schema.table.';


--
-- Name: COLUMN logs.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.logs.consumer IS 'The service that handles the log, by its schema; null if the log is only streamed.';


--
-- Name: bloat; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.bloat WITH (security_invoker='true') AS
 SELECT (s.schemaname)::text AS schema,
    (s.relname)::text AS "table",
    s.n_live_tup AS live,
    s.n_dead_tup AS dead,
    pg_table_size((s.relid)::regclass) AS table_bytes,
    pg_indexes_size((s.relid)::regclass) AS index_bytes,
    round(((100.0 * (s.n_tup_hot_upd)::numeric) / (NULLIF(s.n_tup_upd, 0))::numeric), 1) AS hot_percent,
    s.autovacuum_count AS autovacuums,
    s.last_autovacuum,
    GREATEST(s.last_vacuum, s.last_autovacuum) AS last_vacuum
   FROM pg_stat_user_tables s
  WHERE ((s.schemaname IN ( SELECT split_part(l.log, '.'::text, 1) AS split_part
           FROM session_client.logs l)) AND ((s.relname = ANY (ARRAY['lease'::name, 'member'::name, 'batch'::name, 'parked'::name, 'attempt'::name, 'outcome'::name, 'timer'::name, 'saga'::name, 'saga_step'::name])) OR (s.relname ~~ '%\_partition'::text)));


ALTER TABLE session_client.bloat OWNER TO session_client_owner;

--
-- Name: VIEW bloat; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.bloat IS 'The bus''s tables that change all the time. Each should have few live rows; an old snapshot keeps dead ones from being cleaned up (see holders). The numbers come from the statistics, some seconds old.';


--
-- Name: COLUMN bloat.schema; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.schema IS 'The table''s schema.';


--
-- Name: COLUMN bloat."table"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat."table" IS 'The table.';


--
-- Name: COLUMN bloat.live; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.live IS 'Live rows.';


--
-- Name: COLUMN bloat.dead; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.dead IS 'Row versions that no transaction needs, or only one with an old snapshot.';


--
-- Name: COLUMN bloat.table_bytes; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.table_bytes IS 'Size without indexes.';


--
-- Name: COLUMN bloat.index_bytes; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.index_bytes IS 'Size of the indexes.';


--
-- Name: COLUMN bloat.hot_percent; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.hot_percent IS 'Percentage of updates that needed no new index entry.';


--
-- Name: COLUMN bloat.autovacuums; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.autovacuums IS 'How often autovacuum cleaned the table.';


--
-- Name: COLUMN bloat.last_autovacuum; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.last_autovacuum IS 'When autovacuum last cleaned it.';


--
-- Name: COLUMN bloat.last_vacuum; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.bloat.last_vacuum IS 'When it was last cleaned, by autovacuum or by hand.';


--
-- Name: closure; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.closure (
    account uuid NOT NULL,
    operation uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


ALTER TABLE session_client.closure OWNER TO session_client_owner;

--
-- Name: TABLE closure; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.closure IS 'Accounts that every service has closed. This is what remains of an account, to answer later questions about it.';


--
-- Name: COLUMN closure.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closure.account IS 'The account. Nothing else about it is kept here.';


--
-- Name: COLUMN closure.operation; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closure.operation IS 'The saga that closed it.';


--
-- Name: COLUMN closure.requested_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closure.requested_at IS 'When the person asked to close it.';


--
-- Name: COLUMN closure.closed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closure.closed_at IS 'When the last service closed it.';


--
-- Name: redaction; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.redaction (
    account uuid NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    late_until timestamp with time zone DEFAULT (clock_timestamp() + '00:10:00'::interval) NOT NULL,
    noticed_at timestamp with time zone,
    done_at timestamp with time zone,
    CONSTRAINT redaction_is_noticed_before_it_is_done CHECK (((done_at IS NULL) OR (done_at >= noticed_at)))
);


ALTER TABLE session_client.redaction OWNER TO session_client_owner;

--
-- Name: TABLE redaction; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.redaction IS 'Accounts whose messages are to be emptied, and whether all of them are.';


--
-- Name: COLUMN redaction.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction.account IS 'The account.';


--
-- Name: COLUMN redaction.requested_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction.requested_at IS 'When the redaction was requested.';


--
-- Name: COLUMN redaction.late_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction.late_until IS 'Until when late messages may arrive: by then, commands are handled or expired.';


--
-- Name: COLUMN redaction.noticed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction.noticed_at IS 'When the service first saw it. A pass that begins later empties all rows of the account.';


--
-- Name: COLUMN redaction.done_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction.done_at IS 'When all rows from before requested_at were emptied; after late_until, when the late ones were too. Null while some wait, for example for a consumer to handle them.';


--
-- Name: closed_account; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.closed_account WITH (security_invoker='true') AS
 SELECT c.account,
    c.operation,
    c.requested_at,
    c.closed_at,
    s.done_at AS session_emptied_at,
    o.done_at AS contacts_emptied_at,
    n.done_at AS notifications_emptied_at,
    e.done_at AS session_client_emptied_at
   FROM ((((session_client.closure c
     LEFT JOIN session.redaction s ON ((s.account = c.account)))
     LEFT JOIN contacts.redaction o ON ((o.account = c.account)))
     LEFT JOIN notifications.redaction n ON ((n.account = c.account)))
     LEFT JOIN session_client.redaction e ON ((e.account = c.account)));


ALTER TABLE session_client.closed_account OWNER TO session_client_owner;

--
-- Name: VIEW closed_account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.closed_account IS 'Closed accounts, and when each service had emptied their messages in its logs.';


--
-- Name: COLUMN closed_account.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.account IS 'The account.';


--
-- Name: COLUMN closed_account.operation; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.operation IS 'The saga that closed it.';


--
-- Name: COLUMN closed_account.requested_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.requested_at IS 'When the person asked to close it.';


--
-- Name: COLUMN closed_account.closed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.closed_at IS 'When the last service closed it.';


--
-- Name: COLUMN closed_account.session_emptied_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.session_emptied_at IS 'When session had emptied its messages.';


--
-- Name: COLUMN closed_account.contacts_emptied_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.contacts_emptied_at IS 'When contacts had emptied its messages.';


--
-- Name: COLUMN closed_account.notifications_emptied_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.notifications_emptied_at IS 'When notifications had emptied its messages.';


--
-- Name: COLUMN closed_account.session_client_emptied_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.closed_account.session_client_emptied_at IS 'When session-client had emptied the commands and operations.';


--
-- Name: dead_letter_decision; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.dead_letter_decision (
    message_id uuid NOT NULL,
    decision text NOT NULL,
    command_id uuid,
    reason text,
    decided_by text DEFAULT SESSION_USER NOT NULL,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT decision_is_known CHECK ((decision = ANY (ARRAY['retried'::text, 'discarded'::text]))),
    CONSTRAINT decision_reason_is_short CHECK ((length(reason) <= 1000)),
    CONSTRAINT decision_to_retry_names_its_command CHECK (((decision = 'retried'::text) = (command_id IS NOT NULL)))
);


ALTER TABLE session_client.dead_letter_decision OWNER TO session_client_owner;

--
-- Name: TABLE dead_letter_decision; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.dead_letter_decision IS 'What an operator decided about a dead letter of any service. Each is decided once.';


--
-- Name: COLUMN dead_letter_decision.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter_decision.message_id IS 'The dead letter''s message_id.';


--
-- Name: COLUMN dead_letter_decision.decision; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter_decision.decision IS 'retried or discarded.';


--
-- Name: COLUMN dead_letter_decision.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter_decision.command_id IS 'The command that was sent instead. Its causation_id is the dead letter''s message_id.';


--
-- Name: COLUMN dead_letter_decision.reason; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter_decision.reason IS 'Why.';


--
-- Name: COLUMN dead_letter_decision.decided_by; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter_decision.decided_by IS 'The role that decided.';


--
-- Name: COLUMN dead_letter_decision.decided_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letter_decision.decided_at IS 'When it was decided.';


--
-- Name: dead_letters; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.dead_letters WITH (security_invoker='true') AS
 SELECT d.consumer,
    COALESCE(c.decision, 'open'::text) AS state,
    d.died_at,
    d.type,
    d.key,
    d.code,
    d.error,
    d.attempts,
    c.decided_by,
    c.decided_at,
    c.reason,
    c.command_id AS retried_as,
    ( SELECT o.outcome
           FROM session_client.all_outcomes o
          WHERE (o.command_id = c.command_id)
         LIMIT 1) AS retry_outcome,
    d.message_id,
    d.command_id,
    d.correlation_id,
    d.kind,
    d.source,
    d.partition,
    d."position",
    d.account,
    d.body
   FROM (session_client.all_dead_letters d
     LEFT JOIN session_client.dead_letter_decision c ON ((c.message_id = d.message_id)));


ALTER TABLE session_client.dead_letters OWNER TO session_client_owner;

--
-- Name: VIEW dead_letters; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.dead_letters IS 'Messages that kept failing, and what operators did about them by session_client.retry_dead_letter and discard_dead_letter.';


--
-- Name: COLUMN dead_letters.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.consumer IS 'The service that could not handle the message, by its schema.';


--
-- Name: COLUMN dead_letters.state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.state IS 'open, retried or discarded.';


--
-- Name: COLUMN dead_letters.died_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.died_at IS 'When it was given up.';


--
-- Name: COLUMN dead_letters.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.type IS 'Name of its body''s type.';


--
-- Name: COLUMN dead_letters.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.key IS 'Its key.';


--
-- Name: COLUMN dead_letters.code; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.code IS 'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator, while it was parked).';


--
-- Name: COLUMN dead_letters.error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.error IS 'The last error.';


--
-- Name: COLUMN dead_letters.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.attempts IS 'How often it was tried.';


--
-- Name: COLUMN dead_letters.decided_by; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.decided_by IS 'The role that retried or discarded it.';


--
-- Name: COLUMN dead_letters.decided_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.decided_at IS 'When it was retried or discarded.';


--
-- Name: COLUMN dead_letters.reason; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.reason IS 'Why it was retried or discarded.';


--
-- Name: COLUMN dead_letters.retried_as; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.retried_as IS 'The command that was sent instead.';


--
-- Name: COLUMN dead_letters.retry_outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.retry_outcome IS 'How that command ended; null while it hasn''t.';


--
-- Name: COLUMN dead_letters.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.message_id IS 'The message''s id, which retry_dead_letter and discard_dead_letter take.';


--
-- Name: COLUMN dead_letters.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.command_id IS 'The command''s id; its outcome is failed.';


--
-- Name: COLUMN dead_letters.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.correlation_id IS 'The request that it belonged to: see session_client.story.';


--
-- Name: COLUMN dead_letters.kind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.kind IS 'command, or event of a policy.';


--
-- Name: COLUMN dead_letters.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.source IS 'The message''s log, as schema.table.';


--
-- Name: COLUMN dead_letters.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.partition IS 'Its partition.';


--
-- Name: COLUMN dead_letters."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters."position" IS 'Its position there.';


--
-- Name: COLUMN dead_letters.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.account IS 'The account that asked.';


--
-- Name: COLUMN dead_letters.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.dead_letters.body IS 'The message as it was.';


--
-- Name: holders; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.holders WITH (security_invoker='true') AS
 SELECT 'session'::text AS what,
    a.pid,
    (a.usename)::text AS role,
    a.application_name AS name,
    a.state,
    GREATEST(age(a.backend_xmin), age(a.backend_xid)) AS holds_back,
    (clock_timestamp() - a.xact_start) AS in_transaction,
    a.query AS statement
   FROM pg_stat_activity a
  WHERE ((COALESCE(a.backend_xmin, a.backend_xid) IS NOT NULL) AND (a.pid <> pg_backend_pid()))
UNION ALL
 SELECT 'prepared transaction'::text AS what,
    NULL::integer AS pid,
    (p.owner)::text AS role,
    p.gid AS name,
    'prepared'::text AS state,
    age(p.transaction) AS holds_back,
    (clock_timestamp() - p.prepared) AS in_transaction,
    NULL::text AS statement
   FROM pg_prepared_xacts p
UNION ALL
 SELECT 'replication slot'::text AS what,
    s.active_pid AS pid,
    NULL::text AS role,
    (s.slot_name)::text AS name,
        CASE
            WHEN s.active THEN 'active'::text
            ELSE 'inactive'::text
        END AS state,
    GREATEST(age(s.xmin), age(s.catalog_xmin)) AS holds_back,
    NULL::interval AS in_transaction,
    NULL::text AS statement
   FROM pg_replication_slots s
  WHERE (COALESCE(s.xmin, s.catalog_xmin) IS NOT NULL);


ALTER TABLE session_client.holders OWNER TO session_client_owner;

--
-- Name: VIEW holders; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.holders IS 'What keeps PostgreSQL from cleaning up dead rows: old snapshots and open transactions.';


--
-- Name: COLUMN holders.what; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.what IS 'session, prepared transaction or replication slot.';


--
-- Name: COLUMN holders.pid; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.pid IS 'The session''s server process; pg_terminate_backend ends it.';


--
-- Name: COLUMN holders.role; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.role IS 'The role that logged in, or prepared the transaction.';


--
-- Name: COLUMN holders.name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.name IS 'The session''s application_name, or the name of the transaction or slot.';


--
-- Name: COLUMN holders.state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.state IS 'What the session does, or the state of the transaction or slot.';


--
-- Name: COLUMN holders.holds_back; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.holds_back IS 'How many transactions have begun since: the more, the more dead rows it keeps.';


--
-- Name: COLUMN holders.in_transaction; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.in_transaction IS 'How long its transaction has been open.';


--
-- Name: COLUMN holders.statement; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.holders.statement IS 'Its last statement.';


--
-- Name: lag; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.lag WITH (security_invoker='true') AS
 WITH consumer(consumer, source) AS (
         SELECT s.consumer,
            s.log
           FROM session_client.logs s
          WHERE (s.consumer IS NOT NULL)
        UNION
         SELECT l_1.consumer,
            l_1.source
           FROM session_client.all_leases l_1
        ), parked AS (
         SELECT p_1.consumer,
            p_1.source,
            p_1.partition,
            count(*) AS messages,
            min(p_1."position") AS first
           FROM session_client.all_parked p_1
          GROUP BY p_1.consumer, p_1.source, p_1.partition
        ), place AS (
         SELECT c.consumer,
            c.source,
            h.partition,
            h.base,
            h.head,
            b.number,
            COALESCE(b."position", (0)::bigint) AS handled,
            b.given_time
           FROM ((consumer c
             JOIN session_client.heads h ON ((h.log = c.source)))
             LEFT JOIN LATERAL ( SELECT b_1.number,
                    b_1."position",
                    b_1.given_time
                   FROM session_client.batches b_1
                  WHERE ((b_1.consumer = c.consumer) AND (b_1.source = c.source) AND (b_1.partition = h.partition))
                  ORDER BY b_1.number DESC
                 LIMIT 1) b ON (true))
        )
 SELECT p.consumer,
    p.source,
    p.partition,
    p.head,
    p.handled,
    GREATEST((p.head - GREATEST(p.handled, p.base)), (0)::bigint) AS behind,
    (clock_timestamp() - m.recorded_at) AS behind_for,
    COALESCE(w.messages, (0)::bigint) AS parked,
    w.first AS first_parked,
        CASE
            WHEN (p.number IS NULL) THEN (0)::bigint
            ELSE GREATEST((p.base - p.handled), (0)::bigint)
        END AS lost,
    (clock_timestamp() - p.given_time) AS since_last_batch,
    l.owner,
    (clock_timestamp() - l.resting_since) AS resting_for,
    l.trouble
   FROM (((place p
     LEFT JOIN LATERAL ( SELECT m_1.recorded_at
           FROM session_client.messages m_1
          WHERE ((m_1.log = p.source) AND (m_1.partition = p.partition) AND (m_1."position" = (GREATEST(p.handled, p.base) + 1)))
         LIMIT 1) m ON (true))
     LEFT JOIN parked w ON (((w.consumer = p.consumer) AND (w.source = p.source) AND (w.partition = p.partition))))
     LEFT JOIN session_client.all_leases l ON (((l.consumer = p.consumer) AND (l.source = p.source) AND (l.partition = p.partition))));


ALTER TABLE session_client.lag OWNER TO session_client_owner;

--
-- Name: VIEW lag; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.lag IS 'How far each consumer is behind in each partition of each log that it handles, even before its first run.';


--
-- Name: COLUMN lag.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.consumer IS 'The service that handles the log, by its schema.';


--
-- Name: COLUMN lag.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.source IS 'The log, as schema.table.';


--
-- Name: COLUMN lag.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.partition IS 'The log''s partition.';


--
-- Name: COLUMN lag.head; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.head IS 'The newest position.';


--
-- Name: COLUMN lag.handled; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.handled IS 'Everything up to this position is handled or parked; 0 before the first batch.';


--
-- Name: COLUMN lag.behind; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.behind IS 'How many rows come after that. A command that was appended again has two rows; handling the second does nothing.';


--
-- Name: COLUMN lag.behind_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.behind_for IS 'How long ago the first of these rows was appended; null if there are none.';


--
-- Name: COLUMN lag.parked; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.parked IS 'How many messages failed, or wait behind one that failed; they don''t count as behind.';


--
-- Name: COLUMN lag.first_parked; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.first_parked IS 'The position of the first parked message.';


--
-- Name: COLUMN lag.lost; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.lost IS 'How many messages retention deleted before they were handled: the consumer waits until an operator calls its accept_truncation.';


--
-- Name: COLUMN lag.since_last_batch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.since_last_batch IS 'How long ago the consumer last handled something here; null if it never did, or that batch was deleted.';


--
-- Name: COLUMN lag.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.owner IS 'The worker that holds the partition''s lease, or held it until it ran out; null if it is free.';


--
-- Name: COLUMN lag.resting_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.resting_for IS 'How long the partition has been resting because every attempt fails; null while it doesn''t.';


--
-- Name: COLUMN lag.trouble; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.lag.trouble IS 'Why it rests.';


--
-- Name: processes; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.processes WITH (security_invoker='true') AS
 SELECT a.application_name AS application,
    min(a.pid) AS pid
   FROM pg_stat_activity a
  WHERE (a.datname = current_database())
  GROUP BY a.application_name;


ALTER TABLE session_client.processes OWNER TO session_client_owner;

--
-- Name: VIEW processes; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.processes IS 'One session for each application_name that is connected to this database.';


--
-- Name: COLUMN processes.application; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.processes.application IS 'The session''s application_name; a worker''s is its service and its id.';


--
-- Name: COLUMN processes.pid; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.processes.pid IS 'The session''s server process.';


--
-- Name: leases; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.leases WITH (security_invoker='true') AS
 SELECT l.consumer,
    l.source,
    l.partition,
        CASE
            WHEN (l.owner IS NULL) THEN 'free'::text
            WHEN (l.lease_until < clock_timestamp()) THEN 'run out'::text
            ELSE 'held'::text
        END AS state,
    l.owner,
    l.epoch,
    (l.lease_until - clock_timestamp()) AS ends_in,
    l.released,
    p.application,
    p.pid,
    l.needs,
    l.trouble,
    l.resting_since
   FROM (session_client.all_leases l
     LEFT JOIN session_client.processes p ON ((p.application = ((l.consumer || '/'::text) || l.owner))));


ALTER TABLE session_client.leases OWNER TO session_client_owner;

--
-- Name: VIEW leases; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.leases IS 'Which worker handles which partition, and by which session. A partition is listed once its consumer has run.';


--
-- Name: COLUMN leases.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.consumer IS 'The service that handles the partition, by its schema.';


--
-- Name: COLUMN leases.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.source IS 'The log, as schema.table.';


--
-- Name: COLUMN leases.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.partition IS 'The log''s partition.';


--
-- Name: COLUMN leases.state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.state IS 'held; free (no worker has it); or run out (its owner is silent, and any worker may take it).';


--
-- Name: COLUMN leases.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.owner IS 'The worker that holds the lease, or held it until it ran out.';


--
-- Name: COLUMN leases.epoch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.epoch IS 'How often the lease was taken.';


--
-- Name: COLUMN leases.ends_in; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.ends_in IS 'Time left unless the lease is renewed; negative once it has run out.';


--
-- Name: COLUMN leases.released; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.released IS 'Whether the last owner gave the lease back: false while it is held and after a crash.';


--
-- Name: COLUMN leases.application; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.application IS 'The worker''s session, as pg_stat_activity.application_name; null if it isn''t connected.';


--
-- Name: COLUMN leases.pid; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.pid IS 'The server process of that session.';


--
-- Name: COLUMN leases.needs; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.needs IS 'What a message needed and a replica didn''t know: a type with its version, or an enum value. Replicas that may know it get the partition.';


--
-- Name: COLUMN leases.trouble; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.trouble IS 'Why the partition rests: every attempt fails, and is repeated every few seconds. Null while it doesn''t rest.';


--
-- Name: COLUMN leases.resting_since; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.leases.resting_since IS 'When the partition began to rest.';


--
-- Name: listeners; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.listeners WITH (security_invoker='true') AS
 SELECT a.pid,
    (a.usename)::text AS role,
    a.application_name AS application,
    a.state,
    (clock_timestamp() - a.backend_start) AS connected_for,
    (clock_timestamp() - a.state_change) AS since_heard,
    a.query AS statement,
    pg_notification_queue_usage() AS queue_used
   FROM pg_stat_activity a
  WHERE ((a.datname = current_database()) AND (a.pid <> pg_backend_pid()) AND (a.query ~* '^\s*(listen\M|select\s*;?\s*$)'::text));


ALTER TABLE session_client.listeners OWNER TO session_client_owner;

--
-- Name: VIEW listeners; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.listeners IS 'Sessions that hear doorbells. PostgreSQL doesn''t list listeners, so these are the sessions whose last statement is LISTEN or, ten seconds later and from then on, the services'' probe (an empty SELECT).';


--
-- Name: COLUMN listeners.pid; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.pid IS 'The session''s server process.';


--
-- Name: COLUMN listeners.role; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.role IS 'The role that logged in.';


--
-- Name: COLUMN listeners.application; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.application IS 'The session''s application_name.';


--
-- Name: COLUMN listeners.state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.state IS 'What the session does; a listener is idle.';


--
-- Name: COLUMN listeners.connected_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.connected_for IS 'How long it has been connected.';


--
-- Name: COLUMN listeners.since_heard; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.since_heard IS 'How long ago its last statement ended. Much more than ten seconds means that it is paused or cut off.';


--
-- Name: COLUMN listeners.statement; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.statement IS 'Its last statement.';


--
-- Name: COLUMN listeners.queue_used; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.listeners.queue_used IS 'How full the server''s notification queue is, from 0 to 1. It fills up while a listener keeps a transaction open.';


--
-- Name: migration; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.migration (
    number integer NOT NULL,
    file text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL,
    duration interval NOT NULL
);


ALTER TABLE session_client.migration OWNER TO session_client_owner;

--
-- Name: TABLE migration; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.migration IS 'The migrations applied to this schema.';


--
-- Name: COLUMN migration.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.migration.number IS 'The number at the beginning of the file''s name.';


--
-- Name: COLUMN migration.file; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.migration.file IS 'The file''s name.';


--
-- Name: COLUMN migration.checksum; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.migration.checksum IS 'SHA-256 of the applied text, with its includes.';


--
-- Name: COLUMN migration.applied_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.migration.applied_at IS 'When it was applied.';


--
-- Name: COLUMN migration.applied_by; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.migration.applied_by IS 'The role that logged in to apply it.';


--
-- Name: COLUMN migration.duration; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.migration.duration IS 'How long it took.';


--
-- Name: open_redaction; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.open_redaction AS
 SELECT r.account,
    r.late_until,
    r.noticed_at
   FROM session_client.redaction r
  WHERE ((r.done_at IS NULL) OR (r.done_at < r.late_until));


ALTER TABLE session_client.open_redaction OWNER TO session_client_owner;

--
-- Name: VIEW open_redaction; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.open_redaction IS 'Redactions that aren''t finished.';


--
-- Name: COLUMN open_redaction.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.open_redaction.account IS 'The account.';


--
-- Name: COLUMN open_redaction.late_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.open_redaction.late_until IS 'Until when late messages may arrive.';


--
-- Name: COLUMN open_redaction.noticed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.open_redaction.noticed_at IS 'When the service first saw the redaction.';


--
-- Name: operator_act_number_seq; Type: SEQUENCE; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE session_client.operator_act ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME session_client.operator_act_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: operator_acts; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.operator_acts WITH (security_invoker='true') AS
 SELECT a.acted_at,
    a.act,
    a.service,
    a.subject,
    a.reason,
    a.acted_as,
    k.name AS key_name,
    a.with_key,
    a.number
   FROM (session_client.all_operator_acts a
     LEFT JOIN session_client.operator_key k ON ((k.id = a.with_key)));


ALTER TABLE session_client.operator_acts OWNER TO session_client_owner;

--
-- Name: VIEW operator_acts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.operator_acts IS 'What operators did, at psql and by /v1/operator: who, when and why. Ask for the newest of each service by number.';


--
-- Name: COLUMN operator_acts.acted_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.acted_at IS 'When it was done.';


--
-- Name: COLUMN operator_acts.act; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.act IS 'The function that was called.';


--
-- Name: COLUMN operator_acts.service; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.service IS 'The schema that it belongs to.';


--
-- Name: COLUMN operator_acts.subject; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.subject IS 'Its arguments, and what it did.';


--
-- Name: COLUMN operator_acts.reason; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.reason IS 'Why, in the operator''s words.';


--
-- Name: COLUMN operator_acts.acted_as; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.acted_as IS 'The role that logged in.';


--
-- Name: COLUMN operator_acts.key_name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.key_name IS 'The name of the operator''s API key; null at psql.';


--
-- Name: COLUMN operator_acts.with_key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.with_key IS 'The id of that key.';


--
-- Name: COLUMN operator_acts.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.operator_acts.number IS 'Numbers the acts of the schema.';


--
-- Name: parked_messages; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.parked_messages WITH (security_invoker='true') AS
 SELECT p.consumer,
    p.source,
    p.partition,
    p."position",
    p.key,
    p.type,
        CASE
            WHEN p.is_discarded THEN 'discarded'::text
            WHEN (p.cause IS NULL) THEN 'waiting'::text
            ELSE 'retrying'::text
        END AS state,
    p.cause,
    p.attempts,
    (p.retry_at - clock_timestamp()) AS retry_in,
    (clock_timestamp() - p.parked_at) AS parked_for,
    p.error,
    p.needs AS waits_for,
    p.message_id,
    p.command_id,
    p.correlation_id,
    p.body
   FROM session_client.all_parked p;


ALTER TABLE session_client.parked_messages OWNER TO session_client_owner;

--
-- Name: VIEW parked_messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.parked_messages IS 'Messages that failed and will be retried, and the later messages of their keys, which wait behind them.';


--
-- Name: COLUMN parked_messages.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.consumer IS 'The service that can''t handle the message yet, by its schema.';


--
-- Name: COLUMN parked_messages.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.source IS 'The message''s log, as schema.table.';


--
-- Name: COLUMN parked_messages.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.partition IS 'Its partition.';


--
-- Name: COLUMN parked_messages."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages."position" IS 'Its position there.';


--
-- Name: COLUMN parked_messages.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.key IS 'Its key. The functions retry_parked and discard_parked of the consumer''s schema take source and key.';


--
-- Name: COLUMN parked_messages.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.type IS 'Name of its body''s type.';


--
-- Name: COLUMN parked_messages.state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.state IS 'retrying; waiting (behind another message of its key); or discarded (an operator gave it up: it becomes a dead letter).';


--
-- Name: COLUMN parked_messages.cause; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.cause IS 'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners).';


--
-- Name: COLUMN parked_messages.attempts; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.attempts IS 'How often in a row it failed for this cause.';


--
-- Name: COLUMN parked_messages.retry_in; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.retry_in IS 'Time until the next attempt; negative when that is due.';


--
-- Name: COLUMN parked_messages.parked_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.parked_for IS 'How long it has been parked.';


--
-- Name: COLUMN parked_messages.error; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.error IS 'The latest error.';


--
-- Name: COLUMN parked_messages.waits_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.waits_for IS 'What a replica has to know before the message can be handled: this type and version, or this enum value.';


--
-- Name: COLUMN parked_messages.message_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.message_id IS 'The message''s id.';


--
-- Name: COLUMN parked_messages.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.command_id IS 'The command''s id; for an event, that of the command that led to it.';


--
-- Name: COLUMN parked_messages.correlation_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.correlation_id IS 'The request that it belongs to: see session_client.story.';


--
-- Name: COLUMN parked_messages.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.parked_messages.body IS 'The message itself.';


--
-- Name: redaction_pass; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.redaction_pass (
    log text NOT NULL,
    partition integer NOT NULL,
    begun_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    command_id uuid,
    is_whole boolean DEFAULT true NOT NULL,
    passed_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    rows bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


ALTER TABLE session_client.redaction_pass OWNER TO session_client_owner;

--
-- Name: TABLE redaction_pass; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.redaction_pass IS 'How far each partition has been searched for rows of accounts in session_client.redaction. A pass searches it once from the beginning for all accounts noticed by then, and then follows new rows until no late ones can arrive.';


--
-- Name: COLUMN redaction_pass.log; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.log IS 'The log''s table, or outcome.';


--
-- Name: COLUMN redaction_pass.partition; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.partition IS 'The log''s partition; 0 for outcome.';


--
-- Name: COLUMN redaction_pass.begun_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.begun_at IS 'When the pass began at the first row.';


--
-- Name: COLUMN redaction_pass."position"; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass."position" IS 'The last position searched.';


--
-- Name: COLUMN redaction_pass.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.command_id IS 'For outcome, the last command searched.';


--
-- Name: COLUMN redaction_pass.is_whole; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.is_whole IS 'Whether the pass has reached the end. From then on it follows new rows until the next pass begins.';


--
-- Name: COLUMN redaction_pass.passed_until; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.passed_until IS 'All rows recorded before this time were searched in this pass.';


--
-- Name: COLUMN redaction_pass.rows; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.redaction_pass.rows IS 'How many rows the pass searched before it reached the end. The next pass begins at least as many milliseconds after this one, so that closing accounts costs little in big logs.';


--
-- Name: retention_state; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.retention_state WITH (security_invoker='true') AS
 WITH place AS (
         SELECT h.log,
            h.partition,
            h.base,
            h.head,
            m.recorded_at AS oldest,
            l.consumer,
            COALESCE(b."position", (0)::bigint) AS handled
           FROM ((((session_client.heads h
             JOIN session_client.logs s ON ((s.log = h.log)))
             LEFT JOIN LATERAL ( SELECT m_1.recorded_at
                   FROM session_client.messages m_1
                  WHERE ((m_1.log = h.log) AND (m_1.partition = h.partition) AND (m_1."position" = (h.base + 1)))
                 LIMIT 1) m ON (true))
             LEFT JOIN session_client.all_leases l ON (((l.consumer = s.consumer) AND (l.source = h.log) AND (l.partition = h.partition))))
             LEFT JOIN LATERAL ( SELECT b_1."position"
                   FROM session_client.batches b_1
                  WHERE ((b_1.consumer = l.consumer) AND (b_1.source = l.source) AND (b_1.partition = l.partition))
                  ORDER BY b_1.number DESC
                 LIMIT 1) b ON (true))
        )
 SELECT p.log,
    r.keep,
    r.truncate_after,
    (sum((p.head - p.base)))::bigint AS rows,
    (sum(p.base))::bigint AS deleted,
    min(p.oldest) AS oldest,
    (clock_timestamp() - min(p.oldest)) AS oldest_for,
    max(
        CASE
            WHEN ((p.oldest < (clock_timestamp() - r.keep)) AND (p.handled <= p.base)) THEN p.consumer
            ELSE NULL::text
        END) AS held_back_by
   FROM (place p
     JOIN session_client.all_retention r ON ((((r.service || '.'::text) || r.subject) = p.log)))
  GROUP BY p.log, r.keep, r.truncate_after;


ALTER TABLE session_client.retention_state OWNER TO session_client_owner;

--
-- Name: VIEW retention_state; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.retention_state IS 'How long each log is kept, how much there is, and which consumer keeps it from being deleted. Change it with set_retention of the log''s schema.';


--
-- Name: COLUMN retention_state.log; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.log IS 'The log, as schema.table.';


--
-- Name: COLUMN retention_state.keep; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.keep IS 'Rows are kept at least this long, and until they are handled.';


--
-- Name: COLUMN retention_state.truncate_after; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.truncate_after IS 'Older rows are deleted even if they aren''t handled; null if never.';


--
-- Name: COLUMN retention_state.rows; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.rows IS 'How many rows there are.';


--
-- Name: COLUMN retention_state.deleted; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.deleted IS 'How many rows retention has deleted.';


--
-- Name: COLUMN retention_state.oldest; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.oldest IS 'When the oldest row was appended. The newest row of a partition is never deleted.';


--
-- Name: COLUMN retention_state.oldest_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.oldest_for IS 'How long ago that was.';


--
-- Name: COLUMN retention_state.held_back_by; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.retention_state.held_back_by IS 'A consumer that hasn''t handled rows which could otherwise be deleted, by its schema.';


--
-- Name: saga_number_seq; Type: SEQUENCE; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE session_client.saga ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME session_client.saga_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: saga_step; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.saga_step (
    saga uuid NOT NULL,
    name text NOT NULL,
    number integer NOT NULL,
    command_id uuid,
    body_hash uuid,
    attempt integer DEFAULT 1 NOT NULL,
    outcome text,
    result json,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT saga_step_attempts_begin_at_one CHECK ((attempt > 0)),
    CONSTRAINT saga_step_ends_with_an_outcome CHECK (((outcome IS NULL) = (ended_at IS NULL))),
    CONSTRAINT saga_step_has_a_name CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT saga_step_number_begins_at_one CHECK ((number > 0)),
    CONSTRAINT saga_step_outcome_is_known CHECK ((outcome = ANY (ARRAY['accepted'::text, 'rejected'::text, 'failed'::text, 'recorded'::text])))
);


ALTER TABLE session_client.saga_step OWNER TO session_client_owner;

--
-- Name: TABLE saga_step; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.saga_step IS 'The commands that sagas sent and the facts they read. The first writer wins. Every run, by any replica, continues from here.';


--
-- Name: COLUMN saga_step.saga; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.saga IS 'The saga.';


--
-- Name: COLUMN saga_step.name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.name IS 'The step''s name, for example acknowledge/<contact>.';


--
-- Name: COLUMN saga_step.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.number IS 'The step''s number in the order in which steps were first reached.';


--
-- Name: COLUMN saga_step.command_id; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.command_id IS 'The id of the command that it sent, derived from saga, name and attempt. Null for a step that only read something.';


--
-- Name: COLUMN saga_step.body_hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.body_hash IS 'Hash of the command. A run that sends another command under this name fails.';


--
-- Name: COLUMN saga_step.attempt; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.attempt IS 'The number of the command: after a failure the step sends another.';


--
-- Name: COLUMN saga_step.outcome; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.outcome IS 'How the command ended, or recorded if something was read.';


--
-- Name: COLUMN saga_step.result; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.result IS 'The command''s result or rejection, or the fact that was read.';


--
-- Name: COLUMN saga_step.started_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.started_at IS 'When the step was first reached.';


--
-- Name: COLUMN saga_step.ended_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.saga_step.ended_at IS 'When its outcome was recorded.';


--
-- Name: stream_token; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.stream_token (
    stream uuid NOT NULL,
    account uuid NOT NULL,
    device uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


ALTER TABLE session_client.stream_token OWNER TO session_client_owner;

--
-- Name: TABLE stream_token; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.stream_token IS 'Open streams for which an app presented a newer access token, perhaps to another replica than the one that serves the stream. That one looks here when the token that it knows ends.';


--
-- Name: COLUMN stream_token.stream; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.stream_token.stream IS 'The stream''s id, which only its reader was told, with a proof that this server made it.';


--
-- Name: COLUMN stream_token.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.stream_token.account IS 'The account of the token.';


--
-- Name: COLUMN stream_token.device; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.stream_token.device IS 'The device of the token.';


--
-- Name: COLUMN stream_token.expires_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.stream_token.expires_at IS 'When the newest token that was presented ends, and the stream with it.';


--
-- Name: throughput; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.throughput WITH (security_invoker='true') AS
 SELECT l.consumer,
    l.source,
    count(b.messages) AS batches,
    COALESCE(sum(b.messages), (0)::bigint) AS messages,
    round(avg(b.messages), 1) AS per_batch,
    round(((COALESCE(sum(b.messages), (0)::bigint))::numeric / 60.0), 1) AS per_second
   FROM ((session_client.all_leases l
     CROSS JOIN LATERAL ( SELECT session_client.batch_before(l.consumer, l.source, l.partition, (statement_timestamp() - '00:01:00'::interval)) AS number
         OFFSET 0) o)
     LEFT JOIN LATERAL ( SELECT b_1.messages
           FROM session_client.batches b_1
          WHERE ((b_1.consumer = l.consumer) AND (b_1.source = l.source) AND (b_1.partition = l.partition) AND (b_1.number > o.number))
          ORDER BY b_1.number
         OFFSET 0) b ON (true))
  GROUP BY l.consumer, l.source;


ALTER TABLE session_client.throughput OWNER TO session_client_owner;

--
-- Name: VIEW throughput; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.throughput IS 'What was handled in the last minute. Reads the batches of that minute only; a binary search finds the first one.';


--
-- Name: COLUMN throughput.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.throughput.consumer IS 'The service that handled the messages, by its schema.';


--
-- Name: COLUMN throughput.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.throughput.source IS 'The log, as schema.table.';


--
-- Name: COLUMN throughput.batches; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.throughput.batches IS 'How many batches, that is transactions.';


--
-- Name: COLUMN throughput.messages; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.throughput.messages IS 'How many messages they handled.';


--
-- Name: COLUMN throughput.per_batch; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.throughput.per_batch IS 'Messages per batch, on average.';


--
-- Name: COLUMN throughput.per_second; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.throughput.per_second IS 'Messages per second, averaged over the minute.';


--
-- Name: timers; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.timers WITH (security_invoker='true') AS
 SELECT t.service,
    (t.due_at - statement_timestamp()) AS due_in,
    t.due_at,
    t.key,
    t.name,
    t.type,
    "left"((t.body)::text, 80) AS body
   FROM session_client.all_timers t;


ALTER TABLE session_client.timers OWNER TO session_client_owner;

--
-- Name: VIEW timers; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.timers IS 'Commands that services will send themselves. Ask ORDER BY due_at LIMIT n: there is one timer for each deadline of each account.';


--
-- Name: COLUMN timers.service; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.service IS 'The service, by its schema.';


--
-- Name: COLUMN timers.due_in; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.due_in IS 'Time until the command is due; negative when it is late.';


--
-- Name: COLUMN timers.due_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.due_at IS 'When the command is sent.';


--
-- Name: COLUMN timers.key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.key IS 'The command''s key.';


--
-- Name: COLUMN timers.name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.name IS 'The timer''s name, unique for its key.';


--
-- Name: COLUMN timers.type; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.type IS 'Name of the command''s type.';


--
-- Name: COLUMN timers.body; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.timers.body IS 'The first 80 characters of the command.';


--
-- Name: upload; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.upload (
    account uuid NOT NULL,
    hash bytea NOT NULL,
    size bigint DEFAULT 0 NOT NULL,
    renewed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT hash_is_a_sha_256 CHECK ((octet_length(hash) = 32)),
    CONSTRAINT size_is_not_negative CHECK ((size >= 0))
)
WITH (fillfactor='70');


ALTER TABLE session_client.upload OWNER TO session_client_owner;

--
-- Name: TABLE upload; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.upload IS 'Uploads of apps that no service has claimed yet. Kept for an hour after the last chunk.';


--
-- Name: COLUMN upload.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload.account IS 'The account that uploads it. No other account can use it.';


--
-- Name: COLUMN upload.hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload.hash IS 'SHA-256 of the hashes of its chunks, which names it. Whoever claims it checks that.';


--
-- Name: COLUMN upload.size; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload.size IS 'The bytes in its chunks so far.';


--
-- Name: COLUMN upload.renewed_at; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload.renewed_at IS 'When the last chunk was uploaded.';


--
-- Name: upload_chunk; Type: TABLE; Schema: session_client; Owner: session_client_owner
--

CREATE TABLE session_client.upload_chunk (
    account uuid NOT NULL,
    hash bytea NOT NULL,
    number integer NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT chunk_is_small CHECK (((octet_length(bytes) >= 1) AND (octet_length(bytes) <= 65536))),
    CONSTRAINT number_is_zero_to_1599 CHECK (((number >= 0) AND (number <= 1599)))
);
ALTER TABLE ONLY session_client.upload_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;


ALTER TABLE session_client.upload_chunk OWNER TO session_client_owner;

--
-- Name: TABLE upload_chunk; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON TABLE session_client.upload_chunk IS 'The bytes of uploads. A service copies them when a command names their hash.';


--
-- Name: COLUMN upload_chunk.account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload_chunk.account IS 'The account that uploaded it.';


--
-- Name: COLUMN upload_chunk.hash; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload_chunk.hash IS 'The upload.';


--
-- Name: COLUMN upload_chunk.number; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload_chunk.number IS 'The chunk''s number, from 0.';


--
-- Name: COLUMN upload_chunk.bytes; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.upload_chunk.bytes IS '64 KiB of the upload, or what is left.';


--
-- Name: workers; Type: VIEW; Schema: session_client; Owner: session_client_owner
--

CREATE VIEW session_client.workers WITH (security_invoker='true') AS
 WITH member AS (
         SELECT m_1.consumer,
            m_1.source,
            m_1.owner,
            m_1.slot,
            m_1.started_at,
            m_1.alive_until,
            (m_1.alive_until > clock_timestamp()) AS is_alive
           FROM session_client.all_members m_1
        ), placed AS (
         SELECT m_1.consumer,
            m_1.source,
            m_1.owner,
            m_1.slot,
            m_1.started_at,
            m_1.alive_until,
            m_1.is_alive,
            (row_number() OVER sharing - 1) AS place,
            count(*) OVER (PARTITION BY m_1.consumer, m_1.source, m_1.is_alive) AS workers
           FROM member m_1
          WINDOW sharing AS (PARTITION BY m_1.consumer, m_1.source, m_1.is_alive ORDER BY m_1.slot, m_1.owner)
        ), leased AS (
         SELECT l_1.consumer,
            l_1.source,
            count(*) AS partitions
           FROM session_client.leases l_1
          GROUP BY l_1.consumer, l_1.source
        ), held AS (
         SELECT l_1.consumer,
            l_1.source,
            l_1.owner,
            count(*) AS holds
           FROM session_client.leases l_1
          WHERE (l_1.state = 'held'::text)
          GROUP BY l_1.consumer, l_1.source, l_1.owner
        )
 SELECT m.consumer,
    m.source,
    m.owner,
    m.slot,
    (clock_timestamp() - m.started_at) AS running_for,
    (m.alive_until - clock_timestamp()) AS alive_for,
        CASE
            WHEN m.is_alive THEN ((((l.partitions - m.place) + m.workers) - 1) / m.workers)
            ELSE (0)::bigint
        END AS share,
    COALESCE(h.holds, (0)::bigint) AS holds,
    p.application,
    p.pid
   FROM (((placed m
     LEFT JOIN leased l ON (((l.consumer = m.consumer) AND (l.source = m.source))))
     LEFT JOIN held h ON (((h.consumer = m.consumer) AND (h.source = m.source) AND (h.owner = m.owner))))
     LEFT JOIN session_client.processes p ON ((p.application = ((m.consumer || '/'::text) || m.owner))));


ALTER TABLE session_client.workers OWNER TO session_client_owner;

--
-- Name: VIEW workers; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON VIEW session_client.workers IS 'The workers of all consumers. The live workers of a source share its partitions evenly.';


--
-- Name: COLUMN workers.consumer; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.consumer IS 'The worker''s service, by its schema.';


--
-- Name: COLUMN workers.source; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.source IS 'The log that it handles, as schema.table.';


--
-- Name: COLUMN workers.owner; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.owner IS 'The worker''s id, new at each start.';


--
-- Name: COLUMN workers.slot; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.slot IS 'Its number among the workers of its process.';


--
-- Name: COLUMN workers.running_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.running_for IS 'How long ago it started.';


--
-- Name: COLUMN workers.alive_for; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.alive_for IS 'How long it counts as alive without another heartbeat; negative once it no longer does.';


--
-- Name: COLUMN workers.share; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.share IS 'How many partitions it should have.';


--
-- Name: COLUMN workers.holds; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.holds IS 'How many leases it holds; differs from its share while partitions change hands.';


--
-- Name: COLUMN workers.application; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.application IS 'Its session, as pg_stat_activity.application_name; null if it isn''t connected.';


--
-- Name: COLUMN workers.pid; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON COLUMN session_client.workers.pid IS 'The server process of that session.';


--
-- Data for Name: account; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: alarm; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: alarm_recipient; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: attempt; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: batch; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: block; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: dead_letter; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: lease; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: limits; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--

INSERT INTO contacts.limits VALUES (true, 1000);


--
-- Data for Name: log; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: log_partition; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--

INSERT INTO contacts.log_partition VALUES (0, 0, NULL);
INSERT INTO contacts.log_partition VALUES (1, 0, NULL);
INSERT INTO contacts.log_partition VALUES (2, 0, NULL);
INSERT INTO contacts.log_partition VALUES (3, 0, NULL);
INSERT INTO contacts.log_partition VALUES (4, 0, NULL);
INSERT INTO contacts.log_partition VALUES (5, 0, NULL);
INSERT INTO contacts.log_partition VALUES (6, 0, NULL);
INSERT INTO contacts.log_partition VALUES (7, 0, NULL);


--
-- Data for Name: member; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: migration; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--

INSERT INTO contacts.migration VALUES (1, '0001-bus.sql', 'd925004ef893556075fa666513c47d5088e0476e831b227b78a0126ff03adfa0', '2026-11-23 03:38:04.287425+00', 'quartet_migrator', '00:00:00.014411');
INSERT INTO contacts.migration VALUES (2, '0002-log.sql', 'f91119c12c0bf856e1c25e8c923d3dc1511a09f7b727a5bf98edfe16a7c72028', '2026-11-23 03:38:04.302241+00', 'quartet_migrator', '00:00:00.00614');
INSERT INTO contacts.migration VALUES (10, '0010-account.sql', '3a69c18df4fe94ddecf14ef281b4675704c6f92d6ca40b993de5aefa11eeafc2', '2026-11-23 03:38:04.30882+00', 'quartet_migrator', '00:00:00.001276');
INSERT INTO contacts.migration VALUES (11, '0011-relation.sql', 'ac03e9fb5a416c756d77464fdeaa05de464bfb076d9129da37471225ecf93632', '2026-11-23 03:38:04.310171+00', 'quartet_migrator', '00:00:00.002415');
INSERT INTO contacts.migration VALUES (12, '0012-request.sql', '48ad04d84cb698d0a9b5fbf191b53658dbc9c853eeab4bd55b27ce8c721cfa98', '2026-11-23 03:38:04.312764+00', 'quartet_migrator', '00:00:00.001656');
INSERT INTO contacts.migration VALUES (13, '0013-block.sql', '5a84eaed0f687936bf74ae99f0d1a30366deafb26e8bb5c6270d40425433787b', '2026-11-23 03:38:04.31457+00', 'quartet_migrator', '00:00:00.001132');
INSERT INTO contacts.migration VALUES (14, '0014-alarm.sql', '0518893abe3dcdaea6413c61a64f002faad30ac4cabd8e0c2408e34a71dfe2fc', '2026-11-23 03:38:04.315794+00', 'quartet_migrator', '00:00:00.001863');
INSERT INTO contacts.migration VALUES (15, '0015-limits.sql', '9025d363051583df4fc1ae8be9f811d60a2a45a21d7017fbd06aa697362ff05c', '2026-11-23 03:38:04.317725+00', 'quartet_migrator', '00:00:00.000726');
INSERT INTO contacts.migration VALUES (20, '0020-contacts-state.sql', 'c301edd5fb1a19d74b9d55f319c8c883638e550c7872683c2dce47678275ac4f', '2026-11-23 03:38:04.318507+00', 'quartet_migrator', '00:00:00.001493');


--
-- Data for Name: operator_act; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: outcome; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: parked; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: redaction; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: redaction_pass; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--

INSERT INTO contacts.redaction_pass VALUES ('log', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('log', 7, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO contacts.redaction_pass VALUES ('outcome', 0, '-infinity', 0, NULL, true, '-infinity', 0);


--
-- Data for Name: relation; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: request; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--



--
-- Data for Name: retention; Type: TABLE DATA; Schema: contacts; Owner: contacts_owner
--

INSERT INTO contacts.retention VALUES ('batch', '1 day', NULL, '2026-11-23 03:38:04.297327+00', 'quartet_migrator');
INSERT INTO contacts.retention VALUES ('secrets', '01:00:00', NULL, '2026-11-23 03:38:04.300804+00', 'quartet_migrator');
INSERT INTO contacts.retention VALUES ('dead_letter', '180 days', NULL, '2026-11-23 03:38:04.300817+00', 'quartet_migrator');
INSERT INTO contacts.retention VALUES ('log', '30 days', '90 days', '2026-11-23 03:38:04.305687+00', 'quartet_migrator');
INSERT INTO contacts.retention VALUES ('outcome', '31 days', NULL, '2026-11-23 03:38:04.307792+00', 'quartet_migrator');


--
-- Data for Name: account; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: attempt; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: batch; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: dead_letter; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: due; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: due_partition; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--

INSERT INTO notifications.due_partition VALUES (0, 0, NULL);
INSERT INTO notifications.due_partition VALUES (1, 0, NULL);
INSERT INTO notifications.due_partition VALUES (2, 0, NULL);
INSERT INTO notifications.due_partition VALUES (3, 0, NULL);
INSERT INTO notifications.due_partition VALUES (4, 0, NULL);
INSERT INTO notifications.due_partition VALUES (5, 0, NULL);
INSERT INTO notifications.due_partition VALUES (6, 0, NULL);
INSERT INTO notifications.due_partition VALUES (7, 0, NULL);


--
-- Data for Name: held; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: lease; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: limits; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--

INSERT INTO notifications.limits VALUES (true, 6);


--
-- Data for Name: log; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: log_partition; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--

INSERT INTO notifications.log_partition VALUES (0, 0, NULL);
INSERT INTO notifications.log_partition VALUES (1, 0, NULL);
INSERT INTO notifications.log_partition VALUES (2, 0, NULL);
INSERT INTO notifications.log_partition VALUES (3, 0, NULL);
INSERT INTO notifications.log_partition VALUES (4, 0, NULL);
INSERT INTO notifications.log_partition VALUES (5, 0, NULL);
INSERT INTO notifications.log_partition VALUES (6, 0, NULL);
INSERT INTO notifications.log_partition VALUES (7, 0, NULL);


--
-- Data for Name: member; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: migration; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--

INSERT INTO notifications.migration VALUES (1, '0001-bus.sql', '2e99081d939e46964aedd3f31376cfb4c8f62137fba8bb1101ac3fb5227be8a4', '2026-11-23 03:38:04.406487+00', 'quartet_migrator', '00:00:00.020459');
INSERT INTO notifications.migration VALUES (2, '0002-log.sql', '48d3e48ecf8733dbebd5d7b750a5af919c7c86a5b545590db2d2a09716b802f0', '2026-11-23 03:38:04.427372+00', 'quartet_migrator', '00:00:00.005203');
INSERT INTO notifications.migration VALUES (3, '0003-due.sql', '1671a4266aeb7a723cb64a2a02ade62cb94e0b1bd0854d2253347e39dc1e6830', '2026-11-23 03:38:04.432762+00', 'quartet_migrator', '00:00:00.004183');
INSERT INTO notifications.migration VALUES (10, '0010-account.sql', '7ad154cc6c94fea9aabc4f9440065b5111df1a21dc2ddf1d71880d826cbe218c', '2026-11-23 03:38:04.437122+00', 'quartet_migrator', '00:00:00.001048');
INSERT INTO notifications.migration VALUES (11, '0011-notification.sql', 'daa5dbe5d4ad729af8ce76550bb4e2b70e7c6108d5c90105ad80e97f6dcbf9df', '2026-11-23 03:38:04.438328+00', 'quartet_migrator', '00:00:00.001898');
INSERT INTO notifications.migration VALUES (12, '0012-scheduled.sql', '54d7808f90c1cb726cee9be04af4a321fefd25c15eaa6332e5ccfdb0861cca59', '2026-11-23 03:38:04.440374+00', 'quartet_migrator', '00:00:00.000874');
INSERT INTO notifications.migration VALUES (13, '0013-held.sql', 'df0866ea9b068d0bdbb3556323145a501ac1417add53a99d533074c9b00a09c3', '2026-11-23 03:38:04.441314+00', 'quartet_migrator', '00:00:00.000686');
INSERT INTO notifications.migration VALUES (14, '0014-limits.sql', 'a45b5a4ccc36fbfa14ebde9329292334fe6d64c30e26b6696217a628702bd48f', '2026-11-23 03:38:04.442263+00', 'quartet_migrator', '00:00:00.000894');
INSERT INTO notifications.migration VALUES (15, '0015-push.sql', '39f20ecef6be71d7e7d6ecf90a87ef4abb61a53ad0b1f1cf6e89e1d718795726', '2026-11-23 03:38:04.443304+00', 'quartet_migrator', '00:00:00.003716');
INSERT INTO notifications.migration VALUES (16, '0016-shown.sql', '5615aac030525c0b187f5474fdb04a47cc5a209a32a305fbaf7d8e428424a6b4', '2026-11-23 03:38:04.4472+00', 'quartet_migrator', '00:00:00.000903');
INSERT INTO notifications.migration VALUES (20, '0020-notifications-state.sql', 'e5170d1aa4bfbcfc10fe0b18a759c060b60f0b1d34c9f136f96815202909a150', '2026-11-23 03:38:04.44832+00', 'quartet_migrator', '00:00:00.00127');


--
-- Data for Name: notification; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: operator_act; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: outcome; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: parked; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: push; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: push_attempt; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: push_device; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: redaction; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: redaction_pass; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--

INSERT INTO notifications.redaction_pass VALUES ('log', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('log', 7, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('outcome', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO notifications.redaction_pass VALUES ('due', 7, '-infinity', 0, NULL, true, '-infinity', 0);


--
-- Data for Name: retention; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--

INSERT INTO notifications.retention VALUES ('batch', '1 day', NULL, '2026-11-23 03:38:04.420849+00', 'quartet_migrator');
INSERT INTO notifications.retention VALUES ('secrets', '01:00:00', NULL, '2026-11-23 03:38:04.425742+00', 'quartet_migrator');
INSERT INTO notifications.retention VALUES ('dead_letter', '180 days', NULL, '2026-11-23 03:38:04.42576+00', 'quartet_migrator');
INSERT INTO notifications.retention VALUES ('log', '30 days', '90 days', '2026-11-23 03:38:04.430321+00', 'quartet_migrator');
INSERT INTO notifications.retention VALUES ('outcome', '31 days', NULL, '2026-11-23 03:38:04.432013+00', 'quartet_migrator');
INSERT INTO notifications.retention VALUES ('due', '30 days', '90 days', '2026-11-23 03:38:04.435247+00', 'quartet_migrator');


--
-- Data for Name: scheduled; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: shown; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: timer; Type: TABLE DATA; Schema: notifications; Owner: notifications_owner
--



--
-- Data for Name: account; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: attachment; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: attachment_chunk; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: attachment_description; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: attempt; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: avatar_chunk; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: batch; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: credential; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: dead_letter; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: deleted_content; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: device; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: due; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: due_partition; Type: TABLE DATA; Schema: session; Owner: session_owner
--

INSERT INTO session.due_partition VALUES (0, 0, NULL);
INSERT INTO session.due_partition VALUES (1, 0, NULL);
INSERT INTO session.due_partition VALUES (2, 0, NULL);
INSERT INTO session.due_partition VALUES (3, 0, NULL);
INSERT INTO session.due_partition VALUES (4, 0, NULL);
INSERT INTO session.due_partition VALUES (5, 0, NULL);
INSERT INTO session.due_partition VALUES (6, 0, NULL);
INSERT INTO session.due_partition VALUES (7, 0, NULL);


--
-- Data for Name: edge; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: game; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: group_activity; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: group_checkpoint; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: group_connection; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: group_message; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: group_session; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: group_stretch; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: lease; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: limits; Type: TABLE DATA; Schema: session; Owner: session_owner
--

INSERT INTO session.limits VALUES (true, '00:05:00', '01:00:00', 3, '00:30:00', 3, '00:10:00', '00:01:00', '72:00:00', '24:00:00', '00:00:05', '00:00:30', '00:00:15', '00:10:00');


--
-- Data for Name: log; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: log_partition; Type: TABLE DATA; Schema: session; Owner: session_owner
--

INSERT INTO session.log_partition VALUES (0, 0, NULL);
INSERT INTO session.log_partition VALUES (1, 0, NULL);
INSERT INTO session.log_partition VALUES (2, 0, NULL);
INSERT INTO session.log_partition VALUES (3, 0, NULL);
INSERT INTO session.log_partition VALUES (4, 0, NULL);
INSERT INTO session.log_partition VALUES (5, 0, NULL);
INSERT INTO session.log_partition VALUES (6, 0, NULL);
INSERT INTO session.log_partition VALUES (7, 0, NULL);


--
-- Data for Name: member; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: message_history; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: migration; Type: TABLE DATA; Schema: session; Owner: session_owner
--

INSERT INTO session.migration VALUES (1, '0001-bus.sql', '83432ab9b4f9229801f837aed1c5b528654bcb4460daf95a52de1490076d1c8c', '2026-11-23 03:38:04.173824+00', 'quartet_migrator', '00:00:00.015868');
INSERT INTO session.migration VALUES (2, '0002-log.sql', '85c6d45ff413fda83a100a9608d45eba4fa4281a459f927fc7f091c860ef0e74', '2026-11-23 03:38:04.190112+00', 'quartet_migrator', '00:00:00.005027');
INSERT INTO session.migration VALUES (3, '0003-due.sql', 'df2f3f3e6cf1efaf6e4643e66fa35edb41ad9dc50b0010efb405915442330c83', '2026-11-23 03:38:04.195385+00', 'quartet_migrator', '00:00:00.004329');
INSERT INTO session.migration VALUES (10, '0010-account.sql', 'c1c74e3690bfde1555770b669f99dfcdff438697092e8a02d04af7f9b35ddab1', '2026-11-23 03:38:04.199902+00', 'quartet_migrator', '00:00:00.003565');
INSERT INTO session.migration VALUES (11, '0011-limits.sql', '3b35f3eb14599b5ec301807c0e15edb5c76c3be045329c60f20004ca5ac2b7ab', '2026-11-23 03:38:04.203657+00', 'quartet_migrator', '00:00:00.001732');
INSERT INTO session.migration VALUES (12, '0012-credential.sql', 'e64d22c101dc32fe6c87bac8dacfe91e69f0d218c26b3fb526df8b3833dfefdf', '2026-11-23 03:38:04.205566+00', 'quartet_migrator', '00:00:00.000971');
INSERT INTO session.migration VALUES (13, '0013-device.sql', '6984821be5d34beaf018108bc9f74269b5e18439adbb12a802a04f5fc7e86686', '2026-11-23 03:38:04.206701+00', 'quartet_migrator', '00:00:00.001592');
INSERT INTO session.migration VALUES (14, '0014-recovery.sql', '157d01363f8add80503b6b47f229631a87249e391a1b46b32507d2bf0ff24398', '2026-11-23 03:38:04.20845+00', 'quartet_migrator', '00:00:00.000941');
INSERT INTO session.migration VALUES (15, '0015-phone.sql', '84daefff741a5678b07ba8c86aec2fb63419589d3869226a9ec0036ebe9755ab', '2026-11-23 03:38:04.209548+00', 'quartet_migrator', '00:00:00.002187');
INSERT INTO session.migration VALUES (16, '0016-avatar.sql', '1f1249fcccadaae05467c2b639f8d935bf1e2b5a6aaf7a6b28aa919d225b8aa0', '2026-11-23 03:38:04.211895+00', 'quartet_migrator', '00:00:00.001052');
INSERT INTO session.migration VALUES (17, '0017-sign-in-attempt.sql', '5135c17decd38055eb7d811cf9d406c853c8ab81c40ffe942929899e4342e7e1', '2026-11-23 03:38:04.213194+00', 'quartet_migrator', '00:00:00.001409');
INSERT INTO session.migration VALUES (18, '0018-security-change.sql', '7311047b68d046924dbc47f04fec591bc4a2a041814b4bf7a047bf63a840d960', '2026-11-23 03:38:04.214753+00', 'quartet_migrator', '00:00:00.001456');
INSERT INTO session.migration VALUES (20, '0020-account-state.sql', 'cec9969af0a1a7aa9f24482a61a28175b3e5587dee7bcd0a65a51c713fa4a0e2', '2026-11-23 03:38:04.216351+00', 'quartet_migrator', '00:00:00.001255');
INSERT INTO session.migration VALUES (21, '0021-group.sql', '4ce1e07dd577301fe698e811836d7b67ecaad801c5eb15142119aa7bb3e397ef', '2026-11-23 03:38:04.217747+00', 'quartet_migrator', '00:00:00.006009');
INSERT INTO session.migration VALUES (22, '0022-game.sql', 'd2fb76c2186e53edbb5851a7f4990533b302ab0827a63df7398490a2ad663705', '2026-11-23 03:38:04.223945+00', 'quartet_migrator', '00:00:00.001414');
INSERT INTO session.migration VALUES (24, '0024-message.sql', 'd2935fb38768f661ec5c1d993d9540e355d45bd7ad3d4694d64b96c2f1bd9182', '2026-11-23 03:38:04.225508+00', 'quartet_migrator', '00:00:00.003118');
INSERT INTO session.migration VALUES (25, '0025-playback.sql', '71de6273617a5854456dd2838b09acf73cb1b819ac5ec3073c9e5f10d0ed798e', '2026-11-23 03:38:04.22879+00', 'quartet_migrator', '00:00:00.002337');
INSERT INTO session.migration VALUES (26, '0026-attachment.sql', 'f2e91aa536b3213e58e6a5042f39459c5f18a8718db8c377f03f5f602afe236c', '2026-11-23 03:38:04.231329+00', 'quartet_migrator', '00:00:00.004443');
INSERT INTO session.migration VALUES (29, '0029-group-state.sql', '1ad6040898ec0c8aadcc549565dc2bd4dde4ac88a436653ce4cca50fd92e2584', '2026-11-23 03:38:04.236003+00', 'quartet_migrator', '00:00:00.003856');
INSERT INTO session.migration VALUES (30, '0030-checkpoint.sql', '47274db42db6e8d0d6f416603b44c54bcf44bdea3d7ef3e2f4bce42cf7ad14aa', '2026-11-23 03:38:04.240046+00', 'quartet_migrator', '00:00:00.004328');


--
-- Data for Name: operator_act; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: outcome; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: parked; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: participant; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: phone_code; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: playback; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: queue_item; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: recovery; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: redaction; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: redaction_pass; Type: TABLE DATA; Schema: session; Owner: session_owner
--

INSERT INTO session.redaction_pass VALUES ('log', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('log', 7, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('outcome', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session.redaction_pass VALUES ('due', 7, '-infinity', 0, NULL, true, '-infinity', 0);


--
-- Data for Name: retention; Type: TABLE DATA; Schema: session; Owner: session_owner
--

INSERT INTO session.retention VALUES ('batch', '1 day', NULL, '2026-11-23 03:38:04.185205+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('secrets', '01:00:00', NULL, '2026-11-23 03:38:04.188761+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('dead_letter', '180 days', NULL, '2026-11-23 03:38:04.188775+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('log', '30 days', '90 days', '2026-11-23 03:38:04.192908+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('outcome', '31 days', NULL, '2026-11-23 03:38:04.19466+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('due', '30 days', '90 days', '2026-11-23 03:38:04.198007+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('sign_in_attempt', '1 day', NULL, '2026-11-23 03:38:04.214344+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('group_session', '30 days', NULL, '2026-11-23 03:38:04.223468+00', 'quartet_migrator');
INSERT INTO session.retention VALUES ('unfinished_attachment', '01:00:00', NULL, '2026-11-23 03:38:04.235409+00', 'quartet_migrator');


--
-- Data for Name: security_change; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: sign_in_attempt; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: timer; Type: TABLE DATA; Schema: session; Owner: session_owner
--



--
-- Data for Name: attempt; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: batch; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: closure; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: contacts_commands; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: contacts_commands_partition; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.contacts_commands_partition VALUES (0, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (1, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (2, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (3, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (4, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (5, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (6, 0, NULL);
INSERT INTO session_client.contacts_commands_partition VALUES (7, 0, NULL);


--
-- Data for Name: dead_letter; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: dead_letter_decision; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: lease; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: member; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: migration; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.migration VALUES (1, '0001-bus.sql', '9f4f3d1d6e82f806b81db6edb77647fcc2fcf78314672e25fe5e6110b1404cd9', '2026-11-23 03:38:04.505177+00', 'quartet_migrator', '00:00:00.014613');
INSERT INTO session_client.migration VALUES (2, '0002-session-commands.sql', 'cef0b38ed4601e9434bd0eb9c1a7a0fec14d7f7b895c4583a74bd13ec7e0c1e7', '2026-11-23 03:38:04.520504+00', 'quartet_migrator', '00:00:00.003867');
INSERT INTO session_client.migration VALUES (3, '0003-contacts-commands.sql', '668c076526779e23d2ff9e51e36feb8d29b5084fe39b2a714c970fd7bb0b68c0', '2026-11-23 03:38:04.524555+00', 'quartet_migrator', '00:00:00.006507');
INSERT INTO session_client.migration VALUES (4, '0004-notifications-commands.sql', '9eaba66d3b1523433e8de96baffb039b6d6454df0bda97a52be551c7f3a83a0a', '2026-11-23 03:38:04.531384+00', 'quartet_migrator', '00:00:00.004535');
INSERT INTO session_client.migration VALUES (5, '0005-operations.sql', 'd4aa49d1119d8468fbdb9990f7427bd1b65e54ec313c922af313e851135b4ead', '2026-11-23 03:38:04.53621+00', 'quartet_migrator', '00:00:00.003459');
INSERT INTO session_client.migration VALUES (6, '0006-dead-letters.sql', '5d6b45cd25c680ab66362bd153b1c8312572ef66556601213e3421d9709c355a', '2026-11-23 03:38:04.539863+00', 'quartet_migrator', '00:00:00.001894');
INSERT INTO session_client.migration VALUES (7, '0007-secrets.sql', '3fb4a237f62ff7d6c849d2995f1237eecd19b48bc64301111be70ac964b52ca6', '2026-11-23 03:38:04.541902+00', 'quartet_migrator', '00:00:00.001146');
INSERT INTO session_client.migration VALUES (8, '0008-operator-key.sql', '9c15038a5f1ea35bc45d171961ccd300da67ac8fde7dcc88d30669c753fe33d1', '2026-11-23 03:38:04.543195+00', 'quartet_migrator', '00:00:00.001804');
INSERT INTO session_client.migration VALUES (10, '0010-saga.sql', '4667e03b4b06478fbb3ab7e01d20080a95caedc1f941535ddb4024a491db8ca6', '2026-11-23 03:38:04.545186+00', 'quartet_migrator', '00:00:00.004055');
INSERT INTO session_client.migration VALUES (11, '0011-upload.sql', '43ae6e39776ba8c8c897a0fa1c0aa71dd2a44749344a4c668dfff18ec3d85fb3', '2026-11-23 03:38:04.549403+00', 'quartet_migrator', '00:00:00.002598');
INSERT INTO session_client.migration VALUES (12, '0012-closure.sql', '2f4600d8b959bf4e39f375f605a215aafb2364dababa24b5e065e14b15f3fbde', '2026-11-23 03:38:04.552169+00', 'quartet_migrator', '00:00:00.005309');
INSERT INTO session_client.migration VALUES (13, '0013-stream-token.sql', 'e007884ee703d81738ce7e92c34c05911edfefd775591d1bd7020ef8bd08f951', '2026-11-23 03:38:04.557599+00', 'quartet_migrator', '00:00:00.000897');
INSERT INTO session_client.migration VALUES (20, '0020-logs.sql', '1876062004fdaa6690cea405f4cf66eb919e4deda2b5f0d7cf20e77142da323c', '2026-11-23 03:38:04.558625+00', 'quartet_migrator', '00:00:00.018076');
INSERT INTO session_client.migration VALUES (21, '0021-consumers.sql', '386caf53c0932aaeb7a82c40f75c49d5c35f1e4cc070e708042a40c63b2e26e5', '2026-11-23 03:38:04.577035+00', 'quartet_migrator', '00:00:00.007222');
INSERT INTO session_client.migration VALUES (22, '0022-failures.sql', 'c4072bcce1421aa12a23a9fe61ddc41af21cce7a3c1901c772222a95ad8ccfbc', '2026-11-23 03:38:04.584447+00', 'quartet_migrator', '00:00:00.002762');
INSERT INTO session_client.migration VALUES (23, '0023-upkeep.sql', '6de9b0d9cbc2424569dbab7c44e05125539d7c2574548eae90cdf9c1499d6ea3', '2026-11-23 03:38:04.587456+00', 'quartet_migrator', '00:00:00.004614');
INSERT INTO session_client.migration VALUES (24, '0024-story.sql', '545e7117ce2349bb0b8c98a515a59f019905b9f7be56d21899c993802756609b', '2026-11-23 03:38:04.592282+00', 'quartet_migrator', '00:00:00.001849');
INSERT INTO session_client.migration VALUES (25, '0025-alarm-receipts.sql', '9fe5033646b256d7b9d5adac59d37778455cf4f414b4be4b25a9ed1adf568972', '2026-11-23 03:38:04.594268+00', 'quartet_migrator', '00:00:00.001639');
INSERT INTO session_client.migration VALUES (26, '0026-told.sql', '3051e1cb462ec0b415331ffa4f4f2056ac3e2e32919316d3e4e19aa946807251', '2026-11-23 03:38:04.596076+00', 'quartet_migrator', '00:00:00.00141');


--
-- Data for Name: notifications_commands; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: notifications_commands_partition; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.notifications_commands_partition VALUES (0, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (1, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (2, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (3, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (4, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (5, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (6, 0, NULL);
INSERT INTO session_client.notifications_commands_partition VALUES (7, 0, NULL);


--
-- Data for Name: operations; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: operations_partition; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.operations_partition VALUES (0, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (1, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (2, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (3, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (4, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (5, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (6, 0, NULL);
INSERT INTO session_client.operations_partition VALUES (7, 0, NULL);


--
-- Data for Name: operator_act; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: operator_key; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: parked; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: redaction; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: redaction_pass; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.redaction_pass VALUES ('session_commands', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('session_commands', 7, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('contacts_commands', 7, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('notifications_commands', 7, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 0, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 1, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 2, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 3, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 4, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 5, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 6, '-infinity', 0, NULL, true, '-infinity', 0);
INSERT INTO session_client.redaction_pass VALUES ('operations', 7, '-infinity', 0, NULL, true, '-infinity', 0);


--
-- Data for Name: retention; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.retention VALUES ('batch', '1 day', NULL, '2026-11-23 03:38:04.515584+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('secrets', '01:00:00', NULL, '2026-11-23 03:38:04.51887+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('dead_letter', '180 days', NULL, '2026-11-23 03:38:04.518883+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('session_commands', '30 days', '90 days', '2026-11-23 03:38:04.523315+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('contacts_commands', '30 days', '90 days', '2026-11-23 03:38:04.528979+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('notifications_commands', '30 days', '90 days', '2026-11-23 03:38:04.535164+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('operations', '30 days', '90 days', '2026-11-23 03:38:04.538948+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('saga', '31 days', NULL, '2026-11-23 03:38:04.548377+00', 'quartet_migrator');
INSERT INTO session_client.retention VALUES ('upload', '01:00:00', NULL, '2026-11-23 03:38:04.551714+00', 'quartet_migrator');


--
-- Data for Name: saga; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: saga_step; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: session_commands; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: session_commands_partition; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--

INSERT INTO session_client.session_commands_partition VALUES (0, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (1, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (2, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (3, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (4, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (5, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (6, 0, NULL);
INSERT INTO session_client.session_commands_partition VALUES (7, 0, NULL);


--
-- Data for Name: stream_token; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: upload; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Data for Name: upload_chunk; Type: TABLE DATA; Schema: session_client; Owner: session_client_owner
--



--
-- Name: operator_act_number_seq; Type: SEQUENCE SET; Schema: contacts; Owner: contacts_owner
--

SELECT pg_catalog.setval('contacts.operator_act_number_seq', 1, false);


--
-- Name: operator_act_number_seq; Type: SEQUENCE SET; Schema: notifications; Owner: notifications_owner
--

SELECT pg_catalog.setval('notifications.operator_act_number_seq', 1, false);


--
-- Name: operator_act_number_seq; Type: SEQUENCE SET; Schema: session; Owner: session_owner
--

SELECT pg_catalog.setval('session.operator_act_number_seq', 1, false);


--
-- Name: operator_act_number_seq; Type: SEQUENCE SET; Schema: session_client; Owner: session_client_owner
--

SELECT pg_catalog.setval('session_client.operator_act_number_seq', 1, false);


--
-- Name: saga_number_seq; Type: SEQUENCE SET; Schema: session_client; Owner: session_client_owner
--

SELECT pg_catalog.setval('session_client.saga_number_seq', 1, false);


--
-- Name: redaction redaction_is_one_per_account; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.redaction
    ADD CONSTRAINT redaction_is_one_per_account PRIMARY KEY (account);


--
-- Name: redact(uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.redact(of_account uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO contacts.redaction (account)
   VALUES (redact.of_account) ON CONFLICT ON CONSTRAINT redaction_is_one_per_account DO UPDATE SET requested_at = excluded.requested_at, late_until = excluded.late_until, noticed_at = NULL::timestamp with time zone, done_at = NULL::timestamp with time zone;
END;


ALTER FUNCTION contacts.redact(of_account uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION redact(of_account uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.redact(of_account uuid) IS 'Requests that the bodies of an account''s messages are emptied; their positions stay. The service does it within minutes, or within half an hour per million rows in a partition, but not before every consumer has handled them.';


--
-- Name: redact(uuid, text, uuid); Type: FUNCTION; Schema: contacts; Owner: contacts_owner
--

CREATE FUNCTION contacts.redact(of_account uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT contacts.redact(of_account) AS redact;
 SELECT contacts.record_act('redact'::text, json_build_object('account', of_account), why, with_key) AS record_act;
END;


ALTER FUNCTION contacts.redact(of_account uuid, why text, with_key uuid) OWNER TO contacts_owner;

--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON FUNCTION contacts.redact(of_account uuid, why text, with_key uuid) IS 'For operators: redact(account), with a reason.';


--
-- Name: redaction redaction_is_one_per_account; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.redaction
    ADD CONSTRAINT redaction_is_one_per_account PRIMARY KEY (account);


--
-- Name: redact(uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.redact(of_account uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO notifications.redaction (account)
   VALUES (redact.of_account) ON CONFLICT ON CONSTRAINT redaction_is_one_per_account DO UPDATE SET requested_at = excluded.requested_at, late_until = excluded.late_until, noticed_at = NULL::timestamp with time zone, done_at = NULL::timestamp with time zone;
END;


ALTER FUNCTION notifications.redact(of_account uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION redact(of_account uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.redact(of_account uuid) IS 'Requests that the bodies of an account''s messages are emptied; their positions stay. The service does it within minutes, or within half an hour per million rows in a partition, but not before every consumer has handled them.';


--
-- Name: redact(uuid, text, uuid); Type: FUNCTION; Schema: notifications; Owner: notifications_owner
--

CREATE FUNCTION notifications.redact(of_account uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT notifications.redact(of_account) AS redact;
 SELECT notifications.record_act('redact'::text, json_build_object('account', of_account), why, with_key) AS record_act;
END;


ALTER FUNCTION notifications.redact(of_account uuid, why text, with_key uuid) OWNER TO notifications_owner;

--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON FUNCTION notifications.redact(of_account uuid, why text, with_key uuid) IS 'For operators: redact(account), with a reason.';


--
-- Name: redaction redaction_is_one_per_account; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.redaction
    ADD CONSTRAINT redaction_is_one_per_account PRIMARY KEY (account);


--
-- Name: redact(uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.redact(of_account uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO session.redaction (account)
   VALUES (redact.of_account) ON CONFLICT ON CONSTRAINT redaction_is_one_per_account DO UPDATE SET requested_at = excluded.requested_at, late_until = excluded.late_until, noticed_at = NULL::timestamp with time zone, done_at = NULL::timestamp with time zone;
END;


ALTER FUNCTION session.redact(of_account uuid) OWNER TO session_owner;

--
-- Name: FUNCTION redact(of_account uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.redact(of_account uuid) IS 'Requests that the bodies of an account''s messages are emptied; their positions stay. The service does it within minutes, or within half an hour per million rows in a partition, but not before every consumer has handled them.';


--
-- Name: redact(uuid, text, uuid); Type: FUNCTION; Schema: session; Owner: session_owner
--

CREATE FUNCTION session.redact(of_account uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT session.redact(of_account) AS redact;
 SELECT session.record_act('redact'::text, json_build_object('account', of_account), why, with_key) AS record_act;
END;


ALTER FUNCTION session.redact(of_account uuid, why text, with_key uuid) OWNER TO session_owner;

--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON FUNCTION session.redact(of_account uuid, why text, with_key uuid) IS 'For operators: redact(account), with a reason.';


--
-- Name: redaction redaction_is_one_per_account; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.redaction
    ADD CONSTRAINT redaction_is_one_per_account PRIMARY KEY (account);


--
-- Name: redact(uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.redact(of_account uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO session_client.redaction (account)
   VALUES (redact.of_account) ON CONFLICT ON CONSTRAINT redaction_is_one_per_account DO UPDATE SET requested_at = excluded.requested_at, late_until = excluded.late_until, noticed_at = NULL::timestamp with time zone, done_at = NULL::timestamp with time zone;
END;


ALTER FUNCTION session_client.redact(of_account uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION redact(of_account uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.redact(of_account uuid) IS 'Requests that the bodies of an account''s messages are emptied; their positions stay. The service does it within minutes, or within half an hour per million rows in a partition, but not before every consumer has handled them.';


--
-- Name: redact(uuid, text, uuid); Type: FUNCTION; Schema: session_client; Owner: session_client_owner
--

CREATE FUNCTION session_client.redact(of_account uuid, why text, with_key uuid DEFAULT NULL::uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT session_client.redact(of_account) AS redact;
 SELECT session_client.record_act('redact'::text, json_build_object('account', of_account), why, with_key) AS record_act;
END;


ALTER FUNCTION session_client.redact(of_account uuid, why text, with_key uuid) OWNER TO session_client_owner;

--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON FUNCTION session_client.redact(of_account uuid, why text, with_key uuid) IS 'For operators: redact(account), with a reason.';


--
-- Name: alarm account_has_one_alarm_of_a_kind; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.alarm
    ADD CONSTRAINT account_has_one_alarm_of_a_kind PRIMARY KEY (account, kind);


--
-- Name: block account_is_blocked_once; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.block
    ADD CONSTRAINT account_is_blocked_once PRIMARY KEY (blocker, blocked);


--
-- Name: account account_is_known_once; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.account
    ADD CONSTRAINT account_is_known_once PRIMARY KEY (account);


--
-- Name: attempt attempt_is_one_per_lease; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.attempt
    ADD CONSTRAINT attempt_is_one_per_lease PRIMARY KEY (source, partition, "position", epoch);


--
-- Name: batch batch_has_one_successor; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.batch
    ADD CONSTRAINT batch_has_one_successor PRIMARY KEY (source, partition, number);


--
-- Name: account code_leads_to_one_account; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.account
    ADD CONSTRAINT code_leads_to_one_account UNIQUE (code) DEFERRABLE;


--
-- Name: dead_letter dead_letter_is_one_per_message; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.dead_letter
    ADD CONSTRAINT dead_letter_is_one_per_message PRIMARY KEY (message_id);


--
-- Name: lease lease_is_one_per_partition; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.lease
    ADD CONSTRAINT lease_is_one_per_partition PRIMARY KEY (source, partition);


--
-- Name: limits limits_are_one_row; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.limits
    ADD CONSTRAINT limits_are_one_row PRIMARY KEY (only_row);


--
-- Name: log_partition log_partition_is_unique; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.log_partition
    ADD CONSTRAINT log_partition_is_unique PRIMARY KEY (partition);


--
-- Name: log log_position_is_unique; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.log
    ADD CONSTRAINT log_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: member member_is_one_per_worker; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.member
    ADD CONSTRAINT member_is_one_per_worker PRIMARY KEY (source, owner);


--
-- Name: migration migration_happens_once; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.migration
    ADD CONSTRAINT migration_happens_once PRIMARY KEY (number);


--
-- Name: outcome one_outcome_per_command; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.outcome
    ADD CONSTRAINT one_outcome_per_command PRIMARY KEY (command_id);


--
-- Name: operator_act operator_act_has_a_number; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.operator_act
    ADD CONSTRAINT operator_act_has_a_number PRIMARY KEY (number);


--
-- Name: parked parked_is_one_per_message; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.parked
    ADD CONSTRAINT parked_is_one_per_message PRIMARY KEY (source, partition, "position");


--
-- Name: alarm_recipient recipient_is_noted_once; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.alarm_recipient
    ADD CONSTRAINT recipient_is_noted_once PRIMARY KEY (account, alarm, responder);


--
-- Name: redaction_pass redaction_pass_is_one_per_partition; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.redaction_pass
    ADD CONSTRAINT redaction_pass_is_one_per_partition PRIMARY KEY (log, partition);


--
-- Name: request request_is_made_once; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.request
    ADD CONSTRAINT request_is_made_once PRIMARY KEY (asker, asked);


--
-- Name: retention retention_is_one_per_subject; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.retention
    ADD CONSTRAINT retention_is_one_per_subject PRIMARY KEY (subject);


--
-- Name: relation two_accounts_have_one_relation; Type: CONSTRAINT; Schema: contacts; Owner: contacts_owner
--

ALTER TABLE ONLY contacts.relation
    ADD CONSTRAINT two_accounts_have_one_relation PRIMARY KEY (low, high);


--
-- Name: account account_is_known_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.account
    ADD CONSTRAINT account_is_known_once PRIMARY KEY (account);


--
-- Name: push_attempt attempt_is_made_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.push_attempt
    ADD CONSTRAINT attempt_is_made_once PRIMARY KEY (account, notification, device, attempt);


--
-- Name: attempt attempt_is_one_per_lease; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.attempt
    ADD CONSTRAINT attempt_is_one_per_lease PRIMARY KEY (source, partition, "position", epoch);


--
-- Name: batch batch_has_one_successor; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.batch
    ADD CONSTRAINT batch_has_one_successor PRIMARY KEY (source, partition, number);


--
-- Name: notification cause_is_told_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.notification
    ADD CONSTRAINT cause_is_told_once PRIMARY KEY (account, id);


--
-- Name: dead_letter dead_letter_is_one_per_message; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.dead_letter
    ADD CONSTRAINT dead_letter_is_one_per_message PRIMARY KEY (message_id);


--
-- Name: push_device device_is_registered_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.push_device
    ADD CONSTRAINT device_is_registered_once PRIMARY KEY (account, device);


--
-- Name: due_partition due_partition_is_unique; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.due_partition
    ADD CONSTRAINT due_partition_is_unique PRIMARY KEY (partition);


--
-- Name: due due_position_is_unique; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.due
    ADD CONSTRAINT due_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: lease lease_is_one_per_partition; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.lease
    ADD CONSTRAINT lease_is_one_per_partition PRIMARY KEY (source, partition);


--
-- Name: limits limits_are_one_row; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.limits
    ADD CONSTRAINT limits_are_one_row PRIMARY KEY (only_row);


--
-- Name: log_partition log_partition_is_unique; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.log_partition
    ADD CONSTRAINT log_partition_is_unique PRIMARY KEY (partition);


--
-- Name: log log_position_is_unique; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.log
    ADD CONSTRAINT log_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: member member_is_one_per_worker; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.member
    ADD CONSTRAINT member_is_one_per_worker PRIMARY KEY (source, owner);


--
-- Name: migration migration_happens_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.migration
    ADD CONSTRAINT migration_happens_once PRIMARY KEY (number);


--
-- Name: held newest_is_held_alone; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.held
    ADD CONSTRAINT newest_is_held_alone PRIMARY KEY (account, pace);


--
-- Name: scheduled notification_is_scheduled_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.scheduled
    ADD CONSTRAINT notification_is_scheduled_once PRIMARY KEY (account, id);


--
-- Name: shown notification_is_shown_once_on_a_device; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.shown
    ADD CONSTRAINT notification_is_shown_once_on_a_device PRIMARY KEY (account, notification, device);


--
-- Name: outcome one_outcome_per_command; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.outcome
    ADD CONSTRAINT one_outcome_per_command PRIMARY KEY (command_id);


--
-- Name: operator_act operator_act_has_a_number; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.operator_act
    ADD CONSTRAINT operator_act_has_a_number PRIMARY KEY (number);


--
-- Name: parked parked_is_one_per_message; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.parked
    ADD CONSTRAINT parked_is_one_per_message PRIMARY KEY (source, partition, "position");


--
-- Name: push push_waits_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.push
    ADD CONSTRAINT push_waits_once PRIMARY KEY (account, device, notification);


--
-- Name: redaction_pass redaction_pass_is_one_per_partition; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.redaction_pass
    ADD CONSTRAINT redaction_pass_is_one_per_partition PRIMARY KEY (log, partition);


--
-- Name: retention retention_is_one_per_subject; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.retention
    ADD CONSTRAINT retention_is_one_per_subject PRIMARY KEY (subject);


--
-- Name: timer timer_is_set_once; Type: CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.timer
    ADD CONSTRAINT timer_is_set_once PRIMARY KEY (key, name);


--
-- Name: credential account_has_one_password; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.credential
    ADD CONSTRAINT account_has_one_password PRIMARY KEY (account);


--
-- Name: recovery account_has_one_set_of_recovery_codes; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.recovery
    ADD CONSTRAINT account_has_one_set_of_recovery_codes PRIMARY KEY (account);


--
-- Name: account account_is_known_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.account
    ADD CONSTRAINT account_is_known_once PRIMARY KEY (account);


--
-- Name: participant account_stands_one_way_to_a_session; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.participant
    ADD CONSTRAINT account_stands_one_way_to_a_session PRIMARY KEY (group_id, account);


--
-- Name: attachment_chunk attachment_chunk_is_stored_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attachment_chunk
    ADD CONSTRAINT attachment_chunk_is_stored_once PRIMARY KEY (content, number);


--
-- Name: attachment_description attachment_is_described_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attachment_description
    ADD CONSTRAINT attachment_is_described_once PRIMARY KEY (group_id, account, hash);


--
-- Name: attachment attachment_is_uploaded_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attachment
    ADD CONSTRAINT attachment_is_uploaded_once PRIMARY KEY (group_id, account, hash);


--
-- Name: attempt attempt_is_one_per_lease; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attempt
    ADD CONSTRAINT attempt_is_one_per_lease PRIMARY KEY (source, partition, "position", epoch);


--
-- Name: sign_in_attempt attempts_are_counted_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.sign_in_attempt
    ADD CONSTRAINT attempts_are_counted_once PRIMARY KEY (subject, source);


--
-- Name: batch batch_has_one_successor; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.batch
    ADD CONSTRAINT batch_has_one_successor PRIMARY KEY (source, partition, number);


--
-- Name: group_checkpoint checkpoint_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_checkpoint
    ADD CONSTRAINT checkpoint_is_one_row PRIMARY KEY (group_id, "position");


--
-- Name: avatar_chunk chunk_is_stored_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.avatar_chunk
    ADD CONSTRAINT chunk_is_stored_once PRIMARY KEY (account, number);


--
-- Name: group_connection connection_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_connection
    ADD CONSTRAINT connection_is_one_row PRIMARY KEY (group_id, connection);


--
-- Name: deleted_content content_is_deleted_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.deleted_content
    ADD CONSTRAINT content_is_deleted_once PRIMARY KEY (content);


--
-- Name: attachment content_is_of_one_attachment; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attachment
    ADD CONSTRAINT content_is_of_one_attachment UNIQUE (content) DEFERRABLE;


--
-- Name: dead_letter dead_letter_is_one_per_message; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.dead_letter
    ADD CONSTRAINT dead_letter_is_one_per_message PRIMARY KEY (message_id);


--
-- Name: device device_signs_in_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.device
    ADD CONSTRAINT device_signs_in_once PRIMARY KEY (account, device);


--
-- Name: due_partition due_partition_is_unique; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.due_partition
    ADD CONSTRAINT due_partition_is_unique PRIMARY KEY (partition);


--
-- Name: due due_position_is_unique; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.due
    ADD CONSTRAINT due_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: edge edge_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.edge
    ADD CONSTRAINT edge_is_one_row PRIMARY KEY (edge);


--
-- Name: game game_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.game
    ADD CONSTRAINT game_is_one_row PRIMARY KEY (group_id);


--
-- Name: group_activity group_activity_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_activity
    ADD CONSTRAINT group_activity_is_one_row PRIMARY KEY (group_id);


--
-- Name: group_session group_session_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_session
    ADD CONSTRAINT group_session_is_one_row PRIMARY KEY (group_id);


--
-- Name: account handle_leads_to_one_account; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.account
    ADD CONSTRAINT handle_leads_to_one_account UNIQUE (handle) DEFERRABLE;


--
-- Name: queue_item item_is_in_the_queue_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.queue_item
    ADD CONSTRAINT item_is_in_the_queue_once PRIMARY KEY (group_id, item_id);


--
-- Name: lease lease_is_one_per_partition; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.lease
    ADD CONSTRAINT lease_is_one_per_partition PRIMARY KEY (source, partition);


--
-- Name: limits limits_are_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.limits
    ADD CONSTRAINT limits_are_one_row PRIMARY KEY (only_row);


--
-- Name: log_partition log_partition_is_unique; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.log_partition
    ADD CONSTRAINT log_partition_is_unique PRIMARY KEY (partition);


--
-- Name: log log_position_is_unique; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.log
    ADD CONSTRAINT log_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: member member_is_one_per_worker; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.member
    ADD CONSTRAINT member_is_one_per_worker PRIMARY KEY (source, owner);


--
-- Name: group_message message_begins_where_another_ends; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_message
    ADD CONSTRAINT message_begins_where_another_ends UNIQUE (group_id, byte_offset);


--
-- Name: message_history message_history_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.message_history
    ADD CONSTRAINT message_history_is_one_row PRIMARY KEY (group_id);


--
-- Name: group_message message_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_message
    ADD CONSTRAINT message_is_one_row PRIMARY KEY (group_id, number);


--
-- Name: migration migration_happens_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.migration
    ADD CONSTRAINT migration_happens_once PRIMARY KEY (number);


--
-- Name: account no_handle_looks_like_another; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.account
    ADD CONSTRAINT no_handle_looks_like_another UNIQUE (skeleton) DEFERRABLE;


--
-- Name: account number_signs_in_one_account; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.account
    ADD CONSTRAINT number_signs_in_one_account UNIQUE (phone) DEFERRABLE;


--
-- Name: phone_code one_code_is_good_per_purpose_and_source; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.phone_code
    ADD CONSTRAINT one_code_is_good_per_purpose_and_source PRIMARY KEY (account, purpose, source);


--
-- Name: outcome one_outcome_per_command; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.outcome
    ADD CONSTRAINT one_outcome_per_command PRIMARY KEY (command_id);


--
-- Name: operator_act operator_act_has_a_number; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.operator_act
    ADD CONSTRAINT operator_act_has_a_number PRIMARY KEY (number);


--
-- Name: parked parked_is_one_per_message; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.parked
    ADD CONSTRAINT parked_is_one_per_message PRIMARY KEY (source, partition, "position");


--
-- Name: account phone_signs_in_one_account; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.account
    ADD CONSTRAINT phone_signs_in_one_account UNIQUE (phone_id) DEFERRABLE;


--
-- Name: playback playback_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.playback
    ADD CONSTRAINT playback_is_one_row PRIMARY KEY (group_id);


--
-- Name: queue_item queue_has_one_order; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.queue_item
    ADD CONSTRAINT queue_has_one_order UNIQUE (group_id, rank) DEFERRABLE;


--
-- Name: redaction_pass redaction_pass_is_one_per_partition; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.redaction_pass
    ADD CONSTRAINT redaction_pass_is_one_per_partition PRIMARY KEY (log, partition);


--
-- Name: retention retention_is_one_per_subject; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.retention
    ADD CONSTRAINT retention_is_one_per_subject PRIMARY KEY (subject);


--
-- Name: participant seat_is_taken_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.participant
    ADD CONSTRAINT seat_is_taken_once UNIQUE (group_id, seat) DEFERRABLE;


--
-- Name: security_change security_change_has_a_number; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.security_change
    ADD CONSTRAINT security_change_has_a_number PRIMARY KEY (account, number);


--
-- Name: group_stretch stretch_is_one_row; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_stretch
    ADD CONSTRAINT stretch_is_one_row PRIMARY KEY (group_id, since);


--
-- Name: timer timer_is_set_once; Type: CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.timer
    ADD CONSTRAINT timer_is_set_once PRIMARY KEY (key, name);


--
-- Name: closure account_is_closed_once; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.closure
    ADD CONSTRAINT account_is_closed_once PRIMARY KEY (account);


--
-- Name: attempt attempt_is_one_per_lease; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.attempt
    ADD CONSTRAINT attempt_is_one_per_lease PRIMARY KEY (source, partition, "position", epoch);


--
-- Name: batch batch_has_one_successor; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.batch
    ADD CONSTRAINT batch_has_one_successor PRIMARY KEY (source, partition, number);


--
-- Name: contacts_commands_partition contacts_commands_partition_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.contacts_commands_partition
    ADD CONSTRAINT contacts_commands_partition_is_unique PRIMARY KEY (partition);


--
-- Name: contacts_commands contacts_commands_position_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.contacts_commands
    ADD CONSTRAINT contacts_commands_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: dead_letter_decision dead_letter_is_decided_once; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.dead_letter_decision
    ADD CONSTRAINT dead_letter_is_decided_once PRIMARY KEY (message_id);


--
-- Name: dead_letter dead_letter_is_one_per_message; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.dead_letter
    ADD CONSTRAINT dead_letter_is_one_per_message PRIMARY KEY (message_id);


--
-- Name: lease lease_is_one_per_partition; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.lease
    ADD CONSTRAINT lease_is_one_per_partition PRIMARY KEY (source, partition);


--
-- Name: member member_is_one_per_worker; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.member
    ADD CONSTRAINT member_is_one_per_worker PRIMARY KEY (source, owner);


--
-- Name: migration migration_happens_once; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.migration
    ADD CONSTRAINT migration_happens_once PRIMARY KEY (number);


--
-- Name: notifications_commands_partition notifications_commands_partition_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.notifications_commands_partition
    ADD CONSTRAINT notifications_commands_partition_is_unique PRIMARY KEY (partition);


--
-- Name: notifications_commands notifications_commands_position_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.notifications_commands
    ADD CONSTRAINT notifications_commands_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: operations_partition operations_partition_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.operations_partition
    ADD CONSTRAINT operations_partition_is_unique PRIMARY KEY (partition);


--
-- Name: operations operations_position_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.operations
    ADD CONSTRAINT operations_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: operator_act operator_act_has_a_number; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.operator_act
    ADD CONSTRAINT operator_act_has_a_number PRIMARY KEY (number);


--
-- Name: operator_key operator_key_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.operator_key
    ADD CONSTRAINT operator_key_is_unique PRIMARY KEY (id);


--
-- Name: parked parked_is_one_per_message; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.parked
    ADD CONSTRAINT parked_is_one_per_message PRIMARY KEY (source, partition, "position");


--
-- Name: redaction_pass redaction_pass_is_one_per_partition; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.redaction_pass
    ADD CONSTRAINT redaction_pass_is_one_per_partition PRIMARY KEY (log, partition);


--
-- Name: retention retention_is_one_per_subject; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.retention
    ADD CONSTRAINT retention_is_one_per_subject PRIMARY KEY (subject);


--
-- Name: saga saga_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.saga
    ADD CONSTRAINT saga_is_unique PRIMARY KEY (id);


--
-- Name: saga_step saga_step_is_recorded_once; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.saga_step
    ADD CONSTRAINT saga_step_is_recorded_once PRIMARY KEY (saga, name);


--
-- Name: session_commands_partition session_commands_partition_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.session_commands_partition
    ADD CONSTRAINT session_commands_partition_is_unique PRIMARY KEY (partition);


--
-- Name: session_commands session_commands_position_is_unique; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.session_commands
    ADD CONSTRAINT session_commands_position_is_unique PRIMARY KEY (partition, "position");


--
-- Name: stream_token stream_has_one_token; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.stream_token
    ADD CONSTRAINT stream_has_one_token PRIMARY KEY (stream);


--
-- Name: upload_chunk upload_chunk_is_stored_once; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.upload_chunk
    ADD CONSTRAINT upload_chunk_is_stored_once PRIMARY KEY (account, hash, number);


--
-- Name: upload upload_is_one_row; Type: CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.upload
    ADD CONSTRAINT upload_is_one_row PRIMARY KEY (account, hash);


--
-- Name: alarm_recipient_by_responder; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX alarm_recipient_by_responder ON contacts.alarm_recipient USING btree (responder);


--
-- Name: INDEX alarm_recipient_by_responder; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.alarm_recipient_by_responder IS 'Finds the alarms of which an account was told, for when it closes.';


--
-- Name: dead_letter_by_time; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX dead_letter_by_time ON contacts.dead_letter USING btree (died_at);


--
-- Name: INDEX dead_letter_by_time; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.dead_letter_by_time IS 'Lists the newest first, and finds the ones that retention deletes.';


--
-- Name: log_by_request; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX log_by_request ON contacts.log USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX log_by_request; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.log_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: operator_act_by_time; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX operator_act_by_time ON contacts.operator_act USING btree (acted_at);


--
-- Name: INDEX operator_act_by_time; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.operator_act_by_time IS 'Lists the newest first.';


--
-- Name: parked_by_key; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX parked_by_key ON contacts.parked USING btree (source, partition, key, "position");


--
-- Name: INDEX parked_by_key; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.parked_by_key IS 'Finds the first parked message of a key, and the ones behind it.';


--
-- Name: redaction_open; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX redaction_open ON contacts.redaction USING btree (requested_at) WHERE ((done_at IS NULL) OR (done_at < late_until));


--
-- Name: INDEX redaction_open; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.redaction_open IS 'Redactions that aren''t finished.';


--
-- Name: relation_by_high; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX relation_by_high ON contacts.relation USING btree (high, low);


--
-- Name: INDEX relation_by_high; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.relation_by_high IS 'Finds the relations in which an account is the greater side. The primary key finds those in which it is the lesser.';


--
-- Name: request_by_asked; Type: INDEX; Schema: contacts; Owner: contacts_owner
--

CREATE INDEX request_by_asked ON contacts.request USING btree (asked, asker);


--
-- Name: INDEX request_by_asked; Type: COMMENT; Schema: contacts; Owner: contacts_owner
--

COMMENT ON INDEX contacts.request_by_asked IS 'Finds the requests that an account received.';


--
-- Name: dead_letter_by_time; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX dead_letter_by_time ON notifications.dead_letter USING btree (died_at);


--
-- Name: INDEX dead_letter_by_time; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.dead_letter_by_time IS 'Lists the newest first, and finds the ones that retention deletes.';


--
-- Name: due_by_request; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX due_by_request ON notifications.due USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX due_by_request; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.due_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: log_by_request; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX log_by_request ON notifications.log USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX log_by_request; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.log_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: notification_by_alarm; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX notification_by_alarm ON notifications.notification USING btree (alarm) WHERE (alarm IS NOT NULL);


--
-- Name: INDEX notification_by_alarm; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.notification_by_alarm IS 'Finds the notifications about an alarm.';


--
-- Name: notification_by_pace; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX notification_by_pace ON notifications.notification USING btree (account, pace, created_at) WHERE (pace IS NOT NULL);


--
-- Name: INDEX notification_by_pace; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.notification_by_pace IS 'Finds the recent notifications that are limited together.';


--
-- Name: notification_by_time; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX notification_by_time ON notifications.notification USING btree (account, created_at, id);


--
-- Name: INDEX notification_by_time; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.notification_by_time IS 'Lists the history in order, and finds its oldest rows. Reading or clearing a notification doesn''t change it.';


--
-- Name: notification_not_cleared; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX notification_not_cleared ON notifications.notification USING btree (account) WHERE (cleared_at IS NULL);


--
-- Name: INDEX notification_not_cleared; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.notification_not_cleared IS 'Finds the notifications that can be read or cleared.';


--
-- Name: operator_act_by_time; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX operator_act_by_time ON notifications.operator_act USING btree (acted_at);


--
-- Name: INDEX operator_act_by_time; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.operator_act_by_time IS 'Lists the newest first.';


--
-- Name: parked_by_key; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX parked_by_key ON notifications.parked USING btree (source, partition, key, "position");


--
-- Name: INDEX parked_by_key; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.parked_by_key IS 'Finds the first parked message of a key, and the ones behind it.';


--
-- Name: push_by_next_attempt; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX push_by_next_attempt ON notifications.push USING btree (next_attempt_at);


--
-- Name: INDEX push_by_next_attempt; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.push_by_next_attempt IS 'Finds the pushes that are due, the earliest first.';


--
-- Name: push_device_by_token; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX push_device_by_token ON notifications.push_device USING btree (md5(token));


--
-- Name: INDEX push_device_by_token; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.push_device_by_token IS 'Finds other registrations of a token. A phone''s app has one token, whichever account is signed in.';


--
-- Name: push_device_leaving; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX push_device_leaving ON notifications.push_device USING btree (account, device) WHERE is_leaving;


--
-- Name: INDEX push_device_leaving; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.push_device_leaving IS 'Finds the devices that are deleted once no push waits for them.';


--
-- Name: redaction_open; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX redaction_open ON notifications.redaction USING btree (requested_at) WHERE ((done_at IS NULL) OR (done_at < late_until));


--
-- Name: INDEX redaction_open; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.redaction_open IS 'Redactions that aren''t finished.';


--
-- Name: timer_by_due; Type: INDEX; Schema: notifications; Owner: notifications_owner
--

CREATE INDEX timer_by_due ON notifications.timer USING btree (due_at, key, name);


--
-- Name: INDEX timer_by_due; Type: COMMENT; Schema: notifications; Owner: notifications_owner
--

COMMENT ON INDEX notifications.timer_by_due IS 'Finds the timers that are due, the earliest first.';


--
-- Name: account_by_phone_key; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX account_by_phone_key ON session.account USING btree (phone_key) WHERE (phone_key IS NOT NULL);


--
-- Name: INDEX account_by_phone_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.account_by_phone_key IS 'Counts the phones whose ids were made under each of the server''s keys.';


--
-- Name: account_in_alarm; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX account_in_alarm ON session.account USING btree (account) WHERE ((missed_alarm IS NOT NULL) OR (alert_alarm IS NOT NULL));


--
-- Name: INDEX account_in_alarm; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.account_in_alarm IS 'Finds missed check-ins and raised alerts, for operators.';


--
-- Name: account_is_in_one_session_of_an_activity; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE UNIQUE INDEX account_is_in_one_session_of_an_activity ON session.participant USING btree (account, activity) WHERE (status = 'joined'::text);


--
-- Name: INDEX account_is_in_one_session_of_an_activity; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.account_is_in_one_session_of_an_activity IS 'Keeps two sessions from taking one account for the same activity.';


--
-- Name: attachment_by_account; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX attachment_by_account ON session.attachment USING btree (account);


--
-- Name: INDEX attachment_by_account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.attachment_by_account IS 'The room that an account''s attachments take.';


--
-- Name: attachment_is_shown_once; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE UNIQUE INDEX attachment_is_shown_once ON session.attachment USING btree (group_id, hash) WHERE (completed_at IS NOT NULL);


--
-- Name: INDEX attachment_is_shown_once; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.attachment_is_shown_once IS 'Keeps a session from showing the same bytes twice.';


--
-- Name: dead_letter_by_time; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX dead_letter_by_time ON session.dead_letter USING btree (died_at);


--
-- Name: INDEX dead_letter_by_time; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.dead_letter_by_time IS 'Lists the newest first, and finds the ones that retention deletes.';


--
-- Name: due_by_request; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX due_by_request ON session.due USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX due_by_request; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.due_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: group_connection_by_account; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX group_connection_by_account ON session.group_connection USING btree (group_id, account);


--
-- Name: INDEX group_connection_by_account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.group_connection_by_account IS 'A participant''s connections.';


--
-- Name: group_connection_by_edge; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX group_connection_by_edge ON session.group_connection USING btree (edge, group_id);


--
-- Name: INDEX group_connection_by_edge; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.group_connection_by_edge IS 'What is lost with an edge process.';


--
-- Name: group_message_by_sender; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX group_message_by_sender ON session.group_message USING btree (sender) WHERE (type IS NOT NULL);


--
-- Name: INDEX group_message_by_sender; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.group_message_by_sender IS 'For emptying the messages of closed accounts.';


--
-- Name: group_session_by_end; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX group_session_by_end ON session.group_session USING btree (ended_at) WHERE (ended_at IS NOT NULL);


--
-- Name: INDEX group_session_by_end; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.group_session_by_end IS 'For deleting old sessions.';


--
-- Name: group_session_by_host; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX group_session_by_host ON session.group_session USING btree (host) WHERE (is_open_to_contacts AND (ended_at IS NULL));


--
-- Name: INDEX group_session_by_host; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.group_session_by_host IS 'The sessions that contacts of a host may join.';


--
-- Name: group_stretch_by_end; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX group_stretch_by_end ON session.group_stretch USING btree (partition, until) WHERE (until IS NOT NULL);


--
-- Name: INDEX group_stretch_by_end; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.group_stretch_by_end IS 'For deleting what retention made useless.';


--
-- Name: log_by_request; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX log_by_request ON session.log USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX log_by_request; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.log_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: message_history_over; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX message_history_over ON session.message_history USING btree (group_id) WHERE is_over;


--
-- Name: INDEX message_history_over; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.message_history_over IS 'For deleting the messages of sessions that are over.';


--
-- Name: nobody_joined_at_the_same_time; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE UNIQUE INDEX nobody_joined_at_the_same_time ON session.participant USING btree (group_id, ordinal) WHERE (status = 'joined'::text);


--
-- Name: INDEX nobody_joined_at_the_same_time; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.nobody_joined_at_the_same_time IS 'Keeps succession unambiguous.';


--
-- Name: operator_act_by_time; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX operator_act_by_time ON session.operator_act USING btree (acted_at);


--
-- Name: INDEX operator_act_by_time; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.operator_act_by_time IS 'Lists the newest first.';


--
-- Name: parked_by_key; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX parked_by_key ON session.parked USING btree (source, partition, key, "position");


--
-- Name: INDEX parked_by_key; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.parked_by_key IS 'Finds the first parked message of a key, and the ones behind it.';


--
-- Name: participant_by_account; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX participant_by_account ON session.participant USING btree (account, group_id) WHERE (status <> 'invalidated'::text);


--
-- Name: INDEX participant_by_account; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.participant_by_account IS 'The sessions that an account is in or invited to.';


--
-- Name: participant_by_inviter; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX participant_by_inviter ON session.participant USING btree (account, invited_by) WHERE (invited_by IS NOT NULL);


--
-- Name: INDEX participant_by_inviter; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.participant_by_inviter IS 'What ends with the relation of two accounts.';


--
-- Name: redaction_open; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX redaction_open ON session.redaction USING btree (requested_at) WHERE ((done_at IS NULL) OR (done_at < late_until));


--
-- Name: INDEX redaction_open; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.redaction_open IS 'Redactions that aren''t finished.';


--
-- Name: sign_in_attempt_by_age; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX sign_in_attempt_by_age ON session.sign_in_attempt USING btree (counted_since);


--
-- Name: INDEX sign_in_attempt_by_age; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.sign_in_attempt_by_age IS 'Finds the rows that are deleted next.';


--
-- Name: timer_by_due; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX timer_by_due ON session.timer USING btree (due_at, key, name);


--
-- Name: INDEX timer_by_due; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.timer_by_due IS 'Finds the timers that are due, the earliest first.';


--
-- Name: unfinished_attachment_by_age; Type: INDEX; Schema: session; Owner: session_owner
--

CREATE INDEX unfinished_attachment_by_age ON session.attachment USING btree (renewed_at) WHERE (completed_at IS NULL);


--
-- Name: INDEX unfinished_attachment_by_age; Type: COMMENT; Schema: session; Owner: session_owner
--

COMMENT ON INDEX session.unfinished_attachment_by_age IS 'Finds the unfinished attachments that retention deletes.';


--
-- Name: contacts_commands_by_request; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX contacts_commands_by_request ON session_client.contacts_commands USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX contacts_commands_by_request; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.contacts_commands_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: dead_letter_by_time; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX dead_letter_by_time ON session_client.dead_letter USING btree (died_at);


--
-- Name: INDEX dead_letter_by_time; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.dead_letter_by_time IS 'Lists the newest first, and finds the ones that retention deletes.';


--
-- Name: notifications_commands_by_request; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX notifications_commands_by_request ON session_client.notifications_commands USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX notifications_commands_by_request; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.notifications_commands_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: notifications_commands_with_secrets; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX notifications_commands_with_secrets ON session_client.notifications_commands USING btree (recorded_at) WHERE session_client.carries_secrets((type)::text);


--
-- Name: INDEX notifications_commands_with_secrets; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.notifications_commands_with_secrets IS 'Finds the commands to empty once they are handled, the oldest first.';


--
-- Name: operations_by_request; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX operations_by_request ON session_client.operations USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX operations_by_request; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.operations_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: operator_act_by_time; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX operator_act_by_time ON session_client.operator_act USING btree (acted_at);


--
-- Name: INDEX operator_act_by_time; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.operator_act_by_time IS 'Lists the newest first.';


--
-- Name: operator_key_by_name; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE UNIQUE INDEX operator_key_by_name ON session_client.operator_key USING btree (name) WHERE (revoked_at IS NULL);


--
-- Name: INDEX operator_key_by_name; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.operator_key_by_name IS 'A name belongs to one key that is in use.';


--
-- Name: parked_by_key; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX parked_by_key ON session_client.parked USING btree (source, partition, key, "position");


--
-- Name: INDEX parked_by_key; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.parked_by_key IS 'Finds the first parked message of a key, and the ones behind it.';


--
-- Name: redaction_open; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX redaction_open ON session_client.redaction USING btree (requested_at) WHERE ((done_at IS NULL) OR (done_at < late_until));


--
-- Name: INDEX redaction_open; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.redaction_open IS 'Redactions that aren''t finished.';


--
-- Name: saga_due; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX saga_due ON session_client.saga USING btree (next_attempt) WHERE (state = 'running'::text);


--
-- Name: INDEX saga_due; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.saga_due IS 'Finds the sagas that can be run, the longest waiting first.';


--
-- Name: saga_ended; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX saga_ended ON session_client.saga USING btree (ended_at) WHERE (state <> 'running'::text);


--
-- Name: INDEX saga_ended; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.saga_ended IS 'Finds the sagas that retention deletes, the first ended first.';


--
-- Name: saga_of_account; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX saga_of_account ON session_client.saga USING btree (account, started_at DESC, id DESC);


--
-- Name: INDEX saga_of_account; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.saga_of_account IS 'Lists an account''s operations, newest first.';


--
-- Name: saga_running_in_lane; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE UNIQUE INDEX saga_running_in_lane ON session_client.saga USING btree (account, lane, number) WHERE (state = 'running'::text);


--
-- Name: INDEX saga_running_in_lane; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.saga_running_in_lane IS 'Finds the next saga of an account and lane: they run one after the other.';


--
-- Name: session_commands_by_request; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX session_commands_by_request ON session_client.session_commands USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);


--
-- Name: INDEX session_commands_by_request; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.session_commands_by_request IS 'Finds what one request led to, for operators. Ids begin with their time, so new entries go to the end.';


--
-- Name: session_commands_with_secrets; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX session_commands_with_secrets ON session_client.session_commands USING btree (recorded_at) WHERE session_client.carries_secrets((type)::text);


--
-- Name: INDEX session_commands_with_secrets; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.session_commands_with_secrets IS 'Finds the commands to empty once they are handled, the oldest first.';


--
-- Name: stream_token_by_end; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX stream_token_by_end ON session_client.stream_token USING btree (expires_at);


--
-- Name: INDEX stream_token_by_end; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.stream_token_by_end IS 'Finds the rows that retention deletes, the oldest first.';


--
-- Name: upload_by_age; Type: INDEX; Schema: session_client; Owner: session_client_owner
--

CREATE INDEX upload_by_age ON session_client.upload USING btree (renewed_at);


--
-- Name: INDEX upload_by_age; Type: COMMENT; Schema: session_client; Owner: session_client_owner
--

COMMENT ON INDEX session_client.upload_by_age IS 'Finds the uploads that retention deletes, the oldest first.';


--
-- Name: log record_outcome; Type: TRIGGER; Schema: contacts; Owner: contacts_owner
--

CREATE TRIGGER record_outcome AFTER INSERT ON contacts.log REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION contacts.record_outcome();


--
-- Name: log record_outcome; Type: TRIGGER; Schema: notifications; Owner: notifications_owner
--

CREATE TRIGGER record_outcome AFTER INSERT ON notifications.log REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION notifications.record_outcome();


--
-- Name: log record_group_events; Type: TRIGGER; Schema: session; Owner: session_owner
--

CREATE TRIGGER record_group_events AFTER INSERT ON session.log REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION session.record_group_events();


--
-- Name: log record_outcome; Type: TRIGGER; Schema: session; Owner: session_owner
--

CREATE TRIGGER record_outcome AFTER INSERT ON session.log REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION session.record_outcome();


--
-- Name: push push_is_for_a_registered_device; Type: FK CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.push
    ADD CONSTRAINT push_is_for_a_registered_device FOREIGN KEY (account, device) REFERENCES notifications.push_device(account, device);


--
-- Name: push_attempt pushed_notification_is_in_the_history; Type: FK CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.push_attempt
    ADD CONSTRAINT pushed_notification_is_in_the_history FOREIGN KEY (account, notification) REFERENCES notifications.notification(account, id) ON DELETE CASCADE;


--
-- Name: shown shown_notification_is_in_the_history; Type: FK CONSTRAINT; Schema: notifications; Owner: notifications_owner
--

ALTER TABLE ONLY notifications.shown
    ADD CONSTRAINT shown_notification_is_in_the_history FOREIGN KEY (account, notification) REFERENCES notifications.notification(account, id) ON DELETE CASCADE;


--
-- Name: group_activity activity_is_of_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_activity
    ADD CONSTRAINT activity_is_of_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: attachment attachment_is_in_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attachment
    ADD CONSTRAINT attachment_is_in_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: group_checkpoint checkpoint_begins_a_stretch; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_checkpoint
    ADD CONSTRAINT checkpoint_begins_a_stretch FOREIGN KEY (group_id, "position") REFERENCES session.group_stretch(group_id, since) ON DELETE CASCADE;


--
-- Name: group_connection connection_is_a_participants; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_connection
    ADD CONSTRAINT connection_is_a_participants FOREIGN KEY (group_id, account) REFERENCES session.participant(group_id, account) ON DELETE CASCADE;


--
-- Name: group_connection connection_is_to_an_edge; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_connection
    ADD CONSTRAINT connection_is_to_an_edge FOREIGN KEY (edge) REFERENCES session.edge(edge);


--
-- Name: attachment_description description_is_of_an_attachment; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.attachment_description
    ADD CONSTRAINT description_is_of_an_attachment FOREIGN KEY (group_id, account, hash) REFERENCES session.attachment(group_id, account, hash) ON DELETE CASCADE;


--
-- Name: game game_is_played_in_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.game
    ADD CONSTRAINT game_is_played_in_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: group_message message_has_a_history; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_message
    ADD CONSTRAINT message_has_a_history FOREIGN KEY (group_id) REFERENCES session.message_history(group_id) ON DELETE CASCADE;


--
-- Name: message_history messages_are_of_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.message_history
    ADD CONSTRAINT messages_are_of_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: participant participant_is_in_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.participant
    ADD CONSTRAINT participant_is_in_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: playback playback_is_in_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.playback
    ADD CONSTRAINT playback_is_in_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: queue_item queue_is_of_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.queue_item
    ADD CONSTRAINT queue_is_of_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: group_stretch stretch_is_of_a_session; Type: FK CONSTRAINT; Schema: session; Owner: session_owner
--

ALTER TABLE ONLY session.group_stretch
    ADD CONSTRAINT stretch_is_of_a_session FOREIGN KEY (group_id) REFERENCES session.group_session(group_id) ON DELETE CASCADE;


--
-- Name: upload_chunk chunk_is_of_an_upload; Type: FK CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.upload_chunk
    ADD CONSTRAINT chunk_is_of_an_upload FOREIGN KEY (account, hash) REFERENCES session_client.upload(account, hash);


--
-- Name: saga_step saga_step_belongs_to_saga; Type: FK CONSTRAINT; Schema: session_client; Owner: session_client_owner
--

ALTER TABLE ONLY session_client.saga_step
    ADD CONSTRAINT saga_step_belongs_to_saga FOREIGN KEY (saga) REFERENCES session_client.saga(id) ON DELETE CASCADE;


--
-- Name: SCHEMA contacts; Type: ACL; Schema: -; Owner: contacts_owner
--

GRANT USAGE ON SCHEMA contacts TO contacts;
GRANT USAGE ON SCHEMA contacts TO quartet_reader;
GRANT USAGE ON SCHEMA contacts TO quartet_operator;
GRANT USAGE ON SCHEMA contacts TO session_client;
GRANT USAGE ON SCHEMA contacts TO session_client_owner;


--
-- Name: SCHEMA notifications; Type: ACL; Schema: -; Owner: notifications_owner
--

GRANT USAGE ON SCHEMA notifications TO notifications;
GRANT USAGE ON SCHEMA notifications TO quartet_reader;
GRANT USAGE ON SCHEMA notifications TO quartet_operator;
GRANT USAGE ON SCHEMA notifications TO session_client;
GRANT USAGE ON SCHEMA notifications TO session_client_owner;


--
-- Name: SCHEMA session; Type: ACL; Schema: -; Owner: session_owner
--

GRANT USAGE ON SCHEMA session TO session;
GRANT USAGE ON SCHEMA session TO quartet_reader;
GRANT USAGE ON SCHEMA session TO quartet_operator;
GRANT USAGE ON SCHEMA session TO session_client;
GRANT USAGE ON SCHEMA session TO session_client_owner;


--
-- Name: SCHEMA session_client; Type: ACL; Schema: -; Owner: session_client_owner
--

GRANT USAGE ON SCHEMA session_client TO session_client;
GRANT USAGE ON SCHEMA session_client TO quartet_reader;
GRANT USAGE ON SCHEMA session_client TO quartet_operator;
GRANT USAGE ON SCHEMA session_client TO session;
GRANT USAGE ON SCHEMA session_client TO contacts;
GRANT USAGE ON SCHEMA session_client TO notifications;
GRANT USAGE ON SCHEMA session_client TO session_owner;
GRANT USAGE ON SCHEMA session_client TO contacts_owner;
GRANT USAGE ON SCHEMA session_client TO notifications_owner;


--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.accept_truncation(of_source text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.accept_truncation(of_source text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.delete_old_batches(keep interval, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.delete_old_batches(keep interval, at_most integer) TO contacts;


--
-- Name: FUNCTION delete_old_outcomes(at_most integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.delete_old_outcomes(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.delete_old_outcomes(at_most integer) TO contacts;


--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.discard_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.discard_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.empty_failed_secrets(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.empty_failed_secrets(at_most integer) TO contacts;


--
-- Name: FUNCTION log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO contacts;


--
-- Name: FUNCTION log_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.log_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.log_delete_old(of_partition integer, at_most integer) TO contacts;


--
-- Name: FUNCTION log_handled(of_partition integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.log_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.log_handled(of_partition integer) TO contacts;


--
-- Name: FUNCTION log_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE log_partition; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.log_partition TO quartet_reader;
GRANT SELECT ON TABLE contacts.log_partition TO contacts;
GRANT SELECT ON TABLE contacts.log_partition TO session_client;
GRANT SELECT ON TABLE contacts.log_partition TO session_client_owner;


--
-- Name: COLUMN log_partition.lock; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT UPDATE(lock) ON TABLE contacts.log_partition TO contacts;


--
-- Name: FUNCTION log_partition_of(key text); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.log_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.log_partition_of(key text) TO contacts;
GRANT ALL ON FUNCTION contacts.log_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION contacts.log_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION log_redact(of_partition integer, at_most integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.log_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.log_redact(of_partition integer, at_most integer) TO contacts;


--
-- Name: FUNCTION microseconds(at timestamp with time zone); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.microseconds(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.microseconds(at timestamp with time zone) TO contacts;
GRANT ALL ON FUNCTION contacts.microseconds(at timestamp with time zone) TO session_client;
GRANT ALL ON FUNCTION contacts.microseconds(at timestamp with time zone) TO quartet_reader;


--
-- Name: TABLE operator_act; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.operator_act TO quartet_reader;


--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.record_act(act text, subject json, reason text, with_key uuid) FROM PUBLIC;


--
-- Name: FUNCTION record_outcome(); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.record_outcome() FROM PUBLIC;


--
-- Name: FUNCTION redact_failed(); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.redact_failed() FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.redact_failed() TO contacts;


--
-- Name: FUNCTION redact_outcomes(at_most integer); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.redact_outcomes(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.redact_outcomes(at_most integer) TO contacts;


--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.retry_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.retry_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.accept_truncation(of_source text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.accept_truncation(of_source text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.delete_old_batches(keep interval, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.delete_old_batches(keep interval, at_most integer) TO notifications;


--
-- Name: FUNCTION delete_old_outcomes(at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.delete_old_outcomes(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.delete_old_outcomes(at_most integer) TO notifications;


--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.discard_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.discard_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO notifications;


--
-- Name: FUNCTION due_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.due_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.due_delete_old(of_partition integer, at_most integer) TO notifications;


--
-- Name: FUNCTION due_handled(of_partition integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.due_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.due_handled(of_partition integer) TO notifications;


--
-- Name: FUNCTION due_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE due_partition; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.due_partition TO quartet_reader;
GRANT SELECT ON TABLE notifications.due_partition TO notifications;


--
-- Name: COLUMN due_partition.lock; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(lock) ON TABLE notifications.due_partition TO notifications;


--
-- Name: FUNCTION due_partition_of(key text); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.due_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.due_partition_of(key text) TO notifications;
GRANT ALL ON FUNCTION notifications.due_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION due_redact(of_partition integer, at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.due_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.due_redact(of_partition integer, at_most integer) TO notifications;


--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.empty_failed_secrets(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.empty_failed_secrets(at_most integer) TO notifications;


--
-- Name: FUNCTION log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO notifications;


--
-- Name: FUNCTION log_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.log_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.log_delete_old(of_partition integer, at_most integer) TO notifications;


--
-- Name: FUNCTION log_handled(of_partition integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.log_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.log_handled(of_partition integer) TO notifications;


--
-- Name: FUNCTION log_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE log_partition; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.log_partition TO quartet_reader;
GRANT SELECT ON TABLE notifications.log_partition TO notifications;
GRANT SELECT ON TABLE notifications.log_partition TO session_client;
GRANT SELECT ON TABLE notifications.log_partition TO session_client_owner;


--
-- Name: COLUMN log_partition.lock; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(lock) ON TABLE notifications.log_partition TO notifications;


--
-- Name: FUNCTION log_partition_of(key text); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.log_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.log_partition_of(key text) TO notifications;
GRANT ALL ON FUNCTION notifications.log_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION notifications.log_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION log_redact(of_partition integer, at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.log_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.log_redact(of_partition integer, at_most integer) TO notifications;


--
-- Name: FUNCTION microseconds(at timestamp with time zone); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.microseconds(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.microseconds(at timestamp with time zone) TO notifications;
GRANT ALL ON FUNCTION notifications.microseconds(at timestamp with time zone) TO session_client;
GRANT ALL ON FUNCTION notifications.microseconds(at timestamp with time zone) TO quartet_reader;


--
-- Name: TABLE operator_act; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.operator_act TO quartet_reader;


--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.record_act(act text, subject json, reason text, with_key uuid) FROM PUBLIC;


--
-- Name: FUNCTION record_outcome(); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.record_outcome() FROM PUBLIC;


--
-- Name: FUNCTION redact_failed(); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.redact_failed() FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.redact_failed() TO notifications;


--
-- Name: FUNCTION redact_outcomes(at_most integer); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.redact_outcomes(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.redact_outcomes(at_most integer) TO notifications;


--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.retry_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.retry_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.accept_truncation(of_source text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session.accept_truncation(of_source text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION delete_old_attachments(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_attachments(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_attachments(at_most integer) TO session;


--
-- Name: FUNCTION delete_old_attempts(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_attempts(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_attempts(at_most integer) TO session;


--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_batches(keep interval, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_batches(keep interval, at_most integer) TO session;


--
-- Name: FUNCTION delete_old_checkpoints(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_checkpoints(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_checkpoints(at_most integer) TO session;


--
-- Name: FUNCTION delete_old_groups(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_groups(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_groups(at_most integer) TO session;


--
-- Name: FUNCTION delete_old_messages(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_messages(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_messages(at_most integer) TO session;


--
-- Name: FUNCTION delete_old_outcomes(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.delete_old_outcomes(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.delete_old_outcomes(at_most integer) TO session;


--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.discard_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session.discard_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION session.due_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO session;


--
-- Name: FUNCTION due_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.due_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.due_delete_old(of_partition integer, at_most integer) TO session;


--
-- Name: FUNCTION due_handled(of_partition integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.due_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.due_handled(of_partition integer) TO session;


--
-- Name: FUNCTION due_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.due_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE due_partition; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.due_partition TO quartet_reader;
GRANT SELECT ON TABLE session.due_partition TO session;


--
-- Name: COLUMN due_partition.lock; Type: ACL; Schema: session; Owner: session_owner
--

GRANT UPDATE(lock) ON TABLE session.due_partition TO session;


--
-- Name: FUNCTION due_partition_of(key text); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.due_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION session.due_partition_of(key text) TO session;
GRANT ALL ON FUNCTION session.due_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION due_redact(of_partition integer, at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.due_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.due_redact(of_partition integer, at_most integer) TO session;


--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.empty_failed_secrets(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.empty_failed_secrets(at_most integer) TO session;


--
-- Name: FUNCTION group_at(of_group uuid, at_position bigint); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.group_at(of_group uuid, at_position bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION session.group_at(of_group uuid, at_position bigint) TO session_client;
GRANT ALL ON FUNCTION session.group_at(of_group uuid, at_position bigint) TO quartet_operator;


--
-- Name: FUNCTION log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION session.log_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO session;


--
-- Name: FUNCTION log_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.log_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.log_delete_old(of_partition integer, at_most integer) TO session;


--
-- Name: FUNCTION log_handled(of_partition integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.log_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.log_handled(of_partition integer) TO session;


--
-- Name: FUNCTION log_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.log_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE log_partition; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.log_partition TO quartet_reader;
GRANT SELECT ON TABLE session.log_partition TO session;
GRANT SELECT ON TABLE session.log_partition TO session_client;
GRANT SELECT ON TABLE session.log_partition TO session_client_owner;


--
-- Name: COLUMN log_partition.lock; Type: ACL; Schema: session; Owner: session_owner
--

GRANT UPDATE(lock) ON TABLE session.log_partition TO session;


--
-- Name: FUNCTION log_partition_of(key text); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.log_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION session.log_partition_of(key text) TO session;
GRANT ALL ON FUNCTION session.log_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION session.log_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION log_redact(of_partition integer, at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.log_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.log_redact(of_partition integer, at_most integer) TO session;


--
-- Name: FUNCTION microseconds(at timestamp with time zone); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.microseconds(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION session.microseconds(at timestamp with time zone) TO session;
GRANT ALL ON FUNCTION session.microseconds(at timestamp with time zone) TO session_client;
GRANT ALL ON FUNCTION session.microseconds(at timestamp with time zone) TO quartet_reader;


--
-- Name: TABLE operator_act; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.operator_act TO quartet_reader;


--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.record_act(act text, subject json, reason text, with_key uuid) FROM PUBLIC;


--
-- Name: FUNCTION record_group_events(); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.record_group_events() FROM PUBLIC;


--
-- Name: FUNCTION record_outcome(); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.record_outcome() FROM PUBLIC;


--
-- Name: FUNCTION redact_failed(); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.redact_failed() FROM PUBLIC;
GRANT ALL ON FUNCTION session.redact_failed() TO session;


--
-- Name: FUNCTION redact_outcomes(at_most integer); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.redact_outcomes(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session.redact_outcomes(at_most integer) TO session;


--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.retry_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session.retry_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION with_member(object json, name text, value json); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.with_member(object json, name text, value json) FROM PUBLIC;
GRANT ALL ON FUNCTION session.with_member(object json, name text, value json) TO session;
GRANT ALL ON FUNCTION session.with_member(object json, name text, value json) TO session_client;
GRANT ALL ON FUNCTION session.with_member(object json, name text, value json) TO quartet_reader;


--
-- Name: FUNCTION accept_truncation(of_source text, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.accept_truncation(of_source text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.accept_truncation(of_source text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION alarm_begun(of_alarm uuid, of_person uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.alarm_begun(of_alarm uuid, of_person uuid) TO quartet_reader;


--
-- Name: FUNCTION batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.batch_before(of_consumer text, of_source text, of_partition integer, before timestamp with time zone) TO quartet_reader;


--
-- Name: FUNCTION carries_secrets(type text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.carries_secrets(type text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.carries_secrets(type text) TO session_client;
GRANT ALL ON FUNCTION session_client.carries_secrets(type text) TO session_owner;
GRANT ALL ON FUNCTION session_client.carries_secrets(type text) TO contacts_owner;
GRANT ALL ON FUNCTION session_client.carries_secrets(type text) TO notifications_owner;


--
-- Name: FUNCTION contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.contacts_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO session_client;


--
-- Name: FUNCTION contacts_commands_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.contacts_commands_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.contacts_commands_delete_old(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION contacts_commands_handled(of_partition integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.contacts_commands_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.contacts_commands_handled(of_partition integer) TO session_client;


--
-- Name: FUNCTION contacts_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.contacts_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE contacts_commands_partition; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.contacts_commands_partition TO quartet_reader;
GRANT SELECT ON TABLE session_client.contacts_commands_partition TO session_client;
GRANT SELECT ON TABLE session_client.contacts_commands_partition TO contacts;
GRANT SELECT ON TABLE session_client.contacts_commands_partition TO contacts_owner;


--
-- Name: COLUMN contacts_commands_partition.lock; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(lock) ON TABLE session_client.contacts_commands_partition TO session_client;


--
-- Name: FUNCTION contacts_commands_partition_of(key text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.contacts_commands_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.contacts_commands_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION session_client.contacts_commands_partition_of(key text) TO contacts;
GRANT ALL ON FUNCTION session_client.contacts_commands_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION contacts_commands_redact(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.contacts_commands_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.contacts_commands_redact(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION create_union_view(view_name text, names text[], like_table text, branch text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.create_union_view(view_name text, names text[], like_table text, branch text) FROM PUBLIC;


--
-- Name: FUNCTION create_union_views(); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.create_union_views() FROM PUBLIC;


--
-- Name: FUNCTION delete_old_batches(keep interval, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.delete_old_batches(keep interval, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.delete_old_batches(keep interval, at_most integer) TO session_client;


--
-- Name: FUNCTION delete_old_sagas(at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.delete_old_sagas(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.delete_old_sagas(at_most integer) TO session_client;


--
-- Name: FUNCTION delete_old_stream_tokens(at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.delete_old_stream_tokens(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.delete_old_stream_tokens(at_most integer) TO session_client;


--
-- Name: FUNCTION delete_old_uploads(at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.delete_old_uploads(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.delete_old_uploads(at_most integer) TO session_client;


--
-- Name: FUNCTION discard_dead_letter(dead uuid, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.discard_dead_letter(dead uuid, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.discard_dead_letter(dead uuid, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION discard_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.discard_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.discard_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION empty_failed_secrets(at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.empty_failed_secrets(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.empty_failed_secrets(at_most integer) TO session_client;


--
-- Name: FUNCTION empty_secrets(at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.empty_secrets(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.empty_secrets(at_most integer) TO session_client;


--
-- Name: FUNCTION event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.event_after(of_log text, of_key text, of_type text, since timestamp with time zone, mentioning text) TO quartet_reader;


--
-- Name: FUNCTION last_story(at_most bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.last_story(at_most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.last_story(at_most bigint) TO quartet_reader;


--
-- Name: TABLE operator_act; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.operator_act TO quartet_reader;


--
-- Name: FUNCTION record_act(act text, subject json, reason text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.record_act(act text, subject json, reason text, with_key uuid) FROM PUBLIC;


--
-- Name: COLUMN operator_key.id; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT(id) ON TABLE session_client.operator_key TO quartet_reader;


--
-- Name: COLUMN operator_key.name; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT(name) ON TABLE session_client.operator_key TO quartet_reader;


--
-- Name: COLUMN operator_key.role; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT(role) ON TABLE session_client.operator_key TO quartet_reader;


--
-- Name: COLUMN operator_key.made_at; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT(made_at) ON TABLE session_client.operator_key TO quartet_reader;


--
-- Name: COLUMN operator_key.revoked_at; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT(revoked_at) ON TABLE session_client.operator_key TO quartet_reader;


--
-- Name: FUNCTION make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text) TO quartet_operator;


--
-- Name: FUNCTION messages_of(of_id uuid, since timestamp with time zone, at_most bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.messages_of(of_id uuid, since timestamp with time zone, at_most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.messages_of(of_id uuid, since timestamp with time zone, at_most bigint) TO quartet_reader;


--
-- Name: TABLE log; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.log TO quartet_reader;
GRANT SELECT,INSERT ON TABLE contacts.log TO contacts;
GRANT SELECT ON TABLE contacts.log TO session_client;


--
-- Name: TABLE due; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.due TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.due TO notifications;


--
-- Name: TABLE log; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.log TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.log TO notifications;
GRANT SELECT ON TABLE notifications.log TO session_client;


--
-- Name: TABLE due; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.due TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.due TO session;


--
-- Name: TABLE log; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.log TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.log TO session;
GRANT SELECT ON TABLE session.log TO session_client;


--
-- Name: TABLE contacts_commands; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.contacts_commands TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.contacts_commands TO session_client;
GRANT SELECT ON TABLE session_client.contacts_commands TO contacts;


--
-- Name: TABLE notifications_commands; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.notifications_commands TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.notifications_commands TO session_client;
GRANT SELECT ON TABLE session_client.notifications_commands TO notifications;


--
-- Name: TABLE operations; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.operations TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.operations TO session_client;


--
-- Name: TABLE session_commands; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.session_commands TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.session_commands TO session_client;
GRANT SELECT ON TABLE session_client.session_commands TO session;


--
-- Name: TABLE messages; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.messages TO quartet_reader;


--
-- Name: FUNCTION messages_since(since timestamp with time zone, at_most bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.messages_since(since timestamp with time zone, at_most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.messages_since(since timestamp with time zone, at_most bigint) TO quartet_reader;


--
-- Name: FUNCTION milliseconds(of_time interval); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.milliseconds(of_time interval) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.milliseconds(of_time interval) TO quartet_reader;


--
-- Name: FUNCTION new_id(); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.new_id() FROM PUBLIC;


--
-- Name: FUNCTION newest_messages(at_most bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.newest_messages(at_most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.newest_messages(at_most bigint) TO quartet_reader;


--
-- Name: FUNCTION notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.notifications_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO session_client;


--
-- Name: FUNCTION notifications_commands_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.notifications_commands_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.notifications_commands_delete_old(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION notifications_commands_handled(of_partition integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.notifications_commands_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.notifications_commands_handled(of_partition integer) TO session_client;


--
-- Name: FUNCTION notifications_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.notifications_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE notifications_commands_partition; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.notifications_commands_partition TO quartet_reader;
GRANT SELECT ON TABLE session_client.notifications_commands_partition TO session_client;
GRANT SELECT ON TABLE session_client.notifications_commands_partition TO notifications;
GRANT SELECT ON TABLE session_client.notifications_commands_partition TO notifications_owner;


--
-- Name: COLUMN notifications_commands_partition.lock; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(lock) ON TABLE session_client.notifications_commands_partition TO session_client;


--
-- Name: FUNCTION notifications_commands_partition_of(key text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.notifications_commands_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.notifications_commands_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION session_client.notifications_commands_partition_of(key text) TO notifications;
GRANT ALL ON FUNCTION session_client.notifications_commands_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION notifications_commands_redact(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.notifications_commands_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.notifications_commands_redact(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operations_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO session_client;


--
-- Name: FUNCTION operations_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operations_delete_old(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION operations_handled(of_partition integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operations_handled(of_partition integer) TO session_client;


--
-- Name: FUNCTION operations_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE operations_partition; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.operations_partition TO quartet_reader;
GRANT SELECT ON TABLE session_client.operations_partition TO session_client;


--
-- Name: COLUMN operations_partition.lock; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(lock) ON TABLE session_client.operations_partition TO session_client;


--
-- Name: FUNCTION operations_partition_of(key text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operations_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION session_client.operations_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION operations_redact(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operations_redact(of_partition integer, at_most integer) TO session_client;


--
-- Name: TABLE saga; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.saga TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session_client.saga TO session_client;


--
-- Name: FUNCTION operations_state(of_account uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operations_state(of_account uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operations_state(of_account uuid) TO session_client;
GRANT ALL ON FUNCTION session_client.operations_state(of_account uuid) TO quartet_reader;


--
-- Name: FUNCTION operator_key_of(of_id uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.operator_key_of(of_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.operator_key_of(of_id uuid) TO quartet_operator;


--
-- Name: FUNCTION position_before(of_log text, of_partition integer, before timestamp with time zone); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.position_before(of_log text, of_partition integer, before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.position_before(of_log text, of_partition integer, before timestamp with time zone) TO quartet_reader;


--
-- Name: FUNCTION redact_failed(); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.redact_failed() FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.redact_failed() TO session_client;


--
-- Name: FUNCTION request_of(of_id uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.request_of(of_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.request_of(of_id uuid) TO quartet_reader;


--
-- Name: FUNCTION retry_contacts_commands(dead uuid, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.retry_contacts_commands(dead uuid, why text, with_key uuid) FROM PUBLIC;


--
-- Name: FUNCTION retry_dead_letter(dead uuid, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.retry_dead_letter(dead uuid, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.retry_dead_letter(dead uuid, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION retry_notifications_commands(dead uuid, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.retry_notifications_commands(dead uuid, why text, with_key uuid) FROM PUBLIC;


--
-- Name: FUNCTION retry_parked(of_source text, of_key text, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.retry_parked(of_source text, of_key text, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.retry_parked(of_source text, of_key text, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION retry_session_commands(dead uuid, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.retry_session_commands(dead uuid, why text, with_key uuid) FROM PUBLIC;


--
-- Name: FUNCTION revoke_operator_key(of_name text, why text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.revoke_operator_key(of_name text, why text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.revoke_operator_key(of_name text, why text) TO quartet_operator;


--
-- Name: FUNCTION session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.session_commands_append(into_partitions integer[], slots integer[], ordinals integer[], kinds text[], types text[], versions smallint[], keys text[], accounts uuid[], bodies json[], message_ids uuid[], command_ids uuid[], outcomes text[], command_hashes uuid[], correlation_ids uuid[], causation_ids uuid[], trace_parents text[], times_to_live bigint[]) TO session_client;


--
-- Name: FUNCTION session_commands_delete_old(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.session_commands_delete_old(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.session_commands_delete_old(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION session_commands_handled(of_partition integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.session_commands_handled(of_partition integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.session_commands_handled(of_partition integer) TO session_client;


--
-- Name: FUNCTION session_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.session_commands_of_redacted(of_partition integer, after_position bigint, to_position bigint) FROM PUBLIC;


--
-- Name: TABLE session_commands_partition; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.session_commands_partition TO quartet_reader;
GRANT SELECT ON TABLE session_client.session_commands_partition TO session_client;
GRANT SELECT ON TABLE session_client.session_commands_partition TO session;
GRANT SELECT ON TABLE session_client.session_commands_partition TO session_owner;


--
-- Name: COLUMN session_commands_partition.lock; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(lock) ON TABLE session_client.session_commands_partition TO session_client;


--
-- Name: FUNCTION session_commands_partition_of(key text); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.session_commands_partition_of(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.session_commands_partition_of(key text) TO session_client;
GRANT ALL ON FUNCTION session_client.session_commands_partition_of(key text) TO session;
GRANT ALL ON FUNCTION session_client.session_commands_partition_of(key text) TO quartet_reader;


--
-- Name: FUNCTION session_commands_redact(of_partition integer, at_most integer); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.session_commands_redact(of_partition integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.session_commands_redact(of_partition integer, at_most integer) TO session_client;


--
-- Name: FUNCTION set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.set_retention(of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION story(of_id uuid, at_most bigint); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.story(of_id uuid, at_most bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.story(of_id uuid, at_most bigint) TO quartet_reader;


--
-- Name: FUNCTION time_of(id uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.time_of(id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.time_of(id uuid) TO quartet_reader;


--
-- Name: FUNCTION told(of_alarm uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.told(of_alarm uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.told(of_alarm uuid) TO quartet_reader;


--
-- Name: TABLE account; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.account TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE contacts.account TO contacts;


--
-- Name: TABLE alarm; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.alarm TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.alarm TO contacts;


--
-- Name: TABLE alarm_recipient; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.alarm_recipient TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.alarm_recipient TO contacts;


--
-- Name: TABLE attempt; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.attempt TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE contacts.attempt TO contacts;


--
-- Name: COLUMN attempt.began_at; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT UPDATE(began_at) ON TABLE contacts.attempt TO contacts;


--
-- Name: TABLE batch; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.batch TO quartet_reader;
GRANT SELECT,INSERT ON TABLE contacts.batch TO contacts;
GRANT SELECT ON TABLE contacts.batch TO session_client_owner;


--
-- Name: TABLE block; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.block TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.block TO contacts;


--
-- Name: TABLE blocking; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.blocking TO quartet_reader;
GRANT SELECT ON TABLE contacts.blocking TO session_client;


--
-- Name: TABLE relation; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.relation TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.relation TO contacts;


--
-- Name: TABLE contact; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.contact TO quartet_reader;
GRANT SELECT ON TABLE contacts.contact TO contacts;
GRANT SELECT ON TABLE contacts.contact TO session_client;


--
-- Name: TABLE contact_code; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.contact_code TO quartet_reader;
GRANT SELECT ON TABLE contacts.contact_code TO session_client;


--
-- Name: TABLE request; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.request TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.request TO contacts;


--
-- Name: TABLE contacts_state; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.contacts_state TO quartet_reader;
GRANT SELECT ON TABLE contacts.contacts_state TO session_client;


--
-- Name: TABLE dead_letter; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.dead_letter TO quartet_reader;
GRANT SELECT,INSERT ON TABLE contacts.dead_letter TO contacts;
GRANT SELECT ON TABLE contacts.dead_letter TO session_client_owner;


--
-- Name: TABLE lease; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.lease TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE contacts.lease TO contacts;
GRANT SELECT ON TABLE contacts.lease TO session_client_owner;


--
-- Name: TABLE limits; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.limits TO quartet_reader;
GRANT SELECT ON TABLE contacts.limits TO contacts;


--
-- Name: TABLE member; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.member TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.member TO contacts;


--
-- Name: TABLE migration; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.migration TO quartet_reader;
GRANT SELECT ON TABLE contacts.migration TO contacts;


--
-- Name: TABLE redaction; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.redaction TO quartet_reader;
GRANT SELECT ON TABLE contacts.redaction TO contacts;


--
-- Name: COLUMN redaction.noticed_at; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT UPDATE(noticed_at) ON TABLE contacts.redaction TO contacts;


--
-- Name: COLUMN redaction.done_at; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT UPDATE(done_at) ON TABLE contacts.redaction TO contacts;


--
-- Name: TABLE open_redaction; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.open_redaction TO quartet_reader;


--
-- Name: TABLE outcome; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.outcome TO quartet_reader;
GRANT SELECT,INSERT ON TABLE contacts.outcome TO contacts;
GRANT SELECT ON TABLE contacts.outcome TO session_client;
GRANT SELECT ON TABLE contacts.outcome TO session_client_owner;


--
-- Name: TABLE parked; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.parked TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE contacts.parked TO contacts;


--
-- Name: TABLE redaction_pass; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.redaction_pass TO quartet_reader;
GRANT SELECT ON TABLE contacts.redaction_pass TO contacts;


--
-- Name: TABLE retention; Type: ACL; Schema: contacts; Owner: contacts_owner
--

GRANT SELECT ON TABLE contacts.retention TO quartet_reader;
GRANT SELECT ON TABLE contacts.retention TO contacts;


--
-- Name: TABLE account; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.account TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE notifications.account TO notifications;


--
-- Name: TABLE attempt; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.attempt TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE notifications.attempt TO notifications;


--
-- Name: COLUMN attempt.began_at; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(began_at) ON TABLE notifications.attempt TO notifications;


--
-- Name: TABLE batch; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.batch TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.batch TO notifications;
GRANT SELECT ON TABLE notifications.batch TO session_client_owner;


--
-- Name: TABLE dead_letter; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.dead_letter TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.dead_letter TO notifications;
GRANT SELECT ON TABLE notifications.dead_letter TO session_client_owner;


--
-- Name: TABLE held; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.held TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.held TO notifications;


--
-- Name: TABLE lease; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.lease TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE notifications.lease TO notifications;
GRANT SELECT ON TABLE notifications.lease TO session_client_owner;


--
-- Name: TABLE limits; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.limits TO quartet_reader;
GRANT SELECT ON TABLE notifications.limits TO notifications;


--
-- Name: TABLE member; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.member TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.member TO notifications;


--
-- Name: TABLE migration; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.migration TO quartet_reader;
GRANT SELECT ON TABLE notifications.migration TO notifications;


--
-- Name: TABLE notification; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.notification TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.notification TO notifications;
GRANT SELECT ON TABLE notifications.notification TO session_client;


--
-- Name: TABLE push_device; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.push_device TO notifications;


--
-- Name: COLUMN push_device.account; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT(account) ON TABLE notifications.push_device TO quartet_reader;


--
-- Name: COLUMN push_device.device; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT(device) ON TABLE notifications.push_device TO quartet_reader;


--
-- Name: COLUMN push_device.platform; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT(platform) ON TABLE notifications.push_device TO quartet_reader;


--
-- Name: COLUMN push_device.registered_at; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT(registered_at) ON TABLE notifications.push_device TO quartet_reader;


--
-- Name: COLUMN push_device.is_leaving; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT(is_leaving) ON TABLE notifications.push_device TO quartet_reader;


--
-- Name: TABLE scheduled; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.scheduled TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.scheduled TO notifications;


--
-- Name: TABLE notifications_state; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.notifications_state TO quartet_reader;
GRANT SELECT ON TABLE notifications.notifications_state TO session_client;


--
-- Name: TABLE redaction; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.redaction TO quartet_reader;
GRANT SELECT ON TABLE notifications.redaction TO notifications;


--
-- Name: COLUMN redaction.noticed_at; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(noticed_at) ON TABLE notifications.redaction TO notifications;


--
-- Name: COLUMN redaction.done_at; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(done_at) ON TABLE notifications.redaction TO notifications;


--
-- Name: TABLE open_redaction; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.open_redaction TO quartet_reader;


--
-- Name: TABLE outcome; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.outcome TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.outcome TO notifications;
GRANT SELECT ON TABLE notifications.outcome TO session_client;
GRANT SELECT ON TABLE notifications.outcome TO session_client_owner;


--
-- Name: TABLE parked; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.parked TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.parked TO notifications;


--
-- Name: TABLE push; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.push TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE notifications.push TO notifications;


--
-- Name: COLUMN push.attempts; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(attempts) ON TABLE notifications.push TO notifications;


--
-- Name: COLUMN push.next_attempt_at; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(next_attempt_at) ON TABLE notifications.push TO notifications;


--
-- Name: COLUMN push.last_error; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT UPDATE(last_error) ON TABLE notifications.push TO notifications;


--
-- Name: TABLE push_attempt; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.push_attempt TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.push_attempt TO notifications;


--
-- Name: TABLE redaction_pass; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.redaction_pass TO quartet_reader;
GRANT SELECT ON TABLE notifications.redaction_pass TO notifications;


--
-- Name: TABLE retention; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.retention TO quartet_reader;
GRANT SELECT ON TABLE notifications.retention TO notifications;


--
-- Name: TABLE shown; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.shown TO quartet_reader;
GRANT SELECT,INSERT ON TABLE notifications.shown TO notifications;


--
-- Name: TABLE timer; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.timer TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications.timer TO notifications;


--
-- Name: TABLE unread; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.unread TO quartet_reader;
GRANT SELECT ON TABLE notifications.unread TO session_client;


--
-- Name: TABLE wrong_count; Type: ACL; Schema: notifications; Owner: notifications_owner
--

GRANT SELECT ON TABLE notifications.wrong_count TO quartet_reader;


--
-- Name: TABLE account; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.account TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.account TO session;


--
-- Name: TABLE device; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.device TO session;


--
-- Name: TABLE recovery; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.recovery TO session;


--
-- Name: TABLE account_state; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.account_state TO quartet_reader;
GRANT SELECT ON TABLE session.account_state TO session_client;


--
-- Name: TABLE attachment; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.attachment TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.attachment TO session;


--
-- Name: TABLE attachment_chunk; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT ON TABLE session.attachment_chunk TO session;
GRANT SELECT ON TABLE session.attachment_chunk TO session_client;


--
-- Name: TABLE attachment_description; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.attachment_description TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.attachment_description TO session;


--
-- Name: TABLE attempt; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.attempt TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE session.attempt TO session;


--
-- Name: COLUMN attempt.began_at; Type: ACL; Schema: session; Owner: session_owner
--

GRANT UPDATE(began_at) ON TABLE session.attempt TO session;


--
-- Name: TABLE avatar_chunk; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.avatar_chunk TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE session.avatar_chunk TO session;
GRANT SELECT ON TABLE session.avatar_chunk TO session_client;


--
-- Name: TABLE batch; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.batch TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.batch TO session;
GRANT SELECT ON TABLE session.batch TO session_client_owner;


--
-- Name: TABLE credential; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.credential TO session;


--
-- Name: TABLE dead_letter; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.dead_letter TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.dead_letter TO session;
GRANT SELECT ON TABLE session.dead_letter TO session_client_owner;


--
-- Name: TABLE deleted_content; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.deleted_content TO quartet_reader;
GRANT INSERT ON TABLE session.deleted_content TO session;


--
-- Name: TABLE device_status; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.device_status TO quartet_reader;
GRANT SELECT ON TABLE session.device_status TO session_client;


--
-- Name: TABLE edge; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.edge TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.edge TO session;


--
-- Name: TABLE game; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.game TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.game TO session;


--
-- Name: TABLE group_activity; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_activity TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.group_activity TO session;


--
-- Name: TABLE group_attachment; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_attachment TO quartet_reader;
GRANT SELECT ON TABLE session.group_attachment TO session_client;


--
-- Name: TABLE group_checkpoint; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_checkpoint TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.group_checkpoint TO session;


--
-- Name: TABLE group_connection; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_connection TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE session.group_connection TO session;


--
-- Name: TABLE group_message; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_message TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE session.group_message TO session;


--
-- Name: TABLE participant; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.participant TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.participant TO session;


--
-- Name: TABLE group_participant; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_participant TO quartet_reader;
GRANT SELECT ON TABLE session.group_participant TO session_client;


--
-- Name: TABLE group_session; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_session TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.group_session TO session;


--
-- Name: TABLE playback; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.playback TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.playback TO session;


--
-- Name: TABLE queue_item; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.queue_item TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.queue_item TO session;


--
-- Name: TABLE group_state; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_state TO quartet_reader;
GRANT SELECT ON TABLE session.group_state TO session_client;
GRANT SELECT ON TABLE session.group_state TO session;


--
-- Name: TABLE group_stretch; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.group_stretch TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.group_stretch TO session;


--
-- Name: TABLE handle; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.handle TO quartet_reader;
GRANT SELECT ON TABLE session.handle TO session_client;


--
-- Name: TABLE message_history; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.message_history TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.message_history TO session;


--
-- Name: TABLE kept_message; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.kept_message TO quartet_reader;
GRANT SELECT ON TABLE session.kept_message TO session_client;


--
-- Name: TABLE lease; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.lease TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session.lease TO session;
GRANT SELECT ON TABLE session.lease TO session_client_owner;


--
-- Name: TABLE limits; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.limits TO quartet_reader;
GRANT SELECT ON TABLE session.limits TO session;


--
-- Name: TABLE member; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.member TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.member TO session;


--
-- Name: TABLE message_range; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.message_range TO quartet_reader;
GRANT SELECT ON TABLE session.message_range TO session_client;


--
-- Name: TABLE migration; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.migration TO quartet_reader;
GRANT SELECT ON TABLE session.migration TO session;


--
-- Name: TABLE open_group; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.open_group TO quartet_reader;
GRANT SELECT ON TABLE session.open_group TO session_client;


--
-- Name: TABLE redaction; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.redaction TO quartet_reader;
GRANT SELECT ON TABLE session.redaction TO session;


--
-- Name: COLUMN redaction.noticed_at; Type: ACL; Schema: session; Owner: session_owner
--

GRANT UPDATE(noticed_at) ON TABLE session.redaction TO session;


--
-- Name: COLUMN redaction.done_at; Type: ACL; Schema: session; Owner: session_owner
--

GRANT UPDATE(done_at) ON TABLE session.redaction TO session;


--
-- Name: TABLE open_redaction; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.open_redaction TO quartet_reader;


--
-- Name: TABLE outcome; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.outcome TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session.outcome TO session;
GRANT SELECT ON TABLE session.outcome TO session_client;
GRANT SELECT ON TABLE session.outcome TO session_client_owner;


--
-- Name: TABLE parked; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.parked TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.parked TO session;


--
-- Name: TABLE phone; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.phone TO quartet_reader;
GRANT SELECT ON TABLE session.phone TO session_client;


--
-- Name: TABLE phone_code; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.phone_code TO session;


--
-- Name: TABLE profile; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.profile TO quartet_reader;
GRANT SELECT ON TABLE session.profile TO session_client;


--
-- Name: TABLE redaction_pass; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.redaction_pass TO quartet_reader;
GRANT SELECT ON TABLE session.redaction_pass TO session;


--
-- Name: TABLE retention; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.retention TO quartet_reader;
GRANT SELECT ON TABLE session.retention TO session;


--
-- Name: TABLE security_change; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.security_change TO session;


--
-- Name: TABLE server_key; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.server_key TO quartet_reader;


--
-- Name: TABLE sign_in_attempt; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.sign_in_attempt TO session;


--
-- Name: TABLE timer; Type: ACL; Schema: session; Owner: session_owner
--

GRANT SELECT ON TABLE session.timer TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session.timer TO session;


--
-- Name: TABLE alarm_receipts; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.alarm_receipts TO quartet_reader;


--
-- Name: TABLE dead_letter; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.dead_letter TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.dead_letter TO session_client;


--
-- Name: TABLE all_dead_letters; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_dead_letters TO quartet_reader;


--
-- Name: TABLE lease; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.lease TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session_client.lease TO session_client;
GRANT SELECT ON TABLE session_client.lease TO session_owner;
GRANT SELECT ON TABLE session_client.lease TO contacts_owner;
GRANT SELECT ON TABLE session_client.lease TO notifications_owner;


--
-- Name: TABLE all_leases; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_leases TO quartet_reader;


--
-- Name: TABLE member; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.member TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session_client.member TO session_client;


--
-- Name: TABLE all_members; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_members TO quartet_reader;


--
-- Name: TABLE all_operator_acts; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_operator_acts TO quartet_reader;


--
-- Name: TABLE all_outcomes; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_outcomes TO quartet_reader;


--
-- Name: TABLE parked; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.parked TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session_client.parked TO session_client;


--
-- Name: TABLE all_parked; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_parked TO quartet_reader;


--
-- Name: TABLE retention; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.retention TO quartet_reader;
GRANT SELECT ON TABLE session_client.retention TO session_client;


--
-- Name: TABLE all_retention; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_retention TO quartet_reader;


--
-- Name: TABLE all_timers; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.all_timers TO quartet_reader;


--
-- Name: TABLE attempt; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.attempt TO quartet_reader;
GRANT SELECT,INSERT,DELETE ON TABLE session_client.attempt TO session_client;


--
-- Name: COLUMN attempt.began_at; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(began_at) ON TABLE session_client.attempt TO session_client;


--
-- Name: TABLE batch; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.batch TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.batch TO session_client;
GRANT SELECT ON TABLE session_client.batch TO session_owner;
GRANT SELECT ON TABLE session_client.batch TO contacts_owner;
GRANT SELECT ON TABLE session_client.batch TO notifications_owner;


--
-- Name: TABLE batches; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.batches TO quartet_reader;


--
-- Name: TABLE heads; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.heads TO quartet_reader;


--
-- Name: TABLE biggest_keys; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.biggest_keys TO quartet_reader;


--
-- Name: TABLE logs; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.logs TO quartet_reader;


--
-- Name: TABLE bloat; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.bloat TO quartet_reader;


--
-- Name: TABLE closure; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.closure TO quartet_reader;
GRANT SELECT,INSERT ON TABLE session_client.closure TO session_client;


--
-- Name: TABLE redaction; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.redaction TO quartet_reader;
GRANT SELECT ON TABLE session_client.redaction TO session_client;


--
-- Name: COLUMN redaction.noticed_at; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(noticed_at) ON TABLE session_client.redaction TO session_client;


--
-- Name: COLUMN redaction.done_at; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(done_at) ON TABLE session_client.redaction TO session_client;


--
-- Name: TABLE closed_account; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.closed_account TO quartet_reader;


--
-- Name: TABLE dead_letter_decision; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.dead_letter_decision TO quartet_reader;


--
-- Name: TABLE dead_letters; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.dead_letters TO quartet_reader;


--
-- Name: TABLE holders; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.holders TO quartet_reader;


--
-- Name: TABLE lag; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.lag TO quartet_reader;


--
-- Name: TABLE processes; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.processes TO quartet_reader;


--
-- Name: TABLE leases; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.leases TO quartet_reader;


--
-- Name: TABLE listeners; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.listeners TO quartet_reader;


--
-- Name: TABLE migration; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.migration TO quartet_reader;
GRANT SELECT ON TABLE session_client.migration TO session_client;


--
-- Name: TABLE open_redaction; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.open_redaction TO quartet_reader;


--
-- Name: TABLE operator_acts; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.operator_acts TO quartet_reader;


--
-- Name: TABLE parked_messages; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.parked_messages TO quartet_reader;


--
-- Name: TABLE redaction_pass; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.redaction_pass TO quartet_reader;
GRANT SELECT ON TABLE session_client.redaction_pass TO session_client;


--
-- Name: TABLE retention_state; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.retention_state TO quartet_reader;


--
-- Name: TABLE saga_step; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.saga_step TO quartet_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE session_client.saga_step TO session_client;


--
-- Name: TABLE stream_token; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT,INSERT ON TABLE session_client.stream_token TO session_client;


--
-- Name: COLUMN stream_token.expires_at; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(expires_at) ON TABLE session_client.stream_token TO session_client;


--
-- Name: TABLE throughput; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.throughput TO quartet_reader;


--
-- Name: TABLE timers; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.timers TO quartet_reader;


--
-- Name: TABLE upload; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.upload TO quartet_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session_client.upload TO session_client;
GRANT SELECT ON TABLE session_client.upload TO session;


--
-- Name: TABLE upload_chunk; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE session_client.upload_chunk TO session_client;
GRANT SELECT ON TABLE session_client.upload_chunk TO session;


--
-- Name: COLUMN upload_chunk.bytes; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT UPDATE(bytes) ON TABLE session_client.upload_chunk TO session_client;


--
-- Name: TABLE workers; Type: ACL; Schema: session_client; Owner: session_client_owner
--

GRANT SELECT ON TABLE session_client.workers TO quartet_reader;


--
-- Name: FUNCTION redact(of_account uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.redact(of_account uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.redact(of_account uuid) TO contacts;


--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: ACL; Schema: contacts; Owner: contacts_owner
--

REVOKE ALL ON FUNCTION contacts.redact(of_account uuid, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION contacts.redact(of_account uuid, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION redact(of_account uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.redact(of_account uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.redact(of_account uuid) TO notifications;


--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: ACL; Schema: notifications; Owner: notifications_owner
--

REVOKE ALL ON FUNCTION notifications.redact(of_account uuid, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION notifications.redact(of_account uuid, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION redact(of_account uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.redact(of_account uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session.redact(of_account uuid) TO session;


--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: ACL; Schema: session; Owner: session_owner
--

REVOKE ALL ON FUNCTION session.redact(of_account uuid, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session.redact(of_account uuid, why text, with_key uuid) TO quartet_operator;


--
-- Name: FUNCTION redact(of_account uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.redact(of_account uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.redact(of_account uuid) TO session_client;


--
-- Name: FUNCTION redact(of_account uuid, why text, with_key uuid); Type: ACL; Schema: session_client; Owner: session_client_owner
--

REVOKE ALL ON FUNCTION session_client.redact(of_account uuid, why text, with_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION session_client.redact(of_account uuid, why text, with_key uuid) TO quartet_operator;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: contacts; Owner: contacts_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE contacts_owner IN SCHEMA contacts GRANT SELECT ON TABLES  TO quartet_reader;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: notifications; Owner: notifications_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE notifications_owner IN SCHEMA notifications GRANT SELECT ON TABLES  TO quartet_reader;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: session; Owner: session_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE session_owner IN SCHEMA session GRANT SELECT ON TABLES  TO quartet_reader;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: session_client; Owner: session_client_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE session_client_owner IN SCHEMA session_client GRANT SELECT ON TABLES  TO quartet_reader;


--
-- PostgreSQL database dump complete
--


