"""What the tests share: a strict device, small graphs, and a plain reference of the method."""
