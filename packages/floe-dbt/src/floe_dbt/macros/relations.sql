{#- Relations of an Iceberg catalog, and how a table is replaced without losing its history. -#}

{% macro spark__list_relations_without_caching(relation) -%}
  {#- Stock dbt-spark sees no views in an Iceberg catalog, so a view could never become a table. -#}
  {%- set found = [] -%}
  {%- for kind, information in [('tables', 'Type: MANAGED\nProvider: iceberg'), ('views', 'Type: VIEW')] -%}
    {%- call statement('floe_show_' ~ kind, fetch_result=true) -%}
      show {{ kind }} in {{ relation.schema }}
    {%- endcall -%}
    {%- for row in load_result('floe_show_' ~ kind).table if not row[2] -%}
      {%- do found.append([row[0], row[1], false, information]) -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(found) }}
{%- endmacro %}

{% macro load_relation(relation) -%}
  {#- A full refresh of an incremental model drops its table, and the history with it, unless dbt finds no table: then
      it runs `create or replace table`, which keeps the table's identity and its snapshots. -#}
  {%- set found = dbt.load_relation(relation) -%}
  {%- if found is not none and found.is_table and model is defined and model.config.materialized == 'incremental'
      and should_full_refresh() -%}
    {{ return(none) }}
  {%- endif -%}
  {{ return(found) }}
{%- endmacro %}
