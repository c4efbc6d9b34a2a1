import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readDaemonRecord, stateFiles } from '../../api/state-folder.ts';
import type { SandboxSettings } from '../../runbook/access.ts';
import type { Machine } from '../../sandbox/plan/machine.ts';
import { realPathOf } from '../../sandbox/plan/place.ts';
import type { EffectContext } from '../context.ts';

/** A daemon whose state folder has a long path has its socket elsewhere. */
export function outsideSockets(stateDir: string): readonly string[] {
  const socket = readDaemonRecord(stateDir)?.socket;
  return socket === undefined || socket === stateFiles(stateDir).socket ? [] : [socket];
}

/** The files of the main checkout that decide what starts: the runbook with what it names, and git's own. */
export function filesInForce({ sessions }: EffectContext, mainTop: string, commonDir: string): readonly string[] {
  const named = Object.keys({ ...sessions.prompts, ...sessions.access.devcontainer }).map((path) =>
    resolve(mainTop, path),
  );
  const own = [...FILES_IN_FORCE.map((path) => join(mainTop, path)), ...named];
  return [...own, join(commonDir, 'config'), join(commonDir, 'hooks')];
}

const FILES_IN_FORCE = ['baton.toml', '.baton'];

/** A link in the path may lead anywhere, and a session in the main checkout can make one: it is not followed. */
export function linkedFolders({ sessions }: EffectContext, mainTop: string, machine: Machine): readonly string[] {
  const top = realPathOf(machine, mainTop);
  return sessions.workspace.link
    .map((path) => join(top, path))
    .filter((path) => (machine.find(path)?.real ?? path) === path);
}

/**
 * The person's own configuration: the folder, and the file if that is a link. An absent folder is created if the
 * session can write around it, because only what exists can be hidden.
 */
export function ownConfiguration({ personal: { path } }: EffectContext, { write }: SandboxSettings): readonly string[] {
  if (write.length > 0 && existsSync(dirname(dirname(path))))
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return [dirname(path), path];
}

/** The person's HOME if an agent has another one, which would otherwise be all that is private. */
export function findOtherHome({ env }: EffectContext, machine: Machine): string | undefined {
  const { HOME: home = '/' } = env;
  return home === '/' || home === machine.home ? undefined : home;
}
