"""How a turn is executed: admission, the host, the driver, answers, and the worker process.

models       one row a turn: the frozen snapshot and how it ended
admission    claim, snapshot and start in one transaction
recovery     what is committed of a turn, for a worker that takes it up
driver       one turn from admission to its terminal, to its waiting, or to another worker
host         carries out what a controller asks, for every controller alike
asking       one model request and what is shown of its answer
batches      the tool calls of one step: run, refused, parked, settled
answers      commits: steps while a turn runs, and its one terminal
transcript   the messages a model sees; `window` estimates and `compaction` sums them up
steering     what a running turn is told meanwhile
reasoning    long reasoning is journaled while it goes on
parking      giving a turn up until its member has decided
normaliser   the one way of a final answer
inactivity   the clock of silence
worker       many turns at once in one asyncio process
"""
