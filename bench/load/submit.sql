\set n random(1, 200000)
\set k random(1, 50000)
\set p random(0, 3)
SELECT cudal1_submit(any_task(), 'code ' || :n, 'load', group_key => 'g' || :client_id % 2, priority => :p);
SELECT cudal1_submit(any_task(), 'code ' || :n, 'load', proposal_key => 'key ' || :k);
