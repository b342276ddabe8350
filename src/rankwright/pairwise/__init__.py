"""pairwise"""
