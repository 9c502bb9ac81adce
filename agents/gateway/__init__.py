"""The only way to a model.

models, admin   deployments, the roles they play, budgets, and one row per model call
secrets         keys by the name of their environment variable, bound to one origin
certificates    bundles of authorities by the name of their environment variable
deployments     which deployment answers; the default from the environment; rows to connections
connection      everything one call needs to reach a model, resolved on the server
events          what goes to a model and the closed set of what comes back
stream          the door: one request, retried while nothing was said, ends in one outcome
client          the direct door: one request outside a turn's steps, accounted for by itself
retries         which failures are tried again, and after how long
failures        provider faults as closed codes; raw provider text stops here
budgets         what people may use: reserved before a call, settled with its row
metering        room for a call, asked before it is made
door            what is checked before a message is accepted
calls           the one row per call outcome
probe           the connection test of the administration
sse, reducer, arguments, fragments, thinking, parts, usage
                the parts a provider's bytes pass through (pure)
schemas         tool schemas as grammar-based servers accept them (pure)
sessions        one HTTP session per process and event loop
providers/      the dialects, and a scripted model server for tests and measurements
"""
