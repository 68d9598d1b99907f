"""A data package of a few models and their scores, for tests of the store."""

SCHEMA = """
name: test
resources:
- name: models
  path: sources/models.csv
  schema:
    fields:
    - {name: model, type: string, constraints: {required: true}}
    primaryKey: [model]
- name: scores
  path: sources/scores.csv
  kind: source
  range: {ap: [0, 1]}
  schema:
    fields:
    - {name: model, type: string, constraints: {required: true}}
    - {name: metric, type: string, constraints: {required: true}}
    - {name: layer, type: integer}
    - {name: printed, type: string}
    - {name: reason, type: string}
    primaryKey: [model, metric]
    foreignKeys:
    - {fields: [model], reference: {resource: models, fields: [model]}}
- name: sinks
  path: measurements/sinks
  kind: measurement
  schema:
    fields:
    - {name: model, type: string}
    - {name: value, type: number, constraints: {required: true}}
"""
GOOD = "model,metric,layer,printed,reason\na,ap,1,0.50,\na,size,2,7,\nb,ap,1,,not measured\nb,size,,8,layer: unknown\n"
