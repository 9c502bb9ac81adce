"""Tests mirror the source; boundaries/ holds the trip-wires, journeys/ the whole stories."""
