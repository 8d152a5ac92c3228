-- compatible with 0.1.0
-- In a transaction of its own: this reads all rows, under a lock that lets others read and write.
ALTER TABLE contacts.account
    VALIDATE CONSTRAINT only_the_unreachable_return,
    VALIDATE CONSTRAINT responder_reach_is_known,
    VALIDATE CONSTRAINT settled_reach_is_known,
    VALIDATE CONSTRAINT difference_has_a_beginning;
