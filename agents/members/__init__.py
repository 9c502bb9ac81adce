"""Who: accounts, roles, preferences, access tokens and the sign-in throttle."""
