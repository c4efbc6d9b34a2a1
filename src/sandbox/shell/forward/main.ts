import { realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { FRAME, FrameReader, renderFrame } from '../frames.ts';
import { BESIDE, type ForwardSettings, placeOf } from './local.ts';

/**
 * What a client's sandbox has in place of each shell and of git: the command runs in the second sandbox, and this
 * program passes on its streams, signals and exit code. `baton` and the client's own commands become the real program.
 */
export function forward(settings: ForwardSettings): void {
  const [, self = '', ...args] = process.argv;
  const real = settings.real[realpathSync(self)];
  const place = real === undefined ? 'second sandbox' : placeOf(args, process.env[BESIDE], settings);
  if (real !== undefined && place !== 'second sandbox') {
    const mark = place === 'client' ? {} : { [BESIDE]: settings.nonce };
    return process.execve?.(real, [self, ...args], { ...process.env, ...mark });
  }
  run([self, ...args], settings.socket);
}

function run(argv: readonly string[], socket: string): void {
  const connection = connect({ path: socket, allowHalfOpen: true });
  connection.write(renderFrame(FRAME.request, JSON.stringify({ argv, cwd: process.cwd(), env: process.env })));
  for (const name of SIGNALS) process.on(name, () => void connection.write(renderFrame(FRAME.signal, name)));
  process.stdin.on('data', (piece: Buffer) => {
    process.stdin.pause();
    connection.write(renderFrame(FRAME.stdin, piece));
  });
  process.stdin.pause();
  const endInput = (): void => void (connection.writable && connection.write(renderFrame(FRAME.stdinEnd)));
  process.stdin.once('end', endInput);
  process.stdin.once('error', endInput);
  // A closed stream would have ended the command.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', () => process.exit(128 + constants.signals.SIGPIPE));
  const reader = new FrameReader();
  connection.on('data', (piece: Buffer) => {
    for (const { kind, content } of reader.push(piece) ?? []) receive(kind, content);
  });
  const fail = (): never => {
    process.stderr.write('baton: the sandbox for shell commands has ended\n');
    process.exit(FAILED);
  };
  connection.once('error', fail);
  connection.once('end', fail);

  function receive(kind: number, content: Buffer): void {
    if (kind === FRAME.exit) return endWith(Number(content.toString()));
    if (kind === FRAME.want) return void process.stdin.resume();
    const stream = kind === FRAME.stderr ? process.stderr : process.stdout;
    if (stream.write(content)) return;
    connection.pause();
    stream.once('drain', () => connection.resume());
  }
}

/** Exits when everything is written. */
function endWith(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
const FAILED = 125;
