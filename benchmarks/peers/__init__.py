"""Speed and accuracy beside the peer libraries: same data, same split, one thread, in turn.

``rows`` and ``metrics`` hold the comparisons, ``data`` what they are made on, ``process`` runs one
measurement in a new process, and the ``child_*`` modules are these processes. A library of another
interpreter imports this package, so nothing is imported here.
"""
