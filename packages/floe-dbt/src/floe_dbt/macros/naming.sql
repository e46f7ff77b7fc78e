{#- Where a table lives: {namespace}.{layer}, or one flat name where the catalog has a single level. floe judges the
    result at compile. `floe_product` is written by floe beside this file. -#}

{% macro generate_schema_name(custom_schema_name, node) -%}
  {%- set custom = custom_schema_name | string | trim if custom_schema_name is not none else '' -%}
  {%- if node.resource_type in ['model', 'seed', 'snapshot'] and node.package_name == project_name -%}
    {{ return(custom or floe_place(floe_layer(node))) }}
  {%- endif -%}
  {{ return(floe_place(custom | lower or floe_layer(node))) }}
{%- endmacro %}

{% macro generate_alias_name(custom_alias_name=none, node=none) -%}
  {%- set name = floe_product().published.get(node.name) or custom_alias_name or node.name -%}
  {%- if node.version and not (custom_alias_name and node.name not in floe_product().published) -%}
    {%- set name = name ~ '_v' ~ (node.version | string | replace('.', '_')) -%}
  {%- endif -%}
  {{ return(name | string | trim) }}
{%- endmacro %}

{% macro floe_layer(node) -%}
  {%- for prefix, layer in floe_product().layers if node.name.startswith(prefix) -%}{{ return(layer) }}{%- endfor -%}
  {%- set meta = node.config.meta or {} -%}
  {{ return((meta.get('floe') or {}).get('layer') or '') }}
{%- endmacro %}

{% macro floe_place(layer) -%}
  {%- set product = floe_product() -%}
  {{ return(product.namespace if not layer else product.namespace ~ product.separator ~ layer) }}
{%- endmacro %}
