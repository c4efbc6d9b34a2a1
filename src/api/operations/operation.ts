import { type CallerKind, commandAccess, type CommandKind } from '../../protocol/command-access.ts';
import { defineMessage, type MessageOptions } from '../../protocol/shape/message.ts';
import type { Parsed } from '../../protocol/shape/problem.ts';
import { type JsonSchema, jsonSchemaOf, type ObjectShape, type ValueOf } from '../../protocol/shape/shape.ts';
import { parseJsonDocument } from '../../protocol/text/json.ts';

/** One operation: a path of the HTTP API, an MCP tool, a method of the client and the verb behind a CLI command. */
export interface Operation<N extends string = string, I = unknown, R = unknown, K extends string = string> {
  readonly name: N;
  /** A description for a model that has never seen Baton: when to call the operation, and what it returns. */
  readonly about: string;
  readonly input: ObjectShape;
  readonly result: ObjectShape;
  readonly schema: JsonSchema;
  /** Takes JSON text, its bytes, or a value. */
  readonly parse: (input: unknown) => Parsed<I>;
  readonly access: readonly Access[];
  /** A write takes an idempotency key and may be kept in an outbox. */
  readonly kind: 'read' | 'write';
  readonly tool: boolean;
  /** Fields that the tool accepts but does not list: for operators, or rarely needed. */
  readonly unlistedFields?: readonly string[];
  /** The largest input, if it may exceed the limit of a message. */
  readonly maxBytes?: number;
  /** The operation concerns all projects of the state folder, so the request names none. */
  readonly scope?: 'state-folder';
  readonly command?: K;
  /** Carries a type. No operation has this field at run time. */
  readonly resultType?: R;
}

/**
 * Who may call an operation. Operator: everything. Worker: reads and claims. Session: its own claim. Agent, supervisor:
 * their run.
 */
type Access = Exclude<CallerKind, 'system'>;

interface OperationOptions<N extends string, S extends ObjectShape, R extends ObjectShape, K extends CommandKind> {
  readonly name: N;
  readonly about: string;
  readonly input: S;
  readonly result: R;
  /** Defaults to the callers that may send the command. */
  readonly access?: readonly Access[];
  /** Defaults to `write` if there is a command, else to `read`. */
  readonly kind?: 'read' | 'write';
  readonly command?: K;
  readonly tool?: boolean;
  readonly unlistedFields?: readonly (keyof S['fields'] & string)[];
  readonly maxBytes?: number;
  readonly rules?: MessageOptions<S>['rules'];
}

export function operation<
  const N extends string,
  const S extends ObjectShape,
  const R extends ObjectShape,
  const K extends CommandKind = never,
>(options: OperationOptions<N, S, R, K>): Operation<N, ValueOf<S>, ValueOf<R>, K> {
  const { rules, access = accessTo(options.command), ...known } = options;
  const kind = options.command === undefined ? 'read' : 'write';
  const limits = {
    ...(rules === undefined ? {} : { rules }),
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  };
  const { parse } = defineMessage({ title: 'Input', shape: options.input, read: parseJsonDocument, ...limits });
  return { tool: true, kind, ...known, access, parse, schema: jsonSchemaOf(options.name, options.input) };
}

/** Leaves out `system`: Baton itself may send commands, but calls no operations. */
function accessTo(command: CommandKind | undefined): readonly Access[] {
  const callers: readonly CallerKind[] = command === undefined ? [] : commandAccess[command];
  return callers.filter((kind) => kind !== 'system');
}
