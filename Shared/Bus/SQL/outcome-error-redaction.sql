-- Outcomes of commands that failed under 0.1.0 may quote rows that the database refused. Each has a dead letter, kept for longer
-- than the outcome, so no other outcome is read. Placeholder: schema.

UPDATE {{schema}}.log AS l
   SET body = jsonb_set(l.body::jsonb, '{reason}',
                        to_jsonb(regexp_replace(l.body ->> 'reason', '\. (Failing row contains|Key) \(.*$', '')))::json
  FROM {{schema}}.dead_letter AS d
  JOIN {{schema}}.outcome AS o ON o.command_id = d.command_id
 WHERE l.partition = o.partition AND l.position = o.position AND l.command_id = o.command_id AND l.type = 'Failed'
   AND l.body ->> 'reason' ~ '\. (Failing row contains|Key) \(';
UPDATE {{schema}}.outcome AS o
   SET body = jsonb_set(o.body::jsonb, '{reason}',
                        to_jsonb(regexp_replace(o.body ->> 'reason', '\. (Failing row contains|Key) \(.*$', '')))::json
  FROM {{schema}}.dead_letter AS d
 WHERE o.command_id = d.command_id AND o.outcome = 'failed'
   AND o.body ->> 'reason' ~ '\. (Failing row contains|Key) \(';
