SELECT count(*) FROM cudal1_sample_exemplars(any_task(), 2);
SELECT prompt_id FROM cudal1_prompt('islands', 2, 'island') \gset
SELECT cudal1_submit_response(:prompt_id, E'## Code Implementation\n```python\nx = ' || (random() * 100000)::int || E'\n```');
