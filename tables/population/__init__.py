"""Tables of the population: small models trained for this thesis."""
