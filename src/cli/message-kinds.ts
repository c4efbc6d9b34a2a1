import { PROTOCOL_LIMITS } from '../protocol/limits.ts';
import { didYouMean, type Parsed } from '../protocol/shape/problem.ts';
import type { JsonSchema } from '../protocol/shape/shape.ts';
import { RUNBOOK_LIMITS } from '../runbook/shape/fields.ts';
import { EXIT, type Io } from './command.ts';

/** What `validate` and `schema` need of a dialect, loaded when its name was typed. */
export interface MessageKind {
  /** The name of the file, where there is one: a runbook's ending says how it is written. */
  readonly parse: (input: Uint8Array, file: string) => Parsed<unknown>;
  readonly schema: JsonSchema;
}

export interface ListedMessageKind {
  /** As people call it in a sentence. */
  readonly noun: string;
  readonly limitBytes: number;
  readonly load: () => Promise<MessageKind>;
}

export const MESSAGE_KINDS: Readonly<Record<string, ListedMessageKind>> = {
  exit: {
    noun: 'exit signal',
    limitBytes: PROTOCOL_LIMITS.exitSignalBytes,
    load: async () => {
      const [{ parseExitSignal }, { exitSignalSchema }] = await Promise.all([
        import('../protocol/exit-signal.ts'),
        import('../protocol/exit-signal-shape.ts'),
      ]);
      return { parse: parseExitSignal, schema: exitSignalSchema };
    },
  },
  mission: {
    noun: 'mission',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseMission, missionSchema } = await import('../protocol/mission.ts');
      return { parse: parseMission, schema: missionSchema };
    },
  },
  result: {
    noun: 'result',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseResult, resultSchema } = await import('../protocol/result.ts');
      return { parse: parseResult, schema: resultSchema };
    },
  },
  handoff: {
    noun: 'handoff',
    limitBytes: PROTOCOL_LIMITS.handoffBytes,
    load: async () => {
      const { parseHandoff, handoffSchema } = await import('../protocol/handoff/index.ts');
      return { parse: parseHandoff, schema: handoffSchema };
    },
  },
  thought: {
    noun: 'thought record',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseThoughtRecord, thoughtRecordSchema } = await import('../protocol/thought-record.ts');
      return { parse: parseThoughtRecord, schema: thoughtRecordSchema };
    },
  },
  evidence: {
    noun: 'evidence bundle',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseEvidenceBundle, evidenceBundleSchema } = await import('../protocol/evidence.ts');
      return { parse: parseEvidenceBundle, schema: evidenceBundleSchema };
    },
  },
  'task-update': {
    noun: 'task update',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseTaskUpdate, taskUpdateSchema } = await import('../protocol/task-update.ts');
      return { parse: parseTaskUpdate, schema: taskUpdateSchema };
    },
  },
  'agent-signal': {
    noun: 'agent signal',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseAgentSignal, agentSignalSchema } = await import('../protocol/agent-signal.ts');
      return { parse: parseAgentSignal, schema: agentSignalSchema };
    },
  },
  'stop-hook': {
    noun: 'stop hook input',
    limitBytes: PROTOCOL_LIMITS.stopHookBytes,
    load: async () => {
      const { parseStopHookInput, stopHookInputSchema } = await import('../protocol/stop-hook.ts');
      return { parse: parseStopHookInput, schema: stopHookInputSchema };
    },
  },
  'stop-hook-output': {
    noun: 'stop hook output',
    limitBytes: PROTOCOL_LIMITS.messageBytes,
    load: async () => {
      const { parseStopHookOutput, stopHookOutputSchema } = await import('../protocol/stop-hook.ts');
      return { parse: parseStopHookOutput, schema: stopHookOutputSchema };
    },
  },
  runbook: {
    noun: 'runbook',
    limitBytes: RUNBOOK_LIMITS.fileBytes,
    load: async () => {
      const [{ parseRunbook }, { runbookSchema }] = await Promise.all([
        import('../runbook/check/check-runbook.ts'),
        import('../runbook/shape/runbook-shape.ts'),
      ]);
      return { parse: parseRunbook, schema: runbookSchema };
    },
  },
};

export const MESSAGE_KIND_NAMES: readonly string[] = Object.keys(MESSAGE_KINDS);

export function findMessageKind(kind: string): ListedMessageKind | undefined {
  return Object.hasOwn(MESSAGE_KINDS, kind) ? MESSAGE_KINDS[kind] : undefined;
}

export function reportUnknownKind(kind: string, io: Io): number {
  const hint = didYouMean(kind, MESSAGE_KIND_NAMES);
  io.err(
    `Error: unknown kind of message: ${kind}\n${hint === undefined ? '' : `${hint}\n`}Kinds: ${MESSAGE_KIND_NAMES.join(', ')}\n`,
  );
  return EXIT.usage;
}
