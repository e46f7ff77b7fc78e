"""Plugins, and compiled artifacts."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

PLUGINS = rows(
    Exit.UNCHECKED,
    (
        "E800",
        "Installation incomplete",
        "Something that floe works with is missing on this machine, or too old.",
        "Run `floe doctor`: it names the line that repairs it.",
    ),
    (
        "E801",
        "Plugin not installed",
        "A plugin is named that no installed package provides, so what it would check stays unknown.",
        "Install the package that provides it, or correct the name; `floe plugins list` shows what is there.",
    ),
    (
        "E802",
        "Plugin cannot be loaded",
        "The package that provides the plugin is installed, but importing it fails.",
        "Repair or upgrade the package named in the message.",
    ),
    (
        "E803",
        "Plugin does not fit its interface",
        "The object behind the entry point lacks methods that every plugin of its kind must have.",
        "Upgrade the package named in the message, or report it to its authors.",
    ),
    (
        "E804",
        "Plugin for another floe",
        "The plugin was written for another version of the plugin interface than this floe has.",
        "Install versions of floe and of the plugin that belong together.",
    ),
    (
        "E805",
        "Two plugins with one name",
        "Two installed packages provide a plugin of the same kind and name; which one runs would be chance.",
        "Uninstall one of the packages named in the message.",
    ),
    (
        "E806",
        "Plugin settings are wrong",
        "The plugin does not understand its `config`, so it cannot do its job.",
        "Correct the setting named in the message; the plugin's README lists all of them.",
    ),
    (
        "E807",
        "Catalog cannot be used",
        "The catalog could not be opened, reached or read, so what is in it is unknown.",
        "Check that the catalog runs, its address and your rights, then run the command again.",
    ),
    (
        "E808",
        "Secret not available",
        "A setting refers to a secret that cannot be looked up here.",
        "Set what the message names.",
    ),
    (
        "E809",
        "Rule plugin failed",
        "A rule of another package stopped with an error, so what it checks is unknown. Unknown is never a pass.",
        "Repair or upgrade the package named in the message.",
    ),
)

ARTIFACTS = rows(
    Exit.INPUT,
    (
        "E900",
        "Cannot write",
        "The disk is full, or the folder may not be written to. What was there before has not been touched.",
        "Free space, or correct the permissions of the folder; `floe compile --check` writes nothing.",
    ),
    (
        "E901",
        "Artifacts cannot be read",
        "The compiled artifacts do not exist, are a folder, or may not be read.",
        "Run `floe compile`, or correct the path.",
    ),
    (
        "E902",
        "Artifacts of another version",
        "Compiled artifacts are read exactly or not at all; another version may mean something else.",
        "Run `floe compile` with this floe, or use the floe that compiled them.",
    ),
    (
        "E903",
        "Artifacts damaged",
        "The content does not match its own digest: it was changed after the checks had passed, or cut off.",
        "Run `floe compile` again.",
    ),
    (
        "E904",
        "Artifacts are stale",
        "The product or something above it has changed since it was compiled, and nobody has checked the change.",
        "Run `floe compile` again.",
    ),
)
