{#- A seed is one commit: `create or replace table … as select`, so readers never see half of it and history stays. -#}

{% macro floe_seed_columns(model, agate_table) -%}
  {%- set given = model['config'].get('column_types', {}) -%}
  {%- set quoted = model['config'].get('quote_columns', none) -%}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set type = given.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
    {%- do columns.append({'name': adapter.quote_seed_column(name | string, quoted), 'type': type}) -%}
  {%- endfor -%}
  {{ return(columns) }}
{%- endmacro %}

{% macro spark__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
  {{ return(create_csv_table(model, agate_table)) }}
{%- endmacro %}

{% macro spark__create_csv_table(model, agate_table) -%}
  {#- Only a seed without rows is made here; any other in load_csv_rows, together with its rows. -#}
  {%- if agate_table.rows | length > 0 -%}{{ return('') }}{%- endif -%}
  {%- set sql -%}
    {{ floe_replace_seed() }} as select
    {%- for column in floe_seed_columns(model, agate_table) %} cast(null as {{ column.type }}) as {{ column.name }}
      {%- if not loop.last %},{% endif %}{% endfor %} where false
  {%- endset -%}
  {%- call statement('_') -%}{{ sql }}{%- endcall -%}
  {{ return(sql) }}
{%- endmacro %}

{% macro spark__load_csv_rows(model, agate_table) -%}
  {%- set columns = floe_seed_columns(model, agate_table) -%}
  {%- set sql -%}
    {{ floe_replace_seed() }} as select
    {%- for column in columns %} cast(c{{ loop.index }} as {{ column.type }}) as {{ column.name }}
      {%- if not loop.last %},{% endif %}{% endfor %}
    from values
    {%- for row in agate_table.rows %}
      (
      {%- for value in row -%}
        {#- No macro for the literal: a call costs more than a value. -#}
        {{ 'null' if value is none else "'" ~ value | string | replace('\\', '\\\\') | replace("'", "\\'") ~ "'" }}
        {%- if not loop.last %}, {% endif -%}
      {%- endfor -%}
      )
      {%- if not loop.last %},{% endif %}
    {%- endfor %}
    as seed({% for column in columns %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %})
  {%- endset -%}
  {%- call statement('_') -%}{{ sql }}{%- endcall -%}
  {{ return(sql) }}
{%- endmacro %}

{% macro floe_replace_seed() -%}
  create or replace table {{ this.render() }}
  {{ file_format_clause() }} {{ tblproperties_clause() }} {{ partition_cols(label='partitioned by') }}
  {{ location_clause() }} {{ comment_clause() }}
{%- endmacro %}
