# deps, demo, test, lint
