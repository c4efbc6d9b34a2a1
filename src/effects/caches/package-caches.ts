import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { removeCheckout } from '../../git/checkout/make-checkout.ts';
import { openCommittedFiles } from '../../git/committed-files.ts';
import { gitText } from '../../git/run-git.ts';
import { commandNetworkOf } from '../../runbook/access.ts';
import { programsOf } from '../../runbook/gates/check-programs.ts';
import { removeLayer } from '../../sandbox/layers/open-layers.ts';
import { withKept } from '../../sandbox/plan/layer-paths.ts';
import type { CacheWish, EffectContext } from '../context.ts';
import { KeyedMutex, Semaphore } from '../locks.ts';
import { checkOut } from '../merges/checks.ts';
import { findPrograms } from '../merges/find-protected.ts';
import { killCommand, superviseCommand } from '../processes/command.ts';
import { chooseSandbox } from '../sandbox/choose-sandbox.ts';
import { findMainOf } from '../sessions/workplace.ts';
import { cacheKey, type CacheSource, fillCommand, installFiles, packageFiles } from './cache-key.ts';
import { FILLED, FILLING, NEEDS_ALL, projectCaches, pruneCaches } from './cache-folders.ts';

/**
 * The package caches of the project. Each is filled once, by the set-up commands on the main branch, and never written
 * again; commands and sessions write into layers over it. A fill sees only the files of an installation, so that it is
 * repeated only when one of them changes. If that fails, it sees all files, and is repeated for each tree. A fill that
 * fails delays the commands, and they run without.
 */
export class PackageCaches {
  readonly #mutex = new KeyedMutex();
  /** When each fill failed, by key. */
  readonly #failed = new Map<string, number>();

  /** Returns the folders below the layer of a process, the topmost first. */
  async lowersFor(wish: CacheWish, context: EffectContext, signal: AbortSignal): Promise<readonly string[]> {
    const source = await readSource(wish, context);
    if (source === undefined) return [];
    if (findFilled(source) === undefined && wish.isAwaited && !this.#hasFailed(source.whole.key)) {
      const fill = this.#mutex.run(source.folder, async () => this.#fillFirst(source, context, signal));
      await Promise.race([fill, aborted(signal)]);
    }
    const folder = findFilled(source);
    const filled = folder === undefined ? [] : [folder];
    if (folder !== undefined) markAsUsed(folder);
    const { branch } = source;
    if (branch === undefined || !wish.isAwaited || signal.aborted) return filled;
    const ofBranch = { sha: branch, only: null, lowers: filled, keptIn: wish.keptIn };
    if (!existsSync(wish.keptIn)) await run(source, ofBranch, context, signal);
    return withKept(wish.keptIn, filled);
  }

  #hasFailed(key: string): boolean {
    return performance.now() - (this.#failed.get(key) ?? Number.NEGATIVE_INFINITY) < RETRY_MS;
  }

