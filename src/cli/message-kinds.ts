import { PROTOCOL_LIMITS } from '../protocol/limits.ts';
import type { Parsed } from '../protocol/shape/problem.ts';
import type { JsonSchema } from '../protocol/shape/shape.ts';
import { RUNBOOK_LIMITS } from '../runbook/shape/fields.ts';

interface MessageKind {
  /** The extension of `file` decides how a runbook is parsed. */
  readonly parse: (input: Uint8Array, file: string) => Parsed<unknown>;
  readonly schema: JsonSchema;
}

export interface ListedMessageKind {
  readonly noun: string;
  readonly limitBytes: number;
  readonly load: () => Promise<MessageKind>;
}

const { messageBytes, exitSignalBytes, handoffBytes, stopHookBytes } = PROTOCOL_LIMITS;

const MESSAGE_KINDS: Readonly<Record<string, ListedMessageKind>> = {
  exit: kind('exit signal', exitSignalBytes, async () => ({
    parse: (await import('../protocol/exit-signal/exit-signal.ts')).parseExitSignal,
    schema: (await import('../protocol/exit-signal/exit-signal-shape.ts')).exitSignalSchema,
  })),
  mission: kind('mission', messageBytes, async () => {
    const { parseMission: parse, missionSchema: schema } = await import('../protocol/mission.ts');
    return { parse, schema };
  }),
  result: kind('result', messageBytes, async () => {
    const { parseResult: parse, resultSchema: schema } = await import('../protocol/result.ts');
    return { parse, schema };
  }),
  handoff: kind('handoff', handoffBytes, async () => {
    const { parseHandoff: parse, handoffSchema: schema } = await import('../protocol/handoff/index.ts');
    return { parse, schema };
  }),
  thought: kind('thought record', messageBytes, async () => {
    const { parseThoughtRecord: parse, thoughtRecordSchema: schema } = await import('../protocol/thought-record.ts');
    return { parse, schema };
  }),
  evidence: kind('evidence bundle', messageBytes, async () => {
    const { parseEvidenceBundle: parse, evidenceBundleSchema: schema } = await import('../protocol/evidence.ts');
    return { parse, schema };
  }),
  'task-update': kind('task update', messageBytes, async () => {
    const { parseTaskUpdate: parse, taskUpdateSchema: schema } = await import('../protocol/task-update.ts');
    return { parse, schema };
  }),
  'agent-signal': kind('agent signal', messageBytes, async () => {
    const { parseAgentSignal: parse, agentSignalSchema: schema } = await import('../protocol/agent-signal.ts');
    return { parse, schema };
  }),
  'stop-hook': kind('stop hook input', stopHookBytes, async () => {
    const { parseStopHookInput: parse, stopHookInputSchema: schema } = await import('../protocol/stop-hook.ts');
    return { parse, schema };
  }),
  'stop-hook-output': kind('stop hook output', messageBytes, async () => {
    const { parseStopHookOutput: parse, stopHookOutputSchema: schema } = await import('../protocol/stop-hook.ts');
    return { parse, schema };
  }),
  runbook: kind('runbook', RUNBOOK_LIMITS.fileBytes, async () => ({
    parse: (await import('../runbook/check/check-runbook.ts')).parseRunbook,
    schema: (await import('../runbook/shape/runbook-shape.ts')).runbookSchema,
  })),
};

function kind(noun: string, limitBytes: number, load: ListedMessageKind['load']): ListedMessageKind {
  return { noun, limitBytes, load };
}

export const MESSAGE_KIND_NAMES: readonly string[] = Object.keys(MESSAGE_KINDS);

/** The caller has checked the name. */
export function requireMessageKind(name: string): ListedMessageKind {
  const found = MESSAGE_KINDS[name];
  if (found === undefined) throw new Error(`there is no kind of message ${name}`);
  return found;
}
