import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../src/api/operations/registry.ts';
import { evidenceShape } from '../src/protocol/evidence.ts';
import { HANDOFF_EDGES, renderHandoff, WORKFLOW_COMPLETE, type HandoffEdge } from '../src/protocol/handoff/index.ts';
import type { Command } from '../src/state/decide.ts';
import { event } from '../src/state/event.ts';
import { buildPacket } from '../src/state/packet/packet.ts';
import { renderPacket } from '../src/state/packet/render-packet.ts';
import * as runs from '../src/state/runs/say.cases.ts';
import * as say from '../src/state/say.cases.ts';
import { evolve, type State } from '../src/state/state.ts';
import { Play } from '../src/engine/play.cases.ts';
import { WorkflowPlay } from '../src/engine/workflow.cases.ts';
import { elementFields, fillElements, fillShape, type Marked, shapeFields } from './packet/marks.ts';

/**
 * Every field that an agent or a person can write is shown to the next reader of the task, or is listed in
 * docs/context.md with the reason why not. The fields are enumerated from the declarations, so a new field fails here
 * until it is either shown or listed.
 */
const EXEMPT = readExemptions(readFileSync(join(import.meta.dirname, '..', 'docs', 'context.md'), 'utf8'));

/** The messages with their fields. All other messages are sent only by supervisors and Baton. */
const WRITTEN: ReadonlyMap<string, readonly string[]> = new Map([
  ...[...OPERATIONS.values()]
    .filter(({ kind, access }) => kind === 'write' && access.some((who) => who !== 'supervisor'))
    .map(({ name, input }) => [name, shapeFields(input)] as const),
  ['evidence', shapeFields(evidenceShape)],
  ...edges().map((edge) => [edgeName(edge), elementFields(edge)] as const),
]);

describe('every field that an agent or a person can write', () => {
  it.each([...WRITTEN.keys()])('is shown or listed: %s', (name) => {
    const shown = shownFields(name);
    const open = (WRITTEN.get(name) ?? []).filter((field) => !shown.has(field) && !isExempt(`${name}.${field}`));
    expect(open, `neither in the packet nor listed in docs/context.md, of ${name}`).toEqual([]);
  });

  it('is not listed if it does not exist, or is shown after all', () => {
    const all = [...WRITTEN].flatMap(([name, fields]) => fields.map((field) => `${name}.${field}`));
    const stale = [...EXEMPT.keys()].filter((pattern) => !all.some((field) => matches(pattern, field)));
    expect(stale).toEqual([]);
    const needless = [...WRITTEN.keys()].flatMap((name) =>
      [...shownFields(name)].map((field) => `${name}.${field}`).filter((field) => EXEMPT.has(field)),
    );
    expect(needless).toEqual([]);
  });
});

