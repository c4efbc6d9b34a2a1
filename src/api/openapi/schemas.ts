import { fieldsOf } from '../../protocol/shape/read-unknown.ts';
import { type JsonSchema, jsonSchemaOf, type ObjectShape } from '../../protocol/shape/shape.ts';
import { fleetView } from '../fleet-view.ts';
import type { Operation } from '../operations/operation.ts';
import { taskDetails } from '../operations/tasks.ts';
import { decisionDetails, decisionEvidence } from '../decision-evidence.ts';
import { agentView, decisionView, pipelineView, statusView } from '../run-views.ts';
import { stageView, workflowBrief } from '../stage-views.ts';

/** Shapes that several operations return. Each has a name, so that generated clients get one type for it. */
const VIEWS: Readonly<Record<string, ObjectShape>> = {
  Agent: agentView,
  Decision: decisionView,
  DecisionDetails: decisionDetails,
  DecisionEvidence: decisionEvidence,
  Fleet: fleetView,
  Pipeline: pipelineView,
  Stage: stageView,
  Status: statusView,
  Task: taskDetails,
  WorkflowBrief: workflowBrief,
};

const NAMES = new Map(Object.entries(VIEWS).map(([name, shape]) => [textOf(openSchemaOf(shape)), name]));

export const VIEW_SCHEMAS: JsonSchema = Object.fromEntries(
  Object.entries(VIEWS).map(([name, shape]) => [name, mapValues(openSchemaOf(shape), withReferences)]),
);

/** The schemas of an operation's input and result, by their names in the document. */
export function operationSchemas({ name, input, result }: Operation): [string, JsonSchema][] {
  return [
    [inputName(name), schemaOf(input)],
    [resultName(name), withReferences(openSchemaOf(result))],
  ];
}

export function inputName(name: string): string {
  return `${pascal(name)}Input`;
}

export function resultName(name: string): string {
  return `${pascal(name)}Result`;
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Open, because a later version may add fields to a result. */
function openSchemaOf(shape: ObjectShape): JsonSchema {
  const closed = (name: string, value: unknown): boolean => name === 'additionalProperties' && value === false;
  return JSON.parse(
    JSON.stringify(schemaOf(shape), (name, value: unknown) => (closed(name, value) ? undefined : value)),
  );
}

function schemaOf(shape: ObjectShape): JsonSchema {
  const { $schema: _, title: __, ...schema } = jsonSchemaOf('', shape);
  return schema;
}

/** Replaces each object that has a name in the document. */
function withReferences(schema: JsonSchema): JsonSchema {
  const name = schema['properties'] === undefined ? undefined : NAMES.get(textOf(schema));
  if (name === undefined) return mapValues(schema, withReferences);
  const { description } = schema;
  return { $ref: `#/components/schemas/${name}`, ...(description === undefined ? {} : { description }) };
}

/** Serializes without the description, so that one object described in two places counts as the same. */
function textOf(schema: JsonSchema): string {
  return JSON.stringify({ ...schema, description: undefined });
}

/** Applies a function to the objects directly inside a schema, also to those in lists. */
function mapValues(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const mapOne = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(mapOne);
    return typeof value === 'object' && value !== null ? change(fieldsOf(value)) : value;
  };
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, mapOne(value)]));
}
