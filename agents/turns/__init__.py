"""How a turn is executed: admission, the driver, context, answers, and the worker process.

models      one row a turn: the frozen snapshot and how it ended
admission   claim, snapshot and start in one transaction
context     the messages a model sees
driver      carries out what the engine decides, journals, publishes
steering    telling a running turn something
worker      many turns at once in one asyncio process
"""