/** Sends each message with a mark in every field; returns the state afterwards, and the marks. */
const PLAYS: Readonly<Record<string, () => readonly { readonly state: State; readonly marks: Marked }[]>> = {
  task_create: () => {
    const { value, marks } = fillOf('task_create', { task_id: 'A', phase: 'IMPLEMENTATION', 'after[]': 'B22' });
    const { title = '', description = '', prompt_file = '', role = '' } = value as Record<string, string>;
    const more = { title, description, promptFile: prompt_file, nextRole: role, after: ['B22'] };
    return [played(marks, new Play().order(say.create('B22')).order(say.create('A', more)))];
  },
  task_claim: () => {
    const { value, marks } = fillOf('task_claim', { task_id: 'A' });
    const { as: holder, role } = value as Record<string, string>;
    const claim = { holder: holder ?? '', role: role ?? '' };
    return [
      played(
        marks,
        task()
          .say(say.claim('A', 's1', claim), say.worker)
          .say(say.expire()),
      ),
    ];
  },
  task_release: () => {
    const { value, marks } = fillOf('task_release', { task_id: 'A' });
    return [played(marks, claimed().say(say.release('A', value), say.session()))];
  },
  task_update: () => {
    const { value, marks } = fillOf('task_update', { task_id: 'A', status: 'in_progress', progress: 37 });
    const command = { kind: 'update-task', command: value } as Command;
    return [played(marks, claimed().say(command, say.session())), played(marks, task().order(command))];
  },
  task_note: () => {
    const { value, marks } = fillOf('task_note', { task_id: 'A' });
    return [played(marks, task().order({ kind: 'note-task', command: value } as Command))];
  },
  task_unblock: () => operated('task_unblock', 'unblock', () => task().order(say.update('blocked', { notes: 'x' }))),
  task_cancel: () => operated('task_cancel', 'cancel', () => task()),
  task_waive: () => operated('task_waive', 'waive', () => task()),
  task_reinstate: () => operated('task_reinstate', 'reinstate', () => task().order(say.operate('waive'))),
  task_waive_constraint: () => {
    const { value, marks } = fillOf('task_waive_constraint', { task_id: 'A', constraint: 'max_files' });
    const { reason } = value as { reason: string };
    return [played(marks, task().order(say.waive('max_files', 'A', reason)))];
  },
  task_self_approve: () => {
    const { value, marks } = fillOf('task_self_approve', { task_id: 'A' });
    const { reason } = value as { reason: string };
    const play = task().order(say.record());
    return [played(marks, play.order({ kind: 'self-approve', command: { id: 'A', reason } }))];
  },
  task_import: () => {
    const { value, marks } = fillOf('task_import', { 'tasks[]': { task_id: 'A', status: 'blocked' } });
    const { source, tasks } = value as { source: string; tasks: ImportedInput[] };
    const each = tasks.map(({ title, reason, description, prompt_file: promptFile, github_issue: githubIssue }) => ({
      id: 'A',
      title,
      reason,
      description,
      promptFile,
      githubIssue,
      after: [],
      priority: 0,
      status: 'blocked' as const,
    }));
    return [played(marks, new Play().order({ kind: 'import-tasks', command: { source, tasks: each } }))];
  },
  run_start: () => {
    const { value, marks } = fillOf('run_start', {});
    const { description } = value as { description: string };
    const command = { id: 'A', title: 'x', mode: 'autonomous', description } as const;
    return [played(marks, new Play().order({ kind: 'start-workflow', command }))];
  },
  exit_signal: () => {
    const given = { phase_completed: 'IMPLEMENTATION', exit_reason: 'blocked' };
    const { value, marks } = fillOf('exit_signal', given);
    const { command } = say.exit() as { command: object };
    const exit = { kind: 'exit-session', command: { ...command, signal: value } } as Command;
    return [played(marks, claimed().say(exit, say.session()))];
  },
  evidence: () => {
    const { value: bundle, marks } = fillShape(evidenceShape, { task_id: 'A', phase: 'IMPLEMENTATION' });
    const { command } = say.exit() as { command: object };
    const evidence = { ref: 'evidence.yaml', blob: 'sha256:0', bundle };
    const exit = { kind: 'exit-session', command: { ...command, evidence } } as Command;
    return [played(marks, claimed().say(exit, say.session()))];
  },
  result_submit: () => {
    const { value, marks } = fillOf('result_submit', { task_id: 'T001', version: '1', status: 'completed' });
    const submit = { kind: 'submit-result', command: { result: value } } as Command;
    return [played(marks, claimed().say(submit, say.session()))];
  },
  thought_record: () => recorded('thought_record'),
  task_complete: () => recorded('task_complete'),
  agent_signal: () => {
    const { value, marks } = fillOf('agent_signal', { kind: 'escalate' });
    const { message } = value as { message: string };
    return [played(marks, started().say(runs.signal('escalate', undefined, message), agentSession()))];
  },
  agent_send: () => {
    const { value, marks } = fillOf('agent_send', {});
    const { text } = value as { text: string };
    return [played(marks, started().order({ kind: 'send-message', command: { agentId: 'x1', messageId: 'm', text } }))];
  },
  agent_kill: () => {
    const { value, marks } = fillOf('agent_kill', {});
    const { reason } = value as { reason: string };
    return [played(marks, started().order({ kind: 'kill-agent', command: { agentId: 'x1', reason } }))];
  },
  pipeline_cancel: () => {
    const { value, marks } = fillOf('pipeline_cancel', {});
    return [played(marks, piped().order({ kind: 'cancel-pipeline', command: { id: 'x1', ...reasonOf(value) } }))];
  },
  pipeline_resume: () => {
    const { value, marks } = fillOf('pipeline_resume', {});
    const { message } = value as { message: string };
    const waiting = piped().say(runs.signal('escalate', undefined, 'stuck'), agentSession());
    return [played(marks, waiting.order({ kind: 'resume-pipeline', command: { id: 'x1', message } }))];
  },
  decision_resolve: () => {
    const { value, marks } = fillOf('decision_resolve', {});
    const { message, agent } = value as { message: string; agent: string };
    const held = new WorkflowPlay({}, 'supervised');
    const { id, options } = held.decision();
    const option = options.findIndex(({ action }) => action === 'hand_over') + 1;
    const handTo = runs.agentPlan({ name: agent });
    return [played(marks, held.order({ kind: 'resolve-decision', command: { id, option, message, handTo } }), held.id)];
  },
  decisions_resolve: () => {
    const { value, marks } = fillOf('decisions_resolve', {});
    const [given] = (value as { answers: { message: string }[] }).answers;
    const held = new WorkflowPlay({}, 'supervised');
    const { id } = held.decision();
    const answers = [{ id, option: 1, message: given?.message ?? '' }];
    held.order({ kind: 'answer-decisions', command: { answers, effectiveAt: held.at } });
    return [played(marks, held.say(runs.applyAnswer(id, held.decision().answer?.seq ?? 0)), held.id)];
  },
};

interface ImportedInput {
  readonly title: string;
  readonly reason: string;
  readonly description: string;
  readonly prompt_file: string;
  readonly github_issue: { readonly repository: string; readonly number: number };
}

