"""The only way to a model.

models, admin   deployments, the roles they play, and one row per model call
secrets         keys by the name of their environment variable, bound to one origin
deployments     which deployment answers; the default from the environment; rows to connections
connection      everything one call needs to reach a model, resolved on the server
events          what goes to a model and the closed set of what comes back
stream          the door: one request, retried while nothing was said, ends in one outcome
retries         which failures are tried again, and after how long
failures        provider faults as closed codes; raw provider text stops here
calls           the one row per call outcome
sse, reducer, arguments, thinking   the parts a provider's bytes pass through (pure)
schemas         tool schemas as grammar-based servers accept them (pure)
sessions        one HTTP session per process and event loop
providers/      the dialects, and a scripted model server for tests and measurements
"""
