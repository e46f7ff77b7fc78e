{% macro spark_build_snapshot_staging_table(strategy, sql, target_relation) -%}
  {#- Stock dbt-spark makes a persistent view in the catalog's default namespace; a temporary one leaves nothing. -#}
  {%- set staging = api.Relation.create(identifier=target_relation.identifier ~ '__dbt_tmp', type='view') -%}
  {%- call statement('build_snapshot_staging_relation') -%}
    {{ create_temporary_view(staging, snapshot_staging_table(strategy, sql, target_relation)) }}
  {%- endcall -%}
  {{ return(staging) }}
{%- endmacro %}
