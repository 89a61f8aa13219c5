"""Every order in which the real exporter and importer can meet, call by call, over one in-memory Parameter Store.

An actor is the real code handling one CloudFormation event after the other. It is deterministic: which call it makes
next follows from what its calls answered so far. So an actor's state is that history, and is found by running its code
again over the recorded answers, up to the first call that has none (`session.Suspended`). States of the world with the
same store and the same histories are one: so *every* order of calls is a finite set of states.

| Module | What is in it |
|---|---|
| `cases` | which actors meet |
| `cast` | the actors that the cases are made of, and what was there before |
| `actors` | an actor: its events, and what may happen to it |
| `session` | answers the code's calls from a history |
| `world` | the store, CloudFormation's stacks, and the answers that it took |
| `nodes` | the actors' states, each found by running the code |
| `unread` | what of an answer the code does not read, so that it does not distinguish states |
| `moves` | what one actor may do next: a call, a choice, a death, a handover |
| `walk` | the walk through all states, or along one random path |
| `verdicts` | what must never be: a reference lost, a value torn from its record, a leftover |
| `several` | who takes part where an Import names no producer, and the cases of it |
| `outages` | one Export's updates and their rollbacks, in a place that goes away and comes back |
"""
