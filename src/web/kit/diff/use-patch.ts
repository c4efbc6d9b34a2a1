import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../../../api/answer.ts';
import { call, standing } from '../../app/hub-client.ts';
import { project } from '../../app/router.ts';
import { parsePatch, type PatchRow } from '../../model/patch.ts';
import { useRetry } from '../use-retry.ts';

export interface PatchPlace {
  readonly taskId: string;
  readonly agentId?: string | undefined;
  readonly path: string;
  /** The commits between which the file changed; together with the path they determine the patch. */
  readonly base: string;
  readonly head: string;
}

export interface LoadedPatch {
  readonly rows?: readonly PatchRow[];
  /** Whether the daemon sent only a part of the patch. */
  readonly isCut?: boolean;
  readonly error?: ApiError;
}

/** Caches patches, because a patch between two commits never changes. */
const known = new Map<string, LoadedPatch>();
const MOST_KNOWN = 40;

/** Loads a file's patch, and loads it again if the change grows, or if the daemon is back after a failure. */
export function usePatch({ taskId, agentId, path, base, head }: PatchPlace): LoadedPatch {
  const name = JSON.stringify([project.value, taskId, agentId, path, base, head]);
  const [loaded, setLoaded] = useState<LoadedPatch>(() => known.get(name) ?? {});
  const isLive = standing.value.link.kind === 'live';
  const retry = useRetry(loaded.error !== undefined);
  useEffect(() => {
    const found = known.get(name);
    if (found !== undefined) return setLoaded(found);
    if (!isLive) return undefined;
    let isWanted = true;
    void readPatch({ taskId, agentId, path, base, head }).then((read) => {
      if (read.rows !== undefined) remember(name, read);
      if (isWanted) setLoaded((before) => (read.rows === undefined ? { ...before, ...read } : read));
    });
    return () => void (isWanted = false);
  }, [name, isLive, retry]);
  return loaded;
}

async function readPatch({ taskId, agentId, path }: PatchPlace): Promise<LoadedPatch> {
  const answer = await call('task_diff', {
    task_id: taskId,
    path,
    ...(agentId === undefined ? {} : { agent_id: agentId }),
  });
  if (!answer.ok) return { error: answer.error };
  const file = answer.result.files.find((each) => each.path === path);
  return { rows: parsePatch(file?.patch ?? ''), isCut: file?.cut ?? false };
}

function remember(name: string, patch: LoadedPatch): void {
  known.set(name, patch);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
}
