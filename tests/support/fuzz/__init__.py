"""Long histories of deployments that meet, as hypothesis makes them up: functions pause, die and run twice.

| Module | What is in it |
|---|---|
| `machine` | the rules that hypothesis plays with |
| `properties` | what stacks are deployed with |
| `history` | one history: its steps, its time and its story |
| `ending` | the end of a history: everything is deleted |
| `watched_cloud` | what is imported, and that it is neither lost nor torn after every call |
| `stepped_cloud` | the cloud, a call at a time |
| `invocation` | one invocation of a function, stopped before each of its calls |
| `laptop` | a janitor: a command on a laptop whose clock is wrong, or a function |
| `abroad` | what is imported in another account is held |
| `lookups` | CloudFormation as one account sees it |
| `scheduler` | tasks of which one runs at a time |
"""
