-- compatible with 0.1.0
-- In a transaction of its own: this reads all rows, under a lock that lets others read and write.
ALTER TABLE session.account
    VALIDATE CONSTRAINT open_account_has_a_handle,
    VALIDATE CONSTRAINT open_account_has_a_deadline;
