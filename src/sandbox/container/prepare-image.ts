import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fieldsOf, listOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { ContainerEngine } from '../../protocol/sandbox.ts';
import type { DevcontainerBuild } from './devcontainer.ts';
import { runEngine } from './run-engine.ts';

export interface ImageRequest {
  readonly engine: ContainerEngine;
  readonly source: { readonly image: string } | { readonly build: DevcontainerBuild };
  /** A checkout of the main branch, never of a branch that an agent writes, because a build executes its files. */
  readonly folder: string;
  /** A file that receives the output of a pull or a build. */
  readonly log: string;
  readonly timeoutMs?: number;
}

export type PreparedImage =
  /** `env`: the variables of the image, such as its PATH. */
  | { readonly ok: true; readonly image: string; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly reason: string };

/** Pulls or builds the image if it is missing, with this machine's network. Concurrent equal requests share one. */
export async function prepareImage(request: ImageRequest): Promise<PreparedImage> {
  const image = 'image' in request.source ? request.source.image : await imageTag(request.source.build, request.folder);
  const running = inProgress.get(image) ?? prepare(request, image);
  inProgress.set(image, running);
  try {
    return await running;
  } finally {
    inProgress.delete(image);
  }
}

const inProgress = new Map<string, Promise<PreparedImage>>();

async function prepare(request: ImageRequest, image: string): Promise<PreparedImage> {
  const present = await findImage(request.engine, image);
  if (present !== undefined) return present;
  const args = 'image' in request.source ? ['pull', image] : buildArgs(request.source.build, request.folder, image);
  const problem = await runLogged([...request.engine.command, ...args], request);
  if (problem !== undefined) return { ok: false, reason: `${problem}; the output is in ${request.log}` };
  return (await findImage(request.engine, image)) ?? { ok: false, reason: `there is no image ${image}` };
}

/** Returns undefined if the image is missing. */
async function findImage({ command }: ContainerEngine, image: string): Promise<PreparedImage | undefined> {
  const args = ['image', 'inspect', '--format', '{{json .Config}}', image];
  const { code, output } = await runEngine(command, args, { timeoutMs: ANSWER_MS });
  if (code !== 0) return undefined;
  const lines = listOf(fieldsOf(parseConfig(output))['Env']).map(textOf);
  const pairs = lines.map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]);
  return { ok: true, image, env: Object.fromEntries(pairs) };
}

function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The tag changes with the Dockerfile's text and the arguments, but not with the context: podman reuses its layers. */
async function imageTag({ dockerfile, context, args, target }: DevcontainerBuild, folder: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  const pairs = Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const inputs = JSON.stringify([readText(join(folder, dockerfile)), context, pairs, target]);
  return `localhost/baton/devcontainer:${createHash('sha256').update(inputs).digest('hex').slice(0, 16)}`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The build reports the missing file.
    return '';
  }
}

function buildArgs(build: DevcontainerBuild, folder: string, image: string): readonly string[] {
  return [
    'build',
    '--tag',
    image,
    '--file',
    join(folder, build.dockerfile),
    ...Object.entries(build.args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...(build.target === null ? [] : ['--target', build.target]),
    join(folder, build.context),
  ];
}

/** Runs a command and logs its output. Returns the reason if it fails. */
async function runLogged(
  [program = '', ...args]: readonly string[],
  request: ImageRequest,
): Promise<string | undefined> {
  const { log, timeoutMs = BUILD_MS } = request;
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const file = openSync(log, 'a', 0o600);
  writeSync(file, `$ ${[program, ...args].join(' ')}\n`);
  const child = spawn(program, args, { stdio: ['ignore', file, file], timeout: timeoutMs, killSignal: 'SIGKILL' });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      closeSync(file);
      const action = 'image' in request.source ? 'pulling the image' : 'building the image';
      resolve(
        code === 0
          ? undefined
          : `${action} failed: ${signal === null ? `exit code ${code}` : `ended after ${timeoutMs / 1000} s`}`,
      );
    });
  });
}

const ANSWER_MS = 20_000;
const BUILD_MS = 30 * 60_000;
