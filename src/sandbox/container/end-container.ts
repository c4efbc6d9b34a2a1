import { spawn } from 'node:child_process';
import { delay } from '../../api/client/http.ts';
import type { ContainerEngine } from '../../protocol/sandbox.ts';
import { STATE_LABEL } from './container-argv.ts';
import { OWN_CONFIG, pick } from './engine-environment.ts';
import { lastLine, runEngine } from './run-engine.ts';

/** The container's name, equal in daemon and supervisor, so that either can end a container of the other. */
export function containerName(id: string): string {
  return `baton-${id.replaceAll(/[^A-Za-z0-9_.-]/g, '-')}`;
}

/**
 * Kills all processes of a container and removes it; succeeds if there is none. The container's first process is the
 * first of its PID namespace, so the kernel kills the others with it. Returns the reason if the engine failed.
 */
export async function endContainer(engine: ContainerEngine, name: string): Promise<string | undefined> {
  const deadline = performance.now() + END_MS;
  for (;;) {
    const { code, errors } = await runEngine(engine.command, removeArgs(engine, name), { timeoutMs: END_MS });
    if (code === 0 || /no such container/i.test(errors)) return undefined;
    if (performance.now() > deadline) return lastLine(errors);
    await delay(RETRY_MS);
  }
}

/**
 * Pauses or resumes the processes of a container. Resolves to false if there is no container yet, or the engine cannot
 * pause.
 */
export async function freezeContainer(engine: ContainerEngine, name: string, isFrozen: boolean): Promise<boolean> {
  const { code, errors } = await runEngine(engine.command, [isFrozen ? 'pause' : 'unpause', name], {
    timeoutMs: END_MS,
  });
  return code === 0 || (isFrozen && /already paused|state paused|"paused"/i.test(errors));
}

function removeArgs({ name: engine }: ContainerEngine, container: string): readonly string[] {
  return engine === 'podman'
    ? ['rm', '--force', '--time', '0', '--ignore', '--volumes', container]
    : ['rm', '--force', '--volumes', container];
}

const ROUNDS = 100;

/**
 * Starts a guard that ends the container if the calling process dies, because a container outlives the engine's client
 * and a killed supervisor. The guard waits for the end of its input, which only this process holds open. It tries until
 * the client (`pid`) is gone, because the client may be about to create the container. The caller calls the result when
 * the container has ended.
 */
export function guardContainer(engine: ContainerEngine, name: string, pid: number): () => void {
  const argv = [...engine.command, ...removeArgs(engine, name)];
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', String(pid), ...argv], {
    detached: true,
    env: { ...pick(process.env), ...OWN_CONFIG },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => {});
  guard.stdin?.on('error', () => {});
  guard.unref();
  return () => void guard.stdin?.end('done\n');
}

/** A line of input means that the guard has nothing to do. */
const GUARD = `read -r done && exit 0
client=$1 rounds=0
shift
while :; do
  kill -0 "$client" 2>/dev/null && rounds=$((rounds + 1)) || rounds=${ROUNDS}
  "$@"
  [ $rounds -lt ${ROUNDS} ] || exit 0
  sleep 0.1
done`;

/** The names of a state folder's containers, running or not. Undefined if the engine does not respond. */
export async function listContainers(
  engine: ContainerEngine,
  stateDir: string,
): Promise<readonly string[] | undefined> {
  const args = ['ps', '--all', '--filter', `label=${STATE_LABEL}=${stateDir}`, '--format', '{{.Names}}'];
  const { code, output } = await runEngine(engine.command, args, { timeoutMs: END_MS });
  return code === 0 ? output.split('\n').filter(Boolean) : undefined;
}

const END_MS = 10_000;
const RETRY_MS = 200;
