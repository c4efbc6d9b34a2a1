import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { removeCheckout } from '../../git/checkout/make-checkout.ts';
import { type CommittedFile, openCommittedFiles } from '../../git/committed-files.ts';
import { removeLayer } from '../../sandbox/layers/open-layers.ts';
import { withKept } from '../../sandbox/plan/layer-paths.ts';
import type { CacheWish, EffectContext } from '../context.ts';
import { KeyedMutex, Semaphore } from '../locks.ts';
import { checkOut } from '../merges/checks.ts';
import { killCommand, superviseCommand } from '../processes/command.ts';
import { chooseSandbox } from '../sandbox/choose-sandbox.ts';
import { findMainOf } from '../sessions/workplace.ts';
import { cacheKey, fillCommand, packageFiles } from './cache-key.ts';
import { FILLED, FILLING, projectCaches, pruneCaches } from './cache-folders.ts';

/**
 * The package caches of the project's commands. Each is filled once, by the set-up commands on the main branch, and
 * never written again; commands write into layers over it. A fill that fails delays the commands, and they run without.
 */
export class PackageCaches {
  readonly #mutex = new KeyedMutex();
  /** When each fill failed, by key. */
  readonly #failed = new Map<string, number>();

  /** Returns the folders below the layer of a command, the topmost first. */
  async lowersFor(wish: CacheWish, context: EffectContext, signal: AbortSignal): Promise<readonly string[]> {
    const source = await readSource(wish, context);
    if (source === undefined) return [];
    const folder = join(source.folder, FILLED, source.key);
    if (!existsSync(folder) && wish.isAwaited && !this.#hasFailed(source.key)) {
      const fill = this.#mutex.run(source.folder, async () => this.#fill(source, folder, context, signal));
      await Promise.race([fill, aborted(signal)]);
    }
    const filled = existsSync(folder) ? [folder] : [];
    if (filled.length > 0) markAsUsed(folder);
    const { branch } = source;
    if (branch === undefined || !wish.isAwaited || signal.aborted) return filled;
    if (!existsSync(wish.keptIn)) await run(source, branch, { lowers: filled, keptIn: wish.keptIn }, context, signal);
    return withKept(wish.keptIn, filled);
  }

  #hasFailed(key: string): boolean {
    return performance.now() - (this.#failed.get(key) ?? Number.NEGATIVE_INFINITY) < RETRY_MS;
  }

  /** A fill becomes visible under its name only when it is complete. */
  async #fill(source: FillSource, folder: string, context: EffectContext, signal: AbortSignal): Promise<void> {
    if (existsSync(folder) || this.#hasFailed(source.key) || signal.aborted) return;
    pruneCaches(source.folder);
    const keptIn = join(source.folder, FILLING, randomUUID());
    const isDone = await run(source, source.main, { lowers: [], keptIn }, context, signal);
    if (isDone) {
      mkdirSync(join(source.folder, FILLED), { recursive: true, mode: 0o700 });
      renameSync(keptIn, folder);
    } else {
      if (!signal.aborted) this.#failed.set(source.key, performance.now());
      removeLayer(keptIn);
    }
  }
}

const RETRY_MS = 10 * 60_000;

interface FillSource {
  /** The folder of the project's caches. */
  readonly folder: string;
  readonly key: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly task: CacheWish['task'];
  readonly main: string;
  /** The commit of a branch that needs other packages than the main branch. */
  readonly branch: string | undefined;
}

/** Undefined if the project installs nothing, or if its commands have no sandbox. */
async function readSource({ task, sha }: CacheWish, context: EffectContext): Promise<FillSource | undefined> {
  const { workspace, access, install } = context.settingsFor(task);
  const command = fillCommand(workspace.setup, install);
  if (command === undefined) return undefined;
  const choice = await chooseSandbox(access, undefined, context);
  if (!choice.ok || choice.kind === 'none') return undefined;
  const main = await findMainOf(task, context);
  if (!main.ok) return undefined;
  const own = await context.ownRepository.with(main.value.sha, ...(sha === null ? [] : [sha]));
  if (!own.ok) return undefined;
  const list = async (commit: string): Promise<readonly CommittedFile[]> =>
    packageFiles(await openCommittedFiles(own.value, commit).list(''));
  const files = await list(main.value.sha);
  const place = [choice.kind, choice.plan.image ?? '', process.platform, process.arch, context.env['PATH'] ?? ''];
  const keyOf = (of: readonly CommittedFile[]): string => cacheKey({ files: of, command, place });
  const key = keyOf(files);
  const isOther = sha !== null && sha !== main.value.sha && keyOf(await list(sha)) !== key;
  return {
    folder: projectCaches(context),
    key,
    command,
    timeoutMs: workspace.setupTimeoutMs,
    task,
    main: main.value.sha,
    branch: isOther ? sha : undefined,
  };
}

/** Runs the set-up commands on a checkout of a commit. Returns whether they succeeded. */
async function run(
  { command, timeoutMs, task }: FillSource,
  sha: string,
  cache: { readonly lowers: readonly string[]; readonly keptIn: string },
  context: EffectContext,
  signal: AbortSignal,
): Promise<boolean> {
  const id = `fill-${randomUUID()}`;
  const folder = join(context.stateDir, 'checkouts', id);
  const prepare = async () => {
    const made = await checkOut({ sha, taskId: task?.id ?? '' }, folder, context);
    if (!made.ok) return { ok: false, reason: made.problem.message } as const;
    const sandbox = { folder, kind: 'install', task, cache } as const;
    return { ok: true, shell: { command, cwd: folder, env: { CI: 'true' }, timeoutMs, sandbox } } as const;
  };
  try {
    // The process that waits for the cache may hold the last slot.
    const end = await superviseCommand(id, prepare, { ...context, startSemaphore: new Semaphore(1) }, signal);
    if (end === undefined) await killCommand(id, 'its cache is no longer needed', context);
    else if (end.exit_code !== 0)
      context.log.error('the package cache could not be filled', { command: id, reason: end.output ?? 'no output' });
    return end?.exit_code === 0;
  } finally {
    await removeCheckout(folder);
  }
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
