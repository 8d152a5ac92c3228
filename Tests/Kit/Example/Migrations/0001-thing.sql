CREATE TABLE thing (
    id int CONSTRAINT thing_has_one_row_per_id PRIMARY KEY
);
COMMENT ON TABLE thing IS 'An example table.';
COMMENT ON COLUMN thing.id IS 'The id.';
GRANT SELECT, INSERT ON thing TO example;
