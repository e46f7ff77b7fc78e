{#- floe compiles without an engine: what only a query could answer is answered here, at `floe compile` alone. -#}

{% macro is_incremental() -%}
  {#- The branch that builds the whole table is the one that rules read. -#}
  {%- if flags.WHICH == 'parse' -%}{{ return(false) }}{%- endif -%}
  {{ return(dbt.is_incremental()) }}
{%- endmacro %}

{% macro run_query(sql) -%}
  {#- A table of one column and no rows: loops over a result run zero times. -#}
  {%- if flags.WHICH == 'parse' and execute -%}
    {%- do store_raw_result('floe_no_engine') -%}
    {{ return(load_result('floe_no_engine').table.from_object([{'unknown': none}]).limit(0)) }}
  {%- endif -%}
  {{ return(dbt.run_query(sql)) }}
{%- endmacro %}
