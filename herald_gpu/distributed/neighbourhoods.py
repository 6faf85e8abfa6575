"""tmp"""
def choose_neighbourhoods(*a): raise NotImplementedError
