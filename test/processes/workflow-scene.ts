import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunScene, type Told } from '../../src/daemon/runs.cases.ts';

const SAMPLE = join(import.meta.dirname, '../../examples/sample');

/** The sample repository under a daemon in this process, with the scripted agents that come with it. */
export class WorkflowScene extends RunScene {
  constructor(runbook?: (toml: string) => string) {
    super();
    cpSync(SAMPLE, this.repository, { recursive: true });
    if (runbook !== undefined) this.edit('baton.toml', runbook);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'the sample');
  }

  edit(file: string, change: (text: string) => string): void {
    const path = join(this.repository, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  append(file: string, text: string): void {
    appendFileSync(join(this.repository, file), text);
  }

  /** A file of the runbook beside `baton.toml`. */
  addRunbook(name: string, text: string): void {
    const folder = join(this.repository, '.baton/runbooks');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  git(...args: string[]): string {
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
    return execFileSync('git', ['-C', this.repository, ...author, ...args], { encoding: 'utf8' }).trim();
  }

  /** Waits until the workflow is closed, or somebody is needed; says which. */
  async settled(ids: readonly string[], deadlineMs: number): Promise<readonly WorkflowEnd[]> {
    const until = performance.now() + deadlineMs;
    for (;;) {
      const ends = await Promise.all(ids.map(async (id) => this.standing(id)));
      if (ends.every((end) => end.is !== 'under way')) return ends;
      if (performance.now() > until) {
        const told = (await this.entries()).map(
          ({ actor, type, data }) => `${actor} ${type} ${JSON.stringify(data).slice(0, 300)}`,
        );
        throw new Error(`not settled: ${JSON.stringify(ends)}\n${told.slice(-80).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async standing(id: string): Promise<WorkflowEnd> {
    const view = await this.ask<View>('workflow_get', { task_id: id });
    const { needs_you } = await this.ask<{ needs_you: { task_id: string | null; context: string; title: string }[] }>(
      'status_get',
    );
    const asked = needs_you.find(({ task_id }) => task_id === id);
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

  /** What happened to one task, as `type detail`. */
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
