import { defineMessage } from './shape/message.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';
import { parseJsonDocument, renderJson } from './text/json.ts';

export const agentSignalShape = {
  kind: 'object',
  about: 'A report of an agent on its own run.',
  fields: {
    kind: {
      kind: 'choice',
      values: ['complete', 'escalate', 'continue'],
      about: '`complete` advances the step, `escalate` asks a person, `continue` means that work continues.',
    },
    message: { kind: 'text', optional: true, about: 'One sentence for the reader.' },
  },
} as const satisfies ObjectShape;

export type AgentSignal = ValueOf<typeof agentSignalShape>;
export const {
  parse: parseAgentSignal,
  validate: validateAgentSignal,
  schema: agentSignalSchema,
} = defineMessage({ title: 'Agent signal', shape: agentSignalShape, read: parseJsonDocument });

export const renderAgentSignal: (signal: AgentSignal) => string = renderJson;
