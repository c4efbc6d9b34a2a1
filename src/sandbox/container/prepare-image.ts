import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fieldsOf, listOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { ContainerEngine } from '../../protocol/sandbox.ts';
import type { DevcontainerBuild } from './devcontainer.ts';
import { runEngine } from './run-engine.ts';

export interface ImageRequest {
  readonly engine: ContainerEngine;
  readonly source: { readonly image: string } | ImageSource;
  /** A file that receives the output of a pull or a build. */
  readonly log: string;
  readonly timeoutMs?: number;
}

export interface ImageSource {
  readonly build: DevcontainerBuild;
  /** The text of the Dockerfile. */
  readonly dockerfile: string;
  /** The id of the context's content. */
  readonly tree: string;
  /**
   * Checks the main branch out, never a branch that an agent writes, because a build executes its files. Called only if
   * the image is missing. Returns the reason if it fails.
   */
  readonly checkOut: () => Promise<
    | { readonly ok: true; readonly folder: string; readonly remove: () => Promise<void> }
    | { readonly ok: false; readonly reason: string }
  >;
}

export type PreparedImage =
  /** `env`: the variables of the image, such as its PATH. */
  | { readonly ok: true; readonly image: string; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly reason: string };

/** Pulls or builds the image if it is missing, with this machine's network. Concurrent equal requests share one. */
export async function prepareImage(request: ImageRequest): Promise<PreparedImage> {
  const image = 'image' in request.source ? request.source.image : imageTag(request.source);
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
  const { source } = request;
  const problem =
    'image' in source
      ? await runLogged([...request.engine.command, 'pull', image], request)
      : await build(source, image, request);
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

/** Another Dockerfile, argument or context needs another image; the engine reuses the layers that are the same. */
function imageTag({ build: { context, args, target }, dockerfile, tree }: ImageSource): string {
  const pairs = Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const inputs = JSON.stringify([dockerfile, tree, context, pairs, target]);
  return `localhost/baton/devcontainer:${createHash('sha256').update(inputs).digest('hex').slice(0, 16)}`;
}

/** Returns the reason if it fails. The adopted Dockerfile is not in the checkout, so no link there can replace it. */
async function build(source: ImageSource, image: string, request: ImageRequest): Promise<string | undefined> {
  const made = await source.checkOut();
  if (!made.ok) return made.reason;
  const dockerfile = `${made.folder}.Dockerfile`;
  try {
    writeFileSync(dockerfile, source.dockerfile, { mode: 0o600 });
    const args = buildArgs(source.build, { image, dockerfile, folder: made.folder });
    return await runLogged([...request.engine.command, ...args], request);
  } finally {
    rmSync(dockerfile, { force: true });
    await made.remove();
  }
}

interface BuildPlace {
  readonly image: string;
  readonly dockerfile: string;
  readonly folder: string;
}

function buildArgs(
  { args, target, context }: DevcontainerBuild,
  { image, dockerfile, folder }: BuildPlace,
): readonly string[] {
  return [
    'build',
    '--tag',
    image,
    '--file',
    dockerfile,
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...(target === null ? [] : ['--target', target]),
    join(folder, context),
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
