"""What may happen: the role's ceiling, protected places, the user's rules, a plan's grant, risk.

Everything here that decides is pure: it is told what is there and gives an answer with its
reasons. Who asks the user, and how, is the business of the agents.
"""
