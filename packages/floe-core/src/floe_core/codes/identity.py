"""Who owns a product's name."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

IDENTITY = rows(
    Exit.FINDINGS,
    (
        "E600",
        "Identity not checked",
        (
            "A tier asks who owns the product's namespace, and nothing installed here can ask the catalog. Unknown "
            "is never treated as passed."
        ),
        "Install a catalog plugin, or set `identity: {enforcement: off}` while there is no catalog.",
    ),
)

IDENTITY_RULES = rows(
    Exit.FINDINGS,
    (
        "E540",
        "Catalog unreachable",
        (
            "The contract was judged against the last versions that were seen here; whether the catalog has newer "
            "ones is unknown, and nothing was registered."
        ),
        "Run the command again when the catalog can be reached.",
    ),
    (
        "E601",
        "Namespace owned by another repository",
        (
            "The first repository that registers a product owns its namespace. Two owners would overwrite each "
            "other's tables."
        ),
        "Choose a different product name or contact the namespace owner.",
    ),
    (
        "E602",
        "Product not registered",
        "Until a product is registered, any other repository can take its namespace.",
        "Run `floe product register`.",
    ),
    (
        "E603",
        "Two products with one name",
        (
            "Both names lead to the same namespace, because - and _ are the same in a catalog; their tables would "
            "overwrite each other."
        ),
        "Rename one of them; if the product has moved, run `floe product transfer`.",
    ),
    (
        "E604",
        "Identity incomplete",
        "A product is registered with its owner, its domain and its repository; without them nobody can be asked.",
        "Add the key to metadata in floe.yaml.",
    ),
    (
        "E605",
        "Another repository than declared",
        (
            "metadata.repository proves who owns the product, so it must be where these files come from. A copied "
            "floe.yaml still names the repository it was copied from."
        ),
        "Set metadata.repository to this checkout's own repository.",
    ),
    (
        "E606",
        "Repository not allowed",
        "The platform lists the repositories whose products may register here, and this one is not among them.",
        "Ask the owner of the list to allow it, or register from a repository that is.",
    ),
    (
        "E607",
        "Product not approved",
        "Products of this platform are registered after approval, and the approval list does not have this one.",
        "Ask the owner of the list to add it to registered_products.",
    ),
    (
        "E608",
        "Product is retired",
        "Its owner has ended this product; the name stays taken, so that nobody mistakes a new one for it.",
        "Use another name, or bring it back with `floe product transfer`.",
    ),
    (
        "E609",
        "Properties disagree with the registry",
        (
            "The floe.* properties of a namespace are a readable copy of the registry. Somebody changed them, or a "
            "registration was interrupted."
        ),
        "Run `floe product verify --repair`, and look at who may write to the catalog.",
    ),
    (
        "E610",
        "Namespace in use by another product",
        "A catalog_namespace leads another product to this namespace; both would write the same tables.",
        "Choose another product name, or another catalog_namespace for one of the domains.",
    ),
    (
        "E611",
        "Contract not registered",
        "A registered contract version never changes, and only the product's owner may add one.",
        "Raise the contract's version.",
    ),
    (
        "E612",
        "Identity settings contradict each other",
        "`register` means that products are registered at compile; `auto_register: false` forbids exactly that.",
        "Set auto_register to true, or enforcement to enforce.",
    ),
    (
        "E613",
        "Not the owner",
        "A product is changed from its owner's checkout, or by an administrator who says why.",
        "Run it in the owner's repository, or with --admin and --reason.",
    ),
    (
        "E614",
        "Repository not proven",
        "Nothing here shows which repository these files come from, so anybody could claim the name.",
        "Compile in a git checkout with its remote, or in a CI job.",
    ),
)

UNPROVEN = rows(
    Exit.UNCHECKED,
    (
        "E620",
        "Ownership cannot be proven",
        (
            "The platform demands that the repository of a product is proven, and neither git nor the CI system "
            "says which one this is. Unknown is never treated as passed."
        ),
        "Compile in a git checkout with its remote, or in a CI job.",
    ),
    (
        "E621",
        "Registry not initialised",
        "On this catalog the registry is made once and by hand: racing for it can destroy what is in it.",
        "Run `floe product init-registry` once, with rights to create a namespace.",
    ),
    (
        "E622",
        "Registry entry damaged",
        "An entry of the registry is not as it was written, so who owns the product is unknown.",
        "Restore the table named in the message from a backup; see who may write to floe__registry.",
    ),
    (
        "E623",
        "Catalog cannot decide a race",
        "Creating a table is not atomic on this catalog: two repositories could both be told that they own it.",
        "Use another catalog, or wrap this one in LockingCatalogPlugin.",
    ),
)

UNKNOWN_PRODUCT = rows(
    Exit.INPUT,
    (
        "E630",
        "No such product",
        "The registry has no product of that id.",
        "`floe product list` shows every product.",
    ),
    (
        "E631",
        "Not a product id",
        "A product id is {domain}.{product}, both lower case, - and _ between letters and digits.",
        "Write it like sales.customer_360.",
    ),
    (
        "E632",
        "No such contract version",
        "The registry has no contract of that name and version for this product.",
        "`floe contract list` shows every version.",
    ),
)
