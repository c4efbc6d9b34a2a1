import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Outside node_modules and git, because the packages are large, and only this benchmark needs them. */
export const PEERS_FOLDER = join(import.meta.dirname, '../../.cache/bench-peers');

export const PEER_VERSIONS = {
  bullmq: '6.7.0',
  ioredis: '6.0.0',
  'graphile-worker': '0.18.0',
  'pg-boss': '12.35.0',
  '@dbos-inc/dbos-sdk': '5.3.0',
  '@restatedev/restate-server': '1.7.12',
  '@restatedev/restate-sdk': '1.17.2',
} as const;

export type Peer = keyof typeof PEER_VERSIONS;

/** Returns the packages that are not installed in the compared version. */
export function missingPeers(...peers: readonly Peer[]): string[] {
  return peers
    .filter((peer) => installedVersion(peer) !== PEER_VERSIONS[peer])
    .map((peer) => `${peer} ${PEER_VERSIONS[peer]}`);
}

/** Imports a peer's module. Its types are not installed either: each contender declares the small part that it uses. */
export async function importPeer<T>(peer: Peer): Promise<T> {
  const path = createRequire(join(PEERS_FOLDER, 'package.json')).resolve(peer);
  return (await import(pathToFileURL(path).href)) as T; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function hasProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

function installedVersion(peer: Peer): string | undefined {
  try {
    const text = readFileSync(join(PEERS_FOLDER, 'node_modules', peer, 'package.json'), 'utf8');
    return /"version": *"([^"]+)"/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}
