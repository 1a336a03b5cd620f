"""Options that several commands have, in the same words."""

from __future__ import annotations

import click

source_format_option = click.option(
    "--source-format", metavar="NAME", help="Format of SOURCES; by default told by what is in them."
)
tools_option = click.option(
    "--tools", metavar="FILE", help="JSON list of tool schemas, for trajectories whose source lists none."
)
split_option = click.option("--split", help="Divide by task: train=0.95,validation=0.05.")
target_of_rows_option = click.option(
    "--target", metavar="NAME", help="Verifier of the rows; by default told by config and first row."
)
block_name_option = click.option(
    "--name", help="Begins the names of the config's blocks; by default after the rows' agent."
)
threshold_option = click.option(
    "--threshold",
    type=float,
    help="Least similarity at which texts match; by default that of Gym's config of the target (0.1).",
)
kept_threshold_option = click.option(
    "--threshold", type=float, help="Least share of common words; by default that of PIVOTS."
)
"""For rows that come with a config of their own."""
overwrite_folder_option = click.option(
    "--overwrite", is_flag=True, help="Write into a folder that holds other files too."
)
overwrite_file_option = click.option("--overwrite", is_flag=True, help="Replace a file that exists.")
rebuilding_python_option = click.option(
    "--gym-python", metavar="PATH", help="Python of the Gym that rebuilds; by default gym on PATH."
)
"""For evidence that a run did not save; `config` and `validate` use their Gym to check."""
agent_option = click.option("--agent", help="Agent to compare, where a run holds several.")
