import { OPERATIONS } from '../../src/api/operations/registry.ts';
import { type JsonDocument, storeAwayField } from '../../src/cli/json-output.ts';
import { object } from '../../src/protocol/shape/build-shape.ts';
import type { Shape } from '../../src/protocol/shape/shape.ts';

/** The operations whose results the document consists of; none if the command declares its shape. */
export function operationsOf(document: JsonDocument): readonly string[] {
  if (!('result' in document)) return [];
  return typeof document.result === 'string' ? [document.result] : document.result;
}

/** The shape of a document, including the field that is added while the database is away. */
export function shapeOfDocument(document: JsonDocument): Shape {
  if ('shape' in document) return document.shape;
  const fields = operationsOf(document).map((name) => OPERATIONS.get(name)?.result.fields);
  return object(Object.assign({}, storeAwayField, ...fields));
}
