"""One CloudFormation in memory, which every in-memory test drives.

| Module | What is in it |
|---|---|
| `stacks` | stacks, their resources, and what each answer changes about them |
| `requests` | what CloudFormation asks of a custom resource, as an event |
| `operations` | create, update, rollback, cleanup and delete, one request after the other |
| `client` | what a boto3 client shows of all that |

The tests differ in how a request reaches the code, and how its answer comes back:

- `tests.support.cloud` calls the use case at once.
- `tests.support.fuzz` stops it before each of its calls, kills it, and delivers its event twice.
- `tests.support.faults` delivers a raw event to the real handler, with one call going wrong.
- `tests.support.explorer` takes single events, and walks through every order of their calls.
"""
