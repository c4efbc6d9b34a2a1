import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readDaemonRecord } from '../../../src/api/state-folder.ts';
import { holdLock } from '../../processes/break-store.ts';
import type { World } from '../../processes/world.ts';

export const FAULTS = ['stop', 'kill', 'crowd-kill', 'crowd-stop', 'lock', 'full'] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultScene {
  readonly world: World;
  /** The folder with the files that make agents wait. */
  readonly folder: string;
  readonly random: () => number;
  /** The number of agents to gather before they continue together. */
  readonly crowd: number;
  /** Whether the state folder has a separate small disk. */
  readonly hasOwnDisk: boolean;
}

/** Causes one fault, and repairs it. */
export async function happen(fault: Fault, scene: FaultScene): Promise<void> {
  const { world, random } = scene;
  switch (fault) {
    case 'kill':
      return kill(daemonOf(world), 'SIGKILL');
    case 'crowd-kill':
      return killInCrowd(scene);
    case 'crowd-stop':
      return stopInCrowd(scene);
    case 'stop': {
      const pid = daemonOf(world);
      kill(pid, 'SIGSTOP');
      // Mostly shorter than supervisors wait, sometimes longer.
      await pause(random() < 0.2 ? 18_000 : 500 + random() * 8000);
      return kill(pid, 'SIGCONT');
    }
    case 'lock': {
      const release = await holdLock(world);
      await pause(500 + random() * 12_000);
      return release();
    }
    case 'full':
      return fill(scene);
  }
}

/** Kills the daemon at the moment at which many agents are about to signal, or have just signalled. */
async function killInCrowd(scene: FaultScene): Promise<void> {
  const { world, random } = scene;
  const letGo = await holdCrowd(scene, random() < 0.5 ? 'before' : 'after');
  const isFirst = random() < 0.5;
  if (isFirst) kill(daemonOf(world), 'SIGKILL');
  letGo();
  // They exit within a short time of each other; the kill falls in between.
  if (!isFirst) await pause(random() * 300);
  if (!isFirst) kill(daemonOf(world), 'SIGKILL');
}

/**
 * Many agents signal and exit while the daemon is stopped for longer than supervisors wait, and the database is locked:
 * their signals are in the outbox, their supervisors have exited, and the continuing daemon finds both at once.
 */
async function stopInCrowd(scene: FaultScene): Promise<void> {
  const { world, folder, random } = scene;
  const earlier = countHeld(folder, 'before');
  const letGo = await holdCrowd(scene, 'before');
  const held = countHeld(folder, 'before') - earlier;
  const pid = daemonOf(world);
  const signalled = countSignalled(folder);
  kill(pid, 'SIGSTOP');
  const release = await holdLock(world);
  letGo();
  const deadline = performance.now() + 12_000;
  while (countSignalled(folder) - signalled < held && performance.now() < deadline) await pause(50);
  // Waits until their supervisors have given up on the daemon and exited.
  await pause(8000 + random() * 4000);
  kill(pid, random() < 0.5 ? 'SIGCONT' : 'SIGKILL');
  await pause(random() * 2000);
  await release();
}

/** Gathers agents at one point; returns a function that lets them continue. */
async function holdCrowd({ folder, crowd }: FaultScene, where: 'before' | 'after'): Promise<() => void> {
  const file = join(folder, `hold-${where}`);
  const before = countHeld(folder, where);
  writeFileSync(file, '');
  const deadline = performance.now() + 15_000;
  while (countHeld(folder, where) - before < crowd && performance.now() < deadline) await pause(50);
  return () => rmSync(file);
}

function countHeld(folder: string, where: string): number {
  return linesOf(folder).filter((line) => line.startsWith(`holds-${where} `)).length;
}

function countSignalled(folder: string): number {
  return linesOf(folder).filter((line) => /^(?:kept|acknowledged) /.test(line)).length;
}

/** Prevents writes to the state folder: fills its disk, or limits the daemon's files to one page. */
async function fill({ world, random, hasOwnDisk }: FaultScene): Promise<void> {
  const ms = 1000 + random() * 7000;
  if (!hasOwnDisk) {
    const pid = String(daemonOf(world));
    const limit = (size: string): void => {
      try {
        execFileSync('prlimit', ['--pid', pid, `--fsize=${size}:`], { stdio: 'ignore' });
      } catch {
        // The process has exited.
      }
    };
    limit('4096');
    await pause(ms);
    return limit('unlimited');
  }
  const ballast = join(world.stateDir, 'ballast');
  try {
    const { bavail, bsize } = statfsSync(world.stateDir);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
  } catch {
    // The disk is full, as intended.
  }
  await pause(ms);
  rmSync(ballast, { force: true });
}

export function linesOf(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'notes'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}

function daemonOf({ stateDir }: World): number {
  return readDaemonRecord(stateDir)?.pid ?? 0;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, signal);
  } catch {
    // The daemon has exited already, and its watchdog starts the next one.
  }
}
