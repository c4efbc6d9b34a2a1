import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Layer, UserSpec } from '../../protocol/sandbox.ts';
import { overlayWorks } from '../../sandbox/layers/probe-overlay.ts';
import type { EffectContext } from '../context.ts';
import type { ChosenSandbox } from './choose-sandbox.ts';
import { cacheFolderFor, makePassage } from './user-place.ts';

/** What a process has for itself: HOME, a temporary folder and the package caches. */
export interface OwnFolders {
  readonly home: string;
  readonly tmp: string;
  /** Its path for the process, and the folder outside. */
  readonly cache: { readonly at: string; readonly from: string };
  /** Where Baton writes files of HOME and settings of package tools before the start. */
  readonly written: { readonly home: string; readonly cache: string };
  readonly layers: readonly Layer[];
  readonly how: Layer['how'];
}

/**
 * Which package caches a process has. Sessions and commands run code of branches: they see `lowers`, which were filled
 * from the main branch, and what they write is dropped. A session keeps its HOME, where its client has its conversations.
 */
export type CacheUse = CommandCache | SessionCache;

export interface CommandCache {
  readonly lowers: readonly string[];
  readonly keptIn?: string;
}

interface SessionCache {
  readonly session: true;
  readonly lowers: readonly string[];
}

export async function makeOwnFolders(
  { runFolder, cacheUse }: { readonly runFolder: string; readonly cacheUse: CacheUse },
  choice: ChosenSandbox,
  user: UserSpec | null,
  context: EffectContext,
): Promise<OwnFolders> {
  const folder = join(runFolder, 'sandbox');
  const [home, tmp, settings] = [join(folder, 'home'), join(folder, 'tmp'), join(folder, 'cache-settings')];
  const caches = join(cacheFolderFor(choice, context), context.projectId);
  if (user !== null)
    for (const each of [dirname(runFolder), runFolder, dirname(caches), caches]) makePassage(each, user);
  for (const each of [home, tmp, settings]) mkdirSync(each, { recursive: true, mode: 0o700 });
  const how = await findLayerKind(choice, context);
  const isSession = 'session' in cacheUse;
  const { keptIn } = isSession ? {} : cacheUse;
  // Copying the whole cache takes longer than most sessions need to fetch what they use.
  const lowers = isSession && how === 'copy' ? [] : cacheUse.lowers;
  const place = join(layersOf(runFolder), 'cache');
  // The settings alone are copied faster than an overlay is mounted.
  const ofCache: Layer = {
    folder: place,
    lowers: [settings, ...lowers],
    how: lowers.length === 0 ? 'copy' : how,
    ...(keptIn === undefined ? {} : { keptIn }),
  };
  const ofHome: Layer = { folder: join(layersOf(runFolder), 'home'), lowers: [home], how: 'copy' };
  // Paths that tools write into their caches stay true if every command has its cache at the same path.
  const hasMounts = choice.kind === 'bubblewrap' || choice.kind === 'container';
  return {
    home: isSession ? home : ofHome.folder,
    tmp,
    cache: { at: hasMounts ? join(caches, 'commands') : place, from: place },
    written: { home, cache: settings },
    layers: isSession ? [ofCache] : [ofHome, ofCache],
    how,
  };
}

/** The layers of a run, which are removed after it even if its supervisor was killed. */
export function layersOf(runFolder: string): string {
  return join(runFolder, 'layers');
}

/** Only bubblewrap can show an overlay: the other modes have no mounts of Baton. */
async function findLayerKind(
  { kind, survey }: ChosenSandbox,
  { stateDir, env }: Pick<EffectContext, 'stateDir' | 'env'>,
): Promise<Layer['how']> {
  if (kind !== 'bubblewrap' || survey?.bubblewrap.works !== true) return 'copy';
  return (await overlayWorks(join(stateDir, 'caches'), survey.bubblewrap.path, env)) ? 'overlay' : 'copy';
}
