-- compatible with 0.1.0
-- In a transaction of its own: this reads all rows, under a lock that lets others read and write.
ALTER TABLE notifications.push_attempt VALIDATE CONSTRAINT result_is_known;
