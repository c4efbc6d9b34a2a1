import type { Phase } from '../protocol/phase.ts';
import type { Rules } from '../state/rules.ts';
import * as say from '../state/say.cases.ts';
import type { SendHandoff } from '../state/tasks/send-handoff.ts';
import type { Task } from '../state/tasks/task.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { Play } from './play.cases.ts';

/** The handoff of each role, and the phase that it leads to. */
const WAYS = {
  'issue-manager': { to: 'prep-agent', phase: 'DRAFT', nextRole: 'prep' },
  prep: { to: 'implementer-agent', phase: 'IMPLEMENTATION', nextRole: 'implementer' },
  implementer: { to: 'reviewer-agent', phase: 'CI_PENDING', nextRole: 'reviewer' },
  fixer: { to: 'reviewer-agent', phase: 'CI_PENDING', nextRole: 'reviewer' },
  reviewer: { to: 'validator-agent', phase: 'READY_FOR_MERGE', nextRole: 'validator' },
  validator: { to: 'closer-agent', phase: 'COMPLETED', nextRole: 'closer', xml: flow.validated },
} as const satisfies Record<string, Partial<SendHandoff>>;

export type PlayedRole = keyof typeof WAYS;

export const TO_FIXER = { to: 'fixer-agent', phase: 'IMPLEMENTATION', nextRole: 'fixer' } as const;

interface Turn extends Partial<SendHandoff> {
  readonly holder?: string;
  /** The commit that the session leaves. Its record names it. */
  readonly head?: string;
  readonly isRecorded?: boolean;
}

type Session = ReturnType<typeof say.session>;

/** A workflow whose roles the test plays, with one claim each. */
export class WorkflowPlay extends Play {
  get id(): string {
    return 'W-00001';
  }

  constructor(rules: Partial<Rules> = {}, mode: 'autonomous' | 'semi' | 'supervised' = 'autonomous') {
    super({ ciGate: true, mergeGate: true, checks: [{ name: 'unit', run: 'npm test' }], ...rules });
    this.order(flow.startWorkflow('Add a thing', mode));
  }

  get task(): Task {
    return this.state.tasks.get(this.id) ?? say.emptyTask;
  }

  /** Plays one claim: a record if there is a commit, the handoff, the exit signal. */
  turn(role: PlayedRole, { holder = role, head, isRecorded = head !== undefined, ...handoff }: Turn = {}): this {
    const caller = this.claim(role, holder);
    if (isRecorded) this.say(say.record({ task_id: this.id, ...(head ? { commit_sha: head } : {}) }), caller);
    return this.#handOn(role, caller, handoff, head);
  }

  /** Plays one claim of a worker. */
  workersTurn(role: PlayedRole): this {
    const { sessionId, epoch } = this.task.claim ?? { sessionId: 'nobody', epoch: 0 };
    return this.#handOn(role, say.session(sessionId, this.id, epoch), {});
  }

  #handOn(role: PlayedRole, caller: Session, handoff: Partial<SendHandoff>, head?: string): this {
    const from = role === 'issue-manager' ? role : `${role}-agent`;
    this.say(say.handoff({ taskId: this.id, from, senderRole: role, ...WAYS[role], ...handoff }), caller);
    return this.say(this.exit(head), caller);
  }

  claim(role: string, holder = role): Session {
    const epoch = this.task.epoch + 1;
    // As when the engine claims for a worker, the principal is the agent definition of that name.
    this.say(say.claim(this.id, `s${epoch}`, { role, holder, requires: ['exit', 'handoff'] }));
    return say.session(`s${epoch}`, this.id, epoch);
  }

  exit(head?: string): ReturnType<typeof say.exit> {
    const seen = head === undefined ? {} : { measured: flow.measuredAt(head), committed: true };
    return say.exit(this.task.phase, 'completed', { eventId: `e${this.task.epoch}`, ...seen });
  }

  /** Reports the outcome of the requested checks. */
  check(outcome: 'passed' | 'failed' | 'cancelled' = 'passed', name = 'unit'): this {
    return this.say(flow.finishCheck(this.the('ChecksRequested').checks_id, name, outcome));
  }

  merge(outcome: 'merged' | 'conflict' | 'failed' | 'refused', sha: string | null = null): this {
    const { merge_id: mergeId } = this.the('MergeRequested');
    if (outcome === 'merged' && sha !== null) this.say(flow.prepareMerge(mergeId, sha));
    return this.say(flow.finishMerge(mergeId, outcome, sha));
  }

  /** Moves the workflow to its review, with this commit. */
  toReview(head = say.SHA): this {
    return this.turn('issue-manager').turn('prep').turn('implementer', { head }).check();
  }

  toMerge(head = say.SHA): this {
    return this.toReview(head).turn('reviewer');
  }

  resolve(option: number): this {
    return this.order({ kind: 'resolve-decision', command: { id: this.decision().id, option } });
  }

  openDecisions(): string[] {
    return [...this.state.decisions.values()].filter(({ result }) => result === null).map(({ title }) => title);
  }

  stands(): readonly [Phase, string | null] {
    return [this.task.phase, this.task.nextRole];
  }

  phases(): string[] {
    return this.entries.flatMap(({ type, data }) => (type === 'PhaseMoved' ? [`${data.from} → ${data.to}`] : []));
  }
}