  /** Tries the fill with few files first, unless this is known to need the others. */
  async #fillFirst(source: FillSource, context: EffectContext, signal: AbortSignal): Promise<void> {
    if (findFilled(source) !== undefined || this.#hasFailed(source.whole.key) || signal.aborted) return;
    pruneCaches(source.folder);
    if (!needsAll(source) && (await this.#fill(source, source.few, context, signal))) return;
    if (signal.aborted) return;
    mkdirSync(noteOf(source), { recursive: true, mode: 0o700 });
    if (!(await this.#fill(source, source.whole, context, signal)) && !signal.aborted)
      this.#failed.set(source.whole.key, performance.now());
  }

  /** A fill becomes visible under its name only when it is complete. */
  async #fill(source: FillSource, fill: Fill, context: EffectContext, signal: AbortSignal): Promise<boolean> {
    const keptIn = join(source.folder, FILLING, randomUUID());
    const isDone = await run(source, { sha: source.main, only: fill.only, lowers: [], keptIn }, context, signal);
    if (!isDone) {
      removeLayer(keptIn);
      return false;
    }
    mkdirSync(join(source.folder, FILLED), { recursive: true, mode: 0o700 });
    renameSync(keptIn, folderOf(source, fill));
    return true;
  }
}

const RETRY_MS = 10 * 60_000;

interface Fill {
  readonly key: string;
  /** The paths of the commit that it sees; null for all. */
  readonly only: ReadonlySet<string> | null;
}

interface FillSource {
  /** The folder of the project's caches. */
  readonly folder: string;
  readonly few: Fill;
  readonly whole: Fill;
  readonly command: string;
  readonly timeoutMs: number;
  readonly task: CacheWish['task'];
  readonly main: string;
  /** The commit of a branch that needs other packages than the main branch. */
  readonly branch: string | undefined;
}

function folderOf({ folder }: FillSource, { key }: Fill): string {
  return join(folder, FILLED, key);
}

function findFilled(source: FillSource): string | undefined {
  return [source.few, source.whole].map((fill) => folderOf(source, fill)).find(existsSync);
}

/** The note that a fill with few files has failed. It is removed after a day. */
function noteOf({ folder, few }: FillSource): string {
  return join(folder, NEEDS_ALL, few.key);
}

function needsAll(source: FillSource): boolean {
  return existsSync(noteOf(source));
}

/** Undefined if the project installs nothing, or if its commands have no sandbox. */
async function readSource({ task, sha }: CacheWish, context: EffectContext): Promise<FillSource | undefined> {
  const { workspace, access, install, envPass = [] } = context.settingsFor(task);
  const command = fillCommand(workspace.setup, install);
  if (command === undefined) return undefined;
  const choice = await chooseSandbox(access, undefined, context);
  if (!choice.ok || choice.kind === 'none') return undefined;
  const main = await findMainOf(task, context);
  if (!main.ok) return undefined;
  const own = await context.ownRepository.with(main.value.sha, ...(sha === null ? [] : [sha]));
  if (!own.ok) return undefined;
  const tree = await gitText(['rev-parse', `${main.value.sha}^{tree}`], { cwd: own.value });
  if (!tree.ok) return undefined;
  const files = openCommittedFiles(own.value, main.value.sha);
  const all = await files.list('');
  const few = installFiles(all, await findPrograms(files, all, programsOf(command)));
  const image = choice.kind === 'container' ? JSON.stringify([choice.plan.image, access.devcontainer]) : '';
  const network = JSON.stringify([commandNetworkOf(access, 'install'), envPass]);
  const place = [choice.kind, image, network, process.platform, process.arch, context.env['PATH'] ?? ''];
  const keyOf = (of: CacheSource['files']): string => cacheKey({ files: of, command, place });
  const packages = async (commit: string): Promise<string> =>
    keyOf(packageFiles(await openCommittedFiles(own.value, commit).list('')));
  const isOther = sha !== null && sha !== main.value.sha && (await packages(sha)) !== keyOf(packageFiles(all));
  return {
    folder: projectCaches(context),
    few: { key: keyOf(few), only: new Set(few.map(({ path }) => path)) },
    whole: { key: keyOf([{ path: '', object: tree.value }]), only: null },
    command,
    timeoutMs: workspace.setupTimeoutMs,
    task,
    main: main.value.sha,
    branch: isOther ? sha : undefined,
  };
}

interface FillRun {
  readonly sha: string;
  readonly only: Fill['only'];
  readonly lowers: readonly string[];
  readonly keptIn: string;
}

/** Runs the set-up commands on a checkout of a commit. Returns whether they succeeded. */
async function run(
  { command, timeoutMs, task }: FillSource,
  { sha, only, ...cache }: FillRun,
  context: EffectContext,
  signal: AbortSignal,
): Promise<boolean> {
  const id = `fill-${randomUUID()}`;
  const folder = join(context.stateDir, 'checkouts', id);
  const prepare = async () => {
    const made = await checkOut({ sha, taskId: task?.id ?? '' }, folder, context);
    if (!made.ok) return { ok: false, reason: made.problem.message } as const;
    if (only !== null) keepOnly(folder, only);
    const sandbox = { folder, kind: 'install', task, cache } as const;
    return { ok: true, shell: { command, cwd: folder, env: { CI: 'true' }, timeoutMs, sandbox } } as const;
  };
  try {
    // The process that waits for the cache may hold the last slot.
    const end = await superviseCommand(id, prepare, { ...context, startSemaphore: new Semaphore(1) }, signal);
    if (end === undefined) await killCommand(id, 'its cache is no longer needed', context);
    else if (end.exit_code !== 0 && only === null)
      context.log.error('the package cache could not be filled', { command: id, reason: end.output ?? 'no output' });
    return end?.exit_code === 0;
  } finally {
    await removeCheckout(folder);
  }
}

/** Removes all other files of a checkout, and the objects from which git could write them again. */
function keepOnly(folder: string, only: ReadonlySet<string>): void {
  const objects = join(folder, '.git', 'objects');
  rmSync(objects, { recursive: true, force: true });
  mkdirSync(objects, { recursive: true });
  for (const name of readdirSync(folder)) if (name !== '.git') removeOthers(folder, name, only);
}

/** Returns whether nothing is left. */
function removeOthers(folder: string, path: string, only: ReadonlySet<string>): boolean {
  const full = join(folder, path);
  if (!lstatSync(full).isDirectory()) {
    if (!only.has(path)) rmSync(full);
    return !only.has(path);
  }
  const isEmpty = readdirSync(full)
    .map((name) => removeOthers(folder, `${path}/${name}`, only))
    .every(Boolean);
  if (isEmpty) rmdirSync(full);
  return isEmpty;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}

/** The caches used last are kept. */
function markAsUsed(folder: string): void {
  const now = Date.now() / 1000;
  utimesSync(folder, now, now);
}
