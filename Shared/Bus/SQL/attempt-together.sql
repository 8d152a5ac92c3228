-- After an owner that vanished, messages are first taken on together: most owners vanish for reasons of their own. Placeholder: schema.

ALTER TABLE {{schema}}.attempt ADD COLUMN together boolean NOT NULL DEFAULT false;
COMMENT ON TABLE {{schema}}.attempt IS
    'Messages that a worker took on carefully, committed before it did. Those of a batch that ended a worker are tried alone by the next; one that ended three alone fails as crashed instead of ending a fourth.';
COMMENT ON COLUMN {{schema}}.attempt.together IS 'Whether others were in hand with it: then it is only suspected.';
GRANT UPDATE (together) ON {{schema}}.attempt TO {{schema}};
