"""Guess who took which side in a split club.

Zachary's karate club split after a quarrel between its instructor and its president. The
graph comes from networkx, with friendships and the side that every member took. Members
are described by their distances from the two leaders; friends tend to take the same side.

Six sides are given, the others are `None`, and the model fills them in. `read_networkx`
reads attributes of nodes, and predictions become an attribute.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from maxmargin import GraphLabeler
from maxmargin.files import read_networkx

club = nx.karate_club_graph()
told = set(np.random.default_rng(0).permutation(34)[:6].tolist())
for member, attributes in club.nodes(data=True):
    near = [nx.shortest_path_length(club, member, leader) for leader in (0, 33)]
    attributes["distances"] = near
    attributes["told"] = attributes["club"] if member in told else None

X, y = read_networkx([club], features="distances", label="told")
model = GraphLabeler(C=0.3, edges="associative", inference="graph-cut").fit(X, y)
(found,) = model.complete(X, y)
nx.set_node_attributes(club, found, "predicted")

hidden = [m for m in club if m not in told]
wrong = [m for m in hidden if club.nodes[m]["predicted"] != club.nodes[m]["club"]]
print(f"{len(hidden) - len(wrong)} of {len(hidden)} sides filled in as they were")

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
place = nx.spring_layout(club, seed=1)
nx.draw_networkx_edges(club, place, ax=ax, edge_color="0.8")
for side, colour in (("Mr. Hi", "#0072B2"), ("Officer", "#D55E00")):
    for members, shape, what in ((told, "s", "told"), (hidden, "o", "filled in")):
        some = [m for m in members if club.nodes[m]["predicted"] == side]
        style = {"node_color": colour, "node_shape": shape, "node_size": 120}
        nx.draw_networkx_nodes(
            club, place, some, ax=ax, label=f"{side}, {what}", **style
        )
style = {"node_color": "none", "edgecolors": "black", "node_size": 260}
nx.draw_networkx_nodes(club, place, wrong, ax=ax, label="wrong", **style)
ax.legend(frameon=False)
ax.set_title("Sides of the members, told and filled in")
ax.axis("off")
