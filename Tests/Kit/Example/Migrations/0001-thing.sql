CREATE TABLE thing (
    id int CONSTRAINT thing_has_one_row_per_id PRIMARY KEY
);
COMMENT ON TABLE thing IS 'Things.';
COMMENT ON COLUMN thing.id IS 'Which.';
GRANT SELECT, INSERT ON thing TO example;
