import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../api/remove-tree.ts';
import type { Environment } from '../../protocol/environment.ts';
import { openLayers } from './open-layers.ts';

const known = new Map<string, Promise<boolean>>();

/**
 * Tries whether a sandbox can show an overlay in this folder: the kernel, the rights of this user and the file system
 * decide. The result is cached for this process, because the trial takes 20 ms.
 */
export async function overlayWorks(folder: string, bwrap: string, env: Environment): Promise<boolean> {
  const answer = known.get(folder) ?? tryOverlay(folder, bwrap, env).catch(() => false);
  known.set(folder, answer);
  return answer;
}

async function tryOverlay(folder: string, bwrap: string, env: Environment): Promise<boolean> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = mkdtempSync(join(folder, 'probe-'));
  try {
    const [lower, merged] = [join(place, 'lower'), join(place, 'merged')];
    mkdirSync(lower);
    writeFileSync(join(lower, 'file'), 'lower');
    const layers = await openLayers([{ folder: merged, lowers: [lower], how: 'overlay' }], env);
    const inside = ['--unshare-user', '--bind', '/', '/', '/bin/sh', '-c', TRY, 'sh', merged];
    const [program = '', ...args] = [...layers.enter, bwrap, ...inside];
    return await new Promise((resolve) => {
      execFile(program, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error) => resolve(error === null));
    });
  } finally {
    removeTree(place);
  }
}

/** Reads, changes and removes a file of the lower folder. */
const TRY = 'cd "$1" && read -r text <file; test "$text" = lower && echo upper >file && rm file && mkdir file';
const TIMEOUT_MS = 10_000;
