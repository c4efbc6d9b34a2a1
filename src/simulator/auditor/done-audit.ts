import { type AuditedEntry, textOf } from './entry.ts';
import type { TrueGit } from './facts.ts';
import type { AuditedTask } from './task-audit.ts';

type Report = (invariant: 'done', text: string) => void;

/** Whether work that moves on was recorded, checked, approved and merged, whatever the entries claim. */
export class DoneAudit {
  readonly #report: Report;
  /** Checks that passed, by check and tree. */
  readonly #passed = new Set<string>();
  #git: TrueGit | undefined;
  #required: readonly string[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  watch(git: TrueGit, required: readonly string[]): void {
    this.#git = git;
    this.#required = required;
  }

  passed(name: string, tree: Readonly<Record<string, string>>): void {
    this.#passed.add(`${name} ${keyOf(tree)}`);
  }

  /** What really holds when a task is moved: checks before a review, everything before COMPLETED. */
  checkMove(task: AuditedTask, entry: AuditedEntry, commit: readonly AuditedEntry[]): void {
    const [from, to] = [textOf(entry, 'from'), textOf(entry, 'to')];
    if (from === to || this.#git === undefined) return;
    if (JUDGED.has(to) && !JUDGED.has(from) && from !== 'BLOCKED') {
      // A person who ends a session by a handoff comes before its measurement: then the record names the head.
      const [measured, recorded] = [task.head, [...task.recorded].at(-1) ?? ''].map((sha) => this.#findUnchecked(sha));
      if (measured !== undefined && recorded !== undefined)
        this.#report('done', `${task.id} comes to review, and ${measured} has not passed on its head`);
    }
    if (to !== 'COMPLETED') return;
    if (commit.some(({ type, actor }) => type === 'WritebackWaived' && actor.startsWith('operator:'))) return;
    if (task.recorded.size === 0) this.#report('done', `${task.id} is done without a record`);
    const merged = commit.find(({ type, data }) => type === 'MergeFinished' && data['outcome'] === 'merged');
    if (merged === undefined) return this.#report('done', `${task.id} is done without a merge`);
    this.#checkMerged(task, merged);
  }

  #checkMerged(task: AuditedTask, merged: AuditedEntry): void {
    const git = this.#git;
    if (git === undefined) return;
    const head = textOf(merged, 'head');
    const sha = textOf(merged, 'merge_sha');
    const base = textOf(merged, 'base');
    if (!git.wasOnMain(sha)) this.#report('done', `${task.id} is done, and main never had ${sha}`);
    const missing = sha === base ? undefined : this.#findUnchecked(sha);
    if (missing !== undefined)
      this.#report('done', `${task.id} is merged, and ${missing} has not passed on the merged tree`);
    if (![...task.recorded].some((each) => each === head))
      this.#report('done', `${task.id} is merged at ${head}, which no record names`);
    const own = git.since(git.mergeBase(base, head), head).filter((commit) => !git.wasOnMain(commit.sha));
    const authors = new Set(own.map(({ author }) => author));
    const { approval, selfApproval } = task;
    const isOwn = selfApproval?.head === head;
    if (approval === null && !isOwn) this.#report('done', `${task.id} is merged without an approval`);
    else if (!isOwn && approval !== null && authors.has(approval.by))
      this.#report('done', `${task.id} is merged, and ${approval.by} approved their own commits`);
    else if (!isOwn && approval !== null && approval.head !== '' && approval.head !== head)
      this.#report('done', `${task.id} is merged at ${head}, and approved at ${approval.head}`);
  }

  #findUnchecked(sha: string): string | undefined {
    const tree = sha === '' ? '' : keyOf(this.#git?.treeOf(sha) ?? {});
    return this.#required.find((name) => !this.#passed.has(`${name} ${tree}`));
  }
}

const JUDGED: ReadonlySet<string> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);

function keyOf(tree: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
}
