import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import { findMain } from '../../state/main/main-branch.ts';
import type { EffectOf } from '../../state/runs/effect.ts';
import { writebackRecords } from '../../state/tasks/task.ts';
import { passesChecks } from '../world/git.ts';
import type { Activity, Host, Reply } from '../world/parts.ts';
import { observeBranch } from './measure.ts';

type Tell = (command: Command) => Activity;
type Outcome = Extract<Command, { kind: 'finish-merge' }>['command'];

/**
 * Merges as `effects/merges` does: the commit is made and checked, recorded, and only then does the main branch move,
 * if it is still where it was.
 */
export function* performMerge(host: Host, { data }: EffectOf<'MergeRequested'>, tell: Tell): Activity {
  const { world } = host;
  const { git, random } = world;
  const { merge_id, task_id, head, method, checks } = data;
  const nothing = { base: null, merge_sha: null, reason: null, files: [], output: null };
  const finish = (ended: Pick<Outcome, 'outcome'> & Partial<Outcome>): Activity =>
    tell({ kind: 'finish-merge', command: { merge_id, method, newId: world.newId('m'), ...nothing, ...ended } });
  seeMain(host);
  yield random.below(1000);
  const tip = git.branch(host.state.tasks.get(task_id)?.work?.host ?? host.name, data.branch);
  if (tip !== undefined && observeBranch(host, task_id, tip)) return;
  if (!isRecorded(host, task_id, head))
    return yield* finish({ outcome: 'failed', failure: 'writeback', reason: 'no record names the commit' });
  const measured = protectedPaths(host, head);
  yield* tell({ kind: 'measure-protected', command: { task_id, merge_id, head, ...measured } });
  if (host.state.tasks.get(task_id)?.flow.merge?.id !== merge_id) return;
  for (let tries = 0; tries < 5; tries += 1) {
    seeMain(host);
    while (world.isFleet && world.isRemoteAway) yield 3000;
    const onto = git.main;
    const prepared = host.state.tasks.get(task_id)?.flow.merge?.prepared;
    if (prepared !== undefined && git.isAncestor(prepared.sha, onto))
      return yield* finish({ outcome: 'merged', base: prepared.base, merge_sha: prepared.sha });
    let sha = prepared?.base === onto ? prepared.sha : undefined;
    if (sha === undefined) {
      const combined = git.combine(head, onto);
      if (combined.kind === 'conflict')
        return yield* finish({ outcome: 'conflict', base: onto, reason: 'conflict', files: combined.files });
      if (combined.kind === 'nothing') return yield* finish({ outcome: 'merged', base: onto, merge_sha: onto });
      sha = git.commit([onto], combined.tree, 'system:baton');
      for (const { name } of checks) {
        yield random.between(300, 4000);
        const passed = passesChecks(combined.tree);
        world.auditor.checked(name, combined.tree, passed);
        if (!passed)
          return yield* finish({ outcome: 'failed', base: onto, reason: `check failed: ${name}`, output: 'a bug' });
      }
      const reply = yield* prepare(host, { merge_id, branch: 'main', base: onto, merge_sha: sha });
      if (reply.kind !== 'ok') {
        if (reply.kind === 'refused' && reply.refusal.code === 'main-moved') continue;
        yield 2000;
        continue;
      }
    }
    yield random.below(800);
    if (git.main !== onto) continue;
    git.main = sha;
    yield random.below(800);
    return yield* finish({ outcome: 'merged', base: onto, merge_sha: sha });
  }
  return yield* finish({ outcome: 'refused', reason: 'the main branch moved too often' });
}

function* prepare(
  host: Host,
  command: Extract<Command, { kind: 'prepare-merge' }>['command'],
): Generator<number, Reply, void> {
  const term = host.term;
  const caller: Caller =
    term === undefined ? { kind: 'system', name: 'effects' } : { kind: 'system', name: 'caretaker', term };
  for (;;) {
    const reply = host.submit({ kind: 'prepare-merge', command }, caller);
    if (reply.kind !== 'away') return reply;
    yield 1500;
  }
}

/** A record must name the head, or an ancestor of it with only Baton's own merges after it. */
function isRecorded(host: Host, taskId: string, head: string): boolean {
  const task = host.state.tasks.get(taskId);
  if (task === undefined) return false;
  return writebackRecords(task).some(({ commitSha }) => commitSha.toLowerCase() === head);
}

function protectedPaths(host: Host, head: string): { readonly base: string; readonly paths: readonly string[] } {
  const { git, scenario } = host.world;
  const base = git.mergeBase(git.main, head);
  const paths = scenario.settings.protects ? git.changed(base, head).filter((path) => path === 'ci.toml') : [];
  return { base, paths };
}

/** Reports the main branch if somebody else has moved it. */
export function seeMain(host: Host): void {
  const { world, state } = host;
  const { git } = world;
  const main = findMain(state);
  if (main?.sha === git.main || main?.prepared?.sha === git.main) return;
  const old =
    main === undefined
      ? null
      : git.isAncestor(main.prepared?.sha ?? '', git.main)
        ? (main.prepared?.sha ?? main.sha)
        : main.sha;
  const added = old === null ? [] : git.since(old, git.main);
  const move =
    old === null
      ? null
      : {
          old,
          fastForward: git.isAncestor(old, git.main),
          commits: added.length,
          onUpstream: null,
          authors: [...new Set(added.map(({ author }) => author))],
          stat: ' a.ts | 1 +',
        };
  const seen = { branch: 'main', sha: git.main, upstream: null, isConfigured: true, seenAt: main?.at ?? host.at, move };
  host.submit({ kind: 'see-main', command: seen }, { kind: 'system', name: 'main-watch' });
}
