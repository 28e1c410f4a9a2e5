"""Compare where values are on the page: does a right value also have the right box?"""
