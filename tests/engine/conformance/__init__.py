"""What every controller has to do. A new one is added to `conftest.CONTROLLERS` and passes, or does
not ship.
"""