function recorded(name: string): ReturnType<NonNullable<(typeof PLAYS)[string]>> {
  const { value, marks } = fillOf(name, { task_id: 'A', status: 'in_progress' });
  const { epoch: _, ...record } = value as { epoch: unknown };
  const command = { kind: 'record-thought', command: { recordId: 'r1', record } } as Command;
  return [played(marks, claimed().say(command, say.session()))];
}

function operated(
  name: string,
  action: Parameters<typeof say.operate>[0],
  before: () => Play,
): ReturnType<NonNullable<(typeof PLAYS)[string]>> {
  const { value, marks } = fillOf(name, { task_id: 'A' });
  return [played(marks, before().order(say.operate(action, (value as { reason: string }).reason)))];
}

function task(): Play {
  return new Play().order(say.create());
}

function claimed(): Play {
  return task().say(say.claim('A', 's1', { holder: 'ada', role: 'implementer' }), say.worker);
}

/** A worker's agent that works on the task. */
function started(): Play {
  const plan = { kind: 'agent', agent: runs.agentPlan({ on_stop: { action: 'signal' } }) } as const;
  return task().say(runs.configure([{ name: 'w', concurrency: 1, plan }]));
}

/** A worker's pipeline for the task; its id is the session's id. */
function piped(): Play {
  return task().say(runs.configure([{ name: 'w', concurrency: 1, plan: runs.pipelinePlan([runs.agentStep('code')]) }]));
}

function reasonOf(value: Readonly<Record<string, unknown>>): { readonly reason: string } {
  return { reason: String(value['reason']) };
}

function agentSession(): ReturnType<typeof say.session> {
  return say.session('x1', 'A', 1);
}

function played(
  marks: Marked,
  play: Play,
  id = 'A',
): { readonly state: State; readonly marks: Marked; readonly id: string } {
  return { state: play.state, marks, id };
}

function fillOf(name: string, given: Readonly<Record<string, unknown>>): ReturnType<typeof fillShape> {
  const input = OPERATIONS.get(name)?.input;
  if (input === undefined) throw new Error(`no operation ${name}`);
  return fillShape(input, given);
}

function shownFields(name: string): ReadonlySet<string> {
  const edge = edges().find((each) => edgeName(each) === name);
  const results = edge === undefined ? (PLAYS[name]?.() ?? []) : [deliver(edge)];
  // A field counts as shown if it is shown in every play of its message.
  const shown = results.map(({ state, marks, ...more }) => {
    const text = packetOf(state, 'id' in more ? String(more.id) : 'A');
    return new Set([...marks].filter(([, mark]) => mark.length > 1 && text.includes(mark)).map(([field]) => field));
  });
  const [first = new Set<string>(), ...others] = shown;
  return new Set([...first].filter((field) => others.every((each) => each.has(field))));
}

function packetOf(state: State, id: string): string {
  const found = state.tasks.get(id);
  if (found === undefined) throw new Error(`no task ${id}`);
  return renderPacket(buildPacket(state, found), { tokens: 1_000_000 }).text;
}

function deliver(edge: HandoffEdge): { readonly state: State; readonly marks: Marked } {
  const { value, marks } = fillElements(edge);
  const { state } = task();
  const ends =
    edge.to === null ? { kind: 'workflow-complete' } : { kind: 'handoff', from: senderOf(edge), to: edge.to };
  const xml = renderHandoff({ ...value, ...ends } as never);
  const data = { ...say.heldHandoff({ from: senderOf(edge), xml }), to: edge.to };
  evolve(state, { ...event('HandoffDelivered', data), seq: 100, at: '2026-01-01T00:00:00.000Z', actor: 'session:s1' });
  return { state, marks };
}

/** Includes the CI gate, which is part of Baton and hands on failed checks. */
function edges(): readonly HandoffEdge[] {
  return [...HANDOFF_EDGES.filter(({ from }) => from !== 'ci-gate'), WORKFLOW_COMPLETE];
}

function senderOf({ from }: HandoffEdge): string {
  return from === '*' ? 'implementer-agent' : from;
}

function edgeName(edge: HandoffEdge): string {
  return `handoff ${edge.from} → ${edge.to ?? 'workflow-complete'}`;
}

function isExempt(field: string): boolean {
  return [...EXEMPT.keys()].some((pattern) => matches(pattern, field));
}

/** Matches a field; `*` is any name of a message or edge. */
function matches(pattern: string, field: string): boolean {
  if (!pattern.includes('*')) return pattern === field;
  const [before = '', after = ''] = pattern.split('*');
  return field.startsWith(before) && field.endsWith(after) && field.length >= before.length + after.length;
}

function readExemptions(document: string): ReadonlyMap<string, string> {
  const page = document.slice(document.indexOf('## Fields that are not in it'));
  const rows = [...page.matchAll(/^\| (`[^|]+`) \| ([^|]{10,}) \|$/gm)];
  return new Map(
    rows.flatMap(([, fields = '', reason = '']) =>
      [...fields.matchAll(/`([^`]+)`/g)].map(([, field = '']) => [field, reason]),
    ),
  );
}
