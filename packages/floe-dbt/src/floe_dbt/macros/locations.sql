{#- Where the files of a table are: where the catalog has said, or else
    {warehouse}/{domain}/{layer}/{product}/{table}, when the catalog lets floe say so. -#}

{% macro spark__location_clause() -%}
  {%- set warehouse = env_var('FLOE_RUN_WAREHOUSE', '') -%}
  {%- set place = env_var('FLOE_RUN_LOCATION ' ~ this.schema ~ '.' ~ this.identifier, '') -%}
  {%- if warehouse and not place -%}
    {%- set parts = this.schema.split(floe_product().separator) -%}
    {%- set folders = [parts[0], parts[2:] | join('/'), parts[1], this.identifier] -%}
    {%- set place = ([warehouse] + folders) | select | join('/') -%}
  {%- endif -%}
  {%- if place -%}
    location '{{ place | replace("\\", "\\\\") | replace("'", "\\'") }}'
  {%- endif -%}
{%- endmacro %}
