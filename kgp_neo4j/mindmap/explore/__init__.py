"""Explore: linked entities in; path-based and neighbour-based evidence graphs out."""
