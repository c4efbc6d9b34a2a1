import { isDeepStrictEqual } from 'node:util';
import type { ApiError } from '../../api/answer.ts';
import * as operations from '../../api/operations/writeback.ts';
import type { JsonObject } from '../../ledger/format/canonical-json.ts';
import { parseEntry } from '../../ledger/format/entry.ts';
import { redactJson } from '../../ledger/redact.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import {
  createHandoffDialect,
  findReportedError,
  type HandoffDialect,
  type HandoffMessage,
  summarizeError,
} from '../../protocol/handoff/index.ts';
import { actorOf, type Caller } from '../../state/caller.ts';
import { decide } from '../../state/decide.ts';
import { refusal } from '../../state/outcome.ts';
import { toRecordedEvent } from '../../state/recorded-event.ts';
import type { State } from '../../state/state.ts';
import { checkFilledIn } from '../../state/tasks/record-session.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { HandoffRef } from '../../state/workflow/workflow-event.ts';
import { answerFor, handlerFor, inputErrorAnswer, type Refused, type Services } from './call.ts';
import { readForms } from './forms.ts';

/**
 * Parses a handoff, routes it along its edge, and holds it until the sender's session ends. Without a handoff, returns
 * the forms.
 */
export const handoffHandler = handlerFor(operations.handoffSend, async (call) => {
  const { input, caller, project, services } = call;
  const { handoff: given, to, task_id } = input;
  if (given === undefined) return readForms(call, { kind: 'handoff', ...(to && { to }), ...(task_id && { task_id }) });
  const own = caller.kind === 'session' ? caller.taskId : input.task_id;
  const known = await project.commandLoop.read(({ state }) => state.tasks.get(own ?? '') ?? null);
  const dialect = dialectFor(known.ok ? known.answer : null, services);
  const { route: find, roles } = dialect;
  const parsed = dialect.parse(given);
  if (!parsed.ok) return offerForm(inputErrorAnswer(parsed));
  const message = parsed.value;
  const route = find(message);
  if (!route.ok) return offerForm(inputErrorAnswer(route));
  const { edge, phase, next } = route.value;
  const xml = redactHandoff(given, message, dialect, project.ledger.secrets);
  if (xml === undefined) return { ok: false, error: HOLDS_CREDENTIAL };
  const handoffId = services.newId();
  const settled = await project.commandLoop.submit<{ held: boolean; task_id: string }>({
    actor: actorOf(caller),
    ...(call.key === undefined ? {} : { key: call.key }),
    decide: ({ state, rules, here }) => {
      const task = findTask(state, caller, message, input.task_id);
      if (task === undefined)
        return refusal('no-such-task', 'the handoff is about a task that does not exist here', 'Check issue_number.');
      if (message.issue_number !== undefined && Number(message.issue_number) !== task.n) {
        const text = `the handoff is about issue ${message.issue_number}, and task ${task.id} is number ${task.n}`;
        return refusal('wrong-task', text, `Send issue_number ${task.n}.`);
      }
      const filled = checkFilledIn('handoff', message);
      if (!filled.ok) return filled;
      const from = message.kind === 'handoff' ? message.from : 'closer-agent';
      const command = {
        handoffId,
        taskId: task.id,
        from,
        to: edge.to,
        senderRole: roles.find(({ agent }) => agent === from)?.name ?? null,
        phase,
        nextRole: next,
        xml,
      };
      const outcome = decide(state, { kind: 'send-handoff', command }, caller, rules, here);
      return outcome.ok ? { ...outcome, answer: { held: caller.kind === 'session', task_id: task.id } } : outcome;
    },
  });
  return answerFor(settled, (answer) => ({ handoff_id: handoffId, ...answer }));
});

function offerForm({ error }: Refused): Refused {
  const hint = `${error.hint.replace(/\.?$/, '.')} The form to fill in: baton handoff template`;
  return { ok: false, error: { ...error, hint } };
}

const HOLDS_CREDENTIAL: ApiError = {
  code: 'holds-credential',
  message: 'the handoff contains what looks like a credential, and is not valid without it',
  hint: 'Take the credential out, and send the handoff again.',
};

/** The built-in roles and edges, plus those of the task's runbook, or without a task of the runbook in force. */
function dialectFor(task: Task | null, { rulebook }: Services): HandoffDialect {
  const { workflow } = rulebook.runbookFor(task);
  const dialect = DIALECTS.get(workflow) ?? createHandoffDialect(workflow);
  DIALECTS.set(workflow, dialect);
  return dialect;
}

const DIALECTS = new WeakMap<object, HandoffDialect>();

function findTask(state: State, caller: Caller, message: HandoffMessage, named: string | undefined): Task | undefined {
  if (caller.kind === 'session') return state.tasks.get(caller.taskId);
  if (named !== undefined) return state.tasks.get(named);
  const n = Number(message.issue_number);
  return [...state.tasks.values()].find((task) => task.n === n);
}

/**
 * Redacts the parsed handoff, because XML escapes can hide a token from the ledger's redaction. Undefined if the
 * handoff is invalid without the credential.
 */
export function redactHandoff(
  xml: string,
  message: HandoffMessage,
  { parse, render }: Pick<HandoffDialect, 'parse' | 'render'>,
  secrets: readonly string[],
): string | undefined {
  const value = JSON.parse(JSON.stringify(message)) as JsonObject; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const clean = redactJson(value, secrets);
  if (isDeepStrictEqual(clean, value)) return xml;
  const parsed = parse(clean);
  return parsed.ok ? render(parsed.value) : undefined;
}

export interface FoundHandoff extends HandoffRef {
  readonly seq: number;
  readonly at: string;
  readonly status: 'held' | 'delivered' | 'dropped';
  /** Why the handoff was dropped, and the error that it reports. */
  readonly reason: string | null;
}

/**
 * Finds the matching handoffs, oldest first, each with its newest status. Reads the ledger, because the state has only
 * the last one.
 */
export async function findHandoffs(
  { store, head }: Ledger,
  fits: (handoff: HandoffRef) => boolean,
): Promise<readonly FoundHandoff[]> {
  const found = new Map<string, FoundHandoff>();
  if (head.size === 0) return [];
  for await (const batch of store.entries({ from: 1, to: head.size })) {
    for (const { bytes } of batch) {
      const handoff = readHandoff(bytes);
      if (handoff !== undefined && fits(handoff)) found.set(handoff.handoff_id, handoff);
    }
  }
  return [...found.values()];
}

const STATUS = { HandoffHeld: 'held', HandoffDelivered: 'delivered', HandoffDropped: 'dropped' } as const;

function readHandoff(bytes: Uint8Array): FoundHandoff | undefined {
  const parsed = parseEntry(bytes);
  const recorded = parsed.ok ? toRecordedEvent(parsed.value) : undefined;
  if (recorded === undefined) return undefined;
  const { type, data, seq, at } = recorded;
  if (type !== 'HandoffHeld' && type !== 'HandoffDelivered' && type !== 'HandoffDropped') return undefined;
  const error = findReportedError(data);
  const reasons = [...('reason' in data ? [data.reason] : []), ...(error === undefined ? [] : [summarizeError(error)])];
  const reason = reasons.length === 0 ? null : reasons.join('; ');
  const { handoff_id, task_id, from, to, phase, next_role, xml } = data;
  return { handoff_id, task_id, from, to, phase, next_role, xml, seq, at, status: STATUS[type], reason };
}
