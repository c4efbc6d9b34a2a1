import { defineMessage, type MessageOptions } from '../../protocol/shape/message.ts';
import type { Parsed } from '../../protocol/shape/problem.ts';
import { type JsonSchema, jsonSchemaOf, type ObjectShape, type ValueOf } from '../../protocol/shape/shape.ts';
import { parseJsonDocument } from '../../protocol/text/json.ts';

/**
 * Something that can be asked of a daemon. The same operations are the paths of the HTTP API, the tools of the MCP server and
 * the verbs behind the CLI, under the same names and with the same words.
 */
export interface Operation<I = unknown> {
  readonly name: string;
  /** Written for a model that has never seen Baton: when to call it, and what it gives back. */
  readonly about: string;
  /** What the input looks like, for schemas and for people. */
  readonly shape: ObjectShape;
  readonly schema: JsonSchema;
  /** JSON text, its bytes, or a value → the typed input. */
  readonly parse: (input: unknown) => Parsed<I>;
  /** Who may call it. */
  readonly access: readonly Access[];
  /** A write takes an idempotency key, and may be kept in an outbox while the daemon is away. */
  readonly kind: 'read' | 'write';
  /** Whether models get it as a tool. */
  readonly tool: boolean;
  /** How large its input may be, where that is more than a message may have. */
  readonly maxBytes?: number;
}

/** Operator: everything. Worker: reads and claims. Session: what concerns its own claim. Agent, supervisor: what concerns that run. */
export type Access = 'operator' | 'worker' | 'session' | 'agent' | 'supervisor';

export interface OperationOptions<S extends ObjectShape> {
  readonly name: string;
  readonly about: string;
  readonly shape: S;
  readonly access: readonly Access[];
  readonly kind: 'read' | 'write';
  readonly tool?: boolean;
  readonly maxBytes?: number;
  /** Rules between fields. */
  readonly rules?: MessageOptions<S>['rules'];
}

export function operation<const S extends ObjectShape>(options: OperationOptions<S>): Operation<ValueOf<S>> {
  const { rules, ...known } = options;
  const between = rules === undefined ? {} : { rules };
  const size = options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes };
  const { parse } = defineMessage({
    title: 'Input',
    shape: options.shape,
    read: parseJsonDocument,
    ...between,
    ...size,
  });
  return { tool: true, ...known, parse, schema: jsonSchemaOf(options.name, options.shape) };
}
