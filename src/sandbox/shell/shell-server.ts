import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { FRAME, type Frame, FrameReader, renderFrame, type ShellRequest } from './frames.ts';
import type { RunningCommand } from './run-command.ts';

export interface ShellServerOptions {
  /** The folder that holds the socket. Only the client's sandbox shows it. */
  readonly folder: string;
  /** Starts a command in the second sandbox. Rejects with a reason for the reader of its standard error. */
  readonly start: (request: ShellRequest) => Promise<RunningCommand>;
}

/** Serves the programs that replace the shells in a client's sandbox: each connection is one command. */
export class ShellServer {
  readonly #options: ShellServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #commands = new Set<RunningCommand>();

  constructor(options: ShellServerOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (socket) => this.#serve(socket));
    this.#server.maxConnections = MAX_COMMANDS;
  }

  /** The path of a socket has at most 107 bytes, so the folder is named by its descriptor. */
  async listen(): Promise<void> {
    const { folder } = this.#options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(join(folder, SOCKET), { force: true });
    const descriptor = openSync(folder, 'r');
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen(`/proc/self/fd/${descriptor}/${SOCKET}`, resolve);
      });
    } finally {
      closeSync(descriptor);
    }
  }

  /** Ends every command, and accepts no others. */
  async close(): Promise<void> {
    this.#server.close();
    rmSync(join(this.#options.folder, SOCKET), { force: true });
    for (const socket of this.#connections) socket.destroy();
    await Promise.all([...this.#commands].map(async (command) => command.kill()));
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket);
    const reader = new FrameReader();
    let receive: ((frame: Frame) => void) | undefined;
    socket.on('error', () => {});
    socket.once('close', () => this.#connections.delete(socket));
    socket.on('data', (piece: Buffer) => {
      const frames = reader.push(piece);
      if (frames === undefined) return void socket.destroy();
      for (const frame of frames) {
        if (receive !== undefined) receive(frame);
        else receive = this.#begin(socket, frame);
      }
    });
    // The program was killed: nothing may stay behind, so the command ends as well.
    socket.once('end', () => socket.destroy());
  }

  /** Starts the command of the first frame. Returns what receives the frames that follow. */
  #begin(socket: Socket, first: Frame): ((frame: Frame) => void) | undefined {
    const request = first.kind === FRAME.request ? parseRequest(first.content) : undefined;
    if (request === undefined) return void socket.destroy();
    const early: Frame[] = [];
    let command: RunningCommand | undefined;
    void this.#start(request, socket).then((started) => {
      command = started;
      for (const frame of early) passOn(frame, socket, started);
    });
    return (frame) => (command === undefined ? void early.push(frame) : passOn(frame, socket, command));
  }

  async #start(request: ShellRequest, socket: Socket): Promise<RunningCommand | undefined> {
    let command: RunningCommand;
    try {
      command = await this.#options.start(request);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      socket.write(renderFrame(FRAME.stderr, `baton: the command was not started: ${reason}\n`));
      socket.end(renderFrame(FRAME.exit, '125'));
      return undefined;
    }
    this.#commands.add(command);
    askForInput(socket);
    const end = (): void => void command.kill();
    if (socket.destroyed) end();
    socket.once('close', end);
    for (const kind of ['stdout', 'stderr'] as const) {
      const stream = command[kind];
      stream.on('data', (piece: Buffer) => {
        if (!socket.writable || socket.write(renderFrame(FRAME[kind], piece))) return;
        stream.pause();
        socket.once('drain', () => stream.resume());
      });
    }
    void command.exited.then((code) => {
      this.#commands.delete(command);
      if (socket.writable) socket.end(renderFrame(FRAME.exit, String(code)));
    });
    return command;
  }
}

export const SOCKET = 'socket';
const MAX_COMMANDS = 64;

function passOn({ kind, content }: Frame, socket: Socket, command: RunningCommand | undefined): void {
  if (command === undefined) return;
  if (kind === FRAME.stdinEnd) command.stdin.end();
  if (kind === FRAME.signal) command.signal(content.toString());
  if (kind === FRAME.stdin) command.stdin.write(content, (error) => void (error ?? askForInput(socket)));
}

function askForInput(socket: Socket): void {
  if (socket.writable) socket.write(renderFrame(FRAME.want));
}

function parseRequest(content: Buffer): ShellRequest | undefined {
  try {
    const value: Partial<Record<keyof ShellRequest, unknown>> = JSON.parse(content.toString());
    return isRequest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRequest(value: Partial<Record<keyof ShellRequest, unknown>>): value is ShellRequest {
  const { argv, cwd, env } = value;
  const isCommand = Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === 'string');
  if (!isCommand || typeof cwd !== 'string' || typeof env !== 'object' || env === null) return false;
  return Object.values(env).every((text) => typeof text === 'string');
}
