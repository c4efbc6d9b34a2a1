import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunScene, type Told } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';

const SAMPLE = join(import.meta.dirname, '../../examples/sample');

const VERDICT: Readonly<Record<string, string>> = {
  reviewer: '- result: .baton/session/result.yaml\n- handoff: .baton/session/handoff.xml\n- exit: REVIEW\n',
};

/** The sample repository with its scripted agents, under a daemon in this process. */
export class WorkflowScene extends RunScene {
  constructor(runbook?: (toml: string) => string) {
    super();
    cpSync(SAMPLE, this.repository, { recursive: true });
    if (runbook !== undefined) this.edit('baton.toml', runbook);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'the sample');
  }

  edit(file: string, change: (text: string) => string): void {
    this.isEdited = true;
    const path = join(this.repository, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  /** Adds a runbook file beside `baton.toml`. */
  addRunbook(name: string, text: string): void {
    this.isEdited = true;
    const folder = join(this.repository, '.baton/runbooks');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  put(file: string, text: string): void {
    this.isEdited = true;
    writeFileSync(join(this.repository, file), text);
  }

  /**
   * Makes a role run this script from now on, in its worktree, with the functions of `agents/hand-on.mjs`. A reviewer
   * sends the forms that its script has filled in as tool calls. `after`: the role whose script runs after that.
   */
  plays(role: string, script: string, after?: string): void {
    this.edit('agents/play.mjs', (text) =>
      text
        .replace('import { commit, handOn, readTask }', 'import { baton, commit, git, handOn, readTask }')
        .replace("const [role = '']", `roles['${role}'] = () => {${script}};\nconst [role = '']`),
    );
    const steps = role === 'implementer' ? ['implement', role] : [role];
    const runs = steps.map((step) => `- run: node agents/play.mjs ${step}\n`).join('');
    const last = after === undefined ? '' : `- run: node agents/play.mjs ${after}\n`;
    writeFileSync(join(this.repository, `agents/${role}.yaml`), `${runs}${VERDICT[role] ?? ''}${last}- stop\n`);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', `another ${role}`);
  }

  /**
   * Creates a folder outside the repository that all sessions and commands may write, as `$NOTES`. The caller commits
   * the change.
   */
  shareNotes(): string {
    const notes = join(this.scene.folder, 'notes');
    mkdirSync(notes);
    this.scene.env['NOTES'] = notes;
    this.edit('baton.toml', (toml) => `env_pass = ["NOTES"]\nsandbox = { write = ["${notes}"] }\n${toml}`);
    return notes;
  }

  git(...args: string[]): string {
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
    return execFileSync('git', ['-C', this.repository, ...author, ...args], { encoding: 'utf8' }).trim();
  }

  /** Like `settled`, but a task that is only blocked until a retry does not count as settled. */
  async ended(id: string, deadlineMs: number): Promise<WorkflowEnd | undefined> {
    const [end] = await this.settled([id], deadlineMs, (each) => each.is === 'closed' || each.is === 'waits');
    return end;
  }

  /** Waits until the workflow is closed or needs a person, and returns which. */
  async settled(
    ids: readonly string[],
    deadlineMs: number,
    isSettled = (end: WorkflowEnd): boolean => end.is !== 'under way',
  ): Promise<readonly WorkflowEnd[]> {
    const deadline = performance.now() + deadlineMs;
    for (;;) {
      const ends = await Promise.all(ids.map(async (id) => this.standing(id)));
      if (ends.every(isSettled)) return ends;
      if (performance.now() > deadline) {
        const told = (await this.entries()).map(
          ({ actor, type, data }) => `${actor} ${type} ${JSON.stringify(data).slice(0, 300)}`,
        );
        throw new Error(`not settled: ${JSON.stringify(ends)}\n${told.slice(-80).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Approves every decision that this task waits for, and waits until the task continues. */
  async resolveAll(id: string): Promise<void> {
    const open = async (): Promise<string[]> => {
      const { needs_you } = await this.ask<{ needs_you: { id: string; task_id: string | null }[] }>('status_get');
      return needs_you.flatMap((each) => (each.task_id === id ? [each.id] : []));
    };
    const asked = await open();
    for (const each of asked) await this.ask('decision_resolve', { id: each, option: 1 });
    await until(async () => !(await open()).some((each) => asked.includes(each)), 'it goes on', 30_000);
  }

  async standing(id: string): Promise<WorkflowEnd> {
    const readView = async (): Promise<View> => this.ask<View>('workflow_get', { task_id: id });
    const before = await readView();
    const { needs_you } = await this.ask<{ needs_you: { task_id: string | null; context: string; title: string }[] }>(
      'status_get',
    );
    const asked = needs_you.find(({ task_id }) => task_id === id);
    // The workflow may have moved to its question since then, and stays there.
    const view = asked === undefined ? before : await readView();
    const is =
      view.phase === 'COMPLETED' && view.role === null
        ? 'closed'
        : asked !== undefined
          ? 'waits'
          : view.phase === 'BLOCKED'
            ? 'blocked'
            : 'under way';
    return {
      id,
      is,
      phase: view.phase,
      because: asked === undefined ? view.blocked_because : `${asked.title}: ${asked.context}`,
      view,
    };
  }

  /** What the agents printed. */
  printed(): string {
    const folder = join(this.stateDir, 'agents');
    const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('log'));
    return logs.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  }

  /** The events of one task, as `type detail`. */
  async story(id: string): Promise<Told[]> {
    return (await this.entries()).filter(({ data }) => data['task_id'] === id);
  }

  async phases(id: string): Promise<string[]> {
    const moves = (await this.story(id)).filter(({ type }) => type === 'PhaseMoved');
    return moves.map(
      ({ data, actor }) => `${text(data['to'])} (${actor.split(':')[0] === 'session' ? 'session' : actor})`,
    );
  }

  async handoffs(id: string): Promise<string[]> {
    const sent = (await this.story(id)).filter(({ type }) => type === 'HandoffDelivered');
    return sent.map(
      ({ data }) => `${text(data['from'])} → ${data['to'] === null ? 'workflow-complete' : text(data['to'])}`,
    );
  }
}

export interface View {
  readonly phase: string;
  readonly role: string | null;
  readonly blocked_because: string | null;
  readonly merge_sha: string | null;
  readonly head: string | null;
  readonly rounds: number;
  readonly reviews: number;
  readonly branch: string | null;
  readonly workspace: string | null;
}

export interface WorkflowEnd {
  readonly id: string;
  readonly is: 'closed' | 'waits' | 'blocked' | 'under way';
  readonly phase: string;
  readonly because: string | null;
  readonly view: View;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
